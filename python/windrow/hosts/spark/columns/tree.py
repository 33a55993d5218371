"""A Column as a tree: what Spark Classic and Spark Connect have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

__all__ = ["HOST", "FunctionModifiers", "Node", "Tree", "WindowSpec", "is_plain"]

#: The host of expressions that are PySpark's Columns.
HOST = "spark"


@dataclass(slots=True)
class Node:
    """One node of a Column.

    Parameters
    ----------
    kind
        ``alias``, ``column`` (by its plain name), ``field`` (by a name with parts), ``bound`` (columns of one DataFrame
        and no other), ``literal``, ``star``, ``sort``, ``function``, ``window``, ``python`` (a Python function),
        ``sql`` (text), or ``other``.
    text
        The name of an alias, a column or a function, also of an ``other`` that may be one; SQL text; for a field or a
        bound node, what tells it from others.
    value
        A literal's value, the name of a field or a bound node, a sort's ``(descending, nulls_first)``, a
        :class:`FunctionModifiers` or a :class:`WindowSpec`.
    children
        What stands below, as the tree has it.
    reads
        The columns that SQL text reads, in lower case.
    """

    kind: str
    text: str = ""
    value: Any = None
    children: Sequence[Any] = ()
    reads: Sequence[str] = ()


@dataclass(slots=True)
class FunctionModifiers:
    """The modifiers of a function; its arguments are its node's children."""

    distinct: bool = False
    nulls_ignored: bool | None = None
    condition: Any = None
    order: Sequence[Any] = ()


@dataclass(slots=True)
class WindowSpec:
    """What stands in OVER; the function is the window node's only child."""

    partition: Sequence[Any]
    order: Sequence[Any]
    units: str | None = None
    start: Any = None
    end: Any = None


class Tree(Protocol):
    """How one kind of Spark keeps Columns."""

    def read(self, raw: Any) -> Node:
        """Read a node."""

    def rebuilt(self, raw: Any, children: Sequence[Any]) -> Any:
        """Give a node with other children."""

    def bound_key(self, raw: Any) -> Any:
        """Give what a bound node has in common with the column of the frame that it is, None if it is none."""

    def column_node(self, name: str) -> Any:
        """Give a node that is a column by its name."""

    def named(self, raw: Any, name: str | None) -> Any:
        """Give a node of the same value with a name, or (None) without one."""

    def column(self, raw: Any) -> Any:
        """Give the Column that a node is."""

    def is_deterministic(self, raw: Any) -> bool:
        """Whether a node says of itself that its value depends on its input alone: not said is yes."""

    def parsed(self, text: str) -> Any:
        """Read SQL text that holds window calls: a Call, or a Derived of text, and a node of its expression."""


def is_plain(value: Any) -> bool:
    """Whether a literal's value is one that needs no type beside it."""
    return value is None or isinstance(value, (bool, int, float, str, Decimal))
