"""Types that PySpark's Arrow lacks and Spark casts: intervals of years and months go to Python as numbers of months."""

from __future__ import annotations

import pyspark.sql.types as T  # noqa: N812 - its usual name

__all__ = ["carried_schema", "carried_type", "casts_back", "casts_there", "has_months"]


def carried_type(dtype: T.DataType) -> T.DataType:
    """Give the type in which a column goes to Python: its own, but for intervals of years and months."""
    return _replaced(dtype, T.IntegerType())


def carried_schema(schema: T.StructType) -> T.StructType:
    """Give columns in the types in which they go to Python."""
    return T.StructType([T.StructField(f.name, carried_type(f.dataType), f.nullable) for f in schema.fields])


def has_months(dtype: T.DataType) -> bool:
    """Whether a type is one of intervals of years and months, or has such in it."""
    return carried_type(dtype) != dtype


def casts_there(dtype: T.DataType) -> list[str]:
    """List the types, as JSON, that Spark casts a column to on its way to Python, one after the other."""
    return [_in_months(dtype).json(), carried_type(dtype).json()] if has_months(dtype) else []


def casts_back(dtype: T.DataType) -> list[str]:
    """List the types, as JSON, that Spark casts a column to on its way back."""
    return [_in_months(dtype).json(), dtype.json()] if has_months(dtype) else [dtype.json()]


def _in_months(dtype: T.DataType) -> T.DataType:
    """Give the type with intervals of months alone, which Spark casts from numbers and to them."""
    month = T.YearMonthIntervalType.MONTH
    return _replaced(dtype, T.YearMonthIntervalType(month, month))


def _replaced(dtype: T.DataType, months: T.DataType) -> T.DataType:
    if isinstance(dtype, T.YearMonthIntervalType):
        return months
    if isinstance(dtype, T.ArrayType):
        return T.ArrayType(_replaced(dtype.elementType, months), dtype.containsNull)
    if isinstance(dtype, T.MapType):
        key, value = (_replaced(part, months) for part in (dtype.keyType, dtype.valueType))
        return T.MapType(key, value, dtype.valueContainsNull)
    if isinstance(dtype, T.StructType):
        return T.StructType(
            [T.StructField(f.name, _replaced(f.dataType, months), f.nullable, f.metadata) for f in dtype.fields]
        )
    return dtype
