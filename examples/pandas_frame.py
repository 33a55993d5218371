"""Window functions on a pandas frame: index and row order stay, NaN counts as missing."""

import pandas as pd

import windrow as wr

trades = pd.DataFrame(
    {
        "symbol": ["X", "Y", "X", "X", "Y"],
        "at": pd.to_datetime(["2024-01-30", "2024-01-31", "2024-02-15", "2024-03-31", "2024-03-31"]),
        "price": [10.0, 7.0, None, 12.0, 9.0],
    },
    index=["t1", "t2", "t3", "t4", "t5"],
)

two_months = wr.window("symbol", "at", range=("-2mo", 0))  # calendar months
in_time = wr.window("symbol", "at")

result = wr.with_columns(
    trades,
    wr.avg("price").over(two_months).alias("two_months"),
    wr.lag("price").over(in_time).alias("before"),
    wr.count("price").over(in_time).alias("seen"),
)
print(result)
