"""Queries over PySpark DataFrames: what comes before and after the select is Spark's own."""

from __future__ import annotations

from typing import Any

from ..._model.calls import Call, Derived
from ..._model.expressions import Column, Expr, Item, Sql
from ..._model.names import unused_name
from ..._model.outputs import Output, expression_of
from ..._parse.query import Query
from ..._parse.sql_text import functions_in
from ..._plan.bound import SortKey
from ..._plan.steps import NamedScalar
from ...exceptions import UnsupportedError
from ..base import ComputeArguments, Host
from .below_windows import evaluated_before_windows
from .exchanges import sorted_by
from .scalars import functions_of, spark_column

__all__ = ["answer"]

# Hidden columns, where no other is called so: which rows to keep, and the keys to sort by.
_KEEP = "__windrow_keep"
_ORDER = "__windrow_order"


def answer(host: Host, frame: Any, query: Query) -> Any:
    """Answer a query over a DataFrame.

    Parameters
    ----------
    host
        Spark's host.
    frame
        A PySpark DataFrame.
    query
        The query.

    Returns
    -------
    pyspark.sql.DataFrame
        Lazy, as every DataFrame.

    Raises
    ------
    UnsupportedError
        For an item that Spark would evaluate before the windows, as another answer would come of it behind them.
    """
    _refuse_what_spark_evaluates_below(query)
    functions = functions_of(frame)
    if query.where is not None:
        frame = frame.where(spark_column(NamedScalar("", query.where, str(query.where)), functions))
    names_in_use = {n.lower() for n in (*host.columns(frame), *(o.name for o in query.outputs))}
    keep = unused_name(_KEEP, names_in_use)
    hidden = [] if query.qualify is None else [_output(keep, query.qualify)]
    if query.distinct:  # then each key is an item
        keys = [
            next(output.name for output in query.outputs if expression_of(output).equals(order.key))
            for order in query.order
        ]
    else:
        keys = [unused_name(f"{_ORDER}_{i}", names_in_use) for i in range(len(query.order))]
        hidden += [_output(name, order.key) for name, order in zip(keys, query.order, strict=True)]
    plan = host.plan(frame, [*query.outputs, *hidden], {}, selecting=True)
    result = host.run(frame, plan, ComputeArguments())
    if query.qualify is not None:
        result = result.where(functions.col(keep)).drop(keep)
    if query.distinct:
        result = result.distinct()
    if query.order:
        sort_keys = [SortKey(n, o.descending, o.nulls_first) for n, o in zip(keys, query.order, strict=True)]
        result = result.orderBy(*[sorted_by(key, functions) for key in sort_keys])
    if query.offset:
        result = result.offset(query.offset)
    if query.limit is not None:
        result = result.limit(query.limit)
    if not query.distinct:
        result = result.drop(*keys)
    result.schema  # noqa: B018 - Connect analyses no earlier
    return result


def _refuse_what_spark_evaluates_below(query: Query) -> None:
    items = [o.item for o in query.outputs if o.item is not None]
    asked = [*items, query.qualify, *(o.key for o in query.order)]
    if not any(isinstance(e, Call) or (isinstance(e, Derived) and e.calls) for e in asked):
        return
    for item in items:
        if isinstance(item, Derived) and not item.calls and isinstance(item.expression, Sql):
            function = evaluated_before_windows(functions_in(item.expression.text))
            if function is not None:
                raise UnsupportedError(
                    f"{item.text}: Spark evaluates {function} before the windows, and here it would come after them; "
                    f"put it into the frame first, as frame.selectExpr('*', {item.text!r}), and let the query name its "
                    "column"
                )


def _output(name: str, expression: Expr) -> Output:
    if isinstance(expression, Column):
        return Output(name, None, expression.name)
    if isinstance(expression, (Call, Derived)):
        return Output(name, expression)
    assert not isinstance(expression, Item)
    return Output(name, Derived(expression, {}, str(expression)))
