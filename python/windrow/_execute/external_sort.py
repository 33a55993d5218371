"""Calls over more rows than memory holds: sorted by way of the disk, then answered as a stream, or in sections.

    batches -> sorted by the first order, spilled, merged -> stream answers the calls that this sort serves
            -> sorted by the next order ...               -> stream answers the next calls   -> batches, in that order

Ties stay in the order in which rows came: sorts are stable, and where a sort before has moved them, each row's number
in that order is the last key.

No step holds more than its share of the limit. A call that looks at all rows behind its row is answered in sections,
by a second reading. What neither can let go of, as frames need all of a partition at once, is a MemoryLimitError that
names the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._model.names import unused_name
from .._plan.bound import BoundCall
from .._windrow import numbered as _numbered
from ..settings import Options
from .memory import let_go
from .native import make_plan
from .run_metrics import Run
from .sectioned import Share, alone, answered as in_sections, drained, summarised as of_sections

if TYPE_CHECKING:
    from .._windrow import Plan, Stream

__all__ = ["POSITION", "answered", "numbered", "summarised"]

#: Stands for the number of a row in the order in which rows came.
POSITION = "__windrow_position"

# The least that a step may hold: some batches.
_STEP = 1 << 20

# Rows that are given between two looks at what allocators keep.
_TIDIED = 1 << 18


def answered(
    batches: Iterable[pa.RecordBatch],
    calls: Sequence[BoundCall],
    options: Options,
    limit: int,
    run: Run,
    share: Share | None = None,
    position: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """Answer calls over batches in any order.

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
    share
        How to hear of rows that others have, all before or all after these in the order of the calls, which is one.
    position
        The column with the rows' numbers in the order that ties keep; None: they keep that of the batches.

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
    opened = _opened(batches)
    if opened is None:
        if share is not None:
            with run.stage("exchange"):
                share([])  # others wait for it
        return
    batches, schema = opened
    width = len(schema)
    sorts = make_plan(schema, calls, options).sorts()
    numbers = position is None and any(by_position for _, by_position in sorts)
    if numbers:
        position = unused_name(POSITION, {n.lower() for n in schema.names})
        batches = numbered(batches, position)
    most = limit // len(sorts)
    for members, by_position in sorts:
        last_key = position if by_position or not numbers else None
        batches = _in_one_order(batches, [calls[i] for i in members], options, most, run, share, last_key)
    made = [i for members, _ in sorts for i in members]
    last = [made.index(i) - len(calls) for i in range(len(calls))]
    given = 0
    for batch in batches:
        chosen = [*range(width), *(batch.num_columns + i for i in last)]
        given += batch.num_rows
        yield batch.select(chosen)
        del batch
        if given >= _TIDIED:
            let_go()
            given = 0


def summarised(
    batches: Iterable[pa.RecordBatch], calls: Sequence[BoundCall], options: Options, limit: int, run: Run
) -> list[bytes]:
    """Sum up batches in any order, for those who answer calls over further rows.

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
    opened = _opened(batches)
    if opened is None:
        return []
    rows, schema = opened
    plan = make_plan(schema, calls, options)
    if not plan.sections().sums_up_any_order:
        rows, _ = _ordered(rows, schema, plan, options, limit, run)
    return of_sections(rows, plan, _half(limit) // 2, run)


def _in_one_order(
    batches: Iterable[pa.RecordBatch],
    calls: Sequence[BoundCall],
    options: Options,
    limit: int,
    run: Run,
    share: Share | None,
    last_key: str | None,
) -> Iterator[pa.RecordBatch]:
    opened = _opened(batches)
    if opened is None:
        return
    rows, schema = opened
    plan = make_plan(schema, calls, options)
    rows, stream = _ordered(rows, schema, plan, options, limit, run, last_key)
    sections = plan.sections()
    if share is not None or (sections.looks_ahead and sections.refusal is None):
        yield from in_sections(rows, plan, share or alone, _half(limit) // 2, options.spill_dir, run)
        return
    for batch in rows:
        yield from _passed(stream.push(batch), run)
    yield from _passed(stream.finish(), run)


def numbered(batches: Iterable[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Put the rows' numbers behind the columns of batches, which tell the order in which they come.

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
    rows = 0
    for batch in batches:
        yield pa.record_batch(_numbered(batch, name, rows))
        rows += batch.num_rows


def _opened(batches: Iterable[pa.RecordBatch]) -> tuple[Iterator[pa.RecordBatch], pa.Schema] | None:
    """Give batches with their schema; None: there are none."""
    coming = iter(batches)
    first = next(coming, None)
    return None if first is None else (chain([first], coming), first.schema)


def _ordered(
    batches: Iterator[pa.RecordBatch],
    schema: pa.Schema,
    plan: Plan,
    options: Options,
    limit: int,
    run: Run,
    last_key: str | None = None,
) -> tuple[Iterator[pa.RecordBatch], Stream]:
    """Sort batches, and give them with a stream of the plan.

    The sort has the limit, and half of it once it gives rows; the stream has the other half.
    """
    stream = plan.stream(_half(limit))
    last = None if last_key is None else schema.get_field_index(last_key)
    sorter = stream.sorter(schema, limit, options.spill_dir, options.threads_used(), last)
    for batch in batches:
        with run.stage("sort"):
            sorter.push(batch)
    with run.stage("sort"):
        run.metrics.spilled_bytes += sorter.finish()
    let_go()  # what reading needed
    return run.timed("sort", drained(sorter)), stream


def _half(limit: int) -> int:
    """Give the share of a step where two are at work: what sorts, and what answers."""
    return max(limit // 2, _STEP)


def _passed(finished: Sequence[Any], run: Run) -> Iterator[pa.RecordBatch]:
    run.metrics.sections += bool(finished)
    yield from map(pa.record_batch, finished)
