"""Conversions of calls to other libraries' expressions, which the libraries' hosts register."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .expressions import Item

__all__ = ["converted", "register_conversion"]

_CONVERSIONS: dict[str, Callable[[Any, Any], Any]] = {}


def register_conversion(host: str, convert: Callable[[Any, Any], Any]) -> None:
    """Register a host's conversion, which takes an item and a schema."""
    _CONVERSIONS[host] = convert


def converted(host: str, item: Item, schema: Any) -> Any:
    """Convert an item to an expression of a host, over the columns of a schema."""
    return _CONVERSIONS[host](item, schema)
