"""Functions that read the rows of a partition in order."""

from __future__ import annotations

from .._model.calls import Call, call
from .._model.expressions import IntoColumns, IntoExpr
from ..exceptions import short_traceback

__all__ = ["counter_diff", "fill"]


@short_traceback
def fill(x: IntoColumns) -> Call:
    """Return the value; nulls are replaced by linear interpolation over the order key.

    Parameters
    ----------
    x
        A column of numbers, durations, dates or timestamps.

    Returns
    -------
    Call
        The column's own type; for integers, decimals and timestamps, results are truncated to its precision. Before the
        first and after the last value, the line through the two nearest values is continued; if there is only one
        value, all rows get it. Null if the partition has no value, or the row's key is null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has a frame, or not exactly one order key of numbers, dates or timestamps.

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
def counter_diff(x: IntoColumns, start: IntoExpr = None) -> Call:
    """Return the increase of a counter since its previous value; null where it was reset.

    Parameters
    ----------
    x
        A numeric column without negative values, which grows until it is reset. Nulls are ignored: the previous value
        is the last one that is not null.
    start
        A column of timestamps at which the counter started: where it differs from the previous row, the counter was
        reset.

    Returns
    -------
    Call
        The column's own type; null in the first row, where the value is null, and where the counter was reset.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame.
    DataError
        While computing, if a value is negative, or a start is earlier than the one before.

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
