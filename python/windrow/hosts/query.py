"""Queries over frames in memory: what comes before and after the select, by the frame's own means.

Order and DISTINCT are window calls themselves, ``row_number() OVER (ORDER BY ...)``, so that nulls, NaN and -0.0 lie
where windrow has them.
"""

from __future__ import annotations

from typing import Any

from .._model.calls import Call, Derived
from .._model.expressions import Column, Item, Literal, Scalar, Sql
from .._model.names import unique_names, unused_name
from .._model.outputs import Output
from .._model.replace import replace
from .._model.result_columns import result_column
from .._model.windows import Order, Window
from .._parse.query import Query
from .._plan.bind import plan_steps
from .._plan.steps import Project
from ..exceptions import SpecError, UnsupportedError
from .base import ComputeArguments, MemoryHost

__all__ = ["QueryHost", "not_boolean"]

#: Hidden columns, where no other is called so: which rows to keep, and each row's number in the order asked for.
KEEP = "__windrow_keep"
NUMBER = "__windrow_order"


class QueryHost(MemoryHost):
    """A host of frames in memory that answers queries by what it has for each clause."""

    def answer(self, frame: Any, query: Query) -> Any:
        """Answer a query over a frame."""
        return answer(self, frame, query)

    def where(self, frame: Any, condition: Scalar) -> Any:
        """Keep the rows for which a condition over the frame's columns is true."""
        return self.kept(*marked(self, frame, condition), f"WHERE {condition}")

    def kept(self, frame: Any, keep: str, text: str) -> Any:
        """Keep the rows for which the column ``keep`` is true, and drop it; ``text`` names it in a message."""
        raise NotImplementedError

    def ordered(self, frame: Any, number: str) -> Any:
        """Order the rows by the column ``number``, and drop it."""
        raise NotImplementedError

    def cut(self, frame: Any, offset: int, limit: int | None) -> Any:
        """Pass over some rows, and keep some of the rest."""
        raise NotImplementedError


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
    taken = {n.lower() for n in (*host.columns(frame), *(o.name for o in query.outputs))}
    keep, number = unused_name(KEEP, taken), unused_name(NUMBER, taken)
    hidden = []
    if query.qualify is not None:
        condition = query.qualify
        if not isinstance(condition, (Call, Derived)):
            assert not isinstance(condition, Item)
            condition = Derived(condition, {}, str(condition))
        hidden.append(Output(keep, condition))
    if query.order:
        hidden.append(Output(number, Call("row_number", window=Window(order_by=tuple(query.order)))))
    plan = host.plan(frame, [*query.outputs, *hidden], {}, selecting=True)
    result = host.run(frame, plan, ComputeArguments())
    if query.qualify is not None:
        result = host.kept(result, keep, f"QUALIFY {query.qualify}")
    if query.distinct:
        result = host.kept(_firsts_marked(host, result, keep, number), keep, "DISTINCT")
    if query.order:
        result = host.ordered(result, number)
    if query.offset or query.limit is not None:
        result = host.cut(result, query.offset, query.limit)
    return result


def marked(host: QueryHost, frame: Any, condition: Scalar) -> tuple[Any, str]:
    """Give a frame with a column that says for which rows a condition is true, and that column's name."""
    keep = unused_name(KEEP, {n.lower() for n in host.columns(frame)})
    plan = host.plan(frame, [Output(keep, Derived(condition, {}, str(condition)))], {}, selecting=False)
    return host.run(frame, plan, ComputeArguments()), keep


def _firsts_marked(host: QueryHost, frame: Any, keep: str, number: str) -> Any:
    """Give a frame with a column that says which rows are the first of those that are alike, but for their number."""
    columns = host.columns(frame)
    names = unique_names(columns)  # by which calls find each of several columns of one name
    keys = tuple(Column(n) for n in names if n != number)
    first = Call("row_number", window=Window(keys, (Order(Literal(1)),)))
    is_first = Derived(Sql(f"{result_column(first)} = 1"), {result_column(first): first}, "DISTINCT")
    try:
        plan = plan_steps([Output(keep, is_first)], names)
        kept = [(columns[i] if i < len(columns) else name, i) for name, i in plan.project.columns]
        plan = replace(plan, steps=(*plan.steps[:-1], Project(tuple(kept))))
        return host.run(frame, plan, ComputeArguments())
    except (SpecError, UnsupportedError) as error:
        said = str(error).replace(first.sql, "DISTINCT")
        if said == str(error):
            raise
        raise type(error)(said) from None


def not_boolean(text: str, dtype: Any) -> SpecError:
    """Make the error for a condition of another type."""
    return SpecError(f"{text} gives {dtype}, and a condition gives true or false")
