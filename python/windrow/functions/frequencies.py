"""Frequencies: how often the frame's values occur."""

from __future__ import annotations

from .._model.calls import Call, call, flag
from .._model.expressions import IntoExpr
from ..exceptions import short_traceback

__all__ = ["approx_count_distinct", "entropy", "histogram_numeric", "mode"]


@short_traceback
def mode(x: IntoExpr, deterministic: bool = False) -> Call:
    """Give the frame's most frequent value; nulls are passed over.

    ``.order_by(wr.desc(x))`` takes the greatest of several, as SQL's ``mode() WITHIN GROUP (ORDER BY x DESC)``.

    Parameters
    ----------
    x
        A column of any type that has an order.
    deterministic
        As in Spark; the answer is the same either way: of several values the least, where Spark's own choice is
        arbitrary unless asked for it.

    Returns
    -------
    Call
        The column's own type; null for a frame without values.

    Notes
    -----
    O(log n) amortised per row over moving frames: counts per value in a tree; over frames that jump, bounds per row
    among them, O(sqrt n).

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3, 4], "x": ["b", "a", "b", "a"]})
    >>> w = wr.window(order_by="id", rows=(-2, 0))
    >>> wr.with_columns(table, m=wr.mode("x").over(w))["m"].to_pylist()
    ['b', 'a', 'b', 'a']
    """
    return call("mode", x, True) if flag(deterministic, "mode(): deterministic") else call("mode", x)


@short_traceback
def entropy(x: IntoExpr) -> Call:
    """Give Shannon's entropy of how often the frame's values occur, in bits; nulls are passed over.

    Parameters
    ----------
    x
        A column of any type that has an order.

    Returns
    -------
    Call
        A double; null for a frame without values.

    Notes
    -----
    O(log n) amortised per row over moving frames: nothing is subtracted out of a running float.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": ["a", "b", "a", "b"]})
    >>> wr.with_columns(table, e=wr.entropy("x").over(wr.window()))["e"].to_pylist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return call("entropy", x)


@short_traceback
def approx_count_distinct(x: IntoExpr, rsd: float | None = None) -> Call:
    """Count the frame's different values; the answer is exact.

    Parameters
    ----------
    x
        A column of any type that has an order.
    rsd
        The error that Spark may make, taken as Spark takes it; windrow makes none.

    Returns
    -------
    Call
        A bigint, never null; nulls are passed over.

    Raises
    ------
    SpecError
        When the plan is made, if rsd is out of Spark's range.

    Notes
    -----
    Costs what :func:`count_distinct` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": ["a", "b", "a", None]})
    >>> wr.with_columns(table, n=wr.approx_count_distinct("x").over(wr.window()))["n"].to_pylist()
    [2, 2, 2, 2]
    """
    return call("approx_count_distinct", x) if rsd is None else call("approx_count_distinct", x, rsd)


@short_traceback
def histogram_numeric(x: IntoExpr, bins: int) -> Call:
    """Gather the frame's values into bins of near values, each with its centre and its height; nulls are passed over.

    Parameters
    ----------
    x
        A column of numbers, durations, dates or moments.
    bins
        How many bins at most, from 2.

    Returns
    -------
    Call
        A list of structs of x, a centre of the column's own type, and y, a height (a double); null for a frame without
        values.

    Raises
    ------
    SpecError
        When the plan is made, if bins is less than 2.

    Notes
    -----
    Exact while a frame has no more different values than bins; beyond that, Ben-Haim's and Tom-Tov's streaming
    histogram, as Spark's: O(bins) amortised per row over moving frames.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 1, 2]})
    >>> wr.with_columns(table, h=wr.histogram_numeric("x", 5).over(wr.window()))["h"].to_pylist()[0]
    [{'x': 1, 'y': 2.0}, {'x': 2, 'y': 1.0}]
    """
    return call("histogram_numeric", x, bins)
