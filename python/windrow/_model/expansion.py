"""Items that stand for several columns, as an item for each of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..exceptions import SpecError
from .calls import Call, Derived
from .expressions import PLACE, Column, Columns, Expr, HostExpression, Sql
from .frames import Bound
from .replace import replace
from .result_columns import result_column
from .windows import Order

__all__ = ["expanded", "map_expressions", "with_calls"]


def expanded(
    item: Call | Derived, name: str | None, select: Callable[[HostExpression], Sequence[str]]
) -> Iterator[tuple[Call | Derived, str | None]]:
    """Give the items that an item of several columns stands for, each with its name.

    Parameters
    ----------
    item
        The item.
    name
        The name that it was given beside it, with :data:`PLACE`; None: its own, if it has one.
    select
        Names the columns that a selector chooses.

    Yields
    ------
    tuple
        An item, and its name; None: its text.

    Raises
    ------
    SpecError
        If all items would have one name.
    """
    several = item.several
    assert several is not None
    names = several.names if several.selector is None else select(several.selector)
    template = item.name if name is None else name
    if template is not None and PLACE not in template and len(names) > 1:
        raise SpecError(
            f"{item.sql} is {len(names)} columns, of which each needs a name of its own; write {PLACE} for the name of "
            f"the column it is computed from, as in {f'{PLACE}_{template}'!r}"
        )
    for column in names:
        one = replace(_of_column(item, several, Column(column)), name=None)
        yield one, None if template is None else template.replace(PLACE, column)


def _of_column(item: Any, several: Columns, column: Column) -> Any:
    """Give an item with one column in the place of several."""

    def part(expression: Expr) -> Expr:
        if isinstance(expression, Columns):
            return column
        return _of_column(expression, several, column) if isinstance(expression, (Call, Derived)) else expression

    if item.several is None:
        return item
    if isinstance(item, Call):
        return map_expressions(item, part)
    assert isinstance(item.expression, Sql), "an operator made it"
    evaluated, inputs = item.expression.text, {}
    for at, scalar in item.inputs.items():
        if isinstance(scalar, Columns):
            evaluated = evaluated.replace(at, str(column))
        else:
            inputs[at] = scalar
    text = item.text.replace(str(several), str(column))
    calls = {at: _of_column(call, several, column) for at, call in item.calls.items()}
    made = with_calls(replace(item, expression=Sql(evaluated), text=text, inputs=inputs), calls)
    object.__setattr__(made, "binding", item.binding)
    return made


def with_calls(item: Derived, calls: Mapping[str, Call]) -> Derived:
    """Return an expression with other calls in the place of its own.

    Parameters
    ----------
    item
        An expression that an operator made.
    calls
        The calls, by the names that the expression has for those in whose place they stand.

    Returns
    -------
    Derived
        The new expression.
    """
    assert isinstance(item.expression, Sql), "an operator made it"
    evaluated = item.expression.text
    for at, call in calls.items():
        evaluated = evaluated.replace(at, result_column(call))
    return replace(item, expression=Sql(evaluated), calls={result_column(call): call for call in calls.values()})


def map_expressions(call: Call, transform: Callable[[Expr], Expr]) -> Call:
    """Return a call with all expressions that it reads replaced.

    Parameters
    ----------
    call
        The call.
    transform
        Maps each expression to its replacement.

    Returns
    -------
    Call
        The new call.
    """

    def ordered(orders: Iterable[Order]) -> tuple[Order, ...]:
        return tuple(replace(o, key=transform(o.key)) for o in orders)

    def bound(one: Bound) -> Bound:
        return one if one.offset is None else replace(one, offset=transform(one.offset))

    window = call.window
    if window is not None:
        frame = window.frame
        window = replace(
            window,
            partition_by=tuple(map(transform, window.partition_by)),
            order_by=ordered(window.order_by),
            frame=None if frame is None else replace(frame, start=bound(frame.start), end=bound(frame.end)),
        )
    return replace(
        call,
        args=tuple(map(transform, call.args)),
        window=window,
        condition=None if call.condition is None else transform(call.condition),
        argument_order=ordered(call.argument_order),
    )
