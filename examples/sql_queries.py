"""Whole queries: named windows, QUALIFY, windows in expressions, on any frame that is at hand."""

import polars as pl

import windrow as wr

sales = pl.DataFrame(
    {
        "shop": ["north", "north", "north", "south", "south", "south"],
        "month": [1, 2, 3, 1, 2, 3],
        "amount": [100, 130, 120, 80, 95, 140],
    }
)

growth = wr.sql(
    """
    SELECT shop, month, amount,
           round(100 * (amount - lag(amount) OVER w) / lag(amount) OVER w, 1) AS growth,
           sum(amount) OVER (w ROWS UNBOUNDED PRECEDING) AS so_far,
           amount / sum(amount) OVER (PARTITION BY month) AS share
    FROM sales
    WINDOW w AS (PARTITION BY shop ORDER BY month)
    ORDER BY shop, month
    """,
    sales=sales,
)
print(growth)

best = wr.sql(
    """
    SELECT shop, month AS best_month, amount
    FROM sales
    QUALIFY row_number() OVER (PARTITION BY shop ORDER BY amount DESC) = 1
    ORDER BY amount DESC
    """,
    sales=sales,
)
print(best)
