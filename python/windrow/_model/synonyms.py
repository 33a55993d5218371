"""What to write for a name that windrow does not have: a similar name, or windrow's for another library's name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from opcode import opmap
from types import FrameType
from typing import Final

from .catalog import Function, function_names, function_of

__all__ = ["SPELLINGS", "instead_of_attribute", "instead_of_function", "is_import_from", "near_names", "spelling"]

#: What to write in Python and in SQL, and the names that pandas, Polars, PySpark, DuckDB and others have for it. The
#: SQL is empty where SQL has no such function.
SPELLINGS: Final[tuple[tuple[str, str, str], ...]] = (
    ('wr.lag("x")', "lag(x)", "shift prev previous lagged"),
    ('wr.lead("x")', "lead(x)", "next"),
    ('wr.diff("x").over(order_by="t")', "x - lag(x) OVER (ORDER BY t)", "diff delta change difference"),
    (
        'wr.pct_change("x").over(order_by="t")',
        "x / lag(x) OVER (ORDER BY t) - 1",
        "pct_change percent_change pct_diff",
    ),
    ('wr.expr("x / sum(x) OVER ()")', "x / sum(x) OVER ()", "ratio_to_report share proportion"),
    (
        'wr.z_score("x").over()',
        "(x - avg(x) OVER ()) / stddev(x) OVER ()",
        "zscore z_score standardize",
    ),
    (
        'wr.islands("x").over(order_by="t")',
        "count_if(row_number() OVER (ORDER BY t) > 1 AND x IS DISTINCT FROM lag(x) OVER (ORDER BY t)) "
        "OVER (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) + 1",
        "islands rle_id run_id rleid",
    ),
    (
        'wr.last_value("x").ignore_nulls().over(wr.window(order_by="t", rows=(None, 0)))',
        "last_value(x) IGNORE NULLS OVER (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
        "ffill forward_fill pad locf",
    ),
    (
        'wr.first_value("x").ignore_nulls().over(wr.window(order_by="t", rows=(0, None)))',
        "first_value(x) IGNORE NULLS OVER (ORDER BY t ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
        "bfill backward_fill backfill",
    ),
    ('wr.fill("x")', "fill(x)", "interpolate interpolate_by"),
    ("wr.count()", "count(*)", "count_star"),
    ("wr.count()", "", "len length size"),
    ('wr.sum("x")', "sum(x)", "total"),
    ('wr.count_distinct("x")', "count(DISTINCT x)", "n_unique nunique unique_count count_unique n_distinct"),
    ('wr.approx_count_distinct("x")', "approx_count_distinct(x)", "approx_n_unique approx_unique hyperloglog"),
    ('wr.count().over(wr.window("x"))', "count(*) OVER (PARTITION BY x)", "value_counts unique_counts"),
    ("wr.row_number()", "row_number()", "rownum row_num rn row_index with_row_index"),
    ('wr.expr("dense_rank() OVER (ORDER BY k) - 1")', "dense_rank() OVER (ORDER BY k) - 1", "ngroup"),
    ("wr.ntile(4)", "ntile(4)", "qcut quartile"),
    ('wr.nth_value("x", 2)', "nth_value(x, 2)", "nth"),
    ('wr.avg("x")', "avg(x)", "average"),
    ('wr.avg("x").filter(wr.expr("NOT isnan(x)"))', "avg(x) FILTER (WHERE NOT isnan(x))", "nanmean"),
    ('wr.stddev("x")', "stddev(x)", "stdev standard_deviation"),
    ('wr.var_samp("x")', "var_samp(x)", "var"),
    ('wr.product("x")', "product(x)", "prod"),
    ('wr.skewness("x")', "skewness(x)", "skew"),
    ('wr.kurtosis("x")', "kurtosis(x)", "kurt"),
    ('wr.covar_samp("x", "y")', "covar_samp(x, y)", "cov covar covariance"),
    ('wr.corr("x", "y")', "corr(x, y)", "pearson"),
    ('wr.percentile("x", 0.9)', "percentile(x, 0.9)", "quantile"),
    ('wr.approx_percentile("x", 0.9)', "approx_percentile(x, 0.9)", "approx_quantile approxQuantile tdigest"),
    ('wr.ewm_mean("x", 0.5)', "ewm_mean(x, 0.5)", "ewm ewma ema exponential_moving_average"),
    ('wr.max_by("y", "x")', "max_by(y, x)", "idxmax"),
    ('wr.min_by("y", "x")', "min_by(y, x)", "idxmin"),
    ('wr.bool_and("x")', "bool_and(x)", "all"),
    ('wr.collect_list("x")', "collect_list(x)", "implode collect to_list tolist list group_array"),
    ('wr.collect_set("x")', "collect_set(x)", "unique array_unique_agg"),
    ('wr.listagg("x", ",")', "listagg(x, ',')", "group_concat join str_join"),
    ('wr.sum("x").filter("flag")', "sum(x) FILTER (WHERE flag)", "sum_if"),
    ('wr.avg("x").filter("flag")', "avg(x) FILTER (WHERE flag)", "avg_if mean_if"),
    ('wr.col("x")', "", "column"),
    ('wr.lit("none")', "", "literal"),
    ('wr.sum("x").over(wr.window("k"))', "", "over"),
    ('wr.window(partition_by="k")', "", "partition_by group_by"),
    ('wr.window(partition_by="k", order_by="t")', "", "order_by sort_by"),
    ('wr.window("k", "t", rows=(-6, 0))', "", "rolling rows_between group_by_dynamic"),
    ('wr.window("k", "t", range=(-6, 0))', "", "range_between"),
    ('wr.window("k", "t", rows=(None, 0))', "", "expanding"),
    (
        'wr.with_columns(frame, total=wr.sum("x").over(wr.window("k")))',
        "",
        "with_column assign mutate agg transform",
    ),
    ('wr.sql("SELECT *, rank() OVER (ORDER BY x) AS r FROM frame", frame=frame)', "", "query execute"),
    ('wr.aggregate(Aggregate, "x", returns=float)', "", "udaf"),
    ('wr.vectorized(function, "x", returns=float)', "", "pandas_udf"),
    ('wr.partition_function(function, "x", returns=float)', "", "apply map_batches map_groups"),
    ("wr.spark.enable(spark)", "", "enable accelerated"),
    ("wr.spark.accelerate(frame)", "", "accelerate"),
    ("wr.config(threads=4)", "", "set_option set_options options"),
)

# pandas' and Polars' methods over moving and growing frames, such as rolling_mean, rolling_mean_by and cumsum
_PREFIXED: Final = re.compile(r"(rolling|moving|expanding|cumulative|running|cum)(\w+?)(by)?\Z")
_GROWING: Final = (
    '.over(wr.window(order_by="t", rows=(None, 0)))',
    " OVER (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
)
_MOVING: Final = (
    '.over(wr.window(order_by="t", rows=(-6, 0)))',
    " OVER (ORDER BY t ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)",
)
_MOVING_BY: Final = (
    '.over(wr.window(order_by="t", range=(-6, 0)))',
    " OVER (ORDER BY t RANGE BETWEEN 6 PRECEDING AND CURRENT ROW)",
)


def spelling(name: str) -> tuple[str, str] | None:
    """Give what to write in place of another library's name.

    Parameters
    ----------
    name
        A name that windrow does not have.

    Returns
    -------
    tuple of str, or None
        In Python and in SQL; the latter is empty where SQL has no such function. None where no library has the name.
    """
    plain = _plain(name)
    known = _spellings()
    if plain in known:
        return known[plain]
    match = _PREFIXED.match(plain)
    if match is None:
        return None
    of, by = match[2], match[3] is not None
    known_function = next((f for n in function_names() if _plain(n) == of and (f := function_of(n))), None)
    call = known.get(of) if known_function is None else _call(known_function, of)
    if call is None or not _takes_frame(call[1]):
        return None
    moving = _MOVING_BY if by else _MOVING
    frame = moving if match[1] in ("rolling", "moving") else _GROWING
    return call[0] + frame[0], call[1] + frame[1]


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """List up to three of the known names that are similar to an unknown one, the most similar first."""
    names: dict[str, str] = {}
    for one in sorted(known, key=lambda n: n[:1].isupper() != name[:1].isupper()):  # Window and window are two
        names.setdefault(_plain(one), one)
    plain = _plain(name)
    close = (
        [plain]
        if plain in names
        else difflib.get_close_matches(plain, names, n=3, cutoff=0.7 if len(plain) > 4 else 0.6)
    )
    return [names[n] for n in close]


def instead_of_attribute(name: str, known: Iterable[str]) -> str:
    """Say what to write in place of an unknown attribute of the package, as the end of a message."""
    found = spelling(name)
    if found is not None:
        return f"; write {found[0]}{_note(found[0])}"
    near = near_names(name, known)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else "; dir(windrow) lists what it has"


def is_import_from(frame: FrameType) -> bool:
    """Whether a frame is at ``from module import name``, so that an unknown name is an ``ImportError``."""
    return frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]


def instead_of_function(name: str) -> str:
    """Say what to write in place of an unknown function of SQL, as the end of a message."""
    found = spelling(name)
    if found is not None and found[1]:
        return f"; write {found[1]}, in Python {found[0]}{_note(found[0])}"
    near = near_names(name, function_names())
    if near:
        return "; did you mean " + " or ".join(f'"{n}"' for n in near) + "?"
    return "; windrow.functions.__all__ lists those there are"


def _takes_frame(sql: str) -> bool:
    """Whether SQL text is a call that takes a frame and has no window yet."""
    function = function_of(sql.partition("(")[0])
    return function is not None and function.takes_frame and sql.endswith(")") and " OVER " not in sql


def _note(python: str) -> str:
    """Say what to know about an offered spelling: its frame, as the number is an example; where pandas differs."""
    note = ""
    if "rows=(-6, 0)" in python:
        note = " for the last 7 rows"
    elif "range=(-6, 0)" in python:
        note = " for the last 6 units of t and the row's own"
    if python.startswith(("wr.skewness(", "wr.kurtosis(")):
        note += ", the population's as in Polars and Spark (pandas corrects it for bias)"
    return note


def _plain(name: str) -> str:
    """Give a name without case and underscores, in which ``rowNumber`` and ``row_number`` are equal."""
    return name.lower().replace("_", "")


@cache
def _spellings() -> dict[str, tuple[str, str]]:
    return {_plain(name): (python, sql) for python, sql, names in SPELLINGS for name in names.split()}


def _call(function: Function, plain: str) -> tuple[str, str] | None:
    """Write a call of a function over frames, whose arguments are all columns, by the name that was asked for."""
    columns = set(function.positions("value", "ordered", "compared"))
    if not function.takes_frame or not columns.issuperset(range(function.min_arguments)):
        return None
    name = next(n for n in (function.name, *function.aliases) if _plain(n) == plain)
    written = ("x", "y", "z")[: function.min_arguments or 1]
    python = ", ".join(f'"{c}"' for c in written)
    return f"wr.{name}({python})", f"{name}({', '.join(written)})"
