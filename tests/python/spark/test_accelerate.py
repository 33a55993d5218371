"""``wr.spark.accelerate``: whatever stands above and below the windows, rows, schema and columns' ids stay Spark's."""

import warnings

import pyarrow as pa
import pytest

import windrow as wr
from support import comparison

pytest.importorskip("pyspark")

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Window


@pytest.fixture(scope="module")
def spark(oracle_spark):
    """Give the session, with a table ``t`` of many types in three partitions."""
    table = oracle_spark.range(300).selectExpr(
        "id", "id % 7 AS k", "id % 3 AS g", "if(id % 5 = 0, null, cast(id * 37 % 11 AS decimal(10, 2))) AS d",
        "id / 3 AS v", "named_struct('a', id, 'b', array(id)) AS s", "cast(id % 4 AS string) AS st",
        "timestamp '2024-03-09 12:00:00' + make_dt_interval(0, id) AS ts", "date '2024-01-31' + cast(id AS int) AS dt",
        "make_dt_interval(id) AS iv", "interval '3' day AS days", "id % 3 = 0 AS fl", "map('a', id) AS m",
        "interval '1' year AS y",
    )  # fmt: skip
    table.repartition(3).localCheckpoint().createOrReplaceTempView("t")
    return oracle_spark


def by_k():
    return Window.partitionBy("k").orderBy("id")


def ids(frame):
    output = frame._jdf.queryExecution().analyzed().output()
    return [output.apply(i).exprId().id() for i in range(output.size())]


def count(frame, node):
    return frame._jdf.queryExecution().executedPlan().toString().count(node)


def close(ours, theirs):
    # variants know no ==
    return comparison.equal(ours, theirs, signed_zeros=False, rel=1e-12) or repr(ours) == repr(theirs)


def same(ours, theirs):
    """Compare all that a user can see; rows come in any order."""
    assert ours.schema == theirs.schema
    assert ids(ours) == ids(theirs)
    rows = [sorted(map(tuple, frame.collect()), key=lambda r: repr(r[:3])) for frame in (ours, theirs)]
    assert len(rows[0]) == len(rows[1])
    assert all(len(a) == len(b) and all(map(close, a, b)) for a, b in zip(*rows, strict=True))


ABOVE_AND_BELOW = {
    "columns one by one": lambda spark, t: t.drop("y").withColumn("a", F.sum("s.a").over(by_k()))
    .withColumn("r", F.rank().over(Window.partitionBy("k").orderBy(F.desc("d"), "id")))
    .withColumn("z", F.col("a") - F.lag("a", 2, -1).over(by_k())).filter("r < 30"),
    "a self join": lambda spark, t: (lambda n: n.alias("x").join(n.alias("y"), F.expr("x.k = y.k AND x.r = y.r + 1")))(
        t.select("id", "k", F.row_number().over(by_k()).alias("r"))),
    "aggregates above": lambda spark, t: t.withColumn("n", F.count("d").over(by_k())).groupBy("g").agg(F.max("n")),
    "aggregates below": lambda spark, t: spark.sql(
        "SELECT g, k, sum(sum(id)) OVER (PARTITION BY g ORDER BY k) c, rank() OVER (ORDER BY sum(id), k) r FROM t "
        "GROUP BY g, k"),
    "a cube below": lambda spark, t: spark.sql(
        "SELECT g, k, sum(id) s, rank() OVER (PARTITION BY grouping(g) ORDER BY sum(id), g, k) r FROM t "
        "GROUP BY CUBE (g, k)"),
    "unions": lambda spark, t: (lambda n: n.union(n).union(t.select("id", F.lead("id").over(by_k()))))(
        t.select("id", F.lag("id").over(by_k()).alias("l"))),
    "a common table expression twice": lambda spark, t: spark.sql(
        "WITH c AS (SELECT id, k, max(d) OVER (PARTITION BY k ORDER BY id) m FROM t) "
        "SELECT a.id, a.k, b.m, row_number() OVER (PARTITION BY a.k ORDER BY a.id) n "
        "FROM c a JOIN c b ON a.id = b.id + 7"),
    "windows in windows, and no keys": lambda spark, t: spark.sql(
        "SELECT id, sum(row_number() OVER (PARTITION BY k ORDER BY id)) OVER (PARTITION BY g ORDER BY id) x, "
        "max(v) OVER (PARTITION BY rank() OVER (ORDER BY k)) y FROM t"),
    "duplicate names, dots and ticks": lambda spark, t: t.select(
        "id", F.col("k").alias("a.b"), F.col("v").alias("x y`z"), F.col("g").alias("id"))
    .withColumn("q.q", F.sum("`x y``z`").over(Window.partitionBy("`a.b`").orderBy("`x y``z`"))),
    "a view, joined": lambda spark, t: (
        t.select("id", "k", F.sum("id").over(Window.partitionBy("k")).alias("s")).createOrReplaceTempView("sums"),
        spark.sql(
            "SELECT t.id, a.s, a.n FROM t LEFT JOIN (SELECT *, dense_rank() OVER (PARTITION BY k ORDER BY s, id) n "
            "FROM sums) a ON t.id = a.id AND a.n < 5"))[1],
    "rows made below, functions above": lambda spark, t: spark.sql(
        "SELECT id, e, upper(concat(st, row_number() OVER (PARTITION BY k ORDER BY id, e))) n "
        "FROM (SELECT id, k, st, explode(array(1, 2)) e FROM t)").distinct().orderBy("id", "e").limit(50),
    "a filter on the rank": lambda spark, t: spark.sql(
        "SELECT id, k FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY id DESC) = 1"),
    "what Arrow does not carry, unread": lambda spark, t: t.withColumn("r", F.row_number().over(by_k()))
    .select("id", "r"),
}  # fmt: skip


@pytest.mark.parametrize("name", ABOVE_AND_BELOW)
def test_any_nodes_around_windows(spark, name):
    theirs = ABOVE_AND_BELOW[name](spark, spark.table("t"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        ours = wr.spark.accelerate(theirs)
    assert count(ours, "Window [") == 0 < count(theirs, "Window [")
    assert count(ours, "windrow(") > 0
    same(ours, theirs)


FUNCTIONS = """
    SELECT id, avg(id) OVER w, mean(ts) OVER w, stddev(v) OVER w, var_pop(d) OVER w, count(id, d) OVER w,
        count(1) OVER w, count(*) OVER m, bool_and(fl) OVER m, some(fl) OVER w, first(d, true) OVER w,
        last_value(d) IGNORE NULLS OVER m,
        nth_value(d, 1 + 1) IGNORE NULLS OVER w, any_value(st) OVER w, ntile(3) OVER w, percent_rank() OVER w,
        cume_dist() OVER w, dense_rank() OVER w, rank(id) OVER w, lag(d, 2, 0) OVER w, lead(st, 1, 'none') OVER w,
        lag(d, -1) IGNORE NULLS OVER w, lag(id, 1, id * 2) OVER w, lag(id, 0) OVER w, min(s) OVER w, sum(1) OVER m,
        sum(st) OVER w, sum(iv) OVER w, max(days) OVER w, avg(iv) OVER w, first(m) OVER w,
        sum(id) FILTER (WHERE fl AND id > 9) OVER (PARTITION BY k ORDER BY id ROWS UNBOUNDED PRECEDING),
        sum(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND INTERVAL 2 DAY FOLLOWING),
        sum(id) OVER (PARTITION BY k ORDER BY dt RANGE BETWEEN 30 PRECEDING AND CURRENT ROW),
        count(*) OVER (PARTITION BY k ORDER BY dt RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW),
        count(d) OVER (PARTITION BY k ORDER BY d DESC RANGE BETWEEN 1.25 PRECEDING AND 2 FOLLOWING),
        sum(d) OVER (PARTITION BY k ORDER BY v RANGE BETWEEN 0.5 FOLLOWING AND UNBOUNDED FOLLOWING),
        avg(iv) OVER (PARTITION BY k ORDER BY iv RANGE BETWEEN INTERVAL 30 DAY PRECEDING AND CURRENT ROW),
        sum(id) OVER (PARTITION BY k % 2, 1 ORDER BY id % 5, id DESC NULLS FIRST),
        max(id) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING), first(id) OVER (PARTITION BY 1 ORDER BY id)
    FROM t WINDOW w AS (PARTITION BY k ORDER BY id),
        m AS (PARTITION BY k ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)
"""


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_functions_frames_and_types(spark, ansi):
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        theirs = spark.sql(FUNCTIONS)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            ours = wr.spark.accelerate(theirs)
        assert count(ours, "Window [") == 0
        same(ours, theirs)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "true")


def test_types_of_which_arrow_knows_less(spark, tmp_path):
    spark.sql(
        f"CREATE TABLE windrow_chars (c CHAR(3), v VARCHAR(5), i INT COMMENT 'x') USING parquet LOCATION '{tmp_path}/t'"
    )
    try:
        spark.sql("INSERT INTO windrow_chars VALUES ('a', 'b', 1), ('c', 'd', 2)")
        theirs = spark.sql(
            "SELECT t.id, c.*, lag(c.c) OVER k, parse_json(st) j, first(parse_json(st)) OVER k, st COLLATE UTF8_LCASE, "
            "lag(st COLLATE UTF8_LCASE) OVER k, array(st COLLATE UNICODE_CI), days, array(days), NULL, map('a', days), "
            "first(NULL) OVER k, max(cast(st AS binary)) OVER k, sum(cast(id AS decimal(38, 10))) OVER k "
            "FROM t JOIN windrow_chars c ON c.i = t.g WINDOW k AS (PARTITION BY k ORDER BY id)"
        )
        metadata = [f.metadata for f in theirs.schema.fields]
        ours = wr.spark.accelerate(theirs)
        assert count(ours, "Window [") == 0
        assert [f.metadata for f in ours.schema.fields] == metadata
        same(ours, theirs)
    finally:
        spark.sql("DROP TABLE windrow_chars")


def test_windows_that_share_a_key_run_behind_one_exchange(spark):
    frame = spark.table("t").select("id", "k", "g", "v")
    frame = frame.withColumn("a", F.sum("v").over(by_k())).withColumn("b", F.max("v").over(Window.partitionBy("k")))
    frame = frame.withColumn("c", F.rank().over(Window.partitionBy("g", "k").orderBy(F.desc("v"))))
    ours = wr.spark.accelerate(frame)
    assert (count(ours, "windrow("), count(ours, "Exchange")) == (1, 1)
    same(ours, frame)


def test_columns_of_either_frame_mean_the_same(spark):
    frame = spark.table("t").select("id", "k", F.row_number().over(by_k()).alias("n"))
    ours = wr.spark.accelerate(frame)
    picked = ours.filter(frame.n == 2).select(frame.id, ours.k)
    assert sorted(picked.collect()) == sorted(frame.filter("n = 2").select("id", "k").collect())
    assert ours.join(frame, ["id", "n"]).count() == 300


def test_cached_data_is_read_from_the_cache(spark):
    frame = spark.table("t").select("id", "k", F.row_number().over(by_k()).alias("n")).cache()
    try:
        above = frame.withColumn("m", F.max("n").over(Window.partitionBy("k")))
        ours = wr.spark.accelerate(above)
        assert (count(ours, "InMemoryRelation"), count(ours, "windrow(")) == (1, 1)
        same(ours, above)
    finally:
        frame.unpersist()


LEFT = {
    "count_min_sketch(id, 0.5D, 0.5D, 1) OVER (PARTITION BY k)": "windrow has no function count_min_sketch",
    "count(id) OVER (PARTITION BY y)": "by which windrow spreads no rows",
    "sum(id) OVER (PARTITION BY cast(k AS string) COLLATE UTF8_LCASE)": "the collation UTF8_LCASE",
    "id IN (SELECT max(id) OVER (PARTITION BY k) FROM t)": "a window in a subquery of Project",
}


def test_what_is_left_to_spark_is_named(spark):
    # a window that stands above another and reads a column has it carried through the other's stage
    chosen = ", ".join(f"{item} AS c{i}" for i, item in enumerate(LEFT) if not item.startswith("count_min"))
    unread = "first(y) OVER (PARTITION BY k ORDER BY y) AS unread"
    theirs = spark.sql(f"SELECT id, rank() OVER (PARTITION BY g ORDER BY id) r, {chosen}, {unread} FROM t").drop(
        "unread"
    )
    with pytest.warns(UserWarning, match="windrow leaves to Spark") as caught:
        ours = wr.spark.accelerate(theirs)
    [warning] = [w for w in caught if w.category is UserWarning]  # PySpark has one of its own about pandas
    assert warning.filename == __file__
    lines = str(warning.message).split("\n")[1:]
    assert len(lines) == 3
    assert count(ours, "windrow(") == 1
    same(ours, theirs)
    for item, reason in LEFT.items():
        alone = spark.sql(f"SELECT {item} FROM t")
        with pytest.warns(UserWarning, match="windrow leaves to Spark") as caught:
            assert wr.spark.accelerate(alone) is alone
        assert any(reason in str(w.message) for w in caught)


def test_a_mode_that_has_changed_since_is_left_to_spark(spark):
    theirs = spark.sql("SELECT id, sum(id) OVER (PARTITION BY k) s FROM t")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        with pytest.warns(UserWarning, match=r"written while spark\.sql\.ansi\.enabled was True"):
            assert wr.spark.accelerate(theirs) is theirs
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "true")


def test_refusals(spark, monkeypatch):
    frame = spark.table("t")
    assert wr.spark.accelerate(frame) is frame
    with pytest.raises(wr.SpecError, match="takes a PySpark DataFrame, not Table"):
        wr.spark.accelerate(pa.table({"x": [1]}))
    with pytest.raises(wr.UnsupportedError, match="never has; use foreachBatch"):
        wr.spark.accelerate(spark.readStream.format("rate").load())
    monkeypatch.setattr("pyspark.__version__", "3.5.1")
    with pytest.raises(wr.UnsupportedError, match=r"knows the plans of Spark 4\.0 to 4\.3, and this is 3\.5\.1"):
        wr.spark.accelerate(frame)
