"""Casts by Spark's rules, with the rows on which they fail."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._model.replace import replace
from .decimals import as_double, decimal_of_double, quotient, rescaled
from .typed import COMPUTE_ELSEWHERE, Failure, Scope, Typed, failing, refused
from .types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    NTZ,
    SMALLINT,
    STRING,
    TINYINT,
    VOID,
    decimal_of_integer,
    family,
    shown,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "beyond_nanoseconds",
    "cast",
    "cut_nanoseconds",
    "date_of_text",
    "named_type",
    "null_of",
    "plain",
    "timestamp_of_text",
    "to_text",
]

_NAMES = {
    "BOOLEAN": BOOLEAN, "TINYINT": TINYINT, "SMALLINT": SMALLINT, "INT": INT, "BIGINT": BIGINT, "FLOAT": FLOAT,
    "DOUBLE": DOUBLE, "DATE": DATE, "TEXT": STRING, "TIMESTAMPNTZ": NTZ, "TIMESTAMP_NTZ": NTZ,
}  # fmt: skip
_TRUE, _FALSE = ["t", "true", "y", "yes", "1"], ["f", "false", "n", "no", "0"]
# the characters that Spark trims from a text before a cast
_BLANKS = "".join(map(chr, [*range(33), 127]))
_DATE = r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$"
_TRY_CAST = "try_cast gives NULL for it"


def plain(kind: pa.DataType) -> Any:
    """Return the Polars type for a type that a cast may name."""
    import polars as pl

    if pa.types.is_decimal128(kind):
        return pl.Decimal(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return pl.Datetime(kind.unit, kind.tz)
    return {
        VOID: pl.Null, BOOLEAN: pl.Boolean, TINYINT: pl.Int8, SMALLINT: pl.Int16, INT: pl.Int32, BIGINT: pl.Int64,
        FLOAT: pl.Float32, DOUBLE: pl.Float64, STRING: pl.String, DATE: pl.Date,
    }[kind]  # fmt: skip


def null_of(kind: pa.DataType) -> pl.Expr:
    """Return a NULL of a type; for a type that no cast may name, an untyped NULL of Polars."""
    import polars as pl

    try:
        return pl.lit(None, dtype=plain(kind))
    except KeyError:
        return pl.lit(None)


def cut_nanoseconds(value: Typed) -> pl.Expr | None:
    """Return the rows of a timestamp or an interval that would lose nanoseconds in microseconds; None if none can."""
    return value.expr.to_physical() % 1000 != 0 if getattr(value.kind, "unit", "us") == "ns" else None


def beyond_nanoseconds(time: pl.Expr) -> pl.Expr:
    """Return the rows whose date or timestamp is outside the range of nanoseconds in 64 bits."""
    return time.dt.epoch("us").abs() >= 2**63 // 1000


def named_type(node: Any, text: object, scope: Scope) -> pa.DataType:
    """Convert the type of a cast.

    Parameters
    ----------
    node
        sqlglot's DataType.
    text
        The expression, for the message.
    scope
        The settings, with the time zone of TIMESTAMP.

    Returns
    -------
    pyarrow.DataType
        The type.

    Raises
    ------
    UnsupportedError
        For a type outside the list.
    """
    name = getattr(node.this, "value", str(node.this))
    if name == "DECIMAL":
        parts = [str(p.this.this) for p in node.expressions] or ["10"]
        return pa.decimal128(*(int(p) for p in [*parts, "0"][:2]))  # the parser has checked the digits
    if name in ("TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ") and (zone := scope.zone()) is not None:
        return pa.timestamp("us", zone)
    if name not in _NAMES or node.expressions:
        raise refused(f"a cast to {node.sql(dialect='spark')}", text)
    return _NAMES[name]


def cast(value: Typed, to: pa.DataType, text: object, scope: Scope, *, tried: bool = False) -> Typed:
    """Cast an expression.

    Parameters
    ----------
    value
        The expression.
    to
        The type.
    text
        The cast, as written.
    scope
        The settings.
    tried
        Whether rows on which the cast fails are NULL, as in ``try_cast``.

    Returns
    -------
    Typed
        The cast.

    Raises
    ------
    UnsupportedError
        If Spark has no cast between the types, or windrow has no exact one.
    """
    import polars as pl

    kind = value.kind
    if kind == to:
        # as text, categories lose their order and are sorted alphabetically
        return Typed(value.expr, to, value.failures, value.literal, text)
    if kind == VOID:
        return Typed(null_of(to), to, value.failures, None, text)
    if value.is_literal and isinstance(value.literal, (int, Decimal)) and to == DOUBLE:
        return Typed(pl.lit(float(value.literal)), to, value.failures, float(value.literal), text)
    source, target = family(kind), family(to)
    made = _MAKERS.get((source, target), _MAKERS.get((source, "*")))
    found = None if made is None else made(value, to, scope)
    if found is None:
        raise refused(f"a cast of {shown(kind)} to {shown(to)}", text)
    expr, lost, unknown = found
    failures = list(value.failures)
    if unknown is not None:
        failures.append(failing(unknown, "a value that is not cast exactly here", text, COMPUTE_ELSEWHERE))
    if lost is not None and not tried and scope.ansi:
        failures.append(_lost(value, lost, source, target, text))
    made_ = Typed(expr, to, tuple(failures), text=text)
    read = {"date": date_of_text, "timestamp": timestamp_of_text, "timestamp_ntz": timestamp_of_text}.get(target)
    literal = value.literal_or(None)
    return replace(made_, literal=read(literal)) if read is not None and isinstance(literal, str) else made_


def _lost(value: Typed, rows: pl.Expr, source: str, target: str, text: object) -> Failure:
    if source == "string":
        return failing(rows, f"CAST_INVALID_INPUT, a text that is no {target}", text, _TRY_CAST)
    if target == "decimal":
        return failing(rows, "NUMERIC_VALUE_OUT_OF_RANGE", text, _TRY_CAST, overflow=True)
    return failing(rows, "CAST_OVERFLOW", text, _TRY_CAST, overflow=True)


_Made = Any  # (the cast, the rows on which it fails or None, the rows on which it is not exact or None), or None


def _new_nulls(expr: pl.Expr, value: Typed) -> pl.Expr:
    return expr.is_null() & value.expr.is_not_null()


def _to_boolean(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    return value.expr != 0, None, None


def _boolean_to(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    if family(to) not in ("integer", "float", "double"):
        return None
    return value.expr.cast(plain(to)), None, None


def _integer_to_integer(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    if to.bit_width >= value.kind.bit_width:
        return value.expr.cast(plain(to)), None, None
    if not scope.ansi:
        return None  # without ANSI mode Spark truncates bits, and try_cast gives NULL: not supported
    expr = value.expr.cast(plain(to), strict=False)
    return expr, _new_nulls(expr, value), None


def _to_floating(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    return value.expr.cast(plain(to)), None, None


def _floating_to_integer(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    if not scope.ansi:
        return None  # saturates
    # a float is compared with the bound as a double, which both bounds of int are; the bigint's upper one is 2**63
    bits = to.bit_width - 1
    whole = value.expr.cast(pl.Float64)
    fits = (whole > -(2.0**bits) - 1 if bits < 63 else whole >= -(2.0**bits)) & (whole < 2.0**bits)
    expr = pl.when(fits & whole.is_finite()).then(whole).cast(plain(to), strict=False)
    return expr, _new_nulls(expr, value), None


def _decimal_to_integer(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    if not scope.ansi:
        return None
    expr = value.expr.cast(plain(to), strict=False)
    return expr, _new_nulls(expr, value), None


def _decimal_to_floating(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    expr = as_double(value.expr, value.kind) if to == DOUBLE else value.expr.cast(pl.String).cast(pl.Float32)
    return expr, None, None


def _integer_to_decimal(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    wide = decimal_of_integer(value.kind)
    expr = rescaled(value.expr.cast(pl.Decimal(wide.precision, 0)), wide, to)
    return None if expr is None else (expr, _new_nulls(expr, value), None)


def _decimal_to_decimal(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    expr = rescaled(value.expr, value.kind, to)
    return None if expr is None else (expr, _new_nulls(expr, value), None)


def _double_to_decimal(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    if to.scale > 22 or to.precision + to.scale > 38:
        return None
    expr, unknown = decimal_of_double(value.expr, to)
    return expr, _new_nulls(expr, value) & ~unknown & value.expr.is_finite(), unknown


def _text_to_boolean(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    word = value.expr.str.strip_chars(_BLANKS).str.to_lowercase()
    expr = pl.when(word.is_in(_TRUE)).then(True).when(word.is_in(_FALSE)).then(False)
    return expr, _new_nulls(expr, value), None


def _text_to_integer(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    number = value.expr.str.strip_chars(_BLANKS)
    whole = number.str.contains(r"^[+-]?[0-9]+$")
    expr = pl.when(whole).then(number.str.strip_prefix("+")).cast(plain(to), strict=False)
    # without ANSI Spark takes 1.5 for 1
    unknown = None if scope.ansi else number.str.contains(r"^[+-]?[0-9]*\.[0-9]*$") & number.str.contains("[0-9]")
    return expr, _new_nulls(expr, value), unknown


def _text_to_double(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    number = value.expr.str.strip_chars(_BLANKS)
    plainly = number.str.contains(r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$")
    expr = pl.when(plainly).then(number.str.strip_prefix("+")).cast(plain(to), strict=False)
    # Java also reads 1.5f, 0x1p3, NaN and Infinity
    other = number.str.contains(r"(?i)^[+-]?(inf|infinity|nan|0x[0-9a-f.p+-]*|[0-9.]+(e[+-]?[0-9]+)?[df])$")
    return expr, _new_nulls(expr, value) & ~other, other


def date_of_text(text: str) -> dt.date | None:
    """Parse a literal date as Spark does; None if it is not a full date."""
    found = re.fullmatch(r"(\d{4})-(\d{1,2})-(\d{1,2})", text.strip())
    try:
        return dt.date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def timestamp_of_text(text: str) -> dt.datetime | None:
    """Parse a literal timestamp without a time zone; None for other formats."""
    pattern = r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?)?"
    found = re.fullmatch(pattern, text.strip())
    if found is None:
        return None
    *parts, fraction = found.groups()
    year, month, day, hour, minute, second = (int(p or 0) for p in parts)
    try:
        return dt.datetime(year, month, day, hour, minute, second, int((fraction or "0").ljust(6, "0")))
    except ValueError:
        return None


def _text_to_date(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    if value.is_literal:
        found = date_of_text(value.literal)
        return None if found is None else (pl.lit(found), None, None)
    text = value.expr.str.strip_chars(_BLANKS)
    expr = text.str.to_date("%Y-%m-%d", strict=False)
    plainly = text.str.contains(_DATE)
    # text that does not begin with a year is invalid; Spark accepts more formats than year-month-day
    other = ~plainly & text.str.contains(r"^[+-]?[0-9]{4}")
    return pl.when(plainly).then(expr), (expr.is_null() | ~plainly) & text.is_not_null() & ~other, other


def _text_to_timestamp(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    found = timestamp_of_text(value.literal) if value.is_literal and isinstance(value.literal, str) else None
    if found is None:
        return None
    if to.tz is not None:
        return pl.lit(found, dtype=pl.Datetime("us")).dt.replace_time_zone(to.tz), None, None
    return pl.lit(found, dtype=pl.Datetime("us")), None, None


def _date_to_ntz(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    return value.expr.cast(plain(to)), None, None


def _utc_only(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    if to.tz != "UTC":  # in other zones, some hours occur twice or not at all
        return None
    return value.expr.cast(pl.Datetime("us")).dt.replace_time_zone("UTC"), None, cut_nanoseconds(value)


def local(value: Typed, scope: Scope) -> pl.Expr | None:
    """Convert a timestamp to local time in the session's time zone; None if that zone is unknown."""
    expr = value.expr
    if value.kind.tz is None:
        return expr
    zone = scope.zone()
    return None if zone is None else expr.dt.convert_time_zone(zone).dt.replace_time_zone(None)


def _timestamp_to_date(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    shown_as = local(value, scope)
    return None if shown_as is None else (shown_as.dt.date(), None, None)


def _timestamp_to_ntz(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    shown_as = local(value, scope)
    return None if shown_as is None else (shown_as.dt.cast_time_unit("us"), None, cut_nanoseconds(value))


def _timestamp_to_timestamp(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    return value.expr.cast(plain(to)), None, cut_nanoseconds(value)


def _timestamp_to_integer(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    seconds = value.expr.dt.epoch("us") // 1_000_000
    if to not in (INT, BIGINT) or not scope.ansi:
        return None
    expr = seconds.cast(plain(to), strict=False)
    return expr, _new_nulls(expr, value), None


def _timestamp_to_double(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    seconds = quotient(value.expr.dt.epoch("us").cast(pl.Float64), pl.lit(1e6), scope.rows())
    return seconds, None, cut_nanoseconds(value)


def _integer_to_timestamp(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    import polars as pl

    expr = value.expr.cast(pl.Int64)
    # Spark's seconds saturate at the limits of the type
    unknown = (expr > 9_223_372_036_854) | (expr < -9_223_372_036_854)
    micros = pl.when(~unknown).then(expr) * 1_000_000
    return micros.cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(to.tz), None, unknown


def to_text(value: Typed, scope: Scope) -> tuple[pl.Expr, pl.Expr | None] | None:
    """Cast a value to text by Spark's rules.

    Parameters
    ----------
    value
        The value.
    scope
        The settings.

    Returns
    -------
    tuple of polars.Expr and (polars.Expr or None), or None
        The text, and the rows on which it is not exact; None for types whose text differs from Spark's.
    """
    import polars as pl

    kind = family(value.kind)
    if kind in ("integer", "string"):
        return value.expr.cast(pl.String), None
    if kind == "boolean":
        return pl.when(value.expr).then(pl.lit("true")).when(~value.expr).then(pl.lit("false")), None
    if kind == "decimal" and (scope.ansi or value.kind.scale <= 6):
        return value.expr.cast(pl.String), None
    if kind == "date":
        year = value.expr.dt.year()
        return value.expr.dt.strftime("%Y-%m-%d"), (year < 1) | (year > 9999)
    if kind in ("timestamp", "timestamp_ntz") and (shown_as := local(value, scope)) is not None:
        year = shown_as.dt.year()
        fraction = shown_as.dt.microsecond().cast(pl.String).str.zfill(6).str.strip_chars_end("0")
        text = shown_as.dt.strftime("%Y-%m-%d %H:%M:%S")
        text = pl.when(fraction == "").then(text).otherwise(text + "." + fraction)
        unknown, cut = (year < 1) | (year > 9999), cut_nanoseconds(value)
        return text, unknown if cut is None else unknown | cut
    return None


def _to_text(value: Typed, to: pa.DataType, scope: Scope) -> _Made:
    found = to_text(value, scope)
    return None if found is None else (found[0], None, found[1])


_MAKERS = {
    ("integer", "integer"): _integer_to_integer, ("integer", "float"): _to_floating,
    ("integer", "double"): _to_floating,
    ("integer", "decimal"): _integer_to_decimal, ("integer", "boolean"): _to_boolean,
    ("integer", "timestamp"): _integer_to_timestamp,
    ("float", "double"): _to_floating, ("double", "float"): _to_floating,
    ("float", "integer"): _floating_to_integer, ("double", "integer"): _floating_to_integer,
    ("float", "boolean"): _to_boolean, ("double", "boolean"): _to_boolean, ("double", "decimal"): _double_to_decimal,
    ("decimal", "decimal"): _decimal_to_decimal, ("decimal", "integer"): _decimal_to_integer,
    ("decimal", "float"): _decimal_to_floating, ("decimal", "double"): _decimal_to_floating,
    ("decimal", "boolean"): _to_boolean, ("boolean", "integer"): _boolean_to, ("boolean", "float"): _boolean_to,
    ("boolean", "double"): _boolean_to,
    ("string", "boolean"): _text_to_boolean, ("string", "integer"): _text_to_integer,
    ("string", "double"): _text_to_double, ("string", "float"): _text_to_double, ("string", "date"): _text_to_date,
    ("string", "timestamp"): _text_to_timestamp, ("string", "timestamp_ntz"): _text_to_timestamp,
    ("date", "timestamp_ntz"): _date_to_ntz, ("date", "timestamp"): _utc_only,
    ("timestamp_ntz", "timestamp"): _utc_only, ("timestamp", "timestamp_ntz"): _timestamp_to_ntz,
    ("timestamp_ntz", "timestamp_ntz"): _timestamp_to_ntz,
    ("timestamp", "timestamp"): _timestamp_to_timestamp,
    ("timestamp", "date"): _timestamp_to_date, ("timestamp_ntz", "date"): _timestamp_to_date,
    ("timestamp", "integer"): _timestamp_to_integer, ("timestamp", "double"): _timestamp_to_double,
    **{(k, "string"): _to_text for k in ("integer", "boolean", "decimal", "date", "timestamp", "timestamp_ntz")},
}  # fmt: skip
