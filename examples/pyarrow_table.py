"""Window functions on a pyarrow Table: untouched columns keep their buffers, new ones stand behind them."""

import pyarrow as pa

import windrow as wr

metrics = pa.table(
    {
        "id": [0, 1, 2, 3, 4, 5, 6],
        "device": [0, 0, 5, 0, 0, 5, 5],
        "level": [0, 1, 2, 3, 1, 3, 0],
    }
)

by_range = wr.window("device", "id", range=(-1, 0))  # ids from one less than this row's to this row's
by_rows = wr.window("device", "id", rows=(-1, 0))  # the row before, and this one

result = wr.with_columns(
    metrics,
    wr.sum("level").over(by_range).alias("in_range"),
    wr.sum("level").over(by_rows).alias("in_rows"),
)
for row in result.to_pylist():
    print(row)

print(wr.explain(metrics, wr.sum("level").over(by_range).alias("in_range")))
