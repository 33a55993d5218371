"""Ranking functions: the position of a row in its partition."""

from __future__ import annotations

from .._model.calls import Call, call
from .._model.expressions import IntoExpr
from ..exceptions import SpecError, short_traceback, shown

__all__ = ["cume_dist", "dense_rank", "ntile", "percent_rank", "rank", "row_number"]


@short_traceback
def row_number() -> Call:
    """Number the partition's rows from 1 in the window's order; ties are numbered in input order.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order, or has a frame and the call no order of its own.

    Notes
    -----
    O(1) per row; O(log n) with an order of its own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [30, 10, 20]})
    >>> wr.with_columns(table, n=wr.row_number().over(wr.window(order_by="x")))["n"].to_pylist()
    [3, 1, 2]
    """
    return Call("row_number")


@short_traceback
def rank() -> Call:
    """Rank the partition's rows in the window's order; ties share a rank, and ranks after them are skipped.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order, or has a frame and the call no order of its own.

    Notes
    -----
    O(1) per row; O(log n) with an order of its own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 10]})
    >>> wr.with_columns(table, r=wr.rank().over(wr.window(order_by="x")))["r"].to_pylist()
    [1, 3, 1]
    >>> table = pa.table({"day": [1, 2, 3, 4], "score": [50, 70, 60, 80]})
    >>> so_far = wr.rank().order_by(wr.desc("score")).over(wr.window(order_by="day", rows=(-2, 0)))
    >>> wr.with_columns(table, r=so_far)["r"].to_pylist()
    [1, 1, 2, 1]
    """
    return Call("rank")


@short_traceback
def dense_rank() -> Call:
    """Rank the partition's rows in the window's order; ties share a rank, and no rank is skipped.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order, or has a frame and the call no order of its own.

    Notes
    -----
    O(1) per row; O(log n) with an order of its own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 10]})
    >>> wr.with_columns(table, r=wr.dense_rank().over(wr.window(order_by="x")))["r"].to_pylist()
    [1, 2, 1]
    """
    return Call("dense_rank")


@short_traceback
def percent_rank() -> Call:
    """Return each row's relative rank in the partition: ``(rank - 1) / (rows - 1)``, and 0.0 for a lone row.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Returns
    -------
    Call
        A double, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order, or has a frame and the call no order of its own.

    Notes
    -----
    O(1) per row, O(log n) with an order of its own; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 30]})
    >>> wr.with_columns(table, r=wr.percent_rank().over(wr.window(order_by="x")))["r"].to_pylist()
    [0.0, 0.5, 1.0]
    """
    return Call("percent_rank")


@short_traceback
def cume_dist() -> Call:
    """Return the fraction of the partition's rows that are ordered before the row or equal to it.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Returns
    -------
    Call
        A double, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order, or has a frame and the call no order of its own.

    Notes
    -----
    O(1) per row, O(log n) with an order of its own; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 20, 30]})
    >>> wr.with_columns(table, r=wr.cume_dist().over(wr.window(order_by="x")))["r"].to_pylist()
    [0.25, 0.75, 0.75, 1.0]
    """
    return Call("cume_dist")


@short_traceback
def ntile(n: IntoExpr = 1) -> Call:
    """Split the partition's sorted rows into n buckets whose sizes differ by at most one; return the bucket, from 1.

    With ``.order_by(...)`` it takes a frame, and ranks the row among the frame's rows by that order.

    Parameters
    ----------
    n
        How many buckets.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if n is less than 1, if the window has no order, or has a frame and the call no order of
        its own.

    Notes
    -----
    O(1) per row, O(log n) with an order of its own; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, 3, 4, 5]})
    >>> wr.with_columns(table, b=wr.ntile(2).over(wr.window(order_by="x")))["b"].to_pylist()
    [1, 1, 1, 2, 2]
    """
    if isinstance(n, str):
        raise SpecError(f"ntile() takes a number of buckets, not {shown(n)}")
    return call("ntile", n)
