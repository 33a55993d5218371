"""Nested calls: the levels in which they are computed.

    v - lag(v) OVER w                    one call; then the host subtracts
    sum(row_number() OVER w) OVER w      row_number at level 0, sum at level 1

Calls of one level read input columns and results of lower levels. Between two levels, and after the last one, the host
evaluates the scalar expressions over results.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._model.calls import Call, Derived, expressions_of
from .._model.expansion import map_expressions as map_expressions
from .._model.expressions import Expr, Scalar
from .._model.result_columns import result_column
from ..exceptions import InternalError

__all__ = ["calls_in", "inputs_of", "levels", "map_expressions"]


def calls_in(item: Call | Derived | Expr) -> dict[str, Call]:
    """Return the calls whose results an item reads directly, by result column.

    Parameters
    ----------
    item
        A call (which is its own result), an expression over calls, or one that reads none.

    Returns
    -------
    dict
        Result column to call.
    """
    if isinstance(item, Call):
        return {result_column(item): item}
    return dict(item.calls) if isinstance(item, Derived) else {}


def inputs_of(items: Iterable[Call | Derived | Expr]) -> dict[str, Scalar]:
    """Collect the named expressions over input columns in items, at any depth."""
    found: dict[str, Scalar] = {}
    for item in items:
        if isinstance(item, Derived):
            found |= item.inputs
            found |= inputs_of(item.calls.values())
        elif isinstance(item, Call):
            found |= inputs_of(expressions_of(item))
    return found


def levels(items: Iterable[Call | Derived | Expr]) -> list[dict[str, Call]]:
    """Group the calls of all items by level.

    Parameters
    ----------
    items
        What was asked for.

    Returns
    -------
    list of dict
        Result column to call, for each level; a call reads input columns and results of lower levels.
    """
    laid: list[dict[str, Call]] = []
    depths: dict[str, int] = {}
    for item in items:
        for column, call in calls_in(item).items():
            _assign_level(column, call, laid, depths)
    return laid


def _assign_level(column: str, call: Call, laid: list[dict[str, Call]], depths: dict[str, int]) -> int:
    """Add a call, and first those inside it, to its level; return the level's index."""
    depth = depths.get(column)
    if depth is None:
        inner = [e for e in expressions_of(call) if isinstance(e, (Call, Derived))]
        inner_levels = [_assign_level(*pair, laid, depths) for e in inner for pair in calls_in(e).items()]
        depth = depths[column] = max(inner_levels, default=-1) + 1
        while len(laid) <= depth:
            laid.append({})
        laid[depth][column] = call
    elif result_column(laid[depth][column]) != result_column(call):
        raise InternalError(f"{call.sql} and {laid[depth][column].sql} have one result column, {column}")
    return depth
