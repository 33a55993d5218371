"""Spark's type rules for scalar expressions, on Arrow types."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

__all__ = [
    "BIGINT",
    "BOOLEAN",
    "DATE",
    "DOUBLE",
    "FLOAT",
    "INT",
    "NTZ",
    "SMALLINT",
    "STRING",
    "TINYINT",
    "VOID",
    "common",
    "decimal_of_integer",
    "family",
    "shown",
    "wider_decimal",
    "widest_number",
]

VOID, BOOLEAN, STRING, DATE = pa.null(), pa.bool_(), pa.string(), pa.date32()
TINYINT, SMALLINT, INT, BIGINT = pa.int8(), pa.int16(), pa.int32(), pa.int64()
FLOAT, DOUBLE = pa.float32(), pa.float64()
NTZ, INTERVAL = pa.timestamp("us"), pa.duration("us")

_NAMES = {
    VOID: "void", BOOLEAN: "boolean", STRING: "string", DATE: "date", TINYINT: "tinyint", SMALLINT: "smallint",
    INT: "int", BIGINT: "bigint", FLOAT: "float", DOUBLE: "double",
}  # fmt: skip
_INTEGERS = (TINYINT, SMALLINT, INT, BIGINT)
_DIGITS = dict(zip(_INTEGERS, (3, 5, 10, 20), strict=True))


def family(kind: pa.DataType) -> str:
    """Return the family of a type, as named in the table of functions.

    Parameters
    ----------
    kind
        The type.

    Returns
    -------
    str
        ``"integer"``, ``"decimal"``, ``"timestamp"`` (with a zone), ``"timestamp_ntz"``, ``"interval"``, or Spark's
        name of the type; for a type that no scalar expression accepts, Arrow's name.
    """
    if kind in _INTEGERS:
        return "integer"
    if pa.types.is_decimal128(kind):
        return "decimal"
    if pa.types.is_timestamp(kind):
        return "timestamp_ntz" if kind.tz is None else "timestamp"
    if pa.types.is_duration(kind):
        return "interval"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return "array"
    return _NAMES.get(kind, "struct" if pa.types.is_struct(kind) else str(kind))


def shown(kind: pa.DataType) -> str:
    """Return Spark's name of a type."""
    if pa.types.is_decimal128(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return _NAMES.get(kind, family(kind))


def decimal_of_integer(kind: pa.DataType) -> pa.DataType:
    """Return the decimal type that holds all values of an integer type."""
    return pa.decimal128(_DIGITS[kind], 0)


def wider_decimal(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return the decimal type that holds all values of two; None if 38 digits are not enough."""
    scale = max(one.scale, other.scale)
    digits = max(one.precision - one.scale, other.precision - other.scale)
    return pa.decimal128(scale + digits, scale) if scale + digits <= 38 else None


def widest_number(one: pa.DataType, other: pa.DataType, *, ansi: bool) -> pa.DataType | None:
    """Return the type in which Spark compares and adds two numbers, with or without ANSI mode.

    Parameters
    ----------
    one, other
        The types.
    ansi
        Whether ANSI mode is on, in which an integer and a float become doubles.

    Returns
    -------
    pyarrow.DataType or None
        None if they are not numbers, or no decimal type holds both.
    """
    if one == other:
        return one
    kinds = {family(one), family(other)}
    if not kinds <= {"integer", "float", "double", "decimal"}:
        return None
    if kinds == {"integer"}:
        return max(one, other, key=_INTEGERS.index)
    if kinds <= {"integer", "decimal"}:
        return wider_decimal(*(decimal_of_integer(k) if k in _INTEGERS else k for k in (one, other)))
    return FLOAT if kinds == {"integer", "float"} and not ansi else DOUBLE


def common(kinds: Sequence[pa.DataType], *, ansi: bool) -> pa.DataType | None:
    """Return the common type of several types in CASE, coalesce and comparisons.

    Parameters
    ----------
    kinds
        The types.
    ansi
        Whether ANSI mode is on.

    Returns
    -------
    pyarrow.DataType or None
        None if Spark has no common type, or one that windrow cannot evaluate exactly.
    """
    found: pa.DataType = VOID
    for kind in kinds:
        if kind in (found, VOID):
            continue
        if found == VOID:
            found = kind
            continue
        families = {family(found), family(kind)}
        wider = widest_number(found, kind, ansi=ansi)
        if wider is None and (families == {"timestamp"} or families <= {"date", "timestamp_ntz"}):
            times = [k for k in (found, kind) if pa.types.is_timestamp(k)]
            # the same instant, whatever the time zone of its type is
            wider = pa.timestamp("ns" if any(k.unit == "ns" for k in times) else "us", times[0].tz)
        if wider is None:
            return None
        found = wider
    return found
