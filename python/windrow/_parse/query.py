"""Parses the query of ``wr.sql``: one ``SELECT ... FROM frame``, as outputs for :func:`windrow.select`.

    FROM -> WHERE -> items, window calls among them -> QUALIFY -> DISTINCT -> ORDER BY -> LIMIT

This module inlines named windows, replaces aliases by their expressions, and makes the checks that only SQL needs. The
expressions of QUALIFY and ORDER BY become hidden columns of the select. The hosts evaluate the query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from .._model.calls import Call, Derived
from .._model.expressions import Column, Expr, Item, Literal, Scalar
from .._model.names import Names
from .._model.outputs import Output, expression_of
from .._model.replace import replace
from .._model.windows import Order
from ..exceptions import SpecError, UnsupportedError, suggest
from .grammar import parse, syntax, text_of
from .limits import excerpt
from .literals import value_of
from .sql_text import read_order, read_tree, refuse_bare_functions

__all__ = ["Query", "read_query", "read_select"]

# clauses that a SELECT may have; all others are refused
_CLAUSES = {
    "expressions", "from_", "where", "windows", "qualify", "order", "limit", "offset", "distinct", "kind", "hint",
    "operation_modifiers",
}  # fmt: skip
_NAMES = {
    "with_": "WITH", "joins": "JOIN", "laterals": "LATERAL VIEW", "group": "GROUP BY", "having": "HAVING",
    "sort": "SORT BY", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY", "into": "INTO", "match": "MATCH",
    "sample": "TABLESAMPLE", "pivots": "PIVOT", "prewhere": "PREWHERE", "connect": "CONNECT BY",
}  # fmt: skip
# more rows than a frame can have: libraries use signed 64-bit row counts
_ALL_ROWS = 2**62


@dataclass(frozen=True, slots=True)
class Query:
    """A query whose names are resolved.

    Parameters
    ----------
    where
        The condition for rows before the windows; None for all rows.
    outputs
        The items, in order.
    distinct
        Whether duplicate rows are removed.
    qualify
        The condition for rows of the result; None for all rows.
    order
        The order keys of the result.
    limit, offset
        The maximum number of rows, and the number of rows skipped before them.
    """

    where: Scalar | None
    outputs: list[Output]
    distinct: bool
    qualify: Expr | None
    order: list[Order]
    limit: int | None
    offset: int


def read_select(text: str) -> Any:
    """Parse a query into a tree of sqlglot's.

    Parameters
    ----------
    text
        The query.

    Returns
    -------
    sqlglot.exp.Select
        One SELECT from one name.

    Raises
    ------
    SpecError
        If the text is not a valid query.
    UnsupportedError
        For anything beyond one SELECT from one frame.
    """
    exp = syntax()
    tree = parse(text)
    if not isinstance(tree, exp.Select):
        if isinstance(tree, (exp.SetOperation, exp.Subquery)):
            _refuse_clause("UNION and its kin" if isinstance(tree, exp.SetOperation) else "parentheses around a query")
        raise SpecError(f"{text!r} is no query; write SELECT ... FROM frame")
    for name, clause in tree.args.items():
        if clause and name not in _CLAUSES:
            _refuse_clause(_NAMES.get(name, name.rstrip("_").upper()))
    source = tree.args.get("from_")
    if source is None:
        raise SpecError(
            f"{text!r} has no FROM; name the frame there, and give it by that name: wr.sql(..., name=frame)"
        )
    if not isinstance(source.this, exp.Table) or not isinstance(source.this.this, exp.Identifier):
        _refuse_clause("a subquery or a function in FROM")
    for name, part in source.this.args.items():
        if part and name not in ("this", "db", "catalog", "alias"):
            _refuse_clause(_NAMES.get(name, name.rstrip("_").upper()))
    for inner in tree.find_all(exp.Select, exp.SetOperation):
        if inner is not tree:
            _refuse_clause(f"the subquery {text_of(inner)}")
    return tree


def _refuse_clause(what: str) -> NoReturn:
    raise UnsupportedError(
        f"{what}: wr.sql answers one SELECT from one frame. Do it before, with the frame's own methods or with "
        "spark.sql, and give wr.sql the frame that comes of it; or on Spark write all of it with spark.sql and let "
        "wr.spark.accelerate(df) compute its windows"
    )


def read_query(tree: Any, columns: Sequence[str], *, case_insensitive: bool) -> Query:
    """Resolve the names of a query.

    Parameters
    ----------
    tree
        The tree from :func:`read_select`.
    columns
        The columns of the frame in FROM.
    case_insensitive
        Whether column names are matched case-insensitively.

    Returns
    -------
    Query
        The query.

    Raises
    ------
    SpecError
        For unknown names, a window function in WHERE or without OVER, QUALIFY without a window function.
    """
    return _QueryReader(tree, tree.args["from_"].this, columns, case_insensitive).query()


class _QueryReader:
    """Resolves a query, given the columns of its frame."""

    def __init__(self, tree: Any, table: Any, columns: Sequence[str], case_insensitive: bool) -> None:
        self.tree = tree
        self.columns = list(columns)
        self.names = Names(self.columns, case_insensitive=case_insensitive)
        alias = table.args.get("alias")
        if alias is not None and alias.columns:
            raise UnsupportedError(f"FROM {text_of(table)}: columns cannot be renamed there; rename the frame's own")
        self.qualifier = (table.name if alias is None else alias.name).lower()
        self.exp = syntax()

    def query(self) -> Query:
        windows: dict[str, Any] = {}
        for window in self.tree.args.get("windows") or ():
            if window.name in windows:  # Spark: w and W are two windows
                raise SpecError(f"WINDOW defines {window.name!r} twice; give one of them another name")
            windows[window.name] = window
        self.tree.set("windows", None)
        for window in [w for w in self.tree.find_all(self.exp.Window) if w.args.get("alias") is not None]:
            _expand_named_window(window, windows, ())
        for column in list(self.tree.find_all(self.exp.Column)):
            if column.table.lower() == self.qualifier and column.table and not column.args.get("db"):
                column.set("table", None)
        outputs, trees = self._items()
        aliases = self._named([(o.name, t) for o, t in zip(outputs, trees, strict=True)])
        return Query(
            self._where(),
            outputs,
            self.tree.args.get("distinct") is not None,
            self._qualify(outputs, aliases),
            self._order(outputs, trees, aliases),
            self._count("limit"),
            self._count("offset") or 0,
        )

    def _items(self) -> tuple[list[Output], list[Any]]:
        """Return the items with their trees; ``*`` becomes one tree per column."""
        exp = self.exp
        outputs: list[Output] = []
        trees: list[Any] = []
        named: list[tuple[str, Any]] = []
        for item in self.tree.expressions:
            name, tree = (item.alias, item.this) if isinstance(item, exp.Alias) else (None, item)
            if tree.is_star and not isinstance(tree, exp.Anonymous):
                star = tree.this if isinstance(tree, exp.Column) else tree
                if any(star.args.values()):
                    _refuse_clause(text_of(star))
                outputs += [Output(c, None, position=i) for i, c in enumerate(self.columns)]
                trees += [exp.column(c, quoted=True) for c in self.columns]
                continue
            aliases = self._named(named)
            tree = self._with_aliases(tree, {n: t for n, t in aliases.items() if not self._is_column(n)})
            expression = read_tree(tree)
            trees.append(tree)
            if name is not None:
                named.append((name, tree))
            if isinstance(expression, Column):
                column = self._exact(expression.name)
                outputs.append(Output(expression.name if name is None else name, None, column))
            elif isinstance(expression, (Call, Derived)):
                outputs.append(Output(name or expression.sql, expression))
            else:
                assert not isinstance(expression, Item)
                outputs.append(Output(name or text_of(tree), Derived(expression, {}, text_of(tree))))
        return outputs, trees

    @staticmethod
    def _named(items: Sequence[tuple[str, Any]]) -> dict[str, list[Any]]:
        """Return the distinct trees for each name, case-insensitively."""
        found: dict[str, list[Any]] = {}
        for name, tree in items:
            trees = found.setdefault(name.lower(), [])
            if tree not in trees:
                trees.append(tree)
        return found

    def _exact(self, name: str) -> str:
        return self.columns[self.names.find(name)]

    def _is_column(self, name: str) -> bool:
        return bool(self.names.named(name))

    def _with_aliases(self, tree: Any, aliases: Mapping[str, list[Any]]) -> Any:
        """Replace aliases by their expressions; an ambiguous alias is an error, as in Spark."""
        exp = self.exp
        # listed first: an alias is not looked up in what another stands for
        for column in list(tree.find_all(exp.Column)):
            if column.table or column.name.lower() not in aliases:
                continue
            trees = aliases[column.name.lower()]
            if len(trees) > 1:
                raise SpecError(
                    f"{text_of(tree)}: {column.name!r} is ambiguous, it names the items "
                    f"{' and '.join(map(text_of, trees))}; give them names that differ in more than case"
                )
            meant = trees[0].copy()
            if column is tree:
                return meant
            simple = isinstance(meant, (exp.Column, exp.Window, exp.Literal))
            column.replace(meant if simple else exp.paren(meant, copy=False))
        return tree

    def _where(self) -> Scalar | None:
        where = self.tree.args.get("where")
        if where is None:
            return None
        if (window := where.find(self.exp.Window)) is not None:
            raise SpecError(
                f"WHERE {text_of(where.this)}: WHERE picks rows before windows are computed, so {text_of(window)} "
                "cannot stand there; write QUALIFY"
            )
        condition = read_tree(where.this)
        assert not isinstance(condition, Item)
        return condition

    def _qualify(self, outputs: Sequence[Output], aliases: Mapping[str, list[Any]]) -> Expr | None:
        qualify = self.tree.args.get("qualify")
        if qualify is None:
            return None
        condition = read_tree(self._with_aliases(qualify.this, aliases))
        if not any(_has_calls(e) for e in (condition, *(o.item for o in outputs))):
            raise SpecError(
                f"QUALIFY {text_of(qualify.this)}: neither it nor an item has a window function; write WHERE"
            )
        return condition

    def _order(self, outputs: Sequence[Output], trees: Sequence[Any], aliases: Mapping[str, list[Any]]) -> list[Order]:
        clause = self.tree.args.get("order")
        orders = []
        for key in () if clause is None else clause.expressions:
            node = key.this if isinstance(key, self.exp.Ordered) else key
            if isinstance(node, self.exp.Literal) and not node.is_string:
                number = value_of(node)
                if not isinstance(number, int) or not 1 <= number <= len(trees):
                    raise SpecError(f"ORDER BY {excerpt(str(node.this))}: there are items 1 to {len(trees)}")
                key.set("this", trees[number - 1].copy())
            else:
                key.set("this", self._with_aliases(node, aliases))
            refuse_bare_functions(key.this)
            order = read_order(key)
            if isinstance(order.key, Column):
                order = replace(order, key=Column(self._exact(order.key.name)))
            if self.tree.args.get("distinct") is not None and not any(
                order.key.equals(expression_of(o)) for o in outputs
            ):
                raise SpecError(f"ORDER BY {text_of(node)}: with SELECT DISTINCT only items can be ordered by")
            orders.append(order)
        return orders

    def _count(self, clause: str) -> int | None:
        node = self.tree.args.get(clause)
        if node is None:
            return None
        value = read_tree(node.expression)
        if (
            isinstance(value, Literal)
            and isinstance(value.value, int)
            and not isinstance(value.value, bool)
            and value.value >= 0
        ):
            return min(value.value, _ALL_ROWS)
        raise SpecError(f"{clause.upper()} {text_of(node.expression)} is not a number of rows")


def _has_calls(item: Any) -> bool:
    return isinstance(item, Call) or (isinstance(item, Derived) and bool(item.calls))


def _expand_named_window(window: Any, windows: Mapping[str, Any], seen: tuple[str, ...]) -> None:
    """Replace the name of a window by its definition; clauses added to it must not repeat its own."""
    name = window.args["alias"].name
    base = windows.get(name)
    if base is None:
        raise SpecError(
            f"there is no window {name!r}{suggest(name, windows)}; define it with WINDOW {name} AS (PARTITION BY ...)"
        )
    if name in seen:
        raise SpecError(f"the window {name!r} is made of itself")
    base = base.copy()
    if base.args.get("alias") is not None:
        _expand_named_window(base, windows, (*seen, name))
    added = [part for part in ("partition_by", "order", "spec") if window.args.get(part)]
    if added and base.args.get("spec"):
        raise SpecError(f"the window {name!r} has a frame, so OVER ({name} ...) can add nothing; write OVER {name}")
    for part in ("partition_by", "order", "spec"):
        if not window.args.get(part):
            window.set(part, base.args.get(part))
        elif base.args.get(part):
            clause = "a PARTITION BY" if part == "partition_by" else "an ORDER BY"
            raise SpecError(f"the window {name!r} has {clause} already, and OVER ({name} ...) cannot give it another")
    window.set("alias", None)
