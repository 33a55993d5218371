"""The hidden column that holds a call's result.

Its name is a hash of the call, so equal calls share a column and are computed once.
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

from .bounded_cache import BoundedCache
from .calls import Call
from .expressions import SCALARS, HostExpression
from .replace import attribute_getter
from .windows import Window

__all__ = ["hide_result_columns", "result_column"]

_PREFIX = "__windrow_w"

#: The texts of windows by their ids; with each the window, so that no other has its id.
_WINDOWS: BoundedCache[tuple[Window, str]] = BoundedCache(64)

# Types whose repr differs from that of an equal value of another type.
_EXACT_REPR = frozenset((NoneType, bool, int, float, str))


def is_result_column(name: str) -> bool:
    """Whether a name is one that :func:`result_column` gives."""
    return name.startswith(_PREFIX)


def result_column(call: Call) -> str:
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
    if call.result_column is None:
        name = _PREFIX + hashlib.blake2b(_canonical_text(call).encode(), digest_size=8).hexdigest()
        object.__setattr__(call, "result_column", name)
        return name
    return call.result_column


def hide_result_columns(message: str) -> str:
    """Replace the names of result columns in a host's message, as no user has written them."""
    return re.sub(f"{_PREFIX}[0-9a-f]{{16}}", "a window call", message)


def _canonical_text(call: Call) -> str:
    """Write a call as text, with the types of its literals: 1, 1.0 and True are equal in Python."""
    parts: list[str] = []
    _writer(Call)(call, parts.append)
    return "".join(parts)


@cache
def _writer(cls: type) -> Callable[[Any, Callable[[str], Any]], Any]:
    """Return the function that writes values of a class; cached, as every call of every frame needs it."""
    name = cls.__name__
    if cls is NoneType or issubclass(cls, SCALARS):
        return lambda value, write: write(f"{name} {value!r}")
    if issubclass(cls, (tuple, list)):
        return lambda values, write: _write(values, "", write)
    if issubclass(cls, HostExpression):
        return lambda value, write: write(f"host {value.token}")
    if cls is Window:
        return lambda window, write: write(_window_text(window))
    return _fields_writer(cls)


def _window_text(window: Window) -> str:
    """Write a window, or give what was written of it: many calls have one window."""
    kept = _WINDOWS.get(id(window))
    if kept is not None:
        return kept[1]
    parts: list[str] = []
    _fields_writer(Window)(window, parts.append)
    text = "".join(parts)
    _WINDOWS.put(id(window), (window, text))
    return text


def _fields_writer(cls: type) -> Callable[[Any, Callable[[str], Any]], Any]:
    name = cls.__name__
    if is_dataclass(cls):
        # a call's alias does not matter
        parts = attribute_getter(
            tuple(f.name for f in fields(cls) if f.compare and not (cls is Call and f.name == "name"))
        )
        return lambda value, write: _write(parts(value), name, write)
    if issubclass(cls, Mapping):
        return lambda value, write: _write(chain.from_iterable(value.items()), name, write)
    if hasattr(cls, "kind"):  # a user's function
        return lambda value, write: write(f"function {value.token}")
    # a repr may be cut short
    return lambda value, write: write(f"{name} {id(value)} {value!r}")


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
