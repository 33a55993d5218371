"""Window calls on a PySpark DataFrame: exchange, ``mapInArrow``, and the schema on both sides.

df -> for each level of calls:
      Spark evaluates expression columns, all names made unique
      -> for each group of calls that share a partition key: one exchange on the keys they share,
         then mapInArrow with the operator, which sorts within the task
   -> Spark evaluates expressions over calls, and gives the columns the names and the order that were asked for
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..binding import (
    BoundCalls,
    Output,
    Slot,
    Temporary,
    arrange,
    bind,
    read_items,
    scalars,
)
from ..call import Call
from ..config import Options, current
from ..derived import Derived, inputs_of, levels, place, rewritten
from ..exceptions import UnsupportedError
from ..explain import Explanation, shown_names
from ..expr import Column, Expr, Host, Literal, Scalar, is_spark_column
from ..names import own_names, unique_names
from ..operator import Operator
from ..sql import columns_of
from .columns import locator
from .left import left_to_spark
from .schema import carried, check_columns, check_keys, fuller_type, session_timezone, to_arrow

__all__ = ["explain_spark", "functions_of", "run_spark", "spark_column"]

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
class _Level:
    """Calls that read nothing but columns and the results of lower levels."""

    places: list[str]
    bound: BoundCalls
    stages: list[_Stage]


@dataclass(frozen=True, slots=True)
class _Plan:
    """All that is known before anything is put into Spark's plan.

    Columns have two names: the one by which the user knows them (``columns``), which may be written in a way that
    ``mapInArrow`` does not read, or stand twice; and one of their own (``names``). The first ``len(frame.columns)`` of
    both are the frame's, then come ``inputs``, then the places of the calls.
    """

    frame: Any
    outputs: list[Output]
    slots: list[Slot]
    inputs: list[Temporary]
    levels: list[_Level]
    scalars: list[Temporary]
    columns: list[str]
    names: list[str]
    options: Options
    selecting: bool


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
    return _run(plan, in_order=in_order)[0]


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
    plan = _plan(frame, items, named, selecting=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the steps say it
        _, operators = _run(plan, in_order=False)
    shown = shown_names(plan.outputs)
    rows: list[dict[str, Any]] = []
    steps = []
    number = 0
    for level, made in zip(plan.levels, operators, strict=True):
        steps += [f"Spark evaluates {t.text} into a column first" for t in level.bound.temporaries]
        for stage, operator in zip(level.stages, made, strict=True):
            number += 1
            for row, index in zip(operator.explain_rows(), stage.calls, strict=True):
                name = shown[level.places[index]] or row["call"]
                rows.append({**row, "name": name, "sort": f"exchange {number}, sort {row.get('sort')}"})
            names = ", ".join(r["name"] for r in rows[-len(stage.calls) :])
            where = (
                f"an exchange by {', '.join(stage.keys)}" if stage.keys else "all rows in ONE task (no PARTITION BY)"
            )
            steps.append(f"exchange {number}: {where}, then mapInArrow computes {names}")
    steps += [f"Spark evaluates {t.text} into {t.name} last" for t in plan.scalars]
    return Explanation(rows, steps)


def _plan(frame: Any, items: Sequence[Any], named: Mapping[str, Any], *, selecting: bool) -> _Plan:
    if frame.isStreaming:
        raise UnsupportedError(
            "a window needs whole partitions, which a streaming DataFrame never has; use foreachBatch, and windrow on "
            "the DataFrame of each batch"
        )
    session = frame.sparkSession
    folded = str(session.conf.get("spark.sql.caseSensitive")).lower() != "true"
    functions = functions_of(frame)
    locate = locator(frame, folded=folded)
    names = [c.lower() if folded else c for c in frame.columns]

    def own(column: Any) -> str | None:
        index = locate(column)
        return None if index is None or names.count(names[index]) > 1 else str(frame.columns[index])

    outputs = read_items(items, named, frame.columns, selecting=selecting, folded=folded, own=own)
    outputs = [left_to_spark(o, frame, _users_line() + 1) for o in outputs]
    slots = arrange(frame.columns, outputs, selecting=selecting, folded=folded)
    laid, inputs = _lifted(levels(o.item for o in outputs if o.item is not None), locate)
    inputs |= inputs_of(o.item for o in outputs if o.item is not None)
    columns = [*frame.columns, *inputs]
    bounds = []
    for calls in laid:
        bound = bind(
            [Output(at, call) for at, call in calls.items()],
            columns,
            host="spark",
            folded=folded,
            fallback=lambda name: Host(functions.col(name)) if "." in name or "`" in name else None,
            locate=locate,
        )
        bounds.append(_Level(list(calls), bound, _stages(bound.native)))
        columns += calls
    return _Plan(
        frame,
        outputs,
        slots,
        [Temporary(name, e, str(e)) for name, e in inputs.items()],
        bounds,
        scalars(outputs, columns, host="spark"),
        columns,
        own_names(columns, host="spark", folded=folded),
        _options(session),
        selecting,
    )


def _lifted(
    laid: Sequence[Mapping[str, Call]], locate: Callable[[Any], int | None]
) -> tuple[list[dict[str, Call]], dict[str, Scalar]]:
    """Have Columns that calls of higher levels read evaluated first, on the frame that they may be bound to."""
    inputs: dict[str, Scalar] = {}

    def lift(expression: Expr) -> Expr:
        if not isinstance(expression, Host) or not is_spark_column(expression.value):
            return expression
        if locate(expression.value) is not None:
            return expression
        name = f"__windrow_in_{len(inputs)}"
        inputs[name] = expression
        return Derived(Column(name), {}, str(expression))

    return [
        {at: rewritten(call, lift) if level else call for at, call in calls.items()} for level, calls in enumerate(laid)
    ], inputs


def _run(plan: _Plan, *, in_order: bool) -> tuple[Any, list[list[Operator]]]:
    """Put the plan into Spark's, and give the operators of each level."""
    functions = functions_of(plan.frame)
    working = plan.frame
    if plan.inputs:
        working = working.select("*", *[spark_column(t, functions).alias(t.name) for t in plan.inputs])
    width = len(plan.frame.columns) + len(plan.inputs)
    present = list(range(width))  # which of plan.columns the working frame has
    operators: list[list[Operator]] = []
    for level in plan.levels:
        working, names = _with_expressions(working, present, level.bound.temporaries, plan, functions)
        if plan.selecting and not operators:
            # what nothing reads and the result does not show need not travel
            present = _needed(plan)
            names = [plan.names[i] for i in present] + [t.name for t in level.bound.temporaries]
            working = working.select(*[_quoted(n) for n in names])
        working, made = _computed(working, names, present, level, plan, functions, in_order=in_order)
        operators.append(made)
        present += range(width, width + len(level.places))
        width += len(level.places)
    last = [replace(t, name=f"__windrow_out_{i}") for i, t in enumerate(plan.scalars)]
    working, names = _with_expressions(working, present, last, plan, functions)
    scalar = {t.name: made.name for t, made in zip(plan.scalars, last, strict=True)}
    items = [o for o in plan.outputs if o.item is not None]

    def source(slot: Slot) -> str:
        if not slot.new:
            return plan.names[slot.index]
        output = items[slot.index]
        return place(output.item) if isinstance(output.item, Call) else scalar[output.name]

    return working.select(*[functions.col(_quoted(source(s))).alias(s.name) for s in plan.slots]), operators


def _with_expressions(
    working: Any, present: Sequence[int], temporaries: Sequence[Temporary], plan: _Plan, functions: Any
) -> tuple[Any, list[str]]:
    """Add expressions, which know columns as the user does; then all columns have names of their own."""
    names = [plan.names[i] for i in present]
    if temporaries:
        shown = [plan.columns[i] for i in present]
        if list(working.columns) != shown:  # toDF would part a Column that is bound to the frame from it
            working = working.toDF(*shown)
        working = working.select("*", *[spark_column(t, functions).alias(t.name) for t in temporaries])
        names += [t.name for t in temporaries]
    return (working if list(working.columns) == names else working.toDF(*names)), names


def _computed(
    working: Any,
    names: list[str],
    present: Sequence[int],
    level: _Level,
    plan: _Plan,
    functions: Any,
    *,
    in_order: bool,
) -> tuple[Any, list[Operator]]:
    """Compute one level; temporary columns go, results are named by their places."""
    schema = working.schema
    check_columns(schema)
    check_keys(schema, level.bound.native)
    # what the result's columns are, where Arrow and so mapInArrow knows less
    types = {f.name: f.dataType for f in schema.fields if carried(f.dataType) != f.dataType}
    results: dict[int, str] = {}
    operators = []
    for stage in level.stages:
        operator, names = _operator(level, stage, schema, names, plan.options, sort=not in_order)
        if not in_order:
            working = _exchanged(working, stage, level, functions)
        schema = operator.spark_schema
        working = working.mapInArrow(operator, schema)
        operators.append(operator)
        for index, field in zip(stage.calls, schema.fields[len(names) - len(stage.calls) :], strict=True):
            results[index] = field.name
            call = level.bound.native[index]
            source = types.get(call["args"][0].get("column", "")) if call["args"] else None
            known = None if source is None else fuller_type(call["function"], source, field.dataType)
            if known is not None:
                types[field.name] = known

    def typed(name: str) -> Any:
        column = functions.col(_quoted(name))
        return column.cast(types[name]) if name in types else column

    kept = [typed(plan.names[i]).alias(plan.names[i]) for i in present]
    new = [typed(results[i]).alias(at) for i, at in enumerate(level.places)]
    return working.select(*kept, *new), operators


def _needed(plan: _Plan) -> list[int]:
    """List the columns of the prepared frame that some level, some expression or the result reads."""
    width = len(plan.frame.columns)
    needed = {s.index for s in plan.slots if not s.new}
    for level in plan.levels:
        needed.update(level.bound.read)
    later = [*plan.scalars, *(t for level in plan.levels[1:] for t in level.bound.temporaries)]
    for temporary in later:
        read = columns_of(temporary.expression)
        needed.update(i for i in range(width) if read is None or plan.columns[i].lower() in read)
    return [*sorted(i for i in needed if i < width), *range(width, width + len(plan.inputs))]


def _options(session: Any) -> Options:
    options = current()
    if options.ansi is None:
        options = replace(options, ansi=str(session.conf.get("spark.sql.ansi.enabled")).lower() == "true")
    return replace(options, timezone=session_timezone(session))


def functions_of(frame: Any) -> Any:
    """Give the module of functions that makes Columns for a DataFrame, Classic or Connect."""
    connect = type(frame).__module__.startswith("pyspark.sql.connect")
    return importlib.import_module("pyspark.sql.connect.functions" if connect else "pyspark.sql.functions")


def spark_column(temporary: Temporary, functions: Any) -> Any:
    """Turn an expression into a Column."""
    expression = temporary.expression
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
    level: _Level, stage: _Stage, schema: T.StructType, names: Sequence[str], options: Options, *, sort: bool
) -> tuple[Operator, list[str]]:
    """Make the operator of one stage, and the names of the columns it gives: its input's, then the new ones."""
    calls = [level.bound.native[i] for i in stage.calls]
    read_names = {n for c in calls for n in _names_read(c)}
    schema = T.StructType([T.StructField(f.name, carried(f.dataType), f.nullable, f.metadata) for f in schema.fields])
    arrow = to_arrow(schema, options.timezone or "UTC")
    read = [i for i, n in enumerate(names) if n in read_names]
    bound = BoundCalls(list(names), read, [], calls)
    given = unique_names([*names, *(f"__windrow_out_{i}" for i in stage.calls)], folded=True)
    slots = [Slot(n, i >= len(names), i if i < len(names) else i - len(names)) for i, n in enumerate(given)]
    return Operator(bound, slots, arrow, options, sort, schema), given


def _names_read(call: dict[str, Any]) -> list[str]:
    """List the columns that a native call reads."""
    frame = call["frame"]
    arguments = (
        [*call["args"], *(b[1] for b in (frame["start"], frame["end"]) if b[1] is not None)] if frame else call["args"]
    )
    found = [a["column"] for a in arguments if "column" in a]
    found += [*call["partition_by"], *(o["column"] for o in [*call["order_by"], *call["argument_order"]])]
    return found + ([call["filter"]] if call["filter"] else [])


def _exchanged(frame: Any, stage: _Stage, level: _Level, functions: Any) -> Any:
    if stage.keys:
        return frame.repartition(*[functions.col(_quoted(k)) for k in stage.keys])
    shown = "; ".join(level.bound.native[i]["display"] for i in stage.calls)
    warnings.warn(_ONE_PARTITION.format(calls=shown), UserWarning, stacklevel=_users_line())
    return frame.repartition(1)


def _users_line() -> int:
    """Count the frames from who asks up to the first that is not windrow's, which a warning is about."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
