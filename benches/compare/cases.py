"""The questions: each as windrow, DuckDB, DataFusion and Polars are best asked.

An engine that has no way to say a question is not asked. Importing this module imports Polars, whose number of threads
is fixed by then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

import windrow as wr

__all__ = ["CASES", "MOVING", "Case"]

MOVING = "ROWS BETWEEN 1000 PRECEDING AND 1000 FOLLOWING"
GROWING = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
SHRINKING = "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"


@dataclass(frozen=True)
class Case:
    """A question and how each engine is asked it.

    Attributes
    ----------
    name, title
        What the command line and what the tables call it.
    sql
        One expression per result column, for DuckDB and DataFusion.
    windrow, polars
        Make one expression per result column; ``polars`` is None where Polars has no way to say it.
    reads
        The value columns that the calls read.
    keys, order
        The columns of PARTITION BY and of ORDER BY; the latter's values are unique and tell the rows apart.
    sql_of
        Expressions for an engine whose SQL differs; None where it has no way to say it.
    streaming
        Whether Polars' streaming engine is the faster one for this question.
    passed
        Input columns that the question asks back beside its results.
    one_call
        Whether this is one call on keys of fixed width, which the target for memory is about.
    """

    name: str
    title: str
    sql: Sequence[str]
    windrow: Callable[[], Sequence[Any]]
    polars: Callable[[], Sequence[pl.Expr]] | None
    reads: Sequence[str] = ()
    keys: Sequence[str] = ("k",)
    order: str = "ts"
    sql_of: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    streaming: bool = False
    passed: Sequence[str] = ()
    one_call: bool = True

    @property
    def results(self) -> list[str]:
        """The names of the result columns."""
        return [f"r{number}" for number in range(len(self.sql))]

    def said_by(self, engine: str) -> bool:
        """Whether the engine has a way to say the question."""
        if engine == "polars":
            return self.polars is not None
        return engine == "windrow" or self.sql_of.get(engine, self.sql) is not None


def _sql(call: str, frame: str = "", keys: str = "k", order: str = "ts") -> str:
    return f"{call} OVER (PARTITION BY {keys} ORDER BY {order} {frame})"


def _w(rows: tuple[int | None, int | None] | None = None, keys: Sequence[str] = ("k",), order: str = "ts") -> Any:
    return wr.window(list(keys), order, rows=rows)


def _over(expr: pl.Expr, keys: Sequence[str] = ("k",), order: str = "ts") -> pl.Expr:
    return expr.over(*keys, order_by=order)


def _centred(column: str, function: str, samples: int = 1) -> pl.Expr:
    """Polars' moving aggregate over 1000 rows to either side."""
    expr: pl.Expr = getattr(pl.col(column), f"rolling_{function}")(2001, min_samples=samples, center=True)
    return expr


def _moving(
    name: str, title: str, sql: str, call: Callable[[], Any], polars: Callable[[], pl.Expr], column: str
) -> Case:
    """A case over 1000 rows to either side."""
    return Case(
        name,
        f"{title} ±1000",
        [_sql(sql, MOVING)],
        lambda: [call().over(_w((-1000, 1000)))],
        lambda: [_over(polars())],
        reads=[column],
    )


def _last_known() -> pl.Expr:
    """The last value that is not null within 1000 rows: of the last one up to the frame's end, if in the frame."""
    row = pl.int_range(pl.len())
    known = pl.when(pl.col("v").is_not_null()).then(row).forward_fill()
    found = known.gather(pl.min_horizontal(row + 1000, pl.len() - 1))
    return pl.when(found >= row - 1000).then(pl.col("v").gather(found))


def _decimal_sum() -> pl.Expr:
    """Polars' ``rolling_sum`` takes no decimals; differences of running totals are exact and fast."""
    totals = pl.col("m").fill_null(0).cum_sum()
    return totals.gather(pl.min_horizontal(pl.int_range(pl.len()) + 1000, pl.len() - 1)) - totals.shift(1001).fill_null(
        0
    )


def _place(keys: Sequence[str] = ("k",), order: str = "ts") -> pl.Expr:
    return _over(pl.int_range(1, pl.len() + 1), keys, order)


def _keyed(name: str, title: str, keys: Sequence[str], order: str) -> list[Case]:
    """``row_number`` and a moving sum by other keys."""
    columns = ", ".join(keys)
    return [
        Case(
            f"{name}_row_number",
            f"row_number, {title}",
            [_sql("row_number()", keys=columns, order=order)],
            lambda: [wr.row_number().over(_w(keys=keys, order=order))],
            lambda: [_place(keys, order)],
            keys=keys,
            order=order,
            one_call=name != "string",
        ),
        Case(
            f"{name}_sum",
            f"sum(v) ±1000, {title}",
            [_sql("sum(v)", MOVING, columns, order)],
            lambda: [wr.sum("v").over(_w((-1000, 1000), keys, order))],
            lambda: [_over(_centred("v", "sum"), keys, order)],
            reads=["v"],
            keys=keys,
            order=order,
            one_call=name != "string",
        ),
    ]


CASES = [
    Case(
        "row_number",
        "row_number",
        [_sql("row_number()")],
        lambda: [wr.row_number().over(_w())],
        lambda: [_place()],
    ),
    Case(
        "rank",
        "rank",
        [_sql("rank()")],
        lambda: [wr.rank().over(_w())],
        lambda: [pl.col("ts").rank("min").over("k")],
    ),
    Case(
        "lag",
        "lag(v)",
        [_sql("lag(v)")],
        lambda: [wr.lag("v").over(_w())],
        lambda: [_over(pl.col("v").shift(1))],
        reads=["v"],
    ),
    Case(
        "running_sum",
        "running sum(v)",
        [_sql("sum(v)", GROWING)],
        lambda: [wr.sum("v").over(_w((None, 0)))],
        lambda: [_over(pl.col("v").cum_sum().forward_fill())],
        reads=["v"],
    ),
    Case(
        "total",
        "sum(v) of the partition",
        ["sum(v) OVER (PARTITION BY k)"],
        lambda: [wr.sum("v").over(wr.window("k"))],
        lambda: [pl.col("v").sum().over("k")],
        reads=["v"],
    ),
    _moving("sum_v", "sum(v)", "sum(v)", lambda: wr.sum("v"), lambda: _centred("v", "sum"), "v"),
    _moving("sum_d", "sum(d)", "sum(d)", lambda: wr.sum("d"), lambda: _centred("d", "sum"), "d"),
    _moving("avg_v", "avg(v)", "avg(v)", lambda: wr.avg("v"), lambda: _centred("v", "mean"), "v"),
    _moving("avg_d", "avg(d)", "avg(d)", lambda: wr.avg("d"), lambda: _centred("d", "mean"), "d"),
    _moving("min_v", "min(v)", "min(v)", lambda: wr.min("v"), lambda: _centred("v", "min"), "v"),
    Case(
        "min_v_10",
        "min(v), 10 preceding",
        [_sql("min(v)", "ROWS BETWEEN 10 PRECEDING AND CURRENT ROW")],
        lambda: [wr.min("v").over(_w((-10, 0)))],
        lambda: [_over(pl.col("v").rolling_min(11, min_samples=1))],
        reads=["v"],
    ),
    _moving(
        "stddev_d",
        "stddev_samp(d)",
        "stddev_samp(d)",
        lambda: wr.stddev_samp("d"),
        lambda: _centred("d", "std", samples=2),
        "d",
    ),
    Case(
        "last_known",
        "last_value(v) IGNORE NULLS ±1000",
        [_sql("last_value(v) IGNORE NULLS", MOVING)],
        lambda: [wr.last_value("v").ignore_nulls().over(_w((-1000, 1000)))],
        lambda: [_over(_last_known())],
        reads=["v"],
        sql_of={"duckdb": [_sql("last_value(v IGNORE NULLS)", MOVING)]},
    ),
    Case(
        "shrinking_min",
        "min(v) to the partition's end",
        [_sql("min(v)", SHRINKING)],
        lambda: [wr.min("v").over(_w((0, None)))],
        lambda: [_over(pl.col("v").cum_min(reverse=True).backward_fill())],
        reads=["v"],
    ),
    Case(
        "range_sum",
        "sum(v), RANGE ±1000",
        [_sql("sum(v)", "RANGE BETWEEN 1000 PRECEDING AND 1000 FOLLOWING")],
        lambda: [wr.sum("v").over(wr.window("k", "ts", range=(-1000, 1000)))],
        lambda: [_over(pl.col("v").sum().rolling("ts", period="2001i", offset="-1001i"))],
        reads=["v"],
        streaming=True,
    ),
    _moving("median_d", "median(d)", "median(d)", lambda: wr.median("d"), lambda: _centred("d", "median"), "d"),
    Case(
        "count_distinct",
        "count(DISTINCT c) ±1000",
        [_sql("count(DISTINCT c)", MOVING)],
        lambda: [wr.count("c").distinct().over(_w((-1000, 1000)))],
        lambda: [
            _over(
                pl.col("c").drop_nulls().n_unique().rolling(pl.int_range(pl.len()), period="2001i", offset="-1001i"),
            )
        ],
        reads=["c"],
    ),
    Case(
        "eight_calls",
        "eight calls on one window ±1000",
        [
            _sql(call, MOVING)
            for call in ["sum(v)", "avg(v)", "min(v)", "max(v)", "count(v)", "sum(d)", "avg(d)", "stddev_samp(d)"]
        ],
        lambda: [
            call.over(_w((-1000, 1000)))
            for call in [
                wr.sum("v"),
                wr.avg("v"),
                wr.min("v"),
                wr.max("v"),
                wr.count("v"),
                wr.sum("d"),
                wr.avg("d"),
                wr.stddev_samp("d"),
            ]
        ],
        lambda: [
            _over(expr)
            for expr in [
                _centred("v", "sum"),
                _centred("v", "mean"),
                _centred("v", "min"),
                _centred("v", "max"),
                pl.col("v").is_not_null().cast(pl.Int64).rolling_sum(2001, min_samples=1, center=True),
                _centred("d", "sum"),
                _centred("d", "mean"),
                _centred("d", "std", samples=2),
            ]
        ],
        reads=["v", "d"],
        one_call=False,
    ),
    Case(
        "four_orders",
        "four calls on four orders",
        [
            _sql("sum(v)", GROWING),
            _sql("lag(v)", order="ts DESC"),
            _sql("rank()", order="d"),
            "row_number() OVER (ORDER BY ts)",
        ],
        lambda: [
            wr.sum("v").over(_w((None, 0))),
            wr.lag("v").over(wr.window("k", wr.desc("ts"))),
            wr.rank().over(_w(order="d")),
            wr.row_number().over(wr.window(None, "ts")),
        ],
        lambda: [
            _over(pl.col("v").cum_sum().forward_fill()),
            pl.col("v").shift(1).over("k", order_by="ts", descending=True),
            pl.col("d").rank("min").over("k"),
            pl.col("ts").rank("ordinal"),
        ],
        reads=["v", "d"],
        one_call=False,
    ),
    *_keyed("string", "string keys", ["s"], "ts"),
    *_keyed("two_keys", "two keys, timestamp order", ["a", "b"], "t"),
    Case(
        "decimal_sum",
        "sum(m) ±1000, decimals",
        [_sql("sum(m)", MOVING)],
        lambda: [wr.sum("m").over(_w((-1000, 1000)))],
        lambda: [_over(_decimal_sum())],
        reads=["m"],
    ),
]
