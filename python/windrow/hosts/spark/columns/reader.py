"""PySpark's own Columns, read structurally: their window calls become the builder's, all else stays a Column.

    F.col("v") - F.lag("v").over(w)      the call lag(v) OVER w, and a Column in which a name stands for it

Spark Classic and Spark Connect keep Columns as different trees. :mod:`.classic` and :mod:`.connect` know these; here is
what both have in common.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...._model.calls import Call, Derived, drop_default
from ...._model.catalog import function_of
from ...._model.expressions import Column, Expr, HostExpression, Literal, Scalar, Sql
from ...._model.frames import Bound, Frame, relative
from ...._model.replace import replace
from ...._model.result_columns import result_column
from ...._model.windows import Order, Window
from ...._parse.sql_text import build_call, functions_in
from ....exceptions import SpecError, UnsupportedError
from ..below_windows import EVALUATED_FIRST, GENERATORS, evaluated_before_windows
from ..jvm import is_classic
from .tree import HOST, FunctionModifiers, Node, Tree, WindowSpec

__all__ = ["generator_in", "is_literal", "locator", "read_argument", "read_item", "read_order", "read_window"]

_OPERATOR = re.compile(r"`([^\w`]+)`\(")
# Functions whose result names its parts as their arguments are named.
_NAMING = ("struct", "arrays_zip")


def read_item(
    column: Any, *, plain: bool = False, frame_column: Callable[[Any], str | None] | None = None
) -> Call | Derived:
    """Read a PySpark Column with window calls in it.

    Parameters
    ----------
    column
        Such as ``F.sum("v").over(Window.partitionBy("k")).alias("s")``, ``F.col("v") - F.lag("v").over(w)`` or
        ``F.expr("v - lag(v) OVER (...)")``.
    plain
        Whether a Column without a window call will do, for Spark to evaluate.
    frame_column
        Gives the name of the column of the frame at hand that a Column is, if it is one and no other has that name.

    Returns
    -------
    Call or Derived
        A call where the Column is one and nothing more, else an expression over calls; with the alias as its name.

    Raises
    ------
    UnsupportedError
        If a function is Python's, or ``*`` stands beside window calls.
    SpecError
        If there is no window call in it.
    """
    tree, raw = _tree(column)
    node = tree.read(raw)
    name = None
    while node.kind == "alias" and node.text:
        name = name or node.text
        raw = node.children[0]
        node = tree.read(raw)
    reader = _ColumnReader(tree, frame_column)
    item = reader.expression(raw)
    if plain and not isinstance(item, (Call, Derived)):
        below = reader.evaluated_before_windows(raw)
        if below is None:
            item = reader.derived(raw)
        else:  # as it stands: it is evaluated on the frame as it came
            item = Derived(
                Column(EVALUATED_FIRST), {}, _shown(column), inputs={EVALUATED_FIRST: reader.host_expression(raw)}
            )
            name = name or ("col" if below in GENERATORS else None)
        name = name or (node.text if node.kind == "column" else node.value if node.kind in ("bound", "field") else None)
    if isinstance(item, Derived):
        item = replace(item, text=_shown(column))
    if not isinstance(item, (Call, Derived)):
        raise SpecError(f"{_shown(column)} is not a window call, and has none in it; write F.sum('v').over(window)")
    return item if name is None else item.alias(name)


def read_argument(column: Any) -> Expr:
    """Read a PySpark Column that stands in a builder's call: as it is, unless window calls are in it."""
    tree, raw = _tree(column)
    item = _ColumnReader(tree).expression(raw)
    return item if isinstance(item, (Call, Derived)) else HostExpression(column, HOST)


def read_window(spec: Any) -> Window:
    """Read a ``WindowSpec`` of PySpark's."""
    name = "pyspark.sql.connect.functions" if "connect" in type(spec).__module__ else "pyspark.sql.functions"
    call = read_item(importlib.import_module(name).row_number().over(spec))
    assert isinstance(call, Call)
    assert call.window is not None
    return call.window


def is_literal(column: Any) -> bool:
    """Whether a PySpark Column is one value for all rows, and nothing more."""
    tree, raw = _tree(column)
    return tree.read(raw).kind == "literal"


def generator_in(expression: Scalar) -> str | None:
    """Name the function in an expression that makes several rows of one, None without one."""
    if isinstance(expression, Sql):
        found = functions_in(expression.text)
    elif isinstance(expression, HostExpression):
        tree, raw = _tree(expression.value)
        found = set(_ColumnReader(tree).functions(raw))
    else:
        return None
    return next(iter(sorted(GENERATORS & found)), None)


def read_order(column: Any) -> Order:
    """Read a PySpark Column as an order key: ``F.desc("x")``, ``F.col("x").asc_nulls_last()``, ``F.col("x")``."""
    tree, raw = _tree(column)
    return _ColumnReader(tree).order(raw)


def locator(frame: Any, *, case_insensitive: bool) -> Callable[[Any], int | None]:
    """Give what says which column of a frame a Column such as ``frame.v`` or ``F.col("v")`` is.

    Parameters
    ----------
    frame
        A PySpark DataFrame.
    case_insensitive
        Whether names are found regardless of case.

    Returns
    -------
    function
        From a Column to a position; to None where it is not one column of the frame and nothing more.
    """
    fold: Callable[[str], str] = str.lower if case_insensitive else str
    names = [fold(c) for c in frame.columns]

    @functools.cache
    def keys() -> list[Any]:
        if is_classic(frame):
            from .classic import bound_keys
        else:
            from .connect import bound_keys
        return bound_keys(frame)

    def locate(column: Any) -> int | None:
        tree, raw = _tree(column)
        node = tree.read(raw)
        if node.kind == "column":
            return names.index(fold(node.text)) if names.count(fold(node.text)) == 1 else None
        key = tree.bound_key(raw) if node.kind == "bound" else None
        return keys().index(key) if key is not None and keys().count(key) == 1 else None

    return locate


class _ColumnReader:
    def __init__(self, tree: Tree, frame_column: Callable[[Any], str | None] | None = None) -> None:
        self.tree = tree
        self.frame_column = frame_column

    def expression(self, raw: Any) -> Expr:
        """Read what stands as an item, an argument, a key or a filter."""
        node = self.tree.read(raw)
        while node.kind == "alias" and node.text:
            raw = node.children[0]
            node = self.tree.read(raw)
        if node.kind == "window":
            return self._call(node)
        if node.kind == "column":
            return Column(node.text)
        if node.kind == "bound" and (name := self._frame_column_name(raw)) is not None:
            return Column(name)
        if node.kind == "sql":
            item: Call | Derived | None = self.tree.parsed(node.text)[0]
            if item is not None:
                return item
        derived = self.derived(raw)
        return derived if derived.calls else self.host_expression(raw)

    def derived(self, raw: Any) -> Derived:
        """Read an expression over window calls, of which there may be none."""
        parts = _CollectedParts()
        new = self._without_calls(raw, parts)
        text = _shown(self.tree.column(raw))
        if parts.star and parts.calls:
            raise UnsupportedError(f"{text}: * cannot stand beside window calls; name the columns")
        expression = HostExpression(
            self.tree.column(new), HOST, text, None if parts.reads is None else frozenset(parts.reads)
        )
        return Derived(expression, parts.calls, text, inputs=parts.inputs)

    def evaluated_before_windows(self, raw: Any) -> str | None:
        """Name a function for which Spark evaluates an expression below the windows beside it, None without one."""
        if not self.tree.is_deterministic(raw):
            return "a function that is not deterministic"
        return evaluated_before_windows(self.functions(raw))

    def functions(self, raw: Any) -> Iterator[str]:
        """Give the names of the functions in an expression, in lower case."""
        node = self.tree.read(raw)
        if node.kind in ("function", "other"):
            yield node.text.lower()
        if node.kind == "sql":
            yield from functions_in(node.text)
        for child in node.children:
            yield from self.functions(child)

    def host_expression(self, raw: Any) -> HostExpression:
        """Give an expression without window calls, for Spark to evaluate."""
        column = self.tree.column(raw)
        return HostExpression(column, HOST, _shown(column))

    def order(self, raw: Any) -> Order:
        """Read an order key."""
        node = self.tree.read(raw)
        if node.kind != "sort":
            return Order(self.expression(raw))
        descending, nulls_first = node.value
        return Order(self.expression(node.children[0]), descending, nulls_first)

    def _without_calls(self, raw: Any, parts: _CollectedParts) -> Any:
        """Give the tree with names in the place of window calls, and of what is bound to a DataFrame."""
        node = self.tree.read(raw)
        if node.kind == "window":
            call = self._call(node)
            at = result_column(call)
            parts.calls[at] = call
            return self.tree.column_node(at)
        if node.kind == "bound" and (name := self._frame_column_name(raw)) is not None:
            parts.add([name.lower()])
            return self.tree.column_node(name)
        if node.kind in ("bound", "field"):
            name = f"__windrow_of_{hashlib.sha256(node.text.encode()).hexdigest()[:16]}"
            parts.inputs[name] = self.host_expression(raw)
            return self.tree.column_node(name)
        if node.kind == "sql":
            item, rest = self.tree.parsed(node.text)
            if isinstance(item, Call):
                at = result_column(item)
                parts.calls[at] = item
                return self.tree.column_node(at)
            if isinstance(item, Derived):
                parts.calls.update(item.calls)
                parts.reads = None
                return rest
        parts.star = parts.star or node.kind == "star"
        parts.add([node.text.lower()] if node.kind == "column" else node.reads)
        new = [self._without_calls(child, parts) for child in node.children]
        if node.kind == "function" and node.text in _NAMING:
            new = [self._named(old, child) for old, child in zip(node.children, new, strict=True)]
        if all(one is other for one, other in zip(new, node.children, strict=True)):
            return raw
        return self.tree.rebuilt(raw, new)

    def _frame_column_name(self, raw: Any) -> str | None:
        return None if self.frame_column is None else self.frame_column(self.tree.column(raw))

    def _named(self, old: Any, new: Any) -> Any:
        """Let what stands for a node be called as the node was."""
        if new is old:
            return new
        node = self.tree.read(old)
        if node.kind in ("bound", "field", "window", "sql"):
            return self.tree.named(new, node.value if node.kind in ("bound", "field") else None)
        return new

    # ----------------------------------------------------------------------------------------------------------- calls

    def _call(self, window: Node) -> Call:
        raw = window.children[0]
        function = self.tree.read(raw)
        while function.kind == "alias":
            raw = function.children[0]
            function = self.tree.read(raw)
        if function.kind == "python":
            name = "a lambda" if function.text == "<lambda>" else function.text
            raise UnsupportedError(
                f"{name} is a Python function that Spark runs; write it as wr.aggregate(...), which windrow "
                "runs over every frame"
            )
        if function.kind != "function":
            raise SpecError(f"{_shown(self.tree.column(raw))}: OVER must follow a function")
        name = function.text.lower()
        modifiers: FunctionModifiers = function.value
        order = tuple(self.order(o) for o in modifiers.order)
        function_info = function_of(name)
        within = bool(function_info is not None and function_info.within_group == "key" and order)
        args = [self._argument(name, i, a) for i, a in enumerate(function.children, start=int(within))]
        if within:
            args.insert(0, order[0].key)
        if function_info is not None:
            for index in function_info.positions("frequency"):  # PySpark spells the default out
                args = drop_default(function_info, args, index)
        return build_call(
            name,
            [a for a in args if a is not None],
            is_distinct=modifiers.distinct,
            nulls_ignored=modifiers.nulls_ignored,
            condition=None if modifiers.condition is None else self.expression(modifiers.condition),
            argument_order=order,
            window=self._window(window.value),
        )

    def _argument(self, function: str, position: int, raw: Any) -> Any:
        """Read an argument; None for the star of ``count(*)``."""
        node, function_info = self.tree.read(raw), function_of(function)
        if node.kind == "star":
            if node.text or function_info is None or not function_info.takes_star:
                raise UnsupportedError(f"{function}({node.text}.*): name the columns")
            return None
        # All other literals are Spark's to evaluate, because their type decides the result's.
        if function_info is not None and function_info.takes_literal(position):
            if node.kind == "literal":
                return Literal(node.value)
            if node.kind == "function" and node.text == "array":
                shares = [self.tree.read(c) for c in node.children]
                if all(s.kind == "literal" for s in shares):
                    return Literal([s.value for s in shares])
        return self.expression(raw)

    def _window(self, spec: WindowSpec) -> Window:
        frame = None
        if spec.units is not None:
            frame = Frame(
                "rows" if spec.units == "rows" else "range",
                self._bound(spec.start, start=True),
                self._bound(spec.end, start=False),
            )
        return Window(tuple(map(self.expression, spec.partition)), tuple(map(self.order, spec.order)), frame)

    @staticmethod
    def _bound(value: Any, *, start: bool) -> Bound:
        return value if isinstance(value, Bound) else relative(value, start=start)


@dataclass(slots=True)
class _CollectedParts:
    """What was found in an expression: calls, expressions bound to a DataFrame, names, and whether there was a star."""

    calls: dict[str, Call] = field(default_factory=dict)
    inputs: dict[str, Scalar] = field(default_factory=dict)
    reads: set[str] | None = field(default_factory=set)
    star: bool = False

    def add(self, names: Sequence[str]) -> None:
        """Remember names that are read, unless it is lost already which ones are."""
        if self.reads is not None:
            self.reads.update(names)


def _shown(column: Any) -> str:
    """Write a Column as PySpark prints it, without what only the JVM's classes say."""
    text = str(HostExpression(column, HOST)).replace(" unspecifiedframe$()", "")
    return _OPERATOR.sub(r"\1(", text)


def _is_connect(column: Any) -> bool:
    return type(column).__module__.startswith("pyspark.sql.connect")


def _tree(column: Any) -> tuple[Tree, Any]:
    if _is_connect(column):
        from .connect import ConnectTree

        return ConnectTree(), column._expr
    from .classic import ClassicTree

    tree = ClassicTree()
    return tree, tree.expression(column)
