"""Parses the query of ``wr.sql`` into the tree of its relations: SELECTs over frames, SELECTs and UNIONs.

    WITH a AS (SELECT .. FROM t) SELECT .. FROM a        Selected(Selected(Named(t)))

The names of a WITH are replaced by their relations here. A relation that is named twice is one object, and is computed
once. The clauses of each SELECT stay trees of sqlglot's until the columns below them are known (``_parse/query.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

from ..exceptions import SpecError, UnsupportedError
from .grammar import parse, syntax, text_of

__all__ = ["Joined", "Named", "Relation", "Selected", "United", "read_relation", "refuse_clause"]

# clauses that a SELECT may have; all others are refused
_CLAUSES = {
    "expressions", "where", "group", "having", "windows", "qualify", "order", "limit", "offset", "distinct", "kind",
    "hint", "operation_modifiers",
}  # fmt: skip
_NAMES = {
    "laterals": "LATERAL VIEW", "sort": "SORT BY", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY",
    "into": "INTO", "match": "MATCH", "sample": "TABLESAMPLE", "pivots": "PIVOT", "prewhere": "PREWHERE",
    "connect": "CONNECT BY", "by_name": "BY NAME", "materialized": "MATERIALIZED", "recursive": "RECURSIVE",
}  # fmt: skip
#: The clauses of a whole query, which parentheses and UNION may have.
_MODIFIERS = ("order", "limit", "offset")


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """What a name in FROM stands for: a frame, or a table of Spark's.

    Parameters
    ----------
    table
        The name's tree.
    """

    table: Any


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """A FROM that joins, which a host refuses by its own words.

    Parameters
    ----------
    text
        The FROM.
    table
        The name's tree of the first frame; None where that is no name.
    left, right
        The names of the first two frames.
    """

    text: str
    table: Any
    left: str
    right: str


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """One SELECT.

    Parameters
    ----------
    tree
        The SELECT without its FROM and WITH.
    source
        What it selects from.
    qualifier
        The name by which its columns may be qualified, in lower case; empty if there is none.
    renamed
        The names that FROM gives to the columns, ``t AS x(a, b)``; None if they keep theirs.
    text
        The SELECT as text, for messages.
    """

    tree: Any
    source: Relation
    qualifier: str
    renamed: tuple[str, ...] | None
    text: str

    @property
    def is_grouped(self) -> bool:
        """Whether the SELECT has GROUP BY or HAVING."""
        return self.tree.args.get("group") is not None or self.tree.args.get("having") is not None


@dataclass(frozen=True, slots=True, eq=False)
class United:
    """UNION ALL.

    Parameters
    ----------
    parts
        The relations.
    """

    parts: tuple[Relation, ...]


#: A relation in FROM.
Relation: TypeAlias = Named | Selected | United | Joined


@lru_cache(maxsize=256)
def read_relation(text: str) -> Relation:
    """Parse a query. Recent results are cached, and nobody changes their trees.

    Parameters
    ----------
    text
        The query.

    Returns
    -------
    Relation
        The outermost relation.

    Raises
    ------
    SpecError
        If the text is not a valid query.
    UnsupportedError
        For clauses that wr.sql does not have.
    """
    exp = syntax()
    tree = parse(text)
    if not isinstance(tree, (exp.Select, exp.SetOperation, exp.Subquery)):
        raise SpecError(f"{text!r} is no query; write SELECT ... FROM frame")
    return _relation(tree, {})


def refuse_clause(what: str) -> NoReturn:
    """Refuse what wr.sql does not have."""
    raise UnsupportedError(
        f"{what}: wr.sql has no such clause. Do it before, with the frame's own methods or with spark.sql, and give "
        "wr.sql the frame that comes of it; or on Spark write all of it with spark.sql and let wr.spark.accelerate(df) "
        "compute its windows"
    )


def _relation(tree: Any, scope: Mapping[str, Relation]) -> Relation:
    exp = syntax()
    scope = _with(tree, scope)
    if isinstance(tree, exp.Select):
        return _selected(tree, scope)
    if isinstance(tree, exp.Subquery):
        if not isinstance(tree.this, (exp.Select, exp.SetOperation, exp.Subquery)):
            refuse_clause(f"parentheses around {text_of(tree.this)}")
        _check(tree, {"this", "alias", "with_", *_MODIFIERS})
        return _modified(tree, _relation(tree.this, scope))
    if not isinstance(tree, exp.Union):
        refuse_clause(type(tree).__name__.upper())
    _check(tree, {"this", "expression", "distinct", "with_", *_MODIFIERS})
    parts: list[Relation] = []
    for side in (tree.this, tree.expression):
        part = _relation(side, scope)
        parts += part.parts if isinstance(part, United) else (part,)
    united: Relation = United(tuple(parts))
    if tree.args.get("distinct"):
        united = _star(united, text_of(tree), distinct=True)
    return _modified(tree, united)


def _with(tree: Any, scope: Mapping[str, Relation]) -> Mapping[str, Relation]:
    """Return the relations that names stand for within a query, its WITH among them."""
    clause = tree.args.get("with_")
    if clause is None:
        return scope
    _check(clause, {"expressions"}, "WITH ")
    found, own = dict(scope), set()
    for part in clause.expressions:
        _check(part, {"this", "alias"}, "WITH ")
        name = part.alias.lower()
        if name in own:
            raise SpecError(f"WITH defines {part.alias!r} twice; give one of them another name")
        own.add(name)
        columns = tuple(c.name for c in part.args["alias"].columns)
        inner = _relation(part.this, found)
        found[name] = _star(inner, text_of(part), columns) if columns else inner
    tree.set("with_", None)
    return found


def _selected(tree: Any, scope: Mapping[str, Relation]) -> Relation:
    exp = syntax()
    text = text_of(tree)
    source = tree.args.get("from_")
    if source is None:
        raise SpecError(
            f"{text!r} has no FROM; name the frame there, and give it by that name: wr.sql(..., name=frame)"
        )
    joins = tree.args.get("joins") or source.this.args.get("joins")
    tree.set("from_", None)
    tree.set("joins", None)
    _check(tree, _CLAUSES)
    distinct = tree.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        refuse_clause("DISTINCT ON")
    for inner in tree.find_all(exp.Select, exp.SetOperation):
        if inner is not tree:
            refuse_clause(f"the subquery {text_of(inner)} outside FROM")
    if joins:
        left, right = source.this, joins[0].this
        tables = (exp.Table, exp.Subquery)
        return Joined(
            f"FROM {text_of(left)} {' '.join(map(text_of, joins))}",
            left if isinstance(left, exp.Table) else None,
            left.alias_or_name or "left",
            (right.alias_or_name if isinstance(right, tables) else "") or "right",
        )
    node = source.this
    alias = node.args.get("alias")
    renamed = tuple(c.name for c in alias.columns) if alias is not None and alias.columns else None
    qualifier = node.alias_or_name.lower()
    if isinstance(node, exp.Subquery):
        below = _relation(node, scope)
    elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        _check(node, {"this", "db", "catalog", "alias"})
        named = scope.get(node.name.lower()) if len(node.parts) == 1 else None
        below = Named(node) if named is None else named
    else:
        refuse_clause(f"{text_of(node)} in FROM")
    return Selected(tree, below, qualifier, renamed, text)


def _check(tree: Any, known: set[str], where: str = "") -> None:
    """Refuse the clauses of a tree that are not known."""
    for name, clause in tree.args.items():
        if clause and name not in known:
            refuse_clause(where + _NAMES.get(name, name.rstrip("_").upper().replace("_", " ")))


def _modified(tree: Any, below: Relation) -> Relation:
    """Apply the ORDER BY, LIMIT and OFFSET of parentheses or a UNION."""
    clauses = {name: tree.args.get(name) for name in _MODIFIERS if tree.args.get(name) is not None}
    return _star(below, text_of(tree), **clauses) if clauses else below


def _star(below: Relation, text: str, renamed: tuple[str, ...] | None = None, *, distinct: bool = False,
          **clauses: Any) -> Selected:  # fmt: skip
    """Make a ``SELECT *`` with clauses over a relation."""
    exp = syntax()
    tree = exp.Select(expressions=[exp.Star()], **clauses)
    if distinct:
        tree.set("distinct", exp.Distinct())
    return Selected(tree, below, "", renamed, text)
