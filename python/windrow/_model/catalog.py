"""The functions that windrow has, as the native module lists them."""

from __future__ import annotations

from functools import cache

from .._windrow import functions

__all__ = ["function_names"]


@cache
def function_names() -> frozenset[str]:
    """Give the names and aliases of windrow's own functions."""
    return frozenset(name for f in functions() for name in (f["name"], *f["aliases"]))
