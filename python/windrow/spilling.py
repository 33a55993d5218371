"""Calls over more rows than memory holds: sorted by way of the disk, then answered as a stream, or in sections.

    batches -> sorted by the first order, spilled, merged -> stream answers the calls of that order
            -> sorted by the next order ...               -> stream answers the next calls   -> batches, in that order

No step holds more than its share of the limit. A call that looks at all rows behind its row is answered in sections,
by a second reading. What neither can let go of, as frames need all of a partition at once, is a MemoryLimitError that
names the call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ._model.names import fresh
from ._model.replace import replace
from ._plan.order_groups import by_order
from ._windrow import keep_at_most
from .memory import let_go
from .metrics import Run
from .native import make_plan
from .sections import Share, alone, answered as in_sections, summarised as of_sections
from .settings import Options, size_of

if TYPE_CHECKING:
    from ._windrow import Plan, Sorter, Stream

__all__ = ["IN_MEMORY", "SHARED", "answered", "in_task", "room", "size", "summarised"]

#: Rows are sorted and answered in memory up to this share of the limit: their keys and what calls read are copied once
#: into one piece and once into order, and then there are the results.
IN_MEMORY = 4

#: What a task with a share of a partition may take where nobody set a limit: its worker stays below a gigabyte.
SHARED = 896 << 20

# Bytes of a view of a text.
_VIEW = 16

# The least that a step may hold: some batches.
_STEP = 1 << 20

# The share of the limit that may be kept for the next allocation.
_KEPT = 32

# Rows that are given between two looks at what allocators keep.
_TIDIED = 1 << 18

# The least share of the limit that is left for rows, whatever the process holds beside them.
_LEAST = 4

# Masters that hold executors to their memory, and end those that take more.
_STRICT = ("yarn", "k8s")


def in_task(options: Options, setting: Callable[[str], str | None]) -> Options:
    """Give the settings of a Spark task: its limit and its directories, where nothing else was asked for.

    Parameters
    ----------
    options
        The settings that came with the operator.
    setting
        Spark's settings by name; None: not set.

    Returns
    -------
    Options
        With ``memory_limit`` from ``spark.executor.pyspark.memory``, of which Spark gives each worker a share and makes
        it a hard limit, or else from ``spark.executor.memoryOverhead``, and ``spill_dir`` one of Spark's local
        directories.
    """
    if options.memory_limit is None:
        megabytes = int(os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB", "-1"))
        share = megabytes << 20 if megabytes > 0 else _share_of_overhead(setting)
        options = replace(options, memory_limit=None if share is None else max(share * 4 // 5, 1))
    if options.spill_dir is None:
        there = [d for d in os.environ.get("SPARK_LOCAL_DIRS", "").split(",") if os.path.isdir(d)]
        if there:
            options = replace(options, spill_dir=there[os.getpid() % len(there)])
    return options


def _share_of_overhead(setting: Callable[[str], str | None]) -> int | None:
    """Give a task's share of the memory beside the JVM's, where somebody set it and the executor is held to it.

    Spark's own default, a tenth of the JVM's memory, says nothing of Python's needs, and so is nobody's limit.
    """
    overhead = setting("spark.executor.memoryOverhead")
    if not overhead or not (setting("spark.master") or "").startswith(_STRICT):
        return None
    share = size_of(f"{overhead.strip()}m" if overhead.strip().isdigit() else overhead)  # a bare number is MiB
    cores, of_a_task = (float(setting(f"spark.{name}") or 1) for name in ("executor.cores", "task.cpus"))
    return None if not share else int(share / max(cores // of_a_task, 1))


def size(batch: pa.RecordBatch, seen: set[int]) -> int:
    """Say how many bytes a batch's rows take; texts that views of several batches share count once.

    Parameters
    ----------
    batch
        The batch.
    seen
        The addresses of buffers of text that have been counted; it grows.

    Returns
    -------
    int
        Bytes.
    """
    total = 0
    for column in batch.columns:
        if not (pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type)):
            total += column.nbytes
            continue
        total += len(column) * _VIEW
        for buffer in column.buffers()[2:]:
            if buffer is not None and buffer.address not in seen:
                seen.add(buffer.address)
                total += buffer.size
    return total


def room(limit: int, rows: int = 0) -> int:
    """Say how many bytes rows may take so that the process stays within a limit; it keeps little for later from now on.

    Parameters
    ----------
    limit
        The limit for the process, in bytes.
    rows
        The bytes of rows that it holds already.

    Returns
    -------
    int
        What the process does not hold for other things, but at least a quarter of the limit.
    """
    keep_at_most(limit // _KEPT)
    let_go()  # a worker may have run before
    try:
        with open("/proc/self/statm") as statm:
            held = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # not on Linux
        held = 0
    return max(limit - held + rows, limit // _LEAST)


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
