"""One level of calls over record batches, in any order or already grouped and ordered."""

from __future__ import annotations

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
from .arrow_columns import as_bytes, compact, empty_table, has_run_ends, whole, with_buffers
from .dictionaries import Dictionaries
from .evaluate import evaluate, refuse_neighbours
from .explained_call import ExplainedCall
from .external_sort import answered as answered_externally, numbered, summarised as summarised_externally
from .memory import IN_MEMORY, room, size, task_limit
from .native import ROWS, explained_plan, input_table, make_plan, output_fields, refuse_nested_runs
from .ordered_categories import carried_order, ordered_columns
from .run_metrics import Run
from .sectioned import Share
from .validation import Checker
from .worker import in_task, spark_task, takes_list_views

if TYPE_CHECKING:
    from .._windrow import Plan

__all__ = ["Level"]


class Level:
    """Calls that do not read each other, over record batches. Plain data; the native plan is made where it runs.

    Parameters
    ----------
    step
        The calls, over the columns of the batches and then those of the scalars.
    scalars
        What Polars evaluates first, batch by batch.
    project
        The columns of the batches that leave: of those that came, of the scalars, and then of the calls.
    schema
        The schema of the batches that come.
    options
        The settings in force.
    sort
        Whether to sort; None: in a Spark task.
    leaves
        Whether batches go straight to the host, which may know list views where Polars does not.
    spills
        Whether rows go to files without a memory limit.
    trusted
        The columns that were checked, or computed, before.
    position
        The column that numbers rows in the order that ties keep, where a level before may have changed it.
    numbers
        Whether that is not there yet, and comes last.
    ordered
        The columns that hold ordered categories, though their types do not say so.
    unread
        Which of the columns that come neither this level reads nor what comes behind it: NULL takes their place.
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
        leaves: bool = True,
        spills: bool = False,
        trusted: frozenset[str] = frozenset(),
        position: str | None = None,
        numbers: bool = False,
        ordered: Mapping[str, str] | None = None,
        unread: frozenset[int] = frozenset(),
    ) -> None:
        self.step = step
        self.scalars = tuple(scalars)
        self.project = project
        self.input_schema = schema
        self._options = options
        self._sort = sort
        self._leaves = leaves
        self._trusted = trusted
        self._position = position
        self._numbers = numbers
        self._unread = unread
        self._width = len(schema)
        #: The schema of the batches as they come, which may be without the rows' numbers.
        self.came = pa.schema(list(schema)[:-1], metadata=schema.metadata) if numbers else schema
        self._compared = comparison_only_columns(step.calls)
        refuse_neighbours(self.scalars, "one batch of the stream at a time")
        refuse_nested_runs(schema, spills=options.memory_limit is not None or spills)
        self._ordered = dict(ordered or {})
        columns = self._columns(empty_table(schema), learn=self._ordered)
        self._empty = self._input(columns, 0, Checker()).schema
        #: The columns that the calls read and that hold ordered categories, each with what a message calls it.
        self._categories = {**ordered_columns(self._empty), **self._ordered}
        self.new_fields = self._dictionaries().result_fields(output_fields(self._plan()))
        #: The columns behind this level that hold ordered categories, though their types do not say so.
        self.ordered = self._ordered | carried_order(step.calls, self.new_fields, self._categories)

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches that leave."""
        return self._schema(self.input_schema)

    def explain_rows(self, *, streamed: bool = True) -> list[ExplainedCall]:
        """Say how each call is computed, by a stream or at once, in their order."""
        return explained_plan(self._plan(), streamed=streamed)

    def refuses_sections(self) -> str | None:
        """Say why several may not share the rows of a partition; None: they may."""
        return self._plan().sections().refusal

    def sums_up_any_order(self) -> bool:
        """Say whether rows that others need to know of may be summed up in any order, which costs no sort."""
        return self._plan().sections().sums_up_any_order

    def sorts(self) -> list[tuple[list[int], bool]]:
        """Part the calls by the sorts that serve them; say whether ties must be put back in the order of the rows."""
        return self._plan().sorts()

    def _plan(self, options: Options | None = None, schema: pa.Schema | None = None) -> Plan:
        return make_plan(schema or self._empty, self.step.calls, options or self._options, self._categories)

    def _dictionaries(self) -> Dictionaries:
        return Dictionaries(self._empty, self.step.calls)

    def summarised(self, batches: Iterable[pa.RecordBatch], run: Run) -> list[bytes]:
        """Sum rows up for those who answer further ones of the same partitions: a summary per section, in order."""
        options = self._settings()
        checker = Checker()
        rows = (self._full(batch, run, checker) for batch in self._alike(batches))
        return summarised_externally(rows, self.step.calls, options, task_limit(options), run)

    def answered(self, batches: Iterable[pa.RecordBatch], run: Run, share: Share | None) -> Iterator[pa.RecordBatch]:
        """Answer the calls; ``share`` tells of further rows of the same partitions, all before or all after these."""
        options = self._settings()
        batches = self._alike(batches)
        if self._numbers and self._position is not None:
            batches = numbered(batches, self._position)
        if share is not None:
            return self._spilled(batches, options, task_limit(options), run, share)
        sort = spark_task() is not None if self._sort is None else self._sort
        return self._sorted(batches, options, run) if sort else self._streamed(batches, options, run)

    def _settings(self) -> Options:
        """Give the settings where this runs."""
        options, task = self._options, spark_task()
        if task is None:
            return options
        options = in_task(options, task.getLocalProperty)
        if options.threads is None:
            options = replace(options, threads=1)  # the task owns one core; its neighbours own the others
        return replace(options, list_views=True) if self._leaves and takes_list_views() else options

    def _sorted(self, batches: Iterable[pa.RecordBatch], options: Options, run: Run) -> Iterator[pa.RecordBatch]:
        waiting: deque[pa.RecordBatch] = deque()
        checker = Checker()
        dictionaries = self._dictionaries()
        inputs: list[pa.Table] = []
        limit = None if options.memory_limit is None else room(options.memory_limit)
        held, seen = 0, set[int]()
        in_order, last = True, -1
        coming = iter(batches)
        for batch in coming:
            waiting.append(batch)
            if self._position is not None:
                in_order, last = _goes_on(batch[self._position], last, in_order)
            inputs.append(self._table(batch, run, checker))
            dictionaries.read(inputs[-1])
            held += size(batch, seen)
            if limit is not None and held * IN_MEMORY > limit:
                inputs.clear()
                # what making the batches takes is known now
                limit = room(options.memory_limit or limit, held)
                yield from self._spilled(chain(_drained(waiting), coming), options, limit, run)
                return
        if not inputs:
            return
        if not in_order:  # ties are those of rows in another order
            inputs.clear()
            yield from self._spilled(_drained(waiting), options, limit or held * IN_MEMORY, run)
            return
        plan = self._plan(options, inputs[0].schema)  # fields within others may have come with metadata
        new = dictionaries.restored(pa.table(plan.compute(pa.concat_tables(inputs))).columns)
        inputs.clear()
        run.metrics.sections += 1
        schema = self._schema(waiting[0].schema, plan)
        offset = 0
        while waiting:
            batch = waiting.popleft()
            part = [compact(whole(c.slice(offset, batch.num_rows))) for c in new]
            offset += batch.num_rows
            yield self._chosen(batch.columns, part, schema)

    def _spilled(
        self,
        batches: Iterable[pa.RecordBatch],
        options: Options,
        limit: int,
        run: Run,
        share: Share | None = None,
    ) -> Iterator[pa.RecordBatch]:
        schema = None
        checker = Checker()
        dictionaries = self._dictionaries()

        def full() -> Iterator[pa.RecordBatch]:
            nonlocal schema
            for batch in batches:
                made = self._full(batch, run, checker)
                dictionaries.read(made)
                if schema is None:
                    schema = self._schema(batch.schema, self._plan(options, made.schema))
                yield made

        position = None
        if self._position is not None:
            position = self.step.names[self.input_schema.get_field_index(self._position)]
        for batch in answered_externally(full(), self.step.calls, options, limit, run, share, position):
            yield self._arranged(batch, schema, dictionaries)

    def _streamed(self, batches: Iterable[pa.RecordBatch], options: Options, run: Run) -> Iterator[pa.RecordBatch]:
        stream = None
        checker = Checker()
        dictionaries = self._dictionaries()
        schema = self.input_schema
        for batch in batches:
            full = self._full(batch, run, checker)
            dictionaries.read(full)
            if stream is None:
                plan = self._plan(options, full.schema)
                schema = self._schema(batch.schema, plan)
                stream = plan.stream()
            yield from self._unpack(stream.push(full), schema, dictionaries, run)
        if stream is not None:
            yield from self._unpack(stream.finish(), schema, dictionaries, run)

    def _unpack(
        self, finished: Sequence[Any], schema: pa.Schema, dictionaries: Dictionaries, run: Run
    ) -> Iterator[pa.RecordBatch]:
        run.metrics.sections += bool(finished)
        for item in finished:
            yield self._arranged(pa.record_batch(item), schema, dictionaries)

    def _arranged(self, batch: pa.RecordBatch, schema: pa.Schema, dictionaries: Dictionaries) -> pa.RecordBatch:
        """Choose columns of a batch of all columns."""
        columns = batch.columns
        new = dictionaries.restored([compact(c) for c in columns[len(columns) - len(self.step.calls) :]])
        return self._chosen(columns[: self._width], new, schema)

    def _chosen(self, old: Sequence[pa.Array], new: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
        columns = [self._of(old, new, index) for _, index in self.project.columns]
        # what no call reads may have passed as bytes
        columns = [c if c.type == t else c.view(t) for c, t in zip(columns, schema.types, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _of(self, old: Sequence[Any], new: Sequence[Any], index: int) -> Any:
        return old[index] if index < self._width else new[index - len(self.step.names)]

    def _schema(self, input_schema: pa.Schema, plan: Plan | None = None) -> pa.Schema:
        """Lay out the schema; columns that pass through keep the very field they came with."""
        new = self.new_fields
        if plan is not None:
            made = self._dictionaries().result_fields(output_fields(plan))
            new = [f.with_type(m.type) for f, m in zip(new, made, strict=True)]
        old = list(input_schema)
        fields = [self._of(old, new, index).with_name(name) for name, index in self.project.columns]
        return pa.schema(fields, metadata=input_schema.metadata)

    def _columns(
        self,
        batch: pa.RecordBatch | pa.Table,
        run: Run | None = None,
        checker: Checker | None = None,
        learn: dict[str, str] | None = None,
    ) -> list[Any]:
        """Give the columns of a batch, and behind them the evaluated scalars."""
        columns: list[Any] = list(batch.columns)
        if not self.scalars:
            return columns
        by_name = dict(zip(self.step.names[: self._width], columns, strict=True))
        ordered = dict(self._ordered) if learn is None else learn
        with run.stage("evaluate") if run is not None else nullcontext():
            return columns + evaluate(
                self.scalars, by_name, batch.num_rows, self._options, checker or Checker(), ordered
            )

    def _input(self, columns: Sequence[Any], rows: int, checker: Checker) -> pa.Table:
        return input_table(
            self.step,
            columns,
            rows,
            nullable=lambda i: i >= self._width or self.input_schema.field(i).nullable,
            trusted=lambda i: i >= self._width,
            checker=checker,
            compared=self._compared,
        )

    def _cast(self, column: Any, index: int, declared: pa.DataType, checker: Checker) -> Any:
        try:
            return checker.checked(column, self.step.names[index]).cast(declared)
        except pa.ArrowException as error:
            raise DataError(
                f"column {self.step.names[index]!r} came as {column.type} and was declared as {declared}: {error}"
            ) from None

    def _table(self, batch: pa.RecordBatch, run: Run, checker: Checker) -> pa.Table:
        table = self._input(self._columns(batch, run, checker), batch.num_rows, checker)
        checker.passed(batch.num_rows)
        return table.cast(self._empty) if table.schema.types != self._empty.types else table

    def _full(self, batch: pa.RecordBatch, run: Run, checker: Checker) -> pa.RecordBatch:
        """Give a batch with all columns and the evaluated expressions, for the stream.

        Text that no call reads goes as bytes, and need not be text, but within run ends.
        """
        columns = self._columns(batch, run, checker)
        read = set(self.step.reads)
        arrays, fields = [], []
        for index, (name, column, field) in enumerate(zip(self.step.names, columns, batch.schema, strict=False)):
            if name in self._trusted:
                made = column
            else:
                is_text = index in read or has_run_ends(column.type)
                made = checker.checked(column, name, nullable=field.nullable, text=is_text)
            if index not in read and as_bytes(made.type) is not made.type:
                made = made.view(as_bytes(made.type))
            arrays.append(made)
            fields.append(pa.field(name, made.type, field.nullable))
        checker.passed(batch.num_rows)
        evaluated = [whole(c) for c in columns[self._width :]]
        arrays += evaluated
        fields += [pa.field(s.name, a.type) for s, a in zip(self.scalars, evaluated, strict=True)]
        if not arrays:  # pyarrow takes the number of rows from the columns
            arrays, fields = [pa.nulls(batch.num_rows)], [pa.field(ROWS, pa.null())]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _alike(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Check batches, and give all of them one schema: the first's, and the declared types where calls read."""
        schema: pa.Schema | None = None
        checker = Checker()  # which knows the number of rows before a batch
        for batch in batches:
            self._check(batch, checker)
            if schema is None:
                came = self.came
                read = set(self.step.reads)
                fields = [
                    pa.field(f.name, pa.null())
                    if i in self._unread
                    else f.with_nullable(d.nullable).with_type(d.type if i in read else f.type)
                    for i, (f, d) in enumerate(zip(batch.schema, came, strict=True))
                ]
                schema = pa.schema(fields, metadata=batch.schema.metadata)
            given = batch.columns
            columns = [pa.nulls(batch.num_rows) if i in self._unread else with_buffers(c) for i, c in enumerate(given)]
            if not batch.schema.equals(schema) or any(a is not b for a, b in zip(columns, given, strict=True)):
                columns = [
                    c if c.type == f.type else self._cast(c, i, f.type, checker)
                    for i, (c, f) in enumerate(zip(columns, schema, strict=True))
                ]
                batch = pa.RecordBatch.from_arrays(columns, schema=schema)
            checker.passed(batch.num_rows)
            yield batch

    def _check(self, batch: pa.RecordBatch, checker: Checker) -> None:
        fields = list(self.came)
        names = [f.name for f in fields]
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
                checker.checked(column, name, text=False)
            raise DataError(f"a batch came broken: {error}") from None
        for field, column in zip(fields, batch.columns, strict=True):
            if not field.nullable and column.null_count:
                row = pc.index(column.is_null(), True).as_py() + checker.rows
                raise DataError(
                    f"column {field.name!r} came with nulls, the first at row {row}, and was declared to have none"
                )


def _goes_on(numbers: pa.Array, last: int, in_order: bool) -> tuple[bool, int]:
    """Say whether rows are still in the order of their numbers, and give the last of these."""
    if not in_order or not len(numbers):
        return in_order, last
    ascends = pc.all(pc.less(numbers[:-1], numbers[1:])).as_py() is not False
    return ascends and numbers[0].as_py() > last, numbers[-1].as_py()


def _drained(waiting: deque[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give batches, and let go of each."""
    while waiting:
        yield waiting.popleft()
