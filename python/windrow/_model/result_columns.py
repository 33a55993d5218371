"""The hidden column that holds a call's result: its place.

A place is made of what its call is made of, so equal calls have one place and are computed once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import chain
from types import NoneType
from typing import Any

from .calls import Call
from .expressions import SCALARS, Host
from .replace import parts_of

__all__ = ["place", "without_places"]

_PLACE = "__windrow_w"

# Of these types repr tells which one it is.
_TOLD = frozenset((NoneType, bool, int, float, str))


def is_place(name: str) -> bool:
    """Whether a name is one that :func:`place` gives."""
    return name.startswith(_PLACE)


def place(call: Call) -> str:
    """Name the column that will hold a call's result: the same name for equal calls, and for no others.

    Parameters
    ----------
    call
        The call; its alias does not matter.

    Returns
    -------
    str
        The name.
    """
    if call.place is None:
        at = _PLACE + hashlib.blake2b(_structure(call).encode(), digest_size=8).hexdigest()
        object.__setattr__(call, "place", at)
        return at
    return call.place


def without_places(message: str) -> str:
    """Give a host's message about an expression without the names of hidden columns, which no user has written."""
    return re.sub(f"{_PLACE}[0-9a-f]{{16}}", "a window call", message)


def _structure(call: Call) -> str:
    """Write a call down with the types of its literals: 1, 1.0 and True are equal in Python."""
    written: list[str] = []
    _writer(Call)(call, written.append)
    return "".join(written)


@cache
def _writer(kind: type) -> Callable[[Any, Callable[[str], Any]], Any]:
    """Say how values of a type are written down, which every call of every frame asks."""
    name = kind.__name__
    if kind is NoneType or issubclass(kind, SCALARS):
        return lambda value, write: write(f"{name} {value!r}")
    if issubclass(kind, tuple):
        return lambda values, write: _write(values, "", write)
    if issubclass(kind, Host):
        return lambda value, write: write(f"host {id(value.value)}")
    if is_dataclass(kind):
        # a call's alias does not matter
        parts = parts_of(tuple(f.name for f in fields(kind) if f.compare and not (kind is Call and f.name == "name")))
        return lambda value, write: _write(parts(value), name, write)
    if issubclass(kind, Mapping):
        return lambda value, write: _write(chain.from_iterable(value.items()), name, write)
    return lambda value, write: write(f"object {id(value)}")  # a user's function: it is itself, and no other


def _write(values: Iterable[Any], name: str, write: Callable[[str], Any]) -> None:
    write(f"{name}(")
    for value in values:
        kind: type = type(value)
        if kind in _TOLD:
            write(repr(value))
        else:
            _writer(kind)(value, write)
        write(",")
    write(")")
