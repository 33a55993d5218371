"""``wr.spark.enable``: a session whose queries have their windows computed by windrow, whatever way they are asked."""

import random
import threading
import warnings

import pytest

import windrow as wr
from support import comparison
from support.random_calls import make_ask, make_spec, make_table, rounds

pytest.importorskip("pyspark")

import pyspark.sql.functions as F  # noqa: N812
from pyspark import __version__
from pyspark.sql import Window

from support.spark_sessions import frame_of, settings

pytestmark = pytest.mark.engine
BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
limits_bytes = pytest.mark.skipif(__version__ < "4", reason="Spark limits the bytes of batches from 4.0 on")


@pytest.fixture(scope="module")
def spark(oracle_spark):
    return oracle_spark


@pytest.fixture(scope="module")
def t(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("enable") / "t")
    spark.range(60).selectExpr("id", "id % 4 AS k", "if(id % 7 = 0, null, id * 7 % 11) AS v").write.parquet(path)
    frame = spark.read.parquet(path)
    frame.createOrReplaceTempView("t")
    yield frame
    spark.catalog.dropTempView("t")


def nodes(frame):
    """Count windrow's stages in a frame's plan, and those of Spark's windows."""
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    return plan.count("WindowStage") + plan.count("MapInArrow"), sum(
        line.strip(" +-:").startswith("Window [") for line in plan.splitlines()
    )


def rows(frame):
    return sorted(map(tuple, frame.collect()), key=repr)


QUERIES = {
    "grouped": "SELECT k, max(s) m FROM (SELECT k, sum(v) OVER (PARTITION BY k ORDER BY id) s FROM t) GROUP BY k",
    "in": "SELECT * FROM t WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY v, id) r "
    "FROM t) WHERE r <= 3)",
    "scalar": "SELECT id, (SELECT max(s) FROM (SELECT sum(v) OVER (PARTITION BY k ORDER BY id) s FROM t)) m FROM t",
    "with": "WITH w AS (SELECT id, k, lag(v) OVER (PARTITION BY k ORDER BY id) p FROM t) "
    "SELECT a.id, a.p, b.p q FROM w a JOIN w b ON a.id = b.id + 4",
    "top": "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC, id) r FROM t) WHERE r <= 2",
    "filtered": "SELECT * FROM (SELECT *, avg(v) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING) m FROM t) "
    "WHERE k = 2",
    "union": "SELECT id, rank() OVER (PARTITION BY k ORDER BY v) r FROM t "
    "UNION ALL SELECT k, count(*) FROM t GROUP BY k",
    "not a key, in": "SELECT * FROM t WHERE id IN (SELECT s FROM (SELECT sum(v) OVER (PARTITION BY k ORDER BY id) s "
    "FROM t))",
    "count, in": "SELECT * FROM t WHERE 60 IN (SELECT count(*) OVER () FROM t)",
    "correlated": "SELECT id, (SELECT max(s) FROM (SELECT k, sum(v) OVER (PARTITION BY k ORDER BY id) s FROM t i) w "
    "WHERE w.k = t.k) m FROM t",
    "by floats": "SELECT id, sum(v) OVER (PARTITION BY x ORDER BY id) s, lag(v) OVER (PARTITION BY x, k ORDER BY id) l "
    "FROM (SELECT *, if(id % 4 = 0, 0d, if(id % 4 = 1, -0d, if(id % 4 = 2, double('NaN'), null))) x FROM t)",
    "two keys": "SELECT id, sum(v) OVER (PARTITION BY k) a, sum(v) OVER (PARTITION BY v % 3) b FROM t",
}


@pytest.mark.parametrize("name", QUERIES)
def test_queries(spark, t, name):
    expected = spark.sql(QUERIES[name])
    assert nodes(expected)[0] == 0
    with wr.spark.accelerated(spark, engine="windrow"):
        frame = spark.sql(QUERIES[name])
        taken, left = nodes(frame)
        ours = rows(frame)
    assert taken >= 1
    assert left == 0
    assert frame.schema == expected.schema
    assert ours == rows(expected)


def test_frames_views_caches_and_writes(spark, t, tmp_path):
    w = Window.partitionBy("k").orderBy("id")
    expected = rows(t.withColumn("s", F.sum("v").over(w)))
    with wr.spark.accelerated(spark, engine="windrow"):
        frame = t.withColumn("s", F.sum("v").over(w))
        assert nodes(frame) == (1, 0)
        assert rows(frame.filter(t.k == 1)) == [r for r in expected if r[1] == 1]
        frame.createOrReplaceTempView("totals")
        assert rows(spark.table("totals")) == expected
        spark.catalog.dropTempView("totals")
        frame.write.parquet(str(tmp_path / "out"))
        assert rows(spark.read.parquet(str(tmp_path / "out"))) == expected
        cached = frame.cache()
        try:
            assert cached.is_cached
            assert rows(cached) == expected
        finally:
            cached.unpersist()
        assert len(frame.toPandas()) == len(expected)


def test_batches_of_a_stream(spark, t, tmp_path):
    """A stream's session is a copy, made when it starts."""
    query = QUERIES["grouped"].replace("FROM t)", "FROM batch)")
    expected, found, taken = rows(spark.sql(QUERIES["grouped"])), [], []

    def handle(batch, _):
        batch.createOrReplaceTempView("batch")
        frame = batch.sparkSession.sql(query)
        taken.append(nodes(frame))
        found.extend(rows(frame))

    with wr.spark.accelerated(spark, engine="windrow"):
        source = spark.readStream.schema(t.schema).parquet(t.inputFiles()[0].rpartition("/")[0])
        writer = source.writeStream.foreachBatch(handle).option("checkpointLocation", str(tmp_path / "stream"))
        writer.trigger(availableNow=True).start().awaitTermination()
    assert taken == [(1, 0)]
    assert found == expected


@limits_bytes
def test_it_is_undone(spark, t):
    query = QUERIES["grouped"]
    experimental = spark._jsparkSession.experimental()
    before, bytes_before = experimental.extraOptimizations().size(), spark.conf.get(BATCH_BYTES)
    wr.spark.enable(spark, engine="windrow")
    wr.spark.enable(spark, engine="windrow")  # again: still one rule
    assert experimental.extraOptimizations().size() == 1
    assert spark.conf.get(BATCH_BYTES) == str(2**31 - 1)
    other = spark.newSession()
    assert other._jsparkSession.experimental().extraOptimizations().size() == 0
    wr.spark.disable(spark)
    assert experimental.extraOptimizations().size() == before
    assert spark.conf.get(BATCH_BYTES) == bytes_before
    assert nodes(spark.sql(query)) == (0, 1)
    with settings(spark, {BATCH_BYTES: "1000000"}):  # what a user has set stays
        with wr.spark.accelerated(spark):
            assert spark.conf.get(BATCH_BYTES) == "1000000"
        assert spark.conf.get(BATCH_BYTES) == "1000000"


@limits_bytes
def test_blocks_within_one_another(spark, t):
    query = QUERIES["grouped"]
    with wr.spark.accelerated(spark, engine="windrow"):
        with wr.spark.accelerated(spark, engine="spark"):
            assert nodes(spark.sql(query)) == (0, 1)
        assert nodes(spark.sql(query)) == (1, 0)
    assert nodes(spark.sql(query)) == (0, 1)
    first, second = (wr.spark.accelerated(spark, engine="windrow") for _ in range(2))
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)  # blocks of two threads end in any order
    assert nodes(spark.sql(query)) == (1, 0)
    second.__exit__(None, None, None)
    assert nodes(spark.sql(query)) == (0, 1)
    wr.spark.enable(spark)
    spark.conf.set(BATCH_BYTES, "1000000")  # set later, it stays, too
    wr.spark.enable(spark)
    assert spark.conf.get(BATCH_BYTES) == "1000000"
    wr.spark.disable(spark)
    assert spark.conf.get(BATCH_BYTES) == "1000000"
    spark.conf.unset(BATCH_BYTES)
    with settings(spark, {BATCH_BYTES: str(2**31 - 1)}):  # the user's, though it is what enable would set
        with wr.spark.accelerated(spark):
            pass
        assert spark.conf.get(BATCH_BYTES) == str(2**31 - 1)


def test_settings_are_those_of_enable(spark, t):
    query = "SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id) s FROM t"
    wr.spark.enable(spark, engine="windrow")
    try:
        with wr.config(engine="spark"):
            assert nodes(spark.sql(query)) == (1, 0)
        held = wr.config(engine="spark")
        assert nodes(spark.sql(query)) == (1, 0)
    finally:
        wr.spark.disable(spark)
        with held:
            pass
    assert nodes(spark.sql(query)) == (0, 1)


def test_python_out_of_reach(spark, t):
    """A callback that fails on its way leaves Spark's plan."""
    from windrow.hosts.spark import session_rule

    expected = rows(spark.sql(QUERIES["grouped"]))
    with wr.spark.accelerated(spark, engine="windrow"):
        rule = session_rule._sessions[session_rule.session_key(spark)].rules[-1]
        rule.apply = None  # py4j finds nothing to call
        frame = spark.sql(QUERIES["grouped"])
        assert nodes(frame) == (0, 1)
        assert rows(frame) == expected


def test_what_is_left_is_said_once(spark, t):
    query = (
        "SELECT id, sum(v) OVER w s, count_min_sketch(v, 0.5d, 0.5d, 1) OVER w c FROM t WINDOW w AS (PARTITION BY k)"
    )
    with wr.spark.accelerated(spark, engine="windrow"):
        with pytest.warns(UserWarning, match="left to Spark.*count_min_sketch"):
            nodes(spark.sql(query))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert nodes(spark.sql(query))[1] == 1


@pytest.mark.parametrize("name", ["grouped", "two keys", "with"])
def test_a_query_runs_after_disable(spark, t, name):
    """Adaptive execution plans again while a query runs: the stages of one that was planned before must stay stages."""
    expected = rows(spark.sql(QUERIES[name]))
    for broadcast in ("-1", "10485760"):
        adaptive = {
            "spark.sql.adaptive.enabled": "true",
            "spark.sql.shuffle.partitions": "3",
            "spark.sql.autoBroadcastJoinThreshold": "-1",
            "spark.sql.adaptive.autoBroadcastJoinThreshold": broadcast,
        }
        with settings(spark, adaptive):
            with wr.spark.accelerated(spark, engine="windrow"):
                frame = spark.sql(QUERIES[name])
                assert "windrow(" in frame._jdf.queryExecution().executedPlan().toString()
            assert rows(frame) == expected
            assert "windrow(" in frame._jdf.queryExecution().executedPlan().toString()


def test_explain(spark, t):
    query = spark.sql(
        "SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id) s, count_min_sketch(v, 0.5d, 0.5d, 1) OVER (PARTITION BY "
        "k) c, rank() OVER (ORDER BY v) r FROM t WHERE id IN (SELECT max(m) FROM (SELECT v, max(id) OVER (PARTITION BY "
        "v ORDER BY id ROWS 3 PRECEDING) m FROM t) GROUP BY v)"
    )
    with wr.config(engine="windrow"):
        for explained in (wr.spark.explain(query), wr.explain(query)):
            found = {row["name"]: (row["sort"].partition(",")[0], row["strategy"] == "spark") for row in explained.rows}
            assert found == {
                "r": ("stage 1", False),
                "s": ("stage 2", False),
                "c": ("Spark", True),
                "m": ("stage 3", False),
            }
        [left] = [row for row in explained.rows if row["name"] == "c"]
        assert left["reason"] == "windrow has no function count_min_sketch"
        assert "rows of equal t.k in one task, then windrow computes sum(v)" in str(explained)
        with wr.spark.accelerated(spark):  # it does not matter
            assert wr.spark.explain(query).rows == explained.rows
    with wr.config(engine="spark"):
        assert {row["strategy"] for row in wr.spark.explain(query).rows} == {"spark"}


def test_few_rows_stay_with_spark(spark, t):
    """As far as Spark's statistics tell, and what a limit takes; and cheap windows that one task computes anyway."""
    window = "avg(v) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING) AS a"
    taken, left = (1, 0), (0, 1)
    few = spark.range(60).selectExpr("id", "id % 4 AS k", "id AS v")
    frames = {
        "file": (t.selectExpr("*", window), taken),
        "limit": (t.selectExpr("*", window).limit(5), left),
        "large limit": (t.selectExpr("*", window).limit(1_000_000), taken),
        "limit behind a sort": (t.selectExpr("*", window).orderBy("id").limit(5), taken),
        "range": (few.selectExpr("*", window), left),
        "range, forced": (few.selectExpr("*", window), taken),
        "one task": (t.selectExpr("*", "sum(v) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) AS s"), left),
        "one task, moving": (t.selectExpr("*", "sum(v) OVER (ORDER BY id ROWS 3 PRECEDING) AS s"), taken),
    }
    for name, (frame, expected) in frames.items():
        with wr.spark.accelerated(spark, engine="windrow" if "forced" in name else None):
            assert nodes(frame) == expected, name


def test_one_call_of_a_node_is_left(spark, t):
    """A function that windrow lacks keeps its own window, not its neighbours'."""
    query = (
        "SELECT id, sum(v) OVER w s, count_min_sketch(v, 0.5d, 0.5d, 1) OVER w c, max(v) OVER w m FROM t "
        "WINDOW w AS (PARTITION BY k ORDER BY id)"
    )
    expected = rows(spark.sql(query))
    with wr.spark.accelerated(spark, engine="windrow"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = spark.sql(query)
        assert nodes(frame) == (1, 1)
        assert rows(frame) == expected


def test_names_that_are_not_unique(spark, t):
    query = (
        "SELECT l.id, r.id, l.`a.b`, r.`a.b`, sum(r.v) OVER (PARTITION BY l.k ORDER BY l.id, r.id) v, l.v FROM "
        "(SELECT *, v + 1 `a.b` FROM t) l JOIN (SELECT *, v `a.b` FROM t) r ON l.k = r.k"
    )
    expected = spark.sql(query)
    with wr.spark.accelerated(spark, engine="windrow"):
        frame = spark.sql(query)
        assert nodes(frame) == (1, 0)
        assert frame.columns == expected.columns
        assert rows(frame) == rows(expected)
        assert frame.toPandas().shape == expected.toPandas().shape


def test_a_column_twice(spark, t):
    w = Window.partitionBy("k").orderBy("id")
    frame = t.select("id", "id", "k", "v").withColumn("s", F.sum("v").over(w))
    expected = rows(frame)
    with wr.spark.accelerated(spark, engine="windrow"):
        frame = t.select("id", "id", "k", "v").withColumn("s", F.sum("v").over(w))
        assert nodes(frame) == (1, 0)
        assert rows(frame) == expected


def test_nothing_is_read(spark, t):
    query = "SELECT count(*) OVER () n FROM t"
    expected = rows(spark.sql(query))
    with wr.spark.accelerated(spark, engine="windrow"):
        frame = spark.sql(query)
        assert nodes(frame) == (1, 0)
        assert rows(frame) == expected
        assert len(expected) == 60


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("count(NULL) OVER (PARTITION BY k ORDER BY id)", "one value for all rows"),
        ("collect_list(NULL) OVER (PARTITION BY k ORDER BY id)", "of type array<void> without NULLs"),
        ("sum(v) OVER (PARTITION BY k ORDER BY double(id) RANGE 'NaN' PRECEDING)", "NaN cannot bound a frame"),
    ],
)
def test_windows_that_stay_beside_others(spark, t, call, reason):
    query = f"SELECT id, {call} AS x, sum(v) OVER (PARTITION BY k ORDER BY id) AS s FROM t"
    expected = spark.sql(query)
    with wr.spark.accelerated(spark, engine="windrow"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = spark.sql(query)
        assert nodes(frame) == (1, 1)
        with wr.config(engine="windrow"):
            [left] = [row for row in wr.spark.explain(frame).rows if row["strategy"] == "spark"]
        assert reason in left["reason"]
        assert frame.schema == expected.schema
        assert rows(frame) == rows(expected)


@pytest.mark.parametrize(
    "below",
    [
        "collect_list(NULL) OVER (PARTITION BY id % 2)",
        "first_value(make_interval(1)) OVER (PARTITION BY id % 2 ORDER BY id)",
    ],
)
def test_windows_over_columns_that_cannot_be_carried_stay(spark, t, below):
    """The lower window is Spark's, and what it makes would pass through a stage above it."""
    query = f"SELECT *, median(v) OVER (PARTITION BY k) AS m FROM (SELECT id, k, v, {below} AS c FROM t)"
    expected = spark.sql(query)
    with wr.spark.accelerated(spark, engine="windrow"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = spark.sql(query)
        assert nodes(frame) == (0, 2)
        made = "id", "k", "v", "m"
        assert rows(frame.select(*made)) == rows(expected.select(*made))
        with wr.config(engine="windrow"):
            reasons = [row["reason"] for row in wr.spark.explain(frame).rows]
        assert len(reasons) == 2
        assert all("PySpark" in reason for reason in reasons)


@pytest.mark.skipif(__version__ < "4.3", reason="Spark has counter_diff from 4.3 on")
@pytest.mark.parametrize("start", ["", ", NULL", ", ts", ", if(id > 30, NULL, ts)"])
def test_counter_diff(spark, t, start):
    query = (
        f"SELECT id, counter_diff(v{start}) OVER (PARTITION BY k ORDER BY id) AS d FROM "
        "(SELECT *, timestamp_seconds(id - id % 8) AS ts FROM t)"
    )
    expected = rows(spark.sql(query))
    with wr.spark.accelerated(spark, engine="windrow"):
        frame = spark.sql(query)
        assert nodes(frame) == (1, 0)
        assert rows(frame) == expected


def test_types_that_arrow_does_not_tell(spark, t):
    query = (
        "SELECT id, d, max(d) OVER w m, collect_list(d) OVER w l, name, first_value(name) OVER w f FROM "
        "(SELECT id, k, make_dt_interval(id) d, CAST(id AS INTERVAL DAY) i, string(v) name FROM t) "
        "WINDOW w AS (PARTITION BY k ORDER BY id)"
    )
    expected = spark.sql(query)
    with wr.spark.accelerated(spark, engine="windrow"):
        frame = spark.sql(query)
        assert nodes(frame) == (1, 0)
        assert frame.schema == expected.schema
        assert rows(frame) == rows(expected)


@pytest.mark.skipif(__version__ < "4", reason="PySpark's worker can leave the traceback out from 4.0 on")
def test_a_tasks_error_has_its_message_first(spark, monkeypatch):
    """What Spark shows of a task that fails is windrow's error, without the frames of PySpark's worker."""
    spark.range(10).selectExpr("id", "9223372036854775807 - id AS v").createOrReplaceTempView("large")
    monkeypatch.setitem(spark.sparkContext.environment, "WINDROW_FULL_TRACEBACK", "")
    for query in ("SELECT sum(v) OVER () s FROM large", "SELECT sum(v) OVER (PARTITION BY id % 2) s FROM large"):
        with (
            wr.spark.accelerated(spark, engine="windrow"),
            pytest.raises(Exception, match="does not fit Int64") as raised,
        ):
            spark.sql(query).collect()
        text = str(raised.value)
        assert "Traceback" not in text
        at = text.index("windrow.exceptions.")
        assert text[at:].startswith("windrow.exceptions.ArithmeticOverflowError: sum(v) OVER (")
    spark.catalog.dropTempView("large")


def test_a_failure_leaves_sparks_plan(spark, t, monkeypatch):
    from windrow.hosts.spark import session_rule

    class Broken:
        def __init__(self, *_, **__):
            raise AttributeError("a class of another release")

    monkeypatch.setattr(session_rule, "ChainPlanner", Broken)
    expected = rows(spark.sql(QUERIES["grouped"]))
    with wr.spark.accelerated(spark, engine="windrow"):
        with pytest.warns(UserWarning, match="AttributeError: a class of another release"):
            left = nodes(spark.sql(QUERIES["grouped"]))
        assert left == (0, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert rows(spark.sql(QUERIES["grouped"])) == expected


def test_executors_without_windrow(spark, t, monkeypatch):
    from windrow.hosts.spark import session_rule

    assert wr.spark.check(spark) == []
    monkeypatch.setattr(session_rule, "executor_faults", lambda _: ["ModuleNotFoundError: No module named 'windrow'"])
    with (
        wr.spark.accelerated(spark, engine="windrow"),
        pytest.warns(UserWarning, match="executors cannot import.*--archives"),
    ):
        assert nodes(spark.sql(QUERIES["grouped"])) == (0, 1)


def test_threads(spark, t):
    expected = {name: rows(spark.sql(query)) for name, query in QUERIES.items()}
    found = {}

    def ask(names):
        for name in names:
            found[name] = rows(spark.sql(QUERIES[name]))

    names = list(QUERIES)
    with wr.spark.accelerated(spark, engine="windrow"):
        threads = [threading.Thread(target=ask, args=(names[i::3],)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == expected


@pytest.mark.parametrize("number", rounds(6, 1))
def test_random_calls(spark, number):
    """Spark's own rows, types and nullability, for random calls in one query each."""
    rng = random.Random(f"enable {number}")
    data = make_table(rng, 30)
    frame = frame_of(spark, data)
    frame.createOrReplaceTempView("drawn")
    answers = comparison.Answers("Spark, enabled")
    taken = 0
    for _ in range(8):
        ask = make_ask(rng, make_spec(rng))
        query = f"SELECT id, {ask.text} AS c FROM drawn"
        try:
            plain = spark.sql(query)
            expected = plain.orderBy("id").collect()
        except Exception:
            continue
        with wr.spark.accelerated(spark, engine="windrow"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            enabled = spark.sql(query)
            taken += nodes(enabled)[0]
            ours = enabled.orderBy("id").collect()
        assert enabled.schema == plain.schema
        answers.check(ask, [r.c for r in ours], [r.c for r in expected], data, [r.id for r in ours])
    spark.catalog.dropTempView("drawn")
    answers.settle(3)
    assert taken >= 2
