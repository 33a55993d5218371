"""Calls over windows with a ``min_span``, written with calls over windows without one.

    count(key) OVER (... RANGE BETWEEN UNBOUNDED PRECEDING AND min_span PRECEDING) > 0      a row is far enough
    last_value(call) FILTER (WHERE that) OVER (... ROWS BETWEEN CURRENT ROW AND CURRENT ROW)

The count leaves out null keys: the first key is the first that is not null.
"""

from __future__ import annotations

from typing import Any

from .calls import Call, Derived
from .expansion import map_expressions, with_calls
from .frames import Bound, Frame
from .replace import replace
from .windows import Window

__all__ = ["without_min_span"]


def without_min_span(item: Any) -> Any:
    """Give an equal item in which no window has a ``min_span``.

    Parameters
    ----------
    item
        A call, or any other expression.

    Returns
    -------
    Expr
        Of the same kind.
    """
    if isinstance(item, Derived) and item.has_min_span:
        return with_calls(item, {column: without_min_span(call) for column, call in item.calls.items()})
    if not (isinstance(item, Call) and item.has_min_span):
        return item
    call = map_expressions(item, without_min_span)
    window = call.window
    if window is None or window.min_span is None:
        return call
    key = window.order_by[0].key
    count = Call("count", (key,), window.within_min_span())
    is_far = (count > 0) & key.is_not_null()
    row = Frame("rows", Bound("current_row"), Bound("current_row"))
    value = replace(call, window=replace(window, min_span=None), name=None)
    return Call("last_value", (value,), Window(window.partition_by, window.order_by, row), is_far, name=call.name)
