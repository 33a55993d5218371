"""Checks that converting Python values to Arrow loses nothing.

Without an error, pyarrow truncates fractions and times, and drops unknown keys of structs.
"""

from __future__ import annotations

import datetime as dt
import math
import numbers
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

__all__ = ["fits", "same_fields"]

# units of times, in nanoseconds
_UNITS: Final = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
# values of these types are never truncated by a type that accepts them, except half floats
_WHOLE: Final = frozenset([int, bool, str, bytes, type(None)])


def fits(values: Sequence[Any], data_type: pa.DataType) -> bool:
    """Whether values can be converted to a type, which accepts them, without loss.

    Parameters
    ----------
    values
        The values; None is null.
    data_type
        The type.

    Returns
    -------
    bool
        False where a fraction, a part of a time or a key would be lost, or a finite float become infinite.
    """
    if pa.types.is_float64(data_type):
        return True
    if set(map(type, values)) <= _WHOLE and not pa.types.is_float16(data_type):
        return True
    return all(value is None or _fits(value, data_type) for value in values)


def _fits(value: Any, data_type: pa.DataType) -> bool:
    types = pa.types
    if types.is_dictionary(data_type) or types.is_run_end_encoded(data_type):
        return _fits(value, data_type.value_type)
    is_time = (
        types.is_date(data_type)
        or types.is_timestamp(data_type)
        or types.is_duration(data_type)
        or types.is_time(data_type)
    )
    is_number = isinstance(value, (numbers.Real, Decimal))  # numpy's are numbers.Real, too
    if types.is_integer(data_type) or (is_time and is_number):
        return not is_number or (math.isfinite(value) and value == int(value))
    if types.is_float16(data_type) and isinstance(value, int):
        return abs(value) <= 65504 and pa.scalar(float(value), data_type).as_py() == value
    if types.is_float32(data_type) or types.is_float16(data_type):
        return not is_number or not math.isfinite(value) or math.isfinite(pa.scalar(float(value), data_type).as_py())
    if types.is_date(data_type):
        return not isinstance(value, dt.datetime) or (value.time() == dt.time() and _nanoseconds(value) == 0)
    if is_time:
        return _nanoseconds(value) % _UNITS[data_type.unit] == 0
    if types.is_struct(data_type):
        if not isinstance(value, Mapping):
            parts = [item[1] if isinstance(item, tuple) and len(item) == 2 else item for item in value]
            plain = len(parts) != data_type.num_fields or isinstance(value, tuple)
            return plain or all(fits([p], data_type.field(i).type) for i, p in enumerate(parts))
        names = {data_type.field(i).name: data_type.field(i).type for i in range(data_type.num_fields)}
        return value.keys() <= names.keys() and all(fits([v], names[k]) for k, v in value.items())
    if types.is_map(data_type):
        pairs = value.items() if isinstance(value, Mapping) else value
        return all(fits([k], data_type.key_type) and fits([v], data_type.item_type) for k, v in pairs)
    if hasattr(data_type, "value_type") and not isinstance(value, (str, bytes)):
        return fits(list(value), data_type.value_type)
    return True


def _nanoseconds(value: Any) -> int:
    """Return the nanoseconds of a time or duration after the last full second."""
    micros = value.microseconds if isinstance(value, dt.timedelta) else getattr(value, "microsecond", 0)
    finer = getattr(value, "nanosecond", getattr(value, "nanoseconds", 0))
    return micros * 1_000 + finer


def same_fields(source: pa.DataType, data_type: pa.DataType) -> bool:
    """Whether two types have the same struct fields at all levels, so that a cast adds and drops none."""
    if pa.types.is_struct(source) and pa.types.is_struct(data_type):
        fields = {source.field(i).name: source.field(i).type for i in range(source.num_fields)}
        names = {data_type.field(i).name: data_type.field(i).type for i in range(data_type.num_fields)}
        return fields.keys() <= names.keys() and all(same_fields(t, names[n]) for n, t in fields.items())
    if (
        pa.types.is_map(source)
        or pa.types.is_map(data_type)
        or not (hasattr(source, "value_type") and source.num_fields)
    ):
        return True
    return not hasattr(data_type, "value_type") or same_fields(source.value_type, data_type.value_type)
