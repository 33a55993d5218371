"""Windows that read no column, alone and beside others: on every way in as many rows leave as come."""

import random

import pytest

import windrow as wr
from support.random_calls import rounds

pytest.importorskip("pyspark")

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812

SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "UTC"}
pytestmark = pytest.mark.filterwarnings("ignore:No Partition Defined")

TABLE = pa.table({"id": [1, 2, 3, 4, 5], "v": [10, 20, 20, None, 7], "k": ["a", "a", "b", "b", None]})
NOTHING_READ = [
    "count(*) OVER ()", "row_number() OVER (ORDER BY 1)", "percent_rank() OVER (ORDER BY 1)", "sum(2) OVER ()",
    "lag(7) OVER (ORDER BY 1)", "median(1) OVER ()", "ntile(2) OVER (ORDER BY 1)", "count(*) OVER () + 1",
    "max(3) OVER (PARTITION BY 1)", "count(1) OVER (ORDER BY 2 ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
]  # fmt: skip
NEIGHBOURS = [
    "sum(v) OVER (PARTITION BY k)",
    "count(v) OVER (ORDER BY id)",
    "max(id) OVER ()",
    "rank() OVER (ORDER BY k)",
]


@pytest.fixture(scope="module")
def frame(spark):
    frame = spark.createDataFrame([tuple(r.values()) for r in TABLE.to_pylist()], "id bigint, v bigint, k string")
    return frame.repartition(2).localCheckpoint()


def operator(frame, calls):
    """Run the operator in a plan of the user's own, which has a column, in one task."""
    frame = frame.select(F.lit(True).alias("row")) if not frame.columns else frame
    op = wr.operator(calls, frame)
    return frame.coalesce(1).mapInArrow(op, op.spark_schema).select(*calls)


def query(calls):
    return f"SELECT {', '.join(f'{call} AS {name}' for name, call in calls.items())} FROM f"


def accelerated(frame, calls, **_):
    frame.createOrReplaceTempView("f")
    return wr.spark.accelerate(frame.sparkSession.sql(query(calls)))


WAYS = {
    "with_columns": lambda frame, calls, **how: wr.with_columns(frame, calls, **how).select(*calls),
    "select": lambda frame, calls, **how: wr.select(frame, calls, **how),
    "sql": lambda frame, calls, **_: wr.sql(query(calls), f=frame),
    "accelerate": accelerated,
    "mapInArrow": lambda frame, calls, **_: operator(frame, calls),
}


@pytest.mark.parametrize("number", rounds(20, quick=5))
def test_rows_out_are_rows_in(frame, number):
    rng = random.Random(number)
    way = list(WAYS)[number % len(WAYS)]
    asked = rng.sample(NOTHING_READ, rng.randint(1, 3))
    bare = rng.random() < 0.3
    if not bare:
        asked += rng.sample(NEIGHBOURS, rng.randint(0, 2))
    calls = {f"c{i}": call for i, call in enumerate(asked)}
    expected = wr.select(TABLE, calls)
    how = {"sort": rng.choice([None, None, "spark"]), "spread": rng.choice(["auto", "never", "always"])}
    given = frame.select() if bare else frame
    with wr.config(spread=how["spread"], memory_limit=rng.choice([None, 1 << 20])):
        got = WAYS[way](given, calls, **how).collect()
    assert len(got) == TABLE.num_rows, (way, how, bare, asked)
    for name in calls:  # which row has which is the tie's to say
        values = sorted((r[name] for r in got), key=repr)
        assert values == sorted(expected[name].to_pylist(), key=repr), (way, how, bare, calls[name])


def test_split_and_whole_are_among_them(frame):
    steps = "".join(str(wr.explain(frame.select(), call, spread="always")) for call in NOTHING_READ)
    assert "read twice" in steps
    assert "all rows in one task" in steps


def test_rows_that_come_in_order(frame):
    out = wr.select(frame.coalesce(1), "count(*) OVER () AS n", "lag(7) OVER (ORDER BY 1) AS l", sort=False)
    assert sorted(map(tuple, out.collect()), key=repr) == [(5, 7)] * 4 + [(5, None)]
    twice = "SELECT DISTINCT sum(v) OVER (PARTITION BY k) s, count(*) OVER () n FROM f"
    assert sorted(map(tuple, wr.sql(twice, f=frame).collect()), key=repr) == [(20, 5), (30, 5), (7, 5)]


def test_a_plan_of_the_users_own_needs_a_column(frame):
    op = wr.operator("count(*) OVER () AS n", frame.select())
    with pytest.raises(wr.UnsupportedError, match=r"without columns comes to Python without its rows.*F\.lit"):
        _ = op.spark_schema
    with pytest.raises(Exception, match="comes to Python without its rows"):
        frame.select().mapInArrow(op, "n bigint").collect()
