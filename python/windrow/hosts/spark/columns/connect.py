"""Columns of Spark Connect: trees of Python objects, which are copied where something in them changes."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

from ...._model.calls import Derived
from ...._model.expressions import Sql
from ...._model.names import quoted
from ...._parse.sql_text import columns_of, parse_item
from .tree import FunctionModifiers, Node, WindowSpec, is_plain

__all__ = ["ConnectTree", "bound_keys"]

# Other literals hold Spark's inner value (a date's day number, for example); Spark may evaluate these.
_PLAIN_LITERALS = (
    "NullType", "BooleanType", "ByteType", "ShortType", "IntegerType", "LongType", "FloatType", "DoubleType",
    "DecimalType", "StringType",
)  # fmt: skip
_OVER = re.compile(r"\bover\b", re.IGNORECASE)


class ConnectTree:
    """Nodes are :class:`pyspark.sql.connect.expressions.Expression` objects."""

    def read(self, raw: Any) -> Node:
        """Read a node."""
        kind = type(raw).__name__
        children = _children(raw)
        if kind == "ColumnAlias":
            return Node("alias", raw._alias[0] if len(raw._alias) == 1 else "", children=children)
        if kind == "ColumnReference":
            if raw._plan_id is not None:
                return Node("bound", f"{raw._plan_id} {raw._unparsed_identifier}", last_part(raw._unparsed_identifier))
            name = plain_name(raw._unparsed_identifier)
            if name is None:
                return Node("field", raw._unparsed_identifier, last_part(raw._unparsed_identifier))
            return Node("column", name)
        if kind == "LiteralExpression" and type(raw._dataType).__name__ in _PLAIN_LITERALS and is_plain(raw._value):
            return Node("literal", value=raw._value)
        if kind == "UnresolvedStar":
            return Node("star", raw._unparsed_target or "")
        if kind == "SortOrder":
            return Node("sort", value=(not raw._ascending, bool(raw._nullsFirst)), children=children)
        if kind in ("UnresolvedFunction", "CallFunction"):
            modifiers = FunctionModifiers(distinct=bool(getattr(raw, "_is_distinct", False)))
            return Node("function", str(raw._name), modifiers, children)
        if kind == "CommonInlineUserDefinedFunction":
            return Node("python", str(raw._function_name), children=children)
        if kind == "SQLExpression":
            return Node("sql", str(raw._expr), reads=sorted(columns_of(Sql(raw._expr)) or ()))
        if kind == "WindowExpression":
            spec = raw._windowSpec
            read = WindowSpec(list(spec._partitionSpec), list(spec._orderSpec))
            if spec._frame is not None:
                read.units = "rows" if spec._frame._isRowFrame else "range"
                read.start, read.end = spec._frame._start, spec._frame._end
            return Node("window", value=read, children=[raw._windowFunction])
        return Node("other", children=children)

    def rebuilt(self, raw: Any, children: Sequence[Any]) -> Any:
        """Give a node with other children."""
        rest = iter(children)
        new = copy.copy(raw)
        for name, value in vars(raw).items():
            setattr(new, name, _mapped(value, lambda _: next(rest)))
        return new

    def bound_key(self, raw: Any) -> Any:
        """Give what a bound node has in common with the column of the frame that it is, None if it is none."""
        return raw._plan_id, plain_name(raw._unparsed_identifier)

    def column_node(self, name: str) -> Any:
        """Give a node that is a column by its name."""
        from pyspark.sql.connect.expressions import ColumnReference

        return ColumnReference(quoted(name))

    def named(self, raw: Any, name: str | None) -> Any:
        """Give a node of the same value with a name, or (None) without one."""
        from pyspark.sql.connect.expressions import ColumnAlias, UnresolvedFunction

        return UnresolvedFunction("coalesce", [raw]) if name is None else ColumnAlias(raw, [name], None)

    def column(self, raw: Any) -> Any:
        """Give the Column that a node is."""
        from pyspark.sql.connect.column import Column

        return Column(raw)

    def is_deterministic(self, raw: Any) -> bool:
        """Whether a node says of itself that its value depends on its input alone: not said is yes."""
        return bool(getattr(raw, "_deterministic", True))

    def parsed(self, text: str) -> Any:
        """Read SQL text: its call or its expression over calls, and the node for the latter; None without a call."""
        from pyspark.sql.connect.expressions import SQLExpression

        if not _OVER.search(text):
            return None, None
        item = parse_item(text)
        return item, SQLExpression(str(item.expression)) if isinstance(item, Derived) else None


def bound_keys(frame: Any) -> list[Any]:
    """List what each column of a frame has in common with the nodes that are bound to it."""
    return [(frame._plan._plan_id, name) for name in frame.columns]


def plain_name(identifier: str) -> str | None:
    """Give the column's name that an identifier is, None where it has parts (``struct.field``)."""
    if len(identifier) > 2 and identifier[0] == identifier[-1] == "`" and "`" not in identifier[1:-1]:
        return identifier[1:-1]
    return None if "." in identifier or "`" in identifier else identifier


def last_part(identifier: str) -> str:
    """Give the name under which Spark shows what an identifier means."""
    return plain_name(identifier) or identifier.rpartition(".")[2].strip("`")


def _children(raw: Any) -> list[Any]:
    found: list[Any] = []

    def add(child: Any) -> Any:
        found.append(child)
        return child

    for value in vars(raw).values():
        _mapped(value, add)
    return found


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Put other nodes in the place of those that an attribute holds: one, or lists and pairs of them."""
    from pyspark.sql.connect.expressions import Expression

    if isinstance(value, Expression):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_mapped(part, change) for part in value)
    return value
