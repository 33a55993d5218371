"""The window functions: one Python function per SQL function, each giving an immutable :class:`windrow.call.Call`.

An argument that is a string is a column's name. Other values go through ``wr.lit(value)``, SQL text through
``wr.expr("a * b")``, and an expression object of the host (a ``polars.Expr``, a PySpark ``Column``) stands for itself.
Arguments are checked against their types when the plan is made, before any row is read.
"""

from __future__ import annotations

from typing import Any

from .call import Call
from .exceptions import SpecError
from .expr import Column, Literal, as_expr

__all__ = [
    "any",
    "any_value",
    "avg",
    "bool_and",
    "bool_or",
    "count",
    "cume_dist",
    "dense_rank",
    "every",
    "first",
    "first_value",
    "lag",
    "last",
    "last_value",
    "lead",
    "max",
    "mean",
    "min",
    "nth_value",
    "ntile",
    "percent_rank",
    "rank",
    "row_number",
    "some",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
]


def _call(function: str, *args: Any) -> Call:
    return Call(function, tuple(as_expr(a, f"{function}()") for a in args))


# ---------------------------------------------------------------------------------------------------------- aggregates


def count(*columns: Any) -> Call:
    """Count the frame's rows, or those in which every column given is not null.

    Parameters
    ----------
    *columns
        None, or ``"*"``, to count rows; else columns of any type.

    Returns
    -------
    Call
        A bigint, never null; 0 for an empty frame.

    Notes
    -----
    O(1) per row over frames of fixed bounds, by difference of prefix counts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"k": ["a", "a", "b"], "x": [1, None, 3]})
    >>> w = wr.window("k")
    >>> wr.with_columns(table, rows=wr.count().over(w), known=wr.count("x").over(w)).select(["rows", "known"]).to_pydict()
    {'rows': [2, 2, 1], 'known': [1, 1, 1]}
    """
    if len(columns) == 1 and isinstance(columns[0], str) and columns[0] == "*":
        columns = ()
    return _call("count", *columns)


def sum(x: Any) -> Call:
    """Add up the frame's values; nulls are passed over.

    Parameters
    ----------
    x
        A numeric column: integers give bigint, floats double, decimal(p, s) gives decimal(p + 10, s); intervals and
        durations give their own type.

    Returns
    -------
    Call
        Null for a frame without values.

    Raises
    ------
    ArithmeticOverflowError
        While computing, if one frame's own sum does not fit; with ``ansi=False`` as Spark does without ANSI.

    Notes
    -----
    Integers and decimals cost O(1) per row, exactly. Floats are never subtracted: a frame's result depends on that
    frame's rows alone, NaN and infinities do not outlive the frame, and sums are compensated; O(1) amortised per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3, 4], "x": [1, 2, 3, 4]})
    >>> w = wr.window(order_by="id", rows=(-1, 1))
    >>> wr.with_columns(table, s=wr.sum("x").over(w))["s"].to_pylist()
    [3, 6, 9, 7]
    """
    return _call("sum", x)


def avg(x: Any) -> Call:
    """Average the frame's values; nulls are passed over.

    Parameters
    ----------
    x
        A numeric column: integers and floats give double, decimal(p, s) gives decimal(p + 4, s + 4).

    Returns
    -------
    Call
        Null for a frame without values.

    Notes
    -----
    Costs what :func:`sum` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, None]})
    >>> wr.with_columns(table, m=wr.avg("x").over(wr.window()))["m"].to_pylist()
    [1.5, 1.5, 1.5]
    """
    return _call("avg", x)


def mean(x: Any) -> Call:
    """Average the frame's values: another name of :func:`avg`.

    Parameters
    ----------
    x
        A numeric column.

    Returns
    -------
    Call
        See :func:`avg`.
    """
    return _call("mean", x)


def min(x: Any) -> Call:
    """Find the frame's smallest value; nulls are passed over.

    Parameters
    ----------
    x
        A column of any type that has an order. Text is ordered by its bytes, NaN is the greatest number.

    Returns
    -------
    Call
        The column's own type; null for a frame without values.

    Notes
    -----
    O(1) amortised per row over moving frames, by a monotonic deque; O(log n) with EXCLUDE or bounds per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [5, 1, 3]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, m=wr.min("x").over(w))["m"].to_pylist()
    [5, 1, 1]
    """
    return _call("min", x)


def max(x: Any) -> Call:
    """Find the frame's greatest value; nulls are passed over.

    Parameters
    ----------
    x
        A column of any type that has an order. Text is ordered by its bytes, NaN is the greatest number.

    Returns
    -------
    Call
        The column's own type; null for a frame without values.

    Notes
    -----
    O(1) amortised per row over moving frames, by a monotonic deque; O(log n) with EXCLUDE or bounds per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [5, 1, 3]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, m=wr.max("x").over(w))["m"].to_pylist()
    [5, 5, 3]
    """
    return _call("max", x)


def var_pop(x: Any) -> Call:
    """Give the variance of the frame's values, taken as the whole population.

    Parameters
    ----------
    x
        A numeric column.

    Returns
    -------
    Call
        A double; null for a frame without values, 0.0 for one value.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks of merged moments; nothing is subtracted out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 3]})
    >>> wr.with_columns(table, v=wr.var_pop("x").over(wr.window()))["v"].to_pylist()
    [1.0, 1.0]
    """
    return _call("var_pop", x)


def var_samp(x: Any) -> Call:
    """Give the variance of the frame's values, taken as a sample.

    Parameters
    ----------
    x
        A numeric column.

    Returns
    -------
    Call
        A double; null for fewer than two values, as in Spark.

    Notes
    -----
    Costs what :func:`var_pop` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 3]})
    >>> wr.with_columns(table, v=wr.var_samp("x").over(wr.window()))["v"].to_pylist()
    [2.0, 2.0]
    """
    return _call("var_samp", x)


def variance(x: Any) -> Call:
    """Give the sample variance: another name of :func:`var_samp`.

    Parameters
    ----------
    x
        A numeric column.

    Returns
    -------
    Call
        See :func:`var_samp`.
    """
    return _call("variance", x)


def stddev_pop(x: Any) -> Call:
    """Give the standard deviation of the frame's values, taken as the whole population.

    Parameters
    ----------
    x
        A numeric column.

    Returns
    -------
    Call
        A double; null for a frame without values, 0.0 for one value.

    Notes
    -----
    Costs what :func:`var_pop` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 5]})
    >>> wr.with_columns(table, s=wr.stddev_pop("x").over(wr.window()))["s"].to_pylist()
    [2.0, 2.0]
    """
    return _call("stddev_pop", x)


def stddev_samp(x: Any) -> Call:
    """Give the standard deviation of the frame's values, taken as a sample.

    Parameters
    ----------
    x
        A numeric column.

    Returns
    -------
    Call
        A double; null for fewer than two values, as in Spark.

    Notes
    -----
    Costs what :func:`var_pop` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 3, 5]})
    >>> wr.with_columns(table, s=wr.stddev_samp("x").over(wr.window()))["s"].to_pylist()
    [2.0, 2.0, 2.0]
    """
    return _call("stddev_samp", x)


def stddev(x: Any) -> Call:
    """Give the sample standard deviation: another name of :func:`stddev_samp`.

    Parameters
    ----------
    x
        A numeric column.

    Returns
    -------
    Call
        See :func:`stddev_samp`.
    """
    return _call("stddev", x)


def std(x: Any) -> Call:
    """Give the sample standard deviation: another name of :func:`stddev_samp`.

    Parameters
    ----------
    x
        A numeric column.

    Returns
    -------
    Call
        See :func:`stddev_samp`.
    """
    return _call("std", x)


def bool_and(x: Any) -> Call:
    """Whether all of the frame's values are true; nulls are passed over.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        A boolean; null for a frame without values.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "ok": [True, False, True]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, a=wr.bool_and("ok").over(w))["a"].to_pylist()
    [True, False, False]
    """
    return _call("bool_and", x)


def every(x: Any) -> Call:
    """Whether all of the frame's values are true: another name of :func:`bool_and`.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        See :func:`bool_and`.
    """
    return _call("every", x)


def bool_or(x: Any) -> Call:
    """Whether any of the frame's values is true; nulls are passed over.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        A boolean; null for a frame without values.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "ok": [True, False, False]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, a=wr.bool_or("ok").over(w))["a"].to_pylist()
    [True, True, False]
    """
    return _call("bool_or", x)


def some(x: Any) -> Call:
    """Whether any of the frame's values is true: another name of :func:`bool_or`.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        See :func:`bool_or`.
    """
    return _call("some", x)


def any(x: Any) -> Call:
    """Whether any of the frame's values is true: another name of :func:`bool_or`.

    Parameters
    ----------
    x
        A boolean column.

    Returns
    -------
    Call
        See :func:`bool_or`.
    """
    return _call("any", x)


# ------------------------------------------------------------------------------------------------------ value functions


def first_value(x: Any) -> Call:
    """Give the frame's first value, nulls included; with ``.ignore_nulls()`` its first value that is not null.

    Parameters
    ----------
    x
        A column of any type.

    Returns
    -------
    Call
        The column's own type; null for an empty frame.

    Notes
    -----
    O(1) per row: row arithmetic, and the validity bitmap with IGNORE NULLS.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [None, 2, 3]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, f=wr.first_value("x").over(w))["f"].to_pylist()
    [None, None, 2]
    """
    return _call("first_value", x)


def first(x: Any) -> Call:
    """Give the frame's first value: another name of :func:`first_value`.

    Parameters
    ----------
    x
        A column of any type.

    Returns
    -------
    Call
        See :func:`first_value`.
    """
    return _call("first", x)


def last_value(x: Any) -> Call:
    """Give the frame's last value, nulls included; with ``.ignore_nulls()`` its last value that is not null.

    Over a window with an order and no frame, the frame ends at the current row's last tie, so this gives that tie's
    value and not the partition's last: say ``rows=(None, None)`` or ``rows=(0, None)`` for the latter.

    Parameters
    ----------
    x
        A column of any type.

    Returns
    -------
    Call
        The column's own type; null for an empty frame.

    Notes
    -----
    O(1) per row: row arithmetic, and the validity bitmap with IGNORE NULLS.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [1, 2, None]})
    >>> known = wr.last_value("x").ignore_nulls().over(wr.window(order_by="id"))
    >>> wr.with_columns(table, f=known)["f"].to_pylist()
    [1, 2, 2]
    """
    return _call("last_value", x)


def last(x: Any) -> Call:
    """Give the frame's last value: another name of :func:`last_value`.

    Parameters
    ----------
    x
        A column of any type.

    Returns
    -------
    Call
        See :func:`last_value`.
    """
    return _call("last", x)


def any_value(x: Any) -> Call:
    """Give some value of the frame: its first one, so that the answer never varies.

    Parameters
    ----------
    x
        A column of any type.

    Returns
    -------
    Call
        The column's own type; null for an empty frame.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"k": [1, 1], "x": ["a", "b"]})
    >>> wr.with_columns(table, f=wr.any_value("x").over(wr.window("k")))["f"].to_pylist()
    ['a', 'a']
    """
    return _call("any_value", x)


def nth_value(x: Any, n: Any) -> Call:
    """Give the frame's n-th value, nulls included; with ``.ignore_nulls()`` its n-th value that is not null.

    Parameters
    ----------
    x
        A column of any type.
    n
        Which value, from 1.

    Returns
    -------
    Call
        The column's own type; null where the frame has fewer values.

    Raises
    ------
    SpecError
        When the plan is made, if n is less than 1.

    Notes
    -----
    O(1) per row: row arithmetic, and the validity bitmap with IGNORE NULLS.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [7, 8, 9]})
    >>> second = wr.nth_value("x", 2).over(wr.window(order_by="id"))
    >>> wr.with_columns(table, s=second)["s"].to_pylist()
    [None, 8, 8]
    """
    return _call("nth_value", x, n)


def lag(x: Any, offset: Any = 1, default: Any = None) -> Call:
    """Give the value of the row that lies ``offset`` rows before the current one in the partition.

    Parameters
    ----------
    x
        A column of any type.
    offset
        How many rows before; negative is after, as :func:`lead`. With ``.ignore_nulls()`` only rows count in which x
        is not null.
    default
        What to give where there is no such row: a number, ``wr.lit("text")``, or a column, whose value is taken at the
        current row. A string is a column's name, as everywhere.

    Returns
    -------
    Call
        The column's own type.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"day": [1, 2, 3], "x": [10, 20, 40]})
    >>> w = wr.window(order_by="day")
    >>> wr.with_columns(table, before=wr.lag("x").over(w), after=wr.lag("x", -1, 0).over(w)).to_pydict()
    {'day': [1, 2, 3], 'x': [10, 20, 40], 'before': [None, 10, 20], 'after': [20, 40, 0]}
    """
    return _offset_call("lag", x, offset, default)


def lead(x: Any, offset: Any = 1, default: Any = None) -> Call:
    """Give the value of the row that lies ``offset`` rows after the current one in the partition.

    Parameters
    ----------
    x
        A column of any type.
    offset
        How many rows after; negative is before, as :func:`lag`. With ``.ignore_nulls()`` only rows count in which x is
        not null.
    default
        What to give where there is no such row: a number, ``wr.lit("text")``, or a column, whose value is taken at the
        current row. A string is a column's name, as everywhere.

    Returns
    -------
    Call
        The column's own type.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"day": [1, 2, 3], "x": [10, 20, 40]})
    >>> w = wr.window(order_by="day")
    >>> wr.with_columns(table, after=wr.lead("x", 2).over(w))["after"].to_pylist()
    [40, None, None]
    """
    return _offset_call("lead", x, offset, default)


def _offset_call(function: str, x: Any, offset: Any, default: Any) -> Call:
    if isinstance(offset, str):
        offset = Column(offset)
    given = as_expr(default, f"{function}()'s default")
    if isinstance(given, Literal) and given.value is None:
        return _call(function, x) if offset == 1 and not isinstance(offset, bool) else _call(function, x, offset)
    return _call(function, x, offset, given)


# --------------------------------------------------------------------------------------------------------------- ranking


def row_number() -> Call:
    """Number the partition's rows from 1 in the window's order; ties keep the order they came in.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [30, 10, 20]})
    >>> wr.with_columns(table, n=wr.row_number().over(wr.window(order_by="x")))["n"].to_pylist()
    [3, 1, 2]
    """
    return Call("row_number")


def rank() -> Call:
    """Rank the partition's rows in the window's order; ties share a rank, and the next rank skips as many.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 10]})
    >>> wr.with_columns(table, r=wr.rank().over(wr.window(order_by="x")))["r"].to_pylist()
    [1, 3, 1]
    """
    return Call("rank")


def dense_rank() -> Call:
    """Rank the partition's rows in the window's order; ties share a rank, and no rank is skipped.

    Returns
    -------
    Call
        An int, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 10]})
    >>> wr.with_columns(table, r=wr.dense_rank().over(wr.window(order_by="x")))["r"].to_pylist()
    [1, 2, 1]
    """
    return Call("dense_rank")


def percent_rank() -> Call:
    """Give each row's rank as a fraction of the partition: ``(rank - 1) / (rows - 1)``, and 0.0 for a lone row.

    Returns
    -------
    Call
        A double, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order.

    Notes
    -----
    O(1) per row; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 30]})
    >>> wr.with_columns(table, r=wr.percent_rank().over(wr.window(order_by="x")))["r"].to_pylist()
    [0.0, 0.5, 1.0]
    """
    return Call("percent_rank")


def cume_dist() -> Call:
    """Give the fraction of the partition's rows that come no later than the row and its ties.

    Returns
    -------
    Call
        A double, never null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order.

    Notes
    -----
    O(1) per row; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 20, 30]})
    >>> wr.with_columns(table, r=wr.cume_dist().over(wr.window(order_by="x")))["r"].to_pylist()
    [0.25, 0.75, 0.75, 1.0]
    """
    return Call("cume_dist")


def ntile(n: Any = 1) -> Call:
    """Deal the partition's rows, in order, into n buckets whose sizes differ by one at most, and number these from 1.

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
        When the plan is made, if n is less than 1 or the window has no order.

    Notes
    -----
    O(1) per row; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, 3, 4, 5]})
    >>> wr.with_columns(table, b=wr.ntile(2).over(wr.window(order_by="x")))["b"].to_pylist()
    [1, 1, 1, 2, 2]
    """
    if isinstance(n, str):
        raise SpecError(f"ntile() takes a number of buckets, not {n!r}")
    return _call("ntile", n)
