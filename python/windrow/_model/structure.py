"""Values of the model as canonical text: equal values, and no others, have equal text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from itertools import chain
from types import NoneType
from typing import Any

from .bounded_cache import BoundedCache
from .intervals import Interval
from .replace import attribute_getter

__all__ = ["ALIAS", "SCALARS", "Structural", "canonical_text"]

SCALARS = (bool, int, float, Decimal, str, bytes, dt.date, dt.time, dt.timedelta, Interval)
#: The metadata of a field that names an item's column, and is no part of what the item computes.
ALIAS = {"alias": True}

# Texts by the ids of values; with each the value, so that no other has its id.
_KEPT: BoundedCache[tuple[Any, str]] = BoundedCache(64)

# Types whose repr differs from that of an equal value of another type.
_EXACT_REPR = frozenset((NoneType, bool, int, float, str))


class Structural:
    """A value that equals those of the same type and structure."""

    __slots__ = ()

    def equals(self, other: object) -> bool:
        """Whether another value is of the same type and made of the same parts; 1, 1.0 and True are different parts.

        Parameters
        ----------
        other
            Any value.

        Returns
        -------
        bool
            False also for values of other types.

        Examples
        --------
        >>> import windrow as wr
        >>> (wr.col("a") + 1).equals(wr.col("a") + 1)
        True
        """
        if self is other:
            return True
        return (
            type(self) is type(other)
            and getattr(self, "name", None) == getattr(other, "name", None)
            and canonical_text(self) == canonical_text(other)
        )

    def __eq__(self, other: object) -> bool:
        """Whether another value is of the same type and made of the same parts."""
        return self.equals(other) if isinstance(other, Structural) else NotImplemented

    def __hash__(self) -> int:
        """Hash what equality compares."""
        return hash(canonical_text(self))


def canonical_text(value: Any) -> str:
    """Write a value as text, with the types of its literals, and without aliases.

    Parameters
    ----------
    value
        An expression, a window or a part of one.

    Returns
    -------
    str
        The text; an object of a host or a function of the user's is written as its token.
    """
    parts: list[str] = []
    cls: type = type(value)
    _writer(cls)(value, parts.append)
    return "".join(parts)


@cache
def _writer(cls: type) -> Callable[[Any, Callable[[str], Any]], Any]:
    """Return the function that writes values of a class; cached, as every call of every frame needs it."""
    name = cls.__name__
    if cls is NoneType or issubclass(cls, SCALARS):
        return lambda value, write: write(f"{name} {value!r}")
    if issubclass(cls, (tuple, list)):
        return lambda values, write: _write(values, "", write)
    if is_dataclass(cls) and not any(f.name == "token" for f in fields(cls)):
        parts = attribute_getter(tuple(f.name for f in fields(cls) if f.compare and not f.metadata.get("alias")))

        def write_parts(value: Any, write: Callable[[str], Any]) -> Any:
            _write(parts(value), name, write)

        return _keeping(write_parts) if getattr(cls, "text_is_kept", False) else write_parts
    if issubclass(cls, Mapping):
        # in the order of their names: a parser finds calls in another order than operators do
        return lambda value, write: _write(chain.from_iterable((n, value[n]) for n in sorted(value)), name, write)
    if hasattr(cls, "kind") or is_dataclass(cls):  # a user's function, an expression of a host
        return lambda value, write: write(f"{name} {value.token}")
    # a repr may be cut short
    return lambda value, write: write(f"{name} {id(value)} {value!r}")


def _keeping(writer: Callable[[Any, Callable[[str], Any]], Any]) -> Callable[[Any, Callable[[str], Any]], Any]:
    """Return a writer that keeps what it wrote, of values that many others share."""

    def write_once(value: Any, write: Callable[[str], Any]) -> Any:
        kept = _KEPT.get(id(value))
        if kept is None:
            parts: list[str] = []
            writer(value, parts.append)
            kept = value, "".join(parts)
            _KEPT.put(id(value), kept)
        write(kept[1])

    return write_once


def _write(values: Iterable[Any], name: str, write: Callable[[str], Any]) -> None:
    write(f"{name}(")
    for value in values:
        cls: type = type(value)
        if cls in _EXACT_REPR:
            write(repr(value))
        else:
            _writer(cls)(value, write)
        write(",")
    write(")")
