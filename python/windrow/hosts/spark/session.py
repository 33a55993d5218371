"""What a Spark session says: its settings, its slots, and the user's line that asked."""

from __future__ import annotations

import sys
from typing import Any

from ..._model.replace import replace
from ...settings import Options, current
from .jvm import concurrent_tasks, is_classic_session
from .types import session_timezone

__all__ = [
    "BATCH_BYTES",
    "MOST_BATCH_BYTES",
    "caller_stack_level",
    "context_of",
    "is_on",
    "is_sparks",
    "partitions",
    "session_options",
    "slots",
    "spark_setting",
]

#: The setting that limits the bytes of a batch on its way to Python, and the most that Spark takes. With a lower limit
#: Spark adds up the bytes of all columns after each row, which takes as long as writing the row.
BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
MOST_BATCH_BYTES = str(2**31 - 1)


def context_of(session: Any) -> Any:
    """Give a session's SparkContext; None on Spark Connect, where the client has none.

    Parameters
    ----------
    session
        The Spark session.

    Returns
    -------
    pyspark.SparkContext or None
        The context.
    """
    return session.sparkContext if is_classic_session(session) else None


def spark_setting(session: Any, key: str) -> str | None:
    """Give the value of a setting that Spark uses, be it Spark's default; None where this release has no such setting.

    ``conf.get(key, default)`` would give that default, not Spark's.
    """
    try:
        return str(session.conf.get(key))
    except Exception as error:  # of another class on each release and on Connect
        if key not in str(error):
            raise
        return None


def is_on(session: Any, key: str) -> bool:
    """Whether a setting is true; one that this release lacks is not."""
    return (spark_setting(session, key) or "").strip().lower() == "true"


def session_options(session: Any) -> Options:
    """Give the settings in force, with the session's where nothing else was asked for."""
    options = current()
    if options.ansi is None:
        options = replace(options, ansi=is_on(session, "spark.sql.ansi.enabled"))
    return replace(options, timezone=session_timezone(session))


def is_sparks(session: Any) -> bool:
    """Whether Spark runs a session's plans; Sail's server of Spark Connect has no master."""
    return is_classic_session(session) or spark_setting(session, "spark.master") is not None


def caller_stack_level() -> int:
    """Count the frames from who asks up to the first that is not windrow's, which a warning is about."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level


def slots(session: Any) -> int | None:
    """Say how many tasks can run at once.

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
    return concurrent_tasks(context) or None


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
