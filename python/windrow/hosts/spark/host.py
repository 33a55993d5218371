"""Window calls on a PySpark DataFrame: what ``wr.with_columns`` and ``wr.explain`` ask for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ..._execute.run_metrics import Measured
from ..explanation import Explanation, shown_names
from .execution import Builder
from .options import Way
from .planning import make_plan
from .task_metrics import Heard, computed, listening

__all__ = ["Way", "explain_spark", "run_spark"]

# With a limit in force Spark adds up the bytes of all columns after each row, which takes as long as writing the row.
_WEIGHED = "spark.sql.execution.arrow.maxBytesPerBatch"
_NO_LIMIT = str(2**31 - 1)


def run_spark(frame: Any, items: Sequence[Any], named: Mapping[str, Any], way: Way, *, selecting: bool) -> Any:
    """Put window calls into a DataFrame's plan.

    Parameters
    ----------
    frame
        A PySpark DataFrame, Classic or Connect.
    items, named
        What the user wrote.
    way
        Who sorts, and who computes.
    selecting
        Whether only the items are wanted.

    Returns
    -------
    pyspark.sql.DataFrame
        Lazy, as every DataFrame.
    """
    return Builder(make_plan(frame, items, named, selecting=selecting), way).result()


def explain_spark(
    frame: Any, items: Sequence[Any], named: Mapping[str, Any], way: Way, *, metrics: bool
) -> Explanation:
    """Say how window calls on a DataFrame would be computed.

    Parameters
    ----------
    frame
        A PySpark DataFrame.
    items, named
        What the user wrote.
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
    plan = make_plan(frame, items, named, selecting=False)
    run = Builder(plan, way, listening(frame.sparkSession) if metrics else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the steps say it
        result = run.result()
    shown = shown_names(plan.outputs)
    rows: list[dict[str, Any]] = []
    steps = []
    measured: list[tuple[str, Heard]] = []
    number = 0
    for level, done in zip(plan.levels, run.done, strict=True):
        steps += [f"Spark evaluates {t.text} into a column first" for t in level.bound.temporaries]
        for one in done:
            number += one.exchange
            title = f"exchange {number}" if one.exchange else "no exchange"
            names = []
            for row, index in zip(one.rows, one.calls, strict=True):
                names.append(shown[level.places[index]] or row["call"])
                sort = f", sort {row['sort']}" if one.by_windrow else ""
                rows.append({**row, "name": names[-1], "sort": title + sort})
            if one.heard is not None:
                measured.append((f"{title}: {', '.join(names)}", one.heard))
            who = "mapInArrow computes" if one.by_windrow else "Spark's own windows compute"
            steps.append(f"{title}: {one.together}, then {who} {', '.join(names)}")
    if any(one.by_windrow for done in run.done for one in done):
        steps += _weighing(frame.sparkSession)
    steps += [f"Spark evaluates {t.text} into {t.name} last" for t in plan.scalars]
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
