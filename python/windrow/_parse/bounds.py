"""The upper bounds that a condition sets: ``row_number() OVER w <= 3 AND x > 1`` has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .grammar import syntax
from .literals import value_of

__all__ = ["upper_bounds"]


def upper_bounds(condition: Any) -> Iterator[tuple[Any, int]]:
    """Find the expressions of which a condition demands that they are at most a whole number.

    Parameters
    ----------
    condition
        A tree of sqlglot's.

    Yields
    ------
    tuple
        The tree of the expression, and the greatest value for which the condition can be true.
    """
    exp = syntax()
    pending = [condition]
    while pending:
        node = pending.pop().unnest()
        if isinstance(node, exp.And):
            pending += [node.left, node.right]
        elif isinstance(node, (exp.LTE, exp.LT, exp.EQ)) and (most := _whole(node.right)) is not None:
            yield node.left.unnest(), most - isinstance(node, exp.LT)
        elif isinstance(node, (exp.GTE, exp.GT, exp.EQ)) and (most := _whole(node.left)) is not None:
            yield node.right.unnest(), most - isinstance(node, exp.GT)
        elif isinstance(node, exp.Between) and (most := _whole(node.args["high"])) is not None:
            yield node.this.unnest(), most


def _whole(tree: Any) -> int | None:
    value = value_of(tree.unnest())
    return value if isinstance(value, int) and not isinstance(value, bool) else None
