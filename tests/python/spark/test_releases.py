"""What holds on every release of Spark, Classic and Connect: ``make matrix-spark`` runs it on each."""

import random
import subprocess
import sys
from datetime import datetime

import pyarrow as pa
import pytest

import windrow as wr

pytest.importorskip("pyspark")

import pyspark.sql.functions as F  # noqa: N812
from pyspark import __version__

from support.spark_sessions import frame_of

RELEASE = tuple(int(part) for part in __version__.split(".")[:2])


@pytest.fixture(scope="module")
def spark(oracle_spark):
    return oracle_spark


@pytest.fixture(scope="module")
def table():
    rng = random.Random(35)
    rows = 200
    return pa.table(
        {
            "id": range(rows),
            "k": [rng.choice(["a", "b", "c", None]) for _ in range(rows)],
            "v": [rng.choice([None, *range(9)]) for _ in range(rows)],
            "x": [rng.choice([None, -0.0, 1.5, float("nan"), 2.0**60]) for _ in range(rows)],
            "at": pa.array(
                [datetime(2024, 1, 1 + rng.randrange(28), rng.randrange(24)) for _ in range(rows)],
                pa.timestamp("us", "UTC"),
            ),
        }
    )


@pytest.fixture(scope="module")
def t(spark, table):
    frame = frame_of(spark, table)
    frame.createOrReplaceTempView("releases")
    yield frame
    spark.catalog.dropTempView("releases")


CALLS = {
    "total": "sum(v) OVER (PARTITION BY k)",
    "running": "sum(v) OVER (PARTITION BY k ORDER BY id)",
    "near": "avg(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING)",
    "week": "max(v) OVER (PARTITION BY k ORDER BY at RANGE BETWEEN INTERVAL '7' DAY PRECEDING AND CURRENT ROW)",
    "greatest": "max(x) OVER (PARTITION BY k ORDER BY id)",
    "place": "rank() OVER (PARTITION BY k ORDER BY v DESC NULLS FIRST)",
    "before": "lag(v, 2, -1) OVER (PARTITION BY k ORDER BY id)",
    "first": "first_value(v) IGNORE NULLS OVER (PARTITION BY k ORDER BY id)",
    "all rows": "row_number() OVER (ORDER BY id)",
    "values": "collect_list(v) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING)",
}


def answers(frame):
    return [repr(row) for row in frame.orderBy("id").select("id", "c").collect()]


@pytest.mark.parametrize("name", CALLS)
def test_text(spark, t, name):
    """Spark's rows, for calls as text."""
    call = CALLS[name]
    expected = answers(spark.sql(f"SELECT id, {call} AS c FROM releases"))
    assert answers(wr.with_columns(t, c=call)) == expected
    assert len(expected) == 200


@pytest.mark.parametrize("name", CALLS)
def test_enabled(spark, t, name):
    """Spark's rows, for a session that is enabled."""
    query = f"SELECT id, {CALLS[name]} AS c FROM releases"
    expected = answers(spark.sql(query))
    with wr.spark.accelerated(spark, engine="windrow"):
        frame = spark.sql(query)
        assert "windrow(" in frame._jdf.queryExecution().executedPlan().toString()
        assert answers(frame) == expected
    assert "windrow(" not in spark.sql(query)._jdf.queryExecution().executedPlan().toString()


def test_builder(spark, t):
    call = wr.sum("v").over(wr.window("k", order_by="id", rows=(-3, 0)))
    expected = answers(
        spark.sql("SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING) AS c FROM releases")
    )
    assert answers(wr.with_columns(t, c=call)) == expected
    assert answers(wr.sql("SELECT id, sum(v) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING) AS c FROM t", t=t)) == (
        expected
    )
    assert wr.explain(t, c=call).rows[0]["strategy"] == "prefix"
    without = wr.with_columns(t.select("id", F.col("v").alias("w")), c=wr.count("w").over(wr.window()))
    assert {row.c for row in without.collect()} == {t.filter("v IS NOT NULL").count()}


_CLIENT = """
import sys
import windrow as wr
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[2]").getOrCreate()
frame = spark.range(100).selectExpr("id", "id % 3 AS k", "if(id % 7 = 0, null, id * 7 % 11) AS v")
frame.createOrReplaceTempView("t")
compared = 0
for call in sys.argv[1:]:
    expected = spark.sql(f"SELECT id, {call} AS c FROM t").orderBy("id").collect()
    found = wr.with_columns(frame, c=call).select("id", "c").orderBy("id").collect()
    assert found == expected, call
    assert wr.sql(f"SELECT id, {call} AS c FROM t ORDER BY id", t=frame).collect() == expected, call
    compared += len(found)
try:
    wr.spark.enable(spark)
except wr.UnsupportedError as error:
    assert "Spark Connect plans on the server" in str(error)
    compared += 1
print("compared", compared)
"""


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.skipif(RELEASE < (4, 0), reason="before Spark 4.0 PySpark comes without the jar of a server")
def test_connect():
    pytest.importorskip("grpc")
    calls = [CALLS[name] for name in ("total", "running", "near", "before", "all rows")]
    done = subprocess.run([sys.executable, "-c", _CLIENT, *calls], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[-2:] == ["compared", "501"]
