"""Columns of Spark Classic: the JVM's Catalyst expressions, not yet analysed, which rebuild themselves.

``F.expr("...")`` is read by Spark's own parser, unless it says what only windrow's SQL can say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...._model.calls import Derived
from ...._model.frames import Bound
from ...._parse.sql_text import parse_item
from ....exceptions import SpecError, UnsupportedError
from ..catalyst import bound_of
from ..jvm import (
    analyzed_plan,
    class_of,
    column_of,
    converted,
    expression_of,
    is_descending,
    is_of_nodes,
    items,
    parsed_expression,
    to_seq,
    unresolved_attribute,
    value_of,
    within_group,
)
from .tree import FunctionModifiers, Node, WindowSpec

__all__ = ["ClassicTree", "bound_keys"]

# Values of these need no type beside them; all others Spark may evaluate.
_PLAIN_TYPES = (
    "NullType", "BooleanType", "ByteType", "ShortType", "IntegerType", "LongType", "FloatType", "DoubleType",
    "DecimalType", "StringType",
)  # fmt: skip
# Frames that Spark's parser does not know.
_WIDER = re.compile(r"\b(groups|exclude)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Text:
    """SQL text that is read as windrow's."""

    text: str
    name: str = ""


class ClassicTree:
    """Nodes are Catalyst expressions, the JVM's objects."""

    def __init__(self) -> None:
        # before Spark 4.0 most functions are classes of their own from the start
        self._of_classes = False

    def expression(self, column: Any) -> Any:
        """Give the Catalyst expression of a Column.

        Parameters
        ----------
        column
            The Column.

        Raises
        ------
        SpecError
            If text in it is not SQL.
        UnsupportedError
            If there is a window in it, before Spark 4.0.
        """
        from pyspark.errors import ParseException

        if not is_of_nodes(column):
            self._of_classes = True
            return _without_windows(column)
        node, name = expression_of(column), ""
        while class_of(node) == "Alias":
            name = name or str(node.name().apply(0))
            node = node.child()
        text = _Text(str(node.expression()), name) if class_of(node) == "SqlExpression" else None
        if text is not None and _WIDER.search(text.text):
            return text
        try:
            return converted(expression_of(column))
        except ParseException as error:
            if text is not None:
                return text
            first = str(error).strip().partition("\n")[0]
            raise SpecError(
                f"{column}: Spark cannot read the SQL in it: {first} What only windrow's SQL can say stands alone, as "
                "an item of its own"
            ) from None

    def _children(self, raw: Any) -> list[Any]:
        """List what stands below; arguments of a Python function are Columns still."""
        below = items(raw.children())
        return [converted(c.node()) if class_of(c) == "ColumnNodeExpression" else c for c in below]

    def read(self, raw: Any) -> Node:
        """Read a node."""
        if isinstance(raw, _Text):
            return Node("alias", raw.name, children=[_Text(raw.text)]) if raw.name else Node("sql", raw.text)
        kind = class_of(raw)
        if kind == "UnresolvedAttribute":
            parts = [str(p) for p in items(raw.nameParts())]
            if len(parts) == 1:
                return Node("column", parts[0])
            return Node("field", str(raw.name()), parts[-1])
        if kind == "UnresolvedStar":
            return Node("star", ".".join(map(str, items(raw.target().get()))) if raw.target().isDefined() else "")
        if kind == "SortOrder":
            nulls_first = class_of(raw.nullOrdering()) == "NullsFirst"
            return Node("sort", value=(is_descending(raw), nulls_first), children=[raw.child()])
        if kind == "UnresolvedFunction":
            return self._function(raw)
        if kind == "WindowExpression":
            return Node("window", value=_spec(raw.windowSpec()), children=[raw.windowFunction()])
        if kind == "UnresolvedWindowExpression":
            raise SpecError(
                f"{raw.child().sql()} OVER {raw.windowSpec().name()}: there is no window of that name here; "
                "write the window out"
            )
        if kind == "AggregateExpression":
            function = raw.aggregateFunction()
            return Node("python", str(function.name())) if class_of(function) == "PythonUDAF" else Node("other")
        if raw.resolved():
            if raw.foldable() and class_of(raw.dataType()) in _PLAIN_TYPES:
                return Node("literal", value=value_of(raw, "the value"))
            if items(raw.references().toSeq()):
                return Node("bound", str(raw.toString()), _name_of(raw))
        children = self._children(raw)
        if kind == "Alias":
            return Node("alias", str(raw.name()), children=children)
        if kind == "PythonUDF":  # of rows, or a pandas_udf whose types say nothing of an aggregate
            return Node("python", str(raw.name()), children=children)
        return Node("other", str(raw.prettyName()) if self._of_classes else "", children=children)

    def _function(self, raw: Any) -> Node:
        ignores: Any = raw.ignoreNulls()
        if isinstance(ignores, bool):  # Spark 4.0 does not say whether RESPECT NULLS was written
            ignores = ignores or None
        else:
            ignores = bool(ignores.get()) if ignores.isDefined() else None
        condition = raw.filter().get() if raw.filter().isDefined() else None
        modifiers = FunctionModifiers(bool(raw.isDistinct()), ignores, condition, within_group(raw))
        return Node("function", ".".join(map(str, items(raw.nameParts()))), modifiers, items(raw.arguments()))

    def rebuilt(self, raw: Any, children: Sequence[Any]) -> Any:
        """Give a node with other children."""
        rest = items(raw.children())[len(children) :]  # a function's filter and order
        return raw.withNewChildren(to_seq([*children, *rest]))

    def bound_key(self, raw: Any) -> Any:
        """Give what a bound node has in common with the column of the frame that it is, None if it is none."""
        return raw.exprId().id() if class_of(raw) == "AttributeReference" else None

    def column_node(self, name: str) -> Any:
        """Give a node that is a column by its name."""
        return unresolved_attribute(name)

    def named(self, raw: Any, name: str | None) -> Any:
        """Give a node of the same value with a name, or (None) without one."""
        from pyspark.sql import functions

        column = self.column(raw)
        return self.expression(functions.coalesce(column) if name is None else column.alias(name))

    def column(self, raw: Any) -> Any:
        """Give the Column that a node is."""
        return column_of(raw)

    def is_deterministic(self, raw: Any) -> bool:
        """Whether a node says of itself that its value depends on its input alone: not said is yes."""
        return isinstance(raw, _Text) or bool(raw.deterministic())

    def parsed(self, text: str) -> Any:
        """Read SQL text: its call or its expression over calls, and the node for the latter."""
        item = parse_item(text)
        if not isinstance(item, Derived):
            return item, None
        return item, parsed_expression(str(item.expression))


def bound_keys(frame: Any) -> list[Any]:
    """List what each column of a frame has in common with the nodes that are bound to it."""
    return [a.exprId().id() for a in items(analyzed_plan(frame).output())]


def _without_windows(column: Any) -> Any:
    """Give the expression of a Column as it is before Spark 4.0, where its functions are not known by their names."""
    expression = expression_of(column)
    if _has_window(expression):
        import pyspark

        raise UnsupportedError(
            f"{column}: windows in PySpark's Columns are read on Spark 4.0 and later, and this is "
            f"{pyspark.__version__}; "
            "write the window as text, wr.expr('sum(v) OVER (PARTITION BY k)'), or as wr.sum('v').over(wr.window('k'))"
        )
    return expression


def _has_window(expression: Any) -> bool:
    return class_of(expression) in ("UnresolvedWindowExpression", "WindowExpression") or any(
        map(_has_window, items(expression.children()))
    )


def _name_of(raw: Any) -> str | None:
    return str(raw.name()) if class_of(raw) in ("Alias", "AttributeReference") else None


def _spec(spec: Any) -> WindowSpec:
    read = WindowSpec(items(spec.partitionSpec()), items(spec.orderSpec()))
    frame = spec.frameSpecification()
    if class_of(frame) == "SpecifiedWindowFrame":
        read.units = "rows" if class_of(frame.frameType()) == "RowFrame" else "range"
        read.start, read.end = _bound(frame.lower(), start=True), _bound(frame.upper(), start=False)
    return read


def _bound(raw: Any, *, start: bool) -> Bound:
    return bound_of(class_of(raw), lambda: value_of(raw, "the frame's bound"), start=start)
