"""Functions that are written with others: differences, scores, and runs of equal values."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import Any

from .._model.calls import Call, call
from .._model.conditions import when
from .._model.expressions import Expr, IntoColumns, IntoExpr, Literal, as_columns, as_expr
from .._model.formulas import Formula
from .._model.frames import Bound, Frame
from .._model.operators import PREDICATE, SUM, operation
from .._model.replace import replace
from .._model.windows import Window
from ..exceptions import SpecError, short_traceback, shown
from .values import lag

__all__ = ["diff", "islands", "pct_change", "shift", "z_score"]


@short_traceback
def shift(x: IntoColumns, n: int = 1, fill_value: IntoExpr = None) -> Call:
    """Return the value of the row that lies ``n`` rows before the current one: :func:`lag` under pandas' name.

    Parameters
    ----------
    x
        A column of any type.
    n
        How many rows before; negative is after.
    fill_value
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
    >>> table = pa.table({"t": [1, 2, 3], "x": [10, 20, 40]})
    >>> wr.with_columns(table, after=wr.shift("x", -1, fill_value=0).over(order_by="t"))["after"].to_pylist()
    [20, 40, 0]
    """
    return lag(x, _rows(n, "shift()"), fill_value)


@short_traceback
def diff(x: IntoColumns, n: int = 1) -> Formula:
    """Return the difference from the value ``n`` rows before, ``x - lag(x, n)``.

    Parameters
    ----------
    x
        A column of numbers, dates or timestamps.
    n
        How many rows before; negative is after.

    Returns
    -------
    Formula
        What ``x - lag(x, n)`` is: of the column's own type for numbers, an interval for dates and timestamps. Null
        where there is no such row, and where one of the values is null.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame.
    ArithmeticOverflowError
        While computing, if a difference does not fit the column's type, under ANSI rules.

    Notes
    -----
    O(1) per row. As pandas' and Polars' ``diff``, but for integers: in pandas these become doubles.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [10, 20, 40]})
    >>> wr.with_columns(table, step=wr.diff("x").over(order_by="t"))["step"].to_pylist()
    [None, 10, 20]
    """
    column, before = _before(x, n, "diff")
    return _formula("diff", column, n, lambda window: column - before.placed(window))


@short_traceback
def pct_change(x: IntoColumns, n: int = 1) -> Formula:
    """Return the relative change from the value ``n`` rows before, ``x / lag(x, n) - 1``.

    Parameters
    ----------
    x
        A column of numbers.
    n
        How many rows before; negative is after.

    Returns
    -------
    Formula
        A double: 0.5 is an increase by half. Null where there is no such row, and where one of the values is null.
        After 0 it is infinite, and NaN for 0 after 0.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame.

    Notes
    -----
    O(1) per row. As pandas' ``pct_change(fill_method=None)``; Polars' compares with the last value that is not null.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [10, 15, 12]})
    >>> wr.with_columns(table, change=wr.pct_change("x").over(order_by="t"))["change"].to_pylist()
    [None, 0.5, -0.19999999999999996]
    """
    column, before = _before(x, n, "pct_change")

    def make(window: Window) -> Any:
        new, old = column.cast("double"), before.placed(window)
        # a division by zero would be an error under ANSI rules
        return when(old == 0).then(new * math.inf).otherwise(new / old.cast("double")) - 1

    return _formula("pct_change", column, n, make)


@short_traceback
def z_score(x: IntoColumns, *, ddof: int = 1) -> Formula:
    """Return how many standard deviations the value is above the frame's mean, ``(x - avg(x)) / stddev(x)``.

    Parameters
    ----------
    x
        A column of numbers.
    ddof
        1 for the sample's standard deviation, :func:`stddev_samp`; 0 for the population's, :func:`stddev_pop`, as in
        scipy's ``zscore``.

    Returns
    -------
    Formula
        A double. Null for null, and where all of the frame's values are equal or there is but one.

    Raises
    ------
    SpecError
        If ``ddof`` is neither 0 nor 1.

    Notes
    -----
    O(1) amortised per row over growing and moving frames. Mean and deviation share a pass.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3], "x": [2, 4, 6]})
    >>> wr.with_columns(table, z=wr.z_score("x").over())["z"].to_pylist()
    [-1.0, 0.0, 1.0]
    """
    if type(ddof) is not int or ddof not in (0, 1):
        raise SpecError(
            f"z_score(): ddof={shown(ddof)} is neither 1, for a sample's deviation, nor 0, for a population's"
        )
    column = as_columns(x, "z_score()")
    mean, deviation = call("avg", column), call("stddev_samp" if ddof else "stddev_pop", column)

    def make(window: Window) -> Any:
        spread = deviation.placed(window)
        distance = column.cast("double") - mean.placed(window).cast("double")
        return distance / when(spread != 0).then(spread).otherwise(None)

    return Formula("z_score", (column,) if ddof else (column, Literal(0)), make)


@short_traceback
def islands(x: IntoColumns, *more: IntoExpr) -> Formula:
    """Number the runs of equal values along the window's order, from 1.

    A row belongs to the run of the row before if its values are equal. Such a number is a partition key for what is
    asked of each run: its length, its first and last row.

    Parameters
    ----------
    x
        A column of any type that can be compared. Nulls are equal, and so are NaNs.
    *more
        Further columns: a run ends where any of them changes.

    Returns
    -------
    Formula
        A bigint, never null.

    Raises
    ------
    SpecError
        If the window has a frame; when the plan is made, if it has no order.

    Notes
    -----
    O(1) per row. One more than Polars' ``rle_id``; pandas has ``x.ne(x.shift()).cumsum()`` for it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3, 4], "x": ["a", "a", "b", "a"]})
    >>> run = wr.islands("x").over(order_by="t")
    >>> wr.with_columns(table, run=run, length=wr.count().over(run)).select(["run", "length"]).to_pydict()
    {'run': [1, 1, 2, 3], 'length': [2, 2, 1, 1]}
    """
    columns = (as_columns(x, "islands()"), *[as_expr(c, "islands()") for c in more])

    def make(window: Window) -> Any:
        if window.frame is not None:
            raise SpecError(f"islands() numbers the rows of a partition, and takes no frame, such as {window.frame}")
        changed: Any = None
        for column in columns:
            before = call("lag", column).placed(window)
            one = operation("{} IS DISTINCT FROM {}", PREDICATE, (column, SUM), (before, SUM))
            changed = one if changed is None else changed | one
        begins = (call("row_number").placed(window) > 1) & changed
        growing = Frame("rows", Bound("unbounded_preceding"), Bound("current_row"))
        return call("count_if", begins).placed(replace(window, frame=growing)) + 1

    return Formula("islands", columns, make)


def _rows(n: Any, role: str) -> int:
    """Check a number of rows."""
    try:
        if not isinstance(n, bool):
            return index(n)  # numpy's integers count as well
    except TypeError:
        pass
    raise SpecError(f"{role}: {shown(n)} is no number of rows, such as 1 or -1")


def _before(x: IntoColumns, n: int, function: str) -> tuple[Any, Call]:
    """Give a column, and its value n rows before."""
    column = as_columns(x, f"{function}()")
    return column, lag(column, _rows(n, f"{function}()"))


def _formula(function: str, column: Expr, n: int, make: Callable[[Window], Any]) -> Formula:
    return Formula(function, (column,) if n == 1 else (column, Literal(int(n))), make)
