"""``wr.spark.accelerated`` over what people run: a retail warehouse's queries, and pandas on Spark."""

import warnings

import pytest

import windrow as wr
from support.retail_queries import QUERIES, create_views
from support.spark_plans import executed_plan, passages

pytest.importorskip("pyspark")

from support.spark_sessions import settings

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def spark(oracle_spark):
    return oracle_spark


@pytest.fixture(scope="module")
def warehouse(spark):
    names = create_views(spark)
    yield
    for name in names:
        spark.catalog.dropTempView(name)


def rows(frame):
    return sorted(map(tuple, frame.collect()), key=repr)


@pytest.mark.slow
@pytest.mark.parametrize("number", QUERIES)
def test_queries_of_a_warehouse(spark, warehouse, number):
    with settings(spark, {"spark.sql.shuffle.partitions": "2"}):
        expected = spark.sql(QUERIES[number])
        found = rows(expected)
        with wr.spark.accelerated(spark, engine="windrow"), warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            ours = spark.sql(QUERIES[number])
            assert ours.schema == expected.schema
            assert rows(ours) == found
            assert passages(executed_plan(ours)) > 0
    assert len(found) >= 3


#: Of pandas on Spark: what it computes by windows, over a frame with the columns k, v (some null) and i.
PANDAS = {
    "rolling": lambda d: d.v.rolling(3).mean(),
    "rolling by key": lambda d: d.groupby("k").v.rolling(3).sum(),
    "deviation": lambda d: d.v.rolling(4).std(),
    "quantile": lambda d: d.v.rolling(4).quantile(0.5),
    "expanding": lambda d: d.v.expanding(2).max(),
    "expanding by key": lambda d: d.groupby("k").v.expanding(2).min(),
    "shift": lambda d: d.v.shift(2),
    "shift by key": lambda d: d.groupby("k").v.shift(1),
    "rank": lambda d: d.v.rank(),
    "dense rank": lambda d: d.v.rank(method="dense"),
    "rank by key": lambda d: d.groupby("k").v.rank(),
    "cumsum": lambda d: d.v.cumsum(),
    "cumsum by key": lambda d: d.groupby("k").v.cumsum(),
    "cummax": lambda d: d.v.cummax(),
    "ffill": lambda d: d.v.ffill(),
    "ffill by key": lambda d: d.groupby("k").v.ffill(),
    "bfill": lambda d: d.v.bfill(),
    "diff": lambda d: d.v.diff(),
    "skew": lambda d: d.v.rolling(4).skew(),
    "kurt": lambda d: d.v.expanding(4).kurt(),
    "ewm": lambda d: d.v.ewm(alpha=0.5).mean(),
    "ewm by key": lambda d: d.groupby("k").v.ewm(alpha=0.5, ignore_na=True).mean(),
    "interpolate": lambda d: d.v.interpolate(),
    "cumprod": lambda d: (d.v / 5).cumprod(),
    "cumprod of integers": lambda d: (d.i % 3 + 1).cumprod(),  # which is Spark's
}
#: Spark 3.5 does not interpret some of these functions, and 4.0 computes none in ANSI mode.
PANDAS_SETTINGS = {"spark.sql.codegen.factoryMode": "FALLBACK", "spark.sql.ansi.enabled": "false"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_pandas_on_spark(spark):
    import pandas as pd

    try:
        import pyspark.pandas as ps
    except (ImportError, AttributeError) as error:
        pytest.skip(f"pandas on Spark does not import with this pandas and NumPy: {error}")
    rows = 40
    values = [float(i * 7 % 11) if i % 5 else None for i in range(rows)]
    compared = 0
    with settings(spark, PANDAS_SETTINGS):
        frame = ps.from_pandas(pd.DataFrame({"k": [i % 4 for i in range(rows)], "v": values, "i": range(rows)}))
        for name, ask in PANDAS.items():
            expected = ask(frame).to_pandas().sort_index()
            with wr.spark.accelerated(spark, engine="windrow"):
                found = ask(frame).to_pandas().sort_index()
            pd.testing.assert_series_equal(found, expected, obj=name, rtol=1e-9)
            compared += int(found.notna().sum())
    assert compared > 700
