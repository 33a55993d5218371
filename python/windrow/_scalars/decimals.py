"""Decimal arithmetic and rounding by Spark's rules: exact, half away from zero."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa

from .types import decimal_of_integer, family, wider_decimal

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "as_decimal",
    "as_double",
    "decimal_of_double",
    "divided",
    "product",
    "quotient",
    "rescaled",
    "round_double",
    "sum_of",
]

#: From this size after scaling, neighbouring decimals may round to the same double.
_NEAR, _WHOLE = 1e14, 2.0**53


def as_decimal(expr: pl.Expr, kind: pa.DataType) -> tuple[pl.Expr, pa.DataType]:
    """Cast an integer or decimal expression to a decimal."""
    import polars as pl

    if family(kind) != "integer":
        return expr, kind
    wide = decimal_of_integer(kind)
    return expr.cast(pl.Decimal(wide.precision, 0)), wide


def as_double(expr: pl.Expr, kind: pa.DataType) -> pl.Expr:
    """Convert a decimal to the nearest double."""
    import polars as pl

    # the quotient of two doubles is correctly rounded only if both are exact
    return expr.cast(pl.Float64) if kind.precision <= 15 else expr.cast(pl.String).cast(pl.Float64)


def quotient(left: pl.Expr, right: pl.Expr, rows: pl.Expr | None = None) -> pl.Expr:
    """Divide doubles, correctly rounded. If the divisor is a scalar, Polars multiplies by its reciprocal instead.

    Therefore the divisor is repeated to the length of ``rows``, or of the dividend, which is then evaluated twice.
    """
    import polars as pl

    return left / (right + (left if rows is None else rows).is_null().cast(pl.Float64) * 0.0)


def sum_of(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return the type of a sum or difference; None if Spark would truncate digits."""
    wide = wider_decimal(one, other)
    return pa.decimal128(wide.precision + 1, wide.scale) if wide is not None and wide.precision < 38 else None


def product(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return the type of a product; None if Spark would truncate digits."""
    precision = one.precision + other.precision + 1
    return pa.decimal128(precision, one.scale + other.scale) if precision <= 38 else None


def divided(left: pl.Expr, one: pa.DataType, right: pl.Expr, other: pa.DataType) -> tuple[pl.Expr, pa.DataType] | None:
    """Divide two decimals with a nonzero divisor; None if the digits do not fit in 128 bits."""
    import polars as pl

    scale = max(6, one.scale + other.precision + 1)
    precision = one.precision - one.scale + other.scale + scale
    shift = scale - one.scale + other.scale
    if precision + scale > 38 or one.precision + shift > 37:
        return None
    kind = pa.decimal128(precision, scale)
    numerator = left.to_physical().cast(pl.Int128) * pl.lit(10**shift, dtype=pl.Int128)
    return from_unscaled(half_up(numerator, right.to_physical().cast(pl.Int128)), kind), kind


def half_up(numerator: pl.Expr, divisor: pl.Expr) -> pl.Expr:
    """Divide integers, rounding half away from zero."""
    import polars as pl

    n, d = numerator.abs(), divisor.abs()
    result = (n + n + d) // (d + d)
    negative = (numerator < 0) ^ (divisor < 0)
    return pl.when(negative).then(pl.lit(0, dtype=pl.Int128) - result).otherwise(result)


def from_unscaled(digits: pl.Expr, kind: pa.DataType) -> pl.Expr:
    """Convert unscaled integers to decimals of a type; NULL if they do not fit."""
    import polars as pl

    fits = digits.abs() < pl.lit(10**kind.precision, dtype=pl.Int128)
    kept = pl.when(fits).then(digits).cast(pl.Decimal(38, kind.scale))
    unit = pl.lit(Decimal(1).scaleb(-kind.scale), dtype=pl.Decimal(38, kind.scale))
    return (kept * unit).cast(pl.Decimal(kind.precision, kind.scale))


def rescaled(expr: pl.Expr, kind: pa.DataType, to: pa.DataType) -> pl.Expr | None:
    """Cast a decimal to another type, NULL if it does not fit; None if intermediate values exceed 128 bits."""
    import polars as pl

    if to.scale >= kind.scale:
        if kind.precision - kind.scale + to.scale > 38:
            return None
        wide = expr.cast(pl.Decimal(38, to.scale))
        if kind.precision - kind.scale <= to.precision - to.scale:
            return wide.cast(pl.Decimal(to.precision, to.scale))
        fits = wide.to_physical().abs() < pl.lit(10**to.precision, dtype=pl.Int128)
        return pl.when(fits).then(wide).cast(pl.Decimal(to.precision, to.scale))
    if kind.precision > 37 or to.precision + to.scale > 38:
        return None
    cut = pl.lit(10 ** (kind.scale - to.scale), dtype=pl.Int128)
    return from_unscaled(half_up(expr.to_physical().cast(pl.Int128), cut), to)


def rounded_double(expr: pl.Expr, digits: int) -> tuple[pl.Expr, pl.Expr]:
    """Round the shortest decimal representation of a double, half away from zero, as Spark does with BigDecimal.

    Parameters
    ----------
    expr
        A double.
    digits
        Digits after the point, from -22 to 22: powers of ten up to 22 are exact doubles.

    Returns
    -------
    tuple of polars.Expr
        The magnitude in units of the last digit, an integral double; and the rows whose digits cannot be determined
        in this way, with 14 to 16 digits.
    """
    import polars as pl

    size, power = expr.abs(), 10.0 ** abs(digits)
    scaled = size * power if digits >= 0 else quotient(size, pl.lit(power))
    low = scaled.floor()
    # the double nearest to the half above; only this double is printed as the half
    half = quotient(low * 2 + 1, pl.lit(2 * power)) if digits >= 0 else (low * 2 + 1) * (power / 2)
    unknown = (scaled >= _NEAR) & (scaled < _WHOLE)
    if digits < 0:
        unknown = unknown | ((size >= _WHOLE) & size.is_finite())
    return pl.when(size >= half).then(low + 1).otherwise(low), unknown & scaled.is_finite()


def round_double(expr: pl.Expr, digits: int) -> tuple[pl.Expr, pl.Expr]:
    """Round a double to a double; the second expression marks the rows for which that is not exact."""
    import polars as pl

    units, unknown = rounded_double(expr, digits)
    power = 10.0 ** abs(digits)
    size = quotient(units, pl.lit(power)) if digits >= 0 else units * power
    # BigDecimal has no negative zero
    signed = pl.when((expr < 0) & (size > 0)).then(-size).otherwise(size)
    whole = ~expr.is_finite() | (expr.abs() * (power if digits >= 0 else 0.0) >= _WHOLE)
    return pl.when(whole).then(expr).otherwise(signed), unknown


def decimal_of_double(expr: pl.Expr, to: pa.DataType) -> tuple[pl.Expr, pl.Expr]:
    """Cast a double to a decimal, NULL if it does not fit; the second expression marks rows where that is not exact."""
    import polars as pl

    units, unknown = rounded_double(expr, to.scale)
    unknown = unknown | (units >= _WHOLE) & expr.is_finite()
    whole = pl.when(expr.is_finite() & (units < _WHOLE)).then(units).cast(pl.Int64, strict=False).cast(pl.Int128)
    return from_unscaled(pl.when(expr < 0).then(pl.lit(0, dtype=pl.Int128) - whole).otherwise(whole), to), unknown
