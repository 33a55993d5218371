"""Windows of an optimized plan: which of them windrow computes, and in which stages.

    Window [rank], a, b                windrow(sum(v), rank)    one stage on a, which serves a, b as well
    +- Window [sum(v)], a              +- t                     the very attributes that the two nodes gave

A stage asks Spark for whole partitions as Spark's own node does, so exchanges stand where Spark needs them, and nowhere
else. The nodes keep their order. Those that one exchange serves in Spark's plan, since they have all keys of the first,
are one stage, and what is left to Spark lies upon it. So the exchanges are those of Spark's plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.explained_call import ExplainedCall
from ..._execute.level import Level
from ..._execute.native import ROW_PLACEHOLDER
from ..._execute.stream import Operator
from ..._model.expressions import Column
from ..._model.names import unique_names, unused_name
from ..._model.outputs import Output
from ..._model.replace import replace
from ..._plan.bind import Resolver, plan_steps
from ..._plan.bound import BoundCall
from ..._plan.steps import Compute, Project
from ...exceptions import UnsupportedError, WindrowError
from ...settings import Options, current
from .catalyst import read_window_expression
from .catalyst_node import CatalystNode
from .clustering import STAGE_NAME
from .columns.tree import HOST
from .engine_choice import spark_is_cheaper
from .jvm import python_function
from .types import arrow_round_trip_type, check_keys, spark_schema, to_arrow

__all__ = ["ChainPlanner", "PlannedChain", "Stage", "is_spread"]

# Over fewer bytes a window of all rows is computed in one task: splitting it costs more.
_SPREAD_BYTES = 32 << 20
# Over so many rows at most Spark's window takes less time than the way to Python and back.
_FEW_ROWS = 10_000
# Below these a node has few rows.
_LIMITS = frozenset(["GlobalLimit", "LocalLimit", "Offset", "Tail", "WindowGroupLimit"])

# Why an engine leaves a window to Spark that windrow could compute.
_LEFT = {
    "auto": "Spark's own window costs little here, and nothing else needs the way through Arrow",
    "spark": "engine='spark' leaves all windows to Spark",
    "windrow": "another window of its stage cannot be carried",
}

# What mapInArrow's functions are called in Spark's protocol.
_MAP_ARROW = 207


class _Resolver(Resolver):
    evaluator = HOST


@dataclass(slots=True)
class _Window:
    """A window of a node; ``bound`` is its call where windrow computes it, ``reason`` why it does not."""

    place: int
    attribute: CatalystNode
    expression: CatalystNode
    bound: BoundCall | None = None
    reason: str = ""

    @property
    def is_taken(self) -> bool:
        return self.bound is not None


@dataclass(slots=True)
class _Node:
    """A Window node."""

    place: int
    partition: Sequence[CatalystNode]
    windows: list[_Window]
    order: Sequence[CatalystNode]

    @property
    def keys(self) -> frozenset[int]:
        return frozenset(k.number for k in self.partition if k.constant is None)

    def reads(self, windows: Sequence[_Window]) -> set[int]:
        """List the columns that some of its windows read."""
        read = [*self.partition, *self.order, *(w.expression for w in windows)]
        return {i for node in read for i in node.columns()} if windows else set()


@dataclass(slots=True)
class _Group:
    """Consecutive nodes that one exchange serves: by the keys of the first."""

    keys: frozenset[int]
    nodes: list[_Node]

    def partition(self) -> list[CatalystNode]:
        """List the keys of the exchange, in the order in which Spark's own has them."""
        return list({k.number: k for k in self.nodes[0].partition if k.constant is None}.values())

    def taken(self) -> list[_Window]:
        return [w for n in self.nodes for w in n.windows if w.is_taken]


@dataclass(slots=True)
class Stage:
    """A stage of windrow's: its keys as SQL, its calls as people read them, and the operator."""

    keys: list[str]
    calls: list[str]
    operator: Operator


@dataclass(slots=True)
class PlannedChain:
    """What stands in the place of a chain of Window nodes.

    Parameters
    ----------
    steps
        For the JVM: stages, and windows left to Spark, in the order from below.
    functions
        The operators that the stages refer to by number, as the JVM calls them.
    stages
        What is explained of each stage.
    """

    steps: list[dict[str, Any]] = field(default_factory=list)
    functions: list[Any] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)


@lru_cache(maxsize=1000)
def _spark_type(text: str) -> T.DataType:
    return T._parse_datatype_json_string(text)


def is_spread(chain: Mapping[str, Any]) -> bool:
    """Whether windows of all rows, where a chain has them, are worth being split across tasks."""
    return chain["bytes"] > _SPREAD_BYTES and not _LIMITS & set(chain["kinds"])


def _has_few_rows(chain: Mapping[str, Any]) -> bool:
    most = chain["most_rows"]
    limited = "WindowGroupLimit" in chain["kinds"][:2] and not any(node["partition"] for node in chain["nodes"])
    return limited or (most is not None and most <= _FEW_ROWS)


class ChainPlanner:
    """Plans one chain.

    Parameters
    ----------
    chain
        What the JVM says of it.
    ansi, timezone
        The session's.

    Attributes
    ----------
    refusals
        Why windows were left to Spark.
    """

    def __init__(self, chain: Mapping[str, Any], *, ansi: bool, timezone: str) -> None:
        options = current()
        self.options: Options = replace(
            options,
            ansi=ansi if options.ansi is None else options.ansi,
            timezone=timezone if options.timezone is None else options.timezone,
        )
        self.engine = options.engine or "auto"
        self._has_few_rows = _has_few_rows(chain)
        self.refusals: list[str] = []
        self._ansi = ansi
        self._inputs: list[CatalystNode] = chain["input"]
        output, required = chain["output"], chain["required"]
        required = frozenset(output if required is None else required)
        self._wanted: list[int] = [i for i in output if i in required]
        nodes = [
            _Node(
                place,
                node["partition"],
                [_Window(i, w["attribute"], w["call"]) for i, w in enumerate(node["windows"])],
                node["order"],
            )
            for place, node in enumerate(chain["nodes"])
        ]
        for node in nodes:
            node.windows = [w for w in node.windows if w.attribute.id in required]
        #: From below.
        self._nodes = [n for n in reversed(nodes) if n.windows]
        columns = [*self._inputs, *(w.attribute for n in self._nodes for w in n.windows)]
        # PySpark reads a name with a dot as a field's
        names = unique_names([str(c.name) for c in columns], case_insensitive=True, without=".`")
        #: By the number of each column and expression.
        self._names = {c.number: name for c, name in zip(columns, names, strict=True)}
        self._taken_names = {n.lower() for n in names}
        self._expressions: dict[str, CatalystNode] = {self._names[c.number]: c for c in self._inputs}

    def has_unpartitioned(self) -> bool:
        """Whether a window is over all rows."""
        return any(not n.keys for n in self._nodes)

    def planned(self) -> PlannedChain | None:
        """Plan the chain; None if all of it is left to Spark."""
        repeats = len(set(self._wanted)) < len(self._wanted)
        for node in self._nodes:
            for window in node.windows:
                try:
                    if repeats:
                        raise UnsupportedError("one of the columns beside it stands there twice")
                    window.bound = self._bound(window)
                except WindrowError as error:
                    self._refuse(window, str(error))
        groups = self._groups()
        for group in groups:
            self._choose(group)
        return self._built(groups) if any(g.taken() for g in groups) else None

    def left(self) -> list[ExplainedCall]:
        """List the windows that are left to Spark, with the reasons."""
        return [
            ExplainedCall(
                name=str(window.attribute.name),
                call=str(window.expression.sql),
                partition_by=[str(k.sql) for k in node.partition],
                order_by=[_order_sql(o) for o in node.order],
                frame=None,
                shape=None,
                strategy="spark",
                reason=window.reason,
                reach_before=None,
                reach_after=None,
                sort="Spark",
                type=window.attribute.type_name,
            )
            for node in self._nodes
            for window in node.windows
            if not window.is_taken
        ]

    # --------------------------------------------------------------------------------------------------------- reading

    def _bound(self, window: _Window) -> BoundCall:
        """Read a window, bind it to columns, and see that its result is Spark's."""
        read: list[str] = []

        def column(node: CatalystNode) -> Column:
            read.append(self._name(node))
            return Column(read[-1])

        call = read_window_expression(window.expression, column, ansi=self._ansi)
        name = self._names[window.attribute.number]
        output = Output(name, replace(call, name=name))
        [step] = plan_steps([output], list(dict.fromkeys(read)), _Resolver(), selecting=True).computes()
        [bound] = step.calls
        made = spark_schema(self._operator([bound], self._schema(read), [name], [name], []))[name]
        theirs = _spark_type(window.attribute.type)
        if made.dataType not in (theirs, arrow_round_trip_type(theirs)) or made.nullable > window.attribute.nullable:
            raise UnsupportedError(
                f"Spark's result is {_typed(theirs, window.attribute.nullable)}, windrow's would be "
                f"{_typed(made.dataType, made.nullable)}"
            )
        return bound

    def _name(self, node: CatalystNode) -> str:
        """Give the name of the column that holds an expression."""
        if node.number not in self._names:
            name = unused_name(str(node.sql).translate({ord(c): "_" for c in ".`"}), self._taken_names)
            self._taken_names.add(name.lower())
            self._names[node.number] = name
            self._expressions[name] = node
        return self._names[node.number]

    def _schema(self, names: Iterable[str]) -> T.StructType:
        fields = [
            T.StructField(name, _spark_type(node.type), node.nullable)
            for name in dict.fromkeys(names)
            for node in [self._expressions[name]]
        ]
        # PySpark takes the number of a batch's rows from its columns
        return T.StructType(fields or [T.StructField(ROW_PLACEHOLDER, T.BooleanType(), nullable=False)])

    def _refuse(self, window: _Window, reason: str) -> None:
        window.reason = reason.removeprefix(f"{window.expression.sql}: ")
        self.refusals.append(reason if " OVER (" in reason else f"{window.expression.sql}: {reason}")

    # -------------------------------------------------------------------------------------------------------- choosing

    def _groups(self) -> list[_Group]:
        groups: list[_Group] = []
        for node in self._nodes:
            if groups and groups[-1].keys <= node.keys and (groups[-1].keys or not node.keys):
                groups[-1].nodes.append(node)
            else:
                groups.append(_Group(node.keys, [node]))
        return groups

    def _choose(self, group: _Group) -> None:
        """Leave to Spark what costs it less, and what mapInArrow cannot carry."""
        taken = group.taken()
        calls = [w.bound for w in taken if w.bound is not None]
        types = {name: _spark_type(node.type) for name, node in self._expressions.items()}
        leaves = self.engine == "spark" or (
            self.engine == "auto" and bool(calls) and (self._has_few_rows or spark_is_cheaper(calls, types))
        )
        if calls and not leaves:
            kept = {*self._wanted, *(i for n in self._nodes for i in n.reads(n.windows))}
            try:
                to_arrow(self._schema(self._names[a.number] for a in self._inputs if a.id in kept), "UTC")
            except WindrowError as error:
                self._refuse(taken[0], str(error))
                leaves = True
        if leaves:
            for window in taken:
                window.reason = window.reason or _LEFT[self.engine]
                window.bound = None

    # -------------------------------------------------------------------------------------------------------- building

    def _built(self, groups: Sequence[_Group]) -> PlannedChain:
        chain = PlannedChain()
        present = self._inputs
        for position, group in enumerate(groups):
            left = [(node, [w for w in node.windows if not w.is_taken]) for node in group.nodes]
            needed = {*self._wanted, *(i for node, windows in left for i in node.reads(windows))}
            needed.update(i for g in groups[position + 1 :] for n in g.nodes for i in n.reads(n.windows))
            if group.taken():
                present = self._add_stage(chain, group, present, needed)
            for node, windows in left:
                if windows:
                    chain.steps.append({"node": node.place, "windows": [w.place for w in windows]})
                    present = [*present, *(w.attribute for w in windows)]
        return chain

    def _add_stage(
        self, chain: PlannedChain, group: _Group, present: Sequence[CatalystNode], needed: set[int]
    ) -> list[CatalystNode]:
        """Add a stage to a chain; give the columns that there are behind it."""
        taken = group.taken()
        calls = [w.bound for w in taken if w.bound is not None]
        read = {name for call in calls for name in call.columns_read()}
        here = {self._names[a.number]: a for a in present}
        self._expressions |= here
        names = [name for name, a in here.items() if a.id in needed or name in read]
        names += sorted(read.difference(here))
        passing = [name for name in names if name in here and here[name].id in needed]
        behind = {a.id: a for a in [*(here[name] for name in passing), *(w.attribute for w in taken)]}
        behind = {i: behind[i] for i in [*(i for i in self._wanted if i in behind), *behind]}
        schema = self._schema(names)
        results = [self._names[w.attribute.number] for w in taken]
        sorts = self._sorts(calls, schema, results)
        operator = self._operator(calls, schema, [self._names[a.number] for a in behind.values()], results, sorts)
        given = spark_schema(operator)
        is_plain = bool(names) and names == [a.name for a in present]
        shown = [call.display.partition(" OVER ")[0] for call in calls]
        chain.steps.append(
            {
                "name": f"windrow({', '.join(shown)})",
                "function": len(chain.functions),
                "type": given.json(),
                "eval_type": _MAP_ARROW,
                "projected": not is_plain,
                "columns": [
                    {"name": f.name, **(_place(self._expressions[f.name]) if names else {})} for f in schema.fields
                ],
                "keys": [self._key(k, names) for k in group.partition()],
                "ordering": [
                    {"column": names.index(k.column), "descending": k.descending, "nulls_first": k.nulls_first}
                    for k in calls[sorts[-1][0]].sort_keys()
                ],
                "output": [
                    {
                        "id": a.id,
                        "name": f.name,
                        "type": None if f.dataType == _spark_type(a.type) else f.dataType.json(),
                    }
                    for a, f in zip(behind.values(), given.fields, strict=True)
                ],
            }
        )
        chain.functions.append(python_function(operator, given))
        chain.stages.append(Stage([str(k.sql) for k in group.partition()], shown, operator))
        return list(behind.values())

    def _key(self, key: CatalystNode, names: Sequence[str]) -> dict[str, int]:
        """Say by what Spark spreads the rows: a column of the stage, or Spark's own normal form of one."""
        name = self._names.get(key.number)
        if name in names:
            return {"column": names.index(name)}
        as_they_are = {self._expressions[n].id for n in names if self._expressions[n].name == n}
        if not as_they_are.issuperset(key.columns()):
            raise UnsupportedError(f"the key {key.sql} reads a column whose name is not its own here")
        return {"expression": key.number}

    def _sorts(self, calls: Sequence[BoundCall], schema: T.StructType, results: Sequence[str]) -> list[list[int]]:
        """Group calls by the sort that serves them; last that of the last call, in whose order rows leave."""
        level = self._level(calls, schema, results, results)
        return sorted((members for members, _ in level.sorts()), key=lambda members: len(calls) - 1 in members)

    def _operator(
        self,
        calls: Sequence[BoundCall],
        schema: T.StructType,
        output: Sequence[str],
        results: Sequence[str],
        sorts: Sequence[Sequence[int]],
    ) -> Operator:
        """Make the operator of some calls, whose results have names of their own; it gives the columns ``output``."""
        last = sorts[-1] if sorts else range(len(calls))
        others = [i for i in range(len(calls)) if i not in last]
        levels, arrived = [], schema
        if others:
            names = [results[i] for i in others]
            levels.append(
                self._level([calls[i] for i in others], schema, names, [*schema.names, *names], is_last=False)
            )
            arrived = spark_schema(Operator(levels, None, self.options, _in_arrow_types(schema)))
        names = [results[i] for i in last]
        levels.append(
            self._level([calls[i] for i in last], arrived, names, output, in_window_order=bool(sorts), is_last=True)
        )
        operator = Operator(levels, None, self.options, _in_arrow_types(schema))
        operator.__name__ = STAGE_NAME
        return operator

    def _level(
        self,
        calls: Sequence[BoundCall],
        schema: T.StructType,
        results: Sequence[str],
        output: Sequence[str],
        *,
        in_window_order: bool = False,
        is_last: bool = True,
    ) -> Level:
        check_keys(schema, calls)
        names = [*schema.names, *results]
        named = tuple(replace(call, name=name) for call, name in zip(calls, results, strict=True))
        read = {n for c in named for n in c.columns_read()}
        return Level(
            Compute(named, tuple(schema.names), tuple(i for i, n in enumerate(schema.names) if n in read), ()),
            (),
            Project(tuple((name, names.index(name)) for name in output)),
            to_arrow(_in_arrow_types(schema), self.options.timezone or "UTC"),
            self.options,
            True,
            in_window_order=in_window_order,
            is_last=is_last,
        )


def _in_arrow_types(schema: T.StructType) -> T.StructType:
    return T.StructType([T.StructField(f.name, arrow_round_trip_type(f.dataType), f.nullable) for f in schema.fields])


def _order_sql(order: CatalystNode) -> str:
    direction = "DESC" if order["direction"] == "Descending" else "ASC"
    return f"{order['child'].sql} {direction} NULLS {'FIRST' if order['nullOrdering'] == 'NullsFirst' else 'LAST'}"


def _typed(dtype: T.DataType, nullable: bool) -> str:
    return f"{dtype.simpleString()}{'' if nullable else ' not null'}"


def _place(node: CatalystNode) -> dict[str, int]:
    """Say where the JVM finds an expression."""
    return {"expression": node.number} if node.id is None else {"id": node.id}
