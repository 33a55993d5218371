"""The figures of the runs in Spark's tasks, brought to the driver by an accumulator."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from ..._execute.run_metrics import Metrics
from ...exceptions import UnsupportedError
from .session import context_of

__all__ = ["Heard", "computed", "listening"]


class Heard:
    """What an operator tells its figures to, in a task, and where the driver reads them.

    Parameters
    ----------
    context
        The SparkContext.
    """

    def __init__(self, context: Any) -> None:
        self._accumulator = context.accumulator([], _Appended())

    def __call__(self, metrics: Metrics) -> None:
        """Send the figures of a run."""
        self._accumulator.add([metrics])

    @property
    def runs(self) -> list[Metrics]:
        """The figures that have come, by partition."""
        return sorted(self._accumulator.value, key=lambda m: m.partition or 0)


class _Appended:
    """How the accumulator adds: it is asked for these two."""

    def zero(self, value: list[Metrics]) -> list[Metrics]:
        return []

    def addInPlace(self, value: list[Metrics], more: list[Metrics]) -> list[Metrics]:  # noqa: N802 - Spark's name
        return [*value, *more]


def listening(session: Any) -> Any:
    """Give the context whose tasks can be listened to.

    Parameters
    ----------
    session
        The Spark session.

    Returns
    -------
    pyspark.SparkContext
        Its context.

    Raises
    ------
    UnsupportedError
        On Spark Connect.
    """
    context = context_of(session)
    if context is None:
        raise UnsupportedError(
            "explain(metrics=True) hears of tasks by an accumulator, which Spark Connect has not; the tasks log the "
            "same figures at INFO to the logger 'windrow'"
        )
    return context


def computed(frame: Any) -> float:
    """Compute all rows of a frame, keep none, and say how many seconds that took.

    Parameters
    ----------
    frame
        The DataFrame.

    Returns
    -------
    float
        Seconds.
    """
    begun = perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return perf_counter() - begun
