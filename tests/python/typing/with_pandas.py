"""What a type checker sees of pandas' frames, and of numpy's and pandas' values."""

import numpy as np
import pandas as pd
from typing_extensions import assert_type

import windrow as wr
import windrow.pandas

frame = pd.DataFrame({"k": [1], "x": [2.0]})
w = wr.window("k", "x", range=(pd.Timedelta(-1, "D"), np.int64(0)))
call = wr.lag("x", np.int64(1), pd.Timestamp("2020-01-01")).over(w)


def results() -> None:
    assert_type(wr.with_columns(frame, call.alias("s"), "rank() OVER (ORDER BY x) AS r", t=call), pd.DataFrame)
    assert_type(wr.select(frame, "k", call), pd.DataFrame)
    assert_type(wr.sql("SELECT * FROM f", f=frame), pd.DataFrame)
    wr.explain(frame, call, metrics=True)
    wr.lit(np.array([0.25, 0.5]))
    wr.vectorized(moving, "x", returns=float)


def methods() -> None:
    assert_type(windrow.pandas.Frame(frame).with_columns(call, t=call), pd.DataFrame)


def refused(series: "pd.Series[float]", array: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> None:
    wr.with_columns(frame, call, engine="spark")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.with_columns(series, call)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType, reportCallIssue]
    wr.max(frame)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.sum(series)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.max(array)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    wr.sum("x").filter(series > 0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def moving(x: object, begin: object, end: object) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.array([1.0])
