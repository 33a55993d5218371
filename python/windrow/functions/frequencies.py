"""Functions of how often values occur: mode, entropy, distinct counts, histograms."""

from __future__ import annotations

from .._model.calls import Call, call
from .._model.checks import flag
from .._model.expressions import IntoColumns
from ..exceptions import short_traceback

__all__ = ["approx_count_distinct", "entropy", "histogram_numeric", "mode"]


@short_traceback
def mode(x: IntoColumns, deterministic: bool = False) -> Call:
    """Return the frame's most frequent value; nulls are ignored.

    ``.order_by(wr.desc(x))`` selects the largest of equally frequent values, as SQL's
    ``mode() WITHIN GROUP (ORDER BY x DESC)``.

    Parameters
    ----------
    x
        A column of any type that has an order.
    deterministic
        Accepted as in Spark, without an effect: of equally frequent values the result is always the smallest. Spark's
        choice is arbitrary unless this is True.

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
def entropy(x: IntoColumns) -> Call:
    """Return the Shannon entropy of the frequencies of the frame's values, in bits; nulls are ignored.

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
    O(log n) amortised per row over moving frames: no float is subtracted from a running sum.

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
def approx_count_distinct(x: IntoColumns, rsd: float | None = None) -> Call:
    """Count the frame's distinct values; the result is exact.

    Parameters
    ----------
    x
        A column of any type that has an order.
    rsd
        The relative error allowed to Spark. It is checked as in Spark, but windrow's result is exact.

    Returns
    -------
    Call
        A bigint, never null; nulls are ignored.

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
def histogram_numeric(x: IntoColumns, bins: int) -> Call:
    """Return a histogram of the frame's values: bins, each with its centre and its number of values; nulls are ignored.

    Parameters
    ----------
    x
        A column of numbers, durations, dates or timestamps.
    bins
        The maximum number of bins, at least 2.

    Returns
    -------
    Call
        A list of structs with the fields x, the centre (of the column's own type), and y, the number of values (a
        double); null for a frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if bins is less than 2.

    Notes
    -----
    Exact while a frame has no more distinct values than bins; beyond that, Ben-Haim's and Tom-Tov's streaming
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
