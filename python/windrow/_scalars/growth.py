"""How large a Polars expression is: what it uses twice counts twice, as Polars goes through it twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["operations"]


def operations(expression: pl.Expr, most: int) -> int:
    """Count the operations of an expression, columns and literals among them, up to one more than ``most``."""
    level, count = [expression], 0
    while level and count <= most:
        count += len(level)
        # a level may be twice as long as the one above
        level = [inner for outer in level[: most + 1] for inner in outer.meta.pop()]
    return min(count, most + 1)
