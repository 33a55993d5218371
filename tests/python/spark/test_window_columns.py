"""``with_columns`` on Spark Classic: calls are windows of Spark's plan, with all that Spark does to its own."""

import random
import re
from contextlib import nullcontext

import pytest

import windrow as wr
from support.random_calls import rounds

pytest.importorskip("pyspark")

import pyspark
import pyspark.sql.functions as F  # noqa: N812
from pyspark.errors import PySparkException
from pyspark.sql import Window

from support.spark_plans import chain_settings, exchanges, executed_plan, passages
from support.spark_sessions import settings

pytestmark = pytest.mark.engine
IS_3_5 = pyspark.__version__.startswith("3.5")
W = wr.window("k", "id", rows=(-2, 0))
SUM = wr.sum("v").over(W)


@pytest.fixture(scope="module")
def spark(oracle_spark):
    return oracle_spark


@pytest.fixture(scope="module")
def t(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("columns") / "t")
    spark.range(300).selectExpr(
        "id", "id % 4 AS k", "int(id % 3) AS g", "string(id % 5) AS c", "if(id % 7 = 0, null, id * 7 % 11) AS v"
    ).write.parquet(path)
    return spark.read.parquet(path)


def rows(frame):
    return sorted(map(tuple, frame.collect()), key=repr)


def near(before=2):
    return Window.partitionBy("k").orderBy("id").rowsBetween(-before, 0)


def theirs(frame):
    return frame.withColumn("m", F.sum("v").over(near()))


# ------------------------------------------------------------------------------------------------------------ identity

FOLLOWING = {
    "filter": lambda out, df: out.filter(df.v > 3),
    "drop": lambda out, df: out.drop(df.v),
    "select": lambda out, df: out.select(df.id, out.m, (df.v + out.m).alias("x")),
    "replaced": lambda out, df: out.withColumn("v", df.v * 2).filter("v > 4"),
    "ordered": lambda out, df: out.orderBy(df.id.desc()).limit(7),
    "grouped": lambda out, df: out.groupBy(df.g).agg(F.max(out.m), F.count(df.v)),
    "joined back": lambda out, df: out.join(df.groupBy("k").agg(F.max("v").alias("most")), "k"),
    "joined with itself": lambda out, df: _joined(out),
    "union": lambda out, df: out.union(out).filter(df.v > 3),
    "metadata": lambda out, df: out.select("m", "_metadata.file_size"),
    "temporary view": lambda out, df: _view(out),
    "again": lambda out, df: out.withColumn("n", F.avg("m").over(Window.partitionBy("g"))).filter(df.v > 3),
}  # fmt: skip


def _joined(out):
    return out.alias("a").join(out.alias("b"), F.expr("a.id = b.id + 1")).select("a.m", "b.m")


def _view(out):
    out.createOrReplaceTempView("columns_view")
    return out.sparkSession.sql("SELECT k, max(m) FROM columns_view WHERE v > 3 GROUP BY k")


@pytest.mark.parametrize(
    ("name", "way"),
    [
        (name, way)
        for name in FOLLOWING
        for way in ("windows", "split across tasks", "sorted by Spark")
        if name != "metadata" or way == "windows"  # hidden columns do not pass mapInArrow
    ],
)
def test_columns_keep_their_identity(t, name, way):
    call, window, sort = SUM, near(), None
    if way == "split across tasks":
        call, window = wr.sum("v").over(wr.window(order_by="id", rows=(-2, 0))), Window.orderBy("id").rowsBetween(-2, 0)
    if way == "sorted by Spark":
        sort = "spark"
    ours = FOLLOWING[name](wr.with_columns(t, m=call, sort=sort), t)
    expected = FOLLOWING[name](t.withColumn("m", F.sum("v").over(window)), t)
    assert ours.schema == expected.schema
    found = rows(ours)
    assert found == rows(expected)
    assert len(found) >= 3
    assert passages(executed_plan(ours)) > 0


def test_qualifiers_and_metadata_stay(t):
    noted = t.select("id", "k", F.col("v").alias("v", metadata={"unit": "kg"})).alias("a")
    out = wr.with_columns(noted, m=SUM)
    assert out.select("a.id", "a.v", "m").count() == 300
    assert out.schema["v"].metadata == {"unit": "kg"}
    assert not out.schema["m"].metadata
    # a column replaced in its place, and names that stand there twice
    replaced = wr.with_columns(noted, v=SUM)
    assert replaced.columns == ["id", "k", "v"]
    assert rows(replaced) == rows(noted.withColumn("v", F.sum("v").over(near())))
    twice = t.select("id", "k", "v", F.col("v").alias("V"))
    with settings(t.sparkSession, {"spark.sql.caseSensitive": "true"}):
        assert rows(wr.with_columns(twice, m=SUM).select("id", "m")) == rows(theirs(t).select("id", "m"))
    doubled = t.select("id", "id", "k", "v")
    out = wr.with_columns(doubled, m=wr.max("v").over("k"))
    assert out.columns == ["id", "id", "k", "v", "m"]
    assert rows(out) == rows(doubled.withColumn("m", F.max("v").over(Window.partitionBy("k"))))


# --------------------------------------------------------------------------------------------------- Spark's optimizer


def test_filters_columns_and_limits_move(t):
    out = wr.with_columns(t, m=SUM, n=wr.median("v").over(W))
    plan = executed_plan(out.filter("k = 2").select("id", "m"))
    assert "EqualTo(k,2)" in re.search(r"PushedFilters: \[(.*?)\]", plan)[1]
    assert "median" not in plan
    assert "c:string" not in plan
    assert passages(executed_plan(out.select("id", "v"))) == 0
    assert out.count() == 300
    assert rows(out.filter("k = 2").select("id", "m")) == rows(theirs(t).filter("k = 2").select("id", "m"))


def test_equal_expressions_are_one_key(t):
    w = Window.partitionBy(F.upper("c"), F.col("k") % 2).orderBy("id")
    calls = {f"c{i}": F.sum("v").over(w.rowsBetween(-i, 0)) for i in range(1, 4)}
    asked = calls
    if IS_3_5:  # where windows in Columns are not read
        text = "sum(v) OVER (PARTITION BY upper(c), k % 2 ORDER BY id ROWS {} PRECEDING)"
        asked = {f"c{i}": text.format(i) for i in range(1, 4)}
    ours = wr.with_columns(t, asked)
    plan = executed_plan(ours)
    assert (passages(plan), exchanges(plan)) == (1, 1)
    assert rows(ours) == rows(t.withColumns(calls))


def test_calls_one_after_another_are_one_stage(t):
    ours, expected = t, t
    for i in range(1, 8):
        ours = wr.with_columns(ours, {f"c{i}": wr.sum("v").over(wr.window("k", "id", rows=(-i, 0)))})
        expected = expected.withColumn(f"c{i}", F.sum("v").over(near(i)))
    plan = executed_plan(ours)
    assert (passages(plan), exchanges(plan)) == (1, 1)
    assert rows(ours) == rows(expected)


def test_calls_of_other_settings_are_stages_of_their_own(t):
    most = 2**63 - 1
    big = t.selectExpr("id", "k", f"if(id = 8, {most}, v) AS v")
    with wr.config(ansi=False):
        wrapped = wr.with_columns(big, m=SUM)
    both = wr.with_columns(wrapped, n=wr.avg("v").over(W))
    assert passages(executed_plan(both)) == 2
    assert min(r.m for r in both.collect() if r.m is not None) < 0
    with wr.config(ansi=True), pytest.raises(PySparkException, match="ArithmeticOverflowError"):
        wr.with_columns(big, m=SUM).collect()


# ------------------------------------------------------------------------------------------------------ what may happen


def test_enable_and_disable_leave_calls_to_windrow(spark, t):
    out = wr.with_columns(t, m=SUM)
    expected = rows(theirs(t))
    with wr.spark.accelerated(spark):
        assert rows(out) == expected
        assert rows(wr.with_columns(t, m=SUM)) == expected
    wr.spark.enable(spark)
    wr.spark.disable(spark)
    assert rows(out.filter("true")) == expected
    # Spark's own windows stay Spark's
    plan = executed_plan(out.withColumn("n", F.sum("m").over(Window.partitionBy("g").orderBy("id"))))
    assert (passages(plan), plan.count("Window [sum")) == (1, 1)


def test_another_sessions_optimizer_says_what_is_wrong(spark, t):
    wr.with_columns(t, m=SUM).createOrReplaceGlobalTempView("columns_of_another")
    most = theirs(t).agg(F.max("m")).collect()
    other = spark.newSession()
    try:
        frame = other.sql("SELECT max(m) AS m FROM global_temp.columns_of_another")
        with pytest.raises(Exception, match="windrow_sum has not the optimizer"):
            frame.collect()
        wr.with_columns(other.range(3), m=wr.count().over("id")).collect()
        assert other.sql("SELECT max(m) AS m FROM global_temp.columns_of_another").collect() == most
    finally:
        spark.catalog.dropGlobalTempView("columns_of_another")


def test_caches_writes_and_subqueries(spark, t, tmp_path):
    out = wr.with_columns(t, m=SUM)
    expected = rows(theirs(t))
    cached = out.cache()
    try:
        assert rows(cached) == expected
        assert rows(wr.with_columns(t, m=SUM)) == expected
    finally:
        cached.unpersist()
    out.write.parquet(str(tmp_path / "written"))
    assert rows(spark.read.parquet(str(tmp_path / "written"))) == expected
    out.createOrReplaceTempView("columns_view")
    found = spark.sql("SELECT id, (SELECT max(m) FROM columns_view) AS x FROM columns_view WHERE id < 3").collect()
    assert [r.x for r in found] == [max(r[-1] for r in expected if r[-1] is not None)] * 3
    assert len(out.toPandas()) == 300
    assert len(out.rdd.map(lambda r: r.m).collect()) == 300


def test_functions_of_ones_own_travel(t):
    half = 2

    class Halved:
        def initialize(self):
            return 0

        def update(self, state, value):
            return state + (value or 0)

        def merge(self, left, right):
            return left + right

        def evaluate(self, state):
            return state // half

    out = wr.with_columns(t, m=wr.aggregate(Halved, "v", returns=int).over(W))
    expected = t.withColumn("m", F.expr("sum(coalesce(v, 0)) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING) div 2"))
    assert rows(out) == rows(expected)


def test_a_setting_that_costs_time_is_told_once(spark, caplog):
    other = spark.newSession()
    with settings(other, {"spark.sql.execution.arrow.maxBytesPerBatch": "64MB"}), caplog.at_level("WARNING", "windrow"):
        for _ in range(2):
            wr.with_columns(other.range(3), m=wr.median("id").over("id"))
    [told] = [record.getMessage() for record in caplog.records if record.name == "windrow"]
    assert "maxBytesPerBatch is 64MB; 2147483647 saves that time" in told


def test_legacy_settings_are_followed(spark, t):
    """Calls that they are about are Spark's, on every way in; what Spark cannot say is refused."""
    calls = {"d": "stddev(v) OVER (PARTITION BY k, id)", "c": "corr(v, id) OVER (PARTITION BY id)"}
    quantile = {"p": "percentile_disc(0.6) WITHIN GROUP (ORDER BY v) OVER (PARTITION BY k)"}
    bins = {"h": "histogram_numeric(v, 2) OVER (PARTITION BY k)"}  # which the setting is for while it is off
    for setting, value, asked in (
        ("statisticalAggregate", "true", calls),
        ("percentileDiscCalculation", " TRUE", quantile),
        ("histogramNumericPropagateInputType", "false", bins),
    ):
        with settings(spark, {f"spark.sql.legacy.{setting}": value}):
            expected = repr(rows(t.selectExpr("id", *[f"{text} AS {name}" for name, text in asked.items()])))
            for engine in ("auto", "windrow", "spark"):
                assert repr(rows(wr.select(t, "id", asked, engine=engine))) == expected, (setting, engine)
            t.createOrReplaceTempView("legacy_view")
            query = f"SELECT id, {', '.join(f'{text} AS {name}' for name, text in asked.items())} FROM legacy_view"
            # in 3.5 Spark does not plan the queries of wr.sql
            reason = f"{setting} is on|Spark's result is .*, windrow's would be"
            told = nullcontext() if IS_3_5 else pytest.warns(UserWarning, match=reason)
            with told:
                ours = wr.sql(query)
            assert repr(rows(ours)) == expected
    with settings(spark, {"spark.sql.legacy.statisticalAggregate": "true"}):
        assert "nan" in repr(rows(wr.select(t, calls)))
        with pytest.raises(wr.UnsupportedError, match=r"no GROUPS, and windrow does not follow the setting spark\.sql"):
            wr.select(t, d="stddev(v) OVER (PARTITION BY k ORDER BY id GROUPS 1 PRECEDING)")


def test_calls_made_within_a_block_are_planned_after_it(spark):
    """The rule of the block goes, that of windrow's own calls stays."""
    other = spark.newSession()
    frame = other.range(20).selectExpr("id", "id % 3 AS k")
    with wr.spark.accelerated(other):
        out = wr.with_columns(frame, m="median(id) OVER (PARTITION BY k)")
    assert passages(executed_plan(out)) == 1
    assert rows(out) == rows(frame.selectExpr("*", "median(id) OVER (PARTITION BY k) AS m"))


def test_settings_are_what_spark_uses(spark, t):
    """Where nobody set them they are Spark's defaults, not those that a reader would give."""
    from windrow.hosts.spark.session import is_on, spark_setting

    assert spark_setting(spark, "spark.sql.legacy.no_such_setting") is None
    assert not is_on(spark, "spark.sql.legacy.no_such_setting")
    assert is_on(spark, "spark.sql.legacy.histogramNumericPropagateInputType")
    plan = executed_plan(wr.select(t, h="histogram_numeric(v, 2) OVER (PARTITION BY k)"))
    assert passages(plan) == 1


def test_zones_that_only_java_knows(spark):
    text = "count(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW)"
    compared = 0
    for zone in ("GMT+2", "UTC+01:00", "+5", "UT-01:00", "+05:3", "PST", "EST"):
        with settings(spark, {"spark.sql.session.timeZone": zone}):
            hours = "timestamp'2024-03-08 00:00:00' + make_dt_interval(0, int(id) * 5) AS ts"
            frame = spark.range(40).selectExpr("id", "id % 2 AS k", hours)
            ours = wr.select(frame, "id", n=text, m="max(ts) OVER (PARTITION BY k)")
            assert passages(executed_plan(ours)) == 1
            found = rows(ours)
            assert found == rows(frame.selectExpr("id", f"{text} AS n", "max(ts) OVER (PARTITION BY k) AS m")), zone
            compared += len(found)
    assert compared == 280


# -------------------------------------------------------------------------------------------------------- random chains

KEYS = [["k"], ["g"], ["c"], ["k", "g"], ["g", "k"], ["c", "k", "g"]]
CALLS = [
    (lambda w: wr.sum("v").over(w), "sum(v)"),
    (lambda w: wr.avg("v").over(w), "avg(v)"),
    (lambda w: wr.count("v").over(w), "count(v)"),
    (lambda w: wr.max("id").over(w), "max(id)"),
    (lambda w: wr.collect_list("v").over(w), "collect_list(v)"),
]


def step_on(ours, expected, names, number, rng):
    """Put one operator upon both frames."""
    kind = rng.choice(["window", "window", "window", "ranks", "filter", "select", "group", "join", "limit"])
    if kind == "window":
        calls, texts = {}, {}
        for i in range(rng.randint(1, 3)):
            keys, (call, text), back = rng.choice(KEYS), rng.choice(CALLS), rng.randint(0, 4)
            name = f"w{number}_{i}"
            calls[name] = call(wr.window(keys, "id", rows=(-back, 1)))
            over = f"PARTITION BY {', '.join(keys)} ORDER BY id ROWS BETWEEN {back} PRECEDING AND 1 FOLLOWING"
            texts[name] = F.expr(f"{text} OVER ({over})")
        return wr.with_columns(ours, calls), expected.withColumns(texts), [*names, *calls]
    if kind == "ranks":
        keys, name = rng.choice(KEYS), f"r{number}"
        ranked = wr.with_columns(ours, {name: wr.row_number().over(wr.window(keys, "id"))})
        text = f"row_number() OVER (PARTITION BY {', '.join(keys)} ORDER BY id)"
        return ranked, expected.withColumn(name, F.expr(text)), [*names, name]
    if kind == "filter":
        text = f"{rng.choice(names)} IS NOT NULL AND g < 2"
        return ours.filter(text), expected.filter(text), names
    if kind == "select":
        kept = [n for n in names if n in ("id", "k", "g", "c", "v") or rng.random() < 0.6]
        return ours.select(kept), expected.select(kept), kept
    if kind == "limit":
        return ours.orderBy("id").limit(200), expected.orderBy("id").limit(200), names
    if kind == "group":
        rest = [F.max(n).alias(n) for n in names if n not in ("k", "g")]
        by = ["k", "g", *(n for n in names if n not in ("k", "g"))]
        return ours.groupBy("k", "g").agg(*rest), expected.groupBy("k", "g").agg(*rest), by
    other = ours.sparkSession.range(250).select("id", (F.col("id") % 9).alias(f"j{number}"))
    return ours.join(other, "id"), expected.join(other, "id"), ["id", *(n for n in names if n != "id"), f"j{number}"]


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("number", rounds(5, 1))
def test_random_chains(spark, t, number, adaptive):
    """Rows, types and nullability of Spark's own chain, and no more exchanges."""
    rng = random.Random(f"columns {number}")
    taken, compared = 0, 0
    with settings(spark, chain_settings(rng, adaptive)):
        for _ in range(5):
            ours, expected, names = t, t, ["id", "k", "g", "c", "v"]
            for step in range(rng.randint(2, 6)):
                ours, expected, names = step_on(ours, expected, names, step, rng)
            ours, expected = ours.select(names), expected.select(names)
            assert ours.schema == expected.schema
            plan = executed_plan(ours)
            assert exchanges(plan) <= exchanges(executed_plan(expected)), plan
            found = rows(ours)
            assert found == rows(expected), plan
            taken += passages(plan)
            compared += len(found)
    assert taken >= 3
    assert compared >= 20
