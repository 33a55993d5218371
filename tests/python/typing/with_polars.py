"""What a type checker sees of Polars' frames and expressions."""

import polars as pl
from typing_extensions import assert_type

import windrow as wr
import windrow.polars
from windrow.typing import IntoExpr

frame = pl.DataFrame({"k": [1], "x": [2.0]})
w = wr.window(pl.col("k"), pl.col("x").abs(), rows=(-1, pl.col("n")))
call = wr.sum(pl.col("x") + 1).filter(pl.col("x") > 0).over(w)


def results() -> None:
    assert_type(wr.with_columns(frame, call.alias("s"), "rank() OVER (ORDER BY x) AS r", t=call), pl.DataFrame)
    assert_type(wr.with_columns(frame.lazy(), call), pl.LazyFrame)
    assert_type(wr.select(frame, "k", call), pl.DataFrame)
    assert_type(wr.select(frame.lazy(), "k", call), pl.LazyFrame)
    assert_type(wr.sql("SELECT * FROM f", f=frame), pl.DataFrame)
    assert_type(wr.sql("SELECT * FROM f", f=frame.lazy()), pl.LazyFrame)
    wr.explain(frame, call, metrics=True)
    wr.operator(call, frame)
    wr.aggregate(Last, pl.col("x"), returns=pl.Float64)
    wr.vectorized(first, "x", returns=pl.List(pl.Int64))


def methods() -> None:
    assert_type(windrow.polars.Frame(frame).with_columns(call, t=call), pl.DataFrame)
    assert_type(windrow.polars.LazyFrame(frame.lazy()).filter("k = 1").collect(), pl.DataFrame)
    expression: pl.Expr = call.to_polars(frame.schema)
    expression.alias("s")


def taken() -> None:
    x: IntoExpr = pl.col("x")
    wr.covar_pop(x, pl.len())
    wr.lag(x, 1, pl.lit("none"))


def refused(series: pl.Series) -> None:
    wr.with_columns(frame, pl.col("x"))  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(frame, call, engine="spark")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.max(frame)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.sum("x").order_by(frame)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.with_columns(frame, call, sort="spark")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]


class Last:
    def initialize(self) -> float | None:
        return None

    def update(self, state: float | None, x: float | None) -> float | None:
        return x


def first(x: object, begin: object, end: object) -> pl.Series:
    return pl.Series([1])
