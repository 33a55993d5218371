"""GROUP BY as windows: one row is kept of each partition, and aggregates are calls over the whole partition.

    SELECT k, sum(x) + 1 FROM t GROUP BY k HAVING max(x) > 2

    SELECT k, `sum(x)` + 1 FROM (
        SELECT k, sum(x) OVER (PARTITION BY k), max(x) OVER (PARTITION BY k) FROM t
        QUALIFY row_number() OVER (PARTITION BY k ORDER BY 1) = 1
    ) WHERE `max(x)` > 2

The columns of the groups are named by their texts, which messages show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .._model.calls import Call, Derived
from .._model.catalog import Function, function_of
from .._model.expressions import Column, Item, Literal, Sql
from .._model.names import unused_name
from .._model.outputs import Output
from .._model.result_columns import result_column
from .._model.windows import Order, Window
from ..exceptions import SpecError
from .grammar import function_name, syntax, text_of
from .sql_text import bare_functions, read_tree, refuse_bare_functions

__all__ = ["Groups", "bare_aggregates"]


def bare_aggregates(tree: Any) -> list[Any]:
    """List the outermost aggregates without OVER in a tree, with FILTER and what else belongs to them.

    Parameters
    ----------
    tree
        A tree of sqlglot's.

    Returns
    -------
    list
        The trees.
    """
    found = []
    for function, outer in bare_functions(tree):
        name = function_name(function) or ""
        known = function_of(name)
        if known is not None and _is_aggregate(known):
            found.append(outer)
    inside = {id(node) for one in found for node in one.walk() if node is not one}
    return [one for one in found if id(one) not in inside]


def _is_aggregate(function: Function) -> bool:
    """Whether Spark has a function as an aggregate: of those that pick rows, any, the first and the last value."""
    return function.family == "aggregate" or (function.family == "value" and len(function.arguments) == 1)


class Groups:
    """The groups of a query: their keys, and the aggregates that other clauses read.

    Parameters
    ----------
    keys
        The trees of the keys.
    columns
        The columns of the rows that are grouped.
    """

    def __init__(self, keys: Sequence[Any], columns: Sequence[str]) -> None:
        self._exp = syntax()
        self._columns = columns
        self._outputs: list[Output] = []
        #: The names of the groups' columns by the canonical texts of the trees that they hold.
        self._named: dict[str, str] = {}
        self._taken: set[str] = set()
        self._keys: list[Any] = []
        for key in keys:
            self._add_key(key.copy().unnest())
        #: Without keys all rows are one group, also where there are none.
        self.key_count = len(self._keys)
        # a key that is a literal tells no groups apart
        self._partition_by = [k for k in self._keys if not isinstance(read_tree(k), Literal)]
        self._first = Call("row_number", window=Window(tuple(map(read_tree, self._partition_by)), (Order(Literal(1)),)))

    def is_key(self, name: str) -> bool:
        """Whether a name is that of a key that is a column."""
        return any(isinstance(k, self._exp.Column) and k.name.lower() == name for k in self._keys)

    def _add_key(self, key: Any) -> None:
        for what, found in (("window function", key.find(self._exp.Window)), ("aggregate", bare_aggregates(key))):
            if found:
                raise SpecError(f"GROUP BY {text_of(key)}: a key has no {what}; compute it in a subquery of FROM first")
        text = self._canonical(key)
        if text in self._named:
            return
        self._keys.append(key)
        expression = read_tree(key)
        if isinstance(expression, Column):
            name = self._new_name(text, expression.name)
            self._outputs.append(Output(name, None, expression.name))
        else:
            assert not isinstance(expression, Item)
            name = self._new_name(text, text_of(key))
            self._outputs.append(Output(name, Derived(expression, {}, text_of(key))))

    def over(self, tree: Any) -> Any:
        """Return a tree over the groups' columns in place of one over rows; None for None.

        Parameters
        ----------
        tree
            The tree.

        Returns
        -------
        sqlglot.exp.Expr or None
            The tree that reads the groups.

        Raises
        ------
        SpecError
            For a column that is neither a key nor in an aggregate.
        """
        if tree is None:
            return None
        root = self._exp.paren(tree)  # a copy, which may be replaced as a whole
        aggregates = {id(a) for a in bare_aggregates(root)}
        for _, outer in bare_functions(root):
            if id(outer) not in aggregates and not any(id(p) in aggregates for p in _parents(outer)):
                refuse_bare_functions(outer)
        pending = [root.this]
        while pending:
            node = pending.pop()
            named = self._named.get(self._canonical(node)) if isinstance(node, self._exp.Condition) else None
            if named is None and id(node) in aggregates:
                named = self._aggregate(node)
            if named is not None:
                node.replace(self._exp.column(named, quoted=True))
            elif isinstance(node, self._exp.Column):
                self._refuse_column(node, tree)
            elif isinstance(node, self._exp.Window):
                pending += self._read_by_window(node)
            else:
                pending += list(node.iter_expressions())
        return root.this

    def _read_by_window(self, window: Any) -> list[Any]:
        """Return what a window call reads: all but the function itself, which is none of groups."""
        node, found = window, []
        while not isinstance(node, (self._exp.Anonymous, self._exp.Any)):
            found += [part for part in node.iter_expressions() if part is not node.this]
            node = node.this
        return found + list(node.iter_expressions())

    def _refuse_column(self, column: Any, tree: Any) -> None:
        name = column.parts[0].name
        if name not in self._columns:
            return  # which reading it refuses
        keys = ", ".join(map(text_of, (*self._keys, column)))
        raise SpecError(
            f"{text_of(tree)}: {text_of(column)} is neither a key of GROUP BY nor in an aggregate; write GROUP BY "
            f"{keys}, or any_value({text_of(column)}); an aggregate that keeps all rows has OVER (PARTITION BY ...)"
        )

    def _aggregate(self, tree: Any) -> str:
        made = tree.copy()
        for _, inner in bare_functions(made):
            if inner is not made:
                raise SpecError(
                    f"{text_of(tree)}: {text_of(inner)} is an aggregate in an aggregate; compute it in a subquery of "
                    "FROM first, or write OVER () behind the outer one"
                )
        if tree.find(self._exp.Window) is not None:
            raise SpecError(
                f"{text_of(tree)}: a window function cannot stand in an aggregate, which is computed before it; "
                "compute it in a subquery of FROM first"
            )
        call = read_tree(self._exp.Window(this=made, partition_by=[k.copy() for k in self._partition_by]))
        assert isinstance(call, Call)
        name = self._new_name(self._canonical(tree), text_of(tree))
        self._outputs.append(Output(name, call))
        return name

    def _new_name(self, canonical: str, name: str) -> str:
        name = unused_name(name, self._taken)
        self._taken.add(name.lower())
        self._named[canonical] = name
        return name

    def outputs(self) -> list[Output]:
        """Return the columns of the groups: keys, then aggregates; all that :meth:`over` was asked for."""
        if not self._outputs:  # SELECT 1 ... HAVING true
            self._outputs.append(Output("row_number()", self._first))
        return self._outputs

    def first_rows(self) -> Derived:
        """Return the condition that keeps one row of each group: the first that came."""
        column = result_column(self._first)
        return Derived(Sql(f"{column} = 1"), {column: self._first}, "GROUP BY")

    def _canonical(self, tree: Any) -> str:
        """Return a text that is the same for trees that differ only in quotes and in the case of functions."""
        made = tree.copy()
        while isinstance(made, self._exp.Paren):
            made = made.this
        for node in made.find_all(self._exp.Identifier, self._exp.Anonymous):
            if isinstance(node, self._exp.Identifier):
                node.set("quoted", True)
            elif isinstance(node.this, str):
                node.set("this", node.this.lower())
        return text_of(made)


def _parents(node: Any) -> Iterator[Any]:
    while (node := node.parent) is not None:
        yield node
