"""One level of calls over record batches, unsorted or already grouped and sorted."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from .._model.replace import replace
from .._plan.bound import comparison_only_columns
from .._plan.steps import Compute, NamedScalar, Project
from ..exceptions import DataError
from ..settings import Options
from .arrow_columns import (
    as_binary_type,
    as_single_array,
    drop_unreferenced_values,
    empty_table,
    has_run_ends,
    text_restored,
    with_buffers,
)
from .dictionaries import Dictionaries
from .evaluate import evaluate, refuse_cross_row
from .explained_call import ExplainedCall
from .external_sort import compute_external, summarise_external, with_row_numbers
from .kept_state import LevelState
from .memory import SORT_MEMORY_FACTOR, available_bytes, batch_bytes, task_limit
from .native import (
    ROW_PLACEHOLDER,
    explained_plan,
    input_table,
    kept_plan,
    make_plan,
    output_fields,
    refuse_nested_runs,
)
from .ordered_categories import ordered_columns, ordered_results
from .run_metrics import Run
from .sectioned import ExchangeSummaries
from .validation import Checker
from .worker import spark_task, takes_list_views, task_options

if TYPE_CHECKING:
    from .._windrow import Appender, Plan, Stream

__all__ = ["Level", "pop_all"]


class Level:
    """Calls that do not read each other, over record batches. Plain data; the native plan is made where it runs.

    Parameters
    ----------
    step
        The calls, over the columns of the batches and then those of the scalars.
    scalars
        What Polars evaluates first, batch by batch.
    project
        The output columns, as indices into the input columns, then the scalars, then the calls.
    schema
        The schema of the incoming batches.
    options
        The settings in force.
    sort
        Whether to sort; None: in a Spark task.
    is_last
        Whether this is the last step, so that its output goes to Spark; then list-view columns are allowed if Spark
        supports them.
    already_validated
        The columns that earlier levels validated or computed.
    row_number_column
        The column of row numbers by which ties keep the input order, if an earlier level may have changed it.
    adds_row_number
        Whether this level adds that column (as the last one).
    ordered
        The columns that hold ordered categories although their types do not say so, with the names for messages.
    unused_columns
        Input columns that neither this level nor a later one reads; they are replaced by NULLs.
    in_window_order
        Whether rows that are sorted here leave in that order, not as they came. Then one sort must serve all calls.
    shares_memory
        Whether the level before or after this one sorts at the same time.
    """

    def __init__(
        self,
        step: Compute,
        scalars: Sequence[NamedScalar],
        project: Project,
        schema: pa.Schema,
        options: Options,
        sort: bool | None,
        *,
        is_last: bool = True,
        already_validated: frozenset[str] = frozenset(),
        row_number_column: str | None = None,
        adds_row_number: bool = False,
        ordered: Mapping[str, str] | None = None,
        unused_columns: frozenset[int] = frozenset(),
        in_window_order: bool = False,
        shares_memory: bool = False,
    ) -> None:
        self.step = step
        self.scalars = tuple(scalars)
        self.project = project
        self.input_schema = schema
        self._options = options
        self._sort = sort
        self._is_last = is_last
        self._already_validated = already_validated
        self._row_number_column = row_number_column
        self._adds_row_number = adds_row_number
        self._unused_columns = unused_columns
        self._in_window_order = in_window_order
        self._memory_share = 2 if shares_memory else 1
        self._width = len(schema)
        #: The schema of the incoming batches, without the row numbers that this level adds.
        self.incoming_schema = pa.schema(list(schema)[:-1], metadata=schema.metadata) if adds_row_number else schema
        self._without_nulls = [i for i, f in enumerate(self.incoming_schema) if not f.nullable]
        self._comparison_only = comparison_only_columns(step.calls)
        refuse_cross_row(self.scalars, "one batch of the stream at a time")
        refuse_nested_runs(schema, spills=options.memory_limit is not None)
        self._ordered = dict(ordered or {})
        columns = self._with_scalars(empty_table(schema), known_categories=self._ordered)
        self._empty = self._make_input(columns, 0, Checker()).schema
        #: The columns that the calls read and that hold ordered categories, with their names for messages.
        self._categories = {**ordered_columns(self._empty), **self._ordered}
        is_flat = not any(t.num_fields or pa.types.is_dictionary(t) for t in self._empty.types)
        self._no_dictionaries = Dictionaries(self._empty, step.calls) if is_flat else None
        self.new_fields = self._dictionaries().result_fields(output_fields(self._plan()))
        # Types within others come with other metadata from run to run, and lists may be views.
        self._has_fixed_results = is_flat and not any(f.type.num_fields for f in self.new_fields)
        self._last_checked: tuple[pa.Schema, pa.Schema] | None = None
        self._last_output: tuple[pa.Schema, pa.Schema] | None = None
        #: The output columns that hold ordered categories although their types do not say so.
        self.ordered = self._ordered | ordered_results(step.calls, self.new_fields, self._categories)

    def __repr__(self) -> str:
        """The calls of the level as SQL."""
        return ", ".join(call.display for call in self.step.calls)

    @property
    def schema(self) -> pa.Schema:
        """The schema of the output batches."""
        return self._output_schema(self.input_schema)

    def explain_rows(self, *, streamed: bool = True) -> list[ExplainedCall]:
        """Explain how each call is computed, as a stream or over all rows at once, in their order."""
        return explained_plan(self._plan(), self.new_fields, streamed=streamed)

    def section_refusal(self) -> str | None:
        """Return why a partition cannot be split across tasks; None if it can."""
        return self._plan().sections().refusal

    def sorts(self) -> list[tuple[list[int], bool]]:
        """Group the calls by sort, each with whether ties must be put back in input order."""
        return self._plan().sorts()

    def _plan(self, options: Options | None = None, schema: pa.Schema | None = None) -> Plan:
        return kept_plan(schema or self._empty, self.step.calls, options or self._options, self._categories)

    def _dictionaries(self, kept: LevelState | None = None) -> Dictionaries:
        if self._no_dictionaries is not None:
            return self._no_dictionaries
        dictionaries = Dictionaries(self._empty, self.step.calls)
        if kept is not None:
            dictionaries.remember(kept.dictionaries)
        return dictionaries

    def summarise(self, batches: Iterable[pa.RecordBatch], run: Run) -> list[bytes]:
        """Summarise rows for tasks with other rows of the same partitions: one summary per section, in order."""
        options = self._task_options()
        checker = Checker()
        rows = (self._stream_input(batch, run, checker) for batch in self.checked(batches))
        return summarise_external(rows, self.step.calls, options, task_limit(options), run)

    def with_scalars(self, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        """Yield checked batches, followed by the row numbers that this level adds, and its scalars.

        Text that no call of this level reads is binary.
        """
        checker = Checker()
        if self._adds_row_number and self._row_number_column is not None:
            batches = with_row_numbers(batches, self._row_number_column)
        for batch in batches:
            yield self._stream_input(batch, run, checker)

    def kept_plan_in_words(self) -> tuple[dict[str, list[str]], int]:
        """Return a description of the level, which that of a state must equal, and its number of sorts.

        Raises
        ------
        UnsupportedError
            If a call's results depend on later rows.
        """
        nothing = pa.RecordBatch.from_arrays(
            [as_single_array(c) for c in empty_table(self.input_schema).columns], schema=self.input_schema
        )
        schema = self._stream_input(nothing, None, Checker()).schema
        plan = self._plan(schema=schema)
        sorts = plan.sorts() if self._sort else [(list(range(len(self.step.calls))), False)]
        for members, _ in sorts:
            make_plan(schema, [self.step.calls[i] for i in members], self._options, self._categories).appender()
        rows = self.explain_rows()
        calls = [f"{row.call}: {row.type}, by {row.strategy}" for row in rows]
        columns = [f"{name}: {schema.field(name).type}" for name in plan.columns]
        return {"calls": calls, "columns": columns, "sorts": [str(members) for members, _ in sorts]}, len(sorts)

    def compute(
        self,
        batches: Iterable[pa.RecordBatch],
        run: Run,
        exchange: ExchangeSummaries | None,
        kept: LevelState | None = None,
        *,
        fit: bool = False,
        is_checked: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """Compute the calls.

        ``exchange``, if set, exchanges summaries with tasks that hold other rows. ``kept``, if set, is what is kept of
        earlier rows; at the end it is what to keep of these as well. ``fit`` says that all rows fit in memory, and
        ``is_checked`` that the batches come from :meth:`checked`.
        """
        options = self._task_options()
        if fit and options.memory_limit is not None:
            options = replace(options, memory_limit=None)
        if not is_checked:
            batches = self.checked(batches)
        if self._adds_row_number and self._row_number_column is not None:
            batches = with_row_numbers(batches, self._row_number_column)
        if exchange is not None:
            return self._compute_external(batches, options, task_limit(options), run, exchange)
        sort = spark_task() is not None if self._sort is None else self._sort
        if sort and kept is not None:
            limit = sys.maxsize if options.memory_limit is None else available_bytes(options.memory_limit)
            return self._compute_external(batches, options, limit, run, kept=kept)
        if kept is not None:
            return self._compute_stream(batches, options, run, kept)
        return self._compute_in_memory(batches, options, run) if sort else self._compute_stream(batches, options, run)

    def _task_options(self) -> Options:
        """Return the settings, adapted to the Spark task if this runs in one."""
        options, task = self._options, spark_task()
        if task is None:
            return options
        options = task_options(options, task.getLocalProperty)
        if options.threads is None:
            options = replace(options, threads=1)  # a Spark task has one core
        return replace(options, list_views=True) if self._is_last and takes_list_views() else options

    def _compute_in_memory(
        self, batches: Iterable[pa.RecordBatch], options: Options, run: Run
    ) -> Iterator[pa.RecordBatch]:
        waiting: deque[pa.RecordBatch] = deque()
        checker = Checker()
        dictionaries = self._dictionaries()
        inputs: list[Any] = []
        row_budget = None if options.memory_limit is None else available_bytes(options.memory_limit)
        bytes_held, seen = 0, set[int]()
        is_ascending, last = True, -1
        remaining = iter(batches)
        for batch in remaining:
            waiting.append(batch)
            if self._row_number_column is not None:
                is_ascending, last = _check_ascending(batch[self._row_number_column], last, is_ascending)
            read = self._stream_input if self._in_window_order else self._input_table
            inputs.append(read(batch, run, checker))
            dictionaries.observe(inputs[-1])
            if row_budget is not None or self._row_number_column is not None:
                bytes_held += batch_bytes(batch, seen)
            if row_budget is not None and bytes_held * SORT_MEMORY_FACTOR > row_budget:
                inputs.clear()
                # now it is known how much memory making the batches takes
                row_budget = available_bytes(options.memory_limit or row_budget, bytes_held) // self._memory_share
                yield from self._compute_external(chain(pop_all(waiting), remaining), options, row_budget, run)
                return
        if not inputs:
            return
        if not is_ascending:  # ties are those of rows in another order
            inputs.clear()
            yield from self._compute_external(
                pop_all(waiting), options, row_budget or bytes_held * SORT_MEMORY_FACTOR, run
            )
            return
        plan = self._plan(options, inputs[0].schema)  # fields within others may have come with metadata
        if self._in_window_order:
            yield from self._compute_sorted(inputs, waiting, plan, options, dictionaries, run)
            return
        new = dictionaries.with_source_dictionaries(pa.table(plan.compute(pa.concat_tables(inputs))).columns)
        inputs.clear()
        run.metrics.sections += 1
        schema = self._output_schema(waiting[0].schema, plan)
        offset = 0
        while waiting:
            batch = waiting.popleft()
            part = [drop_unreferenced_values(as_single_array(c.slice(offset, batch.num_rows))) for c in new]
            offset += batch.num_rows
            yield self._project(batch.columns, part, schema)

    def _compute_sorted(
        self,
        inputs: list[pa.RecordBatch],
        waiting: deque[pa.RecordBatch],
        plan: Plan,
        options: Options,
        dictionaries: Dictionaries,
        run: Run,
    ) -> Iterator[pa.RecordBatch]:
        """Sort all rows, and compute over them as over a stream: no result is put back to where its row came from."""
        schema, rows = self._output_schema(waiting[0].schema, plan), max(batch.num_rows for batch in waiting)
        if not rows:
            return
        try:
            joined = pa.Table.from_batches(inputs).combine_chunks().to_batches()
        except pa.ArrowInvalid:  # more text within lists or structs than one array holds
            joined = []
        if len(joined) != 1:  # more text than one array holds
            yield from self._compute_external(pop_all(waiting), options, sys.maxsize, run)
            return
        waiting.clear()
        inputs.clear()
        stream = plan.stream()
        with run.stage("sort"):
            in_order = pa.record_batch(stream.sort(joined.pop()))
        for whole in chain(stream.push(in_order), stream.finish()):
            batch = self._output_batch(pa.record_batch(whole), schema, dictionaries)
            run.metrics.sections += 1
            for first in range(0, batch.num_rows, rows):
                part = batch.slice(first, rows)
                yield pa.RecordBatch.from_arrays([drop_unreferenced_values(c) for c in part.columns], schema=schema)

    def _compute_external(
        self,
        batches: Iterable[pa.RecordBatch],
        options: Options,
        limit: int,
        run: Run,
        exchange: ExchangeSummaries | None = None,
        kept: LevelState | None = None,
    ) -> Iterator[pa.RecordBatch]:
        schema = None
        checker = Checker()
        dictionaries = self._dictionaries(kept)

        def input_batches() -> Iterator[pa.RecordBatch]:
            nonlocal schema
            for batch in batches:
                stream_input = self._stream_input(batch, run, checker)
                dictionaries.observe(stream_input)
                if schema is None:
                    schema = self._output_schema(batch.schema, self._plan(options, stream_input.schema))
                yield stream_input

        row_number_column = None
        if self._row_number_column is not None:
            row_number_column = self.step.names[self.input_schema.get_field_index(self._row_number_column)]
        for batch in compute_external(
            input_batches(),
            self.step.calls,
            options,
            limit,
            run,
            exchange,
            row_number_column,
            None if kept is None else kept.sorts,
        ):
            yield self._output_batch(batch, schema, dictionaries)
        if kept is not None:
            kept.dictionaries = dictionaries.known

    def _compute_stream(
        self, batches: Iterable[pa.RecordBatch], options: Options, run: Run, kept: LevelState | None = None
    ) -> Iterator[pa.RecordBatch]:
        stream: Stream | Appender | None = None
        appender: Appender | None = None
        checker = Checker()
        dictionaries = self._dictionaries(kept)
        schema = self.input_schema
        for batch in batches:
            stream_input = self._stream_input(batch, run, checker)
            dictionaries.observe(stream_input)
            if stream is None:
                plan = self._plan(options, stream_input.schema)
                schema = self._output_schema(batch.schema, plan)
                appender = None if kept is None else plan.appender(kept.sorts[0])
                stream = appender or plan.stream()
            yield from self._output_batches(stream.push(stream_input), schema, dictionaries, run)
        if stream is not None:
            yield from self._output_batches(stream.finish(), schema, dictionaries, run)
        if kept is not None and appender is not None:
            kept.sorts, kept.dictionaries = [appender.to_bytes()], dictionaries.known

    def _output_batches(
        self, finished: Sequence[Any], schema: pa.Schema, dictionaries: Dictionaries, run: Run
    ) -> Iterator[pa.RecordBatch]:
        run.metrics.sections += bool(finished)
        for item in finished:
            yield self._output_batch(pa.record_batch(item), schema, dictionaries)

    def _output_batch(self, batch: pa.RecordBatch, schema: pa.Schema, dictionaries: Dictionaries) -> pa.RecordBatch:
        """Choose columns of a batch of all columns."""
        columns = batch.columns
        new = dictionaries.with_source_dictionaries(
            [drop_unreferenced_values(c) for c in columns[len(columns) - len(self.step.calls) :]]
        )
        return self._project(columns[: self._width], new, schema)

    def _project(self, old: Sequence[pa.Array], new: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
        return text_restored([self._working_column(old, new, index) for _, index in self.project.columns], schema)

    def _working_column(self, old: Sequence[Any], new: Sequence[Any], index: int) -> Any:
        return old[index] if index < self._width else new[index - len(self.step.names)]

    def _output_schema(self, input_schema: pa.Schema, plan: Plan | None = None) -> pa.Schema:
        """Return the output schema; columns that pass through keep their fields."""
        last = self._last_output
        if last is not None and last[0].equals(input_schema, check_metadata=True):
            return last[1]
        new = self.new_fields
        if plan is not None and not self._has_fixed_results:
            result_fields = self._dictionaries().result_fields(output_fields(plan))
            new = [f.with_type(m.type) for f, m in zip(new, result_fields, strict=True)]
        old = list(input_schema)
        fields = [self._working_column(old, new, index).with_name(name) for name, index in self.project.columns]
        schema = pa.schema(fields, metadata=input_schema.metadata)
        if self._has_fixed_results:
            self._last_output = (input_schema, schema)
        return schema

    def _with_scalars(
        self,
        batch: pa.RecordBatch | pa.Table,
        run: Run | None = None,
        checker: Checker | None = None,
        known_categories: dict[str, str] | None = None,
    ) -> list[Any]:
        """Return the columns of a batch, followed by the evaluated scalars."""
        columns: list[Any] = list(batch.columns)
        if not self.scalars:
            return columns
        by_name = dict(zip(self.step.names[: self._width], columns, strict=True))
        ordered = dict(self._ordered) if known_categories is None else known_categories
        with run.stage("evaluate") if run is not None else nullcontext():
            return columns + evaluate(
                self.scalars, by_name, batch.num_rows, self._options, checker or Checker(), ordered
            )

    def _make_input(self, columns: Sequence[Any], rows: int, checker: Checker) -> pa.Table:
        return input_table(
            self.step,
            columns,
            rows,
            nullable=lambda i: i >= self._width or self.input_schema.field(i).nullable,
            already_validated=lambda i: i >= self._width,
            checker=checker,
            compared=self._comparison_only,
        )

    def _cast(self, column: Any, index: int, declared: pa.DataType, checker: Checker) -> Any:
        try:
            return checker.validated(column, self.step.names[index]).cast(declared)
        except pa.ArrowException as error:
            raise DataError(
                f"column {self.step.names[index]!r} came as {column.type} and was declared as {declared}: {error}"
            ) from None

    def _input_table(self, batch: pa.RecordBatch, run: Run, checker: Checker) -> pa.Table:
        table = self._make_input(self._with_scalars(batch, run, checker), batch.num_rows, checker)
        checker.end_batch(batch.num_rows)
        same = table.schema.equals(self._empty) or table.schema.types == self._empty.types
        return table if same else table.cast(self._empty)

    def _stream_input(self, batch: pa.RecordBatch, run: Run | None, checker: Checker) -> pa.RecordBatch:
        """Return a batch with all columns and the evaluated scalars, as the native stream takes it.

        Text that no call reads becomes binary and need not be UTF-8, except within run ends.
        """
        columns = self._with_scalars(batch, run, checker)
        read = set(self.step.reads)
        arrays, fields = [], []
        for index, (name, column, field) in enumerate(zip(self.step.names, columns, batch.schema, strict=False)):
            if name in self._already_validated:
                array = column
            else:
                is_text = index in read or has_run_ends(column.type)
                array = checker.validated(column, name, nullable=field.nullable, text=is_text)
            if index not in read and as_binary_type(array.type) is not array.type:
                array = array.view(as_binary_type(array.type))
            arrays.append(array)
            fields.append(pa.field(name, array.type, field.nullable))
        checker.end_batch(batch.num_rows)
        evaluated = [as_single_array(c) for c in columns[self._width :]]
        arrays += evaluated
        fields += [pa.field(s.name, a.type) for s, a in zip(self.scalars, evaluated, strict=True)]
        if not arrays:  # pyarrow takes the number of rows from the columns
            arrays, fields = [pa.nulls(batch.num_rows)], [pa.field(ROW_PLACEHOLDER, pa.null())]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def checked(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Check batches and cast them to one schema: the first batch's, with the declared types for columns read."""
        schema: pa.Schema | None = None
        checker = Checker()  # counts the rows before each batch
        for batch in batches:
            self._check(batch, checker)
            if schema is None:
                schema = self._checked_schema(batch.schema)
            incoming = batch.columns
            columns = [
                pa.nulls(batch.num_rows) if i in self._unused_columns else with_buffers(c)
                for i, c in enumerate(incoming)
            ]
            if not batch.schema.equals(schema) or any(a is not b for a, b in zip(columns, incoming, strict=True)):
                columns = [
                    c if c.type == f.type else self._cast(c, i, f.type, checker)
                    for i, (c, f) in enumerate(zip(columns, schema, strict=True))
                ]
                batch = pa.RecordBatch.from_arrays(columns, schema=schema)
            checker.end_batch(batch.num_rows)
            yield batch

    def _checked_schema(self, schema: pa.Schema) -> pa.Schema:
        last = self._last_checked
        if last is not None and last[0].equals(schema, check_metadata=True):
            return last[1]
        read = set(self.step.reads)
        fields = [
            pa.field(f.name, pa.null())
            if i in self._unused_columns
            else f.with_nullable(d.nullable).with_type(d.type if i in read else f.type)
            for i, (f, d) in enumerate(zip(schema, self.incoming_schema, strict=True))
        ]
        self._last_checked = (schema, pa.schema(fields, metadata=schema.metadata))
        return self._last_checked[1]

    def _check(self, batch: pa.RecordBatch, checker: Checker) -> None:
        names = self.incoming_schema.names
        if batch.schema.names != names:
            raise DataError(
                f"a batch came with the columns {batch.schema.names}, but the operator was made for {names}"
            )
        if not names and spark_task() is not None:
            raise DataError(
                "a frame without columns comes to Python without its rows, as PySpark takes their number from the "
                "columns; give mapInArrow a frame that has one, such as df.select(F.lit(True).alias('row'))"
            )
        try:
            batch.validate()
        except pa.ArrowException as error:
            for name, column in zip(names, batch.columns, strict=True):
                checker.validated(column, name, text=False)
            raise DataError(f"a batch came broken: {error}") from None
        for i in self._without_nulls:
            column = batch.column(i)
            if column.null_count:
                row = pc.index(column.is_null(), True).as_py() + checker.rows
                raise DataError(
                    f"column {names[i]!r} came with nulls, the first at row {row}, and was declared to have none"
                )


def _check_ascending(row_numbers: pa.Array, last: int, was_ascending: bool) -> tuple[bool, int]:
    """Return whether row numbers are still ascending, and the last one."""
    if not was_ascending or not len(row_numbers):
        return was_ascending, last
    ascends = pc.all(pc.less(row_numbers[:-1], row_numbers[1:])).as_py() is not False
    return ascends and row_numbers[0].as_py() > last, row_numbers[-1].as_py()


def pop_all(waiting: deque[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches, dropping the reference to each.

    Parameters
    ----------
    waiting
        The batches.

    Yields
    ------
    pyarrow.RecordBatch
        Each, in order.
    """
    while waiting:
        yield waiting.popleft()
