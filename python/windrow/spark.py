"""PySpark: the windows that stand in a DataFrame's plan. Works without PySpark up to its first use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from .exceptions import SpecError, short_traceback
from .hosts.base import host_of
from .settings import Engine
from .typing import Explanation, SparkFrame, SparkFrameT, SparkSession

__all__ = ["accelerate", "accelerated", "check", "disable", "enable", "explain"]


@short_traceback
def enable(session: SparkSession[Any], *, engine: Engine | None = None) -> None:
    """Let windrow compute the windows of every query of a session from now on.

    SQL text, DataFrames, subqueries, views, caches, writes and ``foreachBatch`` alike: windows are replaced at the end
    of Spark's own optimizer, so filters, limits and columns are where Spark would have them. Columns keep their ids,
    types and nullability, rows the order of Spark's windows, and plans have no more exchanges than Spark's (windows of
    all rows that are split across tasks have one for each of their orders, and no order of rows). What
    windrow cannot compute as Spark does is left to Spark, and a warning names each reason once (see :func:`explain`).
    Other sessions are not touched.

    Parameters
    ----------
    session
        A session of Spark Classic, 3.5 to 4.3.
    engine
        ``"windrow"``: windrow computes whatever it can; ``"auto"``: calls that Spark computes at low cost stay with
        Spark; None: what the settings say. All other settings are those in force at this call, too.

    Raises
    ------
    UnsupportedError
        On Spark Connect, and on a release of Spark that windrow does not know.

    Notes
    -----
    Before the first windows are replaced, one small job compares the windrow of the executors that its tasks reach
    with the driver's; if they differ, all windows stay with Spark, and a warning says so. An exception while a
    query is planned leaves Spark's plan. ``spark.sql.execution.arrow.maxBytesPerBatch`` is raised to its maximum
    for the session, unless it was set: Spark otherwise measures its buffers at each row (the logger ``windrow``
    says so at level INFO). :func:`disable` restores all of it. Planning a query with windows takes some 30 ms longer.
    A window that another call of windrow's has left to
    Spark (``engine="spark"``) is a window of Spark's like any other.

    Examples
    --------
    >>> import windrow as wr
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> wr.spark.enable(spark)  # doctest: +SKIP
    >>> spark.sql("SELECT shop, day, sum(amount) OVER (PARTITION BY shop ORDER BY day) AS total FROM sales")
    ... # doctest: +SKIP
    """
    from .hosts.spark import session_rule  # which imports PySpark

    session_rule.enable(session, engine)


@short_traceback
def disable(session: SparkSession[Any]) -> None:
    """Undo :func:`enable`: the session's queries are planned by Spark alone again.

    Streams that were started in between keep windrow, as each has a copy of the session.

    Parameters
    ----------
    session
        A session of Spark Classic; one that was not enabled stays as it is.

    Raises
    ------
    UnsupportedError
        As for :func:`enable`.

    Examples
    --------
    >>> import windrow as wr
    >>> wr.spark.disable(spark)  # doctest: +SKIP
    """
    from .hosts.spark import session_rule  # which imports PySpark

    session_rule.disable(session)


@short_traceback
def accelerated(session: SparkSession[Any], *, engine: Engine | None = None) -> AbstractContextManager[None]:
    """Let windrow compute the windows of a session's queries within a block; afterwards the session is as before.

    What counts is when a query is planned, which is when it is first run, explained or written. The session is one for
    all threads: a block of one thread holds for the others, too.

    Parameters
    ----------
    session, engine
        As for :func:`enable`.

    Returns
    -------
    context manager
        The block.

    Raises
    ------
    UnsupportedError
        As for :func:`enable`.

    Examples
    --------
    >>> import windrow as wr
    >>> with wr.spark.accelerated(spark):  # doctest: +SKIP
    ...     spark.table("daily_totals").write.parquet("totals")
    """
    from .hosts.spark import session_rule  # which imports PySpark

    return session_rule.accelerated(session, engine)


@short_traceback
def check(session: SparkSession[Any]) -> list[str]:
    """Run one small job that looks whether a session's executors have the driver's windrow.

    Parameters
    ----------
    session
        A session of Spark Classic.

    Returns
    -------
    list of str
        What is wrong, a line for each other version and each error of importing it; empty where all is well.

    Examples
    --------
    >>> import windrow as wr
    >>> wr.spark.check(spark)  # doctest: +SKIP
    []
    """
    from .hosts.spark import session_rule  # which imports PySpark

    return session_rule.executor_faults(session)


@short_traceback
def explain(frame: SparkFrame) -> Explanation:
    """Say of each window in a DataFrame's plan who computes it, how, and why, as :func:`enable` decides it.

    It does not matter whether the session is enabled: the settings are those in force now. :func:`windrow.explain` of a
    DataFrame without calls gives the same.

    Parameters
    ----------
    frame
        A DataFrame of Spark Classic; none of its rows is read.

    Returns
    -------
    Explanation
        It prints as text, and as tables in a notebook: a row for each window, and the stages that windrow makes of
        them. ``rows`` has one dict for each window.

    Raises
    ------
    UnsupportedError
        On Spark Connect, and on a release of Spark that windrow does not know.

    Examples
    --------
    >>> import windrow as wr
    >>> wr.spark.explain(spark.table("daily_totals"))  # doctest: +SKIP
    """
    from .hosts.spark import accelerate  # which imports PySpark

    return accelerate.explain(frame)


@short_traceback
def accelerate(frame: SparkFrameT) -> SparkFrameT:
    """Let windrow compute the windows that stand in a DataFrame's plan, whoever wrote them and wherever.

    Schema, nullability and results stay Spark's (the documentation lists where windrow differs on purpose: ties keep
    their order, for one). All else in the plan, above the windows and below, stays as it is. Windows that stand one
    upon the other and share a partition key run behind one exchange. What windrow cannot compute alike is left to
    Spark, and one warning names each such window with the reason. What costs Spark as little stays with it as well,
    unless ``wr.config(engine="windrow")`` is set.

    Parameters
    ----------
    frame
        A PySpark DataFrame of Spark Classic, 4.0 to 4.3, not streaming. Spark Connect keeps its plans on the server,
        out of reach; give ``wr.with_columns`` the window columns there.

    Returns
    -------
    pyspark.sql.DataFrame
        The same columns with the same ids: ``frame.v`` means column ``v`` of either. The frame itself, if it has no
        windows or none that windrow takes.

    Raises
    ------
    UnsupportedError
        On Spark Connect, on a release of Spark that windrow does not know, and for a streaming frame.

    Notes
    -----
    Windows that are added to the frame afterwards are Spark's. Filters on partition keys move below the windows as
    below Spark's, and what nobody reads is not computed; a bound of a rank (``rn <= 10``) is Spark's to know for its
    own windows alone, for which :func:`enable` leaves it in place. Data that was cached when ``accelerate`` was called
    is read from the cache. Windows inside subquery expressions (``IN (SELECT ...)``) are left to Spark.

    Examples
    --------
    >>> import windrow as wr
    >>> from pyspark.sql import SparkSession
    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> sales = spark.sql("SELECT shop, day, sum(amount) OVER (PARTITION BY shop ORDER BY day) AS total FROM sales")
    ... # doctest: +SKIP
    >>> wr.spark.accelerate(sales).write.parquet("totals")  # doctest: +SKIP
    """
    if host_of(frame).name != "spark":
        raise SpecError(f"accelerate() takes a PySpark DataFrame, not {type(frame).__name__}")
    from .hosts.spark import accelerate as plans  # which imports PySpark

    accelerated: SparkFrameT = plans.accelerate(frame)
    return accelerated
