"""``wr.spark.enable``: exchanges and the order of rows beside Spark's own plans, for random chains of operators."""

import random
import warnings

import pytest

import windrow as wr
from support.random_calls import rounds

pytest.importorskip("pyspark")

from support.spark_plans import chain_settings, executed_plan, passages, shuffles
from support.spark_sessions import settings

pytestmark = pytest.mark.engine

WINDOWS = [
    "sum(v) OVER (PARTITION BY {keys} ORDER BY id)",
    "avg(v) OVER (PARTITION BY {keys} ORDER BY id DESC ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "row_number() OVER (PARTITION BY {keys} ORDER BY v, id)",
    "max(v) OVER (PARTITION BY {keys})",
    "count(*) OVER (PARTITION BY {keys})",
    "lag(v) OVER (PARTITION BY {keys} ORDER BY id)",
    "min(v) OVER (PARTITION BY {keys} ORDER BY id ROWS 4 PRECEDING)",
]
KEYS = ["x", "a, x", "a", "b", "c", "a, b", "b, a", "b, c", "a, b, c", "a % 2", "a % 2, c"]


@pytest.fixture(scope="module")
def spark(oracle_spark):
    return oracle_spark


@pytest.fixture(scope="module")
def t(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("exchanges") / "t")
    spark.range(300).selectExpr(
        "id",
        "id % 3 AS a",
        "int(id % 5) AS b",
        "string(id % 4) AS c",
        "if(id % 7 = 0, null, id * 7 % 11) AS v",
        "if(id % 5 = 0, 0d, if(id % 5 = 1, -0d, if(id % 5 = 2, double('NaN'), id % 2 / 2d))) AS x",
    ).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("t")
    yield
    spark.catalog.dropTempView("t")


def chain(rng):
    """Draw a query: windows, filters, groupBys and joins upon one another."""
    query = rng.choice(["t", "t", "(SELECT * FROM t DISTRIBUTE BY a)", "(SELECT * FROM t ORDER BY id LIMIT 200)"])
    names = ["id", "a", "b", "c", "v", "x"]
    for step in range(rng.randint(1, 5)):
        kind = rng.choice(["window", "window", "window", "filter", "group", "join", "in"])
        if kind == "window":
            keys = [rng.choice(KEYS) for _ in range(rng.randint(1, 3))]
            calls = [rng.choice(WINDOWS).format(keys=k) + f" AS w{step}_{i}" for i, k in enumerate(keys)]
            query = f"(SELECT {', '.join([*names, *calls])} FROM {query})"
            names += [f"w{step}_{i}" for i in range(len(keys))]
        elif kind == "filter":
            query = f"(SELECT * FROM {query} WHERE {rng.choice(names)} IS NOT NULL AND a < 2)"
        elif kind == "in":
            call = rng.choice(WINDOWS[:3]).format(keys=rng.choice(KEYS))
            query = f"(SELECT * FROM {query} WHERE id IN (SELECT x FROM (SELECT {call} AS x, v FROM t)))"
        elif kind == "group":
            by = rng.choice(["a", "b", "a, b", "a, b, c"])
            rest = [f"max({n}) AS {n}" for n in names if n not in by.split(", ")]
            query = f"(SELECT {', '.join([by, *rest])} FROM {query} GROUP BY {by})"
            names = [*by.split(", "), *(n for n in names if n not in by.split(", "))]
        else:
            on = rng.choice(["a", "b", "id"])
            chosen = ", ".join(f"l.{n}" for n in names)
            query = f"(SELECT {chosen} FROM {query} l JOIN (SELECT DISTINCT {on} FROM t) r ON l.{on} = r.{on})"
    return f"SELECT * FROM {query}"


def rows(frame):
    """Give all rows as text: NaN equals no NaN, and of -0.0 and 0.0 max() may give either."""
    return sorted(repr(tuple(row)).replace("-0.0", "0.0") for row in frame.collect())


@pytest.mark.parametrize("adaptive", ["true", "false"])
@pytest.mark.parametrize("number", rounds(6, 1))
def test_random_chains(spark, t, number, adaptive):
    """No more exchanges than Spark's plan has, and its rows."""
    rng = random.Random(f"exchanges {number}")
    taken, compared = 0, 0
    with settings(spark, chain_settings(rng, adaptive)):
        for _ in range(5):
            query = chain(rng)
            theirs = spark.sql(query)
            of_spark, expected = shuffles(theirs), rows(theirs)
            with wr.spark.accelerated(spark, engine="windrow"), warnings.catch_warnings():
                warnings.simplefilter("error")
                ours = spark.sql(query)
                count = shuffles(ours)
                found = rows(ours)
            assert found == expected, query
            assert count <= of_spark, query
            taken += "windrow(" in ours._jdf.queryExecution().executedPlan().toString()
            compared += len(found)
    assert taken >= 2
    assert compared >= 20


@pytest.mark.parametrize("number", rounds(6, 2))
def test_windows_of_both_engines(spark, t, number):
    """Where the engines share the windows of a query, columns have the names, the order and the values of Spark's."""
    rng = random.Random(f"both {number}")
    shared = compared = 0
    with settings(spark, chain_settings(rng, "true")):
        for _ in range(6):
            frame = spark.table("t").drop("x")
            for i in range(rng.randint(2, 5)):
                call = rng.choice(WINDOWS).format(keys=rng.choice(KEYS[2:]))
                frame = frame.selectExpr("*", f"{call} AS w{i}")
            expected = frame.collect()
            with wr.spark.accelerated(spark, engine="auto"):
                ours = frame.filter("true")
                found = ours.collect()
                plan = executed_plan(ours)
            assert ours.columns == frame.columns
            assert sorted(map(repr, found)) == sorted(map(repr, expected)), plan
            shared += passages(plan) > 0 and "Window [" in plan
            compared += len(found)
    assert shared >= 1
    assert compared == 1800


@pytest.mark.parametrize("number", rounds(4, 1))
def test_rows_leave_in_sparks_order(spark, t, number):
    """The rows of a task come sorted by the window's keys: an order that decides between all rows decides alike."""
    rng = random.Random(f"order {number}")
    with settings(spark, {"spark.sql.shuffle.partitions": "2"}):
        for _ in range(4):
            keys = rng.choice(KEYS)
            order = ", ".join([rng.choice(["v", "v DESC", "v DESC NULLS FIRST", "c", "b DESC"]), "id"])
            calls = [
                f"{f} OVER (PARTITION BY {keys} ORDER BY {order}) x{i}" for i, f in enumerate(("sum(v)", "rank()"))
            ]
            query = f"SELECT *, {', '.join(calls)} FROM t"
            expected = list(map(repr, spark.sql(query).collect()))
            with wr.spark.accelerated(spark, engine="windrow"):
                frame = spark.sql(query)
                assert "windrow(" in frame._jdf.queryExecution().executedPlan().toString()
                assert list(map(repr, frame.collect())) == expected, query
