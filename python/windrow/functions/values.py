"""Functions that return the value of one row of the frame or the partition."""

from __future__ import annotations

import datetime as dt
from typing import Any

from .._model.calls import Call, call
from .._model.expressions import Column, IntoColumns, IntoExpr, Literal, as_expr
from .._model.intervals import Interval, parse_duration
from .._model.lengths import as_length
from ..exceptions import SpecError, short_traceback

__all__ = ["any_value", "first", "first_value", "lag", "last", "last_value", "lead", "nth_value"]


@short_traceback
def first_value(x: IntoColumns) -> Call:
    """Return the frame's first value, also if it is null; with ``.ignore_nulls()`` its first value that is not null.

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
    >>> table = pa.table({"id": [1, 2, 3], "x": [None, 2, 3]})
    >>> w = wr.window(order_by="id", rows=(-1, 0))
    >>> wr.with_columns(table, f=wr.first_value("x").over(w))["f"].to_pylist()
    [None, None, 2]
    """
    return call("first_value", x)


@short_traceback
def first(x: IntoColumns) -> Call:
    """Return the frame's first value: another name of :func:`first_value`.

    Parameters
    ----------
    x
        A column of any type.

    Returns
    -------
    Call
        See :func:`first_value`.
    """
    return call("first", x)


@short_traceback
def last_value(x: IntoColumns) -> Call:
    """Return the frame's last value, also if it is null; with ``.ignore_nulls()`` its last value that is not null.

    Over a window with an order and no frame, the frame ends at the current row's last tie, so this returns the value
    of that tie. For the last value of the partition write ``rows=(None, None)`` or ``rows=(0, None)``.

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
    >>> table = pa.table({"id": [1, 2, 3], "x": [1, 2, None]})
    >>> known = wr.last_value("x").ignore_nulls().over(wr.window(order_by="id"))
    >>> wr.with_columns(table, f=known)["f"].to_pylist()
    [1, 2, 2]
    """
    return call("last_value", x)


@short_traceback
def last(x: IntoColumns) -> Call:
    """Return the frame's last value: another name of :func:`last_value`.

    Parameters
    ----------
    x
        A column of any type.

    Returns
    -------
    Call
        See :func:`last_value`.
    """
    return call("last", x)


@short_traceback
def any_value(x: IntoColumns) -> Call:
    """Return any value of the frame: always the first, so that results are reproducible.

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
    return call("any_value", x)


@short_traceback
def nth_value(x: IntoColumns, n: IntoExpr) -> Call:
    """Return the frame's n-th value, also if it is null; with ``.ignore_nulls()`` its n-th value that is not null.

    Parameters
    ----------
    x
        A column of any type.
    n
        Which value, from 1: a number, or a column of integers, one for each row. Where that is null or less than 1,
        the answer is null. Spark takes a number only.

    Returns
    -------
    Call
        The column's own type; null where the frame has fewer values.

    Raises
    ------
    SpecError
        When the plan is made, if n is a number less than 1.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3], "x": [7, 8, 9]})
    >>> second = wr.nth_value("x", 2).over(wr.window(order_by="id"))
    >>> wr.with_columns(table, s=second)["s"].to_pylist()
    [None, 8, 8]
    """
    return call("nth_value", x, n)


@short_traceback
def lag(x: IntoColumns, offset: IntoExpr | dt.timedelta = 1, default: IntoExpr = None) -> Call:
    """Return the value of the row that lies ``offset`` rows before the current one in the partition.

    Parameters
    ----------
    x
        A column of any type.
    offset
        How many rows before; negative is after, as :func:`lead`. With ``.ignore_nulls()`` only rows count in which x
        is not null. A column of integers gives the offset of each row, and null gives null; Spark takes a
        number only. A duration such as ``"1h"``, a timedelta or :func:`windrow.interval` is a distance of the order
        key: the value that held then, that of the last row at or before that time; null before the first, and where
        the key is null. Days and months are the calendar's, hours and timedeltas elapsed time.
    default
        What to give where there is no such row: a number, ``wr.lit("text")``, or a column, whose value is taken at the
        current row. A string is a column's name, as everywhere. None by a distance.

    Returns
    -------
    Call
        The column's own type.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame; by a distance, if it has not one order key of
        dates, times or durations.

    Notes
    -----
    O(1) per row; by a distance amortised.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"day": [1, 2, 3], "x": [10, 20, 40]})
    >>> w = wr.window(order_by="day")
    >>> wr.with_columns(table, before=wr.lag("x").over(w), after=wr.lag("x", -1, 0).over(w)).to_pydict()
    {'day': [1, 2, 3], 'x': [10, 20, 40], 'before': [None, 10, 20], 'after': [20, 40, 0]}
    >>> import datetime as dt
    >>> noon = dt.datetime(2024, 5, 1, 12)
    >>> table = pa.table({"at": [noon + dt.timedelta(minutes=m) for m in (0, 50, 60, 130)], "x": [1, 2, 3, 4]})
    >>> wr.with_columns(table, hour_ago=wr.lag("x", "1h").over(wr.window(order_by="at")))["hour_ago"].to_pylist()
    [None, None, 1, 3]
    """
    return _offset_call("lag", x, offset, default)


@short_traceback
def lead(x: IntoColumns, offset: IntoExpr | dt.timedelta = 1, default: IntoExpr = None) -> Call:
    """Return the value of the row that lies ``offset`` rows after the current one in the partition.

    Parameters
    ----------
    x
        A column of any type.
    offset
        How many rows after; negative is before, as :func:`lag`. With ``.ignore_nulls()`` only rows count in which x is
        not null. A column of integers gives the offset of each row, and null gives null; Spark takes a
        number only. A duration such as ``"1h"`` is a distance of the order key, as for :func:`lag`: the value of the
        last row at or before that time, which the last row of the partition holds on.
    default
        What to give where there is no such row: a number, ``wr.lit("text")``, or a column, whose value is taken at the
        current row. A string is a column's name, as everywhere. None by a distance.

    Returns
    -------
    Call
        The column's own type.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame; by a distance, if it has not one order key of
        dates, times or durations.

    Notes
    -----
    O(1) per row; by a distance amortised.

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


def _offset_call(function: str, x: IntoColumns, offset: IntoExpr | dt.timedelta, default: IntoExpr) -> Call:
    distance = _distance(function, offset)
    if distance is not None:
        given = as_expr(default, f"{function}()'s default")
        if not isinstance(given, Literal) or given.value is not None:
            raise SpecError(
                f"{function}() by a distance gives the value that held then, and takes no default; write "
                f"{function}(...).over(...).fill_null(...)"
            )
        return call(function, x, distance)
    if isinstance(offset, str):
        offset = Column(offset)
    given = as_expr(default, f"{function}()'s default")
    if isinstance(given, Literal) and given.value is None:
        return call(function, x) if type(offset) is int and offset == 1 else call(function, x, offset)
    return call(function, x, offset, given)


def _distance(function: str, offset: Any) -> Literal | None:
    """Give an offset that is a duration; None for a number of rows, and for a text that is a column's name."""
    amount = offset.value if isinstance(offset, Literal) else offset
    if isinstance(amount, str):
        try:
            amount = parse_duration(amount)
        except SpecError:
            return None
    elif not isinstance(amount, (dt.timedelta, Interval)):
        given = as_expr(offset, f"{function}()") if type(amount).__module__ in ("numpy", "pandas") else None
        if not isinstance(given, Literal) or not isinstance(given.value, (dt.timedelta, Interval)):
            return None
        amount = given.value
    return as_length(amount, f"{function}(): the distance")
