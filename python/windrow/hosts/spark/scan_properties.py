"""What a DataFrame is read from, with nothing but projections and filters upon it."""

from __future__ import annotations

from typing import Any

from .jvm import class_of, is_classic, items, optimized_plan

__all__ = ["is_cheap", "is_repeatable"]

_STEPS = frozenset(["Filter", "Project", "SubqueryAlias", "Union"])

# What holds the same rows, in the same partitions, whenever it is read; as do files: these are listed once, and a job
# fails where one of them is gone.
_FIXED = frozenset(["InMemoryRelation", "LocalRelation", "Range"])
_FILES = "HadoopFsRelation"

# What is known to be cheap to read in part.
_TABLES = frozenset(["DataSourceV2Relation", "DataSourceV2ScanRelation", "HiveTableRelation", "LogicalRelation"])


def is_cheap(plan: Any) -> bool:
    """Whether a plan's first rows cost little: files and tables, with projections and filters upon them.

    Parameters
    ----------
    plan
        The logical plan.
    """
    return all(class_of(node) in _STEPS | _FIXED | _TABLES for node in _nodes(plan))


def is_repeatable(frame: Any) -> bool:
    """Whether a DataFrame gives the same rows in the same partitions each time it is read, and that costs little.

    So it is with files and tables in memory, with projections and filters upon them.

    Parameters
    ----------
    frame
        The DataFrame; of Connect's nothing is known.
    """
    if not is_classic(frame):
        return False
    plan = optimized_plan(frame)
    return bool(plan.deterministic()) and all(map(_is_fixed, _nodes(plan)))


def _is_fixed(node: Any) -> bool:
    name = class_of(node)
    if name != "LogicalRelation":
        return name in _STEPS | _FIXED
    # By its buckets a table is read only where the columns of these are.
    return class_of(node.relation()) == _FILES and bool(node.relation().bucketSpec().isEmpty())


def _nodes(plan: Any) -> list[Any]:
    """List a plan's nodes."""
    nodes = [plan]
    for node in nodes:
        nodes += items(node.children())
    return nodes
