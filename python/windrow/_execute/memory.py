"""Memory: how much rows may use, and releasing what allocators retain."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .._windrow import keep_at_most
from ..settings import Options

__all__ = [
    "SORT_MEMORY_FACTOR",
    "SPLIT_TASK_LIMIT",
    "available_bytes",
    "batch_bytes",
    "default_limit",
    "held_bytes",
    "least_available",
    "process_memory",
    "release_unused",
    "releasing",
    "task_limit",
]

#: Sorting rows and computing calls takes this many times their bytes: keys and what calls read are copied once into one
#: piece and once into order, and then there are the results.
SORT_MEMORY_FACTOR = 4

#: What a task with a share of a partition may take where nobody set a limit: its worker stays below a gigabyte.
SPLIT_TASK_LIMIT = 896 << 20

# The bytes of a string view.
_VIEW_BYTES = 16

# Rows after which allocators are asked to release unused memory.
_TRIM_EVERY_ROWS = 1 << 18

# The fraction of the limit that may be retained for later allocations.
_RETAINED_DIVISOR = 32

# The minimum fraction of the limit for rows, however much memory the process uses for other things.
_MIN_ROWS_DIVISOR = 4


def release_unused() -> None:
    """Return unused memory of Arrow's and glibc's allocators to the system.

    This takes milliseconds, so call it at the end of steps that freed much memory.
    """
    pa.default_memory_pool().release_unused()
    _trim()(0)


def releasing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches, and release unused memory now and then.

    Parameters
    ----------
    batches
        Batches that are computed when they are asked for.

    Yields
    ------
    pyarrow.RecordBatch
        Each, in order.
    """
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        yield batch
        del batch
        if rows >= _TRIM_EVERY_ROWS:
            release_unused()
            rows = 0


@cache
def _trim() -> Callable[[int], Any]:
    try:
        trim: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not glibc
        return bool
    return trim


def batch_bytes(batch: pa.RecordBatch, seen: set[int]) -> int:
    """Return the bytes of a batch; text buffers shared by views of several batches count once.

    Parameters
    ----------
    batch
        The batch.
    seen
        The addresses of text buffers already counted; updated in place.

    Returns
    -------
    int
        Bytes.
    """
    total = 0
    for column in batch.columns:
        if pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type):
            total += _list_view_bytes(column)
            continue
        if not (pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type)):
            total += _array_bytes(column)
            continue
        total += len(column) * _VIEW_BYTES
        for buffer in column.buffers()[2:]:
            if buffer is not None and buffer.address not in seen:
                seen.add(buffer.address)
                total += buffer.size
    return total


def _array_bytes(column: pa.Array) -> int:
    try:
        return int(column.nbytes)
    except pa.ArrowException:  # the array is not validated yet
        return sum(b.size for b in column.buffers() if b is not None)


def _list_view_bytes(column: pa.Array) -> int:
    """Estimate the bytes of a slice of list views, whose values are shared with other slices."""
    values = column.values
    slots = column.offsets.nbytes + column.sizes.nbytes
    shown = pc.sum(column.sizes.filter(column.is_valid())).as_py() or 0
    return int(slots + _array_bytes(values) * min(shown, len(values)) // max(len(values), 1))


def available_bytes(limit: int, rows: int = 0) -> int:
    """Return how many bytes rows may use so that the process stays within a limit.

    Also lowers the limit of what the allocator retains (``keep_at_most``) for the rest of the process.

    Parameters
    ----------
    limit
        The limit for the process, in bytes.
    rows
        The bytes of rows that it holds already.

    Returns
    -------
    int
        What the process does not hold for other things, but at least a quarter of the limit.
    """
    keep_at_most(limit // _RETAINED_DIVISOR)
    release_unused()  # a worker may have run before
    return max(limit - (held_bytes() or 0) + rows, least_available(limit))


def least_available(limit: int) -> int:
    """Return the bytes of a limit that rows may use however much else the process holds."""
    return limit // _MIN_ROWS_DIVISOR


def held_bytes() -> int | None:
    """Return the memory that the process holds; None where the system does not tell."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # not on Linux
        return None


def default_limit() -> int | None:
    """Return the limit where nobody set one: half of the memory that the process may use; None if that is unknown."""
    memory = process_memory()
    return None if memory is None else memory // 2


@cache
def process_memory() -> int | None:
    """Return how many bytes the process may use: the machine's, or less if its control groups allow less."""
    found = []
    with suppress(AttributeError, OSError, ValueError):  # Windows has no sysconf
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in _group_limit_files():
        with suppress(OSError, ValueError):  # "max" is no number
            found.append(int(path.read_text()))
    return min((number for number in found if number > 0), default=None)


def _group_limit_files() -> Iterator[Path]:
    """List the files with the limits of the process's control groups and of those around them, of both versions."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    root = Path("/sys/fs/cgroup")
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        mount, name = (root / "memory", "memory.limit_in_bytes") if controllers else (root, "memory.max")
        parts = [part for part in group.split("/") if part not in ("", "..")]
        for depth in range(len(parts) + 1):
            yield mount.joinpath(*parts[:depth], name)


def task_limit(options: Options) -> int:
    """Return how many bytes a task may hold of a split partition; without ``memory_limit`` there is a default."""
    return available_bytes(options.memory_limit or SPLIT_TASK_LIMIT)
