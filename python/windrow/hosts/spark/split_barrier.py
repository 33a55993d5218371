"""Splits a partition across the tasks of a barrier stage, which exchange section summaries.

    rows -> ranges of (partition keys, order keys), equal keys in one task -> barrier stage: each task sorts its rows,
    sums up its sections, gathers what the others have summed up, and answers its own rows

Spark starts the tasks of a barrier stage all at once, so there are as many as the cluster has slots. A task holds the
rows of its share up to the memory limit, and spills the rest. Such a stage is all or nothing: with ``limit``, ``show``,
``union`` or ``coalesce`` in it Spark refuses it. So it ends with an exchange, behind which they are.
"""

from __future__ import annotations

import signal
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from ...exceptions import WindrowError

__all__ = ["all_gather", "barrier_task", "barrier_timeout"]

# Spark itself waits for 365 days, also for a task that cannot come: one that lost its shuffle files needs the slots
# of those that wait for it. So these give up some time, and the stage starts again.
_EXCHANGE_SECONDS = 3600

# Seconds within which all tasks of a barrier stage have started.
_START_SECONDS = 60


def barrier_task(operator: Any, tasks: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the operator as a function for the tasks of one barrier stage, all of which must run.

    When a task dies and another of its stage is done at that moment, Spark may start the stage again without the other,
    and have the rest wait for it for 365 days. Fewer tasks than asked for may also be all there are, where a range of
    keys would be empty; so they meet as they begin.

    Parameters
    ----------
    operator
        From batches to batches.
    tasks
        The most there can be.

    Returns
    -------
    callable
        From batches to batches; it raises a WindrowError where tasks are missing, whereupon Spark starts all again.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import BarrierTaskContext

        context = BarrierTaskContext.get()
        if len(context.getTaskInfos()) < tasks:
            with barrier_timeout(_START_SECONDS):
                context.barrier()
        yield from operator(batches)

    run.__name__ = operator.__name__
    return run


def all_gather(summaries: Sequence[bytes]) -> tuple[list[bytes], int]:
    """Exchange section summaries with the other tasks of a barrier stage; an ``ExchangeSummaries``.

    Parameters
    ----------
    summaries
        Those of this task, in order.

    Returns
    -------
    tuple
        Those of all tasks, in order, and how many are of tasks before this one.
    """
    from pyspark import BarrierTaskContext

    context = BarrierTaskContext.get()
    with barrier_timeout(_EXCHANGE_SECONDS):  # what is gathered is text
        texts = context.allGather(",".join(b64encode(s).decode() for s in summaries))
    summaries_by_task = [[b64decode(one) for one in text.split(",") if one] for text in texts]
    return [s for of_task in summaries_by_task for s in of_task], sum(
        map(len, summaries_by_task[: context.partitionId()])
    )


@contextmanager
def barrier_timeout(seconds: int) -> Iterator[None]:
    """Limit the seconds that a block may take, by SIGALRM: on the main thread, not on Windows.

    An alarm set by others still fires at its time, or right after the block.

    Parameters
    ----------
    seconds
        How long.

    Raises
    ------
    WindrowError
        It took longer.
    """

    def raise_timeout(*_: object) -> None:
        raise WindrowError(
            f"the other tasks of this barrier stage have not come for {seconds} s: one of them may wait for a slot to "
            "run again; spread='never' does without such a stage"
        )

    try:
        previous = signal.getsignal(signal.SIGALRM)
        if previous is not None:  # as it is for a handler of C's, which Python could not put back
            signal.signal(signal.SIGALRM, raise_timeout)
    except (AttributeError, ValueError):
        previous = None
    if previous is None:
        yield
        return
    begun = monotonic()
    seconds_left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if seconds_left:
            signal.setitimer(signal.ITIMER_REAL, max(seconds_left - (monotonic() - begun), 0.001), interval)
