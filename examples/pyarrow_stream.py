"""A RecordBatchReader in, a RecordBatchReader out: Parquet to Parquet, holding only the rows that frames still need.

The rows must come grouped by the partition keys and ordered by the order keys; a row that does not is an error.
"""

import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import windrow as wr

ROWS = 1_000_000

with tempfile.TemporaryDirectory() as folder:
    source, target = Path(folder) / "steps.parquet", Path(folder) / "smooth.parquet"
    steps = pa.table(
        {"walker": [i // 250_000 for i in range(ROWS)], "t": range(ROWS), "x": [i % 7 for i in range(ROWS)]}
    )
    pq.write_table(steps, source, row_group_size=50_000)

    reader = ds.dataset(source).scanner(batch_size=10_000).to_reader()
    hundred = wr.window("walker", "t", rows=(-99, 0))
    smooth = wr.with_columns(reader, wr.avg("x").over(hundred).alias("mean"), wr.max("x").over(hundred).alias("peak"))

    with pq.ParquetWriter(target, smooth.schema) as writer:
        for batch in smooth:  # pulled through one by one: read, computed, written
            writer.write_batch(batch)

    print(f"{pq.read_metadata(target).num_rows:,} rows; the last of them:")
    print(pq.read_table(target).slice(ROWS - 3).to_pylist())
