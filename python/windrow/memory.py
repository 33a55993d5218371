"""Memory that nobody uses any more, and that allocators keep: given back, where a process has a limit to keep."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa

__all__ = ["let_go"]


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
