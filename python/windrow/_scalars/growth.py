"""The size and depth of Polars expressions. A subexpression that is used twice counts twice, as in Polars."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["evaluated_once", "extent"]

# an expression of at most this many operations may be repeated
_SMALL = 8


def extent(expression: pl.Expr, operations: int, levels: int | None = None) -> tuple[int, int]:
    """Return the number of operations and the depth of an expression; columns and literals count as well.

    Parameters
    ----------
    expression
        The expression.
    operations, levels
        Limits: counting stops beyond one of them, so larger results may be too small.

    Returns
    -------
    tuple of int
        The number of operations, and the depth.
    """
    level, count, depth = [expression], 0, 0
    while level and count <= operations and (levels is None or depth <= levels):
        count, depth = count + len(level), depth + 1
        level = [inner for outer in level[: operations + 1] for inner in outer.meta.pop()]
    return count, depth


def evaluated_once(expression: pl.Expr, make: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """Make an expression that uses another one several times; a large one is evaluated once.

    Parameters
    ----------
    expression
        The expression that is used several times.
    make
        A function that makes the new expression.

    Returns
    -------
    polars.Expr
        The new expression. Its size grows linearly with the depth of nested uses, not exponentially.
    """
    import polars as pl

    if extent(expression, _SMALL)[0] <= _SMALL:
        return make(expression)
    bound = pl.struct(expression.alias("x"))
    return bound.struct.with_fields(make(pl.field("x")).alias("made")).struct.field("made")
