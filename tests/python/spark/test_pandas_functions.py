"""The functions of pandas-on-Spark in windows, which Spark's SQL does not name: windrow's answers are Spark's."""

import random
import warnings

import pytest

import windrow as wr
from support import comparison

pytest.importorskip("pyspark")

import pyspark.sql.functions as F  # noqa: N812
from pyspark import __version__
from pyspark.sql import Window

try:
    from pyspark.sql.internal import InternalFunction
except ImportError:  # before Spark 4.0
    try:
        from pyspark.pandas.spark import functions as InternalFunction  # noqa: N812
    except AttributeError as error:
        pytest.skip(f"pandas on Spark does not import with this NumPy: {error}", allow_module_level=True)

from support.spark_sessions import settings

pytestmark = pytest.mark.engine

FUNCTIONS = {
    "ewm": lambda x: InternalFunction.ewm(x, 0.3, False),
    "ewm without nulls": lambda x: InternalFunction.ewm(x, 0.3, True),
    "null_index": InternalFunction.null_index,
    "skew": InternalFunction.skew,
    "kurt": InternalFunction.kurt,
    "product": lambda x: InternalFunction.product(x, True),
    "product of all": lambda x: InternalFunction.product(x, False),
    "stddev": lambda x: InternalFunction.stddev(x, 1),
    "stddev of the population": lambda x: InternalFunction.stddev(x, 0),
    "stddev less 3": lambda x: InternalFunction.stddev(x, 3),
    "var": lambda x: InternalFunction.var(x, 1),
    "var less 2": lambda x: InternalFunction.var(x, 2),
    "covar": lambda x: InternalFunction.covar(x, F.col("y"), 1),
    "covar less 2": lambda x: InternalFunction.covar(x, F.col("y"), 2),
}
SHAPES = ("growing", "moving", "mostly empty", "entire")


def window(shape):
    by_k = Window.partitionBy("k").orderBy("id")
    if shape == "entire":
        return Window.partitionBy("k")
    return by_k.rowsBetween(*{"growing": (Window.unboundedPreceding, 0), "moving": (-4, 2)}.get(shape, (-9, -7)))


@pytest.fixture(scope="module")
def spark(oracle_spark):
    """Give the session; on 3.5 these functions are beyond Spark's interpreter."""
    with settings(oracle_spark, {"spark.sql.codegen.factoryMode": "FALLBACK"}) as session:
        yield session


@pytest.fixture(scope="module")
def t(spark):
    """Give few distinct values, nulls, and a partition of equal values, whose moments are 0."""
    rng = random.Random(1)
    values = [None, 0.0, 1.0, 2.5, -3.0, 7.25, 1e-9, 100.0]
    rows = [(i, i % 3, rng.choice(values), rng.choice(values)) for i in range(60)]
    rows += [(100 + i, 9, 2.5, 2.5) for i in range(8)]
    return spark.createDataFrame(rows, "id int, k int, x double, y double").localCheckpoint()


def windows(frame):
    plan = frame._jdf.queryExecution().optimizedPlan().toString()
    return [line for line in plan.splitlines() if line.strip(" +-:").startswith("Window [")]


def test_answers_are_sparks(spark, t):
    made = {
        f"{name}, {shape}": function(F.col("x")).over(window(shape))
        for name, function in FUNCTIONS.items()
        for shape in SHAPES
        if shape == "growing" or not name.startswith(("ewm", "null_index"))  # which have that frame alone
    }

    def asked():
        return t.select("id", *[column.alias(name) for name, column in made.items()])

    expected = asked()
    theirs = {row["id"]: row for row in expected.collect()}
    with wr.spark.accelerated(spark, engine="windrow"), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        enabled = asked()
        assert windows(enabled) == []
        answers = [enabled.collect()]
    assert enabled.schema == expected.schema
    if __version__ >= "4":  # accelerate() does not know the plans of 3.5
        with wr.config(engine="windrow"), pytest.warns(UserWarning, match="an expression over several calls"):
            accelerated = wr.spark.accelerate(asked())
        plan = accelerated._jdf.queryExecution().optimizedPlan().toString()
        assert "windrow(" in plan, "single calls are windrow's"
        answers.append(accelerated.collect())
        assert accelerated.schema == expected.schema
    compared = 0
    for rows in answers:
        for row in rows:
            for name in made:
                compared += 1
                assert comparison.equal_loosely(row[name], theirs[row["id"]][name]), name
    assert compared == len(answers) * 68 * 47


def test_what_stays_with_spark_says_why(spark, t):
    left = {
        "windrow's product of integers is a double, and pandas_product is exact": InternalFunction.product(
            F.col("k"), True
        ),
        "windrow has no function pandas_mode": InternalFunction.mode(F.col("x"), True),
    }
    frame = t.select("id", *[c.over(window("moving")).alias(f"c{i}") for i, c in enumerate(left.values())])
    with wr.config(engine="windrow"):
        explained = wr.spark.explain(frame)
    assert {row["reason"] for row in explained.rows} == set(left)
    assert {row["strategy"] for row in explained.rows} == {"spark"}


def test_explain_names_the_columns(spark, t):
    frame = t.select("id", InternalFunction.skew(F.col("x")).over(window("moving")).alias("s"))
    with wr.config(engine="windrow"):
        explained = wr.spark.explain(frame)
    assert {row["name"] for row in explained.rows} == {"s"}
    assert {row["call"].partition("(")[0] for row in explained.rows} == {"count", "skewness", "var_pop"}
