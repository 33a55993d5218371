"""The window of a call: partition keys, order keys and the frame, as immutable values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import index
from typing import Any, ClassVar, Literal as OneOf, TypeAlias, get_args

from ..exceptions import SpecError, short_traceback, shown
from .checks import is_tuple_of, refuse_field
from .code_text import code_of, constructor_code
from .expressions import (
    EXPRESSIONS,
    Column,
    Expr,
    HostExpression,
    IntoCondition,
    IntoExpr,
    Literal,
    Sql,
    as_condition,
    as_expr,
    negated,
    reader_of,
)
from .intervals import Interval, halved, length_key
from .offsets import as_offset, name_of_frame
from .replace import replace
from .structure import Structural

__all__ = [
    "Bound",
    "Closed",
    "Exclude",
    "Frame",
    "IntoBound",
    "IntoOrder",
    "Nulls",
    "Order",
    "Window",
    "Windows",
    "as_order",
    "as_sequence",
    "asc",
    "desc",
    "following",
    "preceding",
    "register_count",
    "window",
]

Units: TypeAlias = OneOf["rows", "range", "groups"]
Nulls: TypeAlias = OneOf["first", "last"]
BoundKind: TypeAlias = OneOf["unbounded_preceding", "preceding", "current_row", "following", "unbounded_following"]
Closed: TypeAlias = OneOf["right", "left", "both", "none"]
Exclude: TypeAlias = OneOf["no_others", "current_row", "group", "ties"]

UNITS: tuple[str, ...] = get_args(Units)
KINDS: tuple[str, ...] = get_args(BoundKind)
EXCLUDES: tuple[str, ...] = get_args(Exclude)
# PySpark's Window.unboundedPreceding is -(2**63), its unboundedFollowing 2**63 - 1; it takes anything beyond these
# thresholds as unbounded, and so do we.
_UNBOUNDED = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Order(Structural):
    """One order key: what to order by, which way, and where the nulls go. Made by :func:`asc` and :func:`desc`."""

    key: Expr
    descending: bool = False
    nulls_first: bool = True

    def __post_init__(self) -> None:
        """Refuse what is no key, and flags that are none."""
        if not isinstance(self.key, EXPRESSIONS):
            refuse_field(self, "key", "an expression", "wr.asc(key) or wr.desc(key)")
        for name in ("descending", "nulls_first"):
            if not isinstance(getattr(self, name), bool):
                refuse_field(self, name, "True or False", "wr.asc(key) or wr.desc(key, nulls='first')")

    def __str__(self) -> str:
        """The key as SQL writes it, with only what differs from SQL's defaults."""
        text = f"{self.key} DESC" if self.descending else str(self.key)
        if self.nulls_first == self.descending:  # Spark's defaults: ASC NULLS FIRST, DESC NULLS LAST
            text += " NULLS FIRST" if self.nulls_first else " NULLS LAST"
        return text

    def __repr__(self) -> str:
        """The key as code."""
        nulls: Nulls = "first" if self.nulls_first else "last"
        made = desc(self.key, nulls=nulls) if self.descending else asc(self.key, nulls=nulls)
        if made != self:
            return constructor_code(self, "wr.typing.Order")
        placed = "" if self.nulls_first != self.descending else f", nulls={nulls!r}"
        return f"wr.{'desc' if self.descending else 'asc'}({_key_code(self.key)}{placed})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bound(Structural):
    """One end of a frame."""

    kind: BoundKind
    offset: Expr | None = None

    def __post_init__(self) -> None:
        """Refuse kinds that SQL does not have, and offsets where there can be none or must be one."""
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            refuse_field(self, "kind", f"one of {', '.join(KINDS)}", "wr.preceding(x) or wr.following(x)")
        if self.kind not in ("preceding", "following"):
            if self.offset is not None:
                refuse_field(self, "offset", f"for {self.kind!r}, which has none", "wr.preceding(x) or wr.following(x)")
        elif not isinstance(self.offset, EXPRESSIONS):
            refuse_field(self, "offset", "an expression", f"wr.{self.kind}(x)")

    def __str__(self) -> str:
        """The bound as SQL writes it."""
        if self.offset is None:
            return self.kind.replace("_", " ").upper()
        return f"{self.offset} {self.kind.upper()}"

    def __repr__(self) -> str:
        """The bound as code."""
        side, offset = self.kind.removeprefix("unbounded_"), self.offset
        if side != "current_row" and _made(_SIDES[side], offset) == self:
            return f"wr.{side}({'' if offset is None else _offset_code(offset)})"
        return constructor_code(self, "wr.typing.Bound")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frame(Structural):
    """Which rows around a row its call looks at."""

    units: Units
    start: Bound
    end: Bound
    exclude: Exclude = "no_others"
    # whether rows whose order key is exactly at the start's or the end's offset are outside
    open_start: bool = False
    open_end: bool = False
    # whether intervals of time are elapsed, and 24 hours no calendar day
    elapsed: bool = False

    def __post_init__(self) -> None:
        """Refuse what SQL refuses about two bounds, whatever the data."""
        if not isinstance(self.units, str) or self.units not in UNITS:
            refuse_field(self, "units", "'rows', 'range' or 'groups'", "wr.window(..., rows=(-1, 0))")
        for name in ("start", "end"):
            if not isinstance(getattr(self, name), Bound):
                refuse_field(self, name, "a bound", "wr.window(..., rows=(-1, 0)), wr.preceding(x) or wr.following(x)")
        if not isinstance(self.exclude, str) or self.exclude not in EXCLUDES:
            refuse_field(self, "exclude", f"one of {', '.join(EXCLUDES)}", "wr.window(..., exclude='ties')")
        for name in ("open_start", "open_end", "elapsed"):
            if not isinstance(getattr(self, name), bool):
                refuse_field(self, name, "True or False", "wr.window(..., range='7 days', closed='both')")
        for name, bound in (("open_start", self.start), ("open_end", self.end)):
            if getattr(self, name) and (self.units != "range" or bound.offset is None):
                refuse_field(self, name, "for a bound at an offset of a RANGE frame", "wr.window(..., range='7 days')")
        check_bounds(self.units, self.start, self.end)

    def __str__(self) -> str:
        """The frame as SQL writes it."""
        start, end = (" (excluded)" if is_open else "" for is_open in (self.open_start, self.open_end))
        text = f"{self.units.upper()} BETWEEN {self.start}{start} AND {self.end}{end}"
        return text if self.exclude == "no_others" else f"{text} EXCLUDE {self.exclude.replace('_', ' ').upper()}"

    def __repr__(self) -> str:
        """The frame as code."""
        return constructor_code(self, "wr.typing.Frame")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Window(Structural):
    """Partition keys, order keys and a frame. Made by :func:`window`."""

    #: Many calls have one window.
    text_is_kept: ClassVar = True

    partition_by: tuple[Expr, ...] = ()
    order_by: tuple[Order, ...] = ()
    frame: Frame | None = None
    min_rows: int | None = None

    def __post_init__(self) -> None:
        """Refuse keys, frames and numbers of rows that are none."""
        if not is_tuple_of(self.partition_by, EXPRESSIONS):
            refuse_field(self, "partition_by", "a tuple of expressions", "wr.window(partition_by=...)")
        if not is_tuple_of(self.order_by, Order):
            refuse_field(self, "order_by", "a tuple of order keys", "wr.window(order_by=...)")
        if not (self.frame is None or isinstance(self.frame, Frame)):
            refuse_field(self, "frame", "a frame", "wr.window(..., rows=(-1, 0))")
        if self.min_rows is not None:
            _min_rows(self.min_rows)

    @short_traceback
    def rows(self, frame: Any, *, centered: bool = False) -> Any:
        """Give the window with a frame counted in rows, or one window for each of several frames.

        Parameters
        ----------
        frame
            As ``rows`` of :func:`windrow.window`; a list is several frames, each a number of rows or a tuple.
        centered
            As for :func:`windrow.window`.

        Returns
        -------
        Window or Windows
            With its keys, ``exclude`` and ``min_rows``. A call over several windows is several items, named by the
            frames behind their names.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import windrow as wr
        >>> table = pa.table({"t": [1, 2, 3, 4], "v": [1, 2, 3, 4]})
        >>> w = wr.window(order_by="t")
        >>> wr.select(table, wr.sum("v").over(w.rows([2, 3])).alias("sum")).to_pydict()
        {'sum_2': [1, 3, 5, 7], 'sum_3': [1, 3, 6, 9]}
        """
        return self._framed("rows", frame, centered=centered or None)

    @short_traceback
    def range(self, frame: Any, *, closed: Closed | None = None, centered: bool = False) -> Any:
        """Give the window with a frame by distance in the order key, or one window for each of several frames.

        Parameters
        ----------
        frame
            As ``range`` of :func:`windrow.window`; a list is several frames, each a length or a tuple.
        closed, centered
            As for :func:`windrow.window`.

        Returns
        -------
        Window or Windows
            As for :meth:`rows`.

        Examples
        --------
        >>> import windrow as wr
        >>> wr.sum("v").over(wr.window("k", "day").range(["7d", "30d"], closed="both")).alias("sum")
        [sum(v) OVER (PARTITION BY k ORDER BY day RANGE BETWEEN INTERVAL '7' DAY PRECEDING AND CURRENT ROW) AS sum_7d,
         sum(v) OVER (PARTITION BY k ORDER BY day RANGE BETWEEN INTERVAL '30' DAY PRECEDING AND CURRENT ROW) AS sum_30d]
        """
        return self._framed("range", frame, closed=closed, centered=centered or None)

    @short_traceback
    def reset(self, condition: IntoCondition) -> Window:
        """Give the window in which each row where a condition is true begins a partition.

        Parameters
        ----------
        condition
            A boolean column's name, or an expression; null counts as false. ``wr.col("x").is_null()`` resets at nulls.

        Returns
        -------
        Window
            With one more partition key: the count of such rows so far, along the window's order. Its frame looks at no
            row before the last reset.

        Raises
        ------
        SpecError
            If the window has no order.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import windrow as wr
        >>> table = pa.table({"t": [1, 2, 3, 4], "x": [1, 2, 3, 4], "paid": [False, False, True, False]})
        >>> w = wr.window(order_by="t").reset("paid")
        >>> wr.with_columns(table, due=wr.sum("x").over(w))["due"].to_pylist()
        [1, 3, 3, 7]
        """
        given = as_condition(condition, "reset()")
        if not self.order_by:
            raise SpecError(
                "reset() counts along an order, and the window has none; write wr.window(..., order_by=...)"
            )
        frame = Frame("rows", Bound("unbounded_preceding"), Bound("current_row"))
        count = _count_true(given, Window(self.partition_by, self.order_by, frame))
        return replace(self, partition_by=(*self.partition_by, count))

    def _framed(self, units: str, frame: Any, **settings: Any) -> Any:
        exclude = None if self.frame is None or self.frame.exclude == "no_others" else self.frame.exclude
        rest = {"exclude": exclude, "min_rows": self.min_rows, **{n: v for n, v in settings.items() if v is not None}}
        frames = frame if isinstance(frame, list) else [frame]
        made = [window(self.partition_by, self.order_by, **{units: one}, **rest) for one in frames]
        if not isinstance(frame, list):
            return made[0]
        if not frames:
            raise SpecError(f"{units}([]): a list of frames names at least one")
        return Windows(tuple(made), tuple(map(name_of_frame, frames)))

    def is_sql(self) -> bool:
        """Whether SQL can say all of the window: it has no ``min_rows``, open bounds or days of elapsed time."""
        frame = self.frame
        return self.min_rows is None and (frame is None or not (frame.open_start or frame.open_end or frame.elapsed))

    def __str__(self) -> str:
        """The inside of SQL's ``OVER (...)``."""
        parts = []
        if self.partition_by:
            parts.append("PARTITION BY " + ", ".join(map(str, self.partition_by)))
        if self.order_by:
            parts.append("ORDER BY " + ", ".join(map(str, self.order_by)))
        if self.frame:
            parts.append(str(self.frame))
        return " ".join(parts)

    def __repr__(self) -> str:
        """The window as code."""
        frame = self.frame
        rest: dict[str, Any] = {} if frame is None else _frame_settings(frame)
        if self.min_rows is not None:
            rest["min_rows"] = self.min_rows
        parts = []
        if self.partition_by:
            parts.append(_keys_code([_key_code(k) for k in self.partition_by]))
        if self.order_by:
            orders = [_key_code(o.key) if o == _made(as_order, o.key) else repr(o) for o in self.order_by]
            parts.append(("" if parts else "order_by=") + _keys_code(orders))
        for name, value in rest.items():
            bounds = [_offset_code(b) for b in value] if isinstance(value, tuple) else None
            parts.append(f"{name}={_offset_code(value) if bounds is None else f'({bounds[0]}, {bounds[1]})'}")
        if _made(window, self.partition_by, self.order_by, **rest) != self:
            return constructor_code(self, "wr.Window")  # SQL has frames that window() refuses
        return f"wr.window({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Windows:
    """Several windows that differ in their frames. Made by :meth:`Window.rows` and :meth:`Window.range` of a list."""

    windows: tuple[Window, ...]
    #: What follows the name of a call over each.
    suffixes: tuple[str, ...]


#: What may stand where an order key is asked for.
IntoOrder: TypeAlias = Order | IntoExpr
#: What may stand where the bound of a frame is asked for: a string is a duration, None is unbounded.
IntoBound: TypeAlias = Bound | IntoExpr


@short_traceback
def window(
    partition_by: IntoExpr | Sequence[IntoExpr] = None,
    order_by: IntoOrder | Sequence[IntoOrder] = None,
    *,
    rows: int | tuple[IntoBound, IntoBound] | None = None,
    range: IntoExpr | tuple[IntoBound, IntoBound] = None,
    groups: tuple[IntoBound, IntoBound] | None = None,
    exclude: Exclude | None = None,
    min_rows: int | None = None,
    closed: Closed | None = None,
    centered: bool = False,
) -> Window:
    """Describe a window: which rows belong together, in which order, and which of them a call looks at.

    Without a frame the window is what SQL and Spark give: **with** an order the rows from the partition's start up to
    the current row *and all its ties* (``RANGE UNBOUNDED PRECEDING .. CURRENT ROW``: a running total), **without** one
    the whole partition. So adding ``order_by`` alone turns a total into a running total, and ``last_value`` over an
    ordered window answers the current row's last tie and not the partition's last row. To look at the whole partition
    in order, say ``rows=(None, None)``.

    Parameters
    ----------
    partition_by
        A column's name, an expression (``wr.expr("SQL")`` or one of the host), or a sequence of these. Nulls form
        one partition, and so do NaNs; -0.0 and 0.0 are the same. None: all rows are one partition.
    order_by
        A column's name, ``wr.asc(x)``, ``wr.desc(x)``, an expression, or a sequence of these. Ascending with nulls
        first unless said otherwise, descending with nulls last: Spark's defaults.
    rows
        A frame counted in rows: ``7`` for the last seven, or ``(start, end)``. A bound is an int relative to the row as
        in PySpark (negative: before it, 0: the row itself, positive: after it), None for unbounded, ``wr.col("n")`` for
        a bound per row, or ``wr.preceding(x)`` and ``wr.following(x)``.
    range
        A frame by distance in the order key, of which there must be one: a length such as ``"7d"`` for what lies less
        than that before the row, or ``(start, end)``. Bounds are ints, floats, Decimals, timedeltas, durations such as
        ``"-7 days"``, ``"-1mo"`` or ``wr.interval(months=-3)``; 0 is the current row *and its ties*. Timedeltas and
        hours are elapsed time, days and months are the calendar's in the key's time zone.
    groups
        A frame counted in groups of ties.
    exclude
        ``"current_row"``, ``"group"`` (the row and its ties), ``"ties"`` (its ties but not the row) or ``"no_others"``.
    min_rows
        The least number of rows that must count in a frame; with fewer the result is null.
    closed
        Which ends of a ``range`` given as a length belong to the frame, as in Polars: ``"right"`` (the default),
        ``"left"``, ``"both"`` or ``"none"``. Unless the frame is centered, its right end is the current row: with
        ``"right"`` and ``"both"`` the row and its ties belong to the frame, with ``"left"`` and ``"none"`` they do not.
    centered
        Whether a frame given as a length reaches as far behind the row as before it. Of an even number of rows one
        more lies before it, as in Polars and pandas.

    Returns
    -------
    Window
        An immutable value, to be given to ``.over(...)``.

    Raises
    ------
    SpecError
        If more than one of ``rows``, ``range`` and ``groups`` is given, the bounds cannot make a frame, or ``closed``
        or ``centered`` stands beside bounds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"device": [5, 5, 5, 0], "id": [2, 5, 6, 0], "level": [2, 3, 0, 1]})
    >>> near = wr.window("device", "id", range=(-1, 0))
    >>> wr.with_columns(table, s=wr.sum("level").over(near))["s"].to_pylist()
    [2, 3, 3, 1]
    >>> running = wr.window("device", "id")
    >>> wr.with_columns(table, s=wr.sum("level").over(running))["s"].to_pylist()
    [2, 5, 5, 1]
    >>> total = wr.window("device")
    >>> wr.with_columns(table, s=wr.sum("level").over(total))["s"].to_pylist()
    [5, 5, 5, 1]
    """
    orders = tuple(as_order(o) for o in as_sequence(order_by))
    given: dict[Units, Any] = {}
    if rows is not None:
        given["rows"] = rows
    if range is not None:
        given["range"] = range
    if groups is not None:
        given["groups"] = groups
    if len(given) > 1:
        raise SpecError(f"window() takes one of rows=, range= and groups=, not {' and '.join(given)} together")
    excluded = normalise_exclude(exclude)
    frame = None
    for units, bounds in given.items():
        if units == "groups" or isinstance(bounds, (tuple, list)):
            _refuse_length_settings(units, bounds, closed, centered)
            frame = _frame(units, bounds, excluded)
        elif units == "rows":
            _refuse_length_settings("rows", bounds, closed, centered=False)
            frame = _last_rows(bounds, centered, excluded)
        else:
            frame = _length(bounds, closed, centered, excluded)
    frame = None if frame is None else _timed(frame)
    if not given:
        _refuse_length_settings("range", None, closed, centered)
    if frame is None and excluded != "no_others":
        frame = default_frame(bool(orders), excluded)
    return Window(
        tuple(as_expr(k, "partition_by") for k in as_sequence(partition_by)), orders, frame, _min_rows(min_rows)
    )


@short_traceback
def asc(key: IntoExpr, *, nulls: Nulls = "first") -> Order:
    """Order by a key, smallest first.

    Parameters
    ----------
    key
        A column's name or an expression.
    nulls
        Where the nulls go: ``"first"`` (Spark's default for ascending) or ``"last"``.

    Returns
    -------
    Order
        The order key.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [3, None, 1]})
    >>> w = wr.window(order_by=wr.asc("x", nulls="last"))
    >>> wr.with_columns(table, n=wr.row_number().over(w))["n"].to_pylist()
    [2, 3, 1]
    """
    return Order(as_expr(key, "asc()"), descending=False, nulls_first=_nulls_first(nulls))


@short_traceback
def desc(key: IntoExpr, *, nulls: Nulls = "last") -> Order:
    """Order by a key, greatest first.

    Parameters
    ----------
    key
        A column's name or an expression.
    nulls
        Where the nulls go: ``"last"`` (Spark's default for descending) or ``"first"``.

    Returns
    -------
    Order
        The order key.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"x": [3, None, 1]})
    >>> w = wr.window(order_by=wr.desc("x"))
    >>> wr.with_columns(table, n=wr.row_number().over(w))["n"].to_pylist()
    [1, 3, 2]
    """
    return Order(as_expr(key, "desc()"), descending=True, nulls_first=_nulls_first(nulls))


@short_traceback
def preceding(offset: IntoExpr = None) -> Bound:
    """Bound a frame at an offset before the current row, as SQL's ``x PRECEDING``.

    Parameters
    ----------
    offset
        A number, a duration, or a column (by ``wr.col``) with the offset of each row; None is unbounded.

    Returns
    -------
    Bound
        The bound, for ``rows=``, ``range=`` and ``groups=``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3, 4], "n": [0, 1, 0, 3]})
    >>> w = wr.window(order_by="id", rows=(wr.preceding(wr.col("n")), 0))
    >>> wr.with_columns(table, c=wr.count().over(w))["c"].to_pylist()
    [1, 2, 1, 4]
    """
    return Bound("unbounded_preceding") if offset is None else Bound("preceding", as_offset(offset))


@short_traceback
def following(offset: IntoExpr = None) -> Bound:
    """Bound a frame at an offset after the current row, as SQL's ``x FOLLOWING``.

    Parameters
    ----------
    offset
        A number, a duration, or a column (by ``wr.col``) with the offset of each row; None is unbounded.

    Returns
    -------
    Bound
        The bound, for ``rows=``, ``range=`` and ``groups=``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import windrow as wr
    >>> table = pa.table({"id": [1, 2, 3, 4]})
    >>> w = wr.window(order_by="id", rows=(0, wr.following()))
    >>> wr.with_columns(table, c=wr.count().over(w))["c"].to_pylist()
    [4, 3, 2, 1]
    """
    return Bound("unbounded_following") if offset is None else Bound("following", as_offset(offset))


_FOREIGN_WINDOWS: list[Callable[[Any], Window | None]] = []


def register_windows(read: Callable[[Any], Window | None]) -> None:
    """Register what reads the windows of another library: it gives None for all other values."""
    _FOREIGN_WINDOWS.append(read)


_count_true: Callable[[Expr, Window], Expr]


def register_count(count_true: Callable[[Expr, Window], Expr]) -> None:
    """Register what makes the count of a window's rows for which a condition is true, a call."""
    global _count_true
    _count_true = count_true


def foreign_window(value: Any) -> Window | None:
    """Give another library's window as one of windrow's, None where a value is none."""
    return next((made for read in _FOREIGN_WINDOWS if (made := read(value)) is not None), None)


def default_frame(ordered: bool, exclude: Exclude = "no_others") -> Frame:
    """Spell out the frame that a window without one has, as needed to say EXCLUDE about it."""
    if ordered:
        return Frame("range", Bound("unbounded_preceding"), Bound("current_row"), exclude)
    return Frame("rows", Bound("unbounded_preceding"), Bound("unbounded_following"), exclude)


def normalise_exclude(value: str | None) -> Exclude:
    """Give the exclusion's one name: ``"Current row"`` and ``"current_row"`` are the same."""
    if value is None:
        return "no_others"
    name = "_".join(value.lower().split()) if isinstance(value, str) else ""
    for mode in get_args(Exclude):
        if mode == name:
            return mode  # type: ignore[no-any-return]
    raise SpecError(f"exclude={shown(value)} is unknown; write one of {', '.join(map(repr, EXCLUDES))}")


def check_bounds(units: str, start: Bound, end: Bound) -> None:
    """Refuse frames that no data can make right: the rule of SQL and Spark for bounds and for literal offsets."""
    if start.kind == "unbounded_following" or end.kind == "unbounded_preceding":
        raise SpecError(
            f"{units.upper()} BETWEEN {start} AND {end}: a frame cannot start at UNBOUNDED FOLLOWING "
            "nor end at UNBOUNDED PRECEDING"
        )
    for bound in (start, end):
        value = bound.offset.value if isinstance(bound.offset, Literal) else 0
        if units != "range" and (isinstance(value, bool) or not isinstance(value, int)):
            raise SpecError(f"{units.upper()} counts in whole {units}; {bound.offset} is not a whole number")
    first, last = _signed(start), _signed(end)
    if first is not None and last is not None and first[0] == last[0] and first[1] > last[1]:
        raise SpecError(
            f"{units.upper()} BETWEEN {start} AND {end}: the frame's start comes after its end "
            "(offsets count from the row, negative before it); swap the two"
        )


def relative(value: Any, *, start: bool) -> Bound:
    """Read one bound as PySpark does: relative to the row, negative before it, None or an int64 extreme unbounded.

    Parameters
    ----------
    value
        What the user wrote.
    start
        Whether it is the frame's start, which tells which side None means.

    Returns
    -------
    Bound
        The bound.
    """
    if isinstance(value, Bound):
        return value
    if value is None:
        return Bound("unbounded_preceding" if start else "unbounded_following")
    offset = as_offset(value)
    if not isinstance(offset, Literal):
        return Bound("following", offset)
    amount = offset.value
    if isinstance(amount, int) and abs(amount) >= _UNBOUNDED:
        return Bound("unbounded_preceding" if amount < 0 else "unbounded_following")
    if isinstance(amount, Interval):
        negative = amount.is_negative()
    else:
        negative = amount < (dt.timedelta(0) if isinstance(amount, dt.timedelta) else 0)
    if not amount:
        return Bound("current_row")
    return Bound("preceding", Literal(negated(amount))) if negative else Bound("following", offset)


def _frame(units: Units, bounds: Any, exclude: Exclude) -> Frame:
    if isinstance(bounds, (str, bytes)) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        example = f"{units}=(None, 0)"
        raise SpecError(
            f"{units}={shown(bounds)}: a frame is a pair (start, end), such as {example}; {_pair(units, bounds)}"
        )
    start, end = relative(bounds[0], start=True), relative(bounds[1], start=False)
    # frames of literals that SQL allows, and that are empty on every row: the sign was forgotten
    signs = _sign(start), _sign(end)
    if signs in ((1, 0), (0, -1), (1, -1)):
        meant = _negated(bounds[0], start) if signs == (1, 0) else repr(bounds[1])
        last = repr(bounds[0] if signs == (1, -1) else 0)
        raise SpecError(
            f"{units}=({bounds[0]!r}, {bounds[1]!r}): the frame's start comes after its end, so it can never hold a "
            f"row; a bound before the row is negative: did you mean {units}=({meant}, {last})?"
        )
    return Frame(units, start, end, exclude)


def _last_rows(rows: Any, centered: bool, exclude: Exclude) -> Frame:
    """Give the frame of so many rows that end at the current one, or lie around it."""
    try:
        number = 0 if isinstance(rows, bool) else index(rows)
    except TypeError:
        number = 0
    if not 0 < number < _UNBOUNDED:
        raise SpecError(
            f"rows={shown(rows)}: a frame is a number of rows such as rows=7, the current one among them, or a pair "
            f"(start, end), such as rows=(None, 0); {_pair('rows', rows)}"
        )
    behind = (number - 1) // 2 if centered else 0
    return Frame("rows", relative(behind + 1 - number, start=True), relative(behind, start=False), exclude)


def _length(length: Any, closed: Closed | None, centered: bool, exclude: Exclude) -> Frame:
    """Give the RANGE frame of a length that ends at the current row, or lies around it."""
    if closed is not None and closed not in get_args(Closed):
        raise SpecError(f"closed={shown(closed)} is unknown; write one of {', '.join(map(repr, get_args(Closed)))}")
    offset = as_offset(length)
    if isinstance(offset, Literal) and _sign(Bound("following", offset)) != 1:
        raise SpecError(
            f"range={shown(length)}: a length is greater than 0, and bounds are a pair (start, end), such as "
            f"range=(None, 0); {_pair('range', length)}"
        )
    open_start, open_end = closed not in ("left", "both"), closed in ("left", "none")
    if not centered:
        if open_end and exclude != "no_others":
            raise SpecError(f"closed={closed!r} leaves the row and its ties out already; leave out exclude={exclude!r}")
        ties: Exclude = "group" if open_end else exclude
        return Frame("range", Bound("preceding", offset), Bound("current_row"), ties, open_start)
    half = halved(offset.value) if isinstance(offset, Literal) else None
    if half is None:
        raise SpecError(
            f"range={shown(length)}: half of it is no offset, as centered=True asks for; write both bounds, such as "
            "range=(-3, 3)"
        )
    before, behind = Bound("preceding", Literal(half)), Bound("following", Literal(half))
    return Frame("range", before, behind, exclude, open_start, open_end)


def _timed(frame: Frame) -> Frame:
    """Let timedeltas and hours be elapsed time; days and months are the calendar's. Below a day both are the same."""
    values = [b.offset.value for b in (frame.start, frame.end) if isinstance(b.offset, Literal)]
    dates = [v for v in values if isinstance(v, Interval) and (v.months or v.days)]
    times = [v if isinstance(v, dt.timedelta) else dt.timedelta(microseconds=v.microseconds)
             for v in values if isinstance(v, (dt.timedelta, Interval)) and v not in dates]  # fmt: skip
    if all(abs(t) < dt.timedelta(1) for t in times):
        return frame
    if dates:
        raise SpecError(
            f"{frame}: one bound is elapsed time, as timedeltas and hours are, and one counts days or months of the "
            "calendar; write both as the one or the other: wr.interval(days=...), or timedelta(days=...)"
        )
    return replace(frame, elapsed=True)


def _refuse_length_settings(units: Units, bounds: Any, closed: Any, centered: bool) -> None:
    """Refuse what belongs to a length, beside bounds or nothing."""
    if closed is None and not centered:
        return
    setting = f"closed={closed!r}" if closed is not None else "centered=True"
    length = "range='7 days'" if closed is not None else f"{'range' if units == 'range' else 'rows'}=7"
    beside = "without a frame" if bounds is None else f"beside {units}={shown(bounds)}"
    raise SpecError(f"{setting} belongs to a length such as {length}, and stands {beside}")


def _pair(units: Units, bounds: Any) -> str:
    """Say which frame was probably meant by one bound."""
    if isinstance(bounds, str) and units == "range" and (length := bounds.strip().lstrip("+-"))[:1].isdigit():
        return f'for what ends at the current row write range=("-{length[:50]}", 0)'
    if isinstance(bounds, int) and not isinstance(bounds, bool) and 0 < abs(bounds) < _UNBOUNDED:
        rows = bounds > 0 and units != "range"  # so many, the current one among them
        start = 1 - bounds if rows else -abs(bounds)
        return (
            f"for {f'{bounds} {units} that end' if rows else 'what ends'} at the current row write {units}=({start}, 0)"
        )
    return f"for a row and the one before it write {units}=(-1, 0)"


def _sign(bound: Bound) -> int | None:
    """Say on which side of the row a bound lies; None where that is not known, or it is unbounded."""
    if bound.kind == "current_row":
        return 0
    if not isinstance(bound.offset, Literal):
        return None
    side = 1 if bound.kind == "following" else -1
    amount = bound.offset.value
    if not amount:
        return 0
    if isinstance(amount, Interval):
        return side if (-amount).is_negative() else -side if amount.is_negative() else None
    return side if amount > (dt.timedelta(0) if isinstance(amount, dt.timedelta) else 0) else -side


def _negated(given: Any, bound: Bound) -> str:
    """Write a bound as the user did, on the other side of the row."""
    if isinstance(given, str):
        return repr(f"-{given.strip().lstrip('+')}")
    if isinstance(given, Bound):
        return f"wr.preceding({bound.offset})"
    return repr(-given) if isinstance(given, (int, float, Decimal, dt.timedelta, Interval)) else f"-{given!r}"


def _signed(bound: Bound) -> tuple[str, Any] | None:
    """Give a literal bound's signed distance from the row; None for all other bounds, which are never compared."""
    if not isinstance(bound.offset, Literal):
        return None
    key = length_key(bound.offset.value)
    if key is None:
        return None
    return key[0], -key[1] if bound.kind == "preceding" else key[1]


def as_sequence(value: Any) -> tuple[Any, ...]:
    """Give what may be one key or a sequence of them as a tuple."""
    if value is None:
        return ()
    if isinstance(value, (str, Column, Literal, Sql, HostExpression, Order)) or not isinstance(
        value, (Sequence, set, frozenset)
    ):
        return (value,)
    if isinstance(value, (set, frozenset)):
        raise SpecError("keys come in a sequence, a list or a tuple; a set has no order")
    return tuple(value)


def as_order(value: Any) -> Order:
    """Turn what a user may write into an order key."""
    if isinstance(value, Order):
        return value
    if not isinstance(value, str) and (reader := reader_of(value)) is not None:
        return Order(*reader.order(value))
    return Order(as_expr(value, "order_by"))


def _nulls_first(nulls: str) -> bool:
    if not isinstance(nulls, str) or nulls not in ("first", "last"):
        raise SpecError(f"nulls={shown(nulls)} is unknown; write 'first' or 'last'")
    return nulls == "first"


def _made(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Give what a function makes, None where it refuses."""
    try:
        return function(*args, **named)
    except SpecError:
        return None


def _key_code(key: Expr) -> str:
    """Write an expression as code where a string is a column's name."""
    return repr(key.name) if isinstance(key, Column) else code_of(key)


def _keys_code(keys: Sequence[str]) -> str:
    return keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"


def _offset_code(offset: Any) -> str:
    """Write a bound as code where a plain value is a literal."""
    is_plain = isinstance(offset, Literal) and offset.text is None and not isinstance(offset.value, (str, tuple))
    return code_of(offset.value if is_plain else offset)


def _into_bound(bound: Bound, *, start: bool) -> Any:
    """Give the shortest that may be written for a bound of a window's frame."""
    if isinstance(bound.offset, Literal):
        value = bound.offset.value
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, dt.timedelta, Interval)):
            return bound
        short = negated(value) if bound.kind == "preceding" else value
    else:
        short = {"current_row": 0, "following": bound.offset}.get(bound.kind)
    made = _made(relative, short, start=start)
    same = made == bound and (made.offset is bound.offset or repr(made.offset) == repr(bound.offset))
    return short if same else bound


def _frame_settings(frame: Frame) -> dict[str, Any]:
    """Give the shortest arguments of window() that may make a frame."""
    settings: dict[str, Any] = {}
    length = frame.start.offset.value if isinstance(frame.start.offset, Literal) else None
    centered = frame.end.kind == "following"
    if (frame.open_start or frame.open_end) and length is not None and not (centered and isinstance(length, Interval)):
        settings["range"] = 2 * length if centered else length
        behind = frame.open_end if centered else frame.exclude == "group"
        closed = {(True, True): "none", (False, True): "left", (False, False): "both"}.get((frame.open_start, behind))
        settings |= {n: v for n, v in (("closed", closed), ("centered", centered or None)) if v is not None}
        excluded = frame.exclude not in ("no_others", *(() if centered else ("group",)))
    else:
        settings[frame.units] = (_into_bound(frame.start, start=True), _into_bound(frame.end, start=False))
        excluded = frame.exclude != "no_others"
    return {**settings, "exclude": frame.exclude} if excluded else settings


_SIDES: dict[str, Callable[..., Bound]] = {"preceding": preceding, "following": following}


def _min_rows(value: int | None) -> int | None:
    if value is None:
        return None
    try:
        number = -1 if isinstance(value, bool) else index(value)  # numpy's integers count as well
    except TypeError:
        number = -1
    if not 0 <= number <= _UNBOUNDED:
        raise SpecError(f"min_rows={shown(value)} is not a number of rows")
    return number
