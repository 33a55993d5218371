"""PySpark's own Columns in any shape, compared with what Spark makes of the very same Columns."""

import subprocess
import sys
import warnings

import pytest

import windrow as wr
from support.paths import child_environment
from support.spark_plans import executed_plan, passages, passing_columns

pytest.importorskip("pyspark")

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Window

from support import connect_columns


@pytest.fixture(scope="module")
def df(oracle_spark):
    return connect_columns.frame(oracle_spark).localCheckpoint()


def test_shapes(df):
    connect_columns.compare(df, connect_columns.shapes(df))


def test_operators(df):
    assert connect_columns.compare_operators(df) == 16 * 60
    within = Window.partitionBy("device").orderBy(F.desc("id")).rowsBetween(-2, 0)
    assert wr.sum("level").over(within).window == wr.window("device", wr.desc("id"), rows=(-2, 0))
    by_range = Window.partitionBy("device").orderBy("id").rangeBetween(Window.unboundedPreceding, 5)
    assert wr.sum("level").over(by_range).window == wr.window("device", "id", range=(None, 5))
    local = df.limit(5).toArrow()
    assert wr.with_columns(local, n=wr.count().over(Window.orderBy("id")))["n"].to_pylist() == [1, 2, 3, 4, 5]
    with pytest.raises(wr.SpecError, match="not both"):
        wr.sum("level").over(within, order_by="id")
    with pytest.raises(wr.UnsupportedError, match="window call in it is no operand"):
        wr.lag("level").over("device") - (F.col("level") - F.lag("level").over(within))
    with pytest.raises(wr.SpecError, match="Polars expression, which Spark cannot evaluate"):
        wr.with_columns(df, wr.col("level") - pytest.importorskip("polars").col("level"))


def test_functions(df):
    connect_columns.compare(df, connect_columns.functions())


def test_aggregates(df):
    connect_columns.compare(df, connect_columns.aggregates())
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # nothing is left to Spark
        connect_columns.compare(df, {**connect_columns.aggregates(), **connect_columns.functions()}, accelerated=True)


def test_what_only_windrows_sql_says(df):
    text = "sum(level) OVER (PARTITION BY device ORDER BY id GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) + 1"
    theirs = "sum(level) OVER (PARTITION BY device ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) + 1"
    ours = wr.with_columns(df, z=F.expr(text)).orderBy("id").select("z").collect()
    assert ours == df.selectExpr("id", f"{theirs} AS z").orderBy("id").select("z").collect()


def test_equal_windows_are_computed_once(df):
    w = Window.partitionBy("device").orderBy("id")
    step = F.col("level") - F.lag("level").over(w)
    out = wr.with_columns(df, a=step, b=F.abs(F.col("level") - F.lag("level").over(w)), c=F.lag("level").over(w))
    plan = executed_plan(out)
    assert passages(plan) == 1
    assert plan.count("lag(level)") == 1


def test_unread_columns_are_not_transferred(df):
    step = F.col("level") - F.lag("level").over(Window.partitionBy("device").orderBy("id"))
    out = wr.select(df, "x", step.alias("step"), df.y, F.col("s.a"), (F.col("y") * 2).alias("z"))
    assert out.columns == ["x", "step", "y", "a", "z"]
    [passing] = passing_columns(executed_plan(out))
    assert "level" in passing
    assert "txt" not in passing


def test_names(df):
    w = Window.partitionBy("device").orderBy("id")
    out = wr.with_columns(
        df.select("id", "device", "level"), F.sum("level").over(w) + 1, (-F.rank().over(w)).alias("r")
    )
    assert out.columns[3:] == [
        "+(sum(level) OVER (PARTITION BY device ORDER BY id ASC NULLS FIRST), 1)", "r",
    ]  # fmt: skip
    # replaced in its place, while the column's old values are read
    replaced = wr.with_columns(df.select("id", "device", "level"), {"LEVEL": F.col("level") - F.lag("level").over(w)})
    assert replaced.columns == ["id", "device", "LEVEL"]


def test_windows_in_the_builders_calls(df):
    w, ordered = Window.partitionBy("device").orderBy("id"), wr.window("device", "id")
    step = F.col("level") - F.lag("level").over(w)
    ours = wr.with_columns(df, a=wr.max(step).filter(F.rank().over(w) > 2).over(ordered))
    theirs = (
        df.withColumn("step", F.when(F.rank().over(w) > 2, step)).withColumn("a", F.max("step").over(w)).drop("step")
    )
    assert ours.orderBy("id").collect() == theirs.orderBy("id").collect()
    assert "Window [" not in ours._jdf.queryExecution().executedPlan().toString()


def test_names_of_a_join(df):
    left, right = df.select("id", "device", "level").alias("l"), df.select("id", "level").alias("r")
    both = left.join(right, F.expr("l.id = r.id + 1")).select("l.id", "device", "l.level", "r.level")
    step = F.col("l.level") - F.lag("r.level").over(Window.partitionBy("device").orderBy("l.id"))
    ours = wr.select(both, "id", "device", step.alias("step"), F.expr("r.level + 1").alias("next"))
    theirs = both.select("id", "device", step.alias("step"), F.expr("r.level + 1").alias("next"))
    assert ours.orderBy("id").collect() == theirs.orderBy("id").collect()


def refused(text):
    return lambda: F.expr(text)


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: F.col("level") * 2, wr.SpecError, r"\*\(level, 2\) is not a window call, and has none in it"),
        (lambda: F.sum("levl").over(Window.partitionBy("device")) + 1, wr.SpecError, "did you mean 'level'"),
        (lambda: F.abs("level").over(Window.partitionBy("device")), wr.SpecError, 'no window function "abs"'),
        (lambda: F.struct("*", F.rank().over(Window.orderBy("id"))), wr.UnsupportedError, "name the columns"),
        (lambda: F.count("s.*").over(Window.partitionBy("device")), wr.UnsupportedError, r"count\(s\.\*\)"),
        (refused("sum(level) OVER w"), wr.SpecError, "there is no window of that name"),
        (refused("sum(( OVER"), wr.SpecError, "cannot be read as SQL"),
        (lambda: F.expr("rank() OVER (ORDER BY id GROUPS 1 PRECEDING)") + 1, wr.SpecError, "an item of its own"),
        (refused("sum(level) OVER (ORDER BY id ROWS NULL PRECEDING)"), wr.UnsupportedError, r"bound is \(- NULL\)"),
    ],
)  # fmt: skip
def test_mistakes_are_raised_before_the_job(df, make, error, says):
    with pytest.raises(error, match=says):
        wr.with_columns(df, z=make())


def test_python_aggregates_are_pointed_to_windrows(df):
    pandas = pytest.importorskip("pandas")

    @F.pandas_udf("double")
    def total(v: pandas.Series) -> float:
        return float(v.sum())

    with pytest.raises(
        wr.UnsupportedError, match=r"total is a Python function that Spark runs; write it as wr\.aggregate"
    ):
        wr.with_columns(df, z=total("level").over(Window.partitionBy("device")) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # PySpark prefers hints, which a lambda has not
        alone = F.pandas_udf(lambda v: v, "double", F.PandasUDFType.SCALAR)
        folded = F.pandas_udf(lambda v: 1.0, "double", F.PandasUDFType.GROUPED_AGG)
    for function in (alone, folded):
        with pytest.raises(wr.UnsupportedError, match=r"a lambda is a Python function that Spark runs; write it as"):
            wr.with_columns(df, z=function("level").over(Window.partitionBy("device")))


@pytest.mark.spark
def test_spark_connect():
    pytest.importorskip("grpc")
    free_port = child_environment(SPARK_TESTING="1")
    command = [sys.executable, "-m", "support.connect_columns"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=free_port)
    assert run.stdout.strip().endswith("same"), run.stdout + run.stderr[-3000:]
