"""What a type checker sees of PySpark's frames and Columns."""

from pyspark.sql import DataFrame, SparkSession, Window, functions as F  # noqa: N812
from pyspark.sql.types import LongType, StructType
from typing_extensions import assert_type

import windrow as wr
from windrow.typing import IntoExpr

w = wr.window(F.col("k"), F.col("x").desc(), rows=(-1, 0))
call = wr.sum(F.col("x") + 1).filter(F.col("x") > 0).over(w)
column = F.sum("x").over(Window.partitionBy("k"))


def results(session: SparkSession, frame: DataFrame, schema: StructType) -> None:
    assert_type(wr.with_columns(frame, call.alias("s"), "rank() OVER (ORDER BY x) AS r", t=column), DataFrame)
    assert_type(wr.with_columns(frame, [column, {"b": call}], sort="spark", engine="auto", spread="never"), DataFrame)
    assert_type(wr.select(frame, "k", frame.x, call, column - 1), DataFrame)
    assert_type(wr.sql("SELECT * FROM f", f=frame), DataFrame)
    assert_type(wr.sql("SELECT * FROM f", f=frame, spark=session, args={"a": 1}), DataFrame)
    assert_type(wr.sql("SELECT * FROM t", spark=session), DataFrame)
    assert_type(wr.spark.accelerate(frame), DataFrame)
    wr.explain(frame, column, engine="spark", metrics=True)
    wr.explain(schema, call)
    assert_type(wr.operator(call, schema).spark_schema, StructType)
    wr.vectorized(first, "x", returns=LongType())


def taken() -> None:
    x: IntoExpr = F.col("x")
    wr.covar_pop(x, F.lit(1))


def refused(frame: DataFrame) -> None:
    wr.with_columns(frame, call, engine="polars")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(frame, w)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.max(frame)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.spark.accelerate(column)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]


def first(x: object, begin: object, end: object) -> list[int]:
    return [1]
