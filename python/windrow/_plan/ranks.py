"""Queries of which a limit on a rank keeps few rows: ``QUALIFY row_number() OVER (PARTITION BY k ORDER BY t) <= 3``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from .._model.calls import Call, Derived, expressions_of
from .._model.expressions import Expr
from .._model.replace import replace
from .._parse.query import Query

__all__ = ["limited_rank"]

#: What each rank counts, as :meth:`Plan.top_rows` calls it.
_COUNTED: Final = {"row_number": "rows", "rank": "peers", "dense_rank": "values"}


def limited_rank(query: Query) -> tuple[Call, int, str] | None:
    """Return the rank whose limit decides which rows a query keeps, if no other call reads the rows left out.

    Parameters
    ----------
    query
        The query.

    Returns
    -------
    tuple or None
        The call, the limit, and what is counted up to it. None if some rows behind the limit are read: all calls must
        be ranks in one order, which count the rows before them.
    """
    if query.most is None or query.below is not None:
        return None
    call, most = query.most
    if most < 1 or not _is_rank(call):
        return None
    asked = [o.item for o in query.outputs if o.item is not None] + [o.key for o in query.order]
    asked += [] if query.qualify is None else [query.qualify]
    if any(not _is_rank(other) or not _same_order(other, call) for other in _calls(asked)):
        return None
    return call, most, _COUNTED[call.function]


def _is_rank(call: Call) -> bool:
    window = call.window
    plain = call.function in _COUNTED and call.user is None and not call.args and not call.argument_order
    return plain and call.condition is None and window is not None and window.min_rows is None


def _same_order(one: Call, other: Call) -> bool:
    assert one.window is not None
    assert other.window is not None
    return replace(one.window, frame=None).equals(replace(other.window, frame=None))


def _calls(expressions: Iterable[Expr]) -> Iterator[Call]:
    """Give the calls in expressions, at any depth."""
    for expression in expressions:
        if isinstance(expression, Call):
            yield expression
            yield from _calls(expressions_of(expression))
        elif isinstance(expression, Derived):
            yield from _calls(expression.calls.values())
