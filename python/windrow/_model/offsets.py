"""How far a frame's bounds lie from the row, as users write it."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

from ..exceptions import SpecError, shown
from .expressions import Column, Expr, HostExpression, Literal, Sql, as_expr
from .intervals import Interval, parse_duration

__all__ = ["as_offset", "name_of_frame"]


def as_offset(value: Any) -> Expr:
    """Turn what a user may write as the offset of a frame's bound into an expression."""
    if isinstance(value, str):
        return Literal(parse_duration(value))
    if isinstance(value, (Column, Sql, HostExpression)):
        return value
    amount = value.value if isinstance(value, Literal) else value
    if isinstance(amount, str):
        return Literal(parse_duration(amount))
    expression = as_expr(amount, "a frame's bound")
    if not isinstance(expression, Literal):
        return expression
    amount = expression.value
    if isinstance(amount, bool) or not isinstance(amount, (int, float, Decimal, dt.timedelta, Interval)):
        raise SpecError(
            f"{shown(amount)} cannot bound a frame; write a number, a duration such as '7 days', a timedelta, "
            "wr.interval(...), wr.col('name') or None for unbounded"
        )
    if amount.is_nan() if isinstance(amount, Decimal) else isinstance(amount, float) and math.isnan(amount):
        raise SpecError("NaN cannot bound a frame")
    return expression


def name_of_frame(frame: Any) -> str:
    """Name a frame given as a length or a pair of bounds, as the end of a column's name."""
    parts = []
    for bound in frame if isinstance(frame, tuple) else (frame,):
        if isinstance(bound, dt.timedelta):
            parts.append(f"{bound.days}d" if bound == dt.timedelta(bound.days) else f"{bound.total_seconds():g}s")
        else:
            parts.append("unbounded" if bound is None else "".join(str(bound).split()))
    return "_".join(parts)
