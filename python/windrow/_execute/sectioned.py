"""Sorted rows computed section by section: read once for the summaries, and again for the results.

    sorted rows -> sections, kept -> summaries -> exchange with all sections -> context of each section -> results

So the result of a row can depend on all rows of its partition, although they do not fit in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from .._windrow import Sections, Spilled
from .run_metrics import Run

if TYPE_CHECKING:
    from .._windrow import HashPartitions, Plan, Sorter

__all__ = ["ExchangeSummaries", "compute_sections", "only_local_summaries", "read_batches", "summarise_sections"]

#: Takes this task's summaries; returns those of all tasks in order, and the index of this task's first.
ExchangeSummaries = Callable[[Sequence[bytes]], tuple[list[bytes], int]]

# Rows of a section: enough that the rows around it are few in comparison; fewer if rows are wide.
_MAX_ROWS = 1 << 18
_MIN_ROWS = 1 << 14

# Rows of an output batch.
_BATCH_ROWS = 1 << 15


def only_local_summaries(summaries: Sequence[bytes]) -> tuple[list[bytes], int]:
    """The ``ExchangeSummaries`` of a single task: no other task has sections.

    Parameters
    ----------
    summaries
        Their summaries.

    Returns
    -------
    tuple
        The same, and none before.
    """
    return list(summaries), 0


def compute_sections(
    rows: Iterable[pa.RecordBatch], plan: Plan, exchange: ExchangeSummaries, limit: int, spill_dir: str | None, run: Run
) -> Iterator[pa.RecordBatch]:
    """Compute a plan's calls.

    Parameters
    ----------
    rows
        Batches in the plan's order.
    plan
        A plan that may be cut.
    exchange
        Exchanges section summaries with other tasks.
    limit
        How many bytes of rows may be held; the rest goes to a file.
    spill_dir
        The directory of that unnamed file; None: the system's default.
    run
        Whose figures these are.

    Yields
    ------
    pyarrow.RecordBatch
        The batches' columns, then one per call.

    Raises
    ------
    SpillError
        The disk is full, or gives other bytes back.
    DataError
        A summary is damaged, or of other calls.
    """
    sections = plan.sections()
    summaries = []
    buffer = _SpillableBuffer(limit, spill_dir, run)
    for section, summary in _with_summaries(rows, sections, limit, run):
        summaries.append(summary)
        buffer.add(section)
        del section  # before the next is read
    with run.stage("exchange"):
        all_summaries, before = exchange(summaries)
    with run.stage("summarise"):
        neighbourhoods = sections.scan(all_summaries)[before : before + len(summaries)]
    run.metrics.sections += len(summaries)
    new = list(pa.schema(plan.output_schema))
    buffered = iter(buffer)
    for neighbourhood in neighbourhoods:
        section = next(buffered)
        answer = pa.record_batch(sections.answer(section, neighbourhood))
        output = pa.RecordBatch.from_arrays(
            [*section.columns, *answer.columns], schema=pa.schema([*section.schema, *new])
        )
        del section, answer
        for start in range(0, output.num_rows, _BATCH_ROWS):
            yield output.slice(start, _BATCH_ROWS)
        del output  # before the next is read


def summarise_sections(rows: Iterable[pa.RecordBatch], plan: Plan, limit: int, run: Run) -> list[bytes]:
    """Summarise rows for tasks that hold other rows of the same partitions.

    Parameters
    ----------
    rows
        Batches in the plan's order.
    plan
        A plan that may be cut.
    limit
        How many bytes of rows may be held.
    run
        Whose figures these are.

    Returns
    -------
    list of bytes
        A summary per section.
    """
    return [summary for _, summary in _with_summaries(rows, plan.sections(), limit, run)]


def _with_summaries(
    rows: Iterable[pa.RecordBatch], sections: Sections, limit: int, run: Run
) -> Iterator[tuple[pa.RecordBatch, bytes]]:
    """Split sorted rows into sections, each with its summary."""
    for section in _cut_sections(rows, sections, limit):
        with run.stage("summarise"):
            summary = sections.summarise(section)
        yield section, summary
        del section  # before the next is read


def _cut_sections(rows: Iterable[pa.RecordBatch], sections: Sections, limit: int) -> Iterator[pa.RecordBatch]:
    """Split sorted rows where a section may begin."""
    held: list[pa.RecordBatch] = []
    count, next_cut = 0, _MIN_ROWS
    for batch in rows:
        held.append(batch)
        count += batch.num_rows
        if count <= next_cut:
            continue
        joined = _concat(held)
        max_rows = min(max(limit * count // max(joined.nbytes, 1), _MIN_ROWS), _MAX_ROWS)
        held = [joined]
        if count <= max_rows:
            next_cut = max_rows
            continue
        cut = sections.last_cut(joined)
        if cut is None:
            next_cut = 2 * count  # peers as many as that
            continue
        yield joined.slice(0, cut)
        held, count, next_cut = [joined.slice(cut)], count - cut, max_rows
    if count:
        yield _concat(held)


def _concat(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.record_batch(Sections.joined(list(batches)))


class _SpillableBuffer:
    """Batches that are read again: in memory up to a limit, the others in an unnamed file."""

    def __init__(self, limit: int, spill_dir: str | None, run: Run) -> None:
        self._limit, self._spill_dir = limit, spill_dir
        self._run = run
        self._in_memory: list[pa.RecordBatch] = []
        self._bytes = 0
        self._spilled: Spilled | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        self._bytes += batch.nbytes
        if self._bytes <= self._limit:
            self._in_memory.append(batch)
            return
        with self._run.stage("spill"):
            if self._spilled is None:
                self._spilled = Spilled(batch.schema, self._spill_dir)
            self._spilled.push(batch)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while self._in_memory:
            yield self._in_memory.pop(0)
        if self._spilled is not None:
            with self._run.stage("spill"):
                self._run.metrics.spilled_bytes += self._spilled.finish()
            yield from self._run.time_items("spill", read_batches(self._spilled))


def read_batches(rows: Spilled | Sorter | HashPartitions) -> Iterator[pa.RecordBatch]:
    """Yield the batches that the native module holds in files."""
    while (batch := rows.next_batch()) is not None:
        yield pa.record_batch(batch)
