"""How the input is already clustered, and so which exchange is still needed to have a partition's rows in one task.

``mapInArrow`` asks nothing of how its rows are spread, so an exchange stands below it, and Spark takes away an exchange
that its child's hash partitioning makes needless. It should not always. Of what stands below, adaptive execution may
afterwards read parts of a partition in several tasks (a skewed join, ``REBALANCE``), and may read a bucketed table
otherwise than by its buckets, because nothing above asks for whole partitions any more. So:

- An exchange carries a literal beside its keys, which clusters as the keys do and is like no other partitioning: Spark
  leaves it where it is.
- It goes without the literal, on the very keys by which the input is partitioned, where every node from there down to
  what spread the rows keeps partitions whole. Then Spark takes it away, and decides so itself with the final plan in
  hand: what is read here chooses keys, and no answer depends on it.
- Where windrow's own exchange stands below, with nothing but windrow, projections and filters between, there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .jvm import analyzed_plan, class_of, executed_plan, expression_id, is_classic, items, shuffle_partitions
from .session import is_on

__all__ = ["STAGE_NAME", "Clustering", "clustering_of"]

#: By this name of its function a ``mapInArrow`` of windrow's is known in a plan: what it gives under the name of an
#: input column is that column.
STAGE_NAME = "windrow_stage"

# Physical nodes that give each row of a task's input in that task, whatever adaptive execution does.
_PRESERVE_PARTITIONS = frozenset([
    "ArrowEvalPythonExec", "BatchEvalPythonExec", "ColumnarToRowExec", "FilterExec", "InputAdapter", "MapInArrowExec",
    "ProjectExec", "WholeStageCodegenExec", "WindowExec", "WindowGroupLimitExec",
])  # fmt: skip
# Nodes that need rows of equal keys together, and give columns that make them needed: they cannot go.
_REQUIRE_CLUSTERING = frozenset(["HashAggregateExec", "ObjectHashAggregateExec", "SortAggregateExec"])
# How a source's rows may be spread without being like an exchange.
_NOT_HASHED = frozenset(["RangePartitioning", "SinglePartition", "UnknownPartitioning"])
# Logical nodes that may leave rows spread by keys, and that are worth planning the frame for.
_MAY_CLUSTER = frozenset([
    "Aggregate", "Deduplicate", "Distinct", "Except", "Intersect", "RepartitionByExpression", "Window",
])  # fmt: skip
_JOINS = frozenset(["ShuffledHashJoinExec", "SortMergeJoinExec"])
_USER_EXCHANGES = frozenset(["REPARTITION_BY_COL", "REPARTITION_BY_NUM"])


@dataclass(frozen=True, slots=True)
class Clustering:
    """How rows are distributed over tasks: rows of equal keys are in one.

    Parameters
    ----------
    keys
        The columns; an exchange is like this one if it has them in this order. Empty: all rows are in one task.
    tasks
        The number of tasks, where it is not the session's default.
    is_colocated
        Whether that holds of whatever plan Spark makes. If not, an exchange on the very keys must say so, which Spark
        takes away where it holds.
    """

    keys: tuple[str, ...]
    tasks: int | None = None
    is_colocated: bool = False


def clustering_of(frame: Any, names: Sequence[str]) -> Clustering | None:
    """Say by which of its columns a DataFrame's rows are clustered, if that can be known and relied on.

    Parameters
    ----------
    frame
        A DataFrame; of Spark Connect's nothing is known, as their plans are the server's.
    names
        What its columns are to be called.

    Returns
    -------
    Clustering or None
        None where nothing is known. No job is run, but the frame's own plan may be made.
    """
    if not is_classic(frame):
        return None
    logical = analyzed_plan(frame)
    adaptive = is_on(frame.sparkSession, "spark.sql.adaptive.enabled")
    windrow_exchange = _windrow_exchange(logical)
    if windrow_exchange is not None:
        positions, is_marked = windrow_exchange
        keys = tuple(names[i] for i in positions)
        return (
            Clustering(keys, is_colocated=True)
            if is_marked or _partitions_stay_whole(executed_plan(frame), adaptive)
            else None
        )
    if not _may_be_clustered(logical, adaptive):
        return None
    plan = executed_plan(frame)
    if class_of(plan) == "AdaptiveSparkPlanExec":
        plan = plan.initialPlan()
    partitioning = plan.outputPartitioning()
    if class_of(partitioning) != "HashPartitioning" or not _partitions_stay_whole(plan, adaptive):
        return None
    positions = _positions(logical, items(partitioning.expressions()))
    if not positions:
        return None
    tasks = int(partitioning.numPartitions())
    return Clustering(tuple(names[i] for i in positions), None if tasks == shuffle_partitions(frame) else tasks)


def _windrow_exchange(plan: Any) -> tuple[tuple[int, ...], bool] | None:
    """Look for the exchange below windrow's ``mapInArrow`` in a logical plan: its keys, and whether Spark keeps it."""
    positions = list(range(len(items(plan.output()))))  # of each column of the frame, which of the node's it is
    passed = False
    while True:
        kind = class_of(plan)
        if kind == "RepartitionByExpression" and passed:
            by = items(plan.partitionExpressions())
            keys = [e for e in by if not e.foldable()]
            at = tuple(positions.index(k) if k in positions else -1 for k in _positions(plan, keys))
            return (at, len(keys) < len(by)) if at and -1 not in at else None
        below: list[int]
        if kind == "MapInArrow" and str(plan.functionExpr().name()) == STAGE_NAME:
            passed = True
            named = {str(a.name()): i for i, a in enumerate(items(plan.child().output()))}
            below = [named.get(str(a.name()), -1) for a in items(plan.output())]
        elif kind == "Project":
            known = {expression_id(a): i for i, a in enumerate(items(plan.child().output()))}
            below = [_source(e, known) for e in items(plan.projectList())]
        elif kind in ("Filter", "SubqueryAlias") or (kind == "Sort" and not getattr(plan, "global")()):
            below = list(range(len(items(plan.output()))))
        else:
            return None
        positions = [below[p] if 0 <= p < len(below) else -1 for p in positions]
        plan = items(plan.children())[0]


def _may_be_clustered(plan: Any, adaptive: bool) -> bool:
    """Whether a logical plan has, below what keeps rows where they are, a node that spreads or needs them by keys."""
    while class_of(plan) in ("Project", "Filter", "SubqueryAlias"):
        plan = items(plan.children())[0]
    return class_of(plan) in _MAY_CLUSTER or (class_of(plan) == "Join" and not adaptive)


def _partitions_stay_whole(plan: Any, adaptive: bool) -> bool:
    """Whether partitions stay whole in any plan Spark may make, all the way down to what spread the rows for good.

    An exchange that Spark put in for its own needs is passed: it may go when what needs it goes.
    """
    while True:
        plan = _inside(plan)
        kind = class_of(plan)
        if kind in _REQUIRE_CLUSTERING:
            return True
        if kind == "FileSourceScanExec":  # whether buckets are read as such is for each plan anew
            return not plan.relation().bucketSpec().isDefined()
        below = items(plan.children())
        if not below:
            return class_of(plan.outputPartitioning()) in _NOT_HASHED
        if kind == "ShuffleExchangeExec":
            origin = str(plan.shuffleOrigin())
            if origin in _USER_EXCHANGES:
                return True
            if origin != "ENSURE_REQUIREMENTS":
                return not adaptive
        elif kind in _JOINS:
            return not adaptive
        elif kind not in _PRESERVE_PARTITIONS and not (kind == "SortExec" and not getattr(plan, "global")()):
            return False
        plan = below[0]


def _inside(plan: Any) -> Any:
    """Give the plan that an adaptive or a cached one stands for."""
    while True:
        kind = class_of(plan)
        if kind == "AdaptiveSparkPlanExec":
            plan = plan.initialPlan()
        elif kind == "InMemoryTableScanExec":
            plan = plan.relation().cachedPlan()
        else:
            return plan


def _positions(plan: Any, expressions: Sequence[Any]) -> tuple[int, ...]:
    """Give the positions of columns in a plan's output; nothing where one of them is no column of it."""
    known = {expression_id(a): i for i, a in enumerate(items(plan.output()))}
    if any(class_of(e) != "AttributeReference" or expression_id(e) not in known for e in expressions):
        return ()
    return tuple(known[expression_id(e)] for e in expressions)


def _source(expression: Any, known: dict[int, int]) -> int:
    """Give the position of the column that an expression of a projection is, -1 where it is more than that."""
    if class_of(expression) == "Alias":
        expression = expression.child()
    return known.get(expression_id(expression), -1) if class_of(expression) == "AttributeReference" else -1
