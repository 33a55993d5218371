"""Window calls on a PySpark DataFrame: what ``wr.with_columns`` and ``wr.explain`` ask for."""

from __future__ import annotations

from typing import Any

from ..._execute.explained_call import ExplainedCall
from ..._execute.run_metrics import Measured
from ..._model.replace import replace
from ..._plan.steps import Compute, Evaluate, StepPlan
from ..explanation import Explanation
from .execution import SparkRunner
from .options import ComputeOptions
from .planning import is_of_inputs
from .task_metrics import MetricsAccumulator, metrics_context, run_to_noop_sink

__all__ = ["ComputeOptions", "explain_spark", "run_spark"]

# With a limit in force Spark adds up the bytes of all columns after each row, which takes as long as writing the row.
_BATCH_BYTES_SETTING = "spark.sql.execution.arrow.maxBytesPerBatch"
_NO_LIMIT = str(2**31 - 1)


def run_spark(frame: Any, plan: StepPlan, compute_options: ComputeOptions, *, quiet: bool = False) -> Any:
    """Put the steps of a plan into a DataFrame's own.

    Parameters
    ----------
    frame
        A PySpark DataFrame, Classic or Connect.
    plan
        The plan.
    compute_options
        Who sorts, and who computes.
    quiet
        Whether to do without the warning that all rows move to one partition.

    Returns
    -------
    pyspark.sql.DataFrame
        Lazy, as every DataFrame.
    """
    return SparkRunner(frame, plan, compute_options, quiet=quiet).result()


def explain_spark(frame: Any, plan: StepPlan, compute_options: ComputeOptions, *, metrics: bool) -> Explanation:
    """Say how the steps of a plan would be run over a DataFrame.

    Parameters
    ----------
    frame
        A PySpark DataFrame.
    plan
        The plan.
    compute_options
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
    run = SparkRunner(
        frame, plan, compute_options, metrics_context(frame.sparkSession) if metrics else None, quiet=True
    )
    result = run.result()
    shown = plan.display_names()
    results = {i: name for name, i in plan.project.columns}
    rows: list[ExplainedCall] = []
    steps: list[str] = []
    last: list[str] = []
    measured: list[tuple[str, MetricsAccumulator]] = []
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
        for stage in next(stages):
            number += stage.exchange
            title = f"exchange {number}" if stage.exchange else "no exchange"
            names = []
            for row, index in zip(stage.rows, stage.calls, strict=True):
                names.append(shown[step.calls[index].name] or row.call)
                sort = f", sort {row.sort}" if stage.by_windrow else ""
                rows.append(replace(row, name=names[-1], sort=title + sort))
            if stage.accumulator is not None:
                measured.append((f"{title}: {', '.join(names)}", stage.accumulator))
            who = "mapInArrow computes" if stage.by_windrow else "Spark's own windows compute"
            steps.append(f"{title}: {stage.distribution}, then {who} {', '.join(names)}")
    if any(stage.by_windrow for done in run.done for stage in done):
        steps += _batch_bytes_note(frame.sparkSession)
    steps += last
    if not metrics:
        return Explanation(rows, steps)
    seconds = run_to_noop_sink(result)
    return Explanation(rows, steps, [Measured(name, accumulator.runs) for name, accumulator in measured], seconds)


def _batch_bytes_note(session: Any) -> list[str]:
    """Say that a setting of Spark's makes the way to Python take longer than it need."""
    limit = session.conf.get(_BATCH_BYTES_SETTING, None)
    if limit is None or limit.rstrip("bB") == _NO_LIMIT:
        return []
    return [
        f"on its way to Python Spark weighs each batch after every row, as {_BATCH_BYTES_SETTING} is {limit}; "
        f"{_NO_LIMIT} saves that time, and batches still end at maxRecordsPerBatch rows"
    ]
