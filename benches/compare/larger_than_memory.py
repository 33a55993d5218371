"""More rows than memory: from Parquet to Parquet under a limit, beside DuckDB under the same, and Polars without one.

``python -m benches.compare.larger_than_memory``: an average over the last 100 rows, in random order. Each run is a
process of its own, so that its peak is known; engines run in turns. The rows of the last runs are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .engines import limit_threads
from .memory import process_status

ROOT = Path(__file__).parents[2]
RECORD = Path(__file__).parents[1] / "record"
ROWS = 20_000_000
PARTITION_ROWS = 1_000
WIDTH = 100
#: Bytes of a row: a key, an order and a value.
ROW_BYTES = 24


def make(path: Path, rows: int) -> None:
    """Write the rows: keys and orders at random, a value."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(7)
    keys = rng.integers(0, max(1, rows // PARTITION_ROWS), rows)
    pl.DataFrame({"k": keys, "t": rng.permutation(rows), "v": rng.random(rows)}).write_parquet(path)


def windrow(given: Path, made: Path, limit: int, _threads: int) -> None:
    """Run windrow; rows leave in the order of the input."""
    import polars as pl

    import windrow as wr

    call = wr.avg("v").over("k", order_by="t", rows=WIDTH)
    with wr.config(memory_limit=limit):
        wr.with_columns(pl.scan_parquet(given), m=call).sink_parquet(made)


def duckdb(given: Path, made: Path, limit: int, threads: int) -> None:
    """Run DuckDB; rows leave in any order."""
    import duckdb as db

    spilled = made.with_suffix(".spilled")
    connection = db.connect(
        config={"threads": threads, "memory_limit": f"{limit // 10**6}MB", "temp_directory": str(spilled)}
    )
    connection.execute("SET preserve_insertion_order = false")  # which takes more memory, and windows leave rows in any
    over = f"(PARTITION BY k ORDER BY t ROWS {WIDTH - 1} PRECEDING)"
    connection.execute(f"COPY (SELECT *, avg(v) OVER {over} AS m FROM '{given}') TO '{made}' (FORMAT parquet)")


def polars(given: Path, made: Path, _limit: int, _threads: int) -> None:
    """Run Polars' streaming engine, which has no limit."""
    import polars as pl

    own = pl.col("v").rolling_mean(WIDTH, min_samples=1).over("k", order_by="t")
    pl.scan_parquet(given).with_columns(m=own).sink_parquet(made)


ENGINES: dict[str, Callable[[Path, Path, int, int], None]] = {"windrow": windrow, "DuckDB": duckdb, "Polars": polars}


def run(engine: str, given: Path, made: Path, limit: int, threads: int) -> dict[str, float] | None:
    """Run an engine in a process of its own; give its seconds, those of its threads, and its peak in MiB.

    None if it fails, as for want of memory.
    """
    asked = json.dumps([engine, str(given), str(made), limit, threads])
    command = [sys.executable, "-m", "benches.compare.larger_than_memory", "--one", asked]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return None
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _one(asked: Sequence[Any]) -> dict[str, float]:
    engine, given, made, limit, threads = asked
    limit_threads(threads)
    clock, cpu = time.perf_counter(), time.process_time()
    ENGINES[engine](Path(given), Path(made), limit, threads)
    return {
        "seconds": time.perf_counter() - clock,
        "threads": time.process_time() - cpu,
        "peak MiB": process_status("VmHWM") / 2**20,  # that of getrusage counts what the parent held
    }


def check(made: dict[str, Path], given: Path) -> None:
    """Compare the engines' rows, and that windrow's are in the order of the input."""
    import polars as pl
    from polars.testing import assert_frame_equal

    if len(made) < 2:
        raise SystemExit("no other engine ended, so nothing was compared")
    ours = pl.read_parquet(made["windrow"])
    assert_frame_equal(ours.drop("m"), pl.read_parquet(given))
    ours = ours.sort("t")
    for name in made.keys() - {"windrow"}:
        assert_frame_equal(ours, pl.read_parquet(made[name]).sort("t"), rel_tol=1e-9)
    print(f"{ours.height:,} rows are equal", file=sys.stderr)


def report(figures: dict[str, list[dict[str, float] | None]], versions: str) -> Iterator[str]:
    """Give the lines of the table."""
    yield "# Larger than memory"
    yield ""
    yield versions
    yield ""
    yield "The median of the seconds by the clock, of all threads', and of the peak of the process."
    yield ""
    yield "| engine | seconds | threads | peak MiB |"
    yield "|---|--:|--:|--:|"
    for name, given in figures.items():
        runs = [run for run in given if run is not None]
        if not runs:
            yield f"| {name} | fails | | |"
            continue
        cells = [sorted(run[figure] for run in runs)[len(runs) // 2] for figure in ("seconds", "threads", "peak MiB")]
        yield f"| {name} | {cells[0]:.1f} | {cells[1]:.1f} | {cells[2]:.0f} |"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benches.compare.larger_than_memory", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"rows (default {ROWS:,})")
    parser.add_argument("--limit", type=int, help="bytes of memory (default a fifth of the rows')")
    parser.add_argument("--threads", type=int, default=2, help="threads of each engine (default 2)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--output", type=Path, default=RECORD, metavar="DIR", help="where to write (benches/record)")
    parser.add_argument(
        "--check", action="store_true", help="compare the rows alone: one run of each, nothing is written"
    )
    parser.add_argument("--one", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.one is not None:
        print(json.dumps(_one(args.one)))
        return 0
    limit = args.limit or args.rows * ROW_BYTES // 5
    figures: dict[str, list[dict[str, float] | None]] = {name: [] for name in ENGINES}
    with tempfile.TemporaryDirectory() as directory:
        given = Path(directory, "rows.parquet")
        made = {name: Path(directory, f"{name}.parquet") for name in ENGINES}
        make(given, args.rows)
        for _ in range(1 if args.check else args.repeat):
            for name, runs in figures.items():
                runs.append(run(name, given, made[name], limit, args.threads))
                print(name, runs[-1], file=sys.stderr, flush=True)
        check({name: path for name, path in made.items() if figures[name][-1] is not None}, given)
    if args.check:
        return 0
    import duckdb as db
    import polars as pl

    import windrow as wr

    when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    versions = (
        f"{when}, {platform.machine()}, {os.cpu_count()} CPUs; polars {pl.__version__}, duckdb {db.__version__}, "
        f"windrow {wr.__version__}; {args.threads} threads; {args.rows:,} rows, "
        f"{args.rows * ROW_BYTES / 1e6:.0f} MB in memory, a limit of {limit / 1e6:.0f} MB."
    )
    text = "\n".join(report(figures, versions)) + "\n"
    args.output.mkdir(parents=True, exist_ok=True)
    (args.output / "larger_than_memory.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
