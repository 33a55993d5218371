"""Window calls on a PySpark DataFrame: what ``wr.with_columns`` and ``wr.explain`` ask for."""

from __future__ import annotations

import logging
from typing import Any
from weakref import WeakSet

from ..._execute.explained_call import ExplainedCall
from ..._execute.run_metrics import Measured
from ..._model.replace import replace
from ..._plan.steps import Compute, Evaluate, StepPlan
from ..explanation import Explanation
from .execution import SparkRunner
from .explained_windows import explained_windows
from .jvm import dataframe_of, is_classic, with_identities
from .options import ComputeOptions
from .planning import is_of_inputs
from .releases import is_known_release
from .session import BATCH_BYTES, MOST_BATCH_BYTES, spark_setting
from .session_rule import install, is_enabled, pins_threads
from .task_metrics import MetricsAccumulator, metrics_context, run_to_noop_sink
from .window_columns import WindowColumns, WindowColumnsRunner

__all__ = ["ComputeOptions", "explain_spark", "run_spark"]

# The sessions that were told of it.
_told: WeakSet[Any] = WeakSet()


def run_spark(frame: Any, plan: StepPlan, compute_options: ComputeOptions) -> Any:
    """Put the steps of a plan into a DataFrame's own.

    On Spark Classic the calls become windows of Spark's plan, which the session's optimizer gives to windrow. On
    Connect, and for rows that come sorted, exchanges and ``mapInArrow`` are put there at once.

    Parameters
    ----------
    frame
        A PySpark DataFrame, Classic or Connect.
    plan
        The plan.
    compute_options
        Who sorts, and who computes.

    Returns
    -------
    pyspark.sql.DataFrame
        Lazy, as every DataFrame.
    """
    if compute_options.chosen() != "spark":
        _tell_of_batch_bytes(frame.sparkSession)
    columns = _as_windows(frame, plan, compute_options)
    if columns is not None:
        return columns.frame
    keeps_identity = is_classic(frame) and bool(plan.computes())
    result = SparkRunner(frame, plan, compute_options).result(keeps_identity=keeps_identity)
    return with_identities(result, frame, _passing(plan)) if keeps_identity else result


def _tell_of_batch_bytes(session: Any) -> None:
    """Log once for a session what a setting of Spark's costs."""
    if session not in _told:
        _told.add(session)
        for note in _batch_bytes_note(session):
            logging.getLogger("windrow").warning("%s", note)


def _passing(plan: StepPlan) -> dict[int, int]:
    """Say which columns of the result are columns of the frame, by position."""
    return {at: i for at, (name, i) in enumerate(plan.project.columns) if i < plan.width and name == plan.columns[i]}


def _as_windows(
    frame: Any, plan: StepPlan, compute_options: ComputeOptions, *, quiet: bool = False
) -> WindowColumns | None:
    """Make calls windows of Spark's plan; None where they cannot be."""
    if not _fits_windows(frame, plan, compute_options):
        return None
    columns = WindowColumnsRunner(frame, plan, compute_options, quiet=quiet)
    made = columns.result()
    install(frame.sparkSession)
    return made


def _fits_windows(frame: Any, plan: StepPlan, compute_options: ComputeOptions) -> bool:
    """Whether calls can be windows of Spark's plan, where windrow sorts."""
    if not is_classic(frame) or not is_known_release((3, 5)) or not plan.computes() or not pins_threads():
        return False
    return compute_options.sort not in (False, "spark")


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
    columns = _as_windows(frame, plan, compute_options, quiet=True)
    if columns is not None:
        return _explain_windows(columns, plan, metrics=metrics)
    run = SparkRunner(
        frame, plan, compute_options, metrics_context(frame.sparkSession) if metrics else None, quiet=True
    )
    result = run.result()
    shown = plan.display_names()
    rows: list[ExplainedCall] = []
    steps: list[str] = []
    measured: list[tuple[str, MetricsAccumulator]] = []
    number = 0
    stages = iter(run.done)
    for step in plan.steps:
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
    steps = [*_evaluated(plan, inputs=True), *steps, *_evaluated(plan, inputs=False)]
    if not metrics:
        return Explanation(rows, steps)
    seconds = run_to_noop_sink(result)
    return Explanation(rows, steps, [Measured(name, accumulator.runs) for name, accumulator in measured], seconds)


def _explain_windows(columns: WindowColumns, plan: StepPlan, *, metrics: bool) -> Explanation:
    """Say how Spark's optimized plan computes calls that are windows in it."""
    frame = columns.frame
    session = frame.sparkSession
    context = metrics_context(session) if metrics else None
    made = explained_windows(
        frame,
        only_calls=not is_enabled(session),
        new_report=None if context is None else lambda: MetricsAccumulator(context),
    )
    shown = {plan.columns[len(s.names) + i]: c.name for s in plan.computes() for i, c in enumerate(s.calls)}
    names = {column: plan.display_names()[call] for column, call in shown.items()}
    rows = [columns.left.get(row.name, row) if row.strategy == "spark" else row for row in made.rows]
    rows = [replace(row, name=names.get(row.name) or row.call) if row.name in names else row for row in rows]
    written = [name for name, _ in plan.project.columns]
    rows.sort(key=lambda row: written.index(row.name) if row.name in written else -1)
    steps = [*_evaluated(plan, inputs=True), *made.steps]
    left = [row for row in rows if row.strategy == "spark"]
    if left:
        steps.append(f"Spark's own windows compute {', '.join(row.name for row in left)}")
    if made.stages:
        steps += _batch_bytes_note(session)
    steps += _evaluated(plan, inputs=False)
    if not metrics:
        return Explanation(rows, steps)
    seconds = run_to_noop_sink(frame if made.plan is None else dataframe_of(made.plan, session))
    measured = [
        Measured(f"stage {i}: {', '.join(stage.calls)}", stage.operator.report.runs)
        for i, stage in enumerate(made.stages, 1)
        if isinstance(stage.operator.report, MetricsAccumulator)
    ]
    return Explanation(rows, steps, measured, seconds)


def _evaluated(plan: StepPlan, *, inputs: bool) -> list[str]:
    """Say which scalars Spark evaluates: those that calls read, or those of the result."""
    results = {i: name for name, i in plan.project.columns}
    steps = []
    for step in plan.steps:
        if isinstance(step, Evaluate) and not is_of_inputs(step):
            for index, scalar in enumerate(step.scalars, len(step.names)):
                if (index in results) != inputs:
                    column = f"{results[index]} last" if index in results else "a column first"
                    steps.append(f"Spark evaluates {scalar.text} into {column}")
    return steps


def _batch_bytes_note(session: Any) -> list[str]:
    """Say that a setting of Spark's makes the way to Python take longer than it need."""
    limit = spark_setting(session, BATCH_BYTES)
    if limit is None or limit.rstrip("bB") == MOST_BATCH_BYTES:
        return []
    return [
        f"on its way to Python Spark weighs each batch after every row, as {BATCH_BYTES} is {limit}; "
        f"{MOST_BATCH_BYTES} saves that time, and batches still end at maxRecordsPerBatch rows"
    ]
