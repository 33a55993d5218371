"""Immutable values: what a dataclass is made of, asked for once for each class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

__all__ = ["parts_of", "replace"]

Value = TypeVar("Value")


def replace(value: Value, **changed: Any) -> Value:
    """Give a dataclass's value with some of its fields changed, as :func:`dataclasses.replace` does.

    That function looks at every field again each time.

    Parameters
    ----------
    value
        The value, of a dataclass all of whose fields ``__init__`` takes but those that are made later.
    **changed
        The other values, by the names of their fields.

    Returns
    -------
    same type as ``value``
        The new value.

    Examples
    --------
    >>> import windrow as wr
    >>> replace(wr.col("x"), name="y")
    Column(name='y')
    """
    kind: Any = type(value)
    names, get = _taken(kind)
    made: Value = kind(**{**dict(zip(names, get(value), strict=True)), **changed})
    return made


def parts_of(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """Give what reads attributes off a value, as a tuple even of one."""
    if len(names) == 1:
        [name] = names
        return lambda value: (getattr(value, name),)
    return attrgetter(*names)


@cache
def _taken(kind: type) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    names = tuple(f.name for f in fields(kind) if f.init)
    return names, parts_of(names)
