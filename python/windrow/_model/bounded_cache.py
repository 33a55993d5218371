"""A cache of so many entries at most: of those, the ones that were asked for last."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["BoundedCache"]

V = TypeVar("V")


class BoundedCache(Generic[V]):
    """Values by key, for all threads. It has no lock, which a fork could find taken for ever.

    Parameters
    ----------
    size
        The number of entries.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[Hashable, V] = {}

    def get(self, key: Hashable) -> V | None:
        """Return the value of a key; None if it is not kept."""
        value = self._entries.pop(key, None)
        if value is not None:
            self._entries[key] = value  # which makes it the last
        return value

    def put(self, key: Hashable, value: V) -> None:
        """Keep a value, in place of the one that was not asked for the longest."""
        self._entries[key] = value
        while len(self._entries) > self._size:
            try:
                self._entries.pop(next(iter(self._entries)), None)
            except (RuntimeError, StopIteration):  # another thread has changed the entries, and looks after them
                return
