"""Answers queries of several SELECTs: each is computed over the result of those below it, which have what it reads.

columns, from the frames up -> what is read, from the query down -> frames, from the frames up
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from .._model.calls import Call, Derived
from .._model.expressions import Sql
from .._model.names import quoted, unique_names
from .._model.outputs import Output
from .._model.replace import replace
from .._parse.query import Query, read_query
from .._parse.relations import Joined, Named, Relation, Selected, United
from .._plan.bind import plan_steps
from .._plan.pruning import columns_read, pruned
from .._scalars.types import common, shown
from ..exceptions import SpecError, UnsupportedError
from ..settings import current
from .base import ComputeArguments, Host, host_of, opened
from .projected import ProjectedHost
from .query import QueryHost

__all__ = ["answer_relation"]

# how each host joins the frames a and b
_JOINS: Final = {
    "arrow": "{0}.join({1}, keys=[...])",
    "polars": "{0}.join({1}, on=[...])",
    "pandas": "{0}.merge({1}, on=[...])",
    "duckdb": "{0}.join({1}, 'condition')",
    "dataset": "{0}.join({1}, keys=[...])",
    "datafusion": "{0}.join({1}, on=[...])",
    "ibis": "{0}.join({1}, [...])",
    "narwhals": "{0}.join({1}, on=[...])",
    "spark": "{0}.join({1}, on=[...])",
}


@dataclass(eq=False, slots=True)
class _Node:
    """A relation whose columns are known.

    Parameters
    ----------
    columns
        The names of its columns.
    below
        The relations that it is made of.
    query
        The query of a SELECT; None for a frame and for UNION ALL.
    frame
        The number of a frame.
    read
        The positions of the columns that are read of it.
    """

    columns: list[str]
    below: list[_Node] = field(default_factory=list)
    query: Query | None = None
    frame: int | None = None
    read: set[int] = field(default_factory=set)


def answer_relation(relation: Relation, find: Callable[[Any], Any], refused: SpecError | None = None) -> Any:
    """Answer a query.

    Parameters
    ----------
    relation
        The query's outermost relation.
    find
        Gives the frame of a name in FROM.
    refused
        What Spark said of the query, where it was asked.

    Returns
    -------
    same kind as the frames
        The result.

    Raises
    ------
    SpecError
        For unknown names, and frames of several kinds.
    UnsupportedError
        For joins, and more than one SELECT on frames whose host does not answer it.
    """
    if isinstance(relation, Selected) and isinstance(relation.source, Named):
        given = find(relation.source.table)
        host, frame = opened(given)
        answers_all = isinstance(host, (QueryHost, ProjectedHost))
        if relation.is_grouped and not answers_all:
            raise refused or _several_selects(host, relation.text)
        query = host.query(frame, relation)
        if query.below is not None and not answers_all:
            raise refused or _several_selects(host, relation.text)
        return host_of(given).as_given(given, host.answer(frame, query))
    return _Tree(find, refused).answer(relation)


class _Tree:
    """The relations of one query."""

    def __init__(self, find: Callable[[Any], Any], refused: SpecError | None) -> None:
        self._find = find
        self._refused = refused
        self._given: list[Any] = []
        self._frames: list[Any] = []
        self._hosts: list[Host] = []
        self._named: dict[str, _Node] = {}
        self._nodes: dict[int, _Node] = {}

    def answer(self, relation: Relation) -> Any:
        root = self._resolved(relation)
        root.read.update(range(len(root.columns)))
        nodes = list(self._nodes.values())  # those below first
        for node in reversed(nodes):
            _mark_columns_read(node)
        read_once = Counter(id(part) for node in nodes for part in node.below)
        for node in nodes:
            if node.query is not None and read_once[id(node.below[0])] == 1:
                _pass_bound(node.query, node.below[0])
        for node in nodes:
            _prune(node)
        frames, host = self._read()
        answer = host.over(frames, lambda tables: _computed(root, host, tables, {}))
        given = [(host_of(frame), frame) for frame in self._given]
        return given[0][0].as_given(given[0][1], answer) if len({host.name for host, _ in given}) == 1 else answer

    def _resolved(self, relation: Relation) -> _Node:
        """Find the columns of a relation; one that is named twice is one node."""
        if id(relation) not in self._nodes:
            made = self._make(relation)
            self._nodes.setdefault(id(relation), made)
        return self._nodes[id(relation)]

    def _make(self, relation: Relation) -> _Node:
        if isinstance(relation, Joined):
            raise self._refused or self._refused_join(relation)
        if isinstance(relation, Named):
            return self._frame(relation)
        if isinstance(relation, United):
            parts = [self._resolved(part) for part in relation.parts]
            first = parts[0]
            for number, part in enumerate(parts, 1):
                if len(part.columns) != len(first.columns):
                    raise SpecError(
                        f"UNION: the SELECTs have {len(first.columns)} and, number {number}, {len(part.columns)} "
                        "columns; each must have as many"
                    )
            return _Node(first.columns, parts)
        below = self._resolved(relation.source)
        query = read_query(relation, below.columns, case_insensitive=True)
        return _Node([o.name for o in query.outputs], [below], query)

    def _frame(self, relation: Named) -> _Node:
        name = ".".join(p.name for p in relation.table.parts).lower()
        if name not in self._named:
            given = self._find(relation.table)
            host, frame = opened(given)
            if not isinstance(host, (QueryHost, ProjectedHost)):
                raise self._refused or _several_selects(host, f"the query over {name}")
            self._named[name] = _Node(host.columns(frame), frame=len(self._frames))
            self._given.append(given)
            self._frames.append(frame)
            self._hosts.append(host)
        return self._named[name]

    def _read(self) -> tuple[list[Any], QueryHost]:
        """Return the frames, with what is read of those that are read column by column, and their host."""
        frames, hosts = list(self._frames), list(self._hosts)
        for node in self._named.values():
            host = hosts[node.frame or 0]
            if isinstance(host, ProjectedHost):
                number = node.frame or 0
                frames[number] = host.read_columns(frames[number], sorted(node.read))
                hosts[number] = host_of(frames[number])
        kinds = {host.name: name for host, name in zip(hosts, self._named, strict=True)}
        if len(kinds) > 1:
            what = " and ".join(f"{name} is of the kind {kind!r}" for kind, name in kinds.items())
            raise SpecError(f"{what}, and the frames of one query must be of one; convert one of them")
        host = hosts[0]
        assert isinstance(host, QueryHost)
        return frames, host

    def _refused_join(self, relation: Joined) -> UnsupportedError:
        try:
            name = "" if relation.table is None else host_of(self._find(relation.table)).name
        except SpecError:
            name = ""
        joined = _JOINS.get(name, "{0}.join({1}, ...)").format(relation.left, relation.right)
        return UnsupportedError(
            f"{relation.text}: wr.sql has no JOIN; join with the frame's own library, {joined}, and give wr.sql the "
            "frame that comes of it; or on Spark write all of it with spark.sql and let wr.spark.accelerate(df) "
            "compute its windows"
        )


def _several_selects(host: Host, text: str) -> UnsupportedError:
    return UnsupportedError(
        f"{text}: over frames of the kind {host.name!r} wr.sql answers one SELECT from one frame without GROUP BY. Do "
        "the rest before, with the frame's own methods or with spark.sql, and give wr.sql the frame that comes of it; "
        "or on Spark write all of it with spark.sql and let wr.spark.accelerate(df) compute its windows"
    )


def _mark_columns_read(node: _Node) -> None:
    """Mark the columns that a node reads of those below it, all of whose readers have been marked."""
    if node.query is None:
        if any(part.query is not None and part.query.distinct for part in node.below):
            node.read.update(range(len(node.columns)))
        for part in node.below:
            part.read |= node.read
        return
    if node.query.distinct:
        node.read.update(range(len(node.columns)))
    [below] = node.below
    # the rows of what gives no column are still counted
    below.read.update(columns_read(_with_items(node.query, node.read), below.columns) or [0])


def _pass_bound(query: Query, below: _Node) -> None:
    """Tell a SELECT of a bound that the WHERE around it sets for one of its calls."""
    inner = below.query
    if inner is None or query.below is not None or inner.most is not None:
        return
    if inner.distinct or inner.limit is not None or inner.offset:
        return
    for name, most in query.bounds:
        items = [o.item for o in inner.outputs if o.name == name]
        if len(items) == 1 and isinstance(items[0], Call):
            below.query = replace(inner, most=(items[0], most))
            return


def _with_items(query: Query, read: set[int]) -> Query:
    return replace(query, outputs=[o for i, o in enumerate(query.outputs) if i in read])


def _prune(node: _Node) -> None:
    """Leave of a SELECT the items that are read; the nodes below have been pruned."""
    if node.query is None:
        return
    [below] = node.below
    kept = range(len(below.columns)) if below.frame is not None else sorted(below.read)
    node.query = pruned(node.query, sorted(node.read), {old: new for new, old in enumerate(kept)})


def _computed(node: _Node, host: QueryHost, frames: Sequence[Any], known: dict[int, Any]) -> Any:
    """Compute a node; ``known`` has the frames of those that were computed before."""
    if node.frame is not None:
        return frames[node.frame]
    if id(node) not in known:
        parts = [_computed(part, host, frames, known) for part in node.below]
        known[id(node)] = _united(node, host, parts) if node.query is None else host.answer_one(parts[0], node.query)
    return known[id(node)]


def _united(node: _Node, host: QueryHost, parts: Sequence[Any]) -> Any:
    """Put the rows of frames below one another, each column in the type that all have in common."""
    types = [host.schema(part).arrow.types for part in parts]
    names = [node.columns[i] for i in sorted(node.read)]
    kinds = [_common(name, column) for name, column in zip(names, zip(*types, strict=True), strict=True)]
    return host.concat_rows([_cast(host, p, t, names, kinds) for p, t in zip(parts, types, strict=True)])


def _common(name: str, types: Sequence[pa.DataType]) -> pa.DataType | None:
    """Return the common type of a column; None if it needs no cast."""
    kinds = [_logical(t) for t in types]
    if len(set(kinds)) == 1:
        return None
    options = current()
    found = common(kinds, ansi=True if options.ansi is None else options.ansi)
    if found is None:
        different = " and ".join(dict.fromkeys(map(shown, kinds)))
        raise SpecError(
            f"UNION: the column {name!r} is {different}, which have no common type; cast one of them, as "
            f"CAST({name} AS STRING)"
        )
    return found


def _logical(kind: pa.DataType) -> pa.DataType:
    """Return one type for those of one meaning."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if kind in (pa.large_string(), pa.string_view()):
        return pa.string()
    return pa.binary() if kind in (pa.large_binary(), pa.binary_view()) else kind


def _cast(
    host: QueryHost,
    frame: Any,
    types: Sequence[pa.DataType],
    names: Sequence[str],
    kinds: Sequence[pa.DataType | None],
) -> Any:
    """Give the columns of a frame names and types; a type of None stays."""
    columns = host.columns(frame)
    unique = unique_names(columns)
    outputs = [
        Output(name, None, position=i)
        if kind is None or _is_same(kind, types[i])
        else Output(name, _as_type(unique[i], kind, columns[i]))
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    if columns == list(names) and all(o.item is None for o in outputs):
        return frame
    return host.run(frame, plan_steps(outputs, unique, selecting=True), ComputeArguments())


def _is_same(kind: pa.DataType, other: pa.DataType) -> bool:
    """Whether values of a type need no cast to another: also instants, whatever their unit, and NULLs."""
    if pa.types.is_null(other) or (pa.types.is_timestamp(kind) and pa.types.is_timestamp(other)):
        return True
    return bool(kind == _logical(other))


def _as_type(column: str, kind: pa.DataType, shown_name: str) -> Derived:
    text = f"CAST({{}} AS {_sql_type(kind)})"
    return Derived(Sql(text.format(quoted(column))), {}, text.format(quoted(shown_name)))


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    return shown(kind)
