"""Memory: what rows may take of it, and what allocators keep that nobody uses any more."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .._windrow import keep_at_most
from ..settings import Options

__all__ = ["IN_MEMORY", "SHARED", "let_go", "room", "size", "task_limit"]

#: Rows are sorted and answered in memory up to this share of the limit: their keys and what calls read are copied once
#: into one piece and once into order, and then there are the results.
IN_MEMORY = 4

#: What a task with a share of a partition may take where nobody set a limit: its worker stays below a gigabyte.
SHARED = 896 << 20

# Bytes of a view of a text.
_VIEW = 16

# The share of the limit that may be kept for the next allocation.
_KEPT = 32

# The least share of the limit that is left for rows, whatever the process holds beside them.
_LEAST = 4


def let_go() -> None:
    """Have allocators give back what they keep for later: Arrow's own, and glibc's, of which each thread has a heap.

    It takes milliseconds, so it is for the end of a step that let go of much.
    """
    pa.default_memory_pool().release_unused()
    _trim()(0)


@cache
def _trim() -> Callable[[int], Any]:
    try:
        trim: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not glibc
        return bool
    return trim


def size(batch: pa.RecordBatch, seen: set[int]) -> int:
    """Say how many bytes a batch's rows take; texts that views of several batches share count once.

    Parameters
    ----------
    batch
        The batch.
    seen
        The addresses of buffers of text that have been counted; it grows.

    Returns
    -------
    int
        Bytes.
    """
    total = 0
    for column in batch.columns:
        if pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type):
            total += _list_view_size(column)
            continue
        if not (pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type)):
            total += _size(column)
            continue
        total += len(column) * _VIEW
        for buffer in column.buffers()[2:]:
            if buffer is not None and buffer.address not in seen:
                seen.add(buffer.address)
                total += buffer.size
    return total


def _size(column: pa.Array) -> int:
    try:
        return int(column.nbytes)
    except pa.ArrowException:  # nobody has looked yet whether it is sound
        return sum(b.size for b in column.buffers() if b is not None)


def _list_view_size(column: pa.Array) -> int:
    """Give the bytes of a slice of list views: a share of the values, which it has in common with other slices."""
    values = column.values
    slots = column.offsets.nbytes + column.sizes.nbytes
    shown = pc.sum(column.sizes.filter(column.is_valid())).as_py() or 0
    return int(slots + _size(values) * min(shown, len(values)) // max(len(values), 1))


def room(limit: int, rows: int = 0) -> int:
    """Say how many bytes rows may take so that the process stays within a limit; it keeps little for later from now on.

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
    keep_at_most(limit // _KEPT)
    let_go()  # a worker may have run before
    try:
        with open("/proc/self/statm") as statm:
            held = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # not on Linux
        held = 0
    return max(limit - held + rows, limit // _LEAST)


def task_limit(options: Options) -> int:
    """Say how many bytes a task may hold of a partition that is shared out; there is a limit though nobody set one."""
    return room(options.memory_limit or SHARED)
