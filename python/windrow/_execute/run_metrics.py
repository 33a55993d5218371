"""Metrics of a run: rows, sections, bytes spilled, and the time of each stage.

    batches -> read -> sort -> summarise -> answer -> batches      each moment belongs to one stage, or to none
                                                                   while the caller has the batch

A run reports to its caller (``wr.explain(..., metrics=True)``), and logs one line at INFO to the logger ``windrow``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .._model.code_text import constructor_code
from ..exceptions import InternalError
from .progress_bar import Bar

if TYPE_CHECKING:
    import pyarrow as pa

    Item = TypeVar("Item")

__all__ = [
    "Measured",
    "Metrics",
    "Report",
    "Run",
    "capture",
    "current_reporter",
    "log_in_task",
    "logging_enabled",
    "measure",
    "seconds_text",
    "size_text",
]

_log = logging.getLogger("windrow")
_reporter: ContextVar[Report | None] = ContextVar("windrow_metrics", default=None)

# Whether this worker's logger has its level from an operator's driver.
_level_set_by_driver = False

# The maximum length of the calls in a log line.
_MAX_CALLS_TEXT = 120
_END: Any = object()


@dataclass(slots=True, repr=False)
class Metrics:
    """The metrics of one run.

    Parameters
    ----------
    calls
        What was computed, shortened.
    rows, batches
        What came in.
    sections
        In how many pieces the rows were answered: 1 where all were held at once.
    spilled_bytes
        What was written to files because of ``memory_limit``, what was written again included.
    seconds
        Seconds by stage. ``read``: waiting for the input. ``evaluate``: expressions, by Polars. ``divide`` and
        ``sort``: dividing and sorting beyond the memory limit, with most of their files. ``spill``: other files.
        ``summarise``: what sections tell each other. ``exchange``: waiting for other tasks' sections. ``answer``: the
        calls, and all else; in memory also the sort.
    elapsed
        Seconds from first to last, those included in which the caller had the batches.
    peak_bytes
        The most memory that the process has ever held; None where that is not known (not Linux).
    partition
        In a Spark task, the number of its partition.
    """

    calls: str = ""
    rows: int = 0
    batches: int = 0
    sections: int = 0
    spilled_bytes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    elapsed: float = 0.0
    peak_bytes: int | None = None
    partition: int | None = None

    def __repr__(self) -> str:
        """The metrics as code."""
        return constructor_code(self, "wr.typing.Metrics")

    def __str__(self) -> str:
        """Return the line that is logged."""
        where = "" if self.partition is None else f"partition {self.partition}: "
        peak = "" if self.peak_bytes is None else f", process peak {size_text(self.peak_bytes)}"
        return (
            f"{where}{self.calls}: rows {self.rows:,}, batches {self.batches:,}, sections {self.sections:,}, "
            f"spilled {size_text(self.spilled_bytes)}{peak}, {self.elapsed:.3f} s ({seconds_text(self.seconds)})"
        )


#: Takes the figures of a run at its end.
Report: TypeAlias = Callable[[Metrics], Any]


@dataclass(frozen=True, slots=True, repr=False)
class Measured:
    """The metrics of all runs of one operator; on Spark there is one run a task.

    Parameters
    ----------
    name
        Which operator, by the names of its columns.
    runs
        The figures of each run.
    """

    name: str
    runs: Sequence[Metrics]

    def __repr__(self) -> str:
        """The metrics as code."""
        return constructor_code(self, "wr.typing.Measured")

    def total(self) -> Metrics:
        """Return the sums over all runs; the peak and ``elapsed`` are maxima.

        Returns
        -------
        Metrics
            The figures.
        """
        total = Metrics(self.name)
        for run in self.runs:
            total.rows += run.rows
            total.batches += run.batches
            total.sections += run.sections
            total.spilled_bytes += run.spilled_bytes
            for stage, seconds in run.seconds.items():
                total.seconds[stage] = total.seconds.get(stage, 0.0) + seconds
        total.elapsed = max((r.elapsed for r in self.runs), default=0.0)
        total.peak_bytes = max((r.peak_bytes for r in self.runs if r.peak_bytes is not None), default=None)
        return total

    def most_rows(self) -> int:
        """Return the rows of the run with the most rows."""
        return max((r.rows for r in self.runs), default=0)


class Run:
    """A run while it lasts.

    Parameters
    ----------
    calls
        Says what is computed; asked only where somebody listens.
    report
        Takes the figures; None: who listens to this thread.
    progress
        Whether to show a bar.
    partition
        The number of the Spark task's partition.
    """

    def __init__(
        self,
        calls: Callable[[], str],
        report: Report | None = None,
        *,
        progress: bool = False,
        partition: int | None = None,
    ) -> None:
        self.metrics = Metrics(partition=partition)
        self._calls = calls
        self._report = report or _reporter.get()
        self._bar = Bar() if progress else None
        self._stage: str | None = None
        self._since = 0.0

    def switch_stage(self, stage: str | None) -> str | None:
        """Switch the clock to a stage, or to none; return the previous stage."""
        now, before = perf_counter(), self._stage
        if before is not None:
            seconds = self.metrics.seconds
            seconds[before] = seconds.get(before, 0.0) + now - self._since
        self._stage, self._since = stage, now
        return before

    @contextmanager
    def stage(self, stage: str) -> Iterator[None]:
        """Measure a block as part of a stage."""
        before = self.switch_stage(stage)
        try:
            yield
        finally:
            self.switch_stage(before)

    def time_items(self, stage: str, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items; the time to produce each counts for the stage, except the time of stages inside it."""
        remaining = iter(items)
        while True:
            before = self.switch_stage(stage)
            try:
                item = next(remaining, _END)
            finally:
                self.switch_stage(before)
            if item is _END:
                return
            yield item
            del item  # the next is made without this one in memory

    def input(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the input batches, and count them."""
        metrics, bar = self.metrics, self._bar
        if bar is not None:
            bar.begin(sum(b.num_rows for b in batches) if isinstance(batches, Sequence) else None)
        for batch in self.time_items("read", batches):
            metrics.rows += batch.num_rows
            metrics.batches += 1
            if bar is not None:
                bar.read(batch.num_rows)
            yield batch
        if bar is not None:
            bar.all_read()

    def output(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the output batches; the run ends after the last.

        Raises
        ------
        InternalError
            Rows were lost or duplicated.
        """
        begun = perf_counter()
        rows_out = 0
        try:
            for batch in self.time_items("answer", batches):
                rows_out += batch.num_rows
                if self._bar is not None:
                    self._bar.answered(batch.num_rows)
                yield batch
        finally:
            if self._bar is not None:
                self._bar.close()
        if rows_out != self.metrics.rows:
            raise InternalError(
                f"{self._calls()}: {self.metrics.rows:,} rows came and {rows_out:,} left; please report it"
            )
        self.end(perf_counter() - begun)

    def end(self, elapsed: float) -> None:
        """Report the metrics."""
        logged = logging_enabled()
        if self._report is None and not logged:
            return
        metrics = self.metrics
        calls = self._calls()
        if not calls:  # columns were chosen, and nothing was computed
            return
        metrics.calls = calls if len(calls) <= _MAX_CALLS_TEXT else calls[: _MAX_CALLS_TEXT - 3] + "..."
        metrics.elapsed = elapsed
        metrics.peak_bytes = _peak_memory()
        if logged:
            _log.info("%s", metrics)
        if self._report is not None:
            self._report(metrics)


@contextmanager
def measure(calls: Callable[[], str], rows: int, report: Report | None = None) -> Iterator[Run]:
    """Measure a block that answers calls over a frame in memory.

    Parameters
    ----------
    calls
        Says what is computed.
    rows
        The frame's rows.
    report
        Takes the figures; None: who listens to this thread.

    Yields
    ------
    Run
        The run, whose clock ``answer`` has.
    """
    run = Run(calls, report)
    run.metrics.rows, run.metrics.batches = rows, 1
    begun = perf_counter()
    with run.stage("answer"):
        yield run
    run.end(perf_counter() - begun)


@contextmanager
def capture() -> Iterator[list[Metrics]]:
    """Collect the metrics of the runs that end in this thread within a block.

    Yields
    ------
    list
        Of their figures; it grows.
    """
    runs: list[Metrics] = []
    token = _reporter.set(runs.append)
    try:
        yield runs
    finally:
        _reporter.reset(token)


def current_reporter() -> Report | None:
    """Return the receiver of this thread's metrics, for work in another thread."""
    return _reporter.get()


def logging_enabled() -> bool:
    """Whether the log line is enabled in this process."""
    return _log.isEnabledFor(logging.INFO)


def log_in_task(wanted: bool) -> None:
    """Set the log level of a Spark task to the driver's; by default a worker logs only warnings.

    Parameters
    ----------
    wanted
        Whether the driver logs; the next operator in this worker may come from one that does not.
    """
    global _level_set_by_driver
    if wanted and not logging_enabled():
        _log.setLevel(logging.INFO)
        _level_set_by_driver = True
    elif not wanted and _level_set_by_driver:
        _log.setLevel(logging.NOTSET)
        _level_set_by_driver = False
    if wanted and not _log.hasHandlers():  # else Spark keeps the worker's log, or the user's own set-up does
        _log.addHandler(logging.StreamHandler())


def size_text(size: int) -> str:
    """Format a number of bytes.

    Parameters
    ----------
    size
        Bytes.

    Returns
    -------
    str
        Such as ``"812.4 MiB"``.

    Examples
    --------
    >>> [size_text(n) for n in (0, 2048, 851_865_600)]
    ['0 B', '2.0 KiB', '812.4 MiB']
    """
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{size} B" if unit == "B" else f"{value:.1f} {unit}"


def seconds_text(seconds: dict[str, float]) -> str:
    """Format the seconds of each stage, in the order in which they began, without those below half a millisecond.

    Parameters
    ----------
    seconds
        Seconds by stage.

    Returns
    -------
    str
        Such as ``"read 0.201, answer 1.308"``.
    """
    return ", ".join(f"{stage} {of:.3f}" for stage, of in seconds.items() if of >= 0.0005)


def _peak_memory() -> int | None:
    try:
        with open("/proc/self/status") as status:
            return next((int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM")), None)
    except OSError:  # not on Linux
        return None
