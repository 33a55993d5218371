"""What a DataFrame is read from, with nothing but projections and filters upon it."""

from __future__ import annotations

from typing import Any

from .jvm import class_of, items

__all__ = ["is_cheap"]

_STEPS = frozenset(["Filter", "Project", "SubqueryAlias", "Union"])

# What is known to be cheap to read in part.
_TABLES = frozenset([
    "DataSourceV2Relation", "DataSourceV2ScanRelation", "HiveTableRelation", "InMemoryRelation", "LocalRelation",
    "LogicalRelation", "Range",
])  # fmt: skip


def is_cheap(plan: Any) -> bool:
    """Whether a plan's first rows cost little: files and tables, with projections and filters upon them.

    Parameters
    ----------
    plan
        The logical plan.
    """
    return all(class_of(node) in _STEPS | _TABLES for node in _nodes(plan))


def _nodes(plan: Any) -> list[Any]:
    """List a plan's nodes."""
    nodes = [plan]
    for node in nodes:
        nodes += items(node.children())
    return nodes
