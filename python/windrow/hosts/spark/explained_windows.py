"""The windows of a DataFrame's optimized plan: who computes each, in which stage, and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..._execute.explained_call import ExplainedCall
from ..._execute.run_metrics import Report
from ..._model.replace import replace
from .catalyst_node import windows_of
from .compiled import make
from .jvm import jvm_session, query_execution
from .optimized_windows import ChainPlanner, ExplainedStage, answers_of, planned_chains
from .types import spark_schema

__all__ = ["ExplainedWindows", "explained_windows"]


@dataclass(slots=True)
class ExplainedWindows:
    """What is explained.

    Parameters
    ----------
    rows
        A row for each window.
    steps
        The stages.
    stages
        The same, with their operators.
    plan
        The logical plan with the stages in it, apart from those of its subqueries; None if nobody wants reports, or
        there are none.
    """

    rows: list[ExplainedCall] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    stages: list[ExplainedStage] = field(default_factory=list)
    plan: Any = None


def explained_windows(
    frame: Any, *, only_calls: bool = False, new_report: Callable[[], Report] | None = None
) -> ExplainedWindows:
    """Explain the windows of a DataFrame's optimized plan, whoever wrote them.

    Parameters
    ----------
    frame
        A DataFrame of Spark Classic.
    only_calls
        Whether the windows of Spark's stay its own.
    new_report
        Makes what is told of the runs of a stage.

    Returns
    -------
    ExplainedWindows
        No job is run.
    """
    made = ExplainedWindows()
    for number, plan in enumerate(make("windrow.PlainOptimizer").plans(query_execution(frame))):
        reader = make("windrow.WindowReader", plan, True)
        read = windows_of(reader)
        planners = [ChainPlanner(chain, read, only_calls=only_calls, new_report=new_report) for chain in read["chains"]]
        chains = planned_chains(planners)
        for planner, planned in zip(planners, chains, strict=True):
            for stage in [] if planned is None else planned.stages:
                made.stages.append(stage)
                title = f"stage {len(made.stages)}"
                types = {f.name: f.dataType.simpleString() for f in spark_schema(stage.operator)}
                made.rows += [
                    replace(
                        row,
                        name=stage.columns.get(row.name, row.name),
                        sort=f"{title}, sort {row.sort}",
                        type=types[row.name],
                    )
                    for row in stage.operator.explain_rows(streamed=True)
                ]
                made.steps.append(f"{title}: {stage.distribution}, then windrow computes {', '.join(stage.calls)}")
            made.rows += planner.left()
        answers, functions = answers_of(chains)
        if new_report is not None and number == 0 and functions:
            make("windrow.WindowColumns", jvm_session(frame.sparkSession)).planStages()
            made.plan = reader.replaced(json.dumps(answers), functions)
    return made
