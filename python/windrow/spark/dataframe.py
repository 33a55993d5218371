"""Window calls on a PySpark DataFrame: exchange, ``mapInArrow``, and the schema on both sides.

df -> Spark evaluates expression columns, all names made unique
   -> for each group of calls that share a partition key: one exchange on the keys they share,
      then mapInArrow with the operator, which sorts within the task
   -> Spark gives the columns the names and the order that were asked for
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..binding import BoundCalls, Output, Slot, Temporary, arrange, bind, read_items, unique_names
from ..config import Options, current
from ..exceptions import UnsupportedError
from ..explain import Explanation
from ..expr import Column, Expr, Host, Literal
from ..operator import Operator
from .columns import position_in
from .schema import SAME_TYPE, carried, check_columns, check_keys, session_timezone, to_arrow

__all__ = ["explain_spark", "run_spark"]

_ONE_PARTITION = (
    "No Partition Defined for Window operation! Moving all data to a single partition, this can cause serious "
    "performance degradation: {calls}. Add partition_by, if the question allows it"
)


@dataclass(frozen=True, slots=True)
class _Stage:
    """Calls that run behind one exchange."""

    keys: tuple[str, ...]
    calls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """All that is known before anything is put into Spark's plan."""

    outputs: list[Output]
    bound: BoundCalls
    slots: list[Slot]
    stages: list[_Stage]
    options: Options
    frame: Any
    names: list[str]


def run_spark(frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool, in_order: bool) -> Any:
    """Put window calls into a DataFrame's plan.

    Parameters
    ----------
    frame
        A PySpark DataFrame, Classic or Connect.
    items, named
        What the user wrote.
    selecting
        Whether only the items are wanted.
    in_order
        Whether each Spark partition is grouped and ordered already: no exchange, no sort.

    Returns
    -------
    pyspark.sql.DataFrame
        Lazy, as every DataFrame.
    """
    plan = _plan(frame, items, named, selecting=selecting)
    functions = _functions(frame)
    working = plan.frame
    schema = working.schema
    names = plan.names
    # what the result's columns are, where Arrow and so mapInArrow knows less
    types = {f.name: f.dataType for f in schema.fields if carried(f.dataType) != f.dataType}
    made: dict[int, str] = {}
    for stage in plan.stages:
        operator, names = _operator(plan, stage, schema, names, sort=not in_order)
        if not in_order:
            working = _exchanged(working, stage, plan, functions)
        schema = operator.spark_schema
        working = working.mapInArrow(operator, schema)
        for index, field in zip(stage.calls, schema.fields[len(names) - len(stage.calls) :], strict=True):
            made[index] = field.name
            call = plan.bound.native[index]
            source = types.get(call["args"][0].get("column", "")) if call["args"] else None
            if source is not None and call["function"] in SAME_TYPE and field.dataType == carried(source):
                types[field.name] = source

    def output(slot: Slot) -> Any:
        name = made[slot.index] if slot.new else plan.bound.names[slot.index]
        column = functions.col(_quoted(name))
        return (column.cast(types[name]) if name in types and plan.stages else column).alias(slot.name)

    return working.select(*map(output, plan.slots))


def explain_spark(frame: Any, items: Sequence[Any], named: Mapping[str, Any]) -> Explanation:
    """Say how window calls on a DataFrame would be computed.

    Parameters
    ----------
    frame
        A PySpark DataFrame.
    items, named
        What the user wrote.

    Returns
    -------
    Explanation
        The native plans, and the exchanges around them.
    """
    from ..native import make_plan

    plan = _plan(frame, items, named, selecting=False)
    arrow = to_arrow(plan.frame.schema, session_timezone(frame.sparkSession))
    rows: list[dict[str, Any]] = []
    steps = [f"Spark evaluates {t.expression} into a column first" for t in plan.bound.temporaries]
    for number, stage in enumerate(plan.stages, 1):
        native = make_plan(arrow, [plan.bound.beside(arrow.names)[i] for i in stage.calls], plan.options)
        for row, index in zip(native.explain(), stage.calls, strict=True):
            rows.append(
                {**row, "name": plan.bound.native[index]["name"], "sort": f"exchange {number}, sort {row.get('sort')}"}
            )
        names = ", ".join(plan.bound.native[i]["name"] for i in stage.calls)
        where = f"an exchange by {', '.join(stage.keys)}" if stage.keys else "all rows in ONE task (no PARTITION BY)"
        steps.append(f"exchange {number}: {where}, then mapInArrow computes {names}")
    return Explanation(rows, steps)


def _plan(frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool) -> _Plan:
    if frame.isStreaming:
        raise UnsupportedError(
            "a window needs whole partitions, which a streaming DataFrame never has; use foreachBatch, and windrow on "
            "the DataFrame of each batch"
        )
    session = frame.sparkSession
    folded = str(session.conf.get("spark.sql.caseSensitive")).lower() != "true"
    functions = _functions(frame)
    columns = list(frame.columns)
    outputs = read_items(items, named, columns, selecting=selecting, folded=folded)
    bound = bind(
        outputs,
        columns,
        host="spark",
        folded=folded,
        fallback=lambda name: Host(functions.col(name)) if "." in name or "`" in name else None,
        locate=lambda column: position_in(frame, column, folded=folded),
    )
    slots = arrange(columns, outputs, selecting=selecting, folded=folded)
    names = [*bound.names, *(t.name for t in bound.temporaries)]
    prepared = _prepared(frame, bound, names, functions)
    if selecting:
        # what neither a call reads nor the result shows need not travel
        keep = sorted({*bound.read, *(s.index for s in slots if not s.new), *range(len(columns), len(names))})
        names = [names[i] for i in keep]
        prepared = prepared.select(*[_quoted(n) for n in names])
    schema = prepared.schema
    if bound.native:
        check_columns(schema)
        check_keys(schema, bound.native)
    return _Plan(outputs, bound, slots, _stages(bound.native), _options(session), prepared, names)


def _options(session: Any) -> Options:
    options = current()
    if options.ansi is None:
        options = replace(options, ansi=str(session.conf.get("spark.sql.ansi.enabled")).lower() == "true")
    return replace(options, timezone=session_timezone(session))


def _functions(frame: Any) -> Any:
    connect = type(frame).__module__.startswith("pyspark.sql.connect")
    return importlib.import_module("pyspark.sql.connect.functions" if connect else "pyspark.sql.functions")


def _prepared(frame: Any, bound: BoundCalls, names: Sequence[str], functions: Any) -> Any:
    """Give the frame with expression columns evaluated, and with unique names."""
    if bound.temporaries:
        made = [_spark_column(t, functions).alias(t.name) for t in bound.temporaries]
        frame = frame.select("*", *made)
    return frame if list(frame.columns) == list(names) else frame.toDF(*names)


def _spark_column(temporary: Temporary, functions: Any) -> Any:
    expression: Expr = temporary.expression
    if isinstance(expression, Host):
        return expression.value
    if isinstance(expression, Literal):
        return functions.lit(expression.value)
    if isinstance(expression, Column):
        return functions.col(_quoted(expression.name))
    return functions.expr(expression.text)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _stages(calls: Sequence[dict[str, Any]]) -> list[_Stage]:
    """Group calls so that those of a group share a partition key: one exchange on the shared keys serves them all."""
    groups: list[tuple[list[str], list[int]]] = []
    for index, call in enumerate(calls):
        keys = list(dict.fromkeys(call["partition_by"]))
        for position, (shared, members) in enumerate(groups):
            common = [k for k in shared if k in keys]
            if common or (not shared and not keys):
                groups[position] = (common, [*members, index])
                break
        else:
            groups.append((keys, [index]))
    return [_Stage(tuple(keys), tuple(members)) for keys, members in groups]


def _operator(
    plan: _Plan, stage: _Stage, schema: T.StructType, names: Sequence[str], *, sort: bool
) -> tuple[Operator, list[str]]:
    """Make the operator of one stage, and the names of the columns it gives: its input's, then the new ones."""
    calls = [plan.bound.native[i] for i in stage.calls]
    read_names = {n for c in calls for n in _names_read(c)}
    schema = T.StructType([T.StructField(f.name, carried(f.dataType), f.nullable, f.metadata) for f in schema.fields])
    arrow = to_arrow(schema, plan.options.timezone or "UTC")
    read = [i for i, n in enumerate(names) if n in read_names]
    bound = BoundCalls(list(names), read, [], calls)
    given = unique_names([*names, *(f"__windrow_out_{i}" for i in stage.calls)], folded=True)
    slots = [Slot(n, i >= len(names), i if i < len(names) else i - len(names)) for i, n in enumerate(given)]
    return Operator(bound, slots, arrow, plan.options, sort, schema), given


def _names_read(call: dict[str, Any]) -> list[str]:
    """List the columns that a native call reads."""
    frame = call["frame"]
    arguments = (
        [*call["args"], *(b[1] for b in (frame["start"], frame["end"]) if b[1] is not None)] if frame else call["args"]
    )
    found = [a["column"] for a in arguments if "column" in a]
    found += [*call["partition_by"], *(o["column"] for o in [*call["order_by"], *call["argument_order"]])]
    return found + ([call["filter"]] if call["filter"] else [])


def _exchanged(frame: Any, stage: _Stage, plan: _Plan, functions: Any) -> Any:
    if stage.keys:
        return frame.repartition(*[functions.col(_quoted(k)) for k in stage.keys])
    shown = "; ".join(plan.bound.native[i]["display"] for i in stage.calls)
    # run_spark, _run and with_columns stand between here and the user's line
    warnings.warn(_ONE_PARTITION.format(calls=shown), UserWarning, stacklevel=5)
    return frame.repartition(1)
