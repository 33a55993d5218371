"""Variances, standard deviations, skewness, kurtosis, covariances and the correlation."""

from __future__ import annotations

from typing import overload

from .._model.calls import Call, call
from .._model.expressions import IntoColumns, IntoExpr
from .._model.formulas import Formula
from .._model.weights import Weights, weighted
from ..exceptions import short_traceback

__all__ = [
    "corr",
    "covar_pop",
    "covar_samp",
    "kurtosis",
    "skewness",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "var_pop",
    "var_samp",
    "variance",
]


@short_traceback
def var_pop(x: IntoColumns) -> Call:
    """Return the population variance of the frame's values.

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
    O(1) amortised per row over moving frames, by two stacks of merged moments; values are never subtracted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 3]})
    >>> wr.with_columns(table, v=wr.var_pop("x").over(wr.window()))["v"].to_pylist()
    [1.0, 1.0]
    """
    return call("var_pop", x)


@short_traceback
def var_samp(x: IntoColumns) -> Call:
    """Return the sample variance of the frame's values.

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


@short_traceback
def variance(x: IntoColumns) -> Call:
    """Return the sample variance: another name of :func:`var_samp`.

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


@short_traceback
def stddev_pop(x: IntoColumns) -> Call:
    """Return the population standard deviation of the frame's values.

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


@short_traceback
def stddev_samp(x: IntoColumns) -> Call:
    """Return the sample standard deviation of the frame's values.

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


@overload
def stddev(x: IntoColumns, *, weights: None = None) -> Call: ...


@overload
def stddev(x: IntoColumns, *, weights: Weights) -> Formula: ...


@short_traceback
def stddev(x: IntoColumns, *, weights: Weights | None = None) -> Call | Formula:
    """Return the sample standard deviation: another name of :func:`stddev_samp`.

    Parameters
    ----------
    x
        A numeric column.
    weights
        As for :func:`sum`; none may be negative.

    Returns
    -------
    Call, or Formula with weights
        See :func:`stddev_samp`. With weights a double, also null where the sum of the weights of the rows that have a
        value is 0: the root of the weighted mean of the squared distances from the weighted mean, times n / (n - 1) for
        n rows that have a value.

    Raises
    ------
    SpecError
        As for :func:`sum`, with weights.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [1, 3, 9]})
    >>> w = wr.window(order_by="t", rows=2)
    >>> wr.with_columns(table, s=wr.stddev("x", weights=[1, 3]).over(w))["s"].to_pylist()
    [None, 1.224744871391589, 3.6742346141747673]
    """
    return call("stddev", x) if weights is None else weighted("stddev", x, weights, "deviation")


@overload
def std(x: IntoColumns, *, weights: None = None) -> Call: ...


@overload
def std(x: IntoColumns, *, weights: Weights) -> Formula: ...


@short_traceback
def std(x: IntoColumns, *, weights: Weights | None = None) -> Call | Formula:
    """Return the sample standard deviation: another name of :func:`stddev_samp`.

    Parameters
    ----------
    x
        A numeric column.
    weights
        As for :func:`stddev`.

    Returns
    -------
    Call, or Formula with weights
        See :func:`stddev`.
    """
    return call("std", x) if weights is None else weighted("std", x, weights, "deviation")


@short_traceback
def skewness(x: IntoColumns) -> Call:
    """Return the population skewness of the frame's values, not corrected for bias.

    Parameters
    ----------
    x
        A numeric column, or strings that contain numbers.

    Returns
    -------
    Call
        A double; null for a frame without values, or whose values are all equal.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks of merged moments; values are never subtracted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 1, 1, 5]})
    >>> s = wr.with_columns(table, s=wr.skewness("x").over(wr.window()))["s"].to_pylist()
    >>> round(s[0], 6)
    1.154701
    """
    return call("skewness", x)


@short_traceback
def kurtosis(x: IntoColumns) -> Call:
    """Return the population excess kurtosis of the frame's values, not corrected for bias: 0 for a normal distribution.

    Parameters
    ----------
    x
        A numeric column, or strings that contain numbers.

    Returns
    -------
    Call
        A double; null for a frame without values, or whose values are all equal.

    Notes
    -----
    Costs what :func:`skewness` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, 1, 2]})
    >>> wr.with_columns(table, k=wr.kurtosis("x").over(wr.window()))["k"].to_pylist()
    [-2.0, -2.0, -2.0, -2.0]
    """
    return call("kurtosis", x)


@short_traceback
def covar_pop(x: IntoColumns, y: IntoExpr) -> Call:
    """Return the population covariance of two columns over the frame.

    Parameters
    ----------
    x
        A numeric column.
    y
        Another numeric column; rows in which either is null are ignored.

    Returns
    -------
    Call
        A double; null for a frame without pairs, 0.0 for one pair.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks of merged moments; values are never subtracted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 3], "y": [10, 30]})
    >>> wr.with_columns(table, c=wr.covar_pop("x", "y").over(wr.window()))["c"].to_pylist()
    [10.0, 10.0]
    """
    return call("covar_pop", x, y)


@short_traceback
def covar_samp(x: IntoColumns, y: IntoExpr) -> Call:
    """Return the sample covariance of two columns over the frame.

    Parameters
    ----------
    x
        A numeric column.
    y
        Another numeric column; rows in which either is null are ignored.

    Returns
    -------
    Call
        A double; null for fewer than two pairs.

    Notes
    -----
    Costs what :func:`covar_pop` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 3], "y": [10, 30]})
    >>> wr.with_columns(table, c=wr.covar_samp("x", "y").over(wr.window()))["c"].to_pylist()
    [20.0, 20.0]
    """
    return call("covar_samp", x, y)


@short_traceback
def corr(x: IntoColumns, y: IntoExpr) -> Call:
    """Return the correlation of two columns over the frame (Pearson's), between -1 and 1.

    Parameters
    ----------
    x
        A numeric column.
    y
        Another numeric column; rows in which either is null are ignored.

    Returns
    -------
    Call
        A double; null for fewer than two pairs, or where one of the columns does not vary.

    Notes
    -----
    Costs what :func:`covar_pop` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [1, 2, 3], "y": [30, 20, 10]})
    >>> wr.with_columns(table, c=wr.corr("x", "y").over(wr.window()))["c"].to_pylist()
    [-1.0, -1.0, -1.0]
    """
    return call("corr", x, y)
