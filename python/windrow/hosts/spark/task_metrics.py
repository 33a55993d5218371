"""The figures of the runs in Spark's tasks, brought to the driver by an accumulator."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from ..._execute.run_metrics import Metrics
from ...exceptions import UnsupportedError
from .session import context_of

__all__ = ["MetricsAccumulator", "metrics_context", "run_to_noop_sink"]


class MetricsAccumulator:
    """Receives the metrics of an operator's runs in tasks; the driver reads them by :attr:`runs`.

    Parameters
    ----------
    context
        The SparkContext.
    """

    def __init__(self, context: Any) -> None:
        self._accumulator = context.accumulator([], _ListParam())

    def __call__(self, metrics: Metrics) -> None:
        """Send the figures of a run."""
        self._accumulator.add([metrics])

    @property
    def runs(self) -> list[Metrics]:
        """The figures that have come, by partition."""
        return sorted(self._accumulator.value, key=lambda m: m.partition or 0)


class _ListParam:
    """The accumulator's parameter: it concatenates lists."""

    def zero(self, value: list[Metrics]) -> list[Metrics]:
        return []

    def addInPlace(self, value: list[Metrics], more: list[Metrics]) -> list[Metrics]:  # noqa: N802 - Spark's name
        return [*value, *more]


def metrics_context(session: Any) -> Any:
    """Return the context of a session, for an accumulator of metrics.

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


def run_to_noop_sink(frame: Any) -> float:
    """Write all rows of a frame to the noop sink, and return how many seconds that took.

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
