"""The exchanges that windrow asks Spark for: built here, decided in ``exchange_sharing`` and ``clustering``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._plan.bound import SortKey
from .scalars import quoted

__all__ = ["ONE_PARTITION", "evenly_hashed", "exchanged", "range_partition", "sorted_by"]

#: The warning that all rows move to one task: which calls, and why they are not split across tasks.
ONE_PARTITION = (
    "No Partition Defined for Window operation! Moving all data to a single partition, this can cause serious "
    "performance degradation: {calls}. Add partition_by, if the question allows it{why}"
)

# Spark 4.0 knows no common class of theirs, and no times of day.
_DATETIMES = tuple(
    getattr(T, name) for name in ("DateType", "TimestampType", "TimestampNTZType", "TimeType") if hasattr(T, name)
)


def exchanged(frame: Any, keys: Sequence[Any], tasks: int | None, functions: Any, *, removable: bool) -> Any:
    """Put an exchange upon a frame.

    Parameters
    ----------
    frame
        The DataFrame.
    keys
        Columns; none: all rows to one task.
    tasks
        Into how many tasks; None: as many as the session says.
    functions
        PySpark's functions.
    removable
        Whether Spark may take the exchange away where the frame is partitioned by it already.

    Returns
    -------
    pyspark.sql.DataFrame
        The frame with its rows spread by the keys.
    """
    if not keys:
        return frame.repartition(1)
    by = [*keys] if removable else [*keys, functions.lit(0)]
    return frame.repartition(*by) if tasks is None else frame.repartition(tasks, *by)


def range_partition(frame: Any, keys: Sequence[SortKey], tasks: int, functions: Any) -> Any:
    """Share the rows of a frame out in ranges.

    Parameters
    ----------
    frame
        The DataFrame.
    keys
        The order keys, partition keys first; none: shares of any rows.
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
        by = [functions.col(quoted(name)) for name in evenly_hashed(frame.schema)]
        return frame.repartition(tasks, *(by or [functions.spark_partition_id()]))
    return frame.repartitionByRange(tasks, *[sorted_by(key, functions) for key in keys])


def evenly_hashed(schema: T.StructType) -> list[str]:
    """Name the columns whose hashes spread rows most likely evenly; Spark sorts before a round-robin repartition."""
    kinds = (T.NumericType, T.StringType, *_DATETIMES)
    return [f.name for f in schema.fields if isinstance(f.dataType, kinds)]


def sorted_by(key: SortKey, functions: Any) -> Any:
    """Write an order key as a Column.

    Parameters
    ----------
    key
        The key.
    functions
        PySpark's functions.

    Returns
    -------
    pyspark.sql.Column
        The column, and how it sorts.
    """
    direction, nulls = "desc" if key.descending else "asc", "first" if key.nulls_first else "last"
    return getattr(functions.col(quoted(key.column)), f"{direction}_nulls_{nulls}")()
