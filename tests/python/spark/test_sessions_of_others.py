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
