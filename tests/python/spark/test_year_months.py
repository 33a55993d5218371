"""Intervals of years and months, which PySpark's Arrow lacks: they go through windrow's stages as numbers of months."""

import pytest

import windrow as wr

pytest.importorskip("pyspark")


pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def t(oracle_spark):
    frame = oracle_spark.range(40).selectExpr(
        "id", "id % 3 AS k", "if(id % 5 = 0, null, make_ym_interval(id % 4, id * 7 % 12)) AS y",
        "interval '1' year * (id * 5 % 7) AS years", "id * 11 % 13 AS v",
        "named_struct('y', make_ym_interval(0, id % 9), 'l', array(make_ym_interval(id % 2), null)) AS s",
    )  # fmt: skip
    frame = frame.localCheckpoint()
    frame.createOrReplaceTempView("spans")
    yield frame
    oracle_spark.catalog.dropTempView("spans")


CALLS = [
    "lag(y) OVER w", "lag(y, 1, make_ym_interval(0, 5)) OVER w", "max(y) OVER w", "min(years) OVER m",
    "first_value(years) OVER w", "last_value(y) IGNORE NULLS OVER m", "sum(y) OVER m", "sum(years) OVER w",
    "count(y) OVER w", "max_by(y, id) OVER m", "max_by(id, y) OVER m", "max(s) OVER m",
    "collect_list(y) OVER m", "lead(s) OVER w", "rank() OVER (PARTITION BY k ORDER BY y)",
    "dense_rank() OVER (PARTITION BY k ORDER BY years DESC)",
    "sum(v) OVER (PARTITION BY k ORDER BY y RANGE BETWEEN INTERVAL '1-2' YEAR TO MONTH PRECEDING AND CURRENT ROW)",
    "count(v) OVER (PARTITION BY k ORDER BY y DESC RANGE BETWEEN INTERVAL 3 MONTH PRECEDING AND "
    "INTERVAL 1 YEAR FOLLOWING)",
    "sum(v) OVER (PARTITION BY k ORDER BY years RANGE BETWEEN INTERVAL 2 YEAR PRECEDING AND CURRENT ROW)",
    "sum(v) OVER m",
]  # fmt: skip
WINDOWS = "WINDOW w AS (PARTITION BY k ORDER BY id), m AS (PARTITION BY k ORDER BY id ROWS 3 PRECEDING)"


def asked(session, calls):
    """Ask for columns that pass and the calls, as text: PySpark collects no such intervals."""
    inner = ", ".join(f"{call} AS c{i}" for i, call in enumerate(calls))
    outer = ", ".join(f"string(c{i})" for i in range(len(calls)))
    query = f"SELECT id, string(y), string(years), string(s), {outer} FROM (SELECT *, {inner} FROM spans {WINDOWS})"
    return session.sql(query)


def test_answers_are_sparks(oracle_spark, t):
    expected = sorted(map(tuple, asked(oracle_spark, CALLS).collect()))
    with wr.spark.accelerated(oracle_spark, engine="windrow"):
        frame = asked(oracle_spark, CALLS)
        plan = frame._jdf.queryExecution().optimizedPlan().toString()
        assert "WindowStage" in plan
        assert "Window [" not in plan
        found = sorted(map(tuple, frame.collect()))
    assert found == expected
    assert len(found) == 40
    typed = f"SELECT {CALLS[0]} a, {CALLS[3]} b, {CALLS[7]} c, {CALLS[11]} d FROM spans {WINDOWS}"
    types = oracle_spark.sql(typed)
    with wr.spark.accelerated(oracle_spark, engine="windrow"):
        again = oracle_spark.sql(typed)
        assert again._jdf.queryExecution().optimizedPlan().schema().json() == types._jdf.schema().json()


LEFT = {
    "avg(y) OVER (PARTITION BY k)": "Spark's result is interval year to month, windrow's would be double",
    "try_sum(y) OVER (PARTITION BY v)": "windrow's would be bigint",
    "sum(v) OVER (PARTITION BY y)": "is of type interval year to month, by which windrow spreads no rows",
}


@pytest.mark.parametrize("call", LEFT)
def test_what_stays_with_spark_says_why(oracle_spark, t, call):
    with wr.config(engine="windrow"):
        [row] = wr.spark.explain(oracle_spark.sql(f"SELECT id, {call} AS x FROM spans")).rows
    assert row["strategy"] == "spark"
    assert LEFT[call] in row["reason"]


def test_with_columns_carries_them(oracle_spark, t):
    with wr.config(engine="windrow"):
        frame = wr.with_columns(t, m="median(v) OVER (PARTITION BY k)")
        assert frame.schema["y"].dataType.simpleString() == "interval year to month"
        found = sorted(map(tuple, frame.selectExpr("id", "string(y)", "string(s)", "m").collect()))
        with pytest.raises(wr.UnsupportedError, match="column 'y' is of type interval year to month"):
            wr.with_columns(t, m="max(y) OVER (PARTITION BY k)")
    expected = t.selectExpr("id", "string(y)", "string(s)", "median(v) OVER (PARTITION BY k)").collect()
    assert found == sorted(map(tuple, expected))
    assert len(found) == 40
