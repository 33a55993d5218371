"""Functions that read the rows of a partition in order."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from .._model.calls import Call, call
from .._model.expressions import IntoColumns, IntoExpr, Literal, as_expr
from .._model.intervals import Interval
from .._model.lengths import as_length
from ..exceptions import SpecError, short_traceback, shown

__all__ = ["bounded_sum", "counter_diff", "fill", "fill_backward", "fill_forward", "group_id", "session_id"]


@short_traceback
def fill(x: IntoColumns, max_gap: float | Decimal | str | dt.timedelta | Interval | None = None) -> Call:
    """Return the value; nulls are replaced by linear interpolation over the order key.

    Parameters
    ----------
    x
        A column of numbers, durations, dates or timestamps.
    max_gap
        The longest gap to fill: the distance of its two known neighbours by the order key, as ``max_gap`` of
        :func:`group_id`. If a gap is longer, none of its rows is filled. A gap at an end of the partition is the
        distance from the known neighbour to the partition's first or last key. None: all gaps are filled.

    Returns
    -------
    Call
        The column's own type; for integers, decimals and timestamps, results are truncated to its precision. Before the
        first and after the last value, the line through the two nearest values is continued; if there is only one
        value, all rows get it. Null if the partition has no value, the row's key is null, or its gap is too long.

    Raises
    ------
    SpecError
        When the plan is made, if the window has a frame, or not exactly one order key of numbers, dates or timestamps.

    Notes
    -----
    O(1) per row; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [0, 1, 3, 4], "x": [0.0, None, None, 8.0]})
    >>> wr.with_columns(table, f=wr.fill("x").over(wr.window(order_by="t")))["f"].to_pylist()
    [0.0, 2.0, 6.0, 8.0]
    >>> wr.with_columns(table, f=wr.fill("x", max_gap=3).over(wr.window(order_by="t")))["f"].to_pylist()
    [0.0, None, None, 8.0]
    """
    return _fill("fill", x, max_gap)


@short_traceback
def fill_forward(x: IntoColumns, max_gap: float | Decimal | str | dt.timedelta | Interval | None = None) -> Call:
    """Return the value; nulls are replaced by the last value before them, in gaps up to a distance.

    Without ``max_gap``, ``wr.last_value("x").ignore_nulls()`` over ``rows=(None, 0)`` gives the same and does not wait
    for the end of the partition.

    Parameters
    ----------
    x
        A column of any type.
    max_gap
        The longest gap to fill, as for :func:`fill`; then rows whose key is null are not filled.

    Returns
    -------
    Call
        The column's own type; null before the first value, and in gaps that are too long.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame, or ``max_gap`` does not suit its key.

    Notes
    -----
    O(1) per row, O(log n) in gaps; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [0, 1, 3, 4, 9], "x": ["a", None, "b", None, "c"]})
    >>> wr.with_columns(table, f=wr.fill_forward("x", max_gap=3).over(wr.window(order_by="t")))["f"].to_pylist()
    ['a', 'a', 'b', None, 'c']
    """
    return _fill("fill_forward", x, max_gap)


@short_traceback
def fill_backward(x: IntoColumns, max_gap: float | Decimal | str | dt.timedelta | Interval | None = None) -> Call:
    """Return the value; nulls are replaced by the first value after them, in gaps up to a distance.

    Parameters
    ----------
    x
        A column of any type.
    max_gap
        The longest gap to fill, as for :func:`fill`; then rows whose key is null are not filled.

    Returns
    -------
    Call
        The column's own type; null after the last value, and in gaps that are too long.

    Raises
    ------
    SpecError
        As for :func:`fill_forward`.

    Notes
    -----
    O(1) per row, O(log n) in gaps; holds a partition until it is complete.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [0, 1, 3, 4, 9], "x": ["a", None, "b", None, "c"]})
    >>> wr.with_columns(table, f=wr.fill_backward("x", max_gap=3).over(wr.window(order_by="t")))["f"].to_pylist()
    ['a', 'b', 'b', None, 'c']
    """
    return _fill("fill_backward", x, max_gap)


def _fill(function: str, x: IntoColumns, max_gap: float | Decimal | str | dt.timedelta | Interval | None) -> Call:
    gap = as_length(max_gap, f"{function}(): max_gap")
    return call(function, x) if gap.value is None else call(function, x, gap)


@short_traceback
def counter_diff(x: IntoColumns, start: IntoExpr = None) -> Call:
    """Return the increase of a counter since its previous value; null where it was reset.

    Parameters
    ----------
    x
        A numeric column without negative values, which grows until it is reset. Nulls are ignored: the previous value
        is the last one that is not null.
    start
        A column of timestamps at which the counter started: where it differs from the previous row, the counter was
        reset.

    Returns
    -------
    Call
        The column's own type; null in the first row, where the value is null, and where the counter was reset.

    Raises
    ------
    SpecError
        When the plan is made, if the window has no order or has a frame.
    DataError
        While computing, if a value is negative, or a start is earlier than the one before.

    Notes
    -----
    O(1) per row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3, 4], "x": [100, 200, 50, 70]})
    >>> wr.with_columns(table, d=wr.counter_diff("x").over(wr.window(order_by="t")))["d"].to_pylist()
    [None, 100, None, 20]
    """
    return call("counter_diff", x) if start is None else call("counter_diff", x, start)


@short_traceback
def group_id(
    max_gap: float | Decimal | str | dt.timedelta | Interval | None = None,
    *,
    max_span: float | Decimal | str | dt.timedelta | Interval | None = None,
    max_rows: int | None = None,
    max_sum: tuple[IntoExpr, float | Decimal] | None = None,
) -> Call:
    """Number groups of consecutive rows: a row that would pass a limit of the open group opens another.

    Parameters
    ----------
    max_gap
        The longest distance from the row before, by the window's order key: a number, a duration such as ``"30m"``, a
        timedelta or :func:`windrow.interval`. A timedelta and hours are elapsed time, days and months are the
        calendar's in the key's time zone. Gaps alone give sessions: :func:`session_id`.
    max_span
        The longest distance from the group's first row, likewise.
    max_rows
        How many rows a group may have.
    max_sum
        A column of numbers and how much its sum may be in a group. Exact for integers and decimals; a null adds
        nothing, and a row whose value alone is more forms a group.

    Returns
    -------
    Call
        A bigint from 1 in each partition, never null. Rows whose key is null or NaN are near each other and far from
        all other rows.

    Raises
    ------
    SpecError
        Without a limit, or for a limit that is negative. When the plan is made, if the window has no order or has a
        frame, a distance does not suit its key, or there are several keys for a distance.
    DataError
        While computing, if a sum of decimals has more than 76 digits.

    Notes
    -----
    O(1) per row in one pass. A partition is not split among Spark's tasks.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [0, 5, 10, 40, 45, 80], "mb": [40, 50, 20, 90, 10, 5]})
    >>> w = wr.window(order_by="t")
    >>> wr.with_columns(table, g=wr.group_id(max_gap=20).over(w))["g"].to_pylist()
    [1, 1, 1, 2, 2, 3]
    >>> wr.with_columns(table, g=wr.group_id(max_gap=20, max_span=8).over(w))["g"].to_pylist()
    [1, 1, 2, 3, 3, 4]
    >>> wr.with_columns(table, g=wr.group_id(max_sum=("mb", 100)).over(w))["g"].to_pylist()
    [1, 1, 2, 3, 3, 4]
    """
    gap, span = as_length(max_gap, "group_id(): max_gap"), as_length(max_span, "group_id(): max_span")
    if max_rows is not None and (isinstance(max_rows, bool) or not isinstance(max_rows, int) or max_rows < 1):
        raise SpecError(f"group_id(): max_rows is a whole number from 1, not {shown(max_rows)}")
    if max_sum is not None:
        if not isinstance(max_sum, tuple) or len(max_sum) != 2:
            raise SpecError(f'group_id(): max_sum is a column and its limit, such as ("x", 100), not {shown(max_sum)}')
        return call("group_id", gap, span, max_rows, *max_sum)
    if max_rows is not None:
        return call("group_id", gap, span, max_rows)
    if span.value is None and gap.value is None:
        raise SpecError(
            'group_id() needs a limit: max_gap="30m", max_span="8h", max_rows=100 or max_sum=("x", 100), or several'
        )
    return call("group_id", gap) if span.value is None else call("group_id", gap, span)


@short_traceback
def session_id(gap: float | Decimal | str | dt.timedelta | Interval) -> Call:
    """Number sessions: a row opens a new one if it is further than a gap from the row before.

    The short form of :func:`group_id`, which has further limits.

    Parameters
    ----------
    gap
        The longest distance within a session, as ``max_gap`` of :func:`group_id`.

    Returns
    -------
    Call
        A bigint from 1 in each partition, never null.

    Raises
    ------
    SpecError
        As for :func:`group_id`.

    Notes
    -----
    O(1) per row in one pass.

    Examples
    --------
    >>> import datetime as dt
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> noon = dt.datetime(2024, 5, 1, 12)
    >>> table = pa.table({"at": [noon + dt.timedelta(minutes=m) for m in (0, 20, 50, 90)]})
    >>> wr.with_columns(table, s=wr.session_id("30m").over(wr.window(order_by="at")))["s"].to_pylist()
    [1, 1, 1, 2]
    """
    length = as_length(gap, "session_id(): gap")
    if length.value is None:
        raise SpecError('session_id() needs a gap, such as "30m"')
    return call("session_id", length)


@short_traceback
def bounded_sum(
    x: IntoColumns,
    low: float | Decimal | None = 0,
    high: float | Decimal | None = None,
    start: float | Decimal = 0,
) -> Call:
    """Add up the frame's values in order, and keep the sum between two bounds: what would carry it beyond is lost.

    Each value takes the sum from ``s`` to ``min(high, max(low, s + x))``: a stock that cannot fall below zero, a
    tank, a rate limiter's bucket.

    Parameters
    ----------
    x
        A column of numbers, or of strings that contain numbers.
    low, high
        The bounds, constants with as many digits as the column; None: there is none.
    start
        The sum before the frame's first value.

    Returns
    -------
    Call
        The type of :func:`sum`, exact for integers and decimals. Nulls are ignored; null for a frame without values. A
        NaN stays; an infinity takes the sum to its bound, from wherever it was.

    Raises
    ------
    SpecError
        If ``low`` is above ``high``. When the plan is made, if the column's type cannot hold a bound.
    ArithmeticOverflowError
        While computing, if a sum without a bound on its side does not fit the type, as for :func:`sum`.

    Notes
    -----
    O(1) amortised per row over growing and moving frames, O(log n) over others. Partitions may be split.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"t": [1, 2, 3, 4], "x": [5, -8, 3, 9]})
    >>> w = wr.window(order_by="t")
    >>> wr.with_columns(table, s=wr.bounded_sum("x").over(w))["s"].to_pylist()
    [5, 0, 3, 12]
    >>> wr.with_columns(table, s=wr.bounded_sum("x", high=10).over(w))["s"].to_pylist()
    [5, 0, 3, 10]
    """
    bounds = {"low": low, "high": high, "start": start}
    values = []
    for name, value in bounds.items():
        given = value if isinstance(value, str) else as_expr(value, f"bounded_sum(): {name}")
        amount = given.value if isinstance(given, Literal) else given
        if isinstance(amount, bool) or not (amount is None or isinstance(amount, (int, float, Decimal))):
            raise SpecError(f"bounded_sum(): {name} is a number, not {shown(value)}")
        if amount is not None and amount != amount:
            raise SpecError(f"bounded_sum(): {name} is NaN")
        values.append(amount)
    if values[0] is not None and values[1] is not None and values[0] > values[1]:
        raise SpecError(f"bounded_sum(): low={shown(low)} is above high={shown(high)}")
    if values[2] is None:
        raise SpecError("bounded_sum(): start is a number; leave it out for 0")
    while values and values[-1] == (0, None, 0)[len(values) - 1] and not isinstance(values[-1], (float, Decimal)):
        values.pop()
    return call("bounded_sum", x, *values)
