"""The levels in which calls inside calls are computed.

    v - lag(v) OVER w                    one call; then the host subtracts
    sum(row_number() OVER w) OVER w      row_number at level 0, sum at level 1

Calls of one level read input columns and places of lower levels; between two levels, and after the last one, the host
evaluates the scalar expressions that read places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .._model.calls import Call, Derived, expressions_of
from .._model.expressions import Expr, Scalar
from .._model.replace import replace
from .._model.result_columns import place
from .._model.windows import Bound, Order
from ..exceptions import InternalError

__all__ = ["calls_in", "inputs_of", "levels", "rewritten"]


def rewritten(call: Call, change: Callable[[Expr], Expr]) -> Call:
    """Give a call with other expressions in the place of all that it reads.

    Parameters
    ----------
    call
        The call.
    change
        Gives the other expression.

    Returns
    -------
    Call
        The new call.
    """

    def ordered(orders: Iterable[Order]) -> tuple[Order, ...]:
        return tuple(replace(o, key=change(o.key)) for o in orders)

    def bound(one: Bound) -> Bound:
        return one if one.offset is None else replace(one, offset=change(one.offset))

    window = call.window
    if window is not None:
        frame = window.frame
        window = replace(
            window,
            partition_by=tuple(map(change, window.partition_by)),
            order_by=ordered(window.order_by),
            frame=None if frame is None else replace(frame, start=bound(frame.start), end=bound(frame.end)),
        )
    return replace(
        call,
        args=tuple(map(change, call.args)),
        window=window,
        condition=None if call.condition is None else change(call.condition),
        argument_order=ordered(call.argument_order),
    )


def calls_in(item: Call | Derived | Expr) -> dict[str, Call]:
    """Give the calls whose results an item reads itself, by their places.

    Parameters
    ----------
    item
        A call (which is its own result), an expression over calls, or one that reads none.

    Returns
    -------
    dict
        Place to call.
    """
    if isinstance(item, Call):
        return {place(item): item}
    return dict(item.calls) if isinstance(item, Derived) else {}


def inputs_of(items: Iterable[Call | Derived | Expr]) -> dict[str, Scalar]:
    """Collect the expressions over input columns that items read by names of their own, however deep they stand."""
    found: dict[str, Scalar] = {}
    for item in items:
        if isinstance(item, Derived):
            found |= item.inputs
            found |= inputs_of(item.calls.values())
        elif isinstance(item, Call):
            found |= inputs_of(expressions_of(item))
    return found


def levels(items: Iterable[Call | Derived | Expr]) -> list[dict[str, Call]]:
    """Lay the calls of all items out in levels.

    Parameters
    ----------
    items
        What was asked for.

    Returns
    -------
    list of dict
        Place to call, for each level; a call reads input columns and places of lower levels.
    """
    found: list[dict[str, Call]] = []
    heights: dict[str, int] = {}
    for item in items:
        for at, call in calls_in(item).items():
            _lay(at, call, found, heights)
    return found


def _lay(at: str, call: Call, found: list[dict[str, Call]], heights: dict[str, int]) -> int:
    """Put a call, and first those inside it, into its level; give its height."""
    height = heights.get(at)
    if height is None:
        inner = [e for e in expressions_of(call) if isinstance(e, (Call, Derived))]
        below = [_lay(*pair, found, heights) for e in inner for pair in calls_in(e).items()]
        height = heights[at] = max(below, default=-1) + 1
        while len(found) <= height:
            found.append({})
        found[height][at] = call
    elif place(found[height][at]) != place(call):
        raise InternalError(f"{call.sql} and {found[height][at].sql} have one place, {at}")
    return height
