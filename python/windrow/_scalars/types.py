"""Spark's rules for the types of scalar expressions, over Arrow's types."""

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
    """Name the family of a type, by which the table of functions knows it.

    Parameters
    ----------
    kind
        The type.

    Returns
    -------
    str
        ``"integer"``, ``"decimal"``, ``"timestamp"`` (with a zone), ``"timestamp_ntz"``, ``"interval"``, or the type's
        own name in Spark; for a type that no scalar reads, Arrow's name of it.
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
    """Write a type as Spark does."""
    if pa.types.is_decimal128(kind):
        return f"decimal({kind.precision},{kind.scale})"
    return _NAMES.get(kind, family(kind))


def decimal_of_integer(kind: pa.DataType) -> pa.DataType:
    """Give the decimal type that holds all values of an integer type."""
    return pa.decimal128(_DIGITS[kind], 0)


def wider_decimal(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Give the decimal type that holds all values of two, None where no type of 38 digits does."""
    scale = max(one.scale, other.scale)
    digits = max(one.precision - one.scale, other.precision - other.scale)
    return pa.decimal128(scale + digits, scale) if scale + digits <= 38 else None


def widest_number(one: pa.DataType, other: pa.DataType, *, ansi: bool) -> pa.DataType | None:
    """Give the type in which two numbers are compared and added: Spark's under ANSI, or without.

    Parameters
    ----------
    one, other
        The types.
    ansi
        Whether ANSI rules hold, by which an integer and a float are doubles.

    Returns
    -------
    pyarrow.DataType or None
        None where they are not numbers, or no decimal holds both.
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
    """Give the one type that values of several have in CASE, coalesce and comparisons.

    Parameters
    ----------
    kinds
        The types.
    ansi
        Whether ANSI rules hold.

    Returns
    -------
    pyarrow.DataType or None
        None where Spark's rules have none, or one that is not exact here.
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
            # the same instant, whatever the zone it is shown in
            wider = pa.timestamp("ns" if any(k.unit == "ns" for k in times) else "us", times[0].tz)
        if wider is None:
            return None
        found = wider
    return found
