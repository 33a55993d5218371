"""Window functions on a Polars frame: the same frame comes back, rows in their order, with new columns."""

import polars as pl

import windrow as wr

readings = pl.DataFrame(
    {
        "sensor": ["a", "b", "a", "a", "b", "a"],
        "second": [1, 2, 3, 4, 9, 9],
        "level": [4.0, None, 6.0, None, 1.0, 2.0],
    }
)

in_time = wr.window("sensor", "second")  # no frame given: from the sensor's first row to this one and its ties
near = wr.window("sensor", "second", range=(-3, 0))  # the last three seconds
others = wr.window("sensor", exclude="current_row")  # all rows of the sensor but this one

result = wr.with_columns(
    readings,
    wr.last_value("level").ignore_nulls().over(in_time).alias("known"),
    wr.avg("level").over(near).alias("recent"),
    wr.max(pl.col("level") * 10).over(others).alias("others_tenfold"),  # Polars evaluates the expression
)
print(result)

# A LazyFrame stays lazy: the window is a step of its plan.
lazy = wr.select(readings.lazy(), "sensor", wr.row_number().over(in_time).alias("n"))
print(lazy.filter(pl.col("n") == 1).collect())
