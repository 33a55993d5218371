"""Windows of an optimized plan: which of them windrow computes, and in which stages.

    Window [rank], a, b                windrow(sum(v), rank)    one stage on a, which serves a, b as well
    +- Window [sum(v)], a              +- t                     the very attributes that the two nodes gave

A stage asks Spark for whole partitions as Spark's own node does, so exchanges stand where Spark needs them, and nowhere
else (``split_windows`` has the stages whose partitions are split across tasks). The nodes keep their order. Those that
one exchange serves in Spark's plan, since they have all keys of the first, are one stage, and what is left to Spark
lies upon it. So the exchanges are those of Spark's plan; where all windows are windrow's own calls (``with_columns``),
they are the fewest that serve all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pyspark
import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.explained_call import ExplainedCall
from ..._execute.native import ROW_PLACEHOLDER
from ..._execute.run_metrics import Report
from ..._execute.stream import Operator
from ..._model.expressions import Column
from ..._model.names import unique_names, unused_name
from ..._model.outputs import Output
from ..._model.replace import replace
from ..._plan.bind import Resolver, plan_steps
from ..._plan.bound import BoundCall
from ..._plan.steps import Evaluate
from ...exceptions import UnsupportedError, WindrowError
from ...settings import Options, current
from .carried_types import carried_type, casts_back, casts_there, has_months
from .catalyst import read_window_expression
from .catalyst_node import CatalystNode
from .columns.tree import HOST
from .engine_choice import spark_is_cheaper
from .exchange_sharing import stages
from .jvm import python_function
from .python_aggregates import PythonSettings
from .split_windows import MAP_ARROW, NO_KEYS, Split, is_worth_splitting, ordering, split_of, split_refusal, split_step
from .stage_operator import sorts_of, stage_operator
from .types import arrow_round_trip_type, check_declared, declared_schema, spark_schema, to_arrow
from .window_calls import as_written, bound_call

__all__ = ["ChainPlanner", "ExplainedStage", "PlannedChain", "answers_of", "planned_chains"]

# Over so many rows at most Spark's window takes less time than the way to Python and back.
_FEW_ROWS = 10_000
# Why a window is left to Spark that windrow could compute.
_LEFT = {
    "cheaper": "Spark's own window costs little here, and nothing else needs the way through Arrow",
    "few rows": f"at most {_FEW_ROWS:,} rows come to it or are asked of it, which take longer to go through Arrow",
    "spark": "engine='spark' leaves all windows to Spark",
    "not carried": "a column of its stage cannot be carried, as another window of the stage says",
}


class _Resolver(Resolver):
    evaluator = HOST


@dataclass(slots=True)
class _Window:
    """A window of a node.

    ``written`` is the call of windrow's that it stands for, None for a window of Spark's; ``split`` says why its
    partitions are split, as in ``WindowCalls``. ``bound`` are the calls where windrow computes it, ``text`` what Spark
    then makes of their results; empty: one call, which is all. ``reason`` is why windrow does not.
    """

    place: int
    attribute: CatalystNode
    expression: CatalystNode
    written: BoundCall | None
    split: str | None
    bound: Sequence[BoundCall] = ()
    text: str = ""
    reason: str = ""

    @property
    def is_taken(self) -> bool:
        return bool(self.bound)


@dataclass(slots=True)
class _Node:
    """A Window node, or those of its windows that have the same settings."""

    place: int
    partition: Sequence[CatalystNode]
    windows: list[_Window]
    order: Sequence[CatalystNode]
    options: Options
    strings: Sequence[tuple[str, str]]

    @property
    def keys(self) -> frozenset[int]:
        return frozenset(k.number for k in self.partition if k.constant is None)

    def reads(self, windows: Sequence[_Window]) -> set[int]:
        """List the columns that some of its windows read."""
        read = [*self.partition, *self.order, *(w.expression for w in windows)]
        return {i for node in read for i in node.columns()} if windows else set()


@dataclass(slots=True)
class _Group:
    """Nodes of the same settings that one exchange serves, by keys that all of them have."""

    keys: frozenset[int]
    nodes: list[_Node]

    @property
    def options(self) -> Options:
        return self.nodes[0].options

    def partition(self) -> list[CatalystNode]:
        """List the keys of the exchange, in the order in which Spark's own has them."""
        return list({k.number: k for n in self.nodes for k in n.partition if k.number in self.keys}.values())

    def taken(self) -> list[_Window]:
        return [w for n in self.nodes for w in n.windows if w.is_taken]


@dataclass(slots=True)
class _Part:
    """Windows of a group that are computed together: split across tasks, or whole, and why they are not split."""

    windows: list[_Window]
    split: Split | None
    why: str = ""


@dataclass(slots=True)
class ExplainedStage:
    """A stage of windrow's: how rows come to its tasks, its calls as people read them, and the operator.

    ``columns`` are the names of the columns that Spark makes of results, by those of the results.
    """

    distribution: str
    calls: list[str]
    operator: Operator
    columns: dict[str, str]


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
    stages: list[ExplainedStage] = field(default_factory=list)
    #: The keys that rows of one task are equal in behind it, where that is known.
    clustered: frozenset[int] | None = None


@lru_cache(maxsize=1000)
def _spark_type(text: str) -> T.DataType:
    try:
        return T._parse_datatype_json_string(text)
    except ValueError:
        raise UnsupportedError(f"PySpark {pyspark.__version__} does not know the type {text}") from None


def _has_few_rows(chain: Mapping[str, Any]) -> bool:
    """Whether few rows come to the windows, or a limit takes few from them, and Spark computes no more."""
    known = [int(rows) for rows in (chain["most_rows"], chain["rows"], chain["limited"]) if rows is not None]
    limited = "WindowGroupLimit" in chain["kinds"][:2] and not any(node["partition"] for node in chain["nodes"])
    return limited or (bool(known) and min(known) <= _FEW_ROWS)


def planned_chains(planners: Sequence[ChainPlanner]) -> list[PlannedChain | None]:
    """Plan the chains of a plan, so that those with nothing but projections and filters between share exchanges.

    Parameters
    ----------
    planners
        Those of all chains, from above.

    Returns
    -------
    list of PlannedChain or None
        What each gives.

    Raises
    ------
    WindrowError
        For a call of windrow's that cannot be computed.
    """
    planned: list[PlannedChain | None] = [None] * len(planners)
    for number, planner in reversed(list(enumerate(planners))):
        above = next((p for p in planners if p.chain["below"] == number), None)
        at = planner.chain["below"]
        below = None if at is None else planned[at]
        planned[number] = planner.planned(
            later=[] if above is None else above.key_sets(), clustered=None if below is None else below.clustered
        )
    return planned


def answers_of(planned: Iterable[PlannedChain | None]) -> tuple[list[dict[str, Any] | None], list[Any]]:
    """Give what the JVM is told of chains, and the functions of all of them.

    Parameters
    ----------
    planned
        The chains; None for one that stays as it is.

    Returns
    -------
    tuple of list and list
        An answer for each chain, whose steps refer to the functions by number, counted from a first of its own.
    """
    answers: list[dict[str, Any] | None] = []
    functions: list[Any] = []
    for chain in planned:
        before = len(functions)
        if chain is None:
            answers.append(None)
        else:
            answers.append({"steps": chain.steps, "first_function": before})
            functions += chain.functions
    return answers, functions


class ChainPlanner:
    """Plans one chain.

    Parameters
    ----------
    chain
        What the JVM says of it.
    read
        What it says of the plan.
    only_calls
        Whether the windows of Spark's stay its own.
    new_report
        Makes what is told of the runs of a stage.

    Attributes
    ----------
    chain
        What the JVM says of it.
    options
        The settings in force, with the session's.
    refusals
        Why windows were left to Spark.
    """

    def __init__(
        self,
        chain: Mapping[str, Any],
        read: Mapping[str, Any],
        *,
        only_calls: bool = False,
        new_report: Callable[[], Report] | None = None,
    ) -> None:
        options = current()
        self.chain = chain
        self._ansi: bool = read["ansi"]
        self.options: Options = replace(
            options,
            ansi=self._ansi if options.ansi is None else options.ansi,
            timezone=read["timezone"] if options.timezone is None else options.timezone,
        )
        self._python = PythonSettings.of(read["python"])
        self._calls: list[str] = read["calls"]
        self._only_calls = only_calls
        self._new_report = new_report
        self.engine = options.engine or "auto"
        self._has_few_rows = _has_few_rows(chain)
        self._tasks: int = read["tasks"]
        self._is_worth_splitting = self._tasks > 1 and is_worth_splitting(chain)
        # of Spark's windows those of all rows alone
        self._split = None if options.spread == "never" else ""
        self.refusals: list[str] = []
        self._inputs: list[CatalystNode] = chain["input"]
        output, required = chain["output"], chain["required"]
        #: Then the columns stand in their order, as at the top of a plan.
        self._gives_all = required is None
        required = frozenset(output if required is None else required)
        #: With repetitions.
        self._given: list[int] = [i for i in output if i in required]
        self._wanted = list(dict.fromkeys(self._given))
        #: From below.
        self._nodes = [n for place in reversed(range(len(chain["nodes"]))) for n in self._read(chain, place, required)]
        columns = [*self._inputs, *(w.attribute for n in self._nodes for w in n.windows)]
        # PySpark reads a name with a dot as a field's
        names = unique_names([str(c.name) for c in columns], case_insensitive=True, without=".`")
        #: By the number of each column and expression.
        self._names = {c.number: name for c, name in zip(columns, names, strict=True)}
        self._taken_names = {n.lower() for n in names}
        self._expressions: dict[str, CatalystNode] = {self._names[c.number]: c for c in self._inputs}

    def _read(self, chain: Mapping[str, Any], place: int, required: frozenset[int]) -> list[_Node]:
        """Read those windows of a node that are required, each by the settings that hold for it."""
        node = chain["nodes"][place]
        nodes: list[_Node] = []
        for i, window in enumerate(node["windows"]):
            if window["attribute"].id not in required:
                continue
            written = as_written(window["call"], self._calls)
            options, strings = (self.options, ()) if written is None else (written[0].options, written[0].strings)
            found = next((n for n in nodes if n.options == options), None)
            if found is None:
                found = _Node(place, node["partition"], [], node["order"], options, strings)
                nodes.append(found)
            call, split = None, self._split
            if written is not None:
                call, split = written[0].calls[written[1]], written[0].splits[written[1]]
            found.windows.append(_Window(i, window["attribute"], window["call"], call, split))
        return nodes

    def key_sets(self) -> list[frozenset[int]]:
        """List the keys of the nodes."""
        return [n.keys for n in self._nodes]

    def planned(
        self, *, later: Sequence[frozenset[int]] = (), clustered: frozenset[int] | None = None
    ) -> PlannedChain | None:
        """Plan the chain; None if all of it is left to Spark.

        Parameters
        ----------
        later
            The keys of the chain above, with nothing but projections and filters between.
        clustered
            The keys that rows of one task are equal in, as the chain below leaves them.

        Raises
        ------
        WindrowError
            For a call of windrow's that cannot be computed.
        """
        groups = self._decided(later, clustered)
        return self._built(groups) if any(g.taken() for g in groups) else None

    def taken_windows(self) -> list[tuple[_Node, _Window]]:
        """List the windows that windrow computes, with their nodes; nothing is planned."""
        groups = self._decided((), None)
        return [(node, w) for group in groups for node in group.nodes for w in node.windows if w.is_taken]

    def expressions(self, names: Iterable[str]) -> list[int]:
        """List the numbers of the expressions that columns hold, each once."""
        return [self._expressions[name].number for name in dict.fromkeys(names)]

    def _decided(self, later: Sequence[frozenset[int]], clustered: frozenset[int] | None) -> list[_Group]:
        """Group the nodes, and decide for each window who computes it."""
        for node in self._nodes:
            for window in node.windows:
                if window.written is not None:
                    window.bound = (bound_call(window.written, window.expression, self._name),)
                elif window.expression.kind != "WindowExpression":
                    window.reason = "Spark's optimizer found that it is one value for all rows"
                elif self._only_calls:
                    window.reason = "it is a window of Spark's, and the session is not enabled"
                else:
                    try:
                        window.bound, window.text = self._bound(window)
                    except WindrowError as error:
                        self._refuse(window, str(error))
        groups = self._groups(later, clustered)
        present = list(self._inputs)
        for group in groups:
            self._choose(group, present)
            present += [w.attribute for n in group.nodes for w in n.windows]
        return groups

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

    def _bound(self, window: _Window) -> tuple[Sequence[BoundCall], str]:
        """Read a window, bind its calls to columns, and see that its result is Spark's."""
        read: list[str] = []

        def column(node: CatalystNode) -> Column:
            read.append(self._name(node))
            return Column(read[-1])

        for key in window.expression["windowSpec"]["partitionSpec"]:
            if has_months(_spark_type(key.type)):
                raise UnsupportedError(
                    f"the key {key.sql} is of type {key.type_name}, by which windrow spreads no rows"
                )
        item = read_window_expression(window.expression, column, ansi=self._ansi, python=self._python)
        name = self._names[window.attribute.number]
        plan = plan_steps([Output(name, replace(item, name=name))], _unique(read), _Resolver(), selecting=True)
        [step] = plan.computes()
        [text] = [str(s.expression) for e in plan.steps if isinstance(e, Evaluate) for s in e.scalars] or [""]
        results = [c.name for c in step.calls] if text else [name]
        made = declared_schema(stage_operator(step.calls, self._schema(read), results, results, [], self.options))
        if not text:
            self._check_type(window, step.calls[0], made[name])
        return step.calls, text

    def _check_type(self, window: _Window, call: BoundCall, made: T.StructField) -> None:
        theirs = _spark_type(window.attribute.type)
        carried = carried_type(theirs)
        expected = [carried, arrow_round_trip_type(carried)]
        if isinstance(theirs, T.YearMonthIntervalType) and not call.function.startswith("try_"):
            expected.append(T.LongType())  # a sum of months, which Spark casts: an overflow is an error
        if made.dataType not in expected or made.nullable > window.attribute.nullable:
            raise UnsupportedError(
                f"Spark's result is {_typed(theirs, window.attribute.nullable)}, windrow's would be "
                f"{_typed(made.dataType, made.nullable)}"
            )

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
            T.StructField(name, carried_type(_spark_type(node.type)), node.nullable)
            for name in dict.fromkeys(names)
            for node in [self._expressions[name]]
        ]
        # PySpark takes the number of a batch's rows from its columns
        return T.StructType(fields or [T.StructField(ROW_PLACEHOLDER, T.BooleanType(), nullable=False)])

    def _refuse(self, window: _Window, reason: str) -> None:
        window.reason = reason.removeprefix(f"{window.expression.sql}: ")
        self.refusals.append(reason if " OVER (" in reason else f"{window.expression.sql}: {reason}")

    # -------------------------------------------------------------------------------------------------------- choosing

    def _groups(self, later: Sequence[frozenset[int]], clustered: frozenset[int] | None) -> list[_Group]:
        if all(w.written is not None for n in self._nodes for w in n.windows):
            return self._covered_groups(later, clustered)
        groups: list[_Group] = []
        for node in self._nodes:
            last = groups[-1] if groups else None
            if (
                last is not None
                and last.options == node.options
                and last.keys <= node.keys
                and (last.keys or not node.keys)
            ):
                last.nodes.append(node)
            else:
                groups.append(_Group(node.keys, [node]))
        return groups

    def _covered_groups(self, later: Sequence[frozenset[int]], clustered: frozenset[int] | None) -> list[_Group]:
        """Group nodes by the fewest keys that serve all: none reads another, so they may be in any order."""
        groups: list[_Group] = []
        rest = self._nodes
        above, at = list(map(_named, later)), None if clustered is None else sorted(_named(clustered))
        surviving = frozenset[str]().union(*above)
        while rest:
            nodes = [n for n in rest if n.options == rest[0].options]
            rest = [n for n in rest if n.options != rest[0].options]
            for stage in stages([_named(n.keys) for n in nodes], [] if rest else above, surviving, at):
                groups.append(_Group(frozenset(map(int, stage.keys)), [nodes[i] for i in stage.calls]))
            at = None
        return groups

    def _choose(self, group: _Group, present: Sequence[CatalystNode]) -> None:
        """Leave to Spark what costs it less, and what mapInArrow cannot carry of the columns that there are."""
        taken = group.taken()
        if not taken:
            return
        kept = {*self._wanted, *(i for n in self._nodes for i in n.reads(n.windows))}
        if any(w.written is not None for w in taken):
            if self.engine == "spark":
                _leave([w for w in taken if w.written is None], _LEFT["spark"])
        elif reason := self._reason_to_leave(group, taken):
            _leave(taken, reason)
            return
        carried = {self._names[a.number]: a for a in present if a.id in kept}
        self._expressions |= carried
        try:
            schema = self._schema(carried)
            to_arrow(schema, "UTC")
            check_declared(schema)
        except WindrowError as error:
            if any(w.written is not None for w in taken):
                raise
            self._refuse(taken[0], str(error))
            _leave(taken, _LEFT["not carried"])

    def _reason_to_leave(self, group: _Group, taken: Sequence[_Window]) -> str:
        """Say why Spark computes windows of its own that windrow could compute; empty if windrow does."""
        if self.engine != "auto":
            return _LEFT["spark"] if self.engine == "spark" else ""
        if self._has_few_rows:
            return _LEFT["few rows"]
        calls = [c for w in taken for c in w.bound]
        types = {name: _spark_type(self._expressions[name].type) for c in calls for name in c.columns_read()}
        is_cheaper = spark_is_cheaper(calls, types, in_one_task=not self._may_be_split(group))
        return _LEFT["cheaper"] if is_cheaper else ""

    # -------------------------------------------------------------------------------------------------------- building

    def _built(self, groups: Sequence[_Group]) -> PlannedChain:
        planned = PlannedChain()
        present = self._inputs
        for position, group in enumerate(groups):
            left = [(node, [w for w in node.windows if not w.is_taken]) for node in group.nodes]
            needed = {*self._wanted, *(i for node, windows in left for i in node.reads(windows))}
            needed.update(i for g in groups[position + 1 :] for n in g.nodes for i in n.reads(n.windows))
            parts = self._parts(group, is_repeatable=self.chain["repeatable"] and not planned.steps)
            for number, part in enumerate(parts):
                later = [w for p in parts[number + 1 :] for w in p.windows]
                read_later = {i for n in group.nodes for i in n.reads([w for w in n.windows if w in later])}
                present = self._add_stage(planned, group, part, present, needed | read_later)
            planned.clustered = group.keys if parts and parts[-1].split is None else None
            for node, windows in left:
                if windows:
                    planned.steps.append({"node": node.place, "windows": [w.place for w in windows]})
                    present = [*present, *(w.attribute for w in windows)]
                    planned.clustered = None
        if len(self._given) > len(self._wanted) or (self._gives_all and [a.id for a in present] != self._given):
            planned.steps.append({"chosen": self._given})
        return planned

    def _parts(self, group: _Group, *, is_repeatable: bool) -> list[_Part]:
        """Part the windows that are taken: first those whose partitions are split across tasks, by their sorts."""
        parts: list[_Part] = []
        whole: list[_Window] = []
        split: dict[str, list[_Window]] = {}
        why = ""
        for window in group.taken():
            reason = self._split_reason(group, window)
            refusal = self._split_refusal(group, window, is_repeatable=is_repeatable) if reason else ""
            if refusal is None:
                split.setdefault(reason, []).append(window)
            else:
                whole.append(window)
                why = refusal or why
        for reason, windows in split.items():
            calls = [c for w in windows for c in w.bound]  # each is one call
            schema = self._schema(n for c in calls for n in c.columns_read())
            for members in sorts_of(calls, schema, [self._result(w) for w in windows], group.options):
                ranges = split_of([calls[i] for i in members], self._tasks, reason, is_repeatable=is_repeatable)
                parts.append(_Part([windows[i] for i in members], ranges))
        parts.sort(key=lambda part: part.split is None or part.split.tasks is not None)  # in place only at first
        return [*parts, _Part(whole, None, why)] if whole else parts

    def _split_reason(self, group: _Group, window: _Window) -> str:
        """Say why the partitions of a window are split across tasks, if that can be; empty if they are not."""
        if group.keys or window.split is None:
            return window.split or ""
        return NO_KEYS if window.split or self._is_worth_splitting else ""

    def _may_be_split(self, group: _Group) -> bool:
        """Whether windows of a group may be split across tasks."""
        return any(self._split_reason(group, w) for n in group.nodes for w in n.windows)

    def _split_refusal(self, group: _Group, window: _Window, *, is_repeatable: bool) -> str | None:
        if window.text:
            return f"{window.expression.sql} is an expression over several calls"
        [call] = window.bound
        name = self._result(window)
        schema = self._schema(call.columns_read())
        [level] = stage_operator([call], schema, [name], [name], [], group.options).levels
        return split_refusal(level, is_repeatable=is_repeatable)

    def _result(self, window: _Window) -> str:
        return self._names[window.attribute.number]

    def _add_stage(
        self, planned: PlannedChain, group: _Group, part: _Part, present: Sequence[CatalystNode], needed: set[int]
    ) -> list[CatalystNode]:
        """Add a stage to a chain; give the columns that there are behind it."""
        taken, split = part.windows, part.split
        of_text = {c.name: str(w.attribute.name) for w in taken if w.text for c in w.bound}
        texts = {w.attribute.id: w.text for w in taken if w.text}
        computed = {c.name if w.text else self._result(w): c for w in taken for c in w.bound}
        calls, results = list(computed.values()), list(computed)
        read = {name for call in calls for name in call.columns_read()}
        here = {self._names[a.number]: a for a in present}
        self._expressions |= here
        names = [name for name, a in here.items() if a.id in needed or name in read]
        names += sorted(read.difference(here))
        passing = [name for name in names if name in here and here[name].id in needed]
        behind = {a.id: a for a in [*(here[name] for name in passing), *(w.attribute for w in taken)]}
        behind = {i: behind[i] for i in [*(i for i in self._wanted if i in behind), *behind]}
        schema = self._schema(names)
        sorts = [] if split is not None else sorts_of(calls, schema, results, group.options)
        output = [*(self._names[a.number] for a in behind.values() if a.id not in texts), *of_text]
        strings = [s for n in group.nodes for s in n.strings]
        operator = stage_operator(calls, schema, output, results, sorts, group.options, strings)
        if self._new_report is not None:
            operator.report = self._new_report()
        given = spark_schema(operator)
        casts = {name: casts_there(_spark_type(self._expressions[name].type)) for name in names}
        is_plain = bool(names) and names == [a.name for a in present] and not any(casts.values())
        shown = [call.display.partition(" OVER ")[0] for call in calls]
        step: dict[str, Any] = {
            "name": f"windrow({', '.join(shown)})",
            "function": len(planned.functions),
            "type": given.json(),
            "eval_type": MAP_ARROW,
            "projected": not is_plain,
            "columns": [
                {"name": f.name, **(_place(self._expressions[f.name]) | {"casts": casts[f.name]} if names else {})}
                for f in schema.fields
            ],
            "keys": [],
            "ordering": [],
            "output": [
                {"id": i, "text": texts[i]} if i in texts else {"id": i, **_carried(a, given[self._names[a.number]])}
                for i, a in behind.items()
            ],
            "parts": [{"name": name, "type": given[name].dataType.json()} for name in of_text],
        }
        keys = ", ".join(str(k.sql) for k in group.partition())
        if split is None:
            step["keys"] = [self._key(k, names) for k in group.partition()]
            step["ordering"] = ordering(calls[sorts[-1][0]].sort_keys(), names)
            planned.functions.append(python_function(operator, given))
            distribution = f"rows of equal {keys} in one task" if keys else "all rows in one task"
            distribution += f" ({part.why})" if part.why else ""
        else:

            def reader(columns: Sequence[str]) -> Operator:
                read_schema = T.StructType([schema[name] for name in columns])
                return stage_operator(calls, read_schema, results, results, [], group.options, strings)

            step["split"], run, functions = split_step(
                split, operator, reader, calls, schema, first_function=len(planned.functions) + 1
            )
            planned.functions += [python_function(run, given), *functions]
            distribution = str(split)
        planned.steps.append(step)
        planned.stages.append(ExplainedStage(distribution, shown, operator, of_text))
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


def _named(keys: frozenset[int]) -> frozenset[str]:
    return frozenset(map(str, keys))


def _leave(windows: Iterable[_Window], reason: str) -> None:
    for window in windows:
        window.reason = window.reason or reason
        window.bound = ()


def _order_sql(order: CatalystNode) -> str:
    direction = "DESC" if order["direction"] == "Descending" else "ASC"
    return f"{order['child'].sql} {direction} NULLS {'FIRST' if order['nullOrdering'] == 'NullsFirst' else 'LAST'}"


def _typed(dtype: T.DataType, nullable: bool) -> str:
    return f"{dtype.simpleString()}{'' if nullable else ' not null'}"


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _carried(column: CatalystNode, given: T.StructField) -> dict[str, Any]:
    """Say to the JVM of what type a column comes back, and how that becomes its own."""
    dtype = _spark_type(column.type)
    return {} if given.dataType == dtype else {"type": given.dataType.json(), "casts": casts_back(dtype)}


def _place(node: CatalystNode) -> dict[str, int]:
    """Say where the JVM finds an expression."""
    return {"expression": node.number} if node.id is None else {"id": node.id}
