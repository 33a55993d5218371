"""Arithmetic and numeric functions by Spark's rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import decimals
from .casts import cast, plain
from .growth import evaluated_once
from .typed import COMPUTE_ELSEWHERE, Failure, Scope, Typed, failing, merged, refused
from .types import BIGINT, DOUBLE, FLOAT, family, shown, widest_number

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "arithmetic",
    "bitwise",
    "divided",
    "floor_or_ceil",
    "negated",
    "power",
    "remainder",
    "rounded",
    "whole_quotient",
]

# in chains of at most this many integer operations, each operation has an exact check
_EXACTLY = 12
_WIDEN = "cast to a wider type, or wr.config(ansi=False) lets it wrap"
_NULLIF = "write a divisor of nullif(b, 0), or wr.config(ansi=False) gives NULL"
_DIVIDE = "write try_divide(a, b) or a divisor of nullif(b, 0), or wr.config(ansi=False) gives NULL"


def _decimals(args: list[Typed]) -> list[tuple[pl.Expr, pa.DataType]]:
    """Cast integers and decimals to decimals; the precision of an integer literal is its number of digits."""
    made = []
    for arg in args:
        expr, kind = decimals.as_decimal(arg.expr, arg.kind)
        if arg.is_literal and isinstance(arg.literal, int):
            import polars as pl

            kind = pa.decimal128(len(str(abs(arg.literal))), 0)
            expr = expr.cast(pl.Decimal(kind.precision, 0))
        made.append((expr, kind))
    return made


def _bounds(kind: pa.DataType) -> tuple[int, int]:
    bits = kind.bit_width - 1
    return -(2**bits), 2**bits - 1


def arithmetic(symbol: str) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for ``+``, ``-`` or ``*`` of two numbers."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        import polars as pl

        left, right = args
        failures = merged(left, right)
        kinds = {family(left.kind), family(right.kind)}
        if "decimal" in kinds and kinds <= {"decimal", "integer"}:
            (one, of_one), (other, of_other) = _decimals(args)
            wide = decimals.product(of_one, of_other) if symbol == "*" else decimals.sum_of(of_one, of_other)
            if wide is None:
                raise refused(f"{shown(of_one)} {symbol} {shown(of_other)}, which cuts digits,", text)
            if symbol == "*":
                full = pl.Decimal(38, wide.scale)
                one, other = one.cast(full), other.cast(full)
            return Typed(_apply(symbol, one, other).cast(plain(wide)), wide, failures)
        kind = widest_number(left.kind, right.kind, ansi=scope.ansi)
        assert kind is not None
        one, other = (cast(a, kind, text, scope).expr for a in args)
        result = _apply(symbol, one, other)
        if family(kind) == "integer" and scope.ansi:
            return _checked(_Operation(symbol, left, right, one, other, result, kind, text))
        return Typed(result, kind, failures)

    return make


@dataclass(frozen=True, slots=True)
class _Operation:
    """``+``, ``-`` or ``*`` of two integers; ``one`` and ``other`` have the type of the result."""

    symbol: str
    left: Typed
    right: Typed
    one: pl.Expr
    other: pl.Expr
    result: pl.Expr
    kind: pa.DataType
    text: object


def _checked(operation: _Operation) -> Typed:
    """Return the rows on which integers overflow. Long chains use one conservative check instead of exact ones.

    The exact check of an operation repeats the whole chain before it, which is too large for long chains.
    """
    import polars as pl

    left, right, kind = operation.left, operation.right, operation.kind
    operations = left.operations + right.operations + 1
    sizes = [v.expr.cast(pl.Float64).abs() if v.bound is None else v.bound for v in (left, right)]
    bound = sizes[0] + sizes[1]
    if operation.symbol == "*":
        bound = pl.max_horizontal(sizes[0], 1.0) * pl.max_horizontal(sizes[1], 1.0)
    checks = left.checks + right.checks
    if operations <= _EXACTLY:
        check = _overflow(operation)
        failures, checks = (*merged(left, right), check), (*checks, check)
    else:
        known = {id(c) for c in checks}
        near = bound >= float(2 ** (kind.bit_width - 2))
        name = "ARITHMETIC_OVERFLOW, or integers too near to it to be told"
        check = failing(near, name, operation.text, _WIDEN, overflow=True)
        failures, checks = (*(f for f in merged(left, right) if id(f) not in known), check), (check,)
    return Typed(operation.result, kind, failures, checks=checks, operations=operations, bound=bound)


def _apply(symbol: str, one: pl.Expr, other: pl.Expr) -> pl.Expr:
    if symbol == "+":
        return one + other
    return one - other if symbol == "-" else one * other


def _overflow(operation: _Operation) -> Failure:
    """Return the rows on which an operation overflows; with a literal, one comparison is enough."""
    import polars as pl

    symbol, left, right, kind = operation.symbol, operation.left, operation.right, operation.kind
    one, other, result = operation.one, operation.other, operation.result
    low, high = _bounds(kind)
    constant = right.literal if right.is_literal else left.literal if left.is_literal and symbol != "-" else None
    value = one if right.is_literal else other
    rows: pl.Expr
    if isinstance(constant, int) and not isinstance(constant, bool):
        if symbol == "*":
            if constant in (0, 1):
                rows = pl.lit(False)
            elif constant == -1:
                rows = value == low
            else:
                least = -(-low // constant) if constant > 0 else -(-high // constant)
                most = high // constant if constant > 0 else low // constant
                rows = (value > most) | (value < least)
        else:
            step = constant if symbol == "+" else -constant
            rows = value > high - step if step > 0 else value < low - step
    elif symbol == "*":
        wide = pl.Int64 if kind.bit_width <= 32 else pl.Int128
        product = one.cast(wide) * other.cast(wide)
        rows = (product > pl.lit(high, dtype=wide)) | (product < pl.lit(low, dtype=wide))
    else:
        # both summands have the same sign, and the sum has the other
        rows = ((one ^ result) & ((other ^ result) if symbol == "+" else (one ^ other))) < 0
    name = "ARITHMETIC_OVERFLOW" if kind.bit_width >= 32 else "BINARY_ARITHMETIC_OVERFLOW"
    return failing(rows, name, operation.text, _WIDEN, overflow=True)


def divided(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Divide doubles, or decimals with Spark's precision and scale."""
    import polars as pl

    left, right = args
    zero = right.expr == 0
    failures = merged(left, right)
    known = right.is_literal and bool(right.literal)
    if not known and scope.ansi:
        failures += (failing(zero & left.expr.is_not_null(), "DIVIDE_BY_ZERO", text, _DIVIDE),)
    kinds = {family(left.kind), family(right.kind)}
    if "decimal" in kinds and kinds <= {"decimal", "integer"}:
        (one, of_one), (other, of_other) = _decimals(args)
        other = other if known else pl.when(other != 0).then(other)
        found = decimals.divided(one, of_one, other, of_other)
        if found is None:
            raise refused(f"{shown(of_one)} / {shown(of_other)}, which cuts digits,", text)
        return Typed(found[0], found[1], failures)
    one, other = (cast(a, DOUBLE, text, scope).expr for a in args)
    other = other if known else pl.when(~zero).then(other)
    return Typed(decimals.quotient(one, other, scope.rows()), DOUBLE, failures)


def try_divide(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Divide; a division by zero is NULL."""
    made = divided(args, Scope(scope.kinds, False, scope.timezone), text)
    return Typed(made.expr, made.kind, merged(*args))


def _nonzero(
    args: list[Typed], scope: Scope, text: object, error: str = "DIVIDE_BY_ZERO"
) -> tuple[pl.Expr, pl.Expr, pa.DataType, tuple[Failure, ...]]:
    import polars as pl

    left, right = args
    kind = widest_number(left.kind, right.kind, ansi=scope.ansi)
    assert kind is not None
    one, other = (cast(a, kind, text, scope).expr for a in args)
    failures = merged(left, right)
    if not (right.is_literal and right.literal):
        if scope.ansi:
            failures += (failing((other == 0) & one.is_not_null(), error, text, _NULLIF),)
        other = pl.when(other != 0).then(other)
    return one, other, kind, failures


def remainder(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Return the remainder of integers, with the sign of the dividend."""
    import polars as pl

    one, other, kind, failures = _nonzero(args, scope, text, "REMAINDER_BY_ZERO")
    modulo = one % other  # has the sign of the divisor
    fixed = (modulo != 0) & ((one < 0) ^ (other < 0))
    return Typed(pl.when(fixed).then(modulo - other).otherwise(modulo), kind, failures)


def positive_remainder(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Return Spark's pmod of integers."""
    if args[1].literal <= 0:
        raise refused("pmod by what is not a positive literal", text)
    one, other, kind, failures = _nonzero(args, scope, text)
    return Typed(one % other, kind, failures)


def whole_quotient(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Divide integers, truncating the fraction."""
    import polars as pl

    one, other, _, failures = _nonzero(args, scope, text)
    one, other = one.cast(pl.Int64), other.cast(pl.Int64)
    low, _ = _bounds(BIGINT)
    if scope.ansi and (not args[1].is_literal or args[1].literal == -1):
        failures += (failing((one == low) & (other == -1), "ARITHMETIC_OVERFLOW", text, _WIDEN, overflow=True),)
    floor = one // other
    above = (floor * other != one) & ((one < 0) ^ (other < 0))
    return Typed(pl.when(above).then(floor + 1).otherwise(floor), BIGINT, failures)


def negated(function: str) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for ``-x`` or ``abs(x)``, which overflows for the least integer."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        (arg,) = args
        failures = arg.failures
        if family(arg.kind) == "integer" and scope.ansi and not arg.is_literal:
            failures += (failing(arg.expr == _bounds(arg.kind)[0], "ARITHMETIC_OVERFLOW", text, _WIDEN, overflow=True),)
        return Typed(arg.expr.abs() if function == "abs" else -arg.expr, arg.kind, failures)

    return make


def bitwise(symbol: str) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for ``&``, ``|`` or ``^`` of two integers."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        kind = widest_number(args[0].kind, args[1].kind, ansi=scope.ansi)
        assert kind is not None
        one, other = (cast(a, kind, text, scope).expr for a in args)
        result = one & other if symbol == "&" else one | other if symbol == "|" else one ^ other
        return Typed(result, kind, merged(*args))

    return make


def floor_or_ceil(function: str) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return the function for ``floor`` or ``ceil``. Beyond bigint it fails under ANSI rules, else saturates."""

    def make(args: list[Typed], scope: Scope, text: object) -> Typed:
        import polars as pl

        (arg,) = args
        if family(arg.kind) == "integer":
            return Typed(arg.expr.cast(pl.Int64), BIGINT, arg.failures)
        x = cast(arg, DOUBLE, text, scope).expr
        whole = x.floor() if function == "floor" else x.ceil()
        low, high = _bounds(BIGINT)
        made = (
            pl.when(x.is_nan())
            .then(0)
            .when(whole >= 2.0**63)
            .then(high)
            .when(whole < -(2.0**63))
            .then(low)
            .otherwise(whole.cast(pl.Int64, strict=False))
        )
        failures = arg.failures
        if scope.ansi:
            outside = ~((whole < 2.0**63) & (whole >= -(2.0**63)))
            failures += (failing(outside, "ARITHMETIC_OVERFLOW", text, _WIDEN, overflow=True),)
        return Typed(pl.when(x.is_not_null()).then(made), BIGINT, failures)

    return make


def rounded(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Round half away from zero."""
    digits = args[1].literal if len(args) == 2 else 0
    if isinstance(digits, bool) or not isinstance(digits, int):
        raise refused("round to digits that are not a literal", text)
    arg, failures = args[0], merged(*args)
    kind = family(arg.kind)
    if kind == "integer" and digits >= 0:
        return Typed(arg.expr, arg.kind, failures)
    if kind == "decimal" and digits <= 22:
        return _rounded_decimal(arg, digits, text)
    if kind != "double" or not -22 <= digits <= 22:
        raise refused(f"round of {shown(arg.kind)} to {digits} digits", text)
    result, unknown = (
        evaluated_once(arg.expr, lambda x, part=part: decimals.round_double(x, digits)[part])  # type: ignore[misc]
        for part in (0, 1)
    )
    return Typed(
        result,
        DOUBLE,
        (
            *failures,
            failing(unknown, "a value of 14 digits or more cannot be rounded exactly here", text, COMPUTE_ELSEWHERE),
        ),
    )


def _rounded_decimal(arg: Typed, digits: int, text: object) -> Typed:
    whole = arg.kind.precision - arg.kind.scale + 1
    scale = min(arg.kind.scale, max(digits, 0))
    if digits < 0:
        raise refused(f"round of {shown(arg.kind)} to {digits} digits", text)
    to = pa.decimal128(min(whole + scale, 38), scale)
    expr = decimals.rescaled(arg.expr, arg.kind, to)
    if expr is None or whole + scale > 38:
        raise refused(f"round of {shown(arg.kind)} to {digits} digits", text)
    return Typed(expr, to, arg.failures)


def function_of_doubles(make: Callable[..., Any]) -> Callable[[list[Typed], Scope, object], Typed]:
    """Return a function of doubles; other numbers are cast to double, as in Spark."""

    def made(args: list[Typed], scope: Scope, text: object) -> Typed:
        return Typed(make(*(cast(a, DOUBLE, text, scope).expr for a in args)), DOUBLE, merged(*args))

    return made


def power(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Raise a double to a power by Java's rules for NaN and infinities."""
    import polars as pl

    x, y = (cast(a, DOUBLE, text, scope) for a in args)
    base, exponent = x.expr, y.expr
    known = y.literal if y.is_literal else None
    if known is None or known == 0.5:  # Polars would compute a square root, with NaN for -inf and -0.0 for -0.0
        root = (exponent == 0.5) & ((base == 0) | base.is_infinite())
        base = pl.when(root).then(base.abs()).otherwise(base)
    result = base.pow(exponent)
    if known is None:
        none = exponent.is_nan() | ((base.abs() == 1) & exponent.is_infinite())
        result = pl.when(none).then(base * math.nan).otherwise(result)
    return Typed(result, DOUBLE, merged(*args))


def is_nan(args: list[Typed], scope: Scope, text: object) -> Typed:
    """Whether a number is NaN; false for NULL."""
    (arg,) = args
    if arg.kind in (DOUBLE, FLOAT):
        return Typed(arg.expr.is_nan().fill_null(False), pa.bool_(), arg.failures)
    return Typed(arg.expr.is_null() & False, pa.bool_(), arg.failures)
