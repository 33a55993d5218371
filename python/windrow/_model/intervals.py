"""Calendar intervals: months, days and microseconds, which have no fixed ratio to one another."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from decimal import Decimal
from operator import index
from typing import Any

from ..exceptions import SpecError, short_traceback, shown
from .code_text import constructor_code

__all__ = ["Interval", "interval", "parse_duration"]

# unit -> (months, days, microseconds) of one of it
_UNITS: dict[str, tuple[int, int, Decimal]] = {
    "year": (12, 0, Decimal(0)),
    "quarter": (3, 0, Decimal(0)),
    "month": (1, 0, Decimal(0)),
    "week": (0, 7, Decimal(0)),
    "day": (0, 1, Decimal(0)),
    "hour": (0, 0, Decimal(3_600_000_000)),
    "minute": (0, 0, Decimal(60_000_000)),
    "second": (0, 0, Decimal(1_000_000)),
    "millisecond": (0, 0, Decimal(1_000)),
    "microsecond": (0, 0, Decimal(1)),
    "nanosecond": (0, 0, Decimal("0.001")),
}
_ABBREVIATIONS = {
    "y": "year", "yr": "year", "q": "quarter", "mo": "month", "mon": "month", "w": "week", "wk": "week", "d": "day",
    "h": "hour", "hr": "hour", "m": "minute", "min": "minute", "s": "second", "sec": "second", "ms": "millisecond",
    "us": "microsecond", "µs": "microsecond", "ns": "nanosecond",
}  # fmt: skip
_PART = re.compile(r"\s*(?P<sign>[+-]?)\s*(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[A-Za-zµ]+)\s*,?")
_I64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True, repr=False)
class Interval:
    """A span of calendar time, as Spark and Arrow count it.

    Months and days are added on the calendar (a month clamps to the end of a shorter month), microseconds on the clock.
    Make one with :func:`interval`.

    Parameters
    ----------
    months
        Whole months; a year is 12.
    days
        Whole calendar days.
    microseconds
        Time on the clock.
    """

    months: int = 0
    days: int = 0
    microseconds: int = 0

    def __post_init__(self) -> None:
        """Refuse parts that are not integers, or out of the range of Spark and Arrow."""
        for name, most in (("months", 2**31), ("days", 2**31), ("microseconds", 2**63)):
            part = getattr(self, name)
            if type(part) is not int:
                part = _whole(name, part)
                object.__setattr__(self, name, part)
            if not -most <= part < most:
                raise SpecError(f"Interval(): {name}={shown(part)} is too long")

    def __neg__(self) -> Interval:
        """The negated interval."""
        return Interval(-self.months, -self.days, -self.microseconds)

    def __bool__(self) -> bool:
        """Whether the interval is not zero."""
        return bool(self.months or self.days or self.microseconds)

    def is_negative(self) -> bool:
        """Whether no part is positive and at least one is negative."""
        parts = (self.months, self.days, self.microseconds)
        return any(p < 0 for p in parts) and all(p <= 0 for p in parts)

    def __repr__(self) -> str:
        """The interval as code."""
        return constructor_code(self, "wr.Interval")

    def __str__(self) -> str:
        """The interval as SQL writes it: ``INTERVAL '7' DAY``."""
        parts = _parts(self)
        if len(parts) == 1:
            amount, unit = parts[0]
            return f"INTERVAL '{amount}' {unit.upper()}"
        # where signs differ, each amount has its own: one without would take that of the amount before it
        signed = any(amount.startswith("-") for amount, _ in parts)
        signs = ["+" if signed and not amount.startswith("-") else "" for amount, _ in parts]
        return (
            "INTERVAL '" + " ".join(f"{s}{amount} {unit}" for s, (amount, unit) in zip(signs, parts, strict=True)) + "'"
        )


def _parts(value: Interval) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    if value.months:
        whole = value.months % 12 == 0
        parts.append((str(value.months // 12 if whole else value.months), "year" if whole else "month"))
    if value.days:
        parts.append((str(value.days), "day"))
    sign, rest = (-1 if value.microseconds < 0 else 1), abs(value.microseconds)
    for unit in ("hour", "minute"):
        amount, rest = divmod(rest, int(_UNITS[unit][2]))
        if amount:
            parts.append((str(sign * amount), unit))
    if rest:
        parts.append((format((Decimal(sign * rest) / 1_000_000).normalize(), "f"), "second"))
    return parts or [("0", "day")]


def halved(length: Any) -> Any:
    """Give half of a number, a timedelta or an interval; None where it is no whole number of its smallest parts."""
    if isinstance(length, int):
        return None if length % 2 else length // 2
    if isinstance(length, dt.timedelta):
        return length / 2 if length.microseconds % 2 == 0 else None
    if isinstance(length, Interval):
        microseconds = length.days % 2 * 86_400_000_000 + length.microseconds
        if length.months % 2 or microseconds % 2:
            return None
        return Interval(length.months // 2, length.days // 2, microseconds // 2)
    return length / 2


@short_traceback
def interval(
    text: str | None = None,
    *,
    years: int = 0,
    months: int = 0,
    weeks: int = 0,
    days: int = 0,
    hours: int = 0,
    minutes: int = 0,
    seconds: float = 0,
    milliseconds: int = 0,
    microseconds: int = 0,
) -> Interval:
    """Make a calendar interval for a RANGE frame.

    Parameters
    ----------
    text
        A duration such as ``"3 months"``, ``"7 days 12 hours"``, ``"1mo"`` or ``"-1h30m"`` (``m`` is a minute, ``mo`` a
        month). Give either a text or the parts.
    years, months, weeks, days, hours, minutes, seconds, milliseconds, microseconds
        The parts; negative parts point backwards.

    Returns
    -------
    Interval
        The interval, an immutable value.

    Raises
    ------
    SpecError
        If the text is no duration, or a part is no whole number.

    Examples
    --------
    >>> import windrow as wr
    >>> wr.interval("3 months")
    wr.Interval(months=3)
    >>> print(wr.interval(days=7))
    INTERVAL '7' DAY
    """
    parts = {
        "years": years, "months": months, "weeks": weeks, "days": days, "hours": hours, "minutes": minutes,
        "milliseconds": milliseconds, "microseconds": microseconds,
    }  # fmt: skip
    whole = {name: _whole(name, amount) for name, amount in parts.items()}
    given = _within_limits(
        12 * whole["years"] + whole["months"],
        7 * whole["weeks"] + whole["days"],
        3_600_000_000 * whole["hours"]
        + 60_000_000 * whole["minutes"]
        + _microseconds(seconds)
        + 1_000 * whole["milliseconds"]
        + whole["microseconds"],
        "interval()",
    )
    if text is None:
        return given
    if given:
        raise SpecError("interval() takes either a text or parts, not both")
    if not isinstance(text, str):
        raise SpecError(f"interval() takes a duration's text, not {shown(text)}")
    return parse_duration(text)


def _whole(name: str, amount: Any) -> int:
    try:
        return index(amount)
    except TypeError:
        raise SpecError(
            f"interval({name}={shown(amount)}) is not a whole number; write a part of it in a smaller unit"
        ) from None


def _microseconds(seconds: Any) -> int:
    try:
        return round(Decimal(str(seconds)) * 1_000_000)
    except (ArithmeticError, ValueError):
        raise SpecError(f"interval(seconds={shown(seconds)}) is not a number of seconds") from None


def _within_limits(months: int, days: int, microseconds: int, what: str) -> Interval:
    if max(abs(months), abs(days)) > 2**31 - 1 or abs(microseconds) > _I64_MAX:
        raise SpecError(f"{what} is too long")
    return Interval(months, days, microseconds)


def parse_duration(text: str) -> Interval:
    """Read a duration such as ``"7 days"``, ``"3 months"``, ``"7d"``, ``"1mo"`` or ``"-1h30m"``.

    Parameters
    ----------
    text
        One or more amounts, each with its unit. A sign before the first amount holds for all that carry none.

    Returns
    -------
    Interval
        What was written.

    Raises
    ------
    SpecError
        If the text is no duration.
    """
    months, days, micros = 0, 0, Decimal(0)
    position, sign, found = 0, 1, False
    stripped = text.strip()
    while position < len(stripped):
        match = _PART.match(stripped, position)
        if match is None:
            break
        unit = _unit(match["unit"])
        if unit is None:
            break
        sign = {"-": -1, "+": 1}.get(match["sign"], sign)
        if len(match["number"]) > 100:
            break
        amount = sign * Decimal(match["number"])
        per_months, per_days, per_micros = _UNITS[unit]
        if per_micros == 0 and amount != int(amount):
            raise SpecError(f"duration {text!r}: {unit}s must be whole numbers")
        months += int(amount) * per_months
        days += int(amount) * per_days
        micros += amount * per_micros
        position, found = match.end(), True
    if not found or position < len(stripped):
        raise SpecError(
            f"{shown(text)} is not a duration; write amounts with units, such as '7 days', '3 months', '1h30m' or '1mo'"
        )
    if micros != int(micros):
        raise SpecError(f"duration {text!r} is finer than a microsecond")
    return _within_limits(months, days, int(micros), f"duration {text!r}")


def _unit(text: str) -> str | None:
    name = text if text in _ABBREVIATIONS else text.lower()
    name = _ABBREVIATIONS.get(name, name)
    if name not in _UNITS and name.endswith("s"):
        name = name[:-1]
        name = _ABBREVIATIONS.get(name, name)
    return name if name in _UNITS else None


def length_key(value: object) -> tuple[str, int | float | Decimal] | None:
    """Return a key that orders offsets of one kind, or None if two such offsets have no fixed order.

    Parameters
    ----------
    value
        A number, a timedelta or an Interval.

    Returns
    -------
    tuple or None
        The kind and the amount.
    """
    if isinstance(value, dt.timedelta):
        value = Interval(days=value.days, microseconds=value.seconds * 1_000_000 + value.microseconds)
    if isinstance(value, Interval):
        if value.months == 0:
            return "time", value.days * 86_400_000_000 + value.microseconds
        return None if value.days or value.microseconds else ("months", value.months)
    if isinstance(value, (int, float, Decimal)):
        return "number", value
    return None
