"""DataFrames whose windows were written for Spark, computed by windrow: their plan gets windrow's calls in their place.

    Project                        Project
    +- Window [rank(..)], k        +- Window [WindowCall(..)], k        of the same names, ids and keys
       +- Window [sum(v)], k          +- Window [WindowCall(v)], k

So they are calls of ``with_columns``, which the session's rule replaces after Spark's optimizer (session_rule.py).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

from ..._plan.bound import BoundCall
from ...exceptions import UnsupportedError
from ...settings import current
from ..explanation import Explanation
from .catalyst_node import windows_of
from .compiled import make
from .explained_windows import explained_windows
from .jvm import dataframe_of, depth_limited, inline_ctes, is_classic, plan_with_cache
from .optimized_windows import ChainPlanner
from .releases import check_release
from .session import caller_stack_level
from .session_rule import install
from .window_calls import WindowCalls

__all__ = ["accelerate", "explain"]


def accelerate(frame: Any) -> Any:
    """Do what :func:`windrow.spark.accelerate` says."""
    _check(frame)
    with depth_limited("the plan of the frame"):
        return _accelerated(frame)


def _accelerated(frame: Any) -> Any:
    reader = make("windrow.WindowReader", inline_ctes(plan_with_cache(frame)), False)
    read = windows_of(reader)
    planners = [ChainPlanner(chain, read) for chain in read["chains"]]
    marks, calls = _marks(planners)
    refusals = [
        f"a window in a subquery of {name}: it stands inside an expression" for name in reader.nodesOfSubqueries()
    ]
    refusals += [line for planner in planners for line in planner.refusals]
    refusals += [
        f"{window.expression.sql}: it is an expression over several calls, which wr.spark.enable(spark) computes"
        for planner in planners
        for _, window in planner.taken_windows()
        if window.text
    ]
    if refusals:
        lines = "".join(f"\n  {line}" for line in dict.fromkeys(refusals))
        text = f"windrow leaves to Spark what it cannot compute alike:{lines}"
        warnings.warn(text, UserWarning, stacklevel=caller_stack_level())
    if not marks:
        return frame
    install(frame.sparkSession)
    return dataframe_of(reader.marked(json.dumps(marks), calls.text()), frame.sparkSession)


def _marks(planners: Sequence[ChainPlanner]) -> tuple[list[dict[str, Any]], WindowCalls]:
    """Say to the JVM which windows are calls of windrow's, and give the calls."""
    marks: list[dict[str, Any]] = []
    calls: list[BoundCall] = []
    splits: list[str | None] = []
    for number, planner in enumerate(planners):
        for node, window in planner.taken_windows():
            if window.text or window.written is not None:
                continue
            [call] = window.bound
            marks.append(
                {
                    "chain": number,
                    "node": node.place,
                    "window": window.place,
                    "function": f"windrow_{call.function}",
                    "place": len(calls),
                    "values": planner.expressions(call.values()),
                }
            )
            calls.append(call)
            splits.append(window.split)
    return marks, WindowCalls(tuple(calls), planners[0].options if planners else current(), tuple(splits))


def explain(frame: Any) -> Explanation:
    """Do what :func:`windrow.spark.explain` says."""
    if not is_classic(frame):
        raise UnsupportedError("explain() needs Spark Classic: Spark Connect keeps its plans on the server")
    check_release("explain()", (3, 5))
    with depth_limited("the plan of the frame"):
        made = explained_windows(frame)
    return Explanation(made.rows, made.steps)


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
