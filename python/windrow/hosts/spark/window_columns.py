"""Window calls as windows in the plan of a DataFrame of Spark Classic, as ``withColumn`` puts them there.

    df -> Spark evaluates expression columns -> select of all columns and the calls -> the columns that were asked for

All columns of the frame keep their ids, qualifiers and metadata. Spark's own optimizer then moves filters and limits,
drops what nobody reads, and joins windows of the same keys; after it a rule of the session (session_rule.py) puts
windrow's stages into the place of the calls.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.explained_call import ExplainedCall
from ..._execute.native import ROW_PLACEHOLDER
from ..._execute.steps import run_steps, strings_named_as_columns
from ..._execute.stream import Operator
from ..._model.replace import replace
from ..._plan.bound import BoundCall
from ..._plan.steps import Compute, Evaluate, Project, StepPlan
from .carried_types import carried_schema
from .compiled import make
from .engine_choice import spark_is_cheaper
from .exchanges import ONE_PARTITION
from .jvm import analyzed_plan, dataframe_of, jvm_session
from .legacy_settings import LegacySettings
from .options import ComputeOptions
from .planning import constants, with_scalars
from .scalars import functions_of
from .session import caller_stack_level, session_options
from .skew import skewed_key_reason
from .spark_sql import explained_spark_call, refused_window, rows_by_windrow, spark_sql
from .split_windows import split_refusal
from .stage_operator import stage_operator
from .types import check_columns, check_declared, check_keys, declared_schema, restored_spark_type
from .window_calls import WindowCalls

__all__ = ["WindowColumns", "WindowColumnsRunner"]


@dataclass(slots=True)
class WindowColumns:
    """What was made.

    Parameters
    ----------
    frame
        The DataFrame.
    left
        What is explained of the calls that Spark computes, by the names of their columns.
    """

    frame: Any
    left: dict[str, ExplainedCall] = field(default_factory=dict)


class WindowColumnsRunner:
    """Puts the steps of a plan into a DataFrame's own, whose columns are those of the steps, by position.

    Parameters
    ----------
    frame
        A DataFrame of Spark Classic.
    plan
        The plan.
    compute_options
        Who computes.
    quiet
        Whether to do without the warning that all rows move to one partition.
    """

    def __init__(self, frame: Any, plan: StepPlan, compute_options: ComputeOptions, *, quiet: bool = False) -> None:
        self.frame = frame
        self.plan = plan
        self.compute_options = compute_options
        self.options = session_options(frame.sparkSession)
        self.engine = compute_options.chosen()
        self.functions = functions_of(frame)
        self.adder = make("windrow.WindowColumns", jvm_session(frame.sparkSession))
        self._quiet = quiet
        self._legacy = LegacySettings(frame.sparkSession)
        self._constants: set[str] = set()

    def result(self) -> WindowColumns:
        """Give the frame that was asked for."""
        return run_steps(self, WindowColumns(self.frame), self.plan)

    def evaluate(self, working: WindowColumns, step: Evaluate) -> WindowColumns:
        """Add columns of scalars, which know columns as the user does."""
        working.frame = with_scalars(working.frame, self.plan, step)
        self._constants |= constants(step)
        return working

    def compute(self, working: WindowColumns, step: Compute) -> WindowColumns:
        """Add columns of calls, as windows that windrow's rule replaces, or as Spark's own."""
        given = working.frame.schema.fields
        schema = T.StructType(
            [T.StructField(name, f.dataType, f.nullable) for name, f in zip(step.names, given, strict=True)]
        )
        left = self._left_to_spark(step, schema)
        taken = [i for i in range(len(step.calls)) if i not in left]
        if taken:
            self._check(step, schema, taken)
        names = self._names(step)
        asked = self.engine == "spark"
        explained = rows_by_windrow(lambda: self._operator(step, schema, left), len(left), asked=asked)
        windows = self._windows(step, schema, names, taken)
        splits = dict(zip(taken, self._splits(working, step, taken), strict=True))
        working.frame = self._added(working.frame, step, windows, splits)
        for i, row in zip(left, explained, strict=True):
            result = working.frame.schema[len(step.names) + i]
            shown = explained_spark_call(step.calls[i], result, row, asked=asked)
            working.left[names[i]] = replace(shown, name=names[i], sort="Spark")
        return working

    def project(self, working: WindowColumns, step: Project) -> WindowColumns:
        """Choose the columns of the result, and name them."""
        if step.columns == tuple((name, i) for i, name in enumerate(working.frame.columns)):
            return working
        chosen = [{"column": i, "name": name} for name, i in step.columns]
        plan = self.adder.chosen(analyzed_plan(working.frame), json.dumps(chosen))
        return replace(working, frame=dataframe_of(plan, self.frame.sparkSession))

    def _names(self, step: Compute) -> list[str]:
        """Name the columns of calls: as in the result, where no expression knows them by other names."""
        names = list(self.plan.columns[len(step.names) :][: len(step.calls)])
        if not any(isinstance(s, Evaluate) for s in self.plan.steps_after(step)):
            results = {i - len(step.names): name for name, i in self.plan.project.columns}
            names = [results.get(i, name) for i, name in enumerate(names)]
        return names

    def _left_to_spark(self, step: Compute, schema: T.StructType) -> list[int]:
        """Choose the calls that Spark computes: each by those of the same partition keys."""
        if self.engine == "spark":
            return list(range(len(step.calls)))
        always = [i for i, call in enumerate(step.calls) if self._legacy.apply_to(call)]
        if self.engine == "windrow":
            return always
        by_keys: dict[frozenset[str], list[int]] = {}
        for i, call in enumerate(step.calls):
            by_keys.setdefault(frozenset(call.partition_by), []).append(i)
        types = {f.name: f.dataType for f in schema.fields}
        return always + [
            i
            for members in by_keys.values()
            if spark_is_cheaper([step.calls[m] for m in members], types, self._constants)
            for i in members
            if i not in always
        ]

    def _check(self, step: Compute, schema: T.StructType, taken: Sequence[int]) -> None:
        """Refuse what a stage cannot carry, and warn where all rows move to one task."""
        calls = [step.calls[i] for i in taken]
        read = {n for c in calls for n in c.columns_read()}
        kept = {self.plan.names[i] for i in step.keeps}
        carried = T.StructType([f for f in schema.fields if f.name in read or f.name in kept])
        check_columns(T.StructType([f for f in schema.fields if f.name in read]))
        check_columns(carried_schema(carried))
        check_declared(carried)
        check_keys(schema, calls)
        if self._quiet:
            return
        reasons = {c.display: self._unsplit_reason(step, schema, i) for c, i in zip(calls, taken, strict=True)}
        unsplit = {call: why for call, why in reasons.items() if why is not None}
        if unsplit:
            why = next((f" ({why})" for why in unsplit.values() if why), "")
            text = ONE_PARTITION.format(calls="; ".join(unsplit), why=why)
            warnings.warn(text, UserWarning, stacklevel=caller_stack_level())

    def _unsplit_reason(self, step: Compute, schema: T.StructType, place: int) -> str | None:
        """Say why all rows move to one task, however many they are; None where they do not."""
        call = step.calls[place]
        if call.partition_by:
            return None
        if not self.compute_options.may_spread():
            return ""
        # whether rows without an order can be read twice is for the optimizer to see
        return split_refusal(self._operator(step, schema, [place]).levels[0], is_repeatable=True)

    def _splits(self, working: WindowColumns, step: Compute, taken: Sequence[int]) -> list[str | None]:
        """Say why the partitions of calls are split across tasks, as ``WindowCalls`` has it."""
        if not self.compute_options.may_spread():
            return [None] * len(taken)
        if self.compute_options.spread_chosen() == "always":
            return ["as spread='always' asks"] * len(taken)
        ordered = {step.calls[i].partition_by for i in taken if step.calls[i].order_by}
        is_named = working.frame.columns == list(step.names)
        frame = working.frame if is_named else working.frame.toDF(*step.names)
        skewed = {
            keys: skewed_key_reason(frame, keys, self.options.memory_limit, self.functions) for keys in ordered if keys
        }
        return [skewed.get(step.calls[i].partition_by, "") for i in taken]

    def _windows(
        self, step: Compute, schema: T.StructType, names: Sequence[str], taken: Sequence[int]
    ) -> list[dict[str, Any]]:
        """Describe windows to the JVM: those of windrow by what Spark sees of them, Spark's own by their SQL."""
        places = {name: i for i, name in enumerate(step.names)}
        results = dict(zip(taken, self._results(step, schema, taken), strict=True))
        windows: list[dict[str, Any]] = []
        for i, (call, name) in enumerate(zip(step.calls, names, strict=True)):
            if i in results:
                described = {"place": taken.index(i), **_described(call, results[i], places)}
            else:
                described = {"text": spark_sql(call), "columns": places}
            windows.append({"name": name, **described})
        return windows

    def _results(self, step: Compute, schema: T.StructType, taken: Sequence[int]) -> list[T.StructField]:
        """Give the types of calls' results, as Spark has them."""
        fields = []
        made = declared_schema(self._operator(step, schema, taken)).fields if taken else []
        for i, result in zip(taken, made, strict=True):
            call = step.calls[i]
            source = call.argument_column()
            known = source and restored_spark_type(call.function, schema[source].dataType, result.dataType)
            fields.append(T.StructField(result.name, known or result.dataType, result.nullable))
        return fields

    def _operator(self, step: Compute, schema: T.StructType, members: Sequence[int]) -> Operator:
        """Make the operator of some calls, which nobody runs."""
        calls = [step.calls[i] for i in members]
        read = {n for c in calls for n in c.columns_read()}
        read_schema = T.StructType([f for f in schema.fields if f.name in read] or carried_schema(schema).fields[:1])
        if not read_schema.fields:
            read_schema = T.StructType([T.StructField(ROW_PLACEHOLDER, T.BooleanType(), nullable=False)])
        names = [f"__windrow_out_{i}" for i in members]
        return stage_operator(calls, read_schema, names, names, [], self.options)

    def _added(
        self, frame: Any, step: Compute, windows: Sequence[Mapping[str, Any]], taken: Mapping[int, str | None]
    ) -> Any:
        """Add windows to a frame, whose columns are those of the step; what Spark refuses of its own is named."""
        from pyspark.errors import PySparkException

        strings = tuple(strings_named_as_columns(self.plan))
        calls = WindowCalls(tuple(step.calls[i] for i in taken), self.options, tuple(taken.values()), strings)
        plan = self.adder.added(analyzed_plan(frame), json.dumps(windows), calls.text() if taken else "")
        try:
            return dataframe_of(plan, self.frame.sparkSession)
        except PySparkException as error:
            left = [i for i in range(len(windows)) if i not in taken]
            if len(windows) == 1 and left:
                raise refused_window(step.calls[0], error) from None
            for i in left:
                self._added(frame, replace(step, calls=(step.calls[i],)), [windows[i]], {})
            raise


def _described(call: BoundCall, result: T.StructField, places: Mapping[str, int]) -> dict[str, Any]:
    """Say to the JVM what Spark sees of a call."""
    return {
        "function": f"windrow_{call.function}",
        "type": result.dataType.json(),
        "nullable": result.nullable,
        "values": [places[n] for n in dict.fromkeys(call.values())],
        "partition": [places[n] for n in call.partition_by],
        "order": [
            {"column": places[k.column], "descending": k.descending, "nulls_first": k.nulls_first}
            for k in call.order_by
        ],
    }
