"""What ``wr.spark.enable`` does about the windows of a DataFrame, or would do."""

from __future__ import annotations

from typing import Any

from ..._execute.explained_call import ExplainedCall
from ..._model.replace import replace
from ..explanation import Explanation
from .catalyst_node import windows_of
from .compiled import make
from .jvm import query_execution
from .optimized_windows import ChainPlanner, is_spread
from .types import spark_schema

__all__ = ["explain_windows"]


def explain_windows(frame: Any) -> Explanation:
    """Explain the windows of a DataFrame's optimized plan, whoever wrote them.

    Parameters
    ----------
    frame
        A DataFrame of Spark Classic.

    Returns
    -------
    Explanation
        A row for each window; the steps are the stages. No job is run.
    """
    rows: list[ExplainedCall] = []
    steps: list[str] = []
    for plan in make("windrow.PlainOptimizer").plans(query_execution(frame)):
        read = windows_of(make("windrow.WindowReader", plan))
        for chain in read["chains"]:
            planner = ChainPlanner(chain, ansi=read["ansi"], timezone=read["timezone"])
            planned = planner.planned()
            for stage in [] if planned is None else planned.stages:
                title = f"stage {len(steps) + 1}"
                types = {f.name: f.dataType.simpleString() for f in spark_schema(stage.operator)}
                rows += [
                    replace(row, sort=f"{title}, sort {row.sort}", type=types[row.name])
                    for row in stage.operator.explain_rows(streamed=True)
                ]
                together = (
                    f"rows of equal {', '.join(stage.keys)} in one task" if stage.keys else "all rows in one task"
                )
                if not stage.keys and is_spread(chain):
                    together = "rows are split across tasks"
                steps.append(f"{title}: {together}, then windrow computes {', '.join(stage.calls)}")
            rows += planner.left()
    return Explanation(rows, steps)
