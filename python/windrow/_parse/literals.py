"""Literals of SQL text: what value a syntax tree of sqlglot's stands for, arithmetic between literals included."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from .._model.intervals import Interval, parse_duration
from ..exceptions import SpecError
from .limits import excerpt

__all__ = ["NO_VALUE", "value_of"]

#: What :func:`value_of` gives for what is no literal; None is one.
NO_VALUE: Any = object()
_CASTS: dict[str, Callable[[Any], Any]] = {
    "TINYINT": int, "SMALLINT": int, "INT": int, "BIGINT": int, "FLOAT": float, "DOUBLE": float,
    # a TIMESTAMP's text is read in the session's zone: that is left to the host
    "DATE": dt.date.fromisoformat, "TIMESTAMPNTZ": dt.datetime.fromisoformat,
}  # fmt: skip


def value_of(node: Any) -> Any:
    """Give the Python value of a literal, or of arithmetic between literals; else :data:`NO_VALUE`."""
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return value_of(node.this)
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        if node.is_string:
            return str(node.this)
        text = str(node.this)
        try:
            if re.fullmatch(r"\d+", text):
                return int(text)
            return float(text) if "e" in text.lower() else Decimal(text)
        except (ValueError, ArithmeticError):  # '²' is a digit to some, and an int has a limit
            raise SpecError(f"{excerpt(text)} is no number that windrow can hold") from None
    if isinstance(node, exp.Interval):
        return _interval(node)
    if isinstance(node, exp.Neg):
        value = value_of(node.this)
        return -value if isinstance(value, (int, float, Decimal, Interval)) else NO_VALUE
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul)):
        return _fold(node, value_of(node.this), value_of(node.expression))
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal):
        convert = _CASTS.get(node.to.this.value if hasattr(node.to.this, "value") else str(node.to.this))
        try:
            return convert(str(node.this.this)) if convert else NO_VALUE
        except ValueError:
            return NO_VALUE
    if isinstance(node, exp.Array) or (isinstance(node, exp.Anonymous) and str(node.this).lower() == "array"):
        values = tuple(value_of(item) for item in node.expressions)
        return NO_VALUE if NO_VALUE in values else values
    return NO_VALUE


def _fold(node: Any, left: Any, right: Any) -> Any:
    from sqlglot import exp

    if isinstance(left, Interval) and isinstance(right, Interval) and not isinstance(node, exp.Mul):
        right = -right if isinstance(node, exp.Sub) else right
        return Interval(left.months + right.months, left.days + right.days, left.microseconds + right.microseconds)
    if type(left) is not type(right) or not isinstance(left, (int, Decimal)) or isinstance(left, bool):
        return NO_VALUE
    if isinstance(node, exp.Add):
        return left + right
    return left - right if isinstance(node, exp.Sub) else left * right


def _interval(node: Any) -> Any:
    from sqlglot import exp

    unit = node.args.get("unit")
    value = NO_VALUE if node.this is None else value_of(node.this)
    if isinstance(value, (int, Decimal)):
        value = str(value)
    if not isinstance(value, str):
        return NO_VALUE
    if unit is None:
        return parse_duration(value)
    if isinstance(unit, exp.IntervalSpan):
        return _span(value, str(unit.this.this).upper(), str(unit.expression.this).upper())
    return parse_duration(f"{value} {unit.this}")


def _span(text: str, largest: str, smallest: str) -> Interval:
    """Read ``INTERVAL '1 02:03:04.5' DAY TO SECOND`` and ``INTERVAL '1-2' YEAR TO MONTH``."""
    fields = ["DAY", "HOUR", "MINUTE", "SECOND"]
    match = re.fullmatch(r"\s*([+-]?)\s*([\d .:-]+?)\s*", text)
    if match:
        sign = -1 if match[1] == "-" else 1
        parts = re.split(r"[ :-]+", match[2])
        names = ["YEAR", "MONTH"] if largest == "YEAR" else fields[fields.index(largest) : fields.index(smallest) + 1]
        if len(parts) == len(names):
            span = parse_duration(" ".join(f"{part} {name}" for part, name in zip(parts, names, strict=True)))
            return span if sign == 1 else -span
    raise SpecError(f"INTERVAL {text!r} {largest} TO {smallest} cannot be read")
