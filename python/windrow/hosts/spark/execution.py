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
from ..._execute.sectioned import ExchangeSummaries
from ..._execute.steps import run_steps
from ..._execute.stream import Operator
from ..._model.names import unique_names
from ..._model.replace import replace
from ..._plan.bound import BoundCall, SortKey
from ..._plan.steps import Compute, Evaluate, Project, StepPlan
from ...exceptions import SpecError, UnsupportedError, WindrowError
from .clustering import STAGE_NAME, Clustering, clustering_of
from .engine_choice import better_left
from .exchange_sharing import Stage, stages
from .exchanges import exchanged, parted, ranged, sorted_by
from .jvm import is_classic, is_generated
from .options import Way
from .planning import GENERATOR_INSIDE, constants, is_of_inputs
from .scalars import functions_of, quoted, spark_column
from .scan_properties import is_repeatable
from .session import partitions, session_options, slots, users_line
from .skew import hot_key
from .spark_sql import row_of, with_windows
from .split_barrier import at_once, gathered
from .split_two_pass import read_twice
from .task_metrics import Heard
from .types import carried, check_columns, check_keys, fuller_type, spark_schema, to_arrow

__all__ = ["Done", "SparkRunner"]

_ONE_PARTITION = (
    "No Partition Defined for Window operation! Moving all data to a single partition, this can cause serious "
    "performance degradation: {calls}. Add partition_by, if the question allows it{why}"
)


@dataclass(slots=True)
class Done:
    """A stage as it stands in Spark's plan."""

    calls: Sequence[int]
    together: str
    exchange: bool
    by_windrow: bool
    rows: list[ExplainedCall]
    heard: Heard | None = None


@dataclass(slots=True)
class _Working:
    """A DataFrame with the columns of the steps so far.

    Parameters
    ----------
    frame
        The DataFrame.
    present
        Which working columns it has, in order.
    clustered
        How its rows are spread, as far as that is known.
    """

    frame: Any
    present: list[int]
    clustered: Clustering | None

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
    way
        Who sorts, and who computes.
    context
        Spark's context, where what the tasks say of their runs is to be heard.
    quiet
        Whether to do without the warning that all rows move to one partition.
    """

    def __init__(self, frame: Any, plan: StepPlan, way: Way, context: Any = None, *, quiet: bool = False) -> None:
        self.frame = frame
        self.plan = plan
        self.way = way
        self.context = context
        self._quiet = quiet
        self.options = session_options(frame.sparkSession)
        self.engine = way.chosen()
        self.functions = functions_of(frame)
        #: The stages of each step of calls.
        self.done: list[list[Done]] = []
        self._constants: set[str] = set()
        hidden = {s.name for e in plan.steps if isinstance(e, Evaluate) and not is_of_inputs(e) for s in e.scalars}
        #: The columns that steps of calls have in common.
        self._lasting_columns = [n for n in plan.names if n not in hidden]

    def result(self) -> Any:
        """Give the frame that was asked for."""
        plan = self.plan
        clustered = None
        if not self.way.in_order and self.engine != "spark" and plan.computes():
            clustered = clustering_of(self.frame, list(plan.names))
        return run_steps(self, _Working(self.frame, list(range(plan.width)), clustered), plan)

    def evaluate(self, working: _Working, step: Evaluate) -> _Working:
        """Add columns of scalars, which know columns as the user does."""
        working.renamed([self.plan.columns[i] for i in working.present])
        made = [spark_column(s, self.functions).alias(s.name) for s in step.scalars]
        working.frame = working.frame.select("*", *made)
        working.present += range(len(step.names), len(step.names) + len(made))
        read = {n for compute in self.plan.computes() for c in compute.calls for n in c.columns_read()}
        asked = [s for s in step.scalars if s.name in read]
        if asked and not is_of_inputs(step) and is_classic(working.frame) and is_generated(working.frame):
            raise SpecError(GENERATOR_INSIDE.format(generator=" or ".join(s.text for s in asked)))
        self._constants |= constants(step)
        return working

    def compute(self, working: _Working, step: Compute) -> _Working:
        """Compute calls, stage by stage; what later steps read stays, results are named by their places."""
        names = [self.plan.names[i] for i in working.present]
        working.renamed(names)
        first = len(step.names)
        keeps = set(step.keeps)
        passing = [self.plan.names[i] for i in working.present if i in keeps]
        calls = step.calls
        schema = working.frame.schema
        # what the result's columns are, where Arrow and so mapInArrow knows less
        types = {f.name: f.dataType for f in schema.fields if carried(f.dataType) != f.dataType}
        results: dict[int, str] = {}
        todo = self._stages(working, step)
        self.done.append([])
        for position, stage in enumerate(todo):
            later = {n for s in todo[position + 1 :] for i in s.calls for n in calls[i].columns_read()}
            needed = {*later, *passing, *results.values()}
            stay = [n for n in names if n in needed.union(*(calls[i].columns_read() for i in stage.calls))]
            if stay != names:
                names, schema = stay, T.StructType([schema[n] for n in stay])
                working.frame = working.frame.select(*map(quoted, names))
            if self._left(working, step, stage, schema):
                schema, made = self._by_spark(working, step, stage, schema, names)
            else:
                schema, made = self._by_windrow(working, step, stage, schema, needed)
            for index, name in made.items():
                results[index] = name
                call, result = calls[index], schema[name].dataType
                source = types.get(call.argument_column() or "")
                known = None if source is None else fuller_type(call.function, source, result)
                if known is not None or carried(result) != result:
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
        if self.engine == "spark":  # Spark shares out its exchanges itself
            return [Stage((), tuple(range(len(step.calls))))]
        if self.way.in_order:
            return stages(step.calls, [], [], None)
        steps = self.plan.computes()
        following = steps[steps.index(step) + 1 :]
        later = following[0].calls if following else ()
        clustered = None if working.clustered is None else working.clustered.keys
        return stages(step.calls, later, self._lasting_columns, clustered)

    def _left(self, working: _Working, step: Compute, stage: Stage, schema: T.StructType) -> bool:
        """Whether Spark computes a stage."""
        if self.engine != "auto":
            return self.engine == "spark"
        if stage.arrived and working.clustered is not None and working.clustered.arrived:
            return False  # mapInArrow hides that from Spark, which would spread the rows anew
        calls = [step.calls[i] for i in stage.calls]
        return better_left(calls, {f.name: f.dataType for f in schema.fields}, self._constants)

    def _by_spark(
        self, working: _Working, step: Compute, stage: Stage, schema: T.StructType, names: Sequence[str]
    ) -> tuple[T.StructType, dict[int, str]]:
        """Add a stage's calls as Spark's windows; give the schema, and the names of the results."""
        native = step.calls
        made = _result_names(names, stage.calls)
        rows: Sequence[ExplainedCall | None] = [None] * len(stage.calls)
        read = {n for i in stage.calls for n in native[i].columns_read()}
        try:  # a mistake is told in the same words whoever computes
            of_calls = T.StructType([f for f in schema.fields if f.name in read])
            rows = self._operator(step, stage.calls, of_calls, sort=True).explain_rows()
        except UnsupportedError:
            pass  # what cannot go through Arrow, and is not to
        except WindrowError:
            if self.engine != "spark":
                raise
        working.frame = with_windows(working.frame, {made[i]: native[i] for i in stage.calls}, self.functions)
        schema = working.frame.schema
        keys = tuple(dict.fromkeys(native[stage.calls[0]].partition_by))
        together = "Spark's exchange" + (f" by {', '.join(keys)}" if keys else ", where it needs one")
        if self.engine == "spark":
            together, keys = "as engine='spark' asks", ()
        working.clustered = self._lasting(keys, arrived=False)
        asked = self.engine == "spark"
        shown = [row_of(native[i], schema[made[i]], row, asked=asked) for i, row in zip(stage.calls, rows, strict=True)]
        self.done[-1].append(Done(stage.calls, together, True, False, shown))
        return schema, made

    def _by_windrow(
        self, working: _Working, step: Compute, stage: Stage, schema: T.StructType, needed: Collection[str]
    ) -> tuple[T.StructType, dict[int, str]]:
        """Put a stage's exchange and ``mapInArrow`` into the plan; give the schema, and the names of the results.

        Columns that are not ``needed`` behind the stage do not come back from it.
        """
        native = step.calls
        made: dict[int, str] = {}
        if not schema.names:  # PySpark takes the number of a batch's rows from its columns
            working.frame = working.frame.select(self.functions.lit(True).alias(ROW_PLACEHOLDER))
            schema = working.frame.schema
        check_columns(schema)
        check_keys(schema, [native[i] for i in stage.calls])
        able, why = ([], "") if stage.arrived or not self.way.may_spread() else self._able(working, step, stage, schema)
        how = self._spreading(working, stage) if able else ""
        if how:
            stage = replace(stage, calls=tuple(i for i in stage.calls if i not in able))
            schema, made = self._by_tasks(working, step, able, schema, _kept(needed, native, [stage.calls], {}), how)
            if not stage.calls:
                return schema, made
        together, exchange = self._exchange(working, step, stage, why)
        spark_sorts = self.way.sort == "spark"
        parts = self._sorts(step, stage.calls, schema) if spark_sorts else [(stage.calls, False)]
        numbers = ""
        if any(by_position for _, by_position in parts):  # what the sorts before have moved is put back among its ties
            *_, numbers = unique_names([*schema.names, ROW_NUMBER], case_insensitive=True)
            working.frame = working.frame.select("*", self.functions.monotonically_increasing_id().alias(numbers))
            schema = T.StructType([*schema.fields, T.StructField(numbers, T.LongType(), nullable=False)])
        for position, (calls, by_position) in enumerate(parts):
            sorting = ""
            if spark_sorts and (keys := native[calls[0]].sort_keys()):
                last = [SortKey(numbers)] if by_position else []
                by = [sorted_by(k, self.functions) for k in [*keys, *last]]
                working.frame = working.frame.sortWithinPartitions(*by)
                sorting = f", Spark's sort by {', '.join(dict.fromkeys(k.column for k in keys))}"
            later = parts[position + 1 :]
            kept = _kept(needed, native, (calls for calls, _ in later), made)
            kept |= {numbers} if any(by_position for _, by_position in later) else set()
            operator = self._operator(step, calls, schema, sort=not self.way.in_order and not spark_sorts, kept=kept)
            heard = self._heard(operator)
            working.frame = working.frame.mapInArrow(operator, spark_schema(operator))
            schema = self._made(operator, calls, made)
            self.done[-1].append(Done(calls, together + sorting, exchange, True, operator.explain_rows(), heard))
            together, exchange = "the rows are there", False
        return schema, made

    def _sorts(self, step: Compute, calls: Sequence[int], schema: T.StructType) -> list[tuple[tuple[int, ...], bool]]:
        """Part calls by the sorts that serve them; say whether ties must be put back in the order of the rows."""
        sorts = self._operator(step, calls, schema, sort=True).levels[0].sorts()
        return [(tuple(calls[i] for i in members), by_position) for members, by_position in sorts]

    def _able(self, working: _Working, step: Compute, stage: Stage, schema: T.StructType) -> tuple[list[int], str]:
        """List the calls of a stage whose partitions can be shared out over tasks, and say why another is none."""
        native = step.calls
        if not hasattr(working.frame, "scalar"):
            return [], " (windows of rows in several tasks need Spark 4.0 or later)"
        able, refusal = [], ""
        for call in stage.calls:
            if stage.keys and not native[call].order_by:
                continue
            why = self._operator(step, [call], schema, sort=True).levels[0].section_refusal()
            if why is None:
                able.append(call)
            else:
                refusal = f" ({why})"
        return able, refusal

    def _spreading(self, working: _Working, stage: Stage) -> str:
        """Say why the rows of a stage's partitions are shared out over tasks; nothing where they are not."""
        if not stage.keys:
            return "as there is no PARTITION BY"
        if self.way.spread_chosen() == "always":
            return "as spread='always' asks"
        return hot_key(working.frame, stage.keys, self.options.memory_limit, self.functions)

    def _by_tasks(
        self,
        working: _Working,
        step: Compute,
        able: Sequence[int],
        schema: T.StructType,
        needed: Collection[str],
        how: str,
    ) -> tuple[T.StructType, dict[int, str]]:
        """Put calls into the plan whose partitions are shared out; give the schema, and the results' names."""
        native = step.calls
        made: dict[int, str] = {}
        session = self.frame.sparkSession
        tasks = slots(session)
        ranges = tasks or partitions(session)
        parts = [calls for calls, _ in self._sorts(step, able, schema)]
        for position, calls in enumerate(parts):
            kept = _kept(needed, native, parts[position + 1 :], made)
            # equal keys of the shortest order are peers of some call, and belong together
            shortest = min(
                (native[i] for i in calls if native[i].order_by), key=lambda c: len(c.order_by), default=None
            )
            keys = [] if shortest is None else shortest.sort_keys()
            columns = list(dict.fromkeys(k.column for k in keys))
            read = {n for i in calls for n in native[i].columns_read()} or {schema.names[0]}
            reader = self._operator(step, calls, T.StructType([f for f in schema.fields if f.name in read]), sort=True)
            unsorted = reader.levels[0].summary_needs_no_sort()
            share = None if tasks is None or unsorted else gathered
            operator = self._operator(step, calls, schema, sort=True, share=share, kept=kept)
            heard = self._heard(operator)
            # rows that any task may sum up stay where they are read
            stay = unsorted and not keys and is_repeatable(working.frame)
            by = "ranges of " + ", ".join(columns) if columns else "equal shares"
            by = "as the rows are read" if stay else f"{by} over {ranges} tasks"
            if not stay:
                working.frame = ranged(working.frame, keys, ranges, self.functions)
            if share is None:
                why_twice = (
                    "no order is needed to sum rows up" if unsorted else "it is not known how many tasks run at once"
                )
                together = f"{by}, {how}, read twice: {why_twice}"
                working.frame = read_twice(working.frame, operator, reader, self.functions, exchanged=not stay)
            else:
                working.frame = working.frame.mapInArrow(
                    at_once(operator, ranges), spark_schema(operator), barrier=True
                )
                working.frame = parted(working.frame, columns, self.functions)
                together = f"{by} at once (barrier), {how}"
            schema = self._made(operator, calls, made)
            working.clustered = None
            self.done[-1].append(Done(calls, together, not stay, True, operator.explain_rows(), heard))
        return schema, made

    def _made(self, operator: Operator, calls: Sequence[int], made: dict[int, str]) -> T.StructType:
        """Take down the names that the results of calls have behind an operator; give the schema there."""
        schema = spark_schema(operator)
        made |= dict(zip(calls, schema.names[len(schema.names) - len(calls) :], strict=True))
        return schema

    def _heard(self, operator: Operator) -> Heard | None:
        """Listen to an operator's runs, where these are asked for."""
        if self.context is None:
            return None
        operator.report = heard = Heard(self.context)
        return heard

    def _exchange(self, working: _Working, step: Compute, stage: Stage, why: str) -> tuple[str, bool]:
        """Bring the rows of a stage's partitions together; say how, and whether the exchange is windrow's own.

        ``why`` says what keeps the rows from being shared out over tasks.
        """
        by = ", ".join(stage.keys)
        if self.way.in_order:
            return "the rows come grouped and in order", False
        at = working.clustered if stage.arrived else None
        if at is not None and at.arrived:
            return (f"the rows are together by {by}" if by else "all rows are in ONE task"), False
        working.clustered = self._lasting(stage.keys, arrived=True)
        if not stage.keys and not self._quiet:
            shown = "; ".join(step.calls[i].display for i in stage.calls)
            warnings.warn(_ONE_PARTITION.format(calls=shown, why=why), UserWarning, stacklevel=users_line())
        keys = [self.functions.col(quoted(k)) for k in stage.keys]
        tasks = None if at is None else at.tasks
        working.frame = exchanged(working.frame, keys, tasks, self.functions, removable=at is not None)
        if at is not None:
            return f"the input's exchange by {by} serves", False
        return (f"an exchange by {by}" if by else f"all rows in ONE task, as there is no PARTITION BY{why}"), True

    def _lasting(self, keys: Sequence[str], *, arrived: bool) -> Clustering | None:
        """Say how rows are spread after a stage, if all of its keys are columns that stay."""
        return Clustering(tuple(keys), arrived=arrived) if set(keys) <= set(self._lasting_columns) else None

    def _operator(
        self,
        step: Compute,
        calls: Sequence[int],
        schema: T.StructType,
        *,
        sort: bool,
        share: ExchangeSummaries | None = None,
        kept: Collection[str] = (),
    ) -> Operator:
        """Make the operator of some calls; it gives the columns ``kept``, then the new ones."""
        names = schema.names
        plain = T.StructType(
            [T.StructField(f.name, carried(f.dataType), f.nullable, f.metadata) for f in schema.fields]
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
            spills=share is not None,
        )
        operator = Operator([level], None, options, plain)
        operator.exchange = share
        operator.__name__ = STAGE_NAME
        return operator


def _kept(
    needed: Collection[str], native: Sequence[BoundCall], later: Iterable[Sequence[int]], made: dict[int, str]
) -> set[str]:
    """Name the columns that must come back from an operator: what is needed behind its stage, and by later calls."""
    return {*needed, *made.values(), *(n for calls in later for i in calls for n in native[i].columns_read())}


def _result_names(names: Sequence[str], calls: Sequence[int]) -> dict[int, str]:
    """Give names to the results of calls, unlike those of the columns beside them."""
    given = unique_names([*names, *(f"__windrow_out_{i}" for i in calls)], case_insensitive=True)
    return dict(zip(calls, given[len(names) :], strict=True))
