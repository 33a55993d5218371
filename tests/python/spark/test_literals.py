"""Literals as arguments: results have the type and the value that Spark's own windows give them."""

import random

import pytest

import windrow as wr
from support.random_calls import rounds

pytest.importorskip("pyspark")

SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "UTC"}
pytestmark = pytest.mark.filterwarnings("ignore:No Partition Defined")

FUNCTIONS = ["sum", "avg", "min", "max", "first_value", "lag", "lead", "collect_list"]
OF_LISTS = ["first_value", "lag", "collect_list"]
WINDOWS = [
    "OVER (ORDER BY id)", "OVER (PARTITION BY k ORDER BY id)", "OVER (PARTITION BY k ORDER BY id DESC)",
]  # fmt: skip


@pytest.fixture(scope="module")
def frame(spark):
    rows = [(i, "ab"[i % 2]) for i in range(6)]
    return spark.createDataFrame(rows, "id bigint, k string").localCheckpoint()


def a_decimal(rng):
    digits, scale = rng.randint(1, 20), rng.randint(1, 6)
    number = str(rng.randrange(10**digits)).zfill(scale + 1)
    return rng.choice(["", "-"]) + number[:-scale] + "." + number[-scale:]


def an_item(rng):
    return rng.choice([a_decimal(rng), str(rng.randrange(-9, 10)), str(rng.randrange(2**31, 2**40)), "NULL"])


def a_call(rng):
    if rng.random() < 0.3:
        value = f"array({a_decimal(rng)}, {', '.join(an_item(rng) for _ in range(rng.randint(0, 3)))})"
        return f"{rng.choice(OF_LISTS)}({value.replace(', )', ')')}) {rng.choice(WINDOWS)}"
    return f"{rng.choice(FUNCTIONS)}({a_decimal(rng)}) {rng.choice(WINDOWS)}"


def typed(frame, names):
    types = [frame.schema[name].dataType.simpleString() for name in names]
    return types, sorted(tuple(row[name] for name in ["id", *names]) for row in frame.collect())


@pytest.mark.parametrize("number", rounds(8, quick=1))
def test_decimals_are_typed_as_spark_types_them(frame, number):
    rng = random.Random(number)
    calls = {f"c{i}": a_call(rng) for i in range(6)}
    expected = typed(frame.selectExpr("id", *(f"{call} AS {name}" for name, call in calls.items())), calls)
    op = wr.operator(calls, frame)
    ways = {
        "with_columns": lambda: wr.with_columns(frame, calls),
        "expr": lambda: wr.select(frame, "id", {name: wr.expr(call) for name, call in calls.items()}),
        "sql": lambda: wr.sql(
            f"SELECT id, {', '.join(f'{call} AS {name}' for name, call in calls.items())} FROM t", t=frame
        ),
        "mapInArrow": lambda: frame.coalesce(1).mapInArrow(op, op.spark_schema),
    }
    way = list(ways)[number % len(ways)]
    types, rows = typed(ways[way](), calls)
    for at, call in enumerate(calls.values()):
        assert types[at] == expected[0][at], (way, call)
        assert [r[at + 1] for r in rows] == [r[at + 1] for r in expected[1]], (way, call)
