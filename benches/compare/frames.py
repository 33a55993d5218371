"""Frames as they are: lazy Polars over a wide Parquet file, and what a call costs over small tables.

``python -m benches.compare.frames``: windrow beside Polars' own ``over`` (and beside pandas' own ``groupby`` for pandas
frames), in turns in one process, after both were seen to give the same rows.

- wide: 300 K rows of 100 columns, of which three are read, lazily, in Polars' two engines
- small: one call and ten, over 10 to 20,000 rows, for Polars, pandas and pyarrow frames
- prepared: an operator that is called with one batch of 100 rows after another
- top: the first three rows of each partition of 2 M rows, beside DuckDB over the same table and over one of its own
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from .engines import limit_threads

RECORD = Path(__file__).parents[1] / "record"
WIDE_ROWS, WIDE_COLUMNS = 300_000, 100
SMALL_ROWS = (10, 100, 1_000, 20_000)
CALLS = (1, 10)
WIDTH = 11
TOP_ROWS = 2_000_000
#: Of each run of an engine, the seconds of the clock and those of all its threads.
Times = dict[str, list[tuple[float, float]]]
#: What is measured, by the name of the line.
Lines = dict[str, Times]


def _same(ours: Any, theirs: Any) -> None:
    import polars as pl
    from polars.testing import assert_frame_equal

    assert_frame_equal(pl.DataFrame(ours), pl.DataFrame(theirs), check_dtypes=False, rel_tol=1e-9, abs_tol=1e-9)


def _clock(runs: dict[str, Callable[[], Any]], repeat: int) -> Times:
    """Run each in turns; the first run of each meets what is read and made for the first time, and does not count."""
    times: Times = {name: [] for name in runs}
    for _ in range(repeat + 1):
        for name, run in runs.items():
            clock, threads = time.perf_counter(), time.process_time()
            result = run()
            times[name].append((time.perf_counter() - clock, time.process_time() - threads))
            del result
    return {name: of[1:] for name, of in times.items()}


def wide(directory: Path, repeat: int) -> Iterator[tuple[str, Times]]:
    """Measure lazy frames over a wide file, in the order of the keys and shuffled."""
    import numpy as np
    import polars as pl

    import windrow as wr

    rng = np.random.default_rng(7)
    keys = np.sort(rng.integers(0, 1000, WIDE_ROWS))
    shuffled = rng.permutation(WIDE_ROWS)
    for order in ("sorted", "shuffled"):
        rows = np.arange(WIDE_ROWS) if order == "sorted" else shuffled
        data = {"k": keys[rows], "t": rows, **{f"v{i}": rng.random(WIDE_ROWS) for i in range(WIDE_COLUMNS - 2)}}
        path = directory / f"{order}.parquet"
        pl.DataFrame(data).write_parquet(path, row_group_size=WIDE_ROWS // 10)
        scanned = pl.scan_parquet(path)
        call = wr.sum("v0").over(wr.window("k", "t", rows=(1 - WIDTH, 0))).alias("near")
        own = pl.col("v0").rolling_sum(WIDTH, min_samples=1).over("k", order_by="t").alias("near")
        ours, theirs = (q.select("k", "near") for q in (wr.with_columns(scanned, call), scanned.with_columns(own)))
        _same(ours.collect(), theirs.collect())
        assert f"PROJECT 3/{WIDE_COLUMNS} COLUMNS" in ours.explain()
        for engine in ("in-memory", "streaming"):
            yield f"wide, {order}, {engine}", _clock({
                "windrow": partial(ours.collect, engine=engine),
                "Polars": partial(theirs.collect, engine=engine),
            }, repeat)  # fmt: skip


def _pandas_own(frame: Any, columns: Sequence[str]) -> Any:
    """Compute moving sums by pandas; the rows are in the order of ``t``."""
    made = frame.groupby("k")[list(columns)].rolling(WIDTH, min_periods=1).sum().droplevel(0)
    return frame.assign(**{f"s{i}": made[name] for i, name in enumerate(columns)})


def small(repeat: int) -> Iterator[tuple[str, Times]]:
    """Measure what calls cost over small tables."""
    import numpy as np
    import polars as pl

    import windrow as wr

    rng = np.random.default_rng(7)
    for count in CALLS:
        columns = [f"v{i}" for i in range(count)]
        w = wr.window("k", "t", rows=(1 - WIDTH, 0))

        def own(frame: pl.DataFrame, columns: Sequence[str] = columns) -> pl.DataFrame:
            return frame.with_columns([
                pl.col(c).rolling_sum(WIDTH, min_samples=1).over("k", order_by="t").alias(f"s{i}")
                for i, c in enumerate(columns)
            ])  # fmt: skip

        for rows in SMALL_ROWS:
            values = {c: rng.integers(0, 1000, rows) for c in columns}
            frame = pl.DataFrame({"k": rng.integers(0, 1 + rows // 100, rows), "t": np.arange(rows), **values})
            table, of_pandas = frame.to_arrow(), frame.to_pandas()

            def ask(given: Any, columns: Sequence[str] = columns, w: Any = w) -> Any:
                # both write their calls where they are computed, as a user's function does
                return wr.with_columns(given, [wr.sum(c).over(w).alias(f"s{i}") for i, c in enumerate(columns)])

            wanted = own(frame)
            for made in (ask(frame), ask(table), ask(of_pandas), _pandas_own(of_pandas, columns)):
                _same(made, wanted)
            name = f"{rows:,} rows, {count} call{'s' if count > 1 else ''}"
            polars_own = partial(own, frame)
            few = max(1, repeat // 10)
            yield f"Polars, {name}", _clock({"windrow": partial(ask, frame), "Polars": polars_own}, repeat)
            yield f"pyarrow, {name}", _clock({"windrow": partial(ask, table), "Polars": polars_own}, repeat)
            yield (
                f"pandas, {name}",
                _clock({"windrow": partial(ask, of_pandas), "pandas": partial(_pandas_own, of_pandas, columns)}, few),
            )


def prepared(repeat: int) -> Iterator[tuple[str, Times]]:
    """Measure an operator over one batch of 100 rows a call."""
    import numpy as np
    import polars as pl
    import pyarrow as pa

    import windrow as wr

    rows = 100
    batch = pa.record_batch({"k": np.zeros(rows, int), "t": np.arange(rows), "v": np.arange(rows)})
    call = wr.sum("v").over(wr.window("k", "t", rows=(1 - WIDTH, 0))).alias("s")
    frame = pl.DataFrame(batch)
    own = pl.col("v").rolling_sum(WIDTH, min_samples=1).over("k", order_by="t").alias("s")
    with wr.config(threads=1):
        for sort in (True, False):
            op = wr.operator(call, batch.schema, sort=sort)
            _same(pa.Table.from_batches(op(batch)), frame.with_columns(own))
            yield f"op(batch), 100 rows, sort={sort}", _clock({
                "windrow": partial(lambda op: list(op(batch)), op),
                "Polars": lambda: frame.with_columns(own),
            }, repeat)  # fmt: skip


def top(threads: int, repeat: int) -> Iterator[tuple[str, Times]]:
    """Measure a limit on the row number."""
    import duckdb
    import numpy as np
    import pyarrow as pa

    import windrow as wr

    rng = np.random.default_rng(7)
    query = "SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY x DESC) <= 3 ORDER BY x"
    for partitions in (100, 10_000):
        keys, values = rng.integers(0, partitions, TOP_ROWS), rng.permutation(TOP_ROWS)
        table = pa.table({"k": keys, "x": values, "y": rng.random(TOP_ROWS)})
        connection = duckdb.connect(config={"threads": threads})
        connection.register("t", table)
        connection.execute("CREATE TABLE own AS SELECT * FROM t")
        for name, kind in (("t", "Arrow"), ("own", "DuckDB's own table")):
            theirs = partial(
                lambda connection, text: connection.sql(text).to_arrow_table(),
                connection, query.replace("FROM t", f"FROM {name}"),
            )  # fmt: skip
            ours = partial(wr.sql, query, t=table)
            _same(ours(), theirs())
            yield f"top 3 of {partitions:,} partitions, {kind}", _clock({"windrow": ours, "DuckDB": theirs}, repeat)


def report(lines: Lines, versions: str) -> Iterator[str]:
    """Give the lines of the table."""
    yield "# Frames as they are"
    yield ""
    yield versions
    yield ""
    yield "Milliseconds by the clock, and of all threads: a tenth of the runs was faster (medians say more of what else"
    yield "the machine does). The other is Polars' own `over`, for pandas frames pandas' own `groupby`, for top rows"
    yield "DuckDB."
    yield ""
    yield "| | windrow | the other | ratio | windrow, threads | the other, threads | ratio |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name, times in lines.items():
        cells = []
        for which in range(2):
            ours, theirs = (1e3 * sorted(run[which] for run in of)[len(of) // 10] for of in times.values())
            cells += [f"{ours:.3g}", f"{theirs:.3g}", f"{ours / theirs:.2f}"]
        yield f"| {name} | {' | '.join(cells)} |"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benches.compare.frames", description=__doc__)
    parser.add_argument("--threads", type=int, default=2, help="threads of each engine (default 2)")
    parser.add_argument("--repeat", type=int, default=200, help="runs of each; a tenth if long (default 200)")
    parser.add_argument("--output", type=Path, default=RECORD, metavar="DIR", help="where to write (benches/record)")
    args = parser.parse_args(argv)
    limit_threads(args.threads)
    lines: Lines = {}
    with tempfile.TemporaryDirectory() as directory:
        few = max(1, args.repeat // 10)
        measured = (wide(Path(directory), few), small(args.repeat), prepared(args.repeat), top(args.threads, few))
        for found in measured:
            for name, times in found:
                lines[name] = times
                ours, theirs = (min(of)[0] for of in times.values())
                print(f"{name}: {1e3 * ours:.3g} {1e3 * theirs:.3g} ms", file=sys.stderr, flush=True)
    import polars as pl
    import pyarrow as pa

    import windrow as wr

    when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    versions = (
        f"{when}, {platform.machine()}, {os.cpu_count()} CPUs; python {platform.python_version()}, "
        f"polars {pl.__version__}, pyarrow {pa.__version__}, windrow {wr.__version__}; {args.threads} threads."
    )
    text = "\n".join(report(lines, versions)) + "\n"
    args.output.mkdir(parents=True, exist_ok=True)
    (args.output / "frames.md").write_text(text)
    with (args.output / "frames.jsonl").open("a") as record:
        record.write(json.dumps({"when": when, "seconds": lines}) + "\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
