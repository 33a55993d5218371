"""PySpark: the windows that stand in a DataFrame's plan. Works without PySpark up to its first use."""

from __future__ import annotations

from .exceptions import SpecError, short_traceback
from .hosts.base import host_of
from .typing import SparkFrameT

__all__ = ["accelerate"]


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
    Call it last: what is added to the frame afterwards is Spark's. Spark does not move a filter on a partition key, or
    a limit, below windrow's node as it does below its own; write such filters below the window. Data that was cached
    when ``accelerate`` was called is read from the cache. Windows inside subquery expressions (``IN (SELECT ...)``)
    are left to Spark.

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
