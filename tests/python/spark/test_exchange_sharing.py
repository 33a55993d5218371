"""How calls on a Spark frame are laid out: exchanges, which of them are spared and which must not be, what travels."""

import itertools
import random
import re
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr

pytest.importorskip("pyspark")

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Window

from support.spark_plans import exchanges, executed_plan, passages, passing_columns
from support.spark_sessions import settings
from windrow.hosts.spark.exchange_sharing import cover

SETTINGS = {
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.enabled": "true",
}
# With these adaptive execution splits whatever partition it may split, however small.
SPLITTING = {
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "100",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1.0",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "2k",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.files.maxPartitionBytes": "4k",
    "spark.sql.files.openCostInBytes": "1",
}


@pytest.fixture(scope="module")
def frame(spark):
    return spark.range(400).selectExpr("id", "id % 3 AS a", "id % 5 AS b", "id % 7 AS c", "id * 37 % 101 AS v")


def count(frame):
    """Count a plan's exchanges and its passages through Arrow."""
    plan = executed_plan(frame)
    return exchanges(plan), passages(plan)


def same(ours, theirs):
    assert sorted(map(tuple, ours.collect())) == sorted(map(tuple, theirs.collect()))


# ------------------------------------------------------------------------------------------------------ calls share


def test_the_fewest_groups_are_found():
    rng = random.Random(5)
    for _ in range(300):
        sets = [frozenset(rng.sample("abcdefg", rng.randint(0, 4))) for _ in range(rng.randint(0, 8))]
        groups = cover(sets)
        assert sorted(i for _, members in groups for i in members) == list(range(len(sets)))
        for keys, members in groups:
            assert keys == frozenset.intersection(*(sets[i] for i in members))
            assert keys or not any(sets[i] for i in members)
        keyed = [s for s in sets if s]
        fewest = next(n for n in range(8) if any(
            all(s.intersection(columns) for s in keyed) for columns in itertools.combinations("abcdefg", n)
        ))  # fmt: skip
        assert len(groups) == fewest + (len(keyed) < len(sets)), sets
    # of several answers, that with the longest keys
    assert cover([frozenset("abc"), frozenset("abd")]) == [(frozenset("ab"), [0, 1])]


def test_calls_are_behind_as_few_exchanges_as_can_be(frame):
    # left to right, {a, b} and {b, c} would share b, and leave {c, a} and {c} to an exchange each or one on c
    keys = [["a", "b"], ["b", "c"], ["c", "a"], ["c"], ["b"]]
    calls = {f"s{i}": wr.sum("v").over(wr.window(k, "id", rows=(-2, 0))) for i, k in enumerate(keys)}
    ours = wr.with_columns(frame, calls)
    assert count(ours) == (2, 2)
    w = {i: Window.partitionBy(*k).orderBy("id").rowsBetween(-2, 0) for i, k in enumerate(keys)}
    same(ours, frame.withColumns({f"s{i}": F.sum("v").over(w[i]) for i in w}))


def test_levels_share_an_exchange(frame):
    w = wr.window(["a", "b"], "id")
    inner = wr.row_number().over(w)
    ours = wr.with_columns(frame, t=wr.sum(inner).over(wr.window(["a", "b"], "id", rows=(-1, 1))))
    assert count(ours) == (1, 2)
    # the first level's exchange is on the key that serves the second one too
    ours = wr.with_columns(frame, t=wr.sum(inner).over(wr.window("b", "id", rows=(-1, 1))))
    assert count(ours) == (1, 2)
    theirs = frame.withColumn("t", F.row_number().over(Window.partitionBy("a", "b").orderBy("id")))
    same(ours, theirs.withColumn("t", F.sum("t").over(Window.partitionBy("b").orderBy("id").rowsBetween(-1, 1))))
    # of two stages, that whose rows the next level needs together comes last
    ours = wr.with_columns(
        frame, t=wr.sum(inner).over(wr.window("a", "id", rows=(-1, 1))), n=wr.sum("v").over(wr.window("c"))
    )
    assert count(ours) == (2, 3)


def test_chained_calls_share_an_exchange(frame):
    w = wr.window(["a", "b"], "id", rows=(-3, 0))
    once = wr.with_columns(frame, s=wr.sum("v").over(w))
    twice = wr.with_columns(once.where("s > 100").withColumnRenamed("b", "B 2").select("B 2", "a", "id", "v"),
                            t=wr.sum("v").over(wr.window(["B 2", "a"], "id", rows=(-3, 0))))  # fmt: skip
    assert count(twice) == (1, 2)
    theirs = frame.withColumn("s", F.sum("v").over(Window.partitionBy("a", "b").orderBy("id").rowsBetween(-3, 0)))
    theirs = theirs.where("s > 100").withColumn(
        "t", F.sum("v").over(Window.partitionBy("a", "b").orderBy("id").rowsBetween(-3, 0))
    )
    same(twice, theirs.select("b", "a", "id", "v", "t"))
    # not where the key was made anew, or the rows went elsewhere
    w = wr.window("a", "id", rows=(-3, 0))
    assert count(wr.with_columns(once.withColumn("a", F.col("v") % 2), t=wr.sum("v").over(w))) == (2, 2)
    assert count(wr.with_columns(once.repartition(3), t=wr.sum("v").over(w))) == (3, 2)
    assert count(wr.with_columns(once.union(once), t=wr.sum("v").over(w))) == (3, 3)


# ----------------------------------------------------------------------------------------------- the input's exchange

REUSED = {
    "repartition": lambda f: f.repartition("a"),
    "repartition into": lambda f: f.repartition(7, "a").where("v > 3").select("v", "id", "b", (F.col("a")).alias("A")),
    "aggregate": lambda f: f.groupBy("a").agg(F.max("id").alias("id"), F.first("b").alias("b"), F.sum("v").alias("v")),
    "distinct": lambda f: f.dropDuplicates(["a"]),
    "window": lambda f: f.withColumn("r", F.row_number().over(Window.partitionBy("a").orderBy("id"))),
    "aggregate of a join": lambda f: (
        f.join(f.select("a", F.col("v").alias("w")), "a").groupBy("a", "w").agg(F.max("id").alias("id"))
        .groupBy("a").agg(F.max("w").alias("v"), F.max("id").alias("id"), F.lit(1).alias("b"))
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REUSED)
def test_the_inputs_exchange_serves(frame, name):
    given = REUSED[name](frame)
    for keys in (["a"], ["b", "a"]):
        ours = wr.with_columns(given, t=wr.sum("v").over(wr.window(keys, "id", rows=(-3, 0))))
        assert count(ours) == (count(given)[0], 1)
        w = Window.partitionBy(*keys).orderBy("id").rowsBetween(-3, 0)
        same(ours, given.withColumn("t", F.sum("v").over(w)))


def test_the_inputs_exchange_does_not_serve_fewer_keys(frame):
    given = frame.groupBy("a", "b").agg(F.max("v").alias("v"), F.max("id").alias("id"))
    ours = wr.with_columns(given, t=wr.sum("v").over(wr.window("a", "id", rows=(-3, 0))))
    assert count(ours) == (2, 1)
    same(ours, given.withColumn("t", F.sum("v").over(Window.partitionBy("a").orderBy("id").rowsBetween(-3, 0))))


@pytest.fixture(scope="module")
def skewed(spark):
    """Give many rows of one key, and some of others, from several files' worth of tasks."""
    return spark.range(0, 20000, 1, 8).selectExpr("id", "if(id < 15000, 0, id % 50) AS a", "rand(7) AS x")


def joined(skewed):
    other = skewed.sparkSession.range(50).selectExpr("id AS a", "id AS y")
    return skewed.join(other, "a")


def bucketed(skewed):
    for part in range(2):  # two files for each bucket
        rows = skewed.where(f"id % 2 = {part}").write.mode("append")
        rows.bucketBy(4, "a").option("path", bucketed.path).saveAsTable("windrow_buckets")
    return skewed.sparkSession.table("windrow_buckets")


def numbers(rows):
    found = defaultdict(set)
    for row in rows:
        found[row.a].add(row.r)
    return found


SPLIT = {
    "skewed join": joined,
    "filter of a skewed join": lambda s: joined(s).where("y < 60").select("id", "a", "x"),
    "repartitioned skewed join": lambda s: joined(s).repartition("a"),
    "window over a skewed join": lambda s: joined(s).withColumn("r", F.count("*").over(Window.partitionBy("a"))),
    "rebalance": lambda s: s.hint("rebalance", "a").withColumn("z", F.rand()),
    "buckets": bucketed,
}


@pytest.mark.parametrize("selecting", [False, True], ids=["with_columns", "select"])
@pytest.mark.parametrize("name", SPLIT)
def test_no_partition_is_split(spark, skewed, tmp_path, name, selecting):
    """Spark takes an exchange away that its child makes needless, and then adaptive execution may split the child's."""
    bucketed.path = str(tmp_path / "buckets")
    calls = {"n": wr.count().over(wr.window("a")), "r": wr.row_number().over(wr.window("a", "id"))}
    try:
        with settings(spark, SPLITTING):
            given = SPLIT[name](skewed)
            ours = wr.select(given, "a", "id", calls) if selecting else wr.with_columns(given, calls)
            rows = ours.select("a", "n", "r").collect()  # an aggregation above would ask for whole partitions
            sizes = Counter(r.a for r in rows)
            assert (len(rows), len(sizes)) == (20000, 50)
            assert {r.a for r in rows if r.n != sizes[r.a]} == set()
            assert all(set(range(1, sizes[a] + 1)) == found for a, found in numbers(rows).items())
    finally:
        spark.sql("DROP TABLE IF EXISTS windrow_buckets")


def test_the_exchange_of_a_join_serves_where_plans_do_not_change(spark, skewed):
    with settings(spark, {**SPLITTING, "spark.sql.adaptive.enabled": "false"}):
        given = joined(skewed)
        ours = wr.with_columns(given, n=wr.count().over(wr.window("a")))
        assert count(ours)[0] == count(given)[0]
        assert ours.where("a = 0").select("n").distinct().collect() == [(15100,)]


# -------------------------------------------------------------------------------------------------------- what travels


@pytest.fixture(scope="module")
def parquet(frame, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("planning") / "t")
    frame.withColumn("wide", F.lit("x")).withColumn("b c.d", F.col("b")).write.parquet(path)
    return frame.sparkSession.read.parquet(path)


def read_schema(frame):
    schemas = set(re.findall(r"ReadSchema: struct<(.*?)>", executed_plan(frame)))
    assert len(schemas) == 1
    return {f.partition(":")[0] for f in schemas.pop().split(",")}


def test_only_what_is_needed_is_read(parquet):
    s = wr.sum("v").over(wr.window("a", "id", rows=(-3, 0)))
    selected = wr.select(parquet, "a", s=s)
    assert read_schema(selected) == {"a", "v", "id"}
    assert passing_columns(executed_plan(selected)) == [["a", "s"]]
    # what a call replaces and nothing reads stays behind as well
    replaced = wr.with_columns(parquet.drop("b c.d"), {"wide": s})
    assert read_schema(replaced) == {"id", "a", "b", "c", "v"}
    # a projection above reaches below, as do filters by the keys
    assert read_schema(wr.with_columns(parquet, s=s).select("a", "s")) == {"a", "v", "id"}
    plan = executed_plan(wr.with_columns(parquet, s=s).where("a = 1"))
    assert "EqualTo(a,1)" in re.search(r"PushedFilters: \[(.*?)\]", plan)[1]
    # what nobody reads is not computed
    assert passages(executed_plan(wr.with_columns(parquet, s=s).select("a"))) == 0


def test_filters_below_reach_the_scan(parquet):
    given = parquet.where("a = 1 AND `b c.d` > 2")
    out = wr.select(given, "id", s=wr.sum("v").over(wr.window("b", "id", rows=(-3, 0))))
    plan = executed_plan(out)
    pushed = re.search(r"PushedFilters: \[(.*?)\]", plan)[1]
    assert "EqualTo(a,1)" in pushed
    assert "GreaterThan(`b c.d`,2)" in pushed or "GreaterThan(b c.d,2)" in pushed
    assert read_schema(out) == {"id", "a", "b", "v", "b c.d"}


def test_columns_stay_behind_once_they_were_read(parquet):
    """A later stage takes what the result and its own calls need, and not what an earlier one has read."""
    inner = wr.max("wide").over(wr.window("a", wr.expr("id + 1")))
    out = wr.select(
        parquet, "v", n=wr.count(inner).over(wr.window("c", "id", rows=(-1, 0))), m=wr.sum("v").over(wr.window("b"))
    )
    found = passing_columns(executed_plan(out))
    assert len(found) == 3
    assert "wide" not in {name for columns in found for name in columns}
    theirs = parquet.withColumn("i", F.max("wide").over(Window.partitionBy("a").orderBy(F.expr("id + 1"))))
    theirs = theirs.select(
        "v",
        F.count("i").over(Window.partitionBy("c").orderBy("id").rowsBetween(-1, 0)),
        F.sum("v").over(Window.partitionBy("b")),
    )
    same(out, theirs)


# --------------------------------------------------------------------------------------------------------- Spark sorts


def test_spark_sorts_where_it_is_asked_to(frame):
    w = wr.window("a", wr.desc("v", nulls="first"), rows=(-2, 0))
    calls = {
        "s": wr.sum("id").over(w),
        "r": wr.rank().over(wr.window("a", wr.desc("v", nulls="first"))),
        "n": wr.count().over(wr.window("a")),
        "t": wr.sum("v").over(wr.window(["a", "b"], "id", rows=(-2, 0))),
    }
    ours = wr.with_columns(frame, calls, sort="spark")
    plan = executed_plan(ours)
    assert (count(ours), plan.count("Sort [")) == ((1, 2), 2)  # one exchange, and a sort and a stream for each order
    assert re.search(r"Sort \[a#\d+L ASC NULLS FIRST, v#\d+L DESC NULLS FIRST\], false", plan)
    by_value = Window.partitionBy("a").orderBy(F.desc_nulls_first("v"))
    same(
        ours,
        frame.withColumns({
            "s": F.sum("id").over(by_value.rowsBetween(-2, 0)),
            "r": F.rank().over(by_value),
            "n": F.count("*").over(Window.partitionBy("a")),
            "t": F.sum("v").over(Window.partitionBy("a", "b").orderBy("id").rowsBetween(-2, 0)),
        }),
    )  # fmt: skip
    assert "Spark's sort by a, v" in str(wr.explain(frame, calls, sort="spark"))


def test_calls_beside_it_do_not_change_a_call(spark):
    """Ties of an order keep the order of the rows, though these were sorted by another order before."""
    frame = spark.range(0, 120, 1, 1).selectExpr("id", "id % 3 AS a", "id * 37 % 11 AS t", "id * 13 % 7 AS w")
    calls = {
        "longer": "row_number() OVER (PARTITION BY a ORDER BY t, w, id DESC)",
        "n": "row_number() OVER (PARTITION BY a ORDER BY t)",
        "before": "lag(id) OVER (PARTITION BY a ORDER BY w)",
        "rank": "rank() OVER (PARTITION BY a ORDER BY t)",
        "of all": "max(id) OVER (PARTITION BY a)",
    }

    def answers(calls):
        return {row["id"]: row for row in wr.select(frame, "id", calls, sort="spark").collect()}

    beside = answers(calls)
    for name in ("n", "before", "longer"):
        alone = answers({name: calls[name]})
        assert len(alone) == 120
        assert {i: row[name] for i, row in alone.items()} == {i: row[name] for i, row in beside.items()}, name
    plan = executed_plan(wr.with_columns(frame, calls, sort="spark"))
    assert plan.count("Sort [") == 3


def test_sort_is_one_of_few_words(frame):
    r = wr.rank().over(wr.window("a", "v"))
    with pytest.raises(wr.SpecError, match="sort='Spark' is neither True, False, 'spark' nor None"):
        wr.with_columns(frame, r=r, sort="Spark")
    for sort in (0, 1, 0.0, pa.array([True]), np.array([False, False]), "x" * 500):  # 0 equals False
        with pytest.raises(wr.SpecError, match="neither True, False, 'spark' nor None") as refused:
            wr.with_columns(frame, r=r, sort=sort)
        assert len(str(refused.value)) < 250
    for value in (np.array(["auto", "never"]), 0, b"auto"):
        with pytest.raises(wr.SpecError, match="is none of 'auto'"):
            wr.with_columns(frame, {"r": r}, engine=value)
        with pytest.raises(wr.SpecError, match="is none of 'auto'"):
            wr.with_columns(frame, {"r": r}, spread=value)
    with wr.config(engine="spark"), pytest.raises(wr.SpecError, match="the setting engine='spark' asks it nothing"):
        wr.with_columns(frame, r=r, sort="spark")
    with pytest.raises(wr.SpecError, match="'spark' is for Spark frames"):
        wr.with_columns(frame.toArrow(), r=r, sort="spark")
    with pytest.raises(wr.SpecError, match="asks it nothing"):
        wr.with_columns(frame, r=r, sort="spark", engine="spark")
