"""Operators over record batches: from an iterator of batches to an iterator of batches.

batches -> operator of level 0 -> operator of level 1 -> ... -> Polars evaluates expressions, hidden columns go
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from .._model.calls import Call
from .._model.names import HIDDEN, fresh, unique_names
from .._model.outputs import Output
from .._model.replace import replace
from .._model.result_columns import place
from .._plan.bind import bind, scalars
from .._plan.bound import BoundCalls
from .._plan.layout import Slot
from .._plan.levels import levels
from ..exceptions import DataError, SpecError, UnsupportedError
from ..settings import Options
from .arrow_columns import as_bytes, compact, empty_table, has_run_ends, whole, with_buffers
from .evaluate import evaluate, refuse_neighbours
from .external_sort import POSITION, answered as answered_externally, numbered, summarised as summarised_externally
from .memory import IN_MEMORY, room, size, task_limit
from .native import ROWS, input_table, make_plan, output_fields, refuse_nested_runs
from .ordered_categories import ordered_results
from .run_metrics import Report, Run, log_in_task, logs
from .sectioned import Share
from .user_functions import telling
from .validation import Checker
from .worker import in_task, spark_task, takes_list_views

if TYPE_CHECKING:
    from .._windrow import Plan

__all__ = ["Chain", "Operator", "make_operator"]


class Operator:
    """Window calls over record batches. Its state is plain data; the native plan is made where it is called.

    So it may be sent to another process by fork, spawn or pickle, and no thread of this process is needed there.
    ``leaves`` says that batches go straight to the host, which may know list views where Polars does not. With
    ``share`` others have further rows of the same partitions, all before or all after these. ``report`` hears the
    figures of each run; it travels to the processes where these are. ``host_schema`` is the schema of the batches that
    come as their host has it, where that was given. ``position`` is the column that numbers rows in the order that ties
    keep, where an operator before may have changed it; with ``numbers`` it is not there yet, and comes last.
    ``trusted`` columns were checked, or computed, by an operator before.
    """

    report: Report | None = None
    share: Share | None = None
    position: str | None = None
    numbers: bool = False

    def __init__(
        self,
        bound: BoundCalls,
        slots: Sequence[Slot],
        schema: pa.Schema,
        options: Options,
        sort: bool | None,
        host_schema: object = None,
        *,
        leaves: bool = True,
        share: Share | None = None,
        trusted: frozenset[str] = frozenset(),
    ) -> None:
        if sort is not None and not isinstance(sort, bool):
            raise SpecError(f"sort={sort!r} is neither True, False nor None")
        self.bound = bound
        self.__name__ = "windrow"  # what Spark shows in its plan
        self.slots = list(slots)
        self.input_schema = schema
        self._options = options
        self._sort = sort
        self._leaves = leaves
        self._trusted = trusted
        self.share = share
        self.host_schema = host_schema
        self._logs = logs()
        refuse_neighbours(bound.temporaries, "one batch of the stream at a time")
        refuse_nested_runs(schema, spills=options.memory_limit is not None or share is not None)
        self._empty = input_table(self.bound, *self._columns(empty_table(schema)), 0, schema).schema
        self._new = output_fields(make_plan(self._empty, self.bound.native, options))

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches that leave: the input's columns and the new ones."""
        return self._schema(self.input_schema)

    @property
    def new_fields(self) -> list[pa.Field]:
        """The fields of the new columns, in the order of the calls."""
        return list(self._new)

    def ordered_results(self) -> list[int]:
        """List the calls whose results are values of ordered categories."""
        return ordered_results(self._empty, self.bound.native, self._new)

    @staticmethod
    def _refuse_categories(read: Sequence[str], categories: set[str]) -> None:
        if categories.intersection(read):
            raise UnsupportedError(
                "a call or an expression over ordered categories that a call gave: in a stream they would be compared "
                "as text; cast the column to text, or to integers of their positions"
            )

    @property
    def names_read(self) -> list[str]:
        """The names of the columns of the batches that come."""
        return list(self.input_schema.names)

    def explain_rows(self, *, streamed: bool = True) -> list[dict[str, Any]]:
        """Say how each call is computed, by a stream or at once: one dict per call, in their order."""
        return list(make_plan(self._empty, self.bound.native, self._options).explain(streamed))

    def refuses_sections(self) -> str | None:
        """Say why several may not share the rows of a partition; None: they may."""
        return make_plan(self._empty, self.bound.native, self._options).sections().refusal

    def sums_up_any_order(self) -> bool:
        """Say whether rows that others need to know of may be summed up in any order, which costs no sort."""
        return make_plan(self._empty, self.bound.native, self._options).sections().sums_up_any_order

    def sorts(self) -> list[tuple[list[int], bool]]:
        """Part the calls by the sorts that serve them; say whether ties must be put back in the order of the rows."""
        return make_plan(self._empty, self.bound.native, self._options).sorts()

    def expressions(self) -> list[str]:
        """List the expressions that are evaluated before the calls."""
        return [t.text for t in self.bound.temporaries]

    def __repr__(self) -> str:
        """Show the calls."""
        return f"<windrow.Operator {self._calls()}>"

    def _calls(self) -> str:
        named = [(c["display"], "" if c["name"].startswith(HIDDEN) else f" AS {c['name']}") for c in self.bound.native]
        return ", ".join(call + name for call, name in named)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Compute over batches.

        Parameters
        ----------
        batches
            Record batches of the operator's input schema.

        Yields
        ------
        pyarrow.RecordBatch
            Batches with the new columns.
        """
        task = spark_task()
        if task is not None:
            log_in_task(self._logs)
        run = Run(
            self._calls,
            self.report,
            progress=bool(self._options.progress) and task is None,
            partition=None if task is None else task.partitionId(),
        )
        answered = run.output(self._answered(run.input(batches), run))
        return answered if task is None else telling(answered)

    def summarised(self, batches: Iterable[pa.RecordBatch]) -> tuple[int, list[bytes]]:
        """Say what others must know of rows, to answer further ones of the same partitions.

        Parameters
        ----------
        batches
            Record batches of the operator's input schema.

        Returns
        -------
        tuple
            How many rows there are, and the summaries of their sections, in order.
        """
        options = self._settings()
        run = Run(self._calls)
        checker = Checker()
        rows = (self._full(batch, run, checker) for batch in self._alike(run.input(batches)))
        summaries = summarised_externally(rows, self.bound.native, options, task_limit(options), run)
        return run.metrics.rows, summaries

    def _answered(self, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        options = self._settings()
        batches = self._alike(batches)
        if self.numbers and self.position is not None:
            batches = numbered(batches, self.position)
        if self.share is not None:
            return self._spilled(batches, options, task_limit(options), run)
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
        inputs: list[pa.Table] = []
        limit = None if options.memory_limit is None else room(options.memory_limit)
        held, seen = 0, set[int]()
        in_order, last = True, -1
        coming = iter(batches)
        for batch in coming:
            waiting.append(batch)
            if self.position is not None:
                in_order, last = _goes_on(batch[self.position], last, in_order)
            inputs.append(self._table(batch, run, checker))
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
        plan = make_plan(self._empty, self.bound.native, options)
        new = pa.table(plan.compute(pa.concat_tables(inputs)))
        inputs.clear()
        run.metrics.sections += 1
        schema = self._schema(waiting[0].schema, plan)
        offset = 0
        while waiting:
            batch = waiting.popleft()
            part = [compact(whole(c.slice(offset, batch.num_rows))) for c in new.columns]
            offset += batch.num_rows
            yield self._arranged(batch.columns, part, schema)

    def _spilled(
        self, batches: Iterable[pa.RecordBatch], options: Options, limit: int, run: Run
    ) -> Iterator[pa.RecordBatch]:
        schema = None
        width = len(self.bound.names)
        checker = Checker()

        def full() -> Iterator[pa.RecordBatch]:
            nonlocal schema
            for batch in batches:
                made = self._full(batch, run, checker)
                if schema is None:
                    schema = self._schema(batch.schema, self._stream_plan(made.schema, options))
                yield made

        position = None
        if self.position is not None:
            position = self.bound.names[self.input_schema.get_field_index(self.position)]
        for batch in answered_externally(full(), self.bound.native, options, limit, run, self.share, position):
            new = [compact(c) for c in batch.columns[batch.num_columns - len(self.bound.native) :]]
            yield self._arranged(batch.columns[:width], new, schema)

    def _streamed(self, batches: Iterable[pa.RecordBatch], options: Options, run: Run) -> Iterator[pa.RecordBatch]:
        stream = None
        checker = Checker()
        schema = self.input_schema
        width = len(self.bound.names)
        for batch in batches:
            full = self._full(batch, run, checker)
            if stream is None:
                plan = self._stream_plan(full.schema, options)
                schema = self._schema(batch.schema, plan)
                stream = plan.stream()
            yield from self._unpack(stream.push(full), width, schema, run)
        if stream is not None:
            yield from self._unpack(stream.finish(), width, schema, run)

    def _stream_plan(self, schema: pa.Schema, options: Options) -> Plan:
        # a stream carries all columns, so a new one that will replace an old one needs a name of its own meanwhile
        return make_plan(schema, self.bound.beside(schema.names), options)

    def _unpack(self, finished: Sequence[Any], width: int, schema: pa.Schema, run: Run) -> Iterator[pa.RecordBatch]:
        run.metrics.sections += bool(finished)
        for item in finished:
            batch = pa.record_batch(item)
            new = [compact(c) for c in batch.columns[len(batch.columns) - len(self.bound.native) :]]
            yield self._arranged(batch.columns[:width], new, schema)

    def _arranged(self, old: Sequence[pa.Array], new: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
        columns = [(new if s.new else old)[s.index] for s in self.slots]
        # what no call reads may have passed as bytes
        columns = [c if c.type == t else c.view(t) for c, t in zip(columns, schema.types, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _schema(self, input_schema: pa.Schema, plan: Plan | None = None) -> pa.Schema:
        """Lay out the schema; columns that pass through keep the very field they came with."""
        new = self._new
        if plan is not None:
            new = [f.with_type(made.type) for f, made in zip(new, output_fields(plan), strict=True)]
        fields = [(new if s.new else input_schema)[s.index].with_name(s.name) for s in self.slots]
        return pa.schema(fields, metadata=input_schema.metadata)

    def _columns(
        self, batch: pa.RecordBatch | pa.Table, run: Run | None = None, checker: Checker | None = None
    ) -> tuple[list[Any], list[Any]]:
        """Give the input columns, and the evaluated expressions."""
        checker = checker or Checker()
        columns: list[Any] = list(batch.columns)
        if not self.bound.temporaries:
            return columns, []
        by_name = dict(zip(self.bound.names, columns, strict=True))
        with run.stage("evaluate") if run is not None else nullcontext():
            made = evaluate(self.bound.temporaries, by_name, batch.num_rows, self._options, checker, self.bound.native)
            return columns, made

    def _cast(self, column: Any, index: int, declared: pa.DataType, checker: Checker) -> Any:
        try:
            return checker.checked(column, self.bound.names[index]).cast(declared)
        except pa.ArrowException as error:
            raise DataError(
                f"column {self.bound.names[index]!r} came as {column.type} and was declared as {declared}: {error}"
            ) from None

    def _table(self, batch: pa.RecordBatch, run: Run, checker: Checker) -> pa.Table:
        columns, temporaries = self._columns(batch, run, checker)
        table = input_table(self.bound, columns, temporaries, batch.num_rows, self.input_schema, checker=checker)
        checker.passed(batch.num_rows)
        return table.cast(self._empty) if table.schema.types != self._empty.types else table

    def _full(self, batch: pa.RecordBatch, run: Run, checker: Checker) -> pa.RecordBatch:
        """Give a batch with all columns and the evaluated expressions, for the stream.

        Text that no call reads goes as bytes, and need not be text, but within run ends.
        """
        columns, temporaries = self._columns(batch, run, checker)
        read = set(self.bound.read)
        arrays, fields = [], []
        for index, (name, column, field) in enumerate(zip(self.bound.names, columns, batch.schema, strict=True)):
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
        arrays += [whole(t) for t in temporaries]
        fields += [pa.field(t.name, a.type) for t, a in zip(self.bound.temporaries, temporaries, strict=True)]
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
                came = self._came()
                read = set(self.bound.read)
                fields = [
                    f.with_nullable(d.nullable).with_type(d.type if i in read else f.type)
                    for i, (f, d) in enumerate(zip(batch.schema, came, strict=True))
                ]
                schema = pa.schema(fields, metadata=batch.schema.metadata)
            given = batch.columns
            columns = [with_buffers(c) for c in given]
            if not batch.schema.equals(schema) or any(a is not b for a, b in zip(columns, given, strict=True)):
                columns = [
                    c if c.type == f.type else self._cast(c, i, f.type, checker)
                    for i, (c, f) in enumerate(zip(columns, schema, strict=True))
                ]
                batch = pa.RecordBatch.from_arrays(columns, schema=schema)
            checker.passed(batch.num_rows)
            yield batch

    def _came(self) -> list[pa.Field]:
        """Give the fields of the batches that come."""
        fields = list(self.input_schema)
        return fields[:-1] if self.numbers else fields

    def _check(self, batch: pa.RecordBatch, checker: Checker) -> None:
        fields = self._came()
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


class Chain(Operator):
    """Operators one after another, and the scalar expressions after them. Plain data, as each operator is."""

    def __init__(
        self,
        outputs: Sequence[Output],
        slots: Sequence[Slot],
        schema: pa.Schema,
        options: Options,
        sort: bool | None,
        host_schema: object = None,
    ) -> None:
        self.__name__ = "windrow"  # what Spark shows in its plan
        self.slots = list(slots)
        self._options = options
        self._logs = logs()
        self.host_schema = host_schema
        self.levels: list[Operator] = []
        self._shown = Output.shown(outputs)
        working, trusted, categories = schema, frozenset[str](), set[str]()
        steps = levels(o.item for o in outputs if o.item is not None)
        position = None
        if len(steps) > 1 and sort is not False:  # ties keep the order in which rows came, whatever a level sorts by
            position = fresh(POSITION, {n.lower() for n in schema.names})
            working = schema.append(pa.field(position, pa.int64(), nullable=False))
        for calls in steps:
            kept = [Slot(n, False, i) for i, n in enumerate(working.names)]
            added = [Slot(at, True, i) for i, at in enumerate(calls)]
            bound = bind([Output(at, call) for at, call in calls.items()], working.names)
            level = Operator(bound, kept + added, working, options, sort, leaves=False, trusted=trusted)
            trusted |= {working.names[i] for i in bound.read} | set(calls)
            level._refuse_categories([bound.names[i] for i in bound.read], categories)
            categories |= {level.bound.native[i]["name"] for i in level.ordered_results()}
            level.position, level.numbers = position, position is not None and not self.levels
            working = level.schema
            self.levels.append(level)
        self._scalars = scalars(outputs, working.names)
        self._refuse_categories([n for t in self._scalars for n in categories if n in str(t.expression)], categories)
        self._names = unique_names(working.names)
        made = {t.name: i for i, t in enumerate(self._scalars)}
        # for each new column: whether it is an expression over calls, and its place among these or the calls' results
        items = [o for o in outputs if o.item is not None]
        places = {n: i for i, n in enumerate(working.names)}
        self.sources = [
            (False, places[place(o.item)]) if isinstance(o.item, Call) else (True, made[o.name]) for o in items
        ]
        self._new_names = [o.name for o in items]
        self.input_schema = working
        self.scalar_fields = [
            pa.field(t.name, c.type) for t, c in zip(self._scalars, self._evaluated(empty_table(working)), strict=True)
        ]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the batches that leave: the input's columns and the new ones."""
        new = self.new_fields
        fields = [(new if s.new else self.input_schema)[s.index].with_name(s.name) for s in self.slots]
        return pa.schema(fields, metadata=self.input_schema.metadata)

    @property
    def new_fields(self) -> list[pa.Field]:
        """The fields of the new columns, in the order of the items."""
        return [
            (self.scalar_fields if is_scalar else self.input_schema)[index].with_name(name)
            for (is_scalar, index), name in zip(self.sources, self._new_names, strict=True)
        ]

    def expressions_over_calls(self) -> list[tuple[str, str]]:
        """List the expressions that are evaluated last, each with its column's name."""
        return [(t.name, t.text) for t in self._scalars]

    def _calls(self) -> str:
        return self._shown

    def _answered(self, batches: Iterable[pa.RecordBatch], run: Run) -> Iterator[pa.RecordBatch]:
        for level in self.levels:
            batches = level._answered(batches, run)
        schema = self.schema
        for batch in batches:
            with run.stage("evaluate"):
                made = [whole(c).cast(f.type) for c, f in zip(self._evaluated(batch), self.scalar_fields, strict=True)]
            columns = []
            for slot in self.slots:
                is_scalar, index = self.sources[slot.index] if slot.new else (False, slot.index)
                columns.append(made[index] if is_scalar else batch.column(index))
            fields = [f.with_type(c.type) for f, c in zip(schema, columns, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=schema.metadata))

    def _evaluated(self, data: pa.RecordBatch | pa.Table) -> list[Any]:
        if not self._scalars:
            return []
        columns = dict(zip(self._names, data.columns, strict=True))
        return evaluate(self._scalars, columns, data.num_rows, self._options)


def make_operator(
    outputs: Sequence[Output],
    slots: Sequence[Slot],
    schema: pa.Schema,
    options: Options,
    sort: bool | None,
    host_schema: object = None,
    *,
    kinds: tuple[type[Operator], type[Chain]] = (Operator, Chain),
) -> Operator:
    """Make the operator for outputs of any shape: one where one level of calls is all there is, else a chain.

    Parameters
    ----------
    outputs
        What was asked for.
    slots
        The result's columns.
    schema
        The schema of the batches that will come.
    options
        The settings in force.
    sort
        As for :func:`windrow.operator`.
    host_schema
        The batches' schema as their host has it, where it is known.
    kinds
        The classes to make it of: for one level of calls, and for more.

    Returns
    -------
    Operator
        The operator.
    """
    calls = [o.item for o in outputs if isinstance(o.item, Call)]
    height = len(levels(calls))
    if height == 1 and len({place(c) for c in calls}) == sum(o.item is not None for o in outputs):
        return kinds[0](bind(outputs, schema.names), slots, schema, options, sort, host_schema)
    return kinds[1](outputs, slots, schema, options, sort, host_schema)
