"""Skewed keys: partitions so large that the other tasks wait for the one that has them.

    the first rows of each of the source's partitions -> hashes of their keys -> the share of the most frequent one

Only what is cheap to read is sampled: files, tables in memory, with projections and filters upon them. A sample above a
join or an aggregate would compute these once more, which is for the user to want (``spread="always"``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .jvm import analyzed_plan, has_windows, is_classic, optimized_plan, plan_bytes
from .scalars import quoted
from .scan_properties import is_cheap
from .session import partitions, slots

__all__ = ["skewed_key_reason"]

# Rows of each of the source's partitions that are looked at, and the most frequent keys of these that are told.
_SAMPLE_ROWS = 20_000
_MAX_REPORTED_KEYS = 64

# A partition of fewer bytes is no burden, whatever the limit of memory, where nobody set one.
_LARGE_BYTES = 1 << 30

# A key is skewed if its task has more than this many times the rows of an average task.
_SKEW_FACTOR = 2


def skewed_key_reason(frame: Any, keys: Sequence[str], limit: int | None, functions: Any) -> str:
    """Look for a skewed key in a DataFrame that is large enough to have one.

    Parameters
    ----------
    frame
        The DataFrame, Classic; of Connect's nothing is known.
    keys
        The columns of the partition keys.
    limit
        The memory limit of a task in bytes, if there is one.
    functions
        PySpark's functions.

    Returns
    -------
    str
        The reason to split the most frequent key of a sample; empty if none is skewed. A job is run if Spark's
        statistics say that the frame has more bytes than the limit (1 GiB without one), and sampling it is cheap.
    """
    large = limit or _LARGE_BYTES
    if not is_classic(frame):
        return ""
    size = _size(frame)
    if size is None or size <= large:
        return ""
    share, rows = _sample_top_key(frame, keys, functions)
    tasks = slots(frame.sparkSession) or partitions(frame.sparkSession)
    too_large = share * size > large and share * tasks > 1
    if not too_large and share * tasks <= _SKEW_FACTOR:
        return ""
    return f"as {100 * share:.0f} % of {rows:,} sampled rows have one key"


def _size(frame: Any) -> int | None:
    """Give the bytes that Spark expects a frame to have; None where a part of it is not cheap to read."""
    if has_windows(analyzed_plan(frame)):  # so that a plan to which many are added is not optimized for each
        return None
    plan = optimized_plan(frame)
    return plan_bytes(plan) if is_cheap(plan) else None


def _sample_top_key(frame: Any, keys: Sequence[str], functions: Any) -> tuple[float, int]:
    """Give the share of the most frequent key, and of how many rows."""
    hashed = frame.select(functions.xxhash64(*[functions.col(quoted(k)) for k in keys]).alias("key"))
    key_counts = hashed.mapInArrow(_counts, "key bigint, times bigint").collect()
    rows = sum(row["times"] for row in key_counts if row["key"] is None)
    times: dict[int, int] = {}
    for row in key_counts:
        if row["key"] is not None:
            times[row["key"]] = times.get(row["key"], 0) + row["times"]
    return max(times.values(), default=0) / max(rows, 1), rows


def _counts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the most frequent keys of a task's first rows; a row without a key has the number of all."""
    chunks = []
    rows = 0
    for batch in batches:
        chunks.append(batch.column(0))
        rows += batch.num_rows
        if rows >= _SAMPLE_ROWS:
            break  # the rest of the partition is not read
    if not rows:
        return
    counts = pc.value_counts(pa.chunked_array(chunks))
    top = pc.top_k_unstable(counts.field(1), min(_MAX_REPORTED_KEYS, len(counts)))
    found = counts.take(top)
    keys = pa.concat_arrays([pa.nulls(1, pa.int64()), found.field(0)])
    yield pa.record_batch([keys, pa.concat_arrays([pa.array([rows]), found.field(1)])], names=["key", "times"])
