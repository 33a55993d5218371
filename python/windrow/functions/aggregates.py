"""Counts, sums, averages and products."""

from __future__ import annotations

from typing import overload

from .._model.calls import Call, call
from .._model.expressions import IntoColumns, IntoExpr
from .._model.formulas import Formula
from .._model.weights import Weights, weighted
from ..exceptions import short_traceback

__all__ = [
    "avg",
    "count",
    "count_distinct",
    "count_if",
    "geomean",
    "geometric_mean",
    "mean",
    "product",
    "sum",
    "sum_distinct",
    "try_avg",
    "try_sum",
]


@short_traceback
def count(*columns: IntoColumns) -> Call:
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


@short_traceback
def count_distinct(x: IntoColumns, *more: IntoExpr) -> Call:
    """Count the frame's distinct values: ``count(x).distinct()``, under PySpark's name.

    Parameters
    ----------
    x
        A column of any type that has an order.
    *more
        Further columns: distinct combinations are counted.

    Returns
    -------
    Call
        A bigint, never null; rows in which any of the columns is null are ignored.

    Notes
    -----
    Counts per value are kept as rows enter and leave the frame: O(1) amortised per row over moving frames.
    -0.0 and 0.0 are one value, and so are all NaNs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3, 4], "x": ["a", "b", "a", None]})
    >>> w = wr.window(order_by="id", rows=(-2, 0))
    >>> wr.with_columns(table, n=wr.count_distinct("x").over(w))["n"].to_pylist()
    [1, 2, 2, 2]
    """
    return call("count", x, *more).distinct()


@short_traceback
def count_if(x: IntoColumns) -> Call:
    """Count the frame's rows for which a condition is true; null counts as false.

    Parameters
    ----------
    x
        A boolean column, ``wr.expr("SQL")`` or an expression of the host.

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
    >>> table = pa.table({"id": [1, 2, 3], "x": [5, -1, 7]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, n=wr.count_if(wr.expr("x > 0")).over(w))["n"].to_pylist()
    [1, 1, 1]
    """
    return call("count_if", x)


@overload
def sum(x: IntoColumns, *, weights: None = None) -> Call: ...


@overload
def sum(x: IntoColumns, *, weights: Weights) -> Formula: ...


@short_traceback
def sum(x: IntoColumns, *, weights: Weights | None = None) -> Call | Formula:
    """Sum the frame's values; nulls are ignored.

    Parameters
    ----------
    x
        A numeric column: integers give bigint, floats double, decimal(p, s) gives decimal(p + 10, s); intervals and
        durations give their own type.
    weights
        The weight of each row of a ROWS frame of fixed length, from its first to its last; or ``"triang"``,
        ``"bartlett"``, ``"hann"``, ``"hamming"``, ``"blackman"`` or ``("gaussian", std)``, as scipy's windows.

    Returns
    -------
    Call, or Formula with weights
        Null for a frame without values. With weights a double, as pandas' ``rolling(win_type=...)`` gives with
        ``min_periods=1``; in a frame cut short by its partition, each row keeps the weight of its place.

    Raises
    ------
    SpecError
        If there are not as many weights as rows in a frame, or the window has no such frame.
    ArithmeticOverflowError
        While computing, if one frame's own sum does not fit; with ``ansi=False`` as Spark does without ANSI.

    Notes
    -----
    Integers and decimals cost O(1) per row, exactly. Floats are never subtracted: a frame's result depends on that
    frame's rows alone, NaN and infinities do not outlive the frame, and sums are compensated; O(1) amortised per row.
    With weights a row costs as much as its frame has rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3, 4], "x": [1, 2, 3, 4]})
    >>> w = wr.window(order_by="id", rows=(-1, 1))
    >>> wr.with_columns(table, s=wr.sum("x").over(w))["s"].to_pylist()
    [3, 6, 9, 7]
    >>> wr.with_columns(table, s=wr.sum("x", weights=[0.5, 1, 0.5]).over(w))["s"].to_pylist()
    [2.0, 4.0, 6.0, 5.5]
    """
    return call("sum", x) if weights is None else weighted("sum", x, weights, "total")


@short_traceback
def sum_distinct(x: IntoColumns) -> Call:
    """Sum the frame's distinct values: ``sum(x).distinct()``, under PySpark's name.

    Parameters
    ----------
    x
        A numeric column, as for :func:`sum`.

    Returns
    -------
    Call
        What :func:`sum` gives; null for a frame without values.

    Notes
    -----
    Counts per value are kept as rows enter and leave the frame: O(1) amortised per row for integers and decimals
    over moving frames, O(log n) for floats, which are never subtracted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"k": ["a", "a", "a"], "x": [5, 5, 2]})
    >>> wr.with_columns(table, s=wr.sum_distinct("x").over(wr.window("k")))["s"].to_pylist()
    [7, 7, 7]
    """
    return call("sum", x).distinct()


@short_traceback
def try_sum(x: IntoColumns) -> Call:
    """Sum the frame's values, with null where the sum overflows; nulls are ignored.

    Parameters
    ----------
    x
        A numeric column, as for :func:`sum`.

    Returns
    -------
    Call
        The type :func:`sum` gives; null for a frame without values, or whose sum does not fit.

    Notes
    -----
    Costs what :func:`sum` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2], "x": [2**63 - 1, 1]})
    >>> wr.with_columns(table, s=wr.try_sum("x").over(wr.window(order_by="id")))["s"].to_pylist()
    [9223372036854775807, None]
    """
    return call("try_sum", x)


@overload
def avg(x: IntoColumns, *, weights: None = None) -> Call: ...


@overload
def avg(x: IntoColumns, *, weights: Weights) -> Formula: ...


@short_traceback
def avg(x: IntoColumns, *, weights: Weights | None = None) -> Call | Formula:
    """Average the frame's values; nulls are ignored.

    Parameters
    ----------
    x
        A numeric column: integers and floats give double, decimal(p, s) gives decimal(p + 4, s + 4).
    weights
        As for :func:`sum`.

    Returns
    -------
    Call, or Formula with weights
        Null for a frame without values. With weights a double, the weighted sum by the sum of the weights of the rows
        that have a value; null where that is 0.

    Raises
    ------
    SpecError
        As for :func:`sum`.

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
    return call("avg", x) if weights is None else weighted("avg", x, weights, "average")


@overload
def mean(x: IntoColumns, *, weights: None = None) -> Call: ...


@overload
def mean(x: IntoColumns, *, weights: Weights) -> Formula: ...


@short_traceback
def mean(x: IntoColumns, *, weights: Weights | None = None) -> Call | Formula:
    """Average the frame's values: another name of :func:`avg`.

    Parameters
    ----------
    x
        A numeric column.
    weights
        As for :func:`sum`.

    Returns
    -------
    Call, or Formula with weights
        See :func:`avg`.
    """
    return call("mean", x) if weights is None else weighted("mean", x, weights, "average")


@short_traceback
def try_avg(x: IntoColumns) -> Call:
    """Average the frame's values, with null where the average overflows; nulls are ignored.

    Parameters
    ----------
    x
        A numeric column, as for :func:`avg`.

    Returns
    -------
    Call
        The type :func:`avg` gives; null for a frame without values, or whose mean does not fit.

    Notes
    -----
    Costs what :func:`avg` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, None]})
    >>> wr.with_columns(table, m=wr.try_avg("x").over(wr.window()))["m"].to_pylist()
    [1.5, 1.5, 1.5]
    """
    return call("try_avg", x)


@short_traceback
def product(x: IntoColumns) -> Call:
    """Multiply the frame's values; nulls are ignored.

    Parameters
    ----------
    x
        A numeric column, or strings that contain numbers.

    Returns
    -------
    Call
        A double; null for a frame without values.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks: nothing is divided out, so a zero or an infinity leaves
    with its row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [2, 0, 4]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, p=wr.product("x").over(w))["p"].to_pylist()
    [2.0, 0.0, 0.0]
    """
    return call("product", x)


@short_traceback
def geometric_mean(x: IntoColumns) -> Call:
    """Return the geometric mean of the frame's values, the n-th root of their product; nulls are ignored.

    Parameters
    ----------
    x
        A numeric column, or strings that contain numbers.

    Returns
    -------
    Call
        A double: 0 if a value is 0, NaN if one is negative; null for a frame without values.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks. The product is kept as a mantissa and an exponent, so
    it neither overflows nor vanishes on its way.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 4, 16]})
    >>> m = wr.with_columns(table, m=wr.geometric_mean("x").over(wr.window()))["m"].to_pylist()
    >>> [round(v, 9) for v in m]
    [4.0, 4.0, 4.0]
    """
    return call("geometric_mean", x)


@short_traceback
def geomean(x: IntoColumns) -> Call:
    """Return the geometric mean: another name of :func:`geometric_mean`.

    Parameters
    ----------
    x
        A numeric column.

    Returns
    -------
    Call
        See :func:`geometric_mean`.
    """
    return call("geomean", x)
