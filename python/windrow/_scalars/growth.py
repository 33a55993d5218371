"""How large and how deep a Polars expression is: what it uses twice counts twice, as Polars goes through it twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["evaluated_once", "extent"]

# an expression of so many operations may be written several times
_SMALL = 8


def extent(expression: pl.Expr, operations: int, levels: int | None = None) -> tuple[int, int]:
    """Count the operations of an expression, and how many follow one another; columns and literals count as well.

    Parameters
    ----------
    expression
        The expression.
    operations, levels
        Where counting ends: beyond either of them the numbers may be too small.

    Returns
    -------
    tuple of int
        Operations and levels.
    """
    level, count, depth = [expression], 0, 0
    while level and count <= operations and (levels is None or depth <= levels):
        count, depth = count + len(level), depth + 1
        level = [inner for outer in level[: operations + 1] for inner in outer.meta.pop()]
    return count, depth


def evaluated_once(expression: pl.Expr, make: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """Make an expression that uses another one many times, which is written and evaluated once where it is large.

    Parameters
    ----------
    expression
        The expression that is used.
    make
        Makes the new one.

    Returns
    -------
    polars.Expr
        The new one; it grows with the number of nested uses, and not with its power.
    """
    import polars as pl

    if extent(expression, _SMALL)[0] <= _SMALL:
        return make(expression)
    bound = pl.struct(expression.alias("x"))
    return bound.struct.with_fields(make(pl.field("x")).alias("made")).struct.field("made")
