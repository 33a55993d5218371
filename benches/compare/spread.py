"""Windows without PARTITION BY: windrow over all tasks, beside Spark's single one.

``python -m benches.compare.spread``: 20 M rows from a Parquet file in no order to the ``noop`` sink, on ``local[2]``,
Spark with its segment tree, in turns; before that all must give the same rows, of fewer. The peak is of windrow's
largest Python worker, read from /proc. Before, windrow alone on 1, 2 and 4 workers, half of the rows: ``local[n]`` has
n tasks at once, on however many processors there are.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import statistics
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import windrow as wr

from .spark import CHECKED_ROWS, RECORD, Case, answers, check, drain, in_turns, new_session

ROWS = 20_000_000
NEAR = "(ORDER BY ts ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING)"
CASES = [
    Case("row_number", {"c0": "row_number() OVER (ORDER BY ts)"}, {"tree": 1.0}),
    Case("running_sum", {"c0": "sum(v) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING)"}, {"tree": 1.0}),
    Case("sum_near", {"c0": f"sum(d) OVER {NEAR}"}, {"tree": 1.0}),
    Case("min_near", {"c0": f"min(v) OVER {NEAR}"}, {"tree": 1.0}),
    Case("total", {"c0": "max(v) OVER ()"}, {"tree": 1.0}),
]


#: Who answers.
WAYS = ["windrow", "tree"]

#: What the scaling is shown on, and by how much fewer rows.
SCALED_CASES = [case for case in CASES if case.name in ("running_sum", "min_near")]
SCALED = 2


def write_table(path: Path, rows: int) -> None:
    """Write the table, in row groups that tasks share."""
    rng = np.random.default_rng(7)
    table = pa.table({
        "id": np.arange(rows),
        "ts": rng.permutation(rows),
        "v": pa.array(rng.integers(-1_000_000, 1_000_000, rows), mask=rng.random(rows) < 0.1),
        "d": rng.normal(size=rows) * 100,
    })  # fmt: skip
    pq.write_table(table, path, row_group_size=max(1, rows // 16))


@contextmanager
def peak_of_workers() -> Iterator[list[int]]:
    """Watch the Python workers of Spark; the list has the largest one's peak in bytes, at the end."""
    peak = [0]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    if (
                        b"pyspark" in (process / "cmdline").read_bytes()
                        and b"daemon" in (process / "cmdline").read_bytes()
                    ):
                        words = (process / "status").read_text().partition("VmHWM:")[2].split()
                        peak[0] = max(peak[0], int(words[0]) << 10)
                except (OSError, IndexError, ValueError):
                    continue  # it has ended

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def scaling(path: str, workers: int, repeat: int) -> list[float]:
    """Measure windrow on so many workers, in a process of its own."""
    warnings.simplefilter("ignore", UserWarning)
    session = new_session(workers)
    session.sparkContext.setLogLevel("ERROR")
    times = []
    for _ in range(repeat + 1):  # the first warms Spark up
        times.append([drain(answers(session, Path(path), case)["windrow"]()) for case in SCALED_CASES])
    session.stop()
    return [statistics.median(column) for column in zip(*times[1:], strict=True)]


def report(lines: dict[str, dict[str, Any]], scales: dict[int, list[float]], versions: str, rows: int) -> Iterator[str]:
    """Give the lines of the tables."""
    yield "# Windows without PARTITION BY on Spark"
    yield ""
    yield versions
    yield ""
    yield f"{rows:,} rows, medians in seconds, `local[2]`, Parquet to `noop`; Spark with its segment tree, in one task."
    yield ""
    yield "| case | windrow | largest worker, MiB | Spark | windrow by Spark | |"
    yield "|---|--:|--:|--:|--:|---|"
    for name, line in lines.items():
        ours, theirs = (statistics.median(line[who]) for who in WAYS)
        met = "met" if ours <= theirs and line["peak"] < 1 << 30 else "NOT met"
        peak = f"{line['peak'] >> 20:,}"
        yield f"| {name} | {ours:.1f} | {peak} | {theirs:.1f} | {ours / theirs:.2f} | {met} |"
    yield ""
    yield f"windrow on n workers (`local[n]`), {rows // SCALED:,} rows, seconds; {os.cpu_count()} processors:"
    yield ""
    yield "| case | " + " | ".join(map(str, scales)) + " |"
    yield "|---|" + "--:|" * len(scales)
    for number, case in enumerate(SCALED_CASES):
        yield f"| {case.name} | " + " | ".join(f"{times[number]:.1f}" for times in scales.values()) + " |"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benches.compare.spread", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="rows (default 20 M)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--output", type=Path, default=RECORD, metavar="DIR", help="where to write (benches/record)")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", UserWarning)
    lines: dict[str, dict[str, Any]] = {}
    scales: dict[int, list[float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        path, part, few = (Path(directory) / f"{name}.parquet" for name in ("rows", "part", "few"))
        write_table(path, args.rows)
        write_table(part, args.rows // SCALED)
        write_table(few, CHECKED_ROWS)
        spawned = multiprocessing.get_context("spawn")
        for workers in (1, 2, 4):  # a session cannot change its workers
            with ProcessPoolExecutor(1, spawned) as process:
                scales[workers] = process.submit(scaling, str(part), workers, args.repeat).result()
            print(f"{workers} workers: {[round(t, 1) for t in scales[workers]]} s", flush=True)
        session = new_session(2)
        session.sparkContext.setLogLevel("ERROR")
        for case in CASES:
            check(session, few, case)
            line = lines[case.name] = {**{who: [] for who in WAYS}, "peak": 0}
            for turn in range(args.repeat):
                for who in in_turns(WAYS, turn):
                    with peak_of_workers() as peak:
                        line[who].append(drain(answers(session, path, case)[who]()))
                    if who == "windrow":
                        line["peak"] = max(line["peak"], peak[0])
            print(f"{case.name}: {line}", flush=True)
    import pyspark

    when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    versions = (
        f"{when}, {platform.machine()}, {os.cpu_count()} CPUs; python {platform.python_version()}, "
        f"pyspark {pyspark.__version__}, pyarrow {pa.__version__}, windrow {wr.__version__}."
    )
    text = "\n".join(report(lines, scales, versions, args.rows)) + "\n"
    args.output.mkdir(parents=True, exist_ok=True)
    (args.output / "spread.md").write_text(text)
    with (args.output / "spread.jsonl").open("a") as record:
        record.write(json.dumps({"when": when, "rows": args.rows, "seconds": lines, "workers": scales}) + "\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
