"""What tasks say of themselves on Spark: their figures, their log lines, their share of the executor's memory."""

import logging
import sys
import time

import pytest

import windrow as wr

pytest.importorskip("pyspark")

from support.spark_sessions import settings

SETTINGS = {"spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.enabled": "false"}


@pytest.fixture(scope="module")
def frame(spark):
    return spark.range(0, 3000, numPartitions=2).selectExpr("id", "id % 7 AS k", "id % 100 AS v")


def test_tasks_report_metrics(frame):
    plan = wr.explain(
        frame, n="row_number() OVER (PARTITION BY k ORDER BY id)", m="max(v) OVER (PARTITION BY v % 3)", metrics=True
    )
    first, second = plan.metrics
    assert first.name.startswith("stage 1: ")
    assert second.name.startswith("stage 2: ")
    for measured in plan.metrics:
        assert [r.partition for r in measured.runs] == [0, 1, 2]
        assert measured.total().rows == 3000
        assert 1000 <= measured.most_rows() < 3000
        assert all(r.elapsed <= plan.seconds for r in measured.runs)
    text = str(plan)
    computed = text.partition("\ncomputed in ")[2]
    assert all(f"\n  {measured.name}\n" in computed for measured in plan.metrics)
    assert computed.count(" in 3 runs, ") == 2


def test_a_session_that_has_planned_nothing_reports_whole_partitions(spark):
    other = spark.newSession()
    with settings(other, SETTINGS):
        frame = other.range(0, 3000, numPartitions=2).selectExpr("id", "id % 7 AS k")
        (measured,) = wr.explain(frame, n="median(id) OVER (PARTITION BY k)", metrics=True).metrics
    assert [r.partition for r in measured.runs] == [0, 1, 2]  # the exchange's, not the input's
    assert measured.total().rows == 3000


def test_tasks_of_a_split_partition_report_metrics(frame):
    plan = wr.explain(frame, s="sum(v) OVER (ORDER BY id)", spread="always", metrics=True)
    (measured,) = plan.metrics
    assert len(measured.runs) >= 2
    assert measured.total().rows == 3000
    assert all("exchange" in r.seconds for r in measured.runs)


def test_spark_connect_has_no_accumulators():
    from windrow.hosts.spark.task_metrics import metrics_context

    class Session:  # Classic's has _jsparkSession
        pass

    with pytest.raises(wr.UnsupportedError, match="logger 'windrow'"):
        metrics_context(Session())


def test_what_spark_computes_says_nothing(frame):
    plan = wr.explain(frame, n="row_number() OVER (PARTITION BY k ORDER BY id)", engine="spark", metrics=True)
    assert plan.metrics == []
    assert str(plan).splitlines()[-1].startswith("computed in ")


def test_tasks_log_as_the_driver_does(frame, tmp_path, caplog):
    def logged(batches):
        path = tmp_path / str(time.perf_counter_ns())
        logging.getLogger().addHandler(handler := logging.FileHandler(path))
        try:
            yield from operator(batches)
        finally:
            logging.getLogger().removeHandler(handler)

    for level, lines in ((logging.INFO, 3), (logging.WARNING, 0)):
        with caplog.at_level(level, logger="windrow"):
            operator = wr.operator("sum(v) OVER (PARTITION BY k) AS s", frame)
            out = frame.repartition(3, "k").mapInArrow(logged, operator.spark_schema)
            assert out.count() == 3000
        text = "".join(p.read_text() for p in tmp_path.iterdir())
        assert text.count("sum(v) OVER (PARTITION BY k) AS s: rows") == lines
        for path in tmp_path.iterdir():
            path.unlink()


def test_a_task_has_its_share_of_the_executor(monkeypatch):
    from windrow._execute.worker import task_options
    from windrow.settings import Options

    monkeypatch.delenv("PYSPARK_EXECUTOR_MEMORY_MB", raising=False)
    set_by_user = {
        "spark.master": "k8s://https://host",
        "spark.executor.memoryOverhead": "4g",
        "spark.executor.cores": "5",
    }
    limit = (4 << 30) // 5 * 4 // 5

    def given(**more):
        settings = set_by_user | {name.replace("_", "."): value for name, value in more.items()}
        return task_options(Options(), settings.get).memory_limit

    assert given() == limit
    assert given(spark_executor_memoryOverhead="4096", spark_master="yarn") == limit
    assert given(spark_task_cpus="2") == (4 << 30) // 2 * 4 // 5
    assert given(spark_task_cpus="0.5") == (4 << 30) // 10 * 4 // 5
    assert given(spark_master="local[4]") is None
    assert given(spark_executor_memoryOverhead=None) is None
    assert task_options(Options(memory_limit=7), set_by_user.get).memory_limit == 7
    monkeypatch.setenv("PYSPARK_EXECUTOR_MEMORY_MB", "100")
    assert given() == (100 << 20) * 4 // 5


class Settings:
    """Gives the settings with which the task at hand computes its calls."""

    def initialize(self):
        return ""

    def update(self, state, value):
        frame = sys._getframe()
        while frame is not None and type(frame.f_locals.get("options")).__name__ != "Options":
            frame = frame.f_back
        return repr(frame.f_locals["options"]) if frame else "unknown"

    def merge(self, left, right):
        return left or right

    def evaluate(self, state):
        return state


def with_settings(frame, way, spill_dir):
    """Make a result that computes under settings which end before it is computed."""
    asked = wr.aggregate(Settings(), "v", returns=str)
    with wr.config(threads=3, memory_limit="50MB", spill_dir=spill_dir, ansi=False, timezone="Asia/Tokyo"):
        if way == "mapInArrow":
            op = wr.operator({"o": asked.over(wr.window("k"))}, frame)
            return frame.repartition(3, "k").mapInArrow(op, op.spark_schema)
        window = wr.window("k") if way == "partitioned" else wr.window(order_by="id")
        return wr.with_columns(frame, o=asked.over(window), spread="never" if way == "one task" else "always")


@pytest.mark.parametrize("way", ["partitioned", "one task", "several tasks", "mapInArrow"])
@pytest.mark.filterwarnings("ignore:No Partition Defined")
def test_tasks_have_the_settings_of_the_operator(frame, tmp_path, way):
    result = with_settings(frame.where("id < 60"), way, tmp_path)
    with wr.config(threads=1, memory_limit=1, spill_dir="/", ansi=True, timezone="UTC"):
        rows = result.select("o").collect()
    assert len(rows) == 60
    for row in rows:
        for setting in (
            "threads=3,", f"memory_limit={50 << 20},", f"spill_dir={str(tmp_path)!r}", "ansi=False", "'Asia/Tokyo'",
        ):  # fmt: skip
            assert setting in row["o"]
