"""Rows in order, answered section by section: read once for what the sections came to, and once for the answers.

    rows in order -> sections, kept -> summaries -> those of all sections, in order -> what lies around each -> answers

So a row's answer may depend on all rows of its partition, however many, where nobody can hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from .._windrow import Sections, Spilled
from .run_metrics import Run

if TYPE_CHECKING:
    from .._windrow import Plan, Sorter

__all__ = ["Share", "alone", "answered", "drained", "summarised"]

#: Gives the summaries of all sections that there are, in order, and how many come before one's own.
Share = Callable[[Sequence[bytes]], tuple[list[bytes], int]]

# Rows of a section: enough that the rows around it are few beside its own; fewer where these are wide.
_ROWS = 1 << 18
_FEWEST = 1 << 14

# Rows of a batch that is handed on.
_BATCH = 1 << 15


def alone(summaries: Sequence[bytes]) -> tuple[list[bytes], int]:
    """Have all sections oneself.

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


def answered(
    rows: Iterable[pa.RecordBatch], plan: Plan, share: Share, limit: int, spill_dir: str | None, run: Run
) -> Iterator[pa.RecordBatch]:
    """Answer a plan's calls.

    Parameters
    ----------
    rows
        Batches in the plan's order.
    plan
        A plan that may be cut.
    share
        How to hear of the sections of others.
    limit
        How many bytes of rows may be held; the rest goes to a file.
    spill_dir
        Where that file is, which has no name; None: where the system keeps such files.
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
    kept = _Kept(limit, spill_dir, run)
    for section, summary in _with_summaries(rows, sections, limit, run):
        summaries.append(summary)
        kept.add(section)
        del section  # before the next is read
    with run.stage("exchange"):
        everyone, before = share(summaries)
    with run.stage("summarise"):
        around = sections.scan(everyone)[before : before + len(summaries)]
    run.metrics.sections += len(summaries)
    new = list(pa.schema(plan.output_schema))
    again = iter(kept)
    for lying in around:
        section = next(again)
        answer = pa.record_batch(sections.answer(section, lying))
        whole = pa.RecordBatch.from_arrays(
            [*section.columns, *answer.columns], schema=pa.schema([*section.schema, *new])
        )
        del section, answer
        for at in range(0, whole.num_rows, _BATCH):
            yield whole.slice(at, _BATCH)
        del whole  # before the next is read


def summarised(rows: Iterable[pa.RecordBatch], plan: Plan, limit: int, run: Run) -> list[bytes]:
    """Sum rows up for those who answer others of the same partitions.

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
    """Cut rows in order into sections, each with its summary."""
    for section in _cut(rows, sections, limit):
        with run.stage("summarise"):
            summary = sections.summarise(section)
        yield section, summary
        del section  # before the next is read


def _cut(rows: Iterable[pa.RecordBatch], sections: Sections, limit: int) -> Iterator[pa.RecordBatch]:
    """Cut rows in order where a section may begin."""
    held: list[pa.RecordBatch] = []
    count, wanted = 0, _FEWEST
    for batch in rows:
        held.append(batch)
        count += batch.num_rows
        if count <= wanted:
            continue
        joined = _joined(held)
        most = min(max(limit * count // max(joined.nbytes, 1), _FEWEST), _ROWS)
        held = [joined]
        if count <= most:
            wanted = most
            continue
        cut = sections.last_cut(joined)
        if cut is None:
            wanted = 2 * count  # peers as many as that
            continue
        yield joined.slice(0, cut)
        held, count, wanted = [joined.slice(cut)], count - cut, most
    if count:
        yield _joined(held)


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.record_batch(Sections.joined(list(batches)))


class _Kept:
    """Batches to be read again, once: in memory as far as a limit has room, the others in a file without a name."""

    def __init__(self, limit: int, spill_dir: str | None, run: Run) -> None:
        self._limit, self._dir = limit, spill_dir
        self._run = run
        self._held: list[pa.RecordBatch] = []
        self._bytes = 0
        self._spilled: Spilled | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        self._bytes += batch.nbytes
        if self._bytes <= self._limit:
            self._held.append(batch)
            return
        with self._run.stage("spill"):
            if self._spilled is None:
                self._spilled = Spilled(batch.schema, self._dir)
            self._spilled.push(batch)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while self._held:
            yield self._held.pop(0)
        if self._spilled is not None:
            with self._run.stage("spill"):
                self._run.metrics.spilled_bytes += self._spilled.finish()
            yield from self._run.timed("spill", drained(self._spilled))


def drained(rows: Spilled | Sorter) -> Iterator[pa.RecordBatch]:
    """Give the batches that the native module holds in files, each once."""
    while (batch := rows.next_batch()) is not None:
        yield pa.record_batch(batch)
