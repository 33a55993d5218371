"""Queries over frames in memory: what comes before and after the select, by the frame's own means.

Order and DISTINCT are window calls themselves, ``row_number() OVER (ORDER BY ...)``, so that nulls, NaN and -0.0 lie
where windrow has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from .._model.calls import Call, Derived
from .._model.expressions import Column, Expr, Item, Literal, Scalar, Sql
from .._model.frames import Bound, Frame
from .._model.names import quoted, unique_names, unused_name
from .._model.outputs import Output
from .._model.replace import replace
from .._model.result_columns import result_column
from .._model.windows import Order, Window
from .._parse.query import Query
from .._plan.bind import plan_steps
from .._plan.ranks import limited_rank
from .._plan.steps import Project, StepPlan
from ..exceptions import SpecError, UnsupportedError
from .base import ComputeArguments, MemoryHost

__all__ = ["QueryHost", "filtered", "not_boolean"]

#: Hidden columns, where no other is called so: which rows to keep, and each row's number in the order asked for.
KEEP = "__windrow_keep"
NUMBER = "__windrow_order"


class QueryHost(MemoryHost):
    """A host of frames in memory that answers queries by what it has for each clause."""

    name: str

    def answer(self, frame: Any, query: Query) -> Any:
        """Answer a query over a frame."""
        return self.over([frame], lambda frames: self.answer_one(frames[0], query))

    def answer_one(self, frame: Any, query: Query) -> Any:
        """Answer a query over a frame of the kind that its clauses are computed over."""
        return answer(self, frame, query)

    def over(self, frames: Sequence[Any], compute: Callable[[Sequence[Any]], Any]) -> Any:
        """Compute a frame of frames, each of which is read once or more."""
        return compute(frames)

    def where(self, frame: Any, condition: Scalar) -> Any:
        """Keep the rows for which a condition over the frame's columns is true."""
        return self.keep_rows(*with_condition_column(self, frame, condition), f"WHERE {condition}")

    def keep_rows(self, frame: Any, keep: str, text: str) -> Any:
        """Keep the rows for which the column ``keep`` is true, and drop that column; ``text`` names it in messages."""
        raise NotImplementedError

    def sort_rows(self, frame: Any, number: str) -> Any:
        """Sort the rows by the column ``number``, and drop that column."""
        raise NotImplementedError

    def slice_rows(self, frame: Any, offset: int, limit: int | None) -> Any:
        """Skip ``offset`` rows, then keep at most ``limit``."""
        raise NotImplementedError

    def concat_rows(self, frames: Sequence[Any]) -> Any:
        """Put the rows of frames with the same columns below one another; an index is made anew."""
        raise UnsupportedError(f"frames of the kind {self.name!r} have no UNION ALL and no GROUP BY in wr.sql")

    def top_rows(self, frame: Any, plan: StepPlan, most: int, counted: str) -> Any:
        """Leave out rows behind the first ``most`` of each partition; ``plan`` has a call with their order.

        Parameters
        ----------
        frame
            The frame.
        plan
            The plan of one call.
        most
            How many are kept at least.
        counted
            As for :func:`windrow._execute.top_rows.top_rows`.

        Returns
        -------
        same kind as ``frame`` or None
            The other rows, in their order; None where that would save nothing.
        """
        return None

    def null_row(self, frame: Any) -> Any:
        """Make a frame of the same columns with one row, of which no value is read."""
        raise UnsupportedError(f"frames of the kind {self.name!r} have no aggregates without OVER in wr.sql")


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
    if query.below is not None:
        frame = _answer_below(host, frame, query.below)
    if query.where is not None:
        frame = host.where(frame, query.where)
    limit = limited_rank(query)
    if limit is not None:
        call, most, counted = limit
        frame_or_none = host.top_rows(frame, host.plan(frame, [call.alias(NUMBER)], {}, selecting=True), most, counted)
        frame = frame if frame_or_none is None else frame_or_none
    names_in_use = {n.lower() for n in (*host.columns(frame), *(o.name for o in query.outputs))}
    keep, number = unused_name(KEEP, names_in_use), unused_name(NUMBER, names_in_use)
    hidden = []
    if query.qualify is not None:
        hidden.append(Output(keep, _as_item(query.qualify)))
    if query.order:
        hidden.append(Output(number, Call("row_number", window=Window(order_by=tuple(query.order)))))
    plan = host.plan(frame, [*query.outputs, *hidden], {}, selecting=True)
    result = host.run(frame, plan, ComputeArguments())
    if query.qualify is not None:
        result = host.keep_rows(result, keep, f"QUALIFY {query.qualify}")
    if query.distinct:
        result = host.keep_rows(_mark_first_rows(host, result, keep, number), keep, "DISTINCT")
    if query.order:
        result = host.sort_rows(result, number)
    if query.offset or query.limit is not None:
        result = host.slice_rows(result, query.offset, query.limit)
    return result


def _answer_below(host: QueryHost, frame: Any, query: Query) -> Any:
    """Answer a query that another one is computed over."""
    result = answer(host, frame, query)
    if query.group_keys is None:
        return result
    if query.group_keys:
        return _with_normal_zeros(host, host.concat_rows([result]), query.group_keys)
    # aggregates give a row also over no rows: the one over empty frames, which goes where there is no other
    nothing = host.null_row(frame)
    nothing = nothing if query.below is None else answer(host, nothing, query.below)
    over_nothing = answer(host, nothing, Query(None, [_over_no_rows(o) for o in query.outputs]))
    return host.slice_rows(host.concat_rows([result, over_nothing]), 0, 1)


def _with_normal_zeros(host: QueryHost, frame: Any, keys: int) -> Any:
    """Give groups of -0.0 and 0.0 the key 0.0, whichever came first, as Spark does."""
    fields = list(host.schema(frame).arrow)
    kinds = {i: f.type for i, f in enumerate(fields[:keys]) if f.type in (pa.float32(), pa.float64())}
    if not kinds:
        return frame
    outputs = []
    for i, field in enumerate(fields):
        if i in kinds:
            name = quoted(field.name)
            key = Sql(f"CASE WHEN {name} = 0 THEN CAST(0 AS {kinds[i]}) ELSE {name} END")
            outputs.append(Output(field.name, Derived(key, {}, field.name)))
        else:
            outputs.append(Output(field.name, None, position=i))
    return host.run(frame, host.plan(frame, outputs, {}, selecting=True), ComputeArguments())


def _over_no_rows(output: Output) -> Output:
    """Return an aggregate over an empty frame."""
    call = output.item
    if not isinstance(call, Call) or call.window is None or call.window.order_by:
        return output
    before = Bound("preceding", Literal(1))
    return replace(output, item=replace(call, window=replace(call.window, frame=Frame("rows", before, before))))


def filtered(host: QueryHost, frame: Any, condition: Scalar | Call | Derived) -> Any:
    """Keep the rows for which a condition is true, which may read the results of window calls.

    Parameters
    ----------
    host
        The frame's host.
    frame
        The frame.
    condition
        The condition.

    Returns
    -------
    same kind as ``frame``
        The rows, with the columns that they had.
    """
    if not isinstance(condition, (Call, Derived)):
        return host.where(frame, condition)
    result, keep = with_condition_column(host, frame, condition)
    return host.keep_rows(result, keep, f"filter() {condition.sql}")


def with_condition_column(host: QueryHost, frame: Any, condition: Scalar | Call | Derived) -> tuple[Any, str]:
    """Add a column with the value of a condition; return the frame and the column's name."""
    keep = unused_name(KEEP, {n.lower() for n in host.columns(frame)})
    plan = host.plan(frame, [Output(keep, _as_item(condition))], {}, selecting=False)
    return host.run(frame, plan, ComputeArguments()), keep


def _as_item(condition: Expr) -> Call | Derived:
    if isinstance(condition, (Call, Derived)):
        return condition
    assert not isinstance(condition, Item)
    return Derived(condition, {}, str(condition))


def _mark_first_rows(host: QueryHost, frame: Any, keep: str, number: str) -> Any:
    """Add a column that marks the first of each group of equal rows, ignoring their number."""
    columns = host.columns(frame)
    names = unique_names(columns)  # by which calls find each of several columns of one name
    keys = tuple(Column(n) for n in names if n != number)
    first = Call("row_number", window=Window(keys, (Order(Literal(1)),)))
    is_first = Derived(Sql(f"{result_column(first)} = 1"), {result_column(first): first}, "DISTINCT")
    try:
        plan = plan_steps([Output(keep, is_first)], names)
        projection = [(columns[i] if i < len(columns) else name, i) for name, i in plan.project.columns]
        plan = replace(plan, steps=(*plan.steps[:-1], Project(tuple(projection))))
        return host.run(frame, plan, ComputeArguments())
    except (SpecError, UnsupportedError) as error:
        message = str(error).replace(first.sql, "DISTINCT")
        if message == str(error):
            raise
        raise type(error)(message) from None


def not_boolean(text: str, dtype: Any) -> SpecError:
    """Make the error for a condition of another type."""
    return SpecError(f"{text} gives {dtype}, and a condition gives true or false")
