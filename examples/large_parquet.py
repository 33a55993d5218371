"""From Parquet to Parquet, more rows than memory holds: sorted by way of the disk within a limit, answered as a stream.

    python examples/large_parquet.py                                            # makes a small file, and answers it
    python examples/large_parquet.py --make 4 --keys 1000 /tmp/trips.parquet    # makes some 4 GB, and stops
    python examples/large_parquet.py --limit 256MB --progress /tmp/trips.parquet /tmp/answered.parquet

Beside windrow's limit, what matters is how the file is read and written:

- ``iter_batches`` decodes a batch at a time, so its size counts. With a ``buffer_size`` it holds a piece of each column
  of a row group, without one all of them as they are in the file.
- ``pre_buffer=False``, or whole row groups are read ahead. ``pyarrow.dataset`` reads several of them at once.
- Each ``write_batch`` makes a row group, and tiny ones are slow to read: gather batches first. What is gathered is held
  twice while it is written.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import windrow as wr

BATCH = 32_768  # rows that are read at once
GROUP = 65_536  # rows of a row group that is written
ROW_BYTES = 48  # of a row in memory

CALLS = {
    "trip": "row_number() OVER (PARTITION BY k ORDER BY t)",
    "waited": "t - lag(t) OVER (PARTITION BY k ORDER BY t)",
    "usual": "avg(d) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING)",
    "share": "d / sum(d) OVER (PARTITION BY k)",
}


def make(path: Path, gigabytes: float, keys: int) -> None:
    """Write a table of trips in no order."""
    rng = np.random.default_rng(1)
    rows = int(gigabytes * 1e9 / ROW_BYTES)
    schema = pa.schema({"id": pa.int64(), "k": pa.int32(), "t": pa.int64(), "d": pa.float64(), "s": pa.string()})
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, GROUP):
            size = min(GROUP, rows - first)
            columns = [
                np.arange(first, first + size),
                rng.integers(0, keys, size, dtype=np.int32),
                rng.integers(0, 10**9, size),
                rng.random(size),
                pa.array([f"passenger {i:09}" for i in range(first, first + size)]),
            ]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def read(path: Path) -> pa.RecordBatchReader:
    """Read a file batch by batch."""
    file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    return pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(BATCH, use_threads=False))


def write(path: Path, reader: pa.RecordBatchReader) -> None:
    """Write what a reader gives in row groups of a fair size."""
    with pq.ParquetWriter(path, reader.schema) as writer:
        for table in gathered(reader):
            writer.write_table(table)


def gathered(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Put batches together to tables of ``GROUP`` rows or a little more."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in reader:
        held.append(batch)
        rows += batch.num_rows
        if rows >= GROUP:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held)


def answer(source: Path, target: Path, limit: str, progress: bool) -> None:
    """Read, compute, write."""
    with wr.config(memory_limit=limit, progress=progress, threads=1):
        write(target, wr.with_columns(read(source), CALLS, sort=True))


def peak() -> str:
    """Say how much memory this process has held at most, where the system tells."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return "unknown"
    return next(f"{int(line.split()[1]) >> 10} MiB" for line in lines if line.startswith("VmHWM"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path, nargs="?")
    parser.add_argument("target", type=Path, nargs="?")
    parser.add_argument("--make", type=float, metavar="GB", help="write SOURCE, so large in memory, and stop")
    parser.add_argument("--keys", type=int, default=1000, help="partitions of the table that is made")
    parser.add_argument("--limit", default="256MB")
    parser.add_argument("--progress", action="store_true")
    arguments = parser.parse_args()
    logging.basicConfig(format="%(message)s")
    logging.getLogger("windrow").setLevel(logging.INFO if arguments.source else logging.WARNING)

    with tempfile.TemporaryDirectory() as folder:
        source = arguments.source or Path(folder) / "trips.parquet"
        target = arguments.target or Path(folder) / "answered.parquet"
        if arguments.make or arguments.source is None:
            make(source, arguments.make or 0.05, arguments.keys)
        if arguments.make and arguments.target is None:
            return
        begun = time.perf_counter()
        answer(source, target, arguments.limit, arguments.progress)
        seconds = time.perf_counter() - begun
        print(f"{pq.read_metadata(target).num_rows:,} rows in {seconds:.1f} s, peak {peak()}")
        first = pq.ParquetFile(target).iter_batches(2)
        print(*next(first).to_pylist(), sep="\n")


if __name__ == "__main__":
    main()
