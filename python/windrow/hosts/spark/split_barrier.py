"""One partition over many tasks: each has a range of its order, and hears from the others what lies around it.

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

__all__ = ["at_once", "gathered", "patience"]

# Spark itself waits for 365 days, also for a task that cannot come: one that lost its shuffle files needs the slots
# of those that wait for it. So these give up some time, and the stage starts again.
_PATIENCE = 3600

# Tasks that are started at once have begun by then.
_START = 60


def at_once(operator: Any, tasks: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Give the operator as what tasks of one barrier stage run, all of them or none.

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
            with patience(_START):
                context.barrier()
        yield from operator(batches)

    run.__name__ = operator.__name__
    return run


def gathered(summaries: Sequence[bytes]) -> tuple[list[bytes], int]:
    """Exchange summaries of sections with the other tasks of a barrier stage.

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
    with patience(_PATIENCE):  # what is gathered is text
        told = context.allGather(",".join(b64encode(s).decode() for s in summaries))
    each = [[b64decode(one) for one in text.split(",") if one] for text in told]
    return [s for of_task in each for s in of_task], sum(map(len, each[: context.partitionId()]))


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Wait within a block no longer than so many seconds, where that can be had: on the main thread, not on Windows.

    An alarm that somebody else has set comes when it should, or right behind the block.

    Parameters
    ----------
    seconds
        How long.

    Raises
    ------
    WindrowError
        It took longer.
    """

    def give_up(*_: object) -> None:
        raise WindrowError(
            f"the other tasks of this barrier stage have not come for {seconds} s: one of them may wait for a slot to "
            "run again; spread='never' does without such a stage"
        )

    try:
        before = signal.getsignal(signal.SIGALRM)
        if before is not None:  # as it is for a handler of C's, which Python could not put back
            signal.signal(signal.SIGALRM, give_up)
    except (AttributeError, ValueError):
        before = None
    if before is None:
        yield
        return
    begun = monotonic()
    left, every = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(left - (monotonic() - begun), 0.001), every)
