"""Resolves one SELECT of ``wr.sql`` over the columns below it, as outputs for :func:`windrow.select`.

    FROM -> WHERE -> GROUP BY, HAVING -> items, window calls among them -> QUALIFY -> DISTINCT -> ORDER BY -> LIMIT

This module inlines named windows, replaces aliases by their expressions, and makes the checks that only SQL needs. The
expressions of QUALIFY and ORDER BY become hidden columns of the select. GROUP BY is a query of its own below
(``_parse/grouping.py``). The hosts evaluate the query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from .._model.calls import Call, Derived
from .._model.expressions import Column, Expr, Item, Literal, Scalar
from .._model.names import Names, unknown_column
from .._model.outputs import Output, expression_of
from .._model.replace import replace
from .._model.windows import Order
from ..exceptions import SpecError, suggest
from .bounds import upper_bounds
from .grammar import syntax, text_of
from .grouping import Groups, bare_aggregates
from .limits import excerpt
from .literals import value_of
from .relations import Selected, refuse_clause
from .sql_text import read_order, read_tree, refuse_bare_functions

__all__ = ["Query", "read_query"]

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
    below
        The query over whose result this one is computed: of groups, of columns that FROM renames; None for the frame's
        own rows.
    group_keys
        The number of keys of the groups of which the query gives one row each, and without keys one over no rows, too;
        None where there are no groups.
    bounds
        Columns, of what is below, of which ``where`` demands that they are at most a whole number.
    most
        A call, of which QUALIFY or a query around this one demands that it is at most a whole number: rows with a
        greater one may be left out.
    """

    where: Scalar | None
    outputs: list[Output]
    distinct: bool = False
    qualify: Expr | None = None
    order: Sequence[Order] = ()
    limit: int | None = None
    offset: int = 0
    below: Query | None = None
    group_keys: int | None = None
    bounds: Sequence[tuple[str, int]] = ()
    most: tuple[Call, int] | None = None


def read_query(select: Selected, columns: Sequence[str], *, case_insensitive: bool) -> Query:
    """Resolve the names of a query.

    Parameters
    ----------
    select
        The SELECT from :func:`windrow._parse.relations.read_relation`.
    columns
        The columns of what is in FROM.
    case_insensitive
        Whether column names are matched case-insensitively where none is the same.

    Returns
    -------
    Query
        The query.

    Raises
    ------
    SpecError
        For unknown names, a window function in WHERE or without OVER, QUALIFY without a window function.
    """
    return _read_query(select, tuple(columns), case_insensitive)


@lru_cache(maxsize=256)
def _read_query(select: Selected, columns: tuple[str, ...], case_insensitive: bool) -> Query:
    return _QueryReader(select, columns, case_insensitive).query()


class _Item(NamedTuple):
    """An item of SELECT: its name, if it has one, its tree, and which column it is if it is one of a star's."""

    name: str | None
    shown: str
    tree: Any
    position: int | None = None


class _QueryReader:
    """Resolves a query, given the columns of its frame."""

    def __init__(self, select: Selected, columns: Sequence[str], case_insensitive: bool) -> None:
        self.tree = select.tree.copy()
        self.below: Query | None = None
        if select.renamed is not None:
            self.below, columns = _renaming(select, columns), select.renamed
        self.columns = list(columns)
        self.names = Names(self.columns, case_insensitive=case_insensitive)
        self.qualifier = select.qualifier
        self.is_grouped = False
        self.exp = syntax()

    def query(self) -> Query:
        self._expand_windows()
        for column in list(self.tree.find_all(self.exp.Column)):
            if column.table.lower() == self.qualifier and column.table and not column.args.get("db"):
                column.set("table", None)
        shown = [self._shown(item) for item in self.tree.expressions]
        self._spell_names_as_the_columns()
        items = self._items(shown)
        aliases = self._named([(i.name or i.shown, i.tree) for i in items])
        order = self._order_trees(items, aliases)
        qualify = self._clause("qualify", lambda tree: self._with_aliases(tree, aliases))
        distinct = self.tree.args.get("distinct") is not None
        limit, offset = self._count("limit"), self._count("offset") or 0
        groups = self._groups(items, aliases)
        if groups is None:
            outputs = [self._output(item) for item in items]
            keys = self._order(order, outputs, distinct=distinct)
            qualified = self._qualify(qualify, outputs)
            query = Query(self._where(), outputs, distinct, qualified, keys, limit, offset, self.below)
            return replace(query, bounds=self._bounds(), most=self._most(qualify))
        self.is_grouped = True
        having = self._clause(
            "having", lambda tree: self._with_aliases(tree, {n: t for n, t in aliases.items() if not groups.is_key(n)})
        )
        if having is not None and (window := having.find(self.exp.Window)) is not None:
            raise SpecError(
                f"HAVING {text_of(having)}: HAVING picks groups before windows are computed, so {text_of(window)} "
                "cannot stand there; write QUALIFY"
            )
        items = [i._replace(tree=groups.over(i.tree), position=None) for i in items]
        having, qualify = groups.over(having), groups.over(qualify)
        for key in order:
            key.set("this", groups.over(key.this))
        below = Query(
            self._where(),
            groups.outputs(),
            qualify=groups.first_rows(),
            below=self.below,
            group_keys=groups.key_count,
        )
        self.columns = [o.name for o in below.outputs]
        self.names = Names(self.columns, case_insensitive=False)
        outputs = [self._output(item) for item in items]
        keys = self._order(order, outputs, distinct=distinct)
        where = None if having is None else _scalar(having)
        return Query(where, outputs, distinct, self._qualify(qualify, outputs), keys, limit, offset, below)

    def _expand_windows(self) -> None:
        windows: dict[str, Any] = {}
        for window in self.tree.args.get("windows") or ():
            if window.name in windows:  # Spark: w and W are two windows
                raise SpecError(f"WINDOW defines {window.name!r} twice; give one of them another name")
            windows[window.name] = window
        self.tree.set("windows", None)
        for window in [w for w in self.tree.find_all(self.exp.Window) if w.args.get("alias") is not None]:
            _expand_named_window(window, windows, ())

    def _shown(self, item: Any) -> str:
        """Name an item without an alias."""
        is_name = isinstance(item, self.exp.Column) and not item.is_star and not item.table
        return str(item.name) if is_name else text_of(item)

    def _spell_names_as_the_columns(self) -> None:
        """Spell each column as the frame does, where only one differs from it by case alone."""
        for column in self.tree.find_all(self.exp.Column):
            if column.is_star:
                continue
            first = column.parts[0]
            found = self.names.named(first.name)
            if len(found) == 1 and self.columns[found[0]] != first.name:
                quoted = True if first.args.get("quoted") else None
                first.replace(self.exp.to_identifier(self.columns[found[0]], quoted=quoted))

    def _items(self, shown: Sequence[str]) -> list[_Item]:
        """Return the items; a star becomes one per column, and an alias in a later item what it stands for."""
        exp = self.exp
        items: list[_Item] = []
        named: list[tuple[str, Any]] = []
        for text, item in zip(shown, self.tree.expressions, strict=True):
            name, tree = (item.alias, item.this) if isinstance(item, exp.Alias) else (None, item)
            if tree.is_star and not isinstance(tree, exp.Anonymous):
                left_out = self._left_out(tree)
                items += [
                    _Item(c, c, exp.column(c, quoted=True), i) for i, c in enumerate(self.columns) if i not in left_out
                ]
                continue
            aliases = self._named(named)
            tree = self._with_aliases(tree, {n: t for n, t in aliases.items() if not self._is_column(n)})
            items.append(_Item(name, text, tree))
            if name is not None:
                named.append((name, tree))
        return items

    def _left_out(self, tree: Any) -> set[int]:
        """Return the positions of the columns that ``* EXCEPT (...)`` leaves out."""
        star = tree.this if isinstance(tree, self.exp.Column) else tree
        if isinstance(tree, self.exp.Column) and tree.table:
            if tree.args.get("db"):
                refuse_clause(text_of(tree))
            known = f"; the columns of FROM are {self.qualifier}.*" if self.qualifier else "; write *"
            raise SpecError(f"{text_of(tree)}: FROM names nothing {tree.table!r}{known}")
        if any(clause for name, clause in star.args.items() if name != "except_"):
            refuse_clause(text_of(star))
        found: set[int] = set()
        for column in star.args.get("except_") or ():
            if not isinstance(column, self.exp.Column) or column.table:
                refuse_clause(text_of(star))
            positions = self.names.named(column.name)
            if not positions:
                raise unknown_column(column.name, self.columns, text_of(star))
            found.update(positions)
        return found

    def _output(self, item: _Item) -> Output:
        if item.position is not None:
            return Output(item.shown, None, position=item.position)
        expression = read_tree(item.tree)
        if isinstance(expression, Column):
            return Output(item.name or item.shown, None, self._exact(expression.name))
        if isinstance(expression, (Call, Derived)):
            return Output(item.name or (item.shown if self.is_grouped else expression.sql), expression)
        assert not isinstance(expression, Item)
        return Output(item.name or item.shown, Derived(expression, {}, text_of(item.tree)))

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

    def _clause(self, name: str, resolved: Callable[[Any], Any]) -> Any:
        clause = self.tree.args.get(name)
        return None if clause is None else resolved(clause.this)

    def _with_aliases(self, tree: Any, aliases: Mapping[str, list[Any]]) -> Any:
        """Replace aliases by their expressions; an ambiguous alias is an error, as in Spark.

        In an aggregate that is computed over groups a column goes first.
        """
        exp = self.exp
        of_rows = {id(c) for call in bare_aggregates(tree) for c in call.find_all(exp.Column)}
        # listed first: an alias is not looked up in what another stands for
        for column in list(tree.find_all(exp.Column)):
            if column.table or column.name.lower() not in aliases:
                continue
            if id(column) in of_rows and self._is_column(column.name):
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
            simple = isinstance(meant, (exp.Column, exp.Window, exp.Literal, exp.Anonymous))
            column.replace(meant if simple else exp.paren(meant, copy=False))
        return tree

    def _groups(self, items: Sequence[_Item], aliases: Mapping[str, list[Any]]) -> Groups | None:
        """Return the groups of a query with GROUP BY, HAVING or aggregates without OVER; None for all others."""
        group, clauses = self.tree.args.get("group"), ("having", "qualify", "order")
        trees = [*(i.tree for i in items), *(self.tree.args[c] for c in clauses if self.tree.args.get(c) is not None)]
        if group is None and self.tree.args.get("having") is None and not any(map(bare_aggregates, trees)):
            return None
        keys: list[Any] = []
        if group is not None:
            if group.args.get("all") is False:
                refuse_clause("GROUP BY DISTINCT")
            for name, clause in group.args.items():
                if clause and name not in ("expressions", "all"):
                    refuse_clause(f"GROUP BY ... {name.upper().replace('_', ' ')}")
            given = list(group.expressions)
            if group.args.get("all"):
                given = [*([self.exp.column("all")] if given or self._is_column("all") else []), *given]
                if not given:
                    keys = [i.tree for i in items if not bare_aggregates(i.tree)]
            keys += [self._group_key(key, items, aliases) for key in given]
        return Groups(keys, self.columns)

    def _group_key(self, key: Any, items: Sequence[_Item], aliases: Mapping[str, list[Any]]) -> Any:
        if isinstance(key, self.exp.Literal) and not key.is_string:
            return items[self._item_number(key, "GROUP BY", len(items))].tree
        if isinstance(key, (self.exp.Tuple, self.exp.Cube, self.exp.Rollup, self.exp.GroupingSets)):
            refuse_clause(f"GROUP BY {text_of(key)}")
        return self._with_aliases(key, {n: t for n, t in aliases.items() if not self._is_column(n)})

    @staticmethod
    def _item_number(key: Any, clause: str, items: int) -> int:
        number = value_of(key)
        if not isinstance(number, int) or not 1 <= number <= items:
            raise SpecError(f"{clause} {excerpt(str(key.this))}: there are items 1 to {items}")
        return number - 1

    def _where(self) -> Scalar | None:
        where = self.tree.args.get("where")
        if where is None:
            return None
        if (window := where.find(self.exp.Window)) is not None:
            raise SpecError(
                f"WHERE {text_of(where.this)}: WHERE picks rows before windows are computed, so {text_of(window)} "
                "cannot stand there; write QUALIFY"
            )
        if aggregates := bare_aggregates(where.this):
            raise SpecError(
                f"WHERE {text_of(where.this)}: WHERE picks rows before groups are made, so {text_of(aggregates[0])} "
                "cannot stand there; write HAVING"
            )
        return _scalar(where.this)

    def _qualify(self, tree: Any, outputs: Sequence[Output]) -> Expr | None:
        if tree is None:
            return None
        condition = read_tree(tree)
        if not any(_has_calls(e) for e in (condition, *(o.item for o in outputs))):
            raise SpecError(f"QUALIFY {text_of(tree)}: neither it nor an item has a window function; write WHERE")
        return condition

    def _bounds(self) -> list[tuple[str, int]]:
        where = self.tree.args.get("where")
        found = [] if where is None else upper_bounds(where.this)
        return [(e.name, most) for e, most in found if isinstance(e, self.exp.Column) and not e.table]

    def _most(self, qualify: Any) -> tuple[Call, int] | None:
        for expression, most in [] if qualify is None else upper_bounds(qualify):
            call = read_tree(expression) if isinstance(expression, self.exp.Window) else None
            if isinstance(call, Call):
                return call, most
        return None

    def _order_trees(self, items: Sequence[_Item], aliases: Mapping[str, list[Any]]) -> list[Any]:
        """Return the order keys as trees; positions, aliases and ALL are replaced by the items that they stand for."""
        exp, clause = self.exp, self.tree.args.get("order")
        keys = [] if clause is None else list(clause.expressions)
        for key in keys:
            node = key.this
            if isinstance(node, exp.Var) and node.name.upper() == "ALL":
                if len(keys) == 1 and not self._is_column("all") and "all" not in aliases:
                    return [self._with_tree(key, item.tree) for item in items]
                node = exp.column(node.name)
            if isinstance(node, exp.Literal) and not node.is_string:
                key.set("this", items[self._item_number(node, "ORDER BY", len(items))].tree.copy())
            else:
                key.set("this", self._with_aliases(node, aliases))
        return keys

    @staticmethod
    def _with_tree(key: Any, tree: Any) -> Any:
        made = key.copy()
        made.set("this", tree.copy())
        return made

    def _order(self, keys: Sequence[Any], outputs: Sequence[Output], *, distinct: bool) -> list[Order]:
        orders = []
        for key in keys:
            refuse_bare_functions(key.this)
            order = read_order(key)
            if isinstance(order.key, Column):
                order = replace(order, key=Column(self._exact(order.key.name)))
            if distinct and not any(order.key.equals(expression_of(o)) for o in outputs):
                raise SpecError(f"ORDER BY {text_of(key.this)}: with SELECT DISTINCT only items can be ordered by")
            orders.append(order)
        return orders

    def _count(self, clause: str) -> int | None:
        node = self.tree.args.get(clause)
        if node is None:
            return None
        expression = node.args.get("expression")
        if expression is None or any(c for n, c in node.args.items() if n not in ("this", "expression")):
            raise SpecError(f"{text_of(node).strip()} is not written as in Spark: LIMIT n OFFSET m")
        if clause == "limit" and isinstance(expression, self.exp.Var) and expression.name.upper() == "ALL":
            return None
        value = read_tree(expression)
        if (
            isinstance(value, Literal)
            and isinstance(value.value, int)
            and not isinstance(value.value, bool)
            and value.value >= 0
        ):
            return min(value.value, _ALL_ROWS)
        raise SpecError(f"{clause.upper()} {text_of(expression)} is not a number of rows")


def _renaming(select: Selected, columns: Sequence[str]) -> Query:
    """Return the query that gives columns the names that FROM has for them."""
    names = select.renamed or ()
    if len(names) != len(columns):
        raise SpecError(
            f"FROM names {len(names)} columns, ({', '.join(names)}), and there are {len(columns)}: {', '.join(columns)}"
        )
    return Query(None, [Output(name, None, position=i) for i, name in enumerate(names)])


def _scalar(tree: Any) -> Scalar:
    condition = read_tree(tree)
    assert not isinstance(condition, Item)
    return condition


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
