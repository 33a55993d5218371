"""Calls over more rows than fit in memory: sorted on disk, then computed as a stream or in sections.

    batches -> sort by the first order, spill, merge -> a stream computes the calls that this order serves
            -> sort by the next order ...            -> a stream computes the next calls   -> batches, in that order

Ties keep the input order: sorts are stable, and after an earlier sort the row number is the last key.

Each step stays within its part of the memory limit. A call that reads all following rows is computed in sections, which
are read twice. If a frame needs a whole partition in memory that exceeds the limit, MemoryLimitError names the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._model.names import unused_name
from .._plan.bound import BoundCall
from .._windrow import row_numbers
from ..settings import Options
from .memory import release_unused, releasing
from .native import make_plan
from .run_metrics import Run
from .sectioned import ExchangeSummaries, compute_sections, only_local_summaries, read_batches, summarise_sections

if TYPE_CHECKING:
    from .._windrow import Plan, Stream

__all__ = ["ROW_NUMBER", "compute_external", "summarise_external", "with_row_numbers"]

#: The name of the column with each row's number in input order.
ROW_NUMBER = "__windrow_position"

# The smallest memory limit of a step, in bytes: some batches.
_MIN_STEP_BYTES = 1 << 20


def compute_external(
    batches: Iterable[pa.RecordBatch],
    calls: Sequence[BoundCall],
    options: Options,
    limit: int,
    run: Run,
    exchange: ExchangeSummaries | None = None,
    row_number_column: str | None = None,
    kept: list[bytes | None] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Compute calls over batches in any order.

    Parameters
    ----------
    batches
        Batches of one schema, with all columns that the calls read.
    calls
        The native calls.
    options
        The settings in force.
    limit
        How many bytes of rows may be held.
    run
        Whose figures these are.
    exchange
        Exchanges section summaries with other tasks that hold other rows of the same partitions; then all calls have
        one order.
    row_number_column
        The column of row numbers by which ties are ordered; None: ties keep the order of the batches.
    kept
        What the native module keeps of earlier rows for each sort; at the end it holds that of these rows as well.

    Yields
    ------
    pyarrow.RecordBatch
        The columns of the batches, then one per call in the order of the calls. Rows come in the order of the last
        calls answered.

    Raises
    ------
    MemoryLimitError
        A call needs more rows at once.
    SpillError
        The disk is full.
    """
    peeked = _peek_schema(batches)
    if peeked is None:
        if exchange is not None:
            with run.stage("exchange"):
                exchange([])  # others wait for it
        return
    batches, schema = peeked
    width = len(schema)
    sorts = make_plan(schema, calls, options).sorts()
    adds_row_number = row_number_column is None and any(by_position for _, by_position in sorts)
    if adds_row_number:
        row_number_column = unused_name(ROW_NUMBER, {n.lower() for n in schema.names})
        batches = with_row_numbers(batches, row_number_column)
    sort_limit = limit // len(sorts)
    for number, (members, by_position) in enumerate(sorts):
        last_key = row_number_column if by_position or not adds_row_number else None
        group = [calls[i] for i in members]
        batches = _compute_order_group(batches, group, options, sort_limit, run, exchange, last_key, kept, number)
    computed_calls = [i for members, _ in sorts for i in members]
    result_positions = [computed_calls.index(i) - len(calls) for i in range(len(calls))]
    for batch in releasing(batches):
        yield batch.select([*range(width), *(batch.num_columns + i for i in result_positions)])
        del batch


def summarise_external(
    batches: Iterable[pa.RecordBatch], calls: Sequence[BoundCall], options: Options, limit: int, run: Run
) -> list[bytes]:
    """Summarise batches in any order, for tasks that hold other rows of the same partitions.

    Parameters
    ----------
    batches
        Batches of one schema, with all columns that the calls read.
    calls
        The native calls, all of one order.
    options
        The settings in force.
    limit
        How many bytes of rows may be held.
    run
        Whose figures these are.

    Returns
    -------
    list of bytes
        A summary per section of the rows in order.
    """
    peeked = _peek_schema(batches)
    if peeked is None:
        return []
    rows, schema = peeked
    plan = make_plan(schema, calls, options)
    if not plan.sections().sums_up_any_order:
        rows, _ = _external_sort(rows, schema, plan, options, limit, run)
    return summarise_sections(rows, plan, _half_limit(limit) // 2, run)


def _compute_order_group(
    batches: Iterable[pa.RecordBatch],
    calls: Sequence[BoundCall],
    options: Options,
    limit: int,
    run: Run,
    exchange: ExchangeSummaries | None,
    last_key: str | None,
    kept: list[bytes | None] | None,
    number: int,
) -> Iterator[pa.RecordBatch]:
    peeked = _peek_schema(batches)
    if peeked is None:
        return
    rows, schema = peeked
    plan = make_plan(schema, calls, options)
    rows, stream = _external_sort(rows, schema, plan, options, limit, run, last_key)
    if kept is not None:
        appender = plan.appender(kept[number])
        for batch in rows:
            yield from _to_batches(appender.push(batch), run)
        yield from _to_batches(appender.finish(), run)
        kept[number] = appender.to_bytes()
        return
    sections = plan.sections()
    if exchange is not None or (sections.looks_ahead and sections.refusal is None):
        yield from compute_sections(
            rows, plan, exchange or only_local_summaries, _half_limit(limit) // 2, options.spill_dir, run
        )
        return
    for batch in rows:
        yield from _to_batches(stream.push(batch), run)
    yield from _to_batches(stream.finish(), run)


def with_row_numbers(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Append a column of row numbers to batches.

    Parameters
    ----------
    batches
        The batches.
    name
        The name of the new column.

    Yields
    ------
    pyarrow.RecordBatch
        The batches, with that column.
    """
    rows, field = 0, pa.field(name, pa.int64(), nullable=False)
    for batch in batches:
        numbers = pa.array(row_numbers(rows, batch.num_rows))
        yield pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=batch.schema.append(field))
        rows += batch.num_rows


def _peek_schema(batches: Iterable[pa.RecordBatch]) -> tuple[Iterator[pa.RecordBatch], pa.Schema] | None:
    """Return the batches and their schema; None if there are none."""
    remaining = iter(batches)
    first = next(remaining, None)
    return None if first is None else (chain([first], remaining), first.schema)


def _external_sort(
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    plan: Plan,
    options: Options,
    limit: int,
    run: Run,
    last_key: str | None = None,
) -> tuple[Iterator[pa.RecordBatch], Stream]:
    """Return sorted batches and a stream of the plan.

    The sort uses the whole limit, and half of it while its output is read; the stream has the other half.
    """
    stream = plan.stream(_half_limit(limit))
    last = None if last_key is None else schema.get_field_index(last_key)
    sorter = stream.sorter(schema, limit, options.spill_dir, options.threads_used(), last)
    for batch in batches:
        with run.stage("sort"):
            sorter.push(batch)
    with run.stage("sort"):
        run.metrics.spilled_bytes += sorter.finish()
    release_unused()  # what reading needed
    return run.time_items("sort", read_batches(sorter)), stream


def _half_limit(limit: int) -> int:
    """Return the memory limit of each of two stages that run together: the sort and the calls."""
    return max(limit // 2, _MIN_STEP_BYTES)


def _to_batches(finished: Sequence[Any], run: Run) -> Iterator[pa.RecordBatch]:
    run.metrics.sections += bool(finished)
    yield from map(pa.record_batch, finished)
