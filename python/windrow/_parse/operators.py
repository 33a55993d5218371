"""Joins the operands of the model's operators: each operation is what parsing its SQL gives.

    wr.col("v") - wr.lag("v").over(w)  ->  Derived(Sql("v - <result>"), {<result>: lag}, "v - lag(v) OVER ...")

Operands that bind less tightly than their operator are put in parentheses, as SQL's grammar needs them. Expressions of
a host become inputs of their own, which the host evaluates first.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

import pyarrow as pa

from .._model.calls import Call, Derived
from .._model.expressions import (
    MAX_DIGITS,
    Column,
    Columns,
    Expr,
    HostExpression,
    Literal,
    Scalar,
    Sql,
    as_expr,
    literal_sql,
    smallest_decimal,
)
from .._model.operators import AND, ATOM, NOT, OR, PREDICATE, PRODUCT, SIGN, SUM, register_maker
from .._model.result_columns import INPUT_PREFIX, result_column
from .._model.structure import canonical_text
from ..exceptions import SpecError, UnsupportedError, shown
from .grammar import parse, syntax, text_of
from .sql_text import parse_expression, refuse_bare_functions
from .types import arrow_type

__all__: list[str] = []

#: How tightly the nodes of sqlglot's trees bind; all others that are no function get parentheses.
_BINDING: Final = {
    "Or": OR, "And": AND, "Not": NOT, "Add": SUM, "Sub": SUM, "Mul": PRODUCT, "Div": PRODUCT, "Mod": PRODUCT,
    "Neg": SIGN, "Between": PREDICATE, "In": PREDICATE, "Is": PREDICATE, "Like": PREDICATE,
    **dict.fromkeys(("EQ", "NEQ", "LT", "LTE", "GT", "GTE"), PREDICATE),
    **dict.fromkeys((
        "Anonymous", "Boolean", "Case", "Cast", "Column", "Literal", "Null", "Paren", "TryCast", "Window"), ATOM),
}  # fmt: skip
_LOOSEST: Final = 0
_TYPES: Final = {
    pa.bool_(): "BOOLEAN", pa.int8(): "TINYINT", pa.int16(): "SMALLINT", pa.int32(): "INT", pa.int64(): "BIGINT",
    pa.float32(): "FLOAT", pa.float64(): "DOUBLE", pa.string(): "STRING", pa.large_string(): "STRING",
    pa.binary(): "BINARY", pa.large_binary(): "BINARY", pa.date32(): "DATE",
}  # fmt: skip


class _Operand(NamedTuple):
    """An operand as SQL text, once as its user wrote it, and once as the host evaluates it."""

    text: str
    evaluated: str
    binding: int
    is_literal: bool = False
    calls: dict[str, Call] = {}  # noqa: RUF012 - never changed
    inputs: dict[str, Scalar] = {}  # noqa: RUF012 - never changed


class _SqlMaker:
    """Makes expressions of operands."""

    def operation(self, template: str, binding: int, operands: Sequence[tuple[Any, int]]) -> Expr:
        """Join operands by SQL text."""
        parts = [(_operand(value), needed) for value, needed in operands]
        text = template.format(*[_placed(p.text, p.binding, needed) for p, needed in parts])
        calls: dict[str, Call] = {}
        inputs: dict[str, Scalar] = {}
        for part, _ in parts:
            calls |= part.calls
            inputs |= part.inputs
        made: Sql | Derived
        if calls or inputs:
            evaluated = template.format(*[_placed(p.evaluated, p.binding, needed) for p, needed in parts])
            made = Derived(Sql(evaluated), calls, text, inputs=inputs)
        elif all(p.is_literal for p, _ in parts):  # which SQL may fold into one
            return parse_expression(text)
        else:
            made = Sql(text)
        object.__setattr__(made, "binding", binding)
        return made

    def cast(self, value: Any, to: Any) -> Expr:
        """Convert a value to a type."""
        return self.operation(f"CAST({{}} AS {_type_text(to)})", ATOM, [(value, OR)])

    def named(self, value: Any, name: str) -> Derived:
        """Make an item with a name of an expression."""
        return Derived(value, {}, str(value), name)


register_maker(_SqlMaker())


def _placed(text: str, binding: int, needed: int) -> str:
    return text if binding >= needed else f"({text})"


def _operand(value: Any) -> _Operand:
    expression = Literal(value) if isinstance(value, str) else as_expr(value, "an operator")
    if isinstance(expression, Column):
        return _same(str(expression), ATOM)
    if isinstance(expression, Literal):
        text, binding = _literal(expression.value) if expression.text is None else _read(expression.text)
        return _Operand(text, text, binding, is_literal=True)
    if isinstance(expression, Sql):
        known = expression.binding
        return _same(*_read(expression.text) if known is None else (expression.text, known))
    if isinstance(expression, HostExpression):
        name = f"{INPUT_PREFIX}{hashlib.sha256(expression.token.encode()).hexdigest()[:16]}"
        return _Operand(str(expression), name, ATOM, inputs={name: expression})
    if isinstance(expression, Columns):
        text = str(expression)
        at = f"{INPUT_PREFIX}{hashlib.sha256(canonical_text(expression).encode()).hexdigest()[:16]}"
        return _Operand(text, at, ATOM, inputs={at: expression})
    if isinstance(expression, Call):
        at = result_column(expression)
        return _Operand(expression.sql, at, ATOM, calls={at: expression})
    assert isinstance(expression, Derived)
    return _derived(expression)


def _same(text: str, binding: int) -> _Operand:
    return _Operand(text, text, binding)


def _derived(derived: Derived) -> _Operand:
    inner = derived.expression
    if isinstance(inner, HostExpression):
        raise UnsupportedError(
            f"{derived.text}: an expression of a host with a window call in it is no operand; write it with "
            "windrow's functions, or compute it into a column first"
        )
    if not isinstance(inner, Sql):
        return _operand(inner)
    if derived.binding is None:
        (text, binding), (evaluated, _) = _read(derived.text), _read(inner.text)
    else:
        text, evaluated, binding = derived.text, inner.text, derived.binding
    return _Operand(text, evaluated, binding, calls=dict(derived.calls), inputs=dict(derived.inputs))


@lru_cache(maxsize=1024)
def _read(text: str) -> tuple[str, int]:
    """Return SQL text as sqlglot writes it, and how tightly it binds."""
    tree = parse(text)
    if isinstance(tree, syntax().Alias):
        raise SpecError(f"{text}: AS names an item; write .alias({tree.alias!r}) at the end of the expression")
    if not isinstance(tree, syntax().Window):
        refuse_bare_functions(tree)
    return text_of(tree), _BINDING.get(type(tree).__name__, _LOOSEST)


def _literal(value: Any) -> tuple[str, int]:
    """Write a value as SQL of its type, and say how tightly it binds."""
    if isinstance(value, bool):
        return str(value).upper(), ATOM
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return str(value), SIGN if value < 0 else ATOM
    if isinstance(value, float):
        if not math.isfinite(value):
            return f"CAST('{value}' AS DOUBLE)", ATOM
        if not value or "e" in repr(value):  # as a decimal, -0.0 would lose its sign
            return repr(value) if value else f"{value:.0f}e0", SIGN if math.copysign(1, value) < 0 else ATOM
        return f"CAST({value!r} AS DOUBLE)", ATOM
    if isinstance(value, (int, Decimal)):
        number = Decimal(value)
        digits, scale = smallest_decimal(number) if number.is_finite() else (MAX_DIGITS + 1, 0)
        if digits > MAX_DIGITS:
            raise SpecError(f"{shown(value)} is no decimal of up to {MAX_DIGITS} digits")
        if scale and number >= 0:
            return format(number, "f"), ATOM
        return f"CAST('{number:f}' AS DECIMAL({digits}, {scale}))", ATOM
    if isinstance(value, dt.datetime):
        kind = "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP"
        return f"CAST('{value.isoformat(sep=' ')}' AS {kind})", ATOM
    if isinstance(value, dt.date):
        return f"CAST('{value.isoformat()}' AS DATE)", ATOM
    if isinstance(value, dt.time):
        return f"CAST('{value.isoformat()}' AS TIME)", ATOM
    if isinstance(value, tuple):
        return f"array({', '.join(_literal(v)[0] for v in value)})", ATOM
    return literal_sql(value), ATOM


def _type_text(to: Any) -> str:
    """Write a type as Spark's SQL does."""
    try:
        kind = arrow_type(to, "cast()")
    except SpecError:
        kind = None
    if kind is not None:
        if pa.types.is_decimal(kind):
            return f"DECIMAL({kind.precision}, {kind.scale})"
        if pa.types.is_timestamp(kind):
            return "TIMESTAMP_NTZ" if kind.tz is None else "TIMESTAMP"
        if kind in _TYPES:
            return _TYPES[kind]
    raise SpecError(
        f"cast() takes a type, not {shown(to)}; write one of Spark's SQL such as 'double', 'bigint', 'date' or "
        "'decimal(10, 2)', or pa.int64()"
    )
