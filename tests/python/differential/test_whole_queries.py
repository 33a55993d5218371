"""Random queries of several SELECTs: WITH, subqueries, UNION, GROUP BY; answered by windrow, Spark and DuckDB."""

from collections import Counter
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow as wr
from support.random_queries import RandomQueries, make_tables

SEEDS, QUERIES = 30, 20
ON_SPARK = 40


def rows_of(rows):
    """Count rows; numbers have one form, and averages are rounded."""
    return Counter(tuple(map(plain, row)) for row in rows)


def plain(value):
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral() else float(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else round(value, 9)
    return value


def ours(query, tables):
    made = wr.sql(query, **tables)
    return made.column_names, rows_of(zip(*(c.to_pylist() for c in made.columns), strict=True))


def test_as_in_duckdb():
    duckdb = pytest.importorskip("duckdb")
    compared = rows = 0
    for seed in range(SEEDS):
        tables = make_tables(seed)
        draw = RandomQueries(seed)
        connection = duckdb.connect()
        connection.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
        for name, table in tables.items():
            connection.register(name, table)
        for _ in range(QUERIES):
            query = draw.query()
            expected = connection.sql(query.replace("EXCEPT (", "EXCLUDE ("))
            names, found = ours(query, tables)
            assert [n.lower() for n in names] == [n.lower() for n in expected.columns], query
            assert found == rows_of(expected.fetchall()), query
            compared += 1
            rows += sum(found.values())
    assert compared == SEEDS * QUERIES
    assert rows > 10 * SEEDS


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:No Partition Defined")
def test_as_in_spark(oracle_spark):
    compared = rows = 0
    tables = make_tables("spark")
    frames = [oracle_spark.createDataFrame(table).coalesce(1) for table in tables.values()]
    for name, frame in zip(tables, frames, strict=True):
        frame.createOrReplaceTempView(name)
    draw = RandomQueries("spark")
    for _ in range(ON_SPARK):
        query = draw.query()
        expected = oracle_spark.sql(query)
        made = wr.sql(query, **tables)
        assert made.column_names == expected.columns, query
        assert [kind_of(t) for t in made.schema.types] == [kind_of(f.type) for f in arrow_schema(expected)], query
        found = rows_of(zip(*(c.to_pylist() for c in made.columns), strict=True))
        assert found == rows_of(tuple(r) for r in expected.collect()), query
        compared += 1
        rows += sum(found.values())
    assert compared == ON_SPARK
    assert rows > ON_SPARK
    for name in tables:
        oracle_spark.catalog.dropTempView(name)


def arrow_schema(frame):
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema)


def kind_of(kind):
    return pa.string() if kind == pa.large_string() else kind
