"""PySpark's own Columns, read structurally: Classic through the JVM's column nodes, Connect through its Python ones.

A Column that is one window call, with an alias or without, becomes the builder's call. What stands inside as
argument, key or bound and is no plain column or literal stays a Column, for Spark to evaluate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..call import Call
from ..derived import Derived
from ..exceptions import SpecError, UnsupportedError
from ..expr import Column, Expr, Host, Literal
from ..spec import Bound, Frame, Order, Window, relative
from ..sql import call_of_parts, parse_call, parse_item

__all__ = ["position_in", "read_call", "read_item", "read_order"]


@dataclass(slots=True)
class _Node:
    """One node of a Column, the same for Classic and Connect; children are read when they are asked for."""

    kind: str
    column: Callable[[], Any]
    text: str = ""
    value: Any = None
    children: list[Any] = field(default_factory=list)
    distinct: bool = False


@dataclass(slots=True)
class _Spec:
    partition: list[Any]
    order: list[Any]
    units: str | None = None
    start: Any = None
    end: Any = None


def read_item(column: Any) -> Call | Derived:
    """Read a PySpark Column that is a window call, or SQL text with window calls in it.

    Parameters
    ----------
    column
        Such as ``F.sum("v").over(Window.partitionBy("k")).alias("s")`` or ``F.expr("v - lag(v) OVER (...)")``.

    Returns
    -------
    Call or Derived
        The call, or the expression over calls, with the alias as its name.

    Raises
    ------
    UnsupportedError
        If an expression of PySpark's own stands around the window call.
    SpecError
        If there is no window call.
    """
    node, name = _without_alias(column)
    if node.kind != "sql":
        return read_call(column)
    item = parse_item(node.text)
    return item if name is None else item.alias(name)


def read_call(column: Any) -> Call:
    """Read a PySpark Column that is one window call.

    Parameters
    ----------
    column
        Such as ``F.sum("v").over(Window.partitionBy("k")).alias("s")`` or ``F.expr("sum(v) OVER (...)")``.

    Returns
    -------
    Call
        The builder's call, with the alias as its name.

    Raises
    ------
    UnsupportedError
        If an expression stands around the window call.
    SpecError
        If there is no window call.
    """
    node, name = _without_alias(column)
    if node.kind == "sql":
        call = parse_call(node.text)
    elif node.kind == "window":
        call = _window_call(node)
    elif " OVER (" in str(column):
        raise UnsupportedError(
            f"{column}: expressions around a window call are not supported yet. Give with_columns the window call "
            "alone, with a name, and do the rest with withColumn on the column it gives"
        )
    else:
        raise SpecError(f"{column} is not a window call; write F.sum('v').over(window)")
    return call if name is None else call.alias(name)


def read_order(column: Any) -> Order:
    """Read a PySpark Column as an order key: ``F.desc("x")``, ``F.col("x").asc_nulls_last()``, ``F.col("x")``."""
    return _order(_node_of(column))


def position_in(frame: Any, column: Any, *, folded: bool) -> int | None:
    """Say which column of a frame a Column such as ``frame.v`` or ``F.col("v")`` is, if it is one and nothing more.

    Parameters
    ----------
    frame
        A PySpark DataFrame.
    column
        A PySpark Column.
    folded
        Whether names are found regardless of case.

    Returns
    -------
    int or None
        Its position.
    """
    plain = _node_of(column)
    if plain.kind == "column":
        fold: Callable[[str], str] = str.lower if folded else str
        found = [i for i, c in enumerate(frame.columns) if fold(c) == fold(plain.text)]
        return found[0] if len(found) == 1 else None
    if _is_connect(column):
        node = column._expr
        if type(node).__name__ != "ColumnReference" or node._plan_id != frame._plan._plan_id:
            return None
        found = [i for i, c in enumerate(frame.columns) if c == _plain_name(node._unparsed_identifier)]
        return found[0] if len(found) == 1 else None
    node = column._jc.node()
    if _class_of(node) != "ExpressionColumnNode" or _class_of(node.expression()) != "AttributeReference":
        return None
    wanted = node.expression().exprId().id()
    output = frame._jdf.queryExecution().analyzed().output()
    ids = [output.apply(i).exprId().id() for i in range(output.size())]
    return ids.index(wanted) if ids.count(wanted) == 1 else None


# ---------------------------------------------------------------------------------------- from nodes to builder objects


def _window_call(node: _Node) -> Call:
    function = _read(node.children[0])
    while function.kind == "alias":
        function = _read(function.children[0])
    if function.kind != "function":
        raise SpecError(f"{node.column()}: OVER must follow a function")
    args = [_read(a) for a in function.children]
    return call_of_parts(
        function.text,
        [_expression(a) for a in args if a.kind != "star"],
        is_distinct=function.distinct,
        window=_window(node.value),
    )


def _window(spec: _Spec) -> Window:
    frame = None
    if spec.units is not None:
        frame = Frame(
            "rows" if spec.units == "rows" else "range", _bound(spec.start, start=True), _bound(spec.end, start=False)
        )
    return Window(
        tuple(_expression(_read(p)) for p in spec.partition), tuple(_order(_read(o)) for o in spec.order), frame
    )


def _bound(value: Any, *, start: bool) -> Bound:
    if isinstance(value, (Bound, int)):
        return relative(value, start=start)
    return relative(_expression(_read(value)), start=start)


def _order(node: _Node) -> Order:
    if node.kind == "sort":
        descending, nulls_first = node.value
        return Order(_expression(_read(node.children[0])), descending, nulls_first)
    return Order(_expression(node))


def _expression(node: _Node) -> Expr:
    if node.kind == "column":
        return Column(node.text)
    if node.kind == "literal":
        return Literal(node.value)
    return Host(node.column())


def _without_alias(column: Any) -> tuple[_Node, str | None]:
    node = _node_of(column)
    name = None
    while node.kind == "alias":
        name = name or node.text
        node = _read(node.children[0])
    return node, name


def _node_of(column: Any) -> _Node:
    return _read(column._expr if _is_connect(column) else column._jc.node())


def _read(raw: Any) -> _Node:
    return _classic(raw) if hasattr(raw, "_target_id") else _connect(raw)


def _is_connect(column: Any) -> bool:
    return type(column).__module__.startswith("pyspark.sql.connect")


def _plain_name(identifier: str) -> str | None:
    """Give the column's name that an identifier is, None where it has parts (``struct.field``)."""
    if len(identifier) > 2 and identifier[0] == identifier[-1] == "`" and "`" not in identifier[1:-1]:
        return identifier[1:-1]
    return None if "." in identifier or "`" in identifier else identifier


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, Decimal))


# ------------------------------------------------------------------------------------------------------------- Classic


def _class_of(node: Any) -> str:
    return str(node.getClass().getSimpleName()).rstrip("$")


def _items(seq: Any) -> list[Any]:
    return [seq.apply(i) for i in range(seq.size())]


def _classic(node: Any) -> _Node:
    def column() -> Any:
        from pyspark import SparkContext
        from pyspark.sql.classic.column import Column as ClassicColumn

        context: Any = SparkContext._active_spark_context
        return ClassicColumn(context._jvm.org.apache.spark.sql.Column(node))

    kind = _class_of(node)
    if kind == "Alias":
        return _Node("alias", column, text=str(node.name().apply(0)), children=[node.child()])
    if kind == "SqlExpression":
        return _Node("sql", column, text=str(node.expression()))
    if kind == "UnresolvedFunction":
        return _Node(
            "function",
            column,
            text=str(node.functionName()),
            children=_items(node.arguments()),
            distinct=bool(node.isDistinct()),
        )
    if kind == "UnresolvedAttribute" and node.nameParts().size() == 1 and not node.planId().isDefined():
        return _Node("column", column, text=str(node.nameParts().apply(0)))
    if kind == "Literal" and _is_plain(node.value()):
        return _Node("literal", column, value=node.value())
    if kind == "UnresolvedStar":
        return _Node("star", column)
    if kind == "SortOrder":
        descending = _class_of(node.sortDirection()) == "Descending"
        nulls_first = _class_of(node.nullOrdering()) == "NullsFirst"
        return _Node("sort", column, value=(descending, nulls_first), children=[node.child()])
    if kind == "Window":
        spec = node.windowSpec()
        read = _Spec(_items(spec.partitionColumns()), _items(spec.sortColumns()))
        if spec.frame().isDefined():
            frame = spec.frame().get()
            read.units = "rows" if _class_of(frame.frameType()) == "Row" else "range"
            read.start, read.end = _classic_bound(frame.lower()), _classic_bound(frame.upper())
        return _Node("window", column, value=read, children=[node.windowFunction()])
    return _Node("other", column)


def _classic_bound(boundary: Any) -> Any:
    kind = _class_of(boundary)
    if kind == "Value":
        return boundary.value()
    bounds: dict[str, Bound] = {
        "CurrentRow": Bound("current_row"),
        "UnboundedPreceding": Bound("unbounded_preceding"),
        "UnboundedFollowing": Bound("unbounded_following"),
    }
    return bounds[kind]


# ------------------------------------------------------------------------------------------------------------- Connect

# Other literals hold Spark's inner value (a date's day number, for example); Spark may evaluate these.
_PLAIN_LITERALS = (
    "NullType", "BooleanType", "ByteType", "ShortType", "IntegerType", "LongType", "FloatType", "DoubleType",
    "DecimalType", "StringType",
)  # fmt: skip


def _connect(node: Any) -> _Node:
    def column() -> Any:
        from pyspark.sql.connect.column import Column as ConnectColumn

        return ConnectColumn(node)

    kind = type(node).__name__
    if kind == "ColumnAlias":
        return _Node("alias", column, text=str(node._alias[0]), children=[node._child])
    if kind == "SQLExpression":
        return _Node("sql", column, text=str(node._expr))
    if kind in ("UnresolvedFunction", "CallFunction"):
        return _Node(
            "function",
            column,
            text=str(node._name),
            children=list(node._args),
            distinct=bool(getattr(node, "_is_distinct", False)),
        )
    if kind == "ColumnReference" and node._plan_id is None and (name := _plain_name(node._unparsed_identifier)):
        return _Node("column", column, text=name)
    if kind == "LiteralExpression" and type(node._dataType).__name__ in _PLAIN_LITERALS and _is_plain(node._value):
        return _Node("literal", column, value=node._value)
    if kind == "UnresolvedStar":
        return _Node("star", column)
    if kind == "SortOrder":
        return _Node("sort", column, value=(not node._ascending, bool(node._nullsFirst)), children=[node._child])
    if kind == "WindowExpression":
        spec = node._windowSpec
        read = _Spec(list(spec._partitionSpec), list(spec._orderSpec))
        if spec._frame is not None:
            read.units = "rows" if spec._frame._isRowFrame else "range"
            read.start, read.end = spec._frame._start, spec._frame._end
        return _Node("window", column, value=read, children=[node._windowFunction])
    return _Node("other", column)
