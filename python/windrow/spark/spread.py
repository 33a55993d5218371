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
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..exceptions import WindrowError
from .jvm import barrier_slots
from .plan import context_of, quoted

__all__ = ["at_once", "gathered", "parted", "partitions", "patience", "ranged", "slots", "sorted_by"]

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
        before = signal.signal(signal.SIGALRM, give_up)
    except (AttributeError, ValueError):
        yield
        return
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def slots(session: Any) -> int | None:
    """Say how many tasks can run at once, and so be of one barrier stage.

    Parameters
    ----------
    session
        The Spark session.

    Returns
    -------
    int or None
        None where that cannot be known or relied on: on Spark Connect, and where executors come and go.
    """
    context = context_of(session)
    if context is None or context.getConf().get("spark.dynamicAllocation.enabled", "false").lower() == "true":
        return None
    return barrier_slots(context) or None


def partitions(session: Any) -> int:
    """Say into how many partitions an exchange parts rows.

    Parameters
    ----------
    session
        The Spark session.

    Returns
    -------
    int
        The session's setting.
    """
    return int(session.conf.get("spark.sql.shuffle.partitions"))


def ranged(frame: Any, keys: Sequence[dict[str, Any]], tasks: int, functions: Any) -> Any:
    """Share the rows of a frame out in ranges.

    Parameters
    ----------
    frame
        The DataFrame.
    keys
        The native order keys, partition keys first; none: shares of any rows.
    tasks
        How many ranges.
    functions
        PySpark's functions.

    Returns
    -------
    pyspark.sql.DataFrame
        The frame; rows of equal keys are in one range, and ranges come in the order of the keys.
    """
    if not keys:
        return frame.repartition(tasks, *_evenly(frame, [], functions))  # by turns Spark would sort the rows before
    return frame.repartitionByRange(tasks, *[sorted_by(key, functions) for key in keys])


def parted(frame: Any, keys: Sequence[str], functions: Any) -> Any:
    """End the stage that a frame's rows come from, by an exchange.

    Parameters
    ----------
    frame
        The DataFrame.
    keys
        Columns by which rows are spread evenly, most likely; none: any that can be hashed.
    functions
        PySpark's functions.

    Returns
    -------
    pyspark.sql.DataFrame
        The same rows.
    """
    return frame.repartition(*_evenly(frame, keys, functions))


def _evenly(frame: Any, keys: Sequence[str], functions: Any) -> list[Any]:
    """Give Columns whose hashes spread rows: of the keys that there are, else of whatever can be hashed."""
    plain = [
        f.name for f in frame.schema.fields if isinstance(f.dataType, (T.NumericType, T.StringType, T.DatetimeType))
    ]
    by = [functions.col(quoted(name)) for name in [k for k in keys if k in frame.columns] or plain]
    return by or [functions.spark_partition_id()]


def sorted_by(key: dict[str, Any], functions: Any) -> Any:
    """Write an order key as a Column.

    Parameters
    ----------
    key
        The native key.
    functions
        PySpark's functions.

    Returns
    -------
    pyspark.sql.Column
        The column, and how it sorts.
    """
    way, nulls = "desc" if key["descending"] else "asc", "first" if key["nulls_first"] else "last"
    return getattr(functions.col(quoted(key["column"])), f"{way}_nulls_{nulls}")()
