"""Converts Python values to literals of Spark's types."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa

from .._model.expressions import smallest_decimal
from .._model.intervals import Interval
from .casts import plain
from .typed import Typed, refused
from .types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, INTERVAL, NTZ, STRING, VOID

__all__ = ["typed_literal"]


def typed_literal(value: Any, text: object) -> Typed:
    """Convert a Python value to a literal of the type that Spark gives it."""
    import polars as pl

    kind: pa.DataType
    if value is None:
        return Typed(pl.lit(None), VOID, literal=None, text=text)
    if isinstance(value, bool):
        kind = BOOLEAN
    elif isinstance(value, int):
        if -(2**63) <= value < 2**63:
            kind = INT if -(2**31) <= value < 2**31 else BIGINT
        else:
            value = Decimal(value)
            kind = pa.decimal128(*smallest_decimal(value))
    elif isinstance(value, float):
        kind = DOUBLE
    elif isinstance(value, Decimal):
        kind = pa.decimal128(*smallest_decimal(value))
    elif isinstance(value, str):
        kind = STRING
    elif isinstance(value, dt.datetime):
        kind = NTZ if value.tzinfo is None else pa.timestamp("us", "UTC")
        value = value if value.tzinfo is None else value.astimezone(dt.timezone.utc)
    elif isinstance(value, dt.date):
        kind = DATE
    elif isinstance(value, dt.timedelta):
        value = Interval(days=value.days, microseconds=value.seconds * 1_000_000 + value.microseconds)
        kind = INTERVAL
    elif isinstance(value, Interval):
        kind = INTERVAL
    else:
        raise refused(f"a literal {type(value).__name__}", text)
    if isinstance(value, Interval):
        micros = value.days * 86_400_000_000 + value.microseconds
        return Typed(pl.lit(micros).cast(pl.Duration("us")), kind, literal=value, text=text)
    return Typed(pl.lit(value, dtype=plain(kind)), kind, literal=value, text=text)
