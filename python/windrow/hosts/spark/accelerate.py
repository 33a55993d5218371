"""DataFrames whose windows were written for Spark, computed by windrow: their plan's Window nodes are replaced.

    Project                        Project
    +- Window [rank], k            +- Project            the very attributes that the two nodes gave
       +- Window [sum], k             +- MapInArrow      both calls
          +- Project                     +- exchange on k
             +- t                           +- Project
                                               +- t

Whatever stands above refers to columns by their ids, not their names; they keep their ids, so nothing above changes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..._model.expressions import Column, Expr
from ..._model.names import unused_name
from ...exceptions import UnsupportedError, WindrowError
from ..explanation import Explanation
from .catalyst import read_window_expression
from .catalyst_node import CatalystNode, parsed
from .compiled import make
from .execution import SparkRunner
from .explained_windows import explained_windows
from .jvm import (
    alias,
    analyzed_plan,
    class_of,
    dataframe_of,
    depth_limited,
    expression_id,
    inline_ctes,
    is_classic,
    items,
    plan_with_cache,
    project,
    selected,
    to_seq,
    with_new_ids,
)
from .options import ComputeOptions
from .planning import make_plan
from .python_aggregates import PythonSettings
from .session import caller_stack_level, is_on, spark_setting

__all__ = ["Walker", "accelerate", "check_release", "explain", "is_known_release"]

# The releases whose plans are known; others may name or build their nodes otherwise.
_RELEASES = ((4, 0), (4, 1), (4, 2), (4, 3))

# Nodes that give their child's columns as they are, so that a column that nobody above them reads need not be computed.
_PASSING = frozenset(["Filter", "GlobalLimit", "Join", "LocalLimit", "Sort", "SubqueryAlias", "Window"])


def accelerate(frame: Any) -> Any:
    """Do what :func:`windrow.spark.accelerate` says."""
    _check(frame)
    with depth_limited("the plan of the frame"):
        return _accelerated(frame)


def _accelerated(frame: Any) -> Any:
    plan = plan_with_cache(frame)
    if not _has_windows(plan):
        return frame
    walker = Walker(frame.sparkSession)
    result = walker.walk(inline_ctes(plan), None)
    if walker.refusals:
        lines = "".join(f"\n  {line}" for line in dict.fromkeys(walker.refusals))
        text = f"windrow leaves to Spark what it cannot compute alike:{lines}"
        warnings.warn(text, UserWarning, stacklevel=caller_stack_level())
    return dataframe_of(result, frame.sparkSession) if walker.taken else frame


def explain(frame: Any) -> Explanation:
    """Do what :func:`windrow.spark.explain` says."""
    if not is_classic(frame):
        raise UnsupportedError("explain() needs Spark Classic: Spark Connect keeps its plans on the server")
    check_release("explain()", (3, 5))
    with depth_limited("the plan of the frame"):
        made = explained_windows(frame)
    return Explanation(made.rows, made.steps)


def is_known_release(*more: tuple[int, int]) -> bool:
    """Whether the plans of the PySpark that is installed are known; ``more`` releases may count as well."""
    import pyspark

    return tuple(int(part) for part in pyspark.__version__.split(".")[:2]) in (*more, *_RELEASES)


def check_release(call: str, *more: tuple[int, int]) -> None:
    """Refuse a release whose plans are not known, for a call of that name."""
    if not is_known_release(*more):
        import pyspark

        first = ".".join(map(str, (*more, *_RELEASES)[0]))
        raise UnsupportedError(
            f"{call} knows the plans of Spark {first} to 4.3, and this is {pyspark.__version__}; give wr.with_columns "
            "the window columns instead"
        )


def _check(frame: Any) -> None:
    if not is_classic(frame):
        raise UnsupportedError(
            "accelerate() needs Spark Classic: Spark Connect keeps its plans on the server. Give wr.with_columns the "
            "window columns, which works there too"
        )
    check_release("accelerate()")
    if frame.isStreaming:
        raise UnsupportedError(
            "a window needs whole partitions, which a streaming DataFrame never has; use foreachBatch, and accelerate "
            "the DataFrame of each batch"
        )


class _Columns:
    """The columns that calls read: Catalyst expressions, each under a name of its own."""

    def __init__(self) -> None:
        self._writer = make("windrow.ExpressionWriter")
        self._names: dict[int, str] = {}

    def nodes(self, expressions: Sequence[Any]) -> list[CatalystNode]:
        """Read expressions of the JVM."""
        return list(parsed(str(self._writer.text(to_seq(expressions)))))

    def read(self, expression: CatalystNode) -> Expr:
        """Give the column that holds an expression."""
        if expression.number not in self._names:
            plain = str(expression.name or expression.sql).translate({ord(c): "_" for c in ".`"})
            self._names[expression.number] = unused_name(plain, {n.lower() for n in self._names.values()})
        return Column(self._names[expression.number])

    def selected(self, frame: Any) -> Any:
        """Give the plan of a frame's expressions, under their names."""
        return selected(frame, list(map(self._writer.expression, self._names)), list(self._names.values()))


@dataclass(slots=True)
class _Node:
    """A Window node of a chain."""

    plan: Any
    reads: set[int]

    def attributes(self) -> list[Any]:
        return [e.toAttribute() for e in items(self.plan.windowExpressions())]

    def windows(self) -> list[Any]:
        return [e.child() for e in items(self.plan.windowExpressions())]


class Walker:
    """Rebuilds a plan from below, and remembers what it left to Spark and why."""

    def __init__(self, session: Any, *, in_optimizer: bool = False) -> None:
        self.session = session
        # the optimizer gives the plans of subqueries in expressions one by one
        self._in_optimizer = in_optimizer
        self.ansi = is_on(session, "spark.sql.ansi.enabled")
        self.python = PythonSettings.of({name: spark_setting(session, name) or "" for name in PythonSettings.NAMES})
        self.refusals: list[str] = []
        self.taken = 0

    def walk(self, plan: Any, required: set[int] | None) -> Any:
        """Give the plan with windrow's nodes in the place of Spark's.

        Parameters
        ----------
        plan
            A logical plan.
        required
            The ids of the attributes that are read above, None for all.
        """
        kind = class_of(plan)
        for inner in items(plan.subqueries()):
            if not self._in_optimizer and _has_windows(inner):
                self.refusals.append(f"a window in a subquery of {plan.nodeName()}: it stands inside an expression")
        if kind == "Window":
            return self._windows(plan, required)
        if kind == "Project":
            return self._chosen(plan, required)
        below: set[int] | None = None
        if kind == "Aggregate":
            below = _ids(plan.references())
        elif kind in _PASSING and required is not None:
            below = required | _ids(plan.references())
        children = items(plan.children())
        walked = [self.walk(child, below) for child in children]
        if all(new is old for new, old in zip(walked, children, strict=True)):
            return plan
        return plan.withNewChildren(to_seq(walked))

    def _chosen(self, node: Any, required: set[int] | None) -> Any:
        """Walk a Project, which computes only what is read above, so that no other columns are asked for below."""
        chosen = [e for e in items(node.projectList()) if required is None or expression_id(e) in required]
        walked = self.walk(node.child(), set().union(*(_ids(e.references()) for e in chosen)))
        return node if walked is node.child() else project(chosen, walked)

    # --------------------------------------------------------------------------------------------------------- windows

    def _windows(self, top: Any, required: set[int] | None) -> Any:
        """Replace a chain of Window nodes, none of which reads what another computes."""
        chain, base = self._chain(top)
        wanted = [a for a in items(top.output()) if required is None or expression_id(a) in required]
        kept = {expression_id(a) for a in wanted}
        taken = [n for n in chain if kept & _ids_of(n.attributes())]
        left: list[_Node] = []
        refused: list[_Node] | None = None
        while refused != []:  # what is left lies below windrow's node, which must carry the columns it adds
            stacked = self._stacked(left, base)
            refused = [n for n in taken if self._refused(n, stacked, kept)]
            taken = [n for n in taken if n not in refused]
            left += refused
        walked = self.walk(base, kept.union(*(n.reads for n in chain)))
        if not taken and walked is base and len(left) == len(chain):
            return top
        self.taken += len(taken)
        below = self._stacked(left, walked)
        return project(wanted, self._computed(below, taken, kept) if taken else below)

    def _stacked(self, nodes: list[_Node], plan: Any) -> Any:
        """Put Spark's own Window nodes upon a plan."""
        for node in nodes:
            plan = node.plan.withNewChildren(to_seq([plan]))
        return plan

    def _chain(self, top: Any) -> tuple[list[_Node], Any]:
        """List the Window nodes from one downwards that can be computed at once, and what lies below them.

        Projects that only choose columns and aliases of the whole stand between them when columns are added one by
        one; attributes are found by their ids, so these can be stepped over.
        """
        nodes: list[_Node] = []
        reads: set[int] = set()
        plan = base = top
        while True:
            kind = class_of(plan)
            if kind == "Window":
                node = _Node(plan, _ids(plan.references()))
                if reads & {expression_id(a) for a in node.attributes()}:
                    return nodes, base
                nodes.append(node)
                reads |= node.reads
                base = plan.child()
            elif kind == "Project":
                if any(class_of(e) != "AttributeReference" for e in items(plan.projectList())):
                    return nodes, base
            elif kind != "SubqueryAlias":
                return nodes, base
            plan = plan.child()

    def _refused(self, node: _Node, base: Any, kept: set[int]) -> bool:
        """Whether windrow cannot compute a node's calls alike; the reason is remembered."""
        if any(map(_is_call, node.windows())):  # which the optimizer replaces
            return True
        reason = self._reason(node, base, kept)
        if reason is not None:
            others = len(node.windows()) - 1
            more = f" (and {others} more of the same keys, which stay with it)" if others else ""
            self.refusals.append(reason + more)
        return reason is not None

    def _reason(self, node: _Node, base: Any, kept: set[int]) -> str | None:
        windows = node.windows()
        if _refers_outside(base):
            return f"{windows[0].sql()}: it reads a common table expression that Spark computes once"
        try:
            result = self._run(base, [node], _passing(base, kept), copied=False)
        except WindrowError as error:
            return str(error) if " OVER (" in str(error) else f"{windows[0].sql()}: {error}"
        for window, new in zip(windows, items(result.output())[-len(windows) :], strict=True):
            if not window.dataType().equals(new.dataType()) or window.nullable() != new.nullable():
                return f"{window.sql()}: Spark's result is {_typed(window)}, windrow's would be {_typed(new)}"
        return None

    def _computed(self, base: Any, nodes: list[_Node], kept: set[int]) -> Any:
        """Compute the calls of nodes, and give each column that is kept the attribute it had."""
        passing = _passing(base, kept)
        plan = self._run(base, nodes, passing, copied=True)
        made = [a for n in nodes for a in n.attributes()]
        output = items(plan.output())
        pairs = [*zip(output, passing, strict=False), *zip(output[-len(made) :], made, strict=True)]
        return project([alias(new, old) for new, old in pairs if expression_id(old) in kept], plan)

    def _run(self, base: Any, nodes: list[_Node], passing: list[Any], *, copied: bool) -> Any:
        """Put windrow's operator upon a plan: the columns that pass come first, the calls' results last."""
        columns = _Columns()
        for attribute in columns.nodes(passing):
            columns.read(attribute)
        windows = columns.nodes([w for n in nodes for w in n.windows()])
        calls = [read_window_expression(w, columns.read, ansi=self.ansi, python=self.python) for w in windows]
        frame = dataframe_of(columns.selected(dataframe_of(base, self.session)), self.session)
        if copied:
            frame = with_new_ids(frame)
        named = {f"__windrow_call_{i}": c for i, c in enumerate(calls)}
        # quiet: a window of all rows is no news to who wrote it for Spark
        # a trial is about types, which splitting does not change: it may sample the input
        options = ComputeOptions() if copied else ComputeOptions(spread="never")
        result = SparkRunner(frame, make_plan(frame, [], named, selecting=False), options, quiet=True).result()
        return analyzed_plan(result)


def _has_windows(plan: Any) -> bool:
    return (
        class_of(plan) == "Window"
        or any(_has_windows(c) for c in items(plan.children()))
        or any(_has_windows(s) for s in items(plan.subqueries()))
    )


def _refers_outside(plan: Any) -> bool:
    """Whether a piece of a plan refers to a common table expression, and so means nothing alone."""
    return class_of(plan) in ("CTERelationRef", "UnionLoopRef") or any(map(_refers_outside, items(plan.children())))


def _ids(attributes: Any) -> set[int]:
    return _ids_of(items(attributes.toSeq()))


def _ids_of(attributes: Iterable[Any]) -> set[int]:
    return set(map(expression_id, attributes))


def _passing(plan: Any, kept: set[int]) -> list[Any]:
    """List the attributes of a plan that are kept, each once."""
    return list({expression_id(a): a for a in items(plan.output()) if expression_id(a) in kept}.values())


def _is_call(window: Any) -> bool:
    """Whether a window stands for a call of ``with_columns``."""
    function = window.windowFunction()
    return class_of(function) == "AggregateExpression" and class_of(function.aggregateFunction()) == "WindowCall"


def _typed(expression: Any) -> str:
    return f"{expression.dataType().simpleString()}{'' if expression.nullable() else ' not null'}"
