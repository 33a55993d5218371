"""Quantiles: the median, and values at a fraction of the frame's sorted values."""

from __future__ import annotations

from collections.abc import Sequence

from .._model.calls import Call, call
from .._model.expressions import IntoColumns, IntoExpr, lit
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
def median(x: IntoColumns) -> Call:
    """Return the frame's median, the mean of the middle two if the number of values is even; nulls are ignored.

    Parameters
    ----------
    x
        A numeric column, strings that contain numbers, or a column of durations or intervals.

    Returns
    -------
    Call
        A double, or the column's own type for durations and intervals; null for a frame without values.

    Notes
    -----
    One sort, then O(1) per fraction and row that enters or leaves the frame; if bounds are columns, O(log n)
    per row and fraction, by a wavelet matrix, with two bits a row for each of its levels.
    Spark supports it over whole partitions only.

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
def percentile(x: IntoColumns, p: float | Sequence[float], frequency: IntoExpr = None) -> Call:
    """Return the value at a fraction of the frame's sorted values, interpolated; nulls are ignored.

    Parameters
    ----------
    x
        A numeric column, strings that contain numbers, or a column of durations or intervals.
    p
        A fraction from 0 to 1, or a list of fractions.
    frequency
        A column of integers: how often each value counts; values with zero or null are ignored.

    Returns
    -------
    Call
        A double, or the column's own type for durations and intervals; a list of these for several fractions. Null for
        a frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if a fraction is null or not between 0 and 1.

    Notes
    -----
    One sort, then O(1) per fraction and row that enters or leaves the frame; if bounds are columns, O(log n)
    per row and fraction, by a wavelet matrix, with two bits a row for each of its levels.
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
def percentile_cont(x: IntoColumns, p: float | Sequence[float]) -> Call:
    """Return the value at a fraction of the frame's sorted values, interpolated; nulls are ignored.

    ``.order_by(wr.desc(x))`` sorts in descending order, as SQL's ``WITHIN GROUP (ORDER BY x DESC)``.

    Parameters
    ----------
    x
        A numeric column, strings that contain numbers, or a column of durations or intervals.
    p
        A fraction from 0 to 1, or a list of fractions.

    Returns
    -------
    Call
        A double, or the column's own type for durations and intervals; a list of these for several fractions. Null for
        a frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if a fraction is null or not between 0 and 1.

    Notes
    -----
    One sort, then O(1) per fraction and row that enters or leaves the frame; if bounds are columns, O(log n)
    per row and fraction, by a wavelet matrix, with two bits a row for each of its levels.
    Spark supports it over whole partitions only.

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
def quantile_cont(x: IntoColumns, p: float | Sequence[float]) -> Call:
    """Return the value at a fraction, interpolated: DuckDB's name of :func:`percentile_cont`.

    Parameters
    ----------
    x
        A numeric column, strings that contain numbers, or a column of durations or intervals.
    p
        A fraction from 0 to 1, or a list of fractions.

    Returns
    -------
    Call
        See :func:`percentile_cont`.
    """
    return call("quantile_cont", x, lit(p))


@short_traceback
def percentile_disc(x: IntoColumns, p: float | Sequence[float]) -> Call:
    """Return the first of the frame's sorted values at or after a fraction; nulls are ignored.

    ``.order_by(wr.desc(x))`` sorts in descending order, as SQL's ``WITHIN GROUP (ORDER BY x DESC)``.

    Parameters
    ----------
    x
        A column of numbers, strings that contain numbers, durations, dates and timestamps.
    p
        A fraction from 0 to 1, or a list of fractions.

    Returns
    -------
    Call
        A double for numbers, as in Spark, else the column's own type; a list of these for several fractions; null for a
        frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if a fraction is null or not between 0 and 1.

    Notes
    -----
    One sort, then O(1) per fraction and row that enters or leaves the frame; if bounds are columns, O(log n)
    per row and fraction, by a wavelet matrix, with two bits a row for each of its levels.
    Spark supports it over whole partitions only.

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
def quantile_disc(x: IntoColumns, p: float | Sequence[float]) -> Call:
    """Return the first value at or after a fraction: DuckDB's name of :func:`percentile_disc`.

    Parameters
    ----------
    x
        A numeric column, strings that contain numbers, or a column of durations or intervals.
    p
        A fraction from 0 to 1, or a list of fractions.

    Returns
    -------
    Call
        See :func:`percentile_disc`.
    """
    return call("quantile_disc", x, lit(p))


@short_traceback
def percentile_approx(x: IntoColumns, p: float | Sequence[float], accuracy: int = 10000) -> Call:
    """Return the value at a fraction of the frame's sorted values, not interpolated; nulls are ignored.

    Parameters
    ----------
    x
        A column of numbers, durations, dates or timestamps, or strings that contain numbers.
    p
        A fraction from 0 to 1, or a list of fractions.
    accuracy
        Accepted as in Spark; the result is always exact.

    Returns
    -------
    Call
        The column's own type, or a list of it for several fractions; null for a frame without values.

    Raises
    ------
    SpecError
        When the plan is made, if a fraction is null or not between 0 and 1, or the accuracy not positive.

    Notes
    -----
    One sort, then O(1) per fraction and row that enters or leaves the frame; if bounds are columns, O(log n)
    per row and fraction, by a wavelet matrix, with two bits a row for each of its levels.

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
def approx_percentile(x: IntoColumns, p: float | Sequence[float], accuracy: int = 10000) -> Call:
    """Return the value at a fraction: another name of :func:`percentile_approx`.

    Parameters
    ----------
    x
        A column of numbers, durations, dates or timestamps.
    p
        A fraction from 0 to 1, or a list of fractions.
    accuracy
        Accepted as in Spark.

    Returns
    -------
    Call
        See :func:`percentile_approx`.
    """
    args = (x, lit(p)) if type(accuracy) is int and accuracy == 10000 else (x, lit(p), accuracy)
    return call("approx_percentile", *args)


@short_traceback
def mad(x: IntoColumns) -> Call:
    """Return the median absolute deviation, the median of the values' distances from their median; nulls are ignored.

    Parameters
    ----------
    x
        A numeric column, strings that contain numbers, or a column of durations or intervals.

    Returns
    -------
    Call
        A double, or the column's own type for durations and intervals; null for a frame without values.

    Notes
    -----
    One sort, then a few steps per row that enters or leaves the frame; if bounds are columns, O(log W)
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
