"""Frames that are Arrow already: pyarrow's Table, RecordBatch and RecordBatchReader, and all that gives a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .._execute.arrow_columns import as_single_array, concatenated, empty_table
from .._execute.explained_call import ExplainedCall
from .._execute.in_memory import ArrowRunner, WorkingColumns, explained_calls
from .._execute.on_disk import operator_in_row_order
from .._execute.run_metrics import Run, measure
from .._execute.steps import run_steps
from .._execute.stream import stream_operator
from .._execute.take_rows import take_rows
from .._execute.top_rows import top_rows
from .._execute.validation import Checker
from .._plan.steps import Project, StepPlan
from ..settings import captured, current
from .base import ComputeArguments, FrameSchema, ReadAsTable
from .query import QueryHost, not_boolean

__all__ = ["ArrowHost", "StreamHost"]


class ArrowHost(QueryHost):
    """pyarrow's Tables, RecordBatches and RecordBatchReaders. A query's steps see Tables alone."""

    name = "arrow"

    def accepts(self, value: Any) -> bool:
        """Whether a value is one of pyarrow's frames."""
        return isinstance(value, (pa.Table, pa.RecordBatch, pa.RecordBatchReader))

    def accepts_schema(self, value: Any) -> bool:
        """Whether a value is an Arrow schema, of pyarrow or of another library."""
        if isinstance(value, pa.Schema):
            return True
        return hasattr(value, "__arrow_c_schema__") and not hasattr(value, "__arrow_c_array__")

    def schema(self, value: Any) -> FrameSchema:
        """Give the schema of a frame or of a schema."""
        if isinstance(value, pa.Schema):
            return FrameSchema(value)
        return FrameSchema(value.schema if self.accepts(value) else pa.schema(value))

    def columns(self, frame: Any) -> list[str]:
        """List the names of a frame's columns."""
        return list(frame.schema.names)

    def run(self, frame: Any, plan: StepPlan, arguments: ComputeArguments) -> Any:
        """Run the steps of a plan over a frame."""
        sort = arguments.in_memory()
        if isinstance(frame, pa.RecordBatchReader):
            return _run_reader(frame, plan, sort)
        if isinstance(frame, pa.RecordBatch):
            return _batch(_run_table(pa.Table.from_batches([frame]), plan, presorted=sort is False))
        return _run_table(frame, plan, presorted=sort is False)

    def explained(self, frame: Any, plan: StepPlan, sort: bool | None) -> list[list[ExplainedCall]]:
        """Run the steps of a plan over no rows, and say for each step of calls how they are computed."""
        if isinstance(frame, pa.RecordBatchReader):
            levels = stream_operator(plan, frame.schema, current(), bool(sort)).levels
            return [level.explain_rows(streamed=not sort) for level in levels]
        table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
        columns = table.slice(0, 0).columns  # whose dictionaries are those of the frame
        return explained_calls(columns, plan, current(), table.schema, presorted=sort is False)

    def finish(self, result: Any) -> None:
        """Read a reader to its end."""
        if isinstance(result, pa.RecordBatchReader):
            for _ in result:
                pass

    def over(self, frames: Sequence[Any], compute: Callable[[Sequence[Any]], Any]) -> Any:
        """Compute a frame of frames as Tables: a reader of readers, when it is read, and a RecordBatch of batches."""
        if any(isinstance(frame, pa.RecordBatchReader) for frame in frames):
            schema = compute([empty_table(frame.schema) for frame in frames]).schema
            return pa.RecordBatchReader.from_batches(schema, _read(frames, compute, captured()))
        result = compute(list(map(_as_table, frames)))
        return _batch(result) if all(isinstance(frame, pa.RecordBatch) for frame in frames) else result

    def concat_rows(self, frames: Sequence[pa.Table]) -> pa.Table:
        """Put the rows of Tables with the same columns below one another."""
        first, *others = frames
        if not others:
            return first
        if not first.num_columns:
            return _table([], first.schema, sum(frame.num_rows for frame in frames))
        columns = [concatenated(list(parts)) for parts in zip(*(frame.columns for frame in frames), strict=True)]
        fields = [f.with_type(c.type).with_nullable(True) for f, c in zip(first.schema, columns, strict=True)]
        return pa.table(columns, schema=pa.schema(fields, metadata=first.schema.metadata))

    def top_rows(self, frame: pa.Table, plan: StepPlan, most: int, counted: str) -> pa.Table | None:
        """Leave out rows behind the first ``most`` of each partition."""
        working = WorkingColumns(frame.columns, frame.num_columns, frame.num_rows, frame.schema)
        rows = top_rows(working, plan, most, counted, current())
        return None if rows is None else _take_rows(frame, rows)

    def null_row(self, frame: pa.Table) -> pa.Table:
        """Make a Table of the same columns with one row of NULLs."""
        schema = pa.schema([field.with_nullable(True) for field in frame.schema], metadata=frame.schema.metadata)
        return _table([pa.chunked_array([pa.nulls(1, field.type)]) for field in schema], schema, 1)

    def keep_rows(self, frame: pa.Table, keep: str, text: str) -> pa.Table:
        """Keep the rows for which the column ``keep`` is true, and drop it."""
        marks = frame[keep]
        if not (pa.types.is_boolean(marks.type) or pa.types.is_null(marks.type)):
            raise not_boolean(text, marks.type)
        return _take_rows(frame.drop_columns([keep]), pc.indices_nonzero(marks.cast(pa.bool_())))

    def sort_rows(self, frame: pa.Table, number: str) -> pa.Table:
        """Sort the rows by the column ``number``, and drop that column."""
        return _take_rows(frame.drop_columns([number]), pc.sort_indices(frame[number]))

    def slice_rows(self, frame: pa.Table, offset: int, limit: int | None) -> pa.Table:
        """Skip ``offset`` rows, then keep at most ``limit``."""
        return frame.slice(offset, limit)


class StreamHost(ReadAsTable):
    """Any object that gives Arrow's C stream or array."""

    name = "stream"

    def accepts(self, value: Any) -> bool:
        """Whether a value gives Arrow's C stream or array."""
        return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def _read(
    frames: Sequence[Any], compute: Callable[[Sequence[Any]], pa.Table], context: Context
) -> Iterator[pa.RecordBatch]:
    yield from context.run(compute, list(map(_as_table, frames))).to_batches()


def _as_table(frame: Any) -> pa.Table:
    if isinstance(frame, pa.RecordBatchReader):
        return frame.read_all()
    return pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame


def _batch(table: pa.Table) -> pa.RecordBatch:
    """Give a table as one batch."""
    if not table.num_columns:
        return table.combine_chunks().to_batches()[0] if table.num_rows else pa.record_batch([], schema=table.schema)
    return pa.RecordBatch.from_arrays([as_single_array(c) for c in table.columns], schema=table.schema)


def _take_rows(table: pa.Table, rows: pa.Array) -> pa.Table:
    check = Checker().validated
    columns = [take_rows(check(c, n, text=False), rows) for n, c in zip(table.column_names, table.columns, strict=True)]
    return _table(columns, table.schema, len(rows))


def _table(columns: Sequence[pa.ChunkedArray], schema: pa.Schema, rows: int) -> pa.Table:
    """Make a table, also of no columns: then pyarrow's constructor would lose the rows."""
    if columns:
        return pa.Table.from_arrays(columns, schema=schema)
    return pa.Table.from_batches([pa.record_batch([pa.nulls(rows)], names=["rows"]).select([])], schema=schema)


class _TableRunner(ArrowRunner[pa.Table]):
    """Runs steps over a Table."""

    def __init__(self, table: pa.Table, run: Run, *, presorted: bool) -> None:
        super().__init__(run, current(), presorted=presorted)
        self._table = table

    def project(self, working: WorkingColumns, step: Project) -> pa.Table:
        """Make a Table of the columns chosen."""
        fields = [working.field(i).with_name(name) for name, i in step.columns]
        schema = pa.schema(fields, metadata=self._table.schema.metadata)
        width = working.width
        columns = [self._table.column(i) if i < width else working[i] for _, i in step.columns]
        return _table(columns, schema, working.rows)


def _run_table(table: pa.Table, plan: StepPlan, *, presorted: bool) -> pa.Table:
    working = WorkingColumns(table.columns, table.num_columns, table.num_rows, table.schema)
    with measure(plan.shown, table.num_rows) as run:
        return run_steps(_TableRunner(table, run, presorted=presorted), working, plan)


def _run_reader(reader: pa.RecordBatchReader, plan: StepPlan, sort: bool | None) -> pa.RecordBatchReader:
    if len(plan.steps) == 1:
        chosen = plan.project.columns
        schema = pa.schema([reader.schema.field(i) for _, i in chosen], metadata=reader.schema.metadata)
        return pa.RecordBatchReader.from_batches(schema, _projected(reader, [i for _, i in chosen], schema))
    # A reader's rows arrive as they come: order is expected unless sorting is asked for, in a Spark task as elsewhere.
    op = operator_in_row_order(plan, reader.schema, current(), bool(sort))
    return pa.RecordBatchReader.from_batches(op.schema, op(reader))


def _projected(reader: pa.RecordBatchReader, chosen: Sequence[int], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for batch in reader:
        if chosen:
            yield pa.RecordBatch.from_arrays([batch.column(i) for i in chosen], schema=schema)
        else:  # rows without columns
            yield batch.select([])
