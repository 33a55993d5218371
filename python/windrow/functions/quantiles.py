"""Quantiles: the median, and values at a share of the frame's ordered values."""

from __future__ import annotations

from collections.abc import Sequence

from .._model.calls import Call, call
from .._model.expressions import IntoExpr, lit
from ..exceptions import short_traceback

__all__ = [
    "approx_percentile",
    "mad",
    "median",
    "percentile",
    "percentile_approx",
    "percentile_cont",
    "percentile_disc",
    "quantile_cont",
    "quantile_disc",
]


@short_traceback
def median(x: IntoExpr) -> Call:
    """Give the frame's middle value, between the middle two if there are two; nulls are passed over.

    Parameters
    ----------
    x
        A numeric column, text that holds numbers, or a column of durations or intervals.

    Returns
    -------
    Call
        A double, or the column's own type for durations and intervals; null for a frame without values.

    Notes
    -----
    One sort, then O(1) per share and row that enters or leaves the frame; where bounds are each row's own, O(log n)
    per row and share, by a wavelet matrix, with two bits a row for each of its levels.
    Spark knows it over whole partitions only.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3, 4], "x": [9, 1, 5, 7]})
    >>> w = wr.window(order_by="id", rows=(-2, 0))
    >>> wr.with_columns(table, m=wr.median("x").over(w))["m"].to_pylist()
    [9.0, 5.0, 5.0, 5.0]
    """
    return call("median", x)


@short_traceback
def percentile(x: IntoExpr, p: float | Sequence[float], frequency: IntoExpr = None) -> Call:
    """Give the value at a share of the way through the frame's ordered values, interpolated; nulls are passed over.

    Parameters
    ----------
    x
        A numeric column, text that holds numbers, or a column of durations or intervals.
    p
        A share from 0 to 1, or several of them in a list.
    frequency
        A column of whole numbers: how often each value counts; zero and null pass over it.

    Returns
    -------
    Call
        A double, or the column's own type for durations and intervals; a list of these for several shares; null for a
        frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if a share is null or not between 0 and 1.

    Notes
    -----
    One sort, then O(1) per share and row that enters or leaves the frame; where bounds are each row's own, O(log n)
    per row and share, by a wavelet matrix, with two bits a row for each of its levels.
    With a frequency, O(W log n) for a frame of W rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, p=wr.percentile("x", [0.25, 0.5]).over(wr.window()))["p"].to_pylist()[0]
    [1.75, 2.5]
    """
    args = (x, lit(p)) if frequency is None else (x, lit(p), frequency)
    return call("percentile", *args)


@short_traceback
def percentile_cont(x: IntoExpr, p: float | Sequence[float]) -> Call:
    """Give the value at a share of the way through the frame's ordered values, interpolated; nulls are passed over.

    ``.order_by(wr.desc(x))`` counts from the greatest value down, as SQL's ``WITHIN GROUP (ORDER BY x DESC)``.

    Parameters
    ----------
    x
        A numeric column, text that holds numbers, or a column of durations or intervals.
    p
        A share from 0 to 1, or several of them in a list.

    Returns
    -------
    Call
        A double, or the column's own type for durations and intervals; a list of these for several shares; null for a
        frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if a share is null or not between 0 and 1.

    Notes
    -----
    One sort, then O(1) per share and row that enters or leaves the frame; where bounds are each row's own, O(log n)
    per row and share, by a wavelet matrix, with two bits a row for each of its levels.
    Spark knows it over whole partitions only.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, 3, 4]})
    >>> p = wr.percentile_cont("x", 0.75)
    >>> wr.with_columns(table, up=p.over(wr.window()))["up"].to_pylist()[0]
    3.25
    >>> wr.with_columns(table, down=p.order_by(wr.desc("x")).over(wr.window()))["down"].to_pylist()[0]
    1.75
    """
    return call("percentile_cont", x, lit(p))


@short_traceback
def quantile_cont(x: IntoExpr, p: float | Sequence[float]) -> Call:
    """Give the value at a share, interpolated: DuckDB's name of :func:`percentile_cont`.

    Parameters
    ----------
    x
        A numeric column, text that holds numbers, or a column of durations or intervals.
    p
        A share from 0 to 1, or several of them in a list.

    Returns
    -------
    Call
        See :func:`percentile_cont`.
    """
    return call("quantile_cont", x, lit(p))


@short_traceback
def percentile_disc(x: IntoExpr, p: float | Sequence[float]) -> Call:
    """Give the first of the frame's ordered values that lies at or beyond a share of the way; nulls are passed over.

    ``.order_by(wr.desc(x))`` counts from the greatest value down, as SQL's ``WITHIN GROUP (ORDER BY x DESC)``.

    Parameters
    ----------
    x
        A column of any type that has a share: numbers, text that holds numbers, durations, dates and moments.
    p
        A share from 0 to 1, or several of them in a list.

    Returns
    -------
    Call
        A double for numbers, as in Spark, else the column's own type; a list of these for several shares; null for a
        frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if a share is null or not between 0 and 1.

    Notes
    -----
    One sort, then O(1) per share and row that enters or leaves the frame; where bounds are each row's own, O(log n)
    per row and share, by a wavelet matrix, with two bits a row for each of its levels.
    Spark knows it over whole partitions only.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, p=wr.percentile_disc("x", 0.6).over(wr.window()))["p"].to_pylist()[0]
    3.0
    """
    return call("percentile_disc", x, lit(p))


@short_traceback
def quantile_disc(x: IntoExpr, p: float | Sequence[float]) -> Call:
    """Give the first value at or beyond a share: DuckDB's name of :func:`percentile_disc`.

    Parameters
    ----------
    x
        A numeric column, text that holds numbers, or a column of durations or intervals.
    p
        A share from 0 to 1, or several of them in a list.

    Returns
    -------
    Call
        See :func:`percentile_disc`.
    """
    return call("quantile_disc", x, lit(p))


@short_traceback
def percentile_approx(x: IntoExpr, p: float | Sequence[float], accuracy: int = 10000) -> Call:
    """Give the value at a share of the frame's ordered values, of their own type; nulls are passed over.

    Parameters
    ----------
    x
        A column of numbers, durations, dates or moments, or text that holds numbers.
    p
        A share from 0 to 1, or several of them in a list.
    accuracy
        Taken as Spark takes it; the answer is exact whatever it is.

    Returns
    -------
    Call
        The column's own type, or a list of it for several shares; null for a frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if a share is null or not between 0 and 1, or the accuracy not positive.

    Notes
    -----
    One sort, then O(1) per share and row that enters or leaves the frame; where bounds are each row's own, O(log n)
    per row and share, by a wavelet matrix, with two bits a row for each of its levels.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [10, 20, 30, 40]})
    >>> wr.with_columns(table, p=wr.percentile_approx("x", 0.5).over(wr.window()))["p"].to_pylist()[0]
    20
    """
    args = (x, lit(p)) if type(accuracy) is int and accuracy == 10000 else (x, lit(p), accuracy)
    return call("percentile_approx", *args)


@short_traceback
def approx_percentile(x: IntoExpr, p: float | Sequence[float], accuracy: int = 10000) -> Call:
    """Give the value at a share: another name of :func:`percentile_approx`.

    Parameters
    ----------
    x
        A column of numbers, durations, dates or moments.
    p
        A share from 0 to 1, or several of them in a list.
    accuracy
        Taken as Spark takes it.

    Returns
    -------
    Call
        See :func:`percentile_approx`.
    """
    args = (x, lit(p)) if type(accuracy) is int and accuracy == 10000 else (x, lit(p), accuracy)
    return call("approx_percentile", *args)


@short_traceback
def mad(x: IntoExpr) -> Call:
    """Give the median distance of the frame's values from their median; nulls are passed over.

    Parameters
    ----------
    x
        A numeric column, text that holds numbers, or a column of durations or intervals.

    Returns
    -------
    Call
        A double, or the column's own type for durations and intervals; null for a frame without values.

    Notes
    -----
    One sort, then a few steps per row that enters or leaves the frame; where bounds are each row's own, O(log W)
    steps of O(log n) per row for frames of W rows, by a wavelet matrix.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, 3, 100]})
    >>> wr.with_columns(table, m=wr.mad("x").over(wr.window()))["m"].to_pylist()[0]
    1.0
    """
    return call("mad", x)
