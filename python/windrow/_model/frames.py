"""Frames: which rows around a row a call looks at, as immutable values and as users write them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import index
from typing import Any, Literal as OneOf, TypeAlias, get_args

from ..exceptions import SpecError, short_traceback, shown
from .checks import refuse_field
from .code_text import code_of, constructor_code
from .expressions import EXPRESSIONS, Expr, IntoExpr, Literal, negated
from .intervals import Interval, halved, length_key
from .offsets import as_offset
from .replace import replace
from .structure import Structural

__all__ = [
    "Bound",
    "Closed",
    "Exclude",
    "Frame",
    "IntoBound",
    "default_frame",
    "following",
    "frame_of",
    "normalise_exclude",
    "preceding",
    "relative",
]

Units: TypeAlias = OneOf["rows", "range", "groups"]
BoundKind: TypeAlias = OneOf["unbounded_preceding", "preceding", "current_row", "following", "unbounded_following"]
Closed: TypeAlias = OneOf["right", "left", "both", "none"]
Exclude: TypeAlias = OneOf["no_others", "current_row", "group", "ties"]

UNITS: tuple[str, ...] = get_args(Units)
KINDS: tuple[str, ...] = get_args(BoundKind)
EXCLUDES: tuple[str, ...] = get_args(Exclude)
# PySpark's Window.unboundedPreceding is -(2**63), its unboundedFollowing 2**63 - 1; it takes anything beyond these
# thresholds as unbounded, and so do we.
UNBOUNDED = 2**63 - 1


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
        if side != "current_row" and made_or_none(_SIDES[side], offset) == self:
            return f"wr.{side}({'' if offset is None else offset_code(offset)})"
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


#: What may stand where the bound of a frame is asked for: a string is a duration, None is unbounded.
IntoBound: TypeAlias = Bound | IntoExpr


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
    if isinstance(amount, int) and abs(amount) >= UNBOUNDED:
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
    if not 0 < number < UNBOUNDED:
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


def with_elapsed_time(frame: Frame) -> Frame:
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
    if isinstance(bounds, int) and not isinstance(bounds, bool) and 0 < abs(bounds) < UNBOUNDED:
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


def made_or_none(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Give what a function makes, None where it refuses."""
    try:
        return function(*args, **named)
    except SpecError:
        return None


def offset_code(offset: Any) -> str:
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
    made = made_or_none(relative, short, start=start)
    same = made == bound and (made.offset is bound.offset or repr(made.offset) == repr(bound.offset))
    return short if same else bound


def frame_settings(frame: Frame) -> dict[str, Any]:
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


def frame_of(
    bounds: Mapping[Units, Any], exclude: Exclude | None, closed: Closed | None, *, centered: bool, is_ordered: bool
) -> Frame | None:
    """Read a frame as users write it.

    Parameters
    ----------
    bounds
        What :func:`windrow.window` was given for each unit; None for nothing.
    exclude, closed, centered
        As for :func:`windrow.window`.
    is_ordered
        Whether the window has an order.

    Returns
    -------
    Frame or None
        None where nothing was said of it.
    """
    given = {units: value for units, value in bounds.items() if value is not None}
    if len(given) > 1:
        raise SpecError(f"window() takes one of rows=, range= and groups=, not {' and '.join(given)} together")
    excluded = normalise_exclude(exclude)
    frame = None
    for units, value in given.items():
        if units == "groups" or isinstance(value, (tuple, list)):
            _refuse_length_settings(units, value, closed, centered)
            frame = _frame(units, value, excluded)
        elif units == "rows":
            _refuse_length_settings("rows", value, closed, centered=False)
            frame = _last_rows(value, centered, excluded)
        else:
            frame = _length(value, closed, centered, excluded)
    frame = None if frame is None else with_elapsed_time(frame)
    if not given:
        _refuse_length_settings("range", None, closed, centered)
    if frame is None and excluded != "no_others":
        frame = default_frame(is_ordered, excluded)
    return frame
