"""The plan of window calls on a PySpark DataFrame: exchange, ``mapInArrow``, and the schema on both sides.

df -> for each level of calls:
      Spark evaluates expression columns, all names made unique
      -> for each stage, calls that share a partition key: one exchange on the keys they share, where none serves yet,
         then mapInArrow with the operator, which sorts within the task; or Spark's own windows
   -> Spark evaluates expressions over calls, and gives the columns the names and the order that were asked for
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.explained_call import ExplainedCall
from ..._execute.external_sort import ROW_NUMBER
from ..._execute.level import Level
from ..._execute.native import ROW_PLACEHOLDER
from ..._execute.steps import run_steps, strings_named_as_columns
from ..._execute.stream import Operator
from ..._model.names import unique_names
from ..._model.replace import replace
from ..._plan.bound import BoundCall, SortKey
from ..._plan.steps import Compute, Evaluate, Project, StepPlan
from .clustering import STAGE_NAME, Clustering, clustering_of
from .engine_choice import spark_is_cheaper
from .exchange_sharing import Stage, stages
from .exchanges import ONE_PARTITION, exchanged, range_partition, sorted_by
from .jvm import with_new_ids
from .legacy_settings import LegacySettings
from .options import ComputeOptions
from .planning import constants, is_of_inputs, with_scalars
from .scalars import functions_of, quoted
from .session import caller_stack_level, is_sparks, partitions, session_options
from .skew import skewed_key_reason
from .spark_sql import explained_spark_call, rows_by_windrow, with_windows
from .split_two_pass import run_two_pass
from .split_windows import NO_KEYS, split_of, split_refusal
from .task_metrics import MetricsAccumulator
from .types import (
    arrow_round_trip_type,
    check_columns,
    check_keys,
    declared_schema,
    restored_spark_type,
    spark_schema,
    to_arrow,
)

__all__ = ["SparkRunner", "StageReport"]


@dataclass(slots=True)
class StageReport:
    """A stage of Spark's plan, for explain."""

    calls: Sequence[int]
    distribution: str
    exchange: bool
    by_windrow: bool
    rows: list[ExplainedCall]
    accumulator: MetricsAccumulator | None = None


@dataclass(slots=True)
class _Working:
    """A DataFrame with the columns of the steps so far.

    Parameters
    ----------
    frame
        The DataFrame.
    present
        Which working columns it has, in order.
    clustering
        How its rows are spread, as far as that is known.
    """

    frame: Any
    present: list[int]
    clustering: Clustering | None

    def renamed(self, names: Sequence[str]) -> None:
        """Give the columns other names where need be: it parts a Column that is bound to the frame from it."""
        if list(self.frame.columns) != list(names):
            self.frame = self.frame.toDF(*names)


class SparkRunner:
    """Puts the steps of a plan into a DataFrame's own.

    Parameters
    ----------
    frame
        A PySpark DataFrame.
    plan
        The plan.
    compute_options
        Who sorts, and who computes.
    context
        Spark's context, if the tasks' metrics are to be collected.
    quiet
        Whether to do without the warning that all rows move to one partition.
    """

    def __init__(
        self, frame: Any, plan: StepPlan, compute_options: ComputeOptions, context: Any = None, *, quiet: bool = False
    ) -> None:
        self.frame = frame
        self.plan = plan
        self.compute_options = compute_options
        self.context = context
        self._quiet = quiet
        self._legacy = LegacySettings(frame.sparkSession)
        self.options = session_options(frame.sparkSession)
        self.engine = compute_options.chosen()
        self.functions = functions_of(frame)
        #: The stages of each step of calls.
        self.done: list[list[StageReport]] = []
        self._constants: set[str] = set()
        hidden = {s.name for e in plan.steps if isinstance(e, Evaluate) and not is_of_inputs(e) for s in e.scalars}
        #: The columns that steps of calls have in common.
        self._surviving_columns = [n for n in plan.names if n not in hidden]
        self._renews_ids = False

    def result(self, *, keeps_identity: bool = False) -> Any:
        """Give the frame that was asked for.

        With ``keeps_identity`` its columns can be given the ids of the frame's.
        """
        self._renews_ids = keeps_identity
        plan = self.plan
        clustering = None
        if not self.compute_options.in_order and self.engine != "spark" and plan.computes():
            clustering = clustering_of(self.frame, list(plan.names))
        return run_steps(self, _Working(self.frame, list(range(plan.width)), clustering), plan)

    def evaluate(self, working: _Working, step: Evaluate) -> _Working:
        """Add columns of scalars, which know columns as the user does."""
        working.renamed([self.plan.columns[i] for i in working.present])
        working.frame = with_scalars(working.frame, self.plan, step)
        working.present += range(len(step.names), len(step.names) + len(step.scalars))
        self._constants |= constants(step)
        return working

    def compute(self, working: _Working, step: Compute) -> _Working:
        """Compute calls, stage by stage; keeps what later steps read."""
        if self._renews_ids:
            working.frame, self._renews_ids = with_new_ids(working.frame), False
        names = [self.plan.names[i] for i in working.present]
        working.renamed(names)
        first = len(step.names)
        keeps = set(step.keeps)
        passing = [self.plan.names[i] for i in working.present if i in keeps]
        calls = step.calls
        schema = working.frame.schema
        # Spark types that Arrow cannot carry exactly (cast back at the end)
        types = {f.name: f.dataType for f in schema.fields if arrow_round_trip_type(f.dataType) != f.dataType}
        results: dict[int, str] = {}
        stages_to_run = self._stages(working, step)
        self.done.append([])
        for position, stage in enumerate(stages_to_run):
            later = {n for s in stages_to_run[position + 1 :] for i in s.calls for n in calls[i].columns_read()}
            needed = {*later, *passing, *results.values()}
            remaining = [n for n in names if n in needed.union(*(calls[i].columns_read() for i in stage.calls))]
            if remaining != names:
                names, schema = remaining, T.StructType([schema[n] for n in remaining])
                working.frame = working.frame.select(*map(quoted, names))
            if self._runs_on_spark(working, step, stage, schema):
                schema, result_names = self._compute_by_spark(working, step, stage, schema, names)
            else:
                schema, result_names = self._compute_by_windrow(working, step, stage, schema, needed)
            for index, name in result_names.items():
                results[index] = name
                call, result = calls[index], schema[name].dataType
                source = types.get(call.argument_column() or "")
                known = None if source is None else restored_spark_type(call.function, source, result)
                if known is not None or arrow_round_trip_type(result) != result:
                    types[name] = result if known is None else known
            names = list(schema.names)

        def typed(name: str) -> Any:
            column = self.functions.col(quoted(name))
            return column.cast(types[name]) if name in types else column

        kept = [typed(n).alias(n) for n in passing]
        new = [typed(results[i]).alias(call.name) for i, call in enumerate(calls)]
        working.frame = working.frame.select(*kept, *new)
        working.present = [*(i for i in working.present if i in keeps), *range(first, first + len(calls))]
        return working

    def project(self, working: _Working, step: Project) -> Any:
        """Choose the columns of the result, and name them."""
        names = self.plan.names
        working.renamed([names[i] for i in working.present])
        columns = [self.functions.col(quoted(names[i])).alias(name) for name, i in step.columns]
        return working.frame.select(*columns)

    def _stages(self, working: _Working, step: Compute) -> list[Stage]:
        """Choose the stages; calls that are Spark's by a setting of its are stages of their own."""
        if self.engine == "spark":  # Spark shares out its exchanges itself
            return [Stage((), tuple(range(len(step.calls))))]
        legacy = frozenset(i for i, call in enumerate(step.calls) if self._legacy.apply_to(call))
        return [
            replace(stage, calls=calls)
            for stage in self._shared_stages(working, step)
            for calls in (tuple(i for i in stage.calls if (i in legacy) == is_legacy) for is_legacy in (False, True))
            if calls
        ]

    def _shared_stages(self, working: _Working, step: Compute) -> list[Stage]:
        sets = [frozenset(c.partition_by) for c in step.calls]
        if self.compute_options.in_order:
            return stages(sets, [], [], None)
        later = next((s.calls for s in self.plan.steps_after(step) if isinstance(s, Compute)), ())
        clustering = None if working.clustering is None else working.clustering.keys
        return stages(sets, [frozenset(c.partition_by) for c in later], self._surviving_columns, clustering)

    def _runs_on_spark(self, working: _Working, step: Compute, stage: Stage, schema: T.StructType) -> bool:
        """Whether Spark computes a stage."""
        calls = [step.calls[i] for i in stage.calls]
        if self.engine == "spark" or any(self._legacy.apply_to(call) for call in calls):
            return True
        if self.engine == "windrow":
            return False
        if stage.is_colocated and working.clustering is not None and working.clustering.is_colocated:
            return False  # mapInArrow hides that from Spark, which would spread the rows anew
        return spark_is_cheaper(calls, {f.name: f.dataType for f in schema.fields}, self._constants)

    def _compute_by_spark(
        self, working: _Working, step: Compute, stage: Stage, schema: T.StructType, names: Sequence[str]
    ) -> tuple[T.StructType, dict[int, str]]:
        """Add a stage's calls as Spark's windows; give the schema, and the names of the results."""
        native = step.calls
        result_names = _result_names(names, stage.calls)
        asked = self.engine == "spark"
        read = {n for i in stage.calls for n in native[i].columns_read()}
        of_calls = T.StructType([f for f in schema.fields if f.name in read])
        rows = rows_by_windrow(
            lambda: self._operator(step, stage.calls, of_calls, sort=True), len(stage.calls), asked=asked
        )
        working.frame = with_windows(working.frame, {result_names[i]: native[i] for i in stage.calls}, self.functions)
        schema = working.frame.schema
        keys = tuple(dict.fromkeys(native[stage.calls[0]].partition_by))
        distribution = "Spark's exchange" + (f" by {', '.join(keys)}" if keys else ", where it needs one")
        if asked:
            distribution, keys = "as engine='spark' asks", ()
        working.clustering = self._clustering_after(keys, is_colocated=False)
        shown = [
            explained_spark_call(native[i], schema[result_names[i]], row, asked=asked)
            for i, row in zip(stage.calls, rows, strict=True)
        ]
        self.done[-1].append(StageReport(stage.calls, distribution, True, False, shown))
        return schema, result_names

    def _compute_by_windrow(
        self, working: _Working, step: Compute, stage: Stage, schema: T.StructType, needed: Collection[str]
    ) -> tuple[T.StructType, dict[int, str]]:
        """Put a stage's exchange and ``mapInArrow`` into the plan; give the schema, and the names of the results.

        Columns that are not ``needed`` behind the stage do not come back from it.
        """
        native = step.calls
        result_names: dict[int, str] = {}
        if not schema.names:  # PySpark takes the number of a batch's rows from its columns
            working.frame = working.frame.select(self.functions.lit(True).alias(ROW_PLACEHOLDER))
            schema = working.frame.schema
        check_columns(schema)
        check_keys(schema, [native[i] for i in stage.calls])
        splittable, why = (
            ([], "")
            if stage.is_colocated or not self.compute_options.may_spread()
            else self._splittable_calls(working, step, stage, schema)
        )
        split_reason = self._split_reason(working, stage) if splittable else ""
        if split_reason:
            stage = replace(stage, calls=tuple(i for i in stage.calls if i not in splittable))
            schema, result_names = self._compute_split(
                working, step, splittable, schema, _passing_columns(needed, native, [stage.calls], {}), split_reason
            )
            if not stage.calls:
                return schema, result_names
        distribution, exchange = self._exchange(working, step, stage, why)
        spark_sorts = self.compute_options.sort == "spark"
        parts = self._sorts(step, stage.calls, schema) if spark_sorts else [(stage.calls, False)]
        row_number_column = ""
        if any(by_position for _, by_position in parts):  # what the sorts before have moved is put back among its ties
            *_, row_number_column = unique_names([*schema.names, ROW_NUMBER], case_insensitive=True)
            working.frame = working.frame.select(
                "*", self.functions.monotonically_increasing_id().alias(row_number_column)
            )
            schema = T.StructType([*schema.fields, T.StructField(row_number_column, T.LongType(), nullable=False)])
        for position, (calls, by_position) in enumerate(parts):
            sorting = ""
            if spark_sorts and (keys := native[calls[0]].sort_keys()):
                last = [SortKey(row_number_column)] if by_position else []
                by = [sorted_by(k, self.functions) for k in [*keys, *last]]
                working.frame = working.frame.sortWithinPartitions(*by)
                sorting = f", Spark's sort by {', '.join(dict.fromkeys(k.column for k in keys))}"
            later = parts[position + 1 :]
            kept = _passing_columns(needed, native, (calls for calls, _ in later), result_names)
            kept |= {row_number_column} if any(by_position for _, by_position in later) else set()
            operator = self._operator(
                step, calls, schema, sort=not self.compute_options.in_order and not spark_sorts, kept=kept
            )
            accumulator = self._collect_metrics(operator)
            working.frame = working.frame.mapInArrow(operator, declared_schema(operator))
            schema = self._record_results(operator, calls, result_names)
            rows = _in_spark_types(operator.explain_rows(), [schema[result_names[i]] for i in calls])
            self.done[-1].append(StageReport(calls, distribution + sorting, exchange, True, rows, accumulator))
            distribution, exchange = "the rows are there", False
        return schema, result_names

    def _sorts(self, step: Compute, calls: Sequence[int], schema: T.StructType) -> list[tuple[tuple[int, ...], bool]]:
        """Group calls by sort, each with whether ties must be put back in input order."""
        sorts = self._operator(step, calls, schema, sort=True).levels[0].sorts()
        return [(tuple(calls[i] for i in members), by_position) for members, by_position in sorts]

    def _splittable_calls(
        self, working: _Working, step: Compute, stage: Stage, schema: T.StructType
    ) -> tuple[list[int], str]:
        """List the calls of a stage whose partitions can be split across tasks, and why another call's cannot."""
        if not hasattr(working.frame, "scalar"):
            return [], " (windows of rows in several tasks need Spark 4.0 or later)"
        splittable, refusal = [], ""
        for call in stage.calls:
            [level] = self._operator(step, [call], schema, sort=True).levels
            why = split_refusal(level, is_repeatable=False)
            if why is None:
                splittable.append(call)
            elif why:
                refusal = f" ({why})"
        if splittable and self._split_reason(working, stage) and not is_sparks(working.frame.sparkSession):
            return [], " (windows of rows in several tasks need Spark's own server)"
        return splittable, refusal

    def _split_reason(self, working: _Working, stage: Stage) -> str:
        """Return why the partitions of a stage are split across tasks; empty if they are not."""
        if not stage.keys:
            return NO_KEYS
        if self.compute_options.spread_chosen() == "always":
            return "as spread='always' asks"
        return skewed_key_reason(working.frame, stage.keys, self.options.memory_limit, self.functions)

    def _compute_split(
        self,
        working: _Working,
        step: Compute,
        splittable: Sequence[int],
        schema: T.StructType,
        needed: Collection[str],
        split_reason: str,
    ) -> tuple[T.StructType, dict[int, str]]:
        """Add calls whose partitions are split across tasks; return the schema, and the results' names."""
        native = step.calls
        result_names: dict[int, str] = {}
        tasks = partitions(self.frame.sparkSession)
        parts = [calls for calls, _ in self._sorts(step, splittable, schema)]
        for position, calls in enumerate(parts):
            kept = _passing_columns(needed, native, parts[position + 1 :], result_names)
            split = split_of([native[i] for i in calls], tasks, split_reason, is_repeatable=False)
            read = {n for i in calls for n in native[i].columns_read()} or {schema.names[0]}
            reader = self._operator(step, calls, T.StructType([f for f in schema.fields if f.name in read]), sort=True)
            operator = self._operator(step, calls, schema, sort=True, kept=kept)
            accumulator = self._collect_metrics(operator)
            working.frame = range_partition(working.frame, split.keys, tasks, self.functions)
            working.frame = run_two_pass(working.frame, operator, reader, self.functions)
            schema = self._record_results(operator, calls, result_names)
            working.clustering = None
            rows = _in_spark_types(operator.explain_rows(), [schema[result_names[i]] for i in calls])
            self.done[-1].append(StageReport(calls, str(split), True, True, rows, accumulator))
        return schema, result_names

    def _record_results(self, operator: Operator, calls: Sequence[int], result_names: dict[int, str]) -> T.StructType:
        """Record the names of the results of an operator's calls; return its output schema."""
        schema = spark_schema(operator)
        result_names |= dict(zip(calls, schema.names[len(schema.names) - len(calls) :], strict=True))
        return schema

    def _collect_metrics(self, operator: Operator) -> MetricsAccumulator | None:
        """Collect the metrics of an operator's runs, if they are asked for."""
        if self.context is None:
            return None
        operator.report = accumulator = MetricsAccumulator(self.context)
        return accumulator

    def _exchange(self, working: _Working, step: Compute, stage: Stage, why: str) -> tuple[str, bool]:
        """Bring the rows of each partition into one task; return how, and whether by an exchange of windrow's.

        ``why`` says why partitions are not split across tasks.
        """
        by = ", ".join(stage.keys)
        if self.compute_options.in_order:
            return "the rows come grouped and in order", False
        at = working.clustering if stage.is_colocated else None
        if at is not None and at.is_colocated:
            return (f"the rows are together by {by}" if by else "all rows are in ONE task"), False
        working.clustering = self._clustering_after(stage.keys, is_colocated=True)
        if not stage.keys and not self._quiet:
            shown = "; ".join(step.calls[i].display for i in stage.calls)
            warnings.warn(ONE_PARTITION.format(calls=shown, why=why), UserWarning, stacklevel=caller_stack_level())
        keys = [self.functions.col(quoted(k)) for k in stage.keys]
        tasks = None if at is None else at.tasks
        working.frame = exchanged(working.frame, keys, tasks, self.functions, removable=at is not None)
        if at is not None:
            return f"the input's exchange by {by} serves", False
        return (f"an exchange by {by}" if by else f"all rows in ONE task, as there is no PARTITION BY{why}"), True

    def _clustering_after(self, keys: Sequence[str], *, is_colocated: bool) -> Clustering | None:
        """Return how rows are clustered after a stage, if all of its keys are columns that stay."""
        return Clustering(tuple(keys), is_colocated=is_colocated) if set(keys) <= set(self._surviving_columns) else None

    def _operator(
        self,
        step: Compute,
        calls: Sequence[int],
        schema: T.StructType,
        *,
        sort: bool,
        kept: Collection[str] = (),
    ) -> Operator:
        """Make the operator of some calls; it gives the columns ``kept``, then the new ones."""
        names = schema.names
        plain = T.StructType(
            [T.StructField(f.name, arrow_round_trip_type(f.dataType), f.nullable, f.metadata) for f in schema.fields]
        )
        results = _result_names(names, calls)
        native = tuple(replace(step.calls[i], name=results[i]) for i in calls)
        check_keys(schema, native)
        read = {n for c in native for n in c.columns_read()}
        reads = tuple(i for i, n in enumerate(names) if n in read)
        chosen = [(n, i) for i, n in enumerate(names) if n in kept]
        chosen += [(n, len(names) + i) for i, n in enumerate(results.values())]
        options = self.options
        level = Level(
            Compute(native, tuple(names), reads),
            (),
            Project(tuple(chosen)),
            to_arrow(plain, options.timezone or "UTC"),
            options,
            sort,
        )
        operator = Operator([level], None, options, plain, strings=strings_named_as_columns(self.plan))
        operator.__name__ = STAGE_NAME
        return operator


def _passing_columns(
    needed: Collection[str], native: Sequence[BoundCall], later: Iterable[Sequence[int]], result_names: dict[int, str]
) -> set[str]:
    """Return the columns that an operator must pass through: those needed after its stage, and by later calls."""
    return {*needed, *result_names.values(), *(n for calls in later for i in calls for n in native[i].columns_read())}


def _in_spark_types(rows: Sequence[ExplainedCall], fields: Sequence[T.StructField]) -> list[ExplainedCall]:
    """Name the types of results as Spark does."""
    return [replace(row, type=field.dataType.simpleString()) for row, field in zip(rows, fields, strict=True)]


def _result_names(names: Sequence[str], calls: Sequence[int]) -> dict[int, str]:
    """Give names to the results of calls, unlike those of the columns beside them."""
    given = unique_names([*names, *(f"__windrow_out_{i}" for i in calls)], case_insensitive=True)
    return dict(zip(calls, given[len(names) :], strict=True))
