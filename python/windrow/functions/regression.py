"""Linear regression over the frame's pairs of y and x."""

from __future__ import annotations

from .._model.calls import Call, call
from .._model.expressions import IntoColumns, IntoExpr
from ..exceptions import short_traceback

__all__ = [
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
]


@short_traceback
def regr_count(y: IntoColumns, x: IntoExpr) -> Call:
    """Count the frame's rows in which neither y nor x is null.

    Parameters
    ----------
    y
        The dependent variable, a numeric column: first, as in SQL.
    x
        The independent variable; rows in which either is null are ignored.

    Returns
    -------
    Call
        A bigint, never null.

    Notes
    -----
    O(1) per row over frames of fixed bounds, by difference of prefix counts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"y": [3, 5, 7, None], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, r=wr.regr_count("y", "x").over(wr.window()))["r"].to_pylist()[0]
    3
    """
    return call("regr_count", y, x)


@short_traceback
def regr_avgx(y: IntoColumns, x: IntoExpr) -> Call:
    """Average the independent variable over the frame's pairs.

    Parameters
    ----------
    y
        The dependent variable, a numeric column: first, as in SQL.
    x
        The independent variable; rows in which either is null are ignored.

    Returns
    -------
    Call
        The type that :func:`avg` of x gives; null for a frame without pairs.

    Notes
    -----
    Costs what :func:`avg` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"y": [3, 5, 7, None], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, r=wr.regr_avgx("y", "x").over(wr.window()))["r"].to_pylist()[0]
    2.0
    """
    return call("regr_avgx", y, x)


@short_traceback
def regr_avgy(y: IntoColumns, x: IntoExpr) -> Call:
    """Average the dependent variable over the frame's pairs.

    Parameters
    ----------
    y
        The dependent variable, a numeric column: first, as in SQL.
    x
        The independent variable; rows in which either is null are ignored.

    Returns
    -------
    Call
        The type that :func:`avg` of y gives; null for a frame without pairs.

    Notes
    -----
    Costs what :func:`avg` costs.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"y": [3, 5, 7, None], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, r=wr.regr_avgy("y", "x").over(wr.window()))["r"].to_pylist()[0]
    5.0
    """
    return call("regr_avgy", y, x)


@short_traceback
def regr_slope(y: IntoColumns, x: IntoExpr) -> Call:
    """Return the slope of the least-squares line through the frame's pairs.

    Parameters
    ----------
    y
        The dependent variable, a numeric column: first, as in SQL.
    x
        The independent variable; rows in which either is null are ignored.

    Returns
    -------
    Call
        A double; null where x does not vary.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks of merged moments; values are never subtracted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"y": [3, 5, 7, None], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, r=wr.regr_slope("y", "x").over(wr.window()))["r"].to_pylist()[0]
    2.0
    """
    return call("regr_slope", y, x)


@short_traceback
def regr_intercept(y: IntoColumns, x: IntoExpr) -> Call:
    """Return the intercept of the least-squares line through the frame's pairs: its value at x = 0.

    Parameters
    ----------
    y
        The dependent variable, a numeric column: first, as in SQL.
    x
        The independent variable; rows in which either is null are ignored.

    Returns
    -------
    Call
        A double; null where x does not vary.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks of merged moments; values are never subtracted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"y": [3, 5, 7, None], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, r=wr.regr_intercept("y", "x").over(wr.window()))["r"].to_pylist()[0]
    1.0
    """
    return call("regr_intercept", y, x)


@short_traceback
def regr_r2(y: IntoColumns, x: IntoExpr) -> Call:
    """Return the coefficient of determination (R squared) of the least-squares line: the squared correlation.

    Parameters
    ----------
    y
        The dependent variable, a numeric column: first, as in SQL.
    x
        The independent variable; rows in which either is null are ignored.

    Returns
    -------
    Call
        A double between 0 and 1; null where x does not vary, 1.0 where only y does not.

    Notes
    -----
    O(1) amortised per row over moving frames, by two stacks of merged moments; values are never subtracted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"y": [3, 5, 7, None], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, r=wr.regr_r2("y", "x").over(wr.window()))["r"].to_pylist()[0]
    1.0
    """
    return call("regr_r2", y, x)


@short_traceback
def regr_sxx(y: IntoColumns, x: IntoExpr) -> Call:
    """Sum the squared deviations of x from its mean over the frame's pairs.

    Parameters
    ----------
    y
        The dependent variable, a numeric column: first, as in SQL.
    x
        The independent variable; rows in which either is null are ignored.

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
    >>> table = pa.table({"y": [3, 5, 7, None], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, r=wr.regr_sxx("y", "x").over(wr.window()))["r"].to_pylist()[0]
    2.0
    """
    return call("regr_sxx", y, x)


@short_traceback
def regr_syy(y: IntoColumns, x: IntoExpr) -> Call:
    """Sum the squared deviations of y from its mean over the frame's pairs.

    Parameters
    ----------
    y
        The dependent variable, a numeric column: first, as in SQL.
    x
        The independent variable; rows in which either is null are ignored.

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
    >>> table = pa.table({"y": [3, 5, 7, None], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, r=wr.regr_syy("y", "x").over(wr.window()))["r"].to_pylist()[0]
    8.0
    """
    return call("regr_syy", y, x)


@short_traceback
def regr_sxy(y: IntoColumns, x: IntoExpr) -> Call:
    """Sum the products of the deviations of x and y from their means over the frame's pairs.

    Parameters
    ----------
    y
        The dependent variable, a numeric column: first, as in SQL.
    x
        The independent variable; rows in which either is null are ignored.

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
    >>> table = pa.table({"y": [3, 5, 7, None], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, r=wr.regr_sxy("y", "x").over(wr.window()))["r"].to_pylist()[0]
    4.0
    """
    return call("regr_sxy", y, x)
