"""Expressions of Spark's plans as plain data: the driver's JVM writes them as JSON, in one call for a whole plan."""

from __future__ import annotations

import datetime as dt
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..._model.intervals import Interval
from ...exceptions import UnsupportedError

__all__ = ["CatalystNode", "parsed", "value_of", "windows_of"]


@dataclass(slots=True)
class CatalystNode:
    """An expression.

    Parameters
    ----------
    kind
        The plain name of its class.
    number
        The same for equal expressions.
    sql
        The expression as Spark writes it.
    label
        What Spark calls its function.
    nullable
        Whether it may be NULL.
    type, type_name
        Its type as JSON, and for messages; empty where it has none.
    constant
        Its value, if it is one for all rows: what kind of value, and the value.
    id, name
        Of a column.
    references
        The ids of the columns that it reads.
    fields
        What it is made of, where that is looked into; otherwise empty.
    """

    kind: str
    number: int
    sql: str | None = None
    label: str = ""
    nullable: bool = True
    type: str = ""
    type_name: str = ""
    constant: list[Any] | None = None
    id: int | None = None
    name: str | None = None
    references: tuple[int, ...] = ()
    fields: Mapping[str, Any] | None = None

    def __getitem__(self, field: str) -> Any:
        """Give a field."""
        return (self.fields or {})[field]

    @property
    def is_null(self) -> bool:
        """Whether it is the literal NULL."""
        return self.kind == "Literal" and self.constant == ["null"]

    def columns(self) -> Iterator[int]:
        """Give the ids of the columns that it reads, however deep."""
        if self.id is not None:
            yield self.id
        yield from self.references
        yield from _columns(self.fields)


def _columns(value: Any) -> Iterator[int]:
    if isinstance(value, CatalystNode):
        yield from value.columns()
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _columns(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _columns(inner)


def parsed(text: str) -> Any:
    """Read what the JVM wrote: expressions become nodes, all else is plain data."""
    return json.loads(text, object_hook=lambda d: CatalystNode(**d) if "kind" in d and "number" in d else d)


def windows_of(reader: Any) -> Any:
    """Read what the JVM's ``WindowReader`` says of a plan."""
    return parsed(zlib.decompress(reader.text()).decode())


_READ: dict[str, Callable[[Any], Any]] = {
    "null": lambda _: None,
    "bool": bool,
    "int": int,
    "float": float,
    "decimal": Decimal,
    "text": str,
    "binary": bytes.fromhex,
    "microseconds": lambda v: dt.timedelta(microseconds=v),
    "months": lambda v: Interval(months=v),
    "floats": lambda values: [float(v) for v in values],
}


def value_of(node: CatalystNode, role: str) -> Any:
    """Give the value of an expression that is one value for all rows.

    Parameters
    ----------
    node
        The expression.
    role
        What it is for, for the message.

    Returns
    -------
    object
        A plain Python value.

    Raises
    ------
    UnsupportedError
        If it is no constant, or of a type that has no plain value in Python.
    """
    if node.constant is None:
        raise UnsupportedError(f"{role} is {node.sql}, which is not one value for all rows")
    kind, *value = node.constant
    if kind not in _READ:
        raise UnsupportedError(f"{role} is {node.sql}, of type {node.type_name}")
    return _READ[kind](value[0] if value else None)
