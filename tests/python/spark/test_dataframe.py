"""PySpark DataFrames: planning, schemas, PySpark's own Columns. Answers are compared with Spark's own windows."""

import pytest

import windrow as wr

pytest.importorskip("pyspark")

import pyspark.sql.functions as F  # noqa: N812
import pyspark.sql.types as T  # noqa: N812
from pyspark.sql import Window

from support.spark_plans import exchanges, executed_plan, passages

METRICS = [(0, 0, 0), (1, 0, 1), (2, 5, 2), (3, 0, 3), (4, 0, 1), (5, 5, 3), (6, 5, 0)]
near = wr.window("device", "id", range=(-1, 0))


def spark_near():
    """Give the same window of PySpark's, which can only be made once a session is there."""
    return Window.partitionBy("device").orderBy("id").rangeBetween(-1, 0)


SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "America/New_York"}


@pytest.fixture(params=[False, True], ids=["", "validated"])
def validated(request, spark):
    """Whether Spark checks what comes back from Arrow; the columns must be right either way."""
    key = "spark.sql.execution.arrow.pyspark.validateSchema.enabled"
    before = spark.conf.get(key)
    spark.conf.set(key, str(request.param).lower())
    yield
    spark.conf.set(key, before)


@pytest.fixture
def metrics(spark):
    return spark.createDataFrame(METRICS, "id long, device long, level long")


def rows(frame, *order):
    return [tuple(r) for r in frame.orderBy(*order).collect()]


def test_builder_sql_and_columns_agree(metrics):
    out = wr.with_columns(
        metrics,
        wr.sum("level").over(near).alias("a"),
        "sum(level) OVER (PARTITION BY device ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS b",
        {"c": F.sum("level").over(spark_near())},
        F.sum(metrics.level).over(spark_near()).alias("d"),
        e=F.expr("sum(level) OVER (PARTITION BY device ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"),
    )
    assert out.columns == ["id", "device", "level", "a", "b", "c", "d", "e"]
    expected = [r.s for r in metrics.withColumn("s", F.sum("level").over(spark_near())).orderBy("id").collect()]
    assert [r[3:] for r in rows(out, "id")] == [(s,) * 5 for s in expected]
    assert expected == [0, 1, 2, 3, 4, 3, 3]


COLUMNS = {
    "count_star": lambda w, d: F.count("*").over(w),
    "count": lambda w, d: F.count("level").over(w),
    "avg": lambda w, d: F.avg("level").over(w),
    "of expression": lambda w, d: F.sum(F.col("level") * 2 + 1).over(w),
    "of literal": lambda w, d: F.sum(F.lit(2)).over(w),
    "row_number": lambda w, d: F.row_number().over(d),
    "rank": lambda w, d: F.rank().over(d),
    "dense_rank": lambda w, d: F.dense_rank().over(d),
    "percent_rank": lambda w, d: F.percent_rank().over(d),
    "cume_dist": lambda w, d: F.cume_dist().over(d),
    "ntile": lambda w, d: F.ntile(2).over(d),
    "lag": lambda w, d: F.lag("level").over(d),
    "lag with default": lambda w, d: F.lag("level", 2, -1).over(d),
    "lead": lambda w, d: F.lead("level", 1).over(d),
    "first": lambda w, d: F.first("level").over(w),
    "first ignoring nulls": lambda w, d: F.first("part", ignorenulls=True).over(w),
    "last ignoring nulls": lambda w, d: F.last("part", True).over(w),
    "nth_value": lambda w, d: F.nth_value("level", 2).over(w),
    "nth_value ignoring nulls": lambda w, d: F.nth_value("part", 2, True).over(w),
    "any_value": lambda w, d: F.any_value("level").over(w),
    "stddev": lambda w, d: F.stddev("level").over(w),
    "min of case": lambda w, d: F.min(F.when(F.col("level") > 0, F.col("level"))).over(w),
    "bool_and": lambda w, d: F.bool_and(F.col("level") > 0).over(w),
    "no order": lambda w, d: F.max("level").over(Window.partitionBy("device")),
    "expression keys": lambda w, d: F.sum("level").over(Window.partitionBy(F.col("id") % 2).orderBy(-F.col("id"))),
    "desc nulls first": lambda w, d: F.rank().over(Window.partitionBy("device").orderBy(F.desc_nulls_first("part"))),
    "unbounded": lambda w, d: F.last("level").over(d.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)),
    "current row on": lambda w, d: F.sum("level").over(d.rowsBetween(Window.currentRow, Window.unboundedFollowing)),
    "rows": lambda w, d: F.sum("level").over(d.rowsBetween(-2, 1)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_pysparks_own_columns(metrics, name):
    frame = metrics.withColumn("part", F.when(F.col("id") % 3 > 0, F.col("level")))
    column = COLUMNS[name](spark_near(), Window.partitionBy("device").orderBy("id"))
    theirs = frame.withColumn("x", column)
    ours = wr.with_columns(frame, {"x": column})
    assert rows(ours, "id") == rows(theirs, "id")
    assert ours.schema["x"].dataType == theirs.schema["x"].dataType
    assert ours.schema["x"].nullable == theirs.schema["x"].nullable


def test_passthrough_and_results_keep_their_types(spark, validated):
    frame = spark.range(6).selectExpr(
        "id",
        "id % 2 AS k",
        "cast(id AS tinyint) t",
        "cast(id AS decimal(12, 3)) d",
        "timestamp '2024-03-09 12:00:00' + make_dt_interval(0, id) AS ts",
        "timestamp_ntz '2024-03-09 12:00:00' AS ntz",
        "date '2024-01-31' AS dt",
        "make_dt_interval(id) AS iv",
        "interval '3' day AS day",
        "array(id, null) AS list",
        "map('a', id) AS map",
        "named_struct('x', id, 'y', array(named_struct('z', 1))) AS nested",
        "cast(cast(id AS string) AS binary) AS bin",
        "cast(null AS void) AS nothing",
        "id % 2 = 0 AS flag",
        "cast(id AS string) AS s",
    )
    names = [c for c in frame.columns if c not in ("id", "k")]
    w, theirs = wr.window("k", "id", rows=(-1, 0)), Window.partitionBy("k").orderBy("id").rowsBetween(-1, 0)
    ours = wr.with_columns(frame, {f"first_{c}": wr.first(c).over(w) for c in names})
    spark_frame = frame.select("*", *[F.first(c).over(theirs).alias(f"first_{c}") for c in names])
    assert ours.schema == spark_frame.schema
    assert rows(ours, "id") == rows(spark_frame, "id")


def test_sums_of_every_number(spark, validated):
    frame = spark.range(20).selectExpr(
        "id", "id % 3 AS k", "cast(id AS int) i", "cast(id AS float) f", "cast(id AS decimal(10, 2)) d"
    )
    w, theirs = wr.window("k", "id", rows=(-2, 2)), Window.partitionBy("k").orderBy("id").rowsBetween(-2, 2)
    calls = {f"{fn}_{c}": getattr(wr, fn)(c).over(w) for fn in ("sum", "avg", "min", "max") for c in "ifd"}
    spark_frame = frame.select(
        "*", *[getattr(F, fn)(c).over(theirs).alias(f"{fn}_{c}") for fn in ("sum", "avg", "min", "max") for c in "ifd"]
    )
    ours = wr.with_columns(frame, calls)
    assert ours.schema == spark_frame.schema
    assert rows(ours, "id") == rows(spark_frame, "id")


def test_char_and_varchar_keep_their_metadata(spark, validated, tmp_path):
    spark.sql(f"CREATE TABLE windrow_chars (c CHAR(3), v VARCHAR(5), i INT) USING parquet LOCATION '{tmp_path}/t'")
    try:
        spark.sql("INSERT INTO windrow_chars VALUES ('a', 'b', 1)")
        frame = spark.table("windrow_chars")
        out = wr.with_columns(frame, first=wr.first("c").over(wr.window("v", "i")))
        assert out.schema.fields[:3] == frame.schema.fields
        assert [f.metadata for f in out.schema.fields[:3]] == [f.metadata for f in frame.schema.fields]
        assert rows(out, "i") == [("a  ", "b", 1, "a  ")]
    finally:
        spark.sql("DROP TABLE windrow_chars")


def test_names(spark, metrics):
    odd = metrics.toDF("a.id", "the device", "le`vel")
    w = wr.window("the device", "a.id", range=(-1, 0))
    assert [r[3] for r in rows(wr.with_columns(odd, s=wr.sum("le`vel").over(w)), "`a.id`")] == [0, 1, 2, 3, 4, 3, 3]
    # replaced in its place, whatever the case
    out = wr.with_columns(metrics, wr.sum("LEVEL").over(near).alias("Device"))
    assert out.columns == ["id", "Device", "level"]
    # duplicates pass through
    double = metrics.select("id", "device", "level", "id", F.col("level").alias("x"))
    assert wr.with_columns(double, n=wr.count().over(wr.window("device"))).columns == [
        "id", "device", "level", "id", "x", "n",
    ]  # fmt: skip
    nested = metrics.select("id", F.struct("device", "level").alias("s"))
    out = wr.with_columns(nested, t=wr.sum("s.level").over(wr.window("s.device")))
    assert [r.t for r in out.orderBy("id").collect()] == [5] * 7


def test_select(metrics):
    out = wr.select(metrics, "ID", wr.sum("level").over(near).alias("s"))
    assert out.columns == ["id", "s"]
    assert rows(out, "id") == list(zip(range(7), [0, 1, 2, 3, 4, 3, 3], strict=True))


def count(frame):
    plan = executed_plan(frame)
    return exchanges(plan), passages(plan)


def test_calls_that_share_a_key_share_an_exchange(metrics):
    one = wr.with_columns(
        metrics,
        wr.sum("level").over(near),
        wr.rank().over(wr.window("device", wr.desc("level"))),
        wr.count().over(wr.window(["device", "level"])),
    )
    assert count(one) == (1, 1)
    two = wr.with_columns(metrics, wr.sum("level").over(near), wr.count().over(wr.window("level")))
    assert count(two) == (2, 2)
    assert rows(two, "id")[0] == (0, 0, 0, 0, 2)


def test_no_partition_warns_of_its_cost(metrics):
    with pytest.warns(UserWarning, match="No Partition Defined for Window operation! Moving all data") as caught:
        out = wr.with_columns(metrics, r=wr.row_number().over(wr.window(order_by=wr.desc("id"))), spread="never")
    assert caught[0].filename == __file__
    assert [r.r for r in out.orderBy("id").collect()] == [7, 6, 5, 4, 3, 2, 1]


def test_presorted_input_takes_no_exchange(metrics):
    ready = metrics.repartition("device").sortWithinPartitions("device", "id")
    out = wr.with_columns(ready, wr.sum("level").over(near).alias("s"), sort=False)
    assert count(out) == (1, 1)
    assert [r.s for r in out.orderBy("id").collect()] == [0, 1, 2, 3, 4, 3, 3]


def test_plain_map_in_arrow(metrics):
    op = wr.operator([wr.sum("level").over(near).alias("s")], metrics)
    out = metrics.repartition("device").mapInArrow(op, op.spark_schema)
    assert [r.s for r in out.orderBy("id").collect()] == [0, 1, 2, 3, 4, 3, 3]
    of_schema = wr.operator([wr.sum("level").over(near).alias("s")], metrics.schema)
    assert of_schema.spark_schema == op.spark_schema
    assert op.spark_schema["s"] == T.StructField("s", T.LongType(), True)


def test_empty_partitions_and_frames(spark, metrics):
    out = wr.with_columns(metrics.repartition(20), wr.sum("level").over(near).alias("s"))
    assert [r.s for r in out.orderBy("id").collect()] == [0, 1, 2, 3, 4, 3, 3]
    assert wr.with_columns(metrics.filter("id < 0"), wr.sum("level").over(near)).collect() == []


def test_many_groups_in_one_task_do_not_leak(spark):
    frame = spark.range(2000).selectExpr("id", "id % 97 AS g", "if(id % 5 = 0, null, id) AS x").repartition(1)
    w, theirs = wr.window("g", "id"), Window.partitionBy("g").orderBy("id")
    ours = wr.with_columns(frame, a=wr.sum("x").over(w), b=wr.first("x").ignore_nulls().over(w), c=wr.lag("x").over(w))
    spark_frame = (
        frame.withColumn("a", F.sum("x").over(theirs))
        .withColumn("b", F.first("x", True).over(theirs))
        .withColumn("c", F.lag("x").over(theirs))
    )
    assert rows(ours, "id") == rows(spark_frame, "id")


def test_calendar_days_are_the_sessions(spark):
    frame = spark.sql(
        "SELECT id, timestamp '2024-03-09 11:00:00' + make_dt_interval(0, id) AS t, 1 AS k FROM range(30)"
    )
    sql = "count(*) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW)"
    assert rows(wr.with_columns(frame, n=sql), "id") == rows(frame.selectExpr("*", f"{sql} AS n"), "id")


def test_ansi_follows_the_session(spark):
    frame = spark.sql("SELECT * FROM VALUES (1, 9223372036854775807L), (2, 1L) AS t(id, x)")
    w = wr.window(wr.lit(1), "id")
    key = "spark.sql.ansi.enabled"
    before = spark.conf.get(key)
    try:
        spark.conf.set(key, "true")
        with pytest.raises(Exception, match="ArithmeticOverflowError"):
            wr.with_columns(frame, s=wr.sum("x").over(w)).collect()
        spark.conf.set(key, "false")
        theirs = frame.withColumn("s", F.sum("x").over(Window.partitionBy(F.lit(1)).orderBy("id")))
        assert rows(wr.with_columns(frame, s=wr.sum("x").over(w)), "id") == rows(theirs, "id")
    finally:
        spark.conf.set(key, before)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda m: wr.with_columns(m, F.col("id")), wr.SpecError, "not a window call"),
        (lambda m: wr.with_columns(m, wr.sum("leve").over(near)), wr.SpecError, "did you mean 'level'"),
        (
            lambda m: wr.with_columns(m.selectExpr("id", "'a' COLLATE UTF8_LCASE AS y"),
            wr.count().over(wr.window("y"))), wr.UnsupportedError,
            "collation UTF8_LCASE",
        ),
        (
            lambda m: wr.with_columns(m.selectExpr("*", "map(1, 2) AS y"), wr.count().over(wr.window("y"))),
            wr.SpecError,
            "no order",
        ),
        (lambda m: wr.with_columns(m, wr.row_number().over(wr.window("device"))), wr.SpecError, "row_number"),
    ],
)  # fmt: skip
def test_mistakes_are_raised_before_the_job(metrics, make, error, says):
    with pytest.raises(error, match=says):
        make(metrics)


def test_explain_names_the_exchanges(metrics):
    plan = wr.explain(
        metrics, wr.sum("level").over(near).alias("s"), {"t": F.sum(F.col("level") * 2).over(spark_near())}
    )
    assert any(s.startswith("stage 1: rows of equal device in one task, then windrow computes") for s in plan.steps)
    assert [row["name"] for row in plan.rows] == ["s", "t"]
    assert any("Spark evaluates" in s for s in plan.steps)


def test_explain_names_a_setting_that_costs_time(spark, metrics):
    name = "spark.sql.execution.arrow.maxBytesPerBatch"
    near_sum, number = wr.sum("level").over(near).alias("s"), "row_number() OVER (PARTITION BY device ORDER BY id) AS n"
    try:
        for limit, shown in (("64MB", True), (str(2**31 - 1), False)):
            spark.conf.set(name, limit)
            named = [step for step in wr.explain(metrics, near_sum).steps if name in step]
            assert bool(named) == shown, named
            assert not any(name in step for step in wr.explain(metrics, number, engine="spark").steps)
            assert wr.with_columns(metrics, near_sum).count() == metrics.count()
    finally:
        spark.conf.unset(name)


def test_functions_of_spark_alone_are_left_to_spark(spark):
    frame = spark.createDataFrame([(1, 1, 5), (1, 2, 5), (2, 1, 7)], "k int, t int, v int")
    item = "approx_top_k(v, 2) OVER (PARTITION BY k)"
    with pytest.warns(UserWarning, match="no function approx_top_k and leaves the column to Spark") as warned:
        out = wr.with_columns(frame, "sum(v) OVER (PARTITION BY k) AS s", f"size({item}) AS n")
    assert warned[0].filename == __file__
    expected = frame.selectExpr("*", "sum(v) OVER (PARTITION BY k) AS s", f"size({item}) AS n")
    assert out.schema == expected.schema
    assert sorted(out.collect()) == sorted(expected.collect())
    with pytest.raises(wr.SpecError, match='no window function "summ"; did you mean "sum" or "try_sum"'):
        wr.with_columns(frame, "summ(v) OVER (PARTITION BY k) AS s")


LISTS = [
    "collect_list({c})",
    "array_agg({c})",
    "max_by({c}, id, 2)",
    "min_by({c}, id, 2)",
    "lag({c})",
    "any_value({c})",
]


@pytest.mark.parametrize("kind", ["vector", "variant", "list of variants", "struct of both"])
def test_lists_of_what_arrow_tells_less_of(spark, kind):
    pytest.importorskip("numpy")
    from pyspark.ml.linalg import Vectors, VectorUDT

    vectors = spark.createDataFrame(
        [(i, i % 2, Vectors.dense([i, 2.0]) if i % 3 else Vectors.sparse(3, {1: i})) for i in range(7)],
        T.StructType().add("id", "long").add("k", "long").add("vec", VectorUDT()),
    )
    made = {
        "vector": "vec", "variant": "if(id = 2, null, parse_json(concat('[', id, ']')))",
        "list of variants": "array(parse_json('1'), null)", "struct of both": "struct(vec, parse_json('[1]') AS j)",
    }  # fmt: skip
    frame = vectors.selectExpr("id", "k", f"{made[kind]} AS c")
    calls = {f"c{i}": f"{fn.format(c='c')} OVER (PARTITION BY k ORDER BY id)" for i, fn in enumerate(LISTS)}
    query = f"SELECT id, {', '.join(f'{call} AS {name}' for name, call in calls.items())} FROM f"
    frame.createOrReplaceTempView("f")
    theirs = spark.sql(query)
    expected = sorted(map(repr, theirs.collect()))
    op = wr.operator(calls, frame)
    ways = {
        "select": lambda: wr.select(frame, "id", calls),
        "accelerate": lambda: wr.spark.accelerate(theirs),
        "sql": lambda: wr.sql(query),
        "mapInArrow": lambda: frame.repartition("k").mapInArrow(op, op.spark_schema).select("id", *calls),
    }
    with wr.config(memory_limit=1):
        spilled = wr.select(frame, "id", calls)
    for name, ours in {**{n: make() for n, make in ways.items()}, "spilled": spilled}.items():
        assert ours.schema == theirs.schema, name
        assert sorted(map(repr, ours.collect())) == expected, name
    assert len(expected) == 7


def test_least_distances_from_the_first_key(spark):
    values = [(i % 4, None if i % 11 == 0 else (i * 37) % 150, i) for i in range(150)]
    data = spark.createDataFrame(values, "k int, t int, v long")
    w = wr.window("k", "t", range=(-30, 0), min_span=40)
    calls = {"s": wr.sum("v").over(w), "change": wr.sum("v").over(w) - wr.avg("v").over("k")}
    found = wr.with_columns(data, calls)
    counted = F.count("t").over(Window.partitionBy("k").orderBy("t").rangeBetween(Window.unboundedPreceding, -40))
    near = F.sum("v").over(Window.partitionBy("k").orderBy("t").rangeBetween(-30, 0))
    average = F.avg("v").over(Window.partitionBy("k"))
    expected = data.withColumn("s", F.when(counted > 0, near)).withColumn("change", F.col("s") - average)
    ours = rows(found, "v")
    assert ours == rows(expected, "v")
    assert len(ours) == 150
    assert 4 < sum(r[3] is None for r in ours) < 100
