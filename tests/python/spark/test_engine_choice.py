"""Who computes on a Spark frame: what ``engine="auto"`` leaves to Spark, and that it comes out the same."""

import pytest

import windrow as wr
from support import comparison
from support.spark_plans import exchanges, executed_plan, passages

pytest.importorskip("pyspark")

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Window

pytestmark = pytest.mark.engine

SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "America/New_York"}


@pytest.fixture(scope="module")
def frame(spark):
    """Give columns of many types, with ties, nulls and names that need quoting."""
    return spark.range(120).selectExpr(
        "id", "id % 4 AS k", "if(id % 9 = 0, null, id * 37 % 23) AS `t o`", "cast(id * 7 % 11 AS int) AS i",
        "if(id % 5 = 0, null, id * 7 % 13) AS `a.b`", "cast(id * 1.25 AS decimal(10,2)) AS m",
        "if(id % 7 = 0, double('NaN'), (id % 6 - 3) * 0D) AS f", "concat('x', id % 8) AS `back``tick`",
        "named_struct('p', id % 3, 'q', id) AS s", "array(id % 2, null) AS l", "id % 3 = 0 AS flag",
        "timestamp '2024-03-09 12:00:00' + make_dt_interval(0, id) AS ts", "make_dt_interval(id) AS gap",
        "cast(id AS tinyint) AS small", "id AS low", "make_ym_interval(0, int(id)) AS months",
    )  # fmt: skip


OVER_KT = "OVER (PARTITION BY k ORDER BY `t o` DESC NULLS FIRST, id)"
OVER_K = "OVER (PARTITION BY k)"
LEFT = [
    f"row_number() {OVER_KT}", f"rank() {OVER_KT}", f"dense_rank() {OVER_KT}", f"percent_rank() {OVER_KT}",
    f"cume_dist() {OVER_KT}", f"ntile(5) {OVER_KT}", f"lag(`a.b`) {OVER_KT}", f"lag(s, 2) {OVER_KT}",
    f"lead(i, 1, -1) {OVER_KT}", f"lead(i, 1, k) {OVER_KT}", f"lag(`a.b`, 2) IGNORE NULLS {OVER_KT}",
    f"lead(m, 1, 1.5) {OVER_KT}", f"lag(gap) {OVER_KT}", f"lead(ts) {OVER_KT}",
    f"first_value(l) {OVER_KT}", f"last_value(`a.b`) IGNORE NULLS {OVER_KT}", f"nth_value(f, 3) {OVER_KT}",
    f"any_value(`back``tick`) {OVER_KT}", f"sum(`a.b`) {OVER_KT}", f"sum(m) {OVER_KT}", f"sum(i) {OVER_K}",
    f"sum(small) FILTER (WHERE flag) {OVER_KT}", f"count(*) {OVER_K}", f"count(`a.b`, i) {OVER_KT}",
    f"regr_count(i, `a.b`) {OVER_KT}",
    f"count_if(flag) {OVER_KT}", f"min(f) {OVER_KT}", f"max(f) {OVER_KT}", f"max(s) {OVER_K}", f"min(ts) {OVER_KT}",
    f"bool_and(flag) {OVER_KT}", f"every(flag) {OVER_KT}", f"any(flag) {OVER_KT}", f"bit_xor(i) {OVER_KT}",
    "sum(low) OVER (PARTITION BY k ORDER BY id ROWS UNBOUNDED PRECEDING)",
    "max(`a.b`) OVER (PARTITION BY k, flag ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "count(*) OVER (PARTITION BY i % 3 ORDER BY ts)", "rank() OVER (PARTITION BY s.p, flag ORDER BY l, f)",
]  # fmt: skip
# what docs/spark.md lists, what costs Spark more than O(n), what it has not, and what would be one task's
KEPT = [
    f"avg(i) {OVER_KT}", f"sum(f) {OVER_KT}", f"sum(low) {OVER_K}", f"try_sum(low) {OVER_KT}", f"stddev(i) {OVER_KT}",
    f"collect_set(i) {OVER_K}", f"collect_list(i) {OVER_KT}", f"mode(i) {OVER_K}", f"max_by(i, low) {OVER_KT}",
    f"first_value(i) FILTER (WHERE flag) {OVER_KT}", f"first_value(i) {OVER_K}", f"count(DISTINCT i) {OVER_KT}",
    "sum(i) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING)", f"median(i) {OVER_K}",
    "max(i) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "count(*) OVER (PARTITION BY k ORDER BY low RANGE BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING)",
    "count(*) OVER (PARTITION BY k ORDER BY id GROUPS UNBOUNDED PRECEDING)",
    "lag(i, low) OVER (PARTITION BY k ORDER BY id)",
]  # fmt: skip


def in_arrow(frame):
    return passages(executed_plan(frame))


def shown(frame):
    """Give the rows, in order; PySpark does not collect intervals of years and months."""
    texts = {n: F.col(f"`{n}`").cast("string") for n, t in frame.dtypes if t.startswith("interval year")}
    return frame.withColumns(texts).orderBy("id").collect() if texts else frame.orderBy("id").collect()


def same(ours, theirs):
    assert [(f.name, f.dataType, f.nullable) for f in ours.schema] == [
        (f.name, f.dataType, f.nullable) for f in theirs.schema
    ]
    for mine, other in zip(shown(ours), shown(theirs), strict=True):
        wrong = [
            n for n, a, b in zip(ours.columns, mine, other, strict=True) if not comparison.equal(a, b, types=False)
        ]
        assert not wrong, (wrong, mine, other)


def test_what_is_left_to_spark(frame):
    frame = frame.drop("months")
    for text in LEFT:
        assert in_arrow(wr.select(frame, "id", {"c": text})) == 0, text
    for text in KEPT:
        assert in_arrow(wr.select(frame, "id", {"c": text})) == 1, text


def test_results_left_to_spark_are_equal(frame):
    """Values, types and nullability of the same calls by either engine, and by Spark as it reads them itself."""
    frame = frame.drop("months")
    named = {f"c{i}": text for i, text in enumerate(LEFT)}
    by_windrow = wr.select(frame, "id", named, engine="windrow")
    assert in_arrow(by_windrow) > 0
    by_spark = wr.select(frame, "id", named, engine="spark")
    assert in_arrow(by_spark) == 0
    same(by_spark, by_windrow)
    same(by_spark, frame.selectExpr("id", *[f"{text} AS {name}" for name, text in named.items()]))


def test_one_call_that_needs_windrow_takes_the_others_along(frame):
    frame = frame.drop("months")
    w = wr.window("k", "id")
    near = wr.sum("i").over(wr.window("k", "id", rows=(-2, 0)))
    assert in_arrow(wr.with_columns(frame, a=wr.rank().over(w), b=near)) == 1
    # of two exchanges one may be Spark's
    both = wr.with_columns(frame, a=wr.rank().over(wr.window("i", "id")), b=near)
    plan = executed_plan(both)
    assert (passages(plan), plan.count("Window ["), exchanges(plan)) == (1, 1, 2)
    spark_near = F.sum("i").over(Window.partitionBy("k").orderBy("id").rowsBetween(-2, 0))
    same(both, frame.withColumn("a", F.rank().over(Window.partitionBy("i").orderBy("id"))).withColumn("b", spark_near))
    # a second order would be a second sort of Spark's
    assert in_arrow(wr.with_columns(frame, a=wr.rank().over(w), b=wr.rank().over(wr.window("k", "i")))) == 1
    assert in_arrow(wr.with_columns(frame, a=wr.rank().over(w), n=wr.count().over(wr.window("k")))) == 0
    # no PARTITION BY, or none that parts
    assert in_arrow(wr.with_columns(frame, a=wr.row_number().over(wr.window(order_by="id")))) > 0
    for one in (wr.lit(1), F.lit("all")):
        assert in_arrow(wr.with_columns(frame, a=wr.row_number().over(wr.window(one, "id")))) > 0


def test_levels_of_both_engines(frame):
    """Windows upon windows: Spark's exchange serves windrow's stage above it."""
    frame = frame.drop("months")
    step = F.col("i") - F.lag("i").over(Window.partitionBy("k").orderBy("id"))
    ours = wr.with_columns(frame, c=F.max(step).over(Window.partitionBy("k").orderBy("id").rowsBetween(-3, 3)))
    plan = executed_plan(ours)
    assert (passages(plan), plan.count("Window ["), exchanges(plan)) == (1, 1, 1)
    theirs = frame.withColumn("c", step)
    same(ours, theirs.withColumn("c", F.max("c").over(Window.partitionBy("k").orderBy("id").rowsBetween(-3, 3))))


def test_explain_says_who_computes(frame):
    frame = frame.drop("months")
    plan = wr.explain(
        frame,
        r=wr.rank().over(wr.window("i", "id")),
        s=wr.sum("i").over(wr.window("k", "id", rows=(-2, 0))),
    )
    # in the order of the result's columns, of which the call replaces one
    assert [(r["name"], r["strategy"]) for r in plan.rows] == [("s", "prefix"), ("r", "spark")]
    assert "stage 1: rows of equal k in one task, then windrow computes sum(i)" in str(plan)
    assert "Spark's own windows compute r" in str(plan)
    assert "nothing else" in plan.rows[1]["reason"]
    forced = wr.explain(frame, r=wr.rank().over(wr.window("i", "id")), engine="spark")
    assert [r["reason"] for r in forced.rows] == ["engine='spark' leaves all windows to Spark"]
    assert wr.explain(frame, r=wr.rank().over(wr.window("i", "id")), engine="windrow").rows[0]["strategy"] == "index"


def test_the_setting_and_the_keyword(frame, monkeypatch):
    frame = frame.drop("months")
    r = wr.rank().over(wr.window("k", "id"))
    assert in_arrow(wr.with_columns(frame, r=r)) == 0
    with wr.config(engine="windrow"):
        assert in_arrow(wr.with_columns(frame, r=r)) == 1
        assert in_arrow(wr.with_columns(frame, r=r, engine="auto")) == 0
    monkeypatch.setenv("WINDROW_ENGINE", "windrow")
    assert in_arrow(wr.with_columns(frame, r=r)) == 1
    with pytest.raises(wr.SpecError, match="engine='java' is unknown"):
        wr.config(engine="java")
    with pytest.raises(wr.SpecError, match=r"engine='java' is none of .*write \{'engine'"):
        wr.with_columns(frame, r=r, engine="java")
    with pytest.raises(wr.SpecError, match="is for Spark frames"):
        wr.with_columns(frame.select("id", "k").toArrow(), r=r, engine="spark")
    with wr.config(engine="spark"):  # a setting for Spark frames alone
        assert wr.with_columns(frame.select("id", "k").toArrow(), r=r).num_rows == 120
        # rows that come in order are there for windrow
        ready = frame.repartition("k").sortWithinPartitions("k", "id")
        assert in_arrow(wr.with_columns(ready, r=r, sort=False)) == 1
    assert wr.with_columns(frame, {"engine": r}).columns[-1] == "engine"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (f"count(DISTINCT i) {OVER_KT}", "no DISTINCT over a window; leave it to windrow"),
        ("count(*) OVER (PARTITION BY k ORDER BY id GROUPS 2 PRECEDING)", "no GROUPS"),
        ("sum(i) OVER (ORDER BY id ROWS 2 PRECEDING EXCLUDE TIES)", "no EXCLUDE"),
        ("sum(i) OVER (ORDER BY id ROWS low PRECEDING)", "no bounds of each row's own"),
        (f"first_value(i ORDER BY low) {OVER_KT}", "no order inside the parentheses"),
        (f"ewm_mean(i, 0.5) {OVER_KT}", "Spark refuses it: .*UNRESOLVED_ROUTINE"),
        (f"nth_value(i, low) {OVER_KT}", "Spark refuses it: .*NON_FOLDABLE_INPUT"),
        (f"median(i) {OVER_KT}", "Spark refuses it: .*INVALID_WINDOW_SPEC"),
        (wr.sum("i").over(wr.window("k", "id", rows=(-2, 0), min_rows=2)), "no min_rows"),
        (wr.vectorized(lambda x, b, e: x, "i", returns=int).over(wr.window("k")), "no functions of your own"),
    ],
)
def test_what_spark_cannot_say_is_refused_before_the_job(frame, call, says):
    with pytest.raises(wr.UnsupportedError, match=says):
        wr.with_columns(frame, {"fine": f"rank() {OVER_KT}", "c": call}, engine="spark")


def test_what_only_spark_says_in_other_words(frame):
    """Calls that windrow has too, of every shape, come out of ``engine="spark"`` as Spark reads them."""
    calls = [
        "percentile_cont(0.25) WITHIN GROUP (ORDER BY i DESC) OVER (PARTITION BY k)",
        "listagg(`back``tick`, '-') WITHIN GROUP (ORDER BY id DESC) OVER (PARTITION BY k)",
        "mode() WITHIN GROUP (ORDER BY i DESC) OVER (PARTITION BY k)",
        f"collect_list(`a.b`) RESPECT NULLS {OVER_KT}",
        "sum(i) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '20' HOUR PRECEDING AND CURRENT ROW)",
        "sum(i) OVER (PARTITION BY k ORDER BY m RANGE BETWEEN 2.5 PRECEDING AND 1.25 FOLLOWING)",
        "percentile(i, array(0.1, 0.9)) OVER (PARTITION BY k)", "avg(i * 1.5) OVER (PARTITION BY k ORDER BY -id)",
        "sum(row_number() OVER (PARTITION BY k ORDER BY id)) OVER (PARTITION BY flag ORDER BY id)",
        "i - lag(i, 1, 0) OVER (PARTITION BY k ORDER BY id)", "sum(i) OVER ()", f"max(months) {OVER_KT}",
    ]  # fmt: skip
    named = {f"c{i}": text for i, text in enumerate(calls)}
    ours = wr.with_columns(frame, named, engine="spark")
    assert in_arrow(ours) == 0
    same(ours, frame.selectExpr("*", *[f"{text} AS {name}" for name, text in named.items()]))


def test_year_month_intervals_pass(frame):
    """PySpark does not hand them over through Arrow; stages carry those that no call reads as numbers of months."""
    named = {"before": f"lag(months) {OVER_KT}", "r": f"rank() {OVER_KT}"}
    expected = frame.selectExpr("*", *[f"{text} AS {name}" for name, text in named.items()])
    same(wr.with_columns(frame, named), expected)
    with pytest.raises(wr.UnsupportedError, match=r"'months'.*cast it first"):  # a call of windrow's reads them
        wr.with_columns(frame, named, engine="windrow")
    near = wr.sum("i").over(wr.window("k", "id", rows=(-2, 0))).alias("near")
    text = "sum(i) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING) AS near"
    same(wr.with_columns(frame, near), frame.selectExpr("*", text))


def test_same_error_on_both_engines(frame):
    for engine in ("auto", "windrow"):
        with pytest.raises(wr.SpecError, match="did you mean 'low'"):
            wr.with_columns(frame.drop("months"), wr.min("lo").over(wr.window("k")), engine=engine)
        with pytest.raises(wr.SpecError, match="row_number"):
            wr.with_columns(frame.drop("months"), wr.row_number().over(wr.window("k")), engine=engine)


@pytest.mark.parametrize("engine", ["windrow", "spark"])
def test_names_whatever_the_engine(spark, engine):
    odd = spark.sql("SELECT id AS `a.id`, id % 2 AS `the device`, id AS `le``vel`, id % 3 AS Over FROM range(12)")
    w = wr.window("the device", "a.id")
    out = wr.with_columns(odd, {"n.m": wr.sum("le`vel").over(w), "o": wr.max("over").over(w)}, engine=engine)
    theirs = odd.selectExpr("*", "sum(`le``vel`) OVER (PARTITION BY `the device` ORDER BY `a.id`) AS `n.m`",
                            "max(over) OVER (PARTITION BY `the device` ORDER BY `a.id`) AS o")  # fmt: skip
    assert sorted(out.collect()) == sorted(theirs.collect())
    assert out.schema == theirs.schema
    double = odd.select("*", "Over", odd["over"].alias("x"))
    out = wr.with_columns(double, n=wr.lag("x").over(wr.window("the device", "a.id")), engine=engine)
    assert out.columns == ["a.id", "the device", "le`vel", "Over", "Over", "x", "n"]
    with pytest.raises(wr.SpecError, match="'over' is ambiguous"):
        wr.with_columns(double, n=wr.lag("over").over(wr.window("the device", "a.id")), engine=engine)
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        cased = spark.sql("SELECT id, id % 2 AS k, id AS K, -id AS ID FROM range(12)")
        out = wr.with_columns(
            cased, a=wr.min("ID").over(wr.window("k")), b=wr.lag("id").over(wr.window("k", "ID")), engine=engine
        )
        theirs = cased.selectExpr(
            "*", "min(ID) OVER (PARTITION BY k) AS a", "lag(id) OVER (PARTITION BY k ORDER BY ID) AS b"
        )
        assert sorted(out.collect(), key=str) == sorted(theirs.collect(), key=str)
        with pytest.raises(wr.SpecError, match="Id"):
            wr.with_columns(cased, a=wr.min("Id").over(wr.window("k")), engine=engine)
    finally:
        spark.conf.set("spark.sql.caseSensitive", "false")


@pytest.mark.parametrize("engine", ["windrow", "spark"])
def test_types_and_metadata_whatever_the_engine(spark, engine, tmp_path):
    spark.sql("CREATE TABLE windrow_types (c CHAR(3), v VARCHAR(5), i INT, "
              "n ARRAY<STRUCT<x: INT, y: MAP<STRING, DATE>>>, d INTERVAL DAY TO SECOND, "
              f"t TIMESTAMP, u TIMESTAMP_NTZ) USING parquet LOCATION '{tmp_path}/t'")  # fmt: skip
    try:
        spark.sql("INSERT INTO windrow_types SELECT 'a', 'b', id, array(named_struct('x', int(id), 'y', map('k', "
                  "date '2024-01-01' + int(id)))), make_dt_interval(id), "
                  "timestamp '2024-03-10 01:30:00' + make_dt_interval(0, id), "
                  "timestamp_ntz '2024-03-10 01:30:00' FROM range(5)")  # fmt: skip
        frame = spark.table("windrow_types")
        over = "OVER (PARTITION BY v ORDER BY i)"
        named = {f"o_{c}": f"lag({c}) {over}" for c in frame.columns} | {"m": f"max(c) {over}", "e": f"max(d) {over}"}
        ours = wr.with_columns(frame, named, engine=engine)
        theirs = frame.selectExpr("*", *[f"{text} AS {name}" for name, text in named.items()])
        assert [f.metadata for f in ours.schema] == [f.metadata for f in theirs.schema]
        assert ours.schema == theirs.schema
        assert sorted(ours.collect(), key=lambda r: r.i) == sorted(theirs.collect(), key=lambda r: r.i)
    finally:
        spark.sql("DROP TABLE windrow_types")


def test_windows_of_a_plan_stay_where_they_cost_little(frame, monkeypatch):
    over = Window.partitionBy("k").orderBy("id")
    theirs = frame.drop("months").withColumn("r", F.rank().over(over))
    ours = wr.spark.accelerate(theirs)
    assert in_arrow(ours) == 0
    same(ours, theirs)
    theirs = theirs.withColumn("s", F.sum("i").over(over.rowsBetween(-2, 2)))
    assert in_arrow(wr.spark.accelerate(theirs)) == 0  # so few rows
    monkeypatch.setattr("windrow.hosts.spark.optimized_windows._FEW_ROWS", 0)
    ours = wr.spark.accelerate(theirs)
    assert in_arrow(ours) == 1
    same(ours, theirs)
