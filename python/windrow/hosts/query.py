"""Queries over frames in memory: what comes before and after the select, by the frame's own means.

Order and DISTINCT are window calls themselves, ``row_number() OVER (ORDER BY ...)``, so that nulls, NaN and -0.0 lie
where windrow has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .._model.calls import Call, Derived
from .._model.expressions import Column, Item, Literal, Scalar, Sql
from .._model.outputs import Output
from .._model.result_columns import place
from .._model.windows import Order, Window
from .._parse.query import Query
from .._plan.steps import StepPlan
from ..exceptions import SpecError
from .base import ComputeArguments

__all__ = ["KEEP", "NUMBER", "QueryHost", "answer", "marked", "not_boolean"]

#: Hidden columns of frames in memory: which rows to keep, and each row's number in the order asked for.
KEEP = "__windrow_keep"
NUMBER = "__windrow_order"


class QueryHost(Protocol):
    """What a query needs of the host of a frame in memory."""

    def plan(self, frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool) -> StepPlan:
        """Plan the steps that give some items."""

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> Any:
        """Run the steps of a plan over a frame."""

    def where(self, frame: Any, condition: Scalar) -> Any:
        """Keep the rows for which a condition over the frame's columns is true."""

    def kept(self, frame: Any, text: str) -> Any:
        """Keep the rows for which the column ``KEEP`` is true, and drop it."""

    def ordered(self, frame: Any) -> Any:
        """Order the rows by the column ``NUMBER``, and drop it."""

    def cut(self, frame: Any, offset: int, limit: int | None) -> Any:
        """Pass over some rows, and keep some of the rest."""


def answer(host: QueryHost, frame: Any, query: Query) -> Any:
    """Answer a query over a frame in memory.

    Parameters
    ----------
    host
        The frame's host.
    frame
        The frame.
    query
        The query.

    Returns
    -------
    same kind as ``frame``
        The result.
    """
    if query.where is not None:
        frame = host.where(frame, query.where)
    hidden = []
    if query.qualify is not None:
        condition = query.qualify
        if not isinstance(condition, (Call, Derived)):
            assert not isinstance(condition, Item)
            condition = Derived(condition, {}, str(condition))
        hidden.append(Output(KEEP, condition))
    if query.order:
        hidden.append(Output(NUMBER, Call("row_number", window=Window(order_by=tuple(query.order)))))
    result = _computed(host, frame, [*query.outputs, *hidden], selecting=True)
    if query.qualify is not None:
        result = host.kept(result, f"QUALIFY {query.qualify}")
    if query.distinct:
        keys = tuple(Column(o.name) for o in query.outputs)
        number = Call("row_number", window=Window(keys, (Order(Literal(1)),)))
        is_first = Derived(Sql(f"{place(number)} = 1"), {place(number): number}, "DISTINCT")
        result = _computed(host, result, [Output(KEEP, is_first)])
        result = host.kept(result, "DISTINCT")
    if query.order:
        result = host.ordered(result)
    if query.offset or query.limit is not None:
        result = host.cut(result, query.offset, query.limit)
    return result


def marked(host: QueryHost, frame: Any, condition: Scalar) -> Any:
    """Give a frame with the column ``KEEP``, which says for which rows a condition is true."""
    output = Output(KEEP, Derived(condition, {}, str(condition)))
    return _computed(host, frame, [output])


def _computed(host: QueryHost, frame: Any, outputs: Sequence[Output], *, selecting: bool = False) -> Any:
    return host.run(frame, host.plan(frame, outputs, {}, selecting=selecting), ComputeArguments())


def not_boolean(text: str, dtype: Any) -> SpecError:
    """Make the error for a condition of another type."""
    return SpecError(f"{text} gives {dtype}, and a condition gives true or false")
