"""``wr.sql`` on Spark Classic: Spark plans the query, windrow computes its windows; the rest is one SELECT."""

import random
import warnings

import pyarrow as pa
import pytest

import windrow as wr
from support import comparison
from support.random_calls import rounds

pytest.importorskip("pyspark")

import pyspark.sql.functions as F  # noqa: N812
import pyspark.sql.types as T  # noqa: N812

from support.spark_sessions import settings


@pytest.fixture(scope="module")
def spark(oracle_spark):
    """Give the session, with a table ``t`` from two files."""
    return oracle_spark


@pytest.fixture(scope="module")
def t(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("sql") / "t")
    made = spark.range(12).selectExpr("id", "id % 3 AS k", "if(id % 4 = 0, null, id * 7 % 5) AS v", "array(id, 9) AS a")
    made.repartition(2, "id").write.parquet(path)
    frame = spark.read.parquet(path)
    frame.createOrReplaceTempView("t")
    yield frame
    spark.catalog.dropTempView("t")


@pytest.fixture(scope="module")
def u(t):
    return t.selectExpr("id", "k AS g", "v + 1 AS w")


def nodes(frame, name):
    return frame._jdf.queryExecution().executedPlan().toString().count(name)


def rows(frame):
    return sorted(map(tuple, frame.collect()), key=repr)


def same(ours, theirs):
    assert ours.schema == theirs.schema
    left, right = rows(ours), rows(theirs)
    assert len(left) == len(right)
    for ours, theirs in zip(left, right, strict=True):
        assert all(comparison.equal(a, b, signed_zeros=False, rel=1e-12) for a, b in zip(ours, theirs, strict=True))
    return len(left)


PLANNED = {
    "a join": "SELECT t.id, sum(u.w) OVER (PARTITION BY k ORDER BY t.id) s FROM t JOIN u USING (id)",
    "WITH that hides a frame": "WITH u AS (SELECT * FROM u WHERE id > 3) SELECT *, rank() OVER (ORDER BY w) r FROM u",
    "a frame twice": "SELECT x.id, lag(y.w) OVER (ORDER BY x.id) l FROM u x JOIN U y ON x.id = y.id + 1",
    "subqueries": "SELECT id, count(*) OVER () n FROM (SELECT * FROM u WHERE id IN (SELECT id FROM t WHERE v > 1))",
    "a scalar subquery": "SELECT id - (SELECT max(id) FROM u) d, row_number() OVER (ORDER BY id) r FROM u",
    "groups below": "SELECT g, sum(sum(w)) OVER (ORDER BY g) s FROM u GROUP BY g",
    "a union": "SELECT max(w) OVER (PARTITION BY g) m FROM u UNION ALL SELECT min(v) OVER (PARTITION BY k) FROM t",
    "a generator": "SELECT explode(a) e, count(*) OVER (PARTITION BY k) n FROM t QUALIFY count(*) OVER () > 12",
    "two columns of a generator": "SELECT posexplode(a) AS (p, e), count(*) OVER (PARTITION BY k) n FROM t",
    "LATERAL VIEW": "SELECT e, rank() OVER (ORDER BY e, id) r FROM t LATERAL VIEW explode(a) x AS e",
    "stars": "SELECT * EXCEPT (a), avg(v) OVER (PARTITION BY k) m FROM t AS x(id, k, v, a)",
    "no window": "SELECT g, count(*) n FROM u GROUP BY g",
}


@pytest.mark.parametrize("name", PLANNED)
def test_spark_plans_the_query(spark, t, u, name):
    ours = wr.sql(PLANNED[name], u=u)
    assert not spark.catalog.tableExists("u")
    assert nodes(ours, "Window [") == 0
    assert name == "no window" or nodes(ours, "windrow(") > 0
    u.createOrReplaceTempView("u")
    try:
        assert same(ours, spark.sql(PLANNED[name])) > 0
    finally:
        spark.catalog.dropTempView("u")


# what Spark evaluates below the windows: the item for a query, and as a Column
BELOW = {
    "explode(a)": lambda: F.explode("a"), "explode_outer(array(v))": lambda: F.expr("explode_outer(array(v))"),
    "rand(7)": lambda: F.rand(7), "monotonically_increasing_id() % 5": lambda: F.monotonically_increasing_id() % 5,
    "substring_index(input_file_name(), ':', 1)": lambda: F.substring_index(F.input_file_name(), ":", 1),
    "input_file_block_start()": lambda: F.input_file_block_start(), "spark_partition_id()": F.spark_partition_id,
}  # fmt: skip
WINDOWS = [
    "count(*) OVER ()", "sum(id) OVER (PARTITION BY k)", "max(v) OVER (PARTITION BY k)", "count(v) OVER (ORDER BY k)",
]  # fmt: skip


@pytest.mark.parametrize("number", rounds(8, quick=3))
def test_items_below_the_windows(spark, t, number):
    rng = random.Random(number)
    chosen = [list(BELOW)[number % len(BELOW)], *rng.sample(list(BELOW)[2:], 2)]
    below = {f"b{i}": item for i, item in enumerate(dict.fromkeys(chosen))}
    windows = {f"w{i}": call for i, call in enumerate(rng.sample(WINDOWS, 2))}
    query = f"SELECT id, {', '.join(f'{item} AS {name}' for name, item in (below | windows).items())} FROM t"
    theirs = spark.sql(query)
    expected = same(wr.sql(query), theirs)
    assert expected == (24 if any("explode(a)" in i for i in chosen) else 12)
    columns = [BELOW[item]().alias(name) for name, item in below.items()]
    assert rows(wr.select(t, "id", *columns, windows)) == rows(theirs)


REFUSED_BELOW = [
    (lambda: F.posexplode("a").alias("p", "e"), wr.UnsupportedError, "posexplode makes the columns p, e"),
    (lambda: F.expr("explode(map(1, 2))").alias("e"), wr.UnsupportedError, "explode makes the columns key, value"),
    (lambda: F.expr("1 + explode(a)").alias("e"), wr.SpecError, "Spark refuses it"),
    (lambda: [F.explode("a").alias("e"), F.explode("a").alias("f")], wr.UnsupportedError, "e and f make several rows"),
    (lambda: "sum(explode(a)) OVER () AS s", wr.SpecError, r"explode\(a\) makes several rows of one"),
]


@pytest.mark.parametrize("case", range(len(REFUSED_BELOW)))
def test_generators_that_are_refused(t, case):
    make, error, says = REFUSED_BELOW[case]
    with pytest.raises(error, match=says):
        wr.select(t, make(), "count(*) OVER (PARTITION BY k) AS n")


@pytest.mark.parametrize("item", ["explode(a)", "posexplode(a) AS (p, e)", "1 + rand()", "inline(array(struct(id)))"])
def test_only_spark_puts_items_of_a_query_below(t, item):
    frames = "count(*) OVER (ORDER BY id GROUPS 1 PRECEDING) AS n"  # which Spark does not read
    with pytest.raises(wr.UnsupportedError, match=r"before the windows.*frame\.selectExpr"):
        wr.sql(f"SELECT {item}, {frames} FROM t")
    assert wr.sql(f"SELECT id + 1, {frames} FROM t WHERE rand() < 2 ORDER BY rand()").count() == 12


def test_parameters_and_variables(spark, t, u):
    query = "SELECT id, lag(w, windrow_n) OVER (ORDER BY id) l FROM u WHERE id > :low ORDER BY id LIMIT :most"
    spark.sql("DECLARE OR REPLACE VARIABLE windrow_n INT DEFAULT 2")
    try:
        assert [r.l for r in wr.sql(query, u=u, args={"low": 5, "most": 4}).collect()] == [None, None, 3, 5]
    finally:
        spark.sql("DROP TEMPORARY VARIABLE windrow_n")
    out = wr.sql("SELECT id, count(*) OVER () n FROM u WHERE id > ? AND g = ?", u=u, args=[5, 1])
    assert rows(out) == [(10, 2), (7, 2)]
    with pytest.raises(wr.SpecError, match="args: only a query over tables of Spark's"):
        wr.sql("SELECT count(*) OVER () n FROM m WHERE x > :low", m=pa.table({"x": [1]}), args={"low": 1})


def test_frames_leave_and_hide_nothing(spark, t, u):
    views = rows(spark.sql("SHOW TABLES"))
    cached = u.cache()
    try:
        assert rows(wr.sql("SELECT id, count(*) OVER () n FROM t WHERE id < 1", t=cached)) == [(0, 1)]
        assert cached.storageLevel.useMemory
        assert nodes(wr.sql("SELECT g, count(*) OVER () n FROM t", t=cached), "InMemoryRelation") > 0
    finally:
        u.unpersist()
    assert rows(spark.sql("SHOW TABLES")) == views
    assert "g" not in spark.table("t").columns
    memory = wr.sql("SELECT count(*) OVER () n FROM t", t=pa.table({"x": [1, 2]}))
    assert memory.to_pydict() == {"n": [2, 2]}


@pytest.mark.parametrize(
    ("query", "error", "says"),
    [
        ("SELECT vv, count(*) OVER () FROM t", wr.SpecError, "column 'vv' is unknown; did you mean 'v'"),
        (
            "SELECT vv, count(*) OVER () FROM t JOIN t x USING (id)",
            wr.SpecError,
            "Spark refuses.*`vv` cannot be",
        ),
        ("SELECT count(*) OVER () FROM t JOIN nowhere", wr.SpecError, "Spark refuses.*`nowhere` cannot be found"),
        ("SELECT max(median(v) OVER (ORDER BY id)) FROM t GROUP BY k", wr.SpecError, "Spark refuses the query"),
        ("SELECT id FRM t", wr.SpecError, "cannot be read as SQL"),
        ("DROP VIEW t", wr.SpecError, "no query"),
        ("WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM c", wr.SpecError, "no query"),
        ("CACHE TABLE t", wr.SpecError, "no query|cannot be read"),
        ("SELECT id FROM m JOIN t USING (id)", wr.UnsupportedError, r"has no JOIN; join with.*m\.join\(t"),
    ],
)
def test_refusals(spark, t, query, error, says, capfd):
    with pytest.raises(error, match=says):
        wr.sql(query, m=pa.table({"id": [1]}), spark=spark)
    assert "SQLQueryContextLogger" not in "".join(capfd.readouterr())
    assert spark.catalog.tableExists("t")


def test_streams_go_as_elsewhere(spark):
    stream = spark.readStream.format("rate").load()
    stream.createOrReplaceTempView("stream")
    try:
        for frames in ({}, {"stream": stream}):
            with pytest.raises(wr.UnsupportedError, match="never has; use foreachBatch"):
                wr.sql("SELECT value, rank() OVER (ORDER BY value) r FROM stream", **frames)
    finally:
        spark.catalog.dropTempView("stream")


@pytest.mark.engine
def test_settings_and_warnings(t, u):
    query = "SELECT id, median(w) OVER (PARTITION BY g) m FROM u"
    with wr.config(engine="spark"):
        assert nodes(wr.sql(query, u=u), "windrow(") == 0
    assert nodes(wr.sql(query, u=u), "windrow(") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert nodes(wr.sql("SELECT id, lag(w) OVER (PARTITION BY g ORDER BY id) l FROM u", u=u), "windrow(") == 0
    with pytest.warns(UserWarning, match="windrow leaves to Spark") as caught:
        wr.sql("SELECT count_min_sketch(w, 0.5D, 0.5D, 1) OVER (PARTITION BY g) c FROM u", u=u)
    assert caught[0].filename == __file__


REFUSED_BY_SPARK = {
    "an unknown column in WHERE": "SELECT sum(v) OVER (ORDER BY id GROUPS 1 PRECEDING) AS s FROM t WHERE nope > 1",
    "no boolean in WHERE": "SELECT sum(v) OVER (ORDER BY id GROUPS 1 PRECEDING) AS s FROM t WHERE id + 1",
    "no boolean in QUALIFY": "SELECT id FROM t QUALIFY max(v) OVER (ORDER BY id GROUPS 1 PRECEDING)",
    "a function in an item": "SELECT nope(max(v) OVER (ORDER BY id GROUPS 1 PRECEDING)) AS s FROM t",
    "a function in a call": "SELECT max(nope(v)) OVER (ORDER BY id GROUPS 1 PRECEDING) AS s FROM t",
    "no such catalog": "SELECT max(v) OVER (ORDER BY id GROUPS 1 PRECEDING) AS s FROM nowhere.b.t",
}


@pytest.mark.parametrize("name", REFUSED_BY_SPARK)
def test_what_sparks_analyser_refuses_is_a_spec_error(name, t):
    """Also in what is one SELECT from one frame, which Spark sees piece by piece."""
    with pytest.raises(wr.SpecError):
        wr.sql(REFUSED_BY_SPARK[name], t=t)


@pytest.mark.parametrize("item", ["max(nope(v)) OVER (ORDER BY id)", "nope(max(v) OVER (ORDER BY id)) + 1"])
def test_and_so_it_is_in_with_columns(item, t):
    for way in (wr.with_columns, wr.select, wr.explain):
        with pytest.raises(wr.SpecError, match="nope"):
            way(t, {"x": item})


@pytest.mark.skipif(not hasattr(T, "TimeType"), reason="Spark 4.1 and later")
def test_times_within_others_and_without_leave(spark, t):
    """TIME is computed at any depth where the session allows it; where not, Spark's refusal is a SpecError."""
    with settings(spark, {"spark.sql.timeType.enabled": "true"}):
        frame = t.selectExpr("id", "k", "CAST(concat('10:0', id % 10, ':00') AS TIME) AS tm")
        frame = frame.selectExpr("*", "struct(tm) AS st", "array(tm) AS ar")
        calls = {f"c{i}": f"last_value({c}) OVER (PARTITION BY k ORDER BY id ROWS 1 PRECEDING)" for i, c in
                 enumerate(["st", "ar", "tm + INTERVAL '1' HOUR", "time'10:00:00'"])}  # fmt: skip
        ours = wr.with_columns(frame, calls, engine="windrow")
        assert same(ours, frame.selectExpr("*", *[f"{c} AS {n}" for n, c in calls.items()])) == 12
    with settings(spark, {"spark.sql.timeType.enabled": "false"}):
        for item in ("lag(id, 1, time'10:00:00') OVER (ORDER BY id)", "max(CAST(k AS TIME)) OVER (ORDER BY id)"):
            with pytest.raises(wr.SpecError):
                wr.with_columns(t, {"x": item})
            with pytest.raises(wr.SpecError):
                wr.sql(f"SELECT {item} AS x FROM t", t=t)
