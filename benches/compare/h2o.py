"""The twelve basic queries of the h2o window group, as DataFusion's benchmark suite states them, on ``large``.

Each gives back id1, id2, id3 and v2 beside its windows. Polars rolls over whole numbers and times only, so the two
RANGE frames over a float cannot be said to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

import windrow as wr

from .cases import Case

__all__ = ["QUERIES"]

_v2 = pl.col("v2")


def _query(
    name: str,
    title: str,
    sql: Sequence[str],
    windrow: Callable[[], Sequence[Any]],
    polars: Callable[[], Sequence[pl.Expr]] | None,
) -> Case:
    return Case(
        name,
        title,
        sql,
        windrow,
        polars,
        reads=["v2"],
        keys=["id2"],
        order="id3",
        passed=["id1", "id2", "id3", "v2"],
        one_call=False,
    )


def _by_id3(keys: str | None = None, rows: tuple[int | None, int | None] | None = None) -> Any:
    return wr.window(keys, "id3", rows=rows)


def _beside(keys: str | None) -> Callable[[], Sequence[Any]]:
    """The rows before and after."""
    return lambda: [wr.first_value("v2").over(_by_id3(keys, (at, at))) for at in (-1, 1)]


QUERIES = [
    _query(
        "basic",
        "Basic Window",
        ["sum(v2) OVER ()"],
        lambda: [wr.sum("v2").over(wr.window())],
        lambda: [_v2.sum()],
    ),
    _query(
        "sorted",
        "Sorted Window",
        ["first_value(v2) OVER (ORDER BY id3)", "row_number() OVER (ORDER BY id3)"],
        lambda: [wr.first_value("v2").over(_by_id3()), wr.row_number().over(_by_id3())],
        lambda: [_v2.get(pl.col("id3").arg_min()), pl.col("id3").rank("ordinal")],
    ),
    _query(
        "partition_by",
        "PARTITION BY",
        [f"sum(v2) OVER (PARTITION BY {key})" for key in ("id1", "id2", "id3")],
        lambda: [wr.sum("v2").over(wr.window(key)) for key in ("id1", "id2", "id3")],
        lambda: [_v2.sum().over(key) for key in ("id1", "id2", "id3")],
    ),
    _query(
        "partition_by_order_by",
        "PARTITION BY ORDER BY",
        ["first_value(v2) OVER (PARTITION BY id2 ORDER BY id3)"],
        lambda: [wr.first_value("v2").over(_by_id3("id2"))],
        lambda: [_v2.get(pl.col("id3").arg_min()).over("id2")],
    ),
    _query(
        "lead_lag",
        "Lead and Lag",
        [
            "first_value(v2) OVER (ORDER BY id3 ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING)",
            "first_value(v2) OVER (ORDER BY id3 ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)",
        ],
        _beside(None),
        lambda: [_v2.shift(by).over(order_by="id3") for by in (1, -1)],
    ),
    _query(
        "moving_avg",
        "Moving Averages",
        ["avg(v2) OVER (ORDER BY id3 ROWS BETWEEN 100 PRECEDING AND CURRENT ROW)"],
        lambda: [wr.avg("v2").over(_by_id3(rows=(-100, 0)))],
        lambda: [_v2.rolling_mean(101, min_samples=1).over(order_by="id3")],
    ),
    _query(
        "rolling_sum",
        "Rolling Sum",
        ["sum(v2) OVER (ORDER BY id3 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"],
        lambda: [wr.sum("v2").over(_by_id3(rows=(None, 0)))],
        lambda: [_v2.cum_sum().over(order_by="id3")],
    ),
    _query(
        "range_between",
        "RANGE BETWEEN",
        ["sum(v2) OVER (ORDER BY v2 RANGE BETWEEN 3 PRECEDING AND CURRENT ROW)"],
        lambda: [wr.sum("v2").over(wr.window(None, "v2", range=(-3, 0)))],
        None,
    ),
    _query(
        "lead_lag_by",
        "First PARTITION BY ROWS BETWEEN",
        [
            "first_value(v2) OVER (PARTITION BY id2 ORDER BY id3 ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING)",
            "first_value(v2) OVER (PARTITION BY id2 ORDER BY id3 ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING)",
        ],
        _beside("id2"),
        lambda: [_v2.shift(by).over("id2", order_by="id3") for by in (1, -1)],
    ),
    _query(
        "moving_avg_by",
        "Moving Averages PARTITION BY",
        ["avg(v2) OVER (PARTITION BY id2 ORDER BY id3 ROWS BETWEEN 100 PRECEDING AND CURRENT ROW)"],
        lambda: [wr.avg("v2").over(_by_id3("id2", (-100, 0)))],
        lambda: [_v2.rolling_mean(101, min_samples=1).over("id2", order_by="id3")],
    ),
    _query(
        "rolling_sum_by",
        "Rolling Sum PARTITION BY",
        ["sum(v2) OVER (PARTITION BY id2 ORDER BY id3 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"],
        lambda: [wr.sum("v2").over(_by_id3("id2", (None, 0)))],
        lambda: [_v2.cum_sum().over("id2", order_by="id3")],
    ),
    _query(
        "range_between_by",
        "RANGE BETWEEN PARTITION BY",
        ["sum(v2) OVER (PARTITION BY id2 ORDER BY v2 RANGE BETWEEN 3 PRECEDING AND CURRENT ROW)"],
        lambda: [wr.sum("v2").over(wr.window("id2", "v2", range=(-3, 0)))],
        None,
    ),
]
