"""Window calls on a PySpark DataFrame: what ``wr.with_columns`` and ``wr.explain`` ask for."""

from __future__ import annotations

from typing import Any

from ..._execute.explained_call import ExplainedCall
from ..._execute.run_metrics import Measured
from ..._model.replace import replace
from ..._plan.steps import Compute, Evaluate, StepPlan
from ..explanation import Explanation
from .execution import SparkRunner
from .options import Way
from .planning import is_of_inputs
from .task_metrics import Heard, computed, listening

__all__ = ["Way", "explain_spark", "run_spark"]

# With a limit in force Spark adds up the bytes of all columns after each row, which takes as long as writing the row.
_WEIGHED = "spark.sql.execution.arrow.maxBytesPerBatch"
_NO_LIMIT = str(2**31 - 1)


def run_spark(frame: Any, plan: StepPlan, way: Way, *, quiet: bool = False) -> Any:
    """Put the steps of a plan into a DataFrame's own.

    Parameters
    ----------
    frame
        A PySpark DataFrame, Classic or Connect.
    plan
        The plan.
    way
        Who sorts, and who computes.
    quiet
        Whether to do without the warning that all rows move to one partition.

    Returns
    -------
    pyspark.sql.DataFrame
        Lazy, as every DataFrame.
    """
    return SparkRunner(frame, plan, way, quiet=quiet).result()


def explain_spark(frame: Any, plan: StepPlan, way: Way, *, metrics: bool) -> Explanation:
    """Say how the steps of a plan would be run over a DataFrame.

    Parameters
    ----------
    frame
        A PySpark DataFrame.
    plan
        The plan.
    way
        Who sorts, and who computes.
    metrics
        Whether to run the job.

    Returns
    -------
    Explanation
        The native plans, and the exchanges around them; with ``metrics``, what the tasks say of their runs.

    Raises
    ------
    UnsupportedError
        For ``metrics`` on Spark Connect.
    """
    # what would be warned of stands in the steps
    run = SparkRunner(frame, plan, way, listening(frame.sparkSession) if metrics else None, quiet=True)
    result = run.result()
    shown = plan.display_names()
    results = {i: name for name, i in plan.project.columns}
    rows: list[ExplainedCall] = []
    steps: list[str] = []
    last: list[str] = []
    measured: list[tuple[str, Heard]] = []
    number = 0
    stages = iter(run.done)
    for step in plan.steps:
        if isinstance(step, Evaluate) and not is_of_inputs(step):
            for index, scalar in enumerate(step.scalars, len(step.names)):
                if index in results:
                    last.append(f"Spark evaluates {scalar.text} into {results[index]} last")
                else:
                    steps.append(f"Spark evaluates {scalar.text} into a column first")
        if not isinstance(step, Compute):
            continue
        for one in next(stages):
            number += one.exchange
            title = f"exchange {number}" if one.exchange else "no exchange"
            names = []
            for row, index in zip(one.rows, one.calls, strict=True):
                names.append(shown[step.calls[index].name] or row.call)
                sort = f", sort {row.sort}" if one.by_windrow else ""
                rows.append(replace(row, name=names[-1], sort=title + sort))
            if one.heard is not None:
                measured.append((f"{title}: {', '.join(names)}", one.heard))
            who = "mapInArrow computes" if one.by_windrow else "Spark's own windows compute"
            steps.append(f"{title}: {one.together}, then {who} {', '.join(names)}")
    if any(one.by_windrow for done in run.done for one in done):
        steps += _weighing(frame.sparkSession)
    steps += last
    if not metrics:
        return Explanation(rows, steps)
    seconds = computed(result)
    return Explanation(rows, steps, [Measured(name, heard.runs) for name, heard in measured], seconds)


def _weighing(session: Any) -> list[str]:
    """Say that a setting of Spark's makes the way to Python take longer than it need."""
    limit = session.conf.get(_WEIGHED, None)
    if limit is None or limit.rstrip("bB") == _NO_LIMIT:
        return []
    return [
        f"on its way to Python Spark weighs each batch after every row, as {_WEIGHED} is {limit}; {_NO_LIMIT} saves "
        "that time, and batches still end at maxRecordsPerBatch rows"
    ]
