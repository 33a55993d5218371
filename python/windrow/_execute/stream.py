"""Operators over record batches: an iterator of batches in, an iterator of batches out.

batches -> level of calls -> level of calls -> ... -> scalars over calls (by Polars), choice of columns
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from .._model.names import HIDDEN_PREFIX, unused_name
from .._plan.steps import Compute, Evaluate, NamedScalar, Project, StepPlan
from ..exceptions import DataError, SpecError, UnsupportedError, shown
from ..settings import Options
from .arrow_columns import as_single_array, empty_table
from .evaluate import evaluate, refuse_cross_row
from .explained_call import ExplainedCall
from .external_sort import ROW_NUMBER
from .input_order import in_input_order, row_order_level
from .kept_state import NEW, LevelState, packed, unpacked
from .level import Level
from .run_metrics import Report, Run, log_in_task, logging_enabled
from .sectioned import ExchangeSummaries
from .steps import hint_at_backticks, run_steps, strings_named_as_columns
from .user_functions import with_message_first
from .worker import spark_task

__all__ = ["ComputesInRowOrder", "FinalProjection", "Operator", "stream_operator"]


class FinalProjection:
    """The last step: scalars over calls, which Polars evaluates, and the columns of the result.

    Parameters
    ----------
    scalars
        The scalars.
    project
        The output columns, as indices into the input columns, then the scalars.
    names
        A name for each input column.
    schema
        Their schema.
    options
        The settings in force.
    ordered
        The columns that hold ordered categories although their types do not say so, with the names for messages.
    """

    def __init__(
        self,
        scalars: Sequence[NamedScalar],
        project: Project,
        names: Sequence[str],
        schema: pa.Schema,
        options: Options,
        ordered: Mapping[str, str],
    ) -> None:
        self.scalars = tuple(scalars)
        refuse_cross_row(self.scalars, "one batch of the stream at a time")
        self.project = project
        self.input_schema = schema
        self._names = list(names)
        self._options = options
        self._ordered = dict(ordered)
        made = self._evaluate(empty_table(schema))
        self.fields = [pa.field(s.name, c.type) for s, c in zip(self.scalars, made, strict=True)]

    def __repr__(self) -> str:
        """The expressions as SQL."""
        return ", ".join(scalar.text for scalar in self.scalars)

    @property
    def schema(self) -> pa.Schema:
        """The schema of the output batches."""
        return self._output_schema([*self.input_schema, *self.fields])

    def compute(self, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        """Yield batches with the columns of the result."""
        schema = self.schema
        for batch in batches:
            with run.stage("evaluate"):
                made = [
                    as_single_array(c).cast(f.type) for c, f in zip(self._evaluate(batch), self.fields, strict=True)
                ]
            all_columns = [*batch.columns, *made]
            columns = [all_columns[index] for _, index in self.project.columns]
            fields = [f.with_type(c.type) for f, c in zip(schema, columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=schema.metadata))

    def _output_schema(self, fields: Sequence[pa.Field]) -> pa.Schema:
        chosen = [fields[index].with_name(name) for name, index in self.project.columns]
        return pa.schema(chosen, metadata=self.input_schema.metadata)

    def _evaluate(self, data: pa.RecordBatch | pa.Table) -> list[Any]:
        columns = dict(zip(self._names, data.columns, strict=True))
        return evaluate(self.scalars, columns, data.num_rows, self._options, ordered=dict(self._ordered))


class Operator:
    """Window calls over record batches. Its state is plain data; the native plans are made where it is called.

    So it can be sent to another process by fork, spawn or pickle. ``exchange``, if set, exchanges section summaries
    with other tasks that hold other rows of the same partitions. ``report`` receives the metrics of each run and is
    pickled along. ``in_row_order``, if set, computes outside of Spark's tasks, in memory or on disk.
    ``host_schema`` is the host's own schema of the input batches, if it was given.
    """

    report: Report | None = None
    exchange: ExchangeSummaries | None = None
    in_row_order: ComputesInRowOrder | None = None
    _kept: list[LevelState] | None = None

    def __init__(
        self,
        levels: Sequence[Level],
        last: FinalProjection | None,
        options: Options,
        host_schema: object = None,
        *,
        shown: str | None = None,
        new: Sequence[int] = (),
        strings: Sequence[tuple[str, str]] = (),
        row_order: Level | None = None,
    ) -> None:
        """Join levels of calls and the last step; ``row_order`` puts rows back into the order in which they came.

        ``new`` lists the positions of the new columns, ``strings`` the calls with a string that is a column's name.
        """
        self.__name__ = "windrow"  # what Spark shows in its plan
        self.levels = list(levels)
        self.last = last
        self.host_schema = host_schema
        self._options = options
        self._shown_text = shown
        self._new = list(new)
        self._row_order = row_order
        self._strings = list(strings)
        self._logs = logging_enabled()

    @property
    def input_schema(self) -> pa.Schema:
        """The schema of the input batches."""
        return self.levels[0].incoming_schema if self.levels else self._last_stage.input_schema

    @property
    def names_read(self) -> list[str]:
        """The names of the columns of the input batches."""
        return list(self.input_schema.names)

    @property
    def schema(self) -> pa.Schema:
        """The schema of the output batches: the input's columns and the new ones."""
        return self._last_stage.schema

    @property
    def new_fields(self) -> list[pa.Field]:
        """The fields of the new columns, in the order of the items."""
        schema = self.schema
        return [schema.field(i) for i in self._new]

    @property
    def state(self) -> bytes:
        """What a later run goes on from, after the rows so far."""
        if self._kept is None:
            raise SpecError(
                f"this operator keeps no state; make it with wr.operator(..., state={NEW!r}), or with the state of an "
                "earlier one"
            )
        return packed(self._plan_in_words()[0], self._kept)

    def keep_state(self, state: object) -> None:
        """Go on from a state, and keep one from now on.

        Parameters
        ----------
        state
            The state of an operator of the same calls, or :data:`NEW`.

        Raises
        ------
        SpecError
            If it is the state of another operator.
        UnsupportedError
            If a call's results depend on later rows.
        DataError
            If it is damaged.
        """
        words, sorts = self._plan_in_words()
        self._kept = unpacked(state, words, sorts)

    def _plan_in_words(self) -> tuple[dict[str, Any], list[int]]:
        levels = [level.kept_plan_in_words() for level in self.levels]
        words: dict[str, Any] = {
            part: [text for described, _ in levels for text in described[part]]
            for part in ("calls", "columns", "sorts")
        }
        native = self._options.native()
        words["settings"] = {name: native[name] for name in ("ansi", "timezone", "strategy")}
        return words, [sorts for _, sorts in levels]

    @property
    def _last_stage(self) -> Level | FinalProjection:
        if self._row_order is not None:
            return self._row_order
        return self.levels[-1] if self.last is None else self.last

    def explain_rows(self, *, streamed: bool = True) -> list[ExplainedCall]:
        """Explain how each call is computed, as a stream or over all rows at once, in their order."""
        return [row for level in self.levels for row in level.explain_rows(streamed=streamed)]

    def __repr__(self) -> str:
        """The operator as SQL: a query over the input batches."""
        return f"SELECT *, {self._calls()}"

    def _calls(self) -> str:
        if self._shown_text is not None:
            return self._shown_text
        step, project = self.levels[-1].step, self.levels[-1].project
        names = {i: name for name, i in project.columns}
        shown = [(c.display, names.get(i, HIDDEN_PREFIX)) for i, c in enumerate(step.calls, len(step.names))]
        return ", ".join(call if name.startswith(HIDDEN_PREFIX) else f"{call} AS {name}" for call, name in shown)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Compute over batches.

        Parameters
        ----------
        batches
            Record batches of the operator's input schema, or a Table.

        Yields
        ------
        pyarrow.RecordBatch
            Batches with the new columns.

        Raises
        ------
        SpecError
            For what is no iterable of record batches.
        """
        batches = _record_batches(batches)
        task = spark_task()
        if task is not None and self._kept is not None:
            raise UnsupportedError("an operator with state= runs outside of Spark: the tasks of Spark keep no state")
        if task is not None:
            log_in_task(self._logs)
        run = Run(
            self._calls,
            self.report,
            progress=bool(self._options.progress) and task is None,
            partition=None if task is None else task.partitionId(),
        )
        computed = run.output(self._compute_batches(run.input(batches), run))
        return computed if task is None else with_message_first(computed)

    def summarise(self, batches: Iterable[pa.RecordBatch]) -> tuple[int, list[bytes]]:
        """Summarise rows for tasks that hold other rows of the same partitions.

        Parameters
        ----------
        batches
            Record batches of the operator's input schema.

        Returns
        -------
        tuple
            How many rows there are, and the summaries of their sections, in order.
        """
        run = Run(self._calls)
        [level] = self.levels
        summaries = level.summarise(run.input(batches), run)
        return run.metrics.rows, summaries

    def _compute_batches(self, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        if self._kept is not None or self.exchange is not None or spark_task() is not None:
            computed = self.compute_rows(batches, run)
        else:
            computed = self.compute_in_row_order(batches, run)
        return self._with_hints(computed) if self._strings else computed

    def compute_in_row_order(self, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        """Compute over any number of rows, which leave in the order in which they came."""
        if self.in_row_order is None:
            return self.compute_rows(batches, run)
        return self.in_row_order.compute(self, batches, run)

    def compute_rows(
        self, batches: Iterable[pa.RecordBatch], run: Run, *, is_checked: bool = False, fit: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """Compute level by level. A level whose rows exceed its limit sorts them on disk, and they leave in that order.

        ``is_checked`` says that the batches come from the first level's ``checked``, ``fit`` that no level has a limit.
        """
        before = self._kept
        kept = [level.copy() for level in before or ()]
        for number, level in enumerate(self.levels):
            of_level = kept[number] if kept else None
            batches = level.compute(
                batches, run, self.exchange, of_level, fit=fit, is_checked=is_checked and not number
            )
        computed = iter(batches) if self.last is None else self.last.compute(batches, run)
        if before is not None:
            computed = self._keeping(computed, before, kept)
        return computed if self._row_order is None else in_input_order(computed, self._row_order, run)

    def _keeping(
        self, batches: Iterator[pa.RecordBatch], before: list[LevelState], kept: list[LevelState]
    ) -> Iterator[pa.RecordBatch]:
        """Keep the new state once all rows are computed; a run that fails, or is left, leaves the old one."""
        yield from batches
        if self._kept is not before:
            raise SpecError("two runs of one operator with state= overlap; read the results of one before the next")
        self._kept = kept

    def _with_hints(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except DataError as error:
            hint_at_backticks(error, self._strings)
            raise


def _record_batches(batches: Any) -> Iterable[pa.RecordBatch]:
    """Return an iterable of record batches that refuses other items: of a list at once, of an iterator as they come."""
    if isinstance(batches, pa.Table):
        return list(batches.to_batches())
    if isinstance(batches, pa.RecordBatch):
        return [batches]
    if isinstance(batches, (list, tuple)):
        return [_check_batch(batch) for batch in batches]
    if not isinstance(batches, Iterable) or isinstance(batches, (str, bytes)):
        raise _not_batches(batches)
    return map(_check_batch, batches)


def _check_batch(batch: Any) -> pa.RecordBatch:
    if not isinstance(batch, pa.RecordBatch):
        raise _not_batches(batch)
    return batch


def _not_batches(value: Any) -> SpecError:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    return SpecError(f"an operator takes an iterable of pyarrow record batches, or a Table, not {kind}")


class ComputesInRowOrder(Protocol):
    """Computes any number of rows, which leave in the order in which they came."""

    def compute(self, operator: Operator, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        """Compute an operator's rows over batches."""


class _StreamState:
    """The levels so far, and the output of the last one."""

    def __init__(self, schema: pa.Schema, row_number_column: str | None, read: Sequence[int]) -> None:
        self.levels: list[Level] = []
        self.unused_columns = frozenset(range(len(schema))).difference(read)
        self.schema = (
            schema
            if row_number_column is None
            else schema.append(pa.field(row_number_column, pa.int64(), nullable=False))
        )
        self.row_number_column = row_number_column
        #: The working columns that the batches have, in order; -1 is the column of row numbers.
        self.present = [*range(len(schema)), *([] if row_number_column is None else [-1])]
        self.already_validated = frozenset[str]()
        self.ordered: dict[str, str] = {}
        self.pending: Evaluate | None = None


class _StreamRunner:
    """Makes an operator from the steps of a plan, with one level per step of calls."""

    def __init__(
        self,
        plan: StepPlan,
        options: Options,
        sort: bool | None,
        host_schema: object,
        operator_class: type[Operator],
        *,
        keeps_row_order: bool,
    ) -> None:
        self._plan = plan
        self._options = options
        self._sort = sort
        self._host_schema = host_schema
        self._operator_class = operator_class
        self._keeps_row_order = keeps_row_order

    def evaluate(self, working: _StreamState, step: Evaluate) -> _StreamState:
        """Leave the scalars to the next step, which evaluates them per batch."""
        assert working.pending is None, "a step of scalars is followed by one that computes or chooses"
        working.pending = step
        return working

    def compute(self, working: _StreamState, step: Compute) -> _StreamState:
        """Add a level, whose output has the columns that later steps read."""
        after = self._plan.steps_after(step)[0]
        keeps = set(step.keeps)
        passing = [i for i in working.present if i < 0 or i in keeps]
        results = range(len(step.names), len(step.names) + len(step.calls))
        if isinstance(after, Project):
            chosen = (*after.columns, *self._row_numbers(working))
        else:
            all_names = [*self._plan.names, working.row_number_column or ""]
            chosen = tuple((all_names[i], i) for i in [*passing, *(i for i in results if i in keeps)])
        scalars = working.pending.scalars if working.pending is not None else ()
        first = len(step.names) - len(scalars)
        columns = [*working.present, *range(first, len(step.names)), *results]
        local_index = {column: index for index, column in enumerate(columns)}
        names = tuple(working.row_number_column or "" if i < 0 else step.names[i] for i in columns[: -len(results)])
        level = Level(
            Compute(step.calls, names, tuple(sorted(local_index[i] for i in step.reads))),
            scalars,
            Project(tuple((name, local_index[i]) for name, i in chosen)),
            working.schema,
            self._options,
            self._sort,
            is_last=isinstance(after, Project),
            already_validated=working.already_validated,
            row_number_column=working.row_number_column,
            adds_row_number=working.row_number_column is not None and not working.levels,
            ordered=working.ordered,
            unused_columns=frozenset() if working.levels else working.unused_columns,
            shares_memory=working.row_number_column is not None,
        )
        working.already_validated |= {step.names[i] for i in step.reads} | {c.name for c in step.calls}
        working.levels.append(level)
        working.schema, working.ordered = level.schema, level.ordered
        working.present, working.pending = [i for _, i in chosen], None
        return working

    def _row_numbers(self, working: _StreamState) -> list[tuple[str, int]]:
        """Give the column that rows are put into order by at the end."""
        return [(working.row_number_column or "", -1)] if self._keeps_row_order else []

    def project(self, working: _StreamState, step: Project) -> Operator:
        """Make the operator."""
        plan = self._plan
        last = None
        if working.pending is not None or not working.levels:
            scalars = working.pending.scalars if working.pending is not None else ()
            first = len(working.pending.names) if working.pending is not None else plan.width
            columns = [*working.present, *range(first, first + len(scalars))]
            local_index = {column: index for index, column in enumerate(columns)}
            names = [working.row_number_column or "" if i < 0 else plan.names[i] for i in working.present]
            chosen = (*step.columns, *self._row_numbers(working))
            project = Project(tuple((name, local_index[i]) for name, i in chosen))
            last = FinalProjection(scalars, project, names, working.schema, self._options, working.ordered)
        result_positions = {name: index for index, (name, i) in enumerate(step.columns) if i >= plan.width}
        new = [result_positions[o.name] for o in plan.outputs if o.item is not None]
        shown = None if last is None and len(working.levels) == 1 else plan.shown()
        strings = strings_named_as_columns(plan)
        row_order = None
        if self._keeps_row_order:
            schema = (last or working.levels[-1]).schema
            row_order = row_order_level(schema, self._options)
        return self._operator_class(
            working.levels,
            last,
            self._options,
            self._host_schema,
            shown=shown,
            new=new,
            strings=strings,
            row_order=row_order,
        )


def stream_operator(
    plan: StepPlan,
    schema: pa.Schema,
    options: Options,
    sort: bool | None,
    host_schema: object = None,
    *,
    operator_class: type[Operator] = Operator,
    keeps_row_order: bool = False,
) -> Operator:
    """Make the operator that runs the steps of a plan over record batches.

    Parameters
    ----------
    plan
        The plan.
    schema
        The schema of the batches that will come.
    options
        The settings in force.
    sort
        As for :func:`windrow.operator`.
    host_schema
        The batches' schema as their host has it, where it is known.
    operator_class
        The class of the operator.
    keeps_row_order
        Whether rows leave in the order in which they came also if they were sorted on disk, which is a further sort.

    Returns
    -------
    Operator
        The operator.
    """
    if sort is not None and not isinstance(sort, bool):
        raise SpecError(f"sort={shown(sort)} is neither True, False nor None")
    row_number_column = None
    keeps_row_order = keeps_row_order and bool(plan.computes()) and sort is not False
    if keeps_row_order or (
        len(plan.computes()) > 1 and sort is not False
    ):  # ties keep the order in which rows came, whatever a level sorts by
        row_number_column = unused_name(ROW_NUMBER, {n.lower() for n in schema.names})
    runner = _StreamRunner(plan, options, sort, host_schema, operator_class, keeps_row_order=keeps_row_order)
    return run_steps(runner, _StreamState(schema, row_number_column, plan.frame_columns()), plan)
