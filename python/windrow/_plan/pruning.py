"""The columns that a query reads of what is below it, and a query without the items that nobody reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .._model.calls import Call, Derived, expressions_of
from .._model.expressions import Expr, Item
from .._model.outputs import Output
from .._model.replace import replace
from .._parse.query import Query
from .._parse.sql_text import columns_of

__all__ = ["columns_read", "pruned"]


def columns_read(query: Query, columns: Sequence[str]) -> list[int]:
    """List the columns that a query reads of what is in FROM.

    Parameters
    ----------
    query
        The query.
    columns
        The columns below it.

    Returns
    -------
    list of int
        Their positions; names that differ in case alone are taken for one.
    """
    if query.below is not None:
        return columns_read(_with_items(query.below, _items_read(query, query.below)), columns)
    return _columns_read(query, columns)


def _items_read(query: Query, below: Query) -> list[int]:
    """List the items that a query reads of the one below it; groups need all of theirs."""
    if below.group_keys is not None:
        return list(range(len(below.outputs)))
    return _columns_read(query, [o.name for o in below.outputs])


def _with_items(query: Query, kept: Sequence[int]) -> Query:
    return replace(query, outputs=[query.outputs[i] for i in kept])


def _columns_read(query: Query, columns: Sequence[str]) -> list[int]:
    asked: list[Expr | None] = [query.where, query.qualify, *(o.key for o in query.order)]
    asked += [o.item for o in query.outputs]
    names = _names(e for e in asked if e is not None)
    if names is None:
        return list(range(len(columns)))
    positions = {o.position for o in query.outputs}
    names |= {(o.column or o.name).lower() for o in query.outputs if o.item is None and o.position is None}
    return [i for i, c in enumerate(columns) if i in positions or c.lower() in names]


def _names(expressions: Iterable[Expr]) -> set[str] | None:
    """Return the names in expressions, in lower case; None if one may read any column."""
    found: set[str] = set()
    for expression in expressions:
        if isinstance(expression, Call):
            names = _names(expressions_of(expression))
        elif isinstance(expression, Derived):
            names = _names([expression.expression, *expression.calls.values(), *expression.inputs.values()])
        else:
            assert not isinstance(expression, Item)
            names = columns_of(expression)
        if names is None:
            return None
        found |= names
    return found


def pruned(query: Query, kept: Sequence[int], moved: Mapping[int, int]) -> Query:
    """Return a query with some of its items alone, over a relation that has some of its columns alone.

    Parameters
    ----------
    query
        The query.
    kept
        The positions of the items that stay.
    moved
        The new position of each column that is left of what is in FROM.

    Returns
    -------
    Query
        The query.
    """
    query = _with_items(query, kept)
    if query.below is not None:
        read = _items_read(query, query.below)
        query = replace(query, below=pruned(query.below, read, moved))
        moved = {old: new for new, old in enumerate(read)}
    return replace(query, outputs=[_moved(o, moved) for o in query.outputs])


def _moved(output: Output, moved: Mapping[int, int]) -> Output:
    return output if output.position is None else replace(output, position=moved[output.position])
