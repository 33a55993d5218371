"""Plans of what was given to ``with_columns`` and ``select``, kept for the next frame of the same columns.

Over a small frame the plan would take longer than the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from .._model.bounded_cache import BoundedCache
from .._model.calls import Call, Derived, expressions_of
from .._model.expressions import HostExpression, Literal, Sql
from .._model.outputs import Output
from .._model.result_columns import result_column
from .._model.structure import SCALARS
from .._parse.items import read_items
from .._plan.bind import plan_steps
from .._plan.steps import StepPlan

__all__ = ["plan_items"]

_PLANS: BoundedCache[StepPlan] = BoundedCache(256)
#: A plan over more columns takes less time than its rows, and more memory.
_MAX_COLUMNS = 1000


def plan_items(
    items: Sequence[Any],
    named: Mapping[str, Any],
    columns: Sequence[str],
    *,
    selecting: bool,
    check: Callable[[Sequence[Output]], None] | None = None,
    select: Callable[[HostExpression], Sequence[str]] | None = None,
) -> StepPlan:
    """Plan the steps that give some items over columns, or give the plan that was made of the same before.

    Parameters
    ----------
    items, named
        The items, and those given by name.
    columns
        The frame's columns.
    selecting
        Whether the result has only the items.
    check
        Refuses items that a frame does not support; such plans are not kept.
    select
        As for :func:`~windrow._parse.items.read_items`.

    Returns
    -------
    StepPlan
        The plan.
    """
    key: Hashable = None
    if check is None and len(columns) <= _MAX_COLUMNS:
        parts = _key(items), _key(named)
        key = None if None in parts else (*parts, tuple(columns), selecting)
    found = None if key is None else _PLANS.get(key)
    if found is not None:
        return found
    outputs = read_items(items, named, columns, selecting=selecting, select=select)
    if check is not None:
        check(outputs)
    plan = plan_steps(outputs, columns, selecting=selecting)
    if key is not None and not any(_holds_objects(o.item) for o in outputs):
        _PLANS.put(key, plan)
    return plan


def _key(item: Any) -> Hashable:
    """Return a value that is the same for items of the same plan, and for no others; None if there is none."""
    if isinstance(item, str):
        return item
    if isinstance(item, (Call, Derived)) and item.several is not None and item.several.selector is not None:
        return None  # what it chooses depends on the types of the columns
    if isinstance(item, Call):
        return "call", result_column(item), item.name  # which tells 1 from True, as equality does not
    if isinstance(item, Derived) and isinstance(item.expression, Sql) and not item.inputs:
        return "expression", item.expression.text, item.text, item.name, tuple(map(_key, item.calls.values()))
    if isinstance(item, Output):
        made = None if item.item is None else _key(item.item)
        known = made is not None or item.item is None
        return ("output", item.name, item.column, item.position, made) if known else None
    if isinstance(item, Mapping):
        values = _key(tuple(item.values()))
        named = all(type(name) is str for name in item)
        return ("dict", tuple(item), values) if named and values is not None else None
    if isinstance(item, (list, tuple)):
        keys = tuple(map(_key, item))
        return None if None in keys else ("list", keys)
    return None


def _holds_objects(item: Any) -> bool:
    """Whether an item holds functions or expressions of the user's, which the cache must not keep alive."""
    if isinstance(item, Call):
        return item.user is not None or any(map(_holds_objects, expressions_of(item)))
    if isinstance(item, Derived):
        return any(map(_holds_objects, (item.expression, *item.calls.values())))
    if isinstance(item, Literal):
        values = item.value if isinstance(item.value, tuple) else (item.value,)
        return not all(value is None or isinstance(value, SCALARS) for value in values)
    return isinstance(item, HostExpression)
