"""Aggregates: count, sums, averages, extremes, moments and booleans, each over every frame."""

from __future__ import annotations

from typing import Any

from ..call import Call, call

__all__ = [
    "any",
    "avg",
    "bool_and",
    "bool_or",
    "count",
    "every",
    "max",
    "mean",
    "min",
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
    >>> wr.select(table, rows=wr.count().over(w), known=wr.count("x").over(w)).to_pydict()
    {'rows': [2, 2, 1], 'known': [1, 1, 1]}
    """
    if len(columns) == 1 and isinstance(columns[0], str) and columns[0] == "*":
        columns = ()
    return call("count", *columns)


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
    return call("sum", x)


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
    return call("avg", x)


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
    return call("mean", x)


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
    return call("min", x)


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
    return call("max", x)


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
    return call("var_pop", x)


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
    return call("var_samp", x)


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
    return call("variance", x)


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
    return call("stddev_pop", x)


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
    return call("stddev_samp", x)


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
    return call("stddev", x)


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
    return call("std", x)


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
    return call("bool_and", x)


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
    return call("every", x)


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
    return call("bool_or", x)


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
    return call("some", x)


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
    return call("any", x)
