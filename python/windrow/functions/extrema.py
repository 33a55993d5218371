"""Minimum and maximum, and the values of another column in the rows where they occur."""

from __future__ import annotations

from .._model.calls import Call, call
from .._model.expressions import IntoColumns, IntoExpr
from ..exceptions import short_traceback

__all__ = ["arg_max", "arg_min", "max", "max_by", "min", "min_by"]


@short_traceback
def min(x: IntoColumns) -> Call:
    """Return the frame's smallest value; nulls are ignored.

    Parameters
    ----------
    x
        A column of any type that has an order. Strings are ordered by their bytes; NaN is the largest number.

    Returns
    -------
    Call
        The column's own type; null for a frame without values.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks, or of text by a monotonic deque; O(log n) with
    EXCLUDE or bounds per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [5, 1, 3]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, m=wr.min("x").over(w))["m"].to_pylist()
    [5, 1, 1]
    """
    return call("min", x)


@short_traceback
def max(x: IntoColumns) -> Call:
    """Return the frame's largest value; nulls are ignored.

    Parameters
    ----------
    x
        A column of any type that has an order. Strings are ordered by their bytes; NaN is the largest number.

    Returns
    -------
    Call
        The column's own type; null for a frame without values.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks, or of text by a monotonic deque; O(log n) with
    EXCLUDE or bounds per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [5, 1, 3]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, m=wr.max("x").over(w))["m"].to_pylist()
    [5, 5, 3]
    """
    return call("max", x)


@short_traceback
def min_by(x: IntoColumns, y: IntoExpr, k: int | None = None) -> Call:
    """Return the value of one column in the frame's row where another column is smallest.

    Parameters
    ----------
    x
        A column of any type.
    y
        A column of any type that has an order; rows in which it is null are ignored. If several rows have
        the smallest value, the last of them counts, as in Spark.
    k
        Return a list instead, of the values where the other column is smallest: the smallest first, ties in row order.

    Returns
    -------
    Call
        The type of x, or a list of it with k; null for a frame without values of y.

    Raises
    ------
    SpecError
        When the plan is made, if k is not between 1 and 100000.

    Notes
    -----
    O(1) amortised per row over moving frames, by a monotonic deque; O(log n) with EXCLUDE or bounds per row, and
    O(k log n) with k.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "drink": ["tea", "cocoa", "juice"], "price": [3, 2, 4]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, d=wr.min_by("drink", "price").over(w))["d"].to_pylist()
    ['tea', 'cocoa', 'cocoa']
    >>> wr.with_columns(table, d=wr.min_by("drink", "price", 2).over(wr.window()))["d"].to_pylist()[0]
    ['cocoa', 'tea']
    """
    return call("min_by", x, y) if k is None else call("min_by", x, y, k)


@short_traceback
def arg_min(x: IntoColumns, y: IntoExpr, k: int | None = None) -> Call:
    """Return the value of one column where another is smallest: another name of :func:`min_by`.

    Parameters
    ----------
    x
        A column of any type.
    y
        A column of any type that has an order.
    k
        How many values to give, as a list.

    Returns
    -------
    Call
        See :func:`min_by`.
    """
    return call("arg_min", x, y) if k is None else call("arg_min", x, y, k)


@short_traceback
def max_by(x: IntoColumns, y: IntoExpr, k: int | None = None) -> Call:
    """Return the value of one column in the frame's row where another column is largest.

    Parameters
    ----------
    x
        A column of any type.
    y
        A column of any type that has an order; rows in which it is null are ignored. If several rows have
        the largest value, the last of them counts, as in Spark.
    k
        Return a list instead, of the values where the other column is largest: the largest first, ties in row order.

    Returns
    -------
    Call
        The type of x, or a list of it with k; null for a frame without values of y.

    Raises
    ------
    SpecError
        When the plan is made, if k is not between 1 and 100000.

    Notes
    -----
    O(1) amortised per row over moving frames, by a monotonic deque; O(log n) with EXCLUDE or bounds per row, and
    O(k log n) with k.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "drink": ["tea", "cocoa", "juice"], "price": [3, 2, 4]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, d=wr.max_by("drink", "price").over(w))["d"].to_pylist()
    ['tea', 'tea', 'juice']
    >>> wr.with_columns(table, d=wr.max_by("drink", "price", 2).over(wr.window()))["d"].to_pylist()[0]
    ['juice', 'tea']
    """
    return call("max_by", x, y) if k is None else call("max_by", x, y, k)


@short_traceback
def arg_max(x: IntoColumns, y: IntoExpr, k: int | None = None) -> Call:
    """Return the value of one column where another is largest: another name of :func:`max_by`.

    Parameters
    ----------
    x
        A column of any type.
    y
        A column of any type that has an order.
    k
        How many values to give, as a list.

    Returns
    -------
    Call
        See :func:`max_by`.
    """
    return call("arg_max", x, y) if k is None else call("arg_max", x, y, k)
