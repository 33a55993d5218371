"""The values of SQL literals, including arithmetic between literals."""

from __future__ import annotations

import datetime as dt
import math
import re
import sys
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from .._model.expressions import EXACT_CONTEXT, MAX_DIGITS as _DIGITS, negated, smallest_decimal
from .._model.intervals import Interval, parse_duration
from ..exceptions import SpecError

__all__ = ["NO_VALUE", "integer_width", "needs_explicit_type", "value_of"]

#: The result of :func:`value_of` for a tree that is not a literal. (None is the literal NULL.)
NO_VALUE: Any = object()


def _zoned(text: str) -> dt.datetime:
    """Read a timestamp that names its zone: any other depends on the session's, and is the host's to evaluate."""
    value = dt.datetime.fromisoformat(text)
    if value.tzinfo is None:
        raise ValueError(text)
    return value


_CASTS: dict[str, Callable[[Any], Any]] = {
    "TINYINT": int, "SMALLINT": int, "INT": int, "BIGINT": int, "DOUBLE": float,
    # the host evaluates FLOAT, which has 32 bits
    "DATE": dt.date.fromisoformat, "TIMESTAMPNTZ": dt.datetime.fromisoformat, "TIMESTAMP": _zoned,
    "TIMESTAMPTZ": _zoned,
}  # fmt: skip
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


def value_of(node: Any) -> Any:
    """Return the Python value of a literal, or of arithmetic between literals; :data:`NO_VALUE` for other trees."""
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
        return _number(str(node.this))
    if isinstance(node, exp.Interval):
        return _interval(node)
    if isinstance(node, exp.Neg):
        value = value_of(node.this)
        if not isinstance(value, (int, float, Decimal, Interval)):
            return NO_VALUE
        if type(value) is int and -(2**63) <= value < 2**63:  # beyond it is a decimal in Spark
            return _check_integer_range(negated(value), node, f"of -({value})")
        return negated(value)
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul)):
        return _fold(node, value_of(node.this), value_of(node.expression))
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal):
        return _cast(str(node.this.this), node.to, of_text=bool(node.this.is_string))
    if isinstance(node, exp.Array) or (isinstance(node, exp.Anonymous) and str(node.this).lower() == "array"):
        values = tuple(value_of(item) for item in node.expressions)
        return NO_VALUE if NO_VALUE in values else values
    return NO_VALUE


def integer_width(node: Any) -> int:
    """Return the width in bits of the Spark type of an integer literal, or of arithmetic between integer literals."""
    from sqlglot import exp

    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
        return 32 if value_of(node.this) <= 2**31 else 64  # the sign is a part of the literal
    if isinstance(node, (exp.Paren, exp.Neg)):
        return integer_width(node.this)
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul)):
        return max(integer_width(node.this), integer_width(node.expression))
    if isinstance(node, exp.Cast):
        return _BITS.get(getattr(node.to.this, "value", ""), 64)
    return 32 if abs(value_of(node)) < 2**31 else 64


def needs_explicit_type(node: Any, value: Any) -> bool:
    """Whether a number's Spark type differs from the default type of its value.

    Parameters
    ----------
    node
        The syntax tree of the number.
    value
        Its value, from :func:`value_of`.

    Returns
    -------
    bool
        True for integers with a type suffix (``7L``), and for sums and products of decimals, which have more digits.
    """
    from sqlglot import exp

    if isinstance(value, Decimal):
        return node.find(exp.Add, exp.Sub, exp.Mul) is not None
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return integer_width(node) != (32 if -(2**31) <= value < 2**31 else 64)


def _fold(node: Any, left: Any, right: Any) -> Any:
    from sqlglot import exp

    if isinstance(left, Interval) and isinstance(right, Interval) and not isinstance(node, exp.Mul):
        right = -right if isinstance(node, exp.Sub) else right
        return Interval(left.months + right.months, left.days + right.days, left.microseconds + right.microseconds)
    if type(left) is not type(right) or not isinstance(left, (int, Decimal)) or isinstance(left, bool):
        return NO_VALUE
    result: Any
    if isinstance(left, Decimal):
        compute = EXACT_CONTEXT.add if isinstance(node, exp.Add) else EXACT_CONTEXT.subtract
        result = (EXACT_CONTEXT.multiply if isinstance(node, exp.Mul) else compute)(left, right)
    elif isinstance(node, exp.Add):
        result = left + right
    else:
        result = left - right if isinstance(node, exp.Sub) else left * right
    return _check_integer_range(result, node, f"of {left} and {right}") if isinstance(left, int) else result


def _check_integer_range(result: int, node: Any, what: str) -> int:
    """Return the result of arithmetic between integer literals, after checking that it fits their type."""
    bits = integer_width(node)
    if not -(2 ** (bits - 1)) <= result < 2 ** (bits - 1):
        raise SpecError(f"the result {what}, {result}, is no {bits}-bit integer as they are; widen one with a cast")
    return result


def _number(text: str) -> int | float | Decimal:
    """Parse an unsigned number as Spark does: integers of up to 64 bits, decimals of up to 38 digits, doubles."""
    if "e" in text.lower():
        value = float(text)
        if math.isinf(value):
            raise SpecError(f"{text} is no double: the largest is {sys.float_info.max}")
        return value
    if len(text.lstrip("0.")) > _DIGITS + 1 or sum(c.isdigit() for c in text.lstrip("0")) > _DIGITS:
        raise SpecError(f"{text} is no decimal: it has more than {_DIGITS} digits")
    return int(text) if text.isdigit() else Decimal(text)


def _cast(text: str, to: Any, *, of_text: bool) -> Any:
    """Convert a literal with a type suffix or a cast; a value that does not fit the type is an error."""
    name = to.this.value if hasattr(to.this, "value") else str(to.this)
    if name == "DECIMAL" and of_text and to.expressions:
        return _decimal(text, [int(str(p.this.this)) for p in to.expressions])
    convert = _CASTS.get(name)
    try:
        value = convert(text) if convert else NO_VALUE
    except ValueError:
        return NO_VALUE
    if name in _BITS and not -(2 ** (_BITS[name] - 1)) <= value <= 2 ** (_BITS[name] - 1) - (not of_text):
        raise SpecError(f"{text} does not fit {name}, an integer of {_BITS[name]} bits")
    return value


def _decimal(text: str, digits: list[int]) -> Any:
    """Convert a decimal: for ``1.5BD`` the smallest type that holds it, for a cast the type of the cast."""
    precision, scale = [*digits, 0][:2]
    try:
        value = Decimal(text)
    except InvalidOperation:
        return NO_VALUE
    return value if value.is_finite() and smallest_decimal(value) == (precision, scale) else NO_VALUE


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
    """Parse ``INTERVAL '1 02:03:04.5' DAY TO SECOND`` and ``INTERVAL '1-2' YEAR TO MONTH``."""
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
