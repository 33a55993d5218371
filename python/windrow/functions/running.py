"""Running functions, which read the partition's rows one after another."""

from __future__ import annotations

from .._model.calls import Call, call
from .._model.expressions import IntoExpr
from ..exceptions import short_traceback

__all__ = ["counter_diff", "fill"]


@short_traceback
def fill(x: IntoExpr) -> Call:
    """Give the value, or where it is null, one on the straight line between its neighbours by the order key.

    Parameters
    ----------
    x
        A column of numbers, durations, dates or moments.

    Returns
    -------
    Call
        The column's own type; whole numbers, decimals and moments cut off what is behind their last digit. At the ends
        the line of the two nearest values goes on, and a lone value stands for all rows. Null where the partition has
        no value, or the row's key is null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has not one order key of numbers, dates or moments, or has a frame.

    Notes
    -----
    O(1) per row; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [0, 1, 3, 4], "x": [0.0, None, None, 8.0]})
    >>> wr.with_columns(table, f=wr.fill("x").over(wr.window(order_by="t")))["f"].to_pylist()
    [0.0, 2.0, 6.0, 8.0]
    """
    return call("fill", x)


@short_traceback
def counter_diff(x: IntoExpr, start: IntoExpr = None) -> Call:
    """Give how far a counter went on since the value before; null where it was set back.

    Parameters
    ----------
    x
        A numeric column that is not negative and mostly grows. Nulls are passed over: the value before is the last that
        is not null.
    start
        A column of moments at which the counter began to count: where it differs from the row before, the counter was
        set back.

    Returns
    -------
    Call
        The column's own type; null in the first row, where the value is null, and where the counter was set back.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame.
    DataError
        While computing, if a value is negative, or the start goes back in time.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3, 4], "x": [100, 200, 50, 70]})
    >>> wr.with_columns(table, d=wr.counter_diff("x").over(wr.window(order_by="t")))["d"].to_pylist()
    [None, 100, None, 20]
    """
    return call("counter_diff", x) if start is None else call("counter_diff", x, start)
