"""Functions of dates, timestamps and intervals by Spark's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .._model.intervals import Interval
from .casts import cut_nanoseconds, local, plain
from .typed import COMPUTE_ELSEWHERE, Failure, Scope, Typed, failing, merged, not_months, refused
from .types import DATE, INT, INTERVAL, family, shown

if TYPE_CHECKING:
    import polars as pl

__all__ = ["add_days", "add_interval", "add_months", "days_between", "field", "subtract_times"]

_DAY = 86_400_000_000

FIELDS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "year": lambda d: d.dt.year(),
    "quarter": lambda d: d.dt.quarter(),
    "month": lambda d: d.dt.month(),
    "day": lambda d: d.dt.day(),
    "dayofyear": lambda d: d.dt.ordinal_day(),
    "dayofweek": lambda d: d.dt.weekday().cast(int) % 7 + 1,  # Sunday is 1
    "weekday": lambda d: d.dt.weekday() - 1,  # Monday is 0
    "dayofweek_iso": lambda d: d.dt.weekday(),
    "weekofyear": lambda d: d.dt.week(),
    "hour": lambda d: d.dt.hour(),
    "minute": lambda d: d.dt.minute(),
    "second": lambda d: d.dt.second(),
}  # fmt: skip
#: The names of fields in EXTRACT.
EXTRACTED = {
    "YEAR": "year", "Y": "year", "YEARS": "year", "YR": "year", "YRS": "year", "QUARTER": "quarter", "QTR": "quarter",
    "MONTH": "month", "MON": "month", "MONS": "month", "MONTHS": "month", "WEEK": "weekofyear", "W": "weekofyear",
    "WEEKS": "weekofyear", "DAY": "day", "D": "day", "DAYS": "day", "DAYOFWEEK": "dayofweek", "DOW": "dayofweek",
    "DAYOFWEEK_ISO": "dayofweek_iso", "DOW_ISO": "dayofweek_iso", "DOY": "dayofyear", "HOUR": "hour", "H": "hour",
    "HOURS": "hour", "HR": "hour", "HRS": "hour", "MINUTE": "minute", "M": "minute", "MIN": "minute", "MINS": "minute",
    "MINUTES": "minute",
}  # fmt: skip


def field(name: str) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for year, month, hour ...; timestamps with a time zone use the session's zone."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        import polars as pl

        (arg,) = args
        shown_as = arg.expr if arg.kind == DATE else local(arg, scope)
        if shown_as is None:
            raise refused(f"{name} of timestamps of several zones", text, "name one with wr.config(timezone=...)")
        return Typed(FIELDS[name](shown_as).cast(pl.Int32), INT, arg.failures)

    return make


def add_days(sign: int) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for date_add or date_sub, and for a date plus or minus an int."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        import polars as pl

        day, days = args
        shift = days.expr.cast(pl.Int32)
        number = day.expr.to_physical() + shift if sign > 0 else day.expr.to_physical() - shift
        return Typed(number.cast(pl.Date), DATE, merged(*args))

    return make


def days_after(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile a number of days plus a date."""
    return add_days(1)([args[1], args[0]], scope, text)


def add_months(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile add_months with a literal; a day beyond the end of the month becomes its last day."""
    day, months = args
    return Typed(day.expr.dt.offset_by(f"{months.literal}mo"), DATE, merged(*args))


def days_between(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile datediff: the days from the second date to the first."""
    end, start = args
    return Typed(end.expr.to_physical() - start.expr.to_physical(), INT, merged(*args))


def subtract_times(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile the difference of two dates or timestamps, an interval."""
    import polars as pl

    left, right = args
    if left.kind == DATE:
        days = left.expr.to_physical().cast(pl.Int64) - right.expr.to_physical().cast(pl.Int64)
        return Typed((days * _DAY).cast(pl.Duration("us")), INTERVAL, merged(*args))
    if family(left.kind) != family(right.kind):
        raise refused(f"{shown(left.kind)} - {shown(right.kind)}", text)
    micros = left.expr.dt.epoch("us") - right.expr.dt.epoch("us")
    return Typed(micros.cast(pl.Duration("us")), INTERVAL, merged(*args) + _cut(args, text))


def _cut(args: list[Typed], text: object) -> tuple[Failure, ...]:
    """Return the rows on which a result in microseconds would truncate nanoseconds."""
    rows = [r for r in map(cut_nanoseconds, args) if r is not None]
    return tuple(failing(r, "nanoseconds, which Spark's times have not", text, COMPUTE_ELSEWHERE) for r in rows)


def _sum(one: pl.Expr, other: pl.Expr, sign: int, text: object) -> tuple[pl.Expr, Failure]:
    """Add or subtract times of one unit as integers, and return the rows on which 64 bits overflow."""
    one, other = one.to_physical(), other.to_physical()
    result = one + other if sign > 0 else one - other
    outside = ((one ^ result) & ((other ^ result) if sign > 0 else (one ^ other))) < 0
    return result, failing(outside, "ARITHMETIC_OVERFLOW", text, "cast to another unit of time", overflow=True)


def add_interval(sign: int) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for a date or timestamp plus or minus an interval."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        import polars as pl

        time, by = args
        zoned = time.kind != DATE and time.kind.tz not in (None, "UTC")
        interval = by.literal
        if not isinstance(interval, Interval):
            if zoned:
                raise refused(f"{shown(time.kind)} and an interval that is not a literal", text)
            unit = time.kind.unit
            result, outside = _sum(time.expr, by.expr.cast(pl.Duration(unit)), sign, text)
            failures = (*merged(*args), *(() if unit == "ns" else _cut([by], text)), outside)
            return Typed(result.cast(plain(time.kind)), time.kind, failures)
        months, days, micros = (sign * p for p in (interval.months, interval.days, interval.microseconds))
        if months and (days or micros):
            raise refused("an interval of months and days", text, "add one after the other")
        if time.kind == DATE:
            if micros:
                raise refused("a date and an interval of hours", text, "cast the date to a timestamp first")
            amount = f"{months}mo" if months else f"{days}d"
            return Typed(time.expr.dt.offset_by(amount), DATE, merged(*args))
        if zoned and (scope.zone() != time.kind.tz or months or days or abs(micros) >= _DAY):
            raise refused("a zoned timestamp and an interval of days or months", text)
        if months:
            result = time.expr.dt.cast_time_unit("us").dt.offset_by(f"{months}mo")
            if time.kind.unit == "ns":  # its cast fails for years outside the range of nanoseconds
                result = result.cast(plain(time.kind)) + pl.duration(nanoseconds=time.expr.to_physical() % 1000)
            return Typed(result, time.kind, merged(*args))
        step = pl.lit(days * _DAY + micros).cast(pl.Duration("us")).cast(pl.Duration(time.kind.unit))
        result, outside = _sum(time.expr, step, 1, text)
        return Typed(result.cast(plain(time.kind)), time.kind, (*merged(*args), outside))

    return make


def moved_reversed(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile an interval plus a date or timestamp."""
    return add_interval(1)([args[1], args[0]], scope, text)


def interval_sum(sign: int) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for an interval plus or minus another."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        import polars as pl

        args = [not_months(a, text) for a in args]
        one, other = (a.expr.cast(pl.Duration("us")) for a in args)
        result, outside = _sum(one, other, sign, text)
        return Typed(result.cast(pl.Duration("us")), INTERVAL, (*merged(*args), *_cut(args, text), outside))

    return make


_TRUNCATED = {
    "YEAR": "1y", "YYYY": "1y", "YY": "1y", "QUARTER": "1q", "MONTH": "1mo", "MM": "1mo", "MON": "1mo", "WEEK": "1w",
}  # fmt: skip


def truncated(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Compile trunc: the first day of a date's week, month, quarter or year."""
    unit = args[1].literal
    if unit.upper() not in _TRUNCATED:
        raise refused("trunc to another unit than 'YEAR', 'QUARTER', 'MONTH' or 'WEEK'", text)
    return Typed(args[0].expr.dt.truncate(_TRUNCATED[unit.upper()]), DATE, merged(*args))
