"""Calls over more rows than memory holds: sorted by way of the disk, then answered as a stream, or in sections.

    batches -> sorted by the first order, spilled, merged -> stream answers the calls of that order
            -> sorted by the next order ...               -> stream answers the next calls   -> batches, in that order

No step holds more than its share of the limit. A call that looks at all rows behind its row is answered in sections,
by a second reading. What neither can let go of, as frames need all of a partition at once, is a MemoryLimitError that
names the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._model.names import fresh
from .._plan.order_groups import by_order
from ..settings import Options
from .memory import let_go
from .native import make_plan
from .run_metrics import Run
from .sectioned import Share, alone, answered as in_sections, summarised as of_sections

if TYPE_CHECKING:
    from .._windrow import Plan, Sorter, Stream

__all__ = ["answered", "summarised"]

# The least that a step may hold: some batches.
_STEP = 1 << 20

# Rows that are given between two looks at what allocators keep.
_TIDIED = 1 << 18


def answered(
    batches: Iterable[pa.RecordBatch],
    calls: Sequence[dict[str, Any]],
    options: Options,
    limit: int,
    run: Run,
    share: Share | None = None,
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
    orders = by_order(calls, range(len(calls)))
    most = limit // len(orders)
    for members in orders:
        batches = _in_one_order(batches, [calls[i] for i in members], options, most, run, share)
    made = [i for members in orders for i in members]
    last = [made.index(i) - len(calls) for i in range(len(calls))]
    given = 0
    for batch in batches:
        width = batch.num_columns - len(calls)
        chosen = [*range(width), *(batch.num_columns + i for i in last)]
        given += batch.num_rows
        yield batch.select(chosen)
        del batch
        if given >= _TIDIED:
            let_go()
            given = 0


def summarised(
    batches: Iterable[pa.RecordBatch], calls: Sequence[dict[str, Any]], options: Options, limit: int, run: Run
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
    planned = _planned(batches, calls, options)
    if planned is None:
        return []
    rows, plan, schema = planned
    if not plan.sections().sums_up_any_order:
        rows, _ = _ordered(rows, schema, plan, options, limit, run)
    return of_sections(rows, plan, _half(limit) // 2, run)


def _in_one_order(
    batches: Iterable[pa.RecordBatch],
    calls: Sequence[dict[str, Any]],
    options: Options,
    limit: int,
    run: Run,
    share: Share | None,
) -> Iterator[pa.RecordBatch]:
    planned = _planned(batches, calls, options)
    if planned is None:
        if share is not None:
            with run.stage("exchange"):
                share([])  # others wait for it
        return
    rows, plan, schema = planned
    rows, stream = _ordered(rows, schema, plan, options, limit, run)
    sections = plan.sections()
    if share is not None or (sections.looks_ahead and sections.refusal is None):
        yield from in_sections(rows, plan, share or alone, _half(limit) // 2, options.spill_dir, run)
        return
    for batch in rows:
        yield from _passed(stream.push(batch), run)
    yield from _passed(stream.finish(), run)


def _planned(
    batches: Iterable[pa.RecordBatch], calls: Sequence[dict[str, Any]], options: Options
) -> tuple[Iterator[pa.RecordBatch], Plan, pa.Schema] | None:
    """Plan calls over batches, if there are any, and give their schema; results have names that no column has."""
    coming = iter(batches)
    first = next(coming, None)
    if first is None:
        return None
    taken = {n.lower() for n in first.schema.names}
    named = []
    for call in calls:
        named.append({**call, "name": fresh(call["name"], taken)})
        taken.add(named[-1]["name"].lower())
    return chain([first], coming), make_plan(first.schema, named, options), first.schema


def _ordered(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, plan: Plan, options: Options, limit: int, run: Run
) -> tuple[Iterator[pa.RecordBatch], Stream]:
    """Sort batches, and give them with a stream of the plan.

    The sort has the limit, and half of it once it gives rows; the stream has the other half.
    """
    stream = plan.stream(_half(limit))
    sorter = stream.sorter(schema, limit, options.spill_dir, options.threads or 0)
    for batch in batches:
        with run.stage("sort"):
            sorter.push(batch)
    with run.stage("sort"):
        run.metrics.spilled_bytes += sorter.finish()
    let_go()  # what reading needed
    return run.timed("sort", _drained(sorter)), stream


def _half(limit: int) -> int:
    """Give the share of a step where two are at work: what sorts, and what answers."""
    return max(limit // 2, _STEP)


def _passed(finished: Sequence[Any], run: Run) -> Iterator[pa.RecordBatch]:
    run.metrics.sections += bool(finished)
    yield from map(pa.record_batch, finished)


def _drained(sorter: Sorter) -> Iterator[pa.RecordBatch]:
    while (rows := sorter.next_batch()) is not None:
        yield pa.record_batch(rows)
