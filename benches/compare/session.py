"""A session with ``wr.spark.enable`` beside one without: how long planning takes, and whole queries.

Planning of ``wr.with_columns`` beside ``withColumn`` is measured, too.

``python -m benches.compare.session``: on ``local[2]``, over a Parquet file, in turns. Planning is what Spark does until
a query can run; the first queries, which compile and load classes, do not count. Rows go to the ``noop`` sink.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import windrow as wr

from .spark import drain, new_session

ROWS = 4_000_000
KEYS = 10_000

_FIVE = """
    SELECT *, sum(v) OVER (PARTITION BY k ORDER BY id) s, lag(v) OVER (PARTITION BY k ORDER BY id) l,
        avg(v) OVER (PARTITION BY k ORDER BY id ROWS 9 PRECEDING) a, max(v) OVER (PARTITION BY k) m,
        row_number() OVER (PARTITION BY k ORDER BY v) r FROM t
"""
_MEAN = "avg(v) OVER (PARTITION BY k ORDER BY id ROWS 9 PRECEDING) x"

#: Queries whose planning is measured.
PLANNED = {
    "no window": "SELECT k, sum(v) FROM t GROUP BY k",
    "one window": f"SELECT *, {_MEAN} FROM t",
    "five windows": _FIVE,
}

#: Queries that are run.
RUN = {
    "mean of 10": f"SELECT *, {_MEAN} FROM t",
    "max of 100": "SELECT *, max(v) OVER (PARTITION BY k ORDER BY id ROWS 99 PRECEDING) x FROM t",
    "total": "SELECT *, sum(v) OVER (PARTITION BY k) x FROM t",
    "running sum": "SELECT *, sum(v) OVER (PARTITION BY k ORDER BY id) x FROM t",
    "row_number": "SELECT *, row_number() OVER (PARTITION BY k ORDER BY id) x FROM t",
    "five windows": _FIVE,
    "mean, then groupBy": f"SELECT k, max(x) FROM (SELECT *, {_MEAN} FROM t) GROUP BY k",
    "filter on the key": f"SELECT * FROM (SELECT *, {_MEAN} FROM t) WHERE k = 7",
    "window nobody reads": f"SELECT count(*) FROM (SELECT *, {_MEAN} FROM t)",
    "top 10 of all rows": "SELECT * FROM (SELECT *, row_number() OVER (ORDER BY v DESC, id) x FROM t) WHERE x <= 10",
    "limit": "SELECT *, row_number() OVER (ORDER BY id) x FROM t LIMIT 10",
}


def plan(spark: Any, query: str) -> object:
    """Plan a query."""
    return spark.sql(query)._jdf.queryExecution().executedPlan()


def one_by_one(frame: Any, add: Callable[[Any, dict[str, int]], Any]) -> Any:
    """Add thirty windows, one after another."""
    for back in range(1, 31):
        frame = add(frame, {f"c{back}": back})
    return frame


def at_once(frame: Any, add: Callable[[Any, dict[str, int]], Any]) -> Any:
    """Add two hundred windows."""
    return add(frame, {f"c{back}": back for back in range(1, 201)})


def by_spark(frame: Any, backs: dict[str, int]) -> Any:
    """Add sums of moving frames as Spark's columns."""
    from pyspark.sql import Window, functions

    near = Window.partitionBy("k").orderBy("id")
    return frame.withColumns(
        {name: functions.sum("v").over(near.rowsBetween(-back, 0)) for name, back in backs.items()}
    )


def by_windrow(frame: Any, backs: dict[str, int]) -> Any:
    """Add sums of moving frames as windrow's columns."""
    return wr.with_columns(
        frame, {name: wr.sum("v").over(wr.window("k", "id", rows=(-back, 0))) for name, back in backs.items()}
    )


def compute(spark: Any, query: str) -> object:
    """Compute the rows of a query."""
    return drain(spark.sql(query))


def milliseconds(run: Callable[[], object]) -> float:
    """Time one run."""
    begun = perf_counter()
    run()
    return (perf_counter() - begun) * 1000


def compared(sessions: Sequence[Any], run: Callable[[Any], object], turns: int) -> list[float]:
    """Give the medians of runs in each session, in turns."""
    times: list[list[float]] = [[] for _ in sessions]
    for turn in range(-2, turns):  # the first ones compile and load classes
        for session, taken in zip(sessions, times, strict=True):
            took = milliseconds(partial(run, session))
            if turn >= 0:
                taken.append(took)
    return [statistics.median(taken) for taken in times]


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--engine", default="windrow", choices=["auto", "windrow"])
    parser.add_argument("--planning", action="store_true", help="planning alone")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        spark = new_session()
        path = str(Path(folder, "t"))
        spark.range(given.rows).selectExpr(
            "id", f"pmod(hash(id), {KEYS}) AS k", "id * 7 % 1000 AS v", "string(id % 1000) AS name"
        ).write.parquet(path)
        sessions = [spark.newSession(), spark.newSession()]
        for session in sessions:
            session.read.parquet(path).createOrReplaceTempView("t")
        wr.spark.enable(sessions[1], engine=given.engine)
        print("| planning, ms | Spark | windrow |\n|---|---|---|")
        for name, query in PLANNED.items():
            theirs, ours = compared(sessions, partial(plan, query=query), 4 * given.turns)
            print(f"| {name} | {theirs:.0f} | {ours:.0f} |", flush=True)
        frame = sessions[0].table("t")
        for name, added in (("30 windows, one by one", one_by_one), ("200 windows at once", at_once)):
            times: dict[Any, list[float]] = {by_spark: [], by_windrow: []}
            for turn in range(-1, given.turns):
                for add, taken in times.items():
                    took = milliseconds(lambda: added(frame, add)._jdf.queryExecution().executedPlan())  # noqa: B023
                    if turn >= 0:
                        taken.append(took)
            print(
                f"| {name} | {' | '.join(f'{statistics.median(taken):.0f}' for taken in times.values())} |", flush=True
            )
        if not given.planning:
            print("\n| query, ms | Spark | windrow | ratio |\n|---|---|---|---|")
            for name, query in RUN.items():
                theirs, ours = compared(sessions, partial(compute, query=query), given.turns)
                print(f"| {name} | {theirs:.0f} | {ours:.0f} | {ours / theirs:.2f} |", flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
