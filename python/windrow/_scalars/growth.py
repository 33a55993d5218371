"""How large and how deep a Polars expression is: what it uses twice counts twice, as Polars goes through it twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["extent"]


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
