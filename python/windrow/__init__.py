"""SQL window functions over Arrow, at memory speed: for Polars, PySpark, pyarrow, pandas, DuckDB and Arrow streams.

>>> import pyarrow as pa
>>> import windrow as wr
>>> table = pa.table({"device": [5, 0, 5], "id": [2, 0, 5], "level": [2, 1, 3]})
>>> w = wr.window(partition_by="device", order_by="id", range=(-1, 0))
>>> wr.with_columns(table, wr.sum("level").over(w).alias("sum"))["sum"].to_pylist()
[2, 1, 3]

Without a frame, a window has the default frame of SQL and Spark: with an order, the rows up to the current row and its
ties (a running total); without an order, the whole partition.
"""

import os as _os
import sys as _sys
from typing import TYPE_CHECKING

try:
    from . import _windrow as _windrow
except ImportError as _error:
    if _os.path.exists(__file__):
        raise
    raise ImportError(
        "windrow has a native module, which Python cannot import from a zip file, such as a wheel in --py-files: "
        f"{_os.path.dirname(__file__)}; install the wheel, or send an environment that has it by --archives"
    ) from _error
from . import (
    functions as functions,
    hosts as hosts,  # registers windrow's own
    spark,
    typing as typing,
)
from ._model.calls import Call
from ._model.conditions import when
from ._model.expressions import col, lit
from ._model.frames import following, preceding
from ._model.intervals import Interval, interval
from ._model.synonyms import instead_of_attribute as _instead_of_attribute, is_import_from as _is_import_from
from ._model.windows import Window, asc, desc, window
from ._parse.sql_text import expr
from .api import Operator, explain, operator, select, sql, with_columns
from .exceptions import (
    ArithmeticOverflowError,
    DataError,
    InternalError,
    MemoryLimitError,
    OrderError,
    SpecError,
    SpillError,
    UnsupportedError,
    UserError,
    WindrowError,
)
from .frame_plot import FramePlot, plot_frame
from .functions import (
    any,
    any_value,
    approx_count_distinct,
    approx_percentile,
    arg_max,
    arg_min,
    array_agg,
    avg,
    bit_and,
    bit_or,
    bit_xor,
    bool_and,
    bool_or,
    bounded_sum,
    collect_list,
    collect_set,
    corr,
    count,
    count_distinct,
    count_if,
    counter_diff,
    covar_pop,
    covar_samp,
    cume_dist,
    dense_rank,
    diff,
    entropy,
    every,
    ewm_corr,
    ewm_cov,
    ewm_mean,
    ewm_mean_by,
    ewm_std,
    ewm_var,
    fill,
    fill_backward,
    fill_forward,
    first,
    first_value,
    geomean,
    geometric_mean,
    group_id,
    histogram_numeric,
    islands,
    kurtosis,
    lag,
    last,
    last_value,
    lead,
    listagg,
    mad,
    max,
    max_by,
    mean,
    median,
    min,
    min_by,
    mode,
    nth_value,
    ntile,
    pct_change,
    percent_rank,
    percentile,
    percentile_approx,
    percentile_cont,
    percentile_disc,
    product,
    quantile_cont,
    quantile_disc,
    rank,
    rank_with,
    regr_avgx,
    regr_avgy,
    regr_count,
    regr_intercept,
    regr_r2,
    regr_slope,
    regr_sxx,
    regr_sxy,
    regr_syy,
    row_number,
    session_id,
    shift,
    skewness,
    some,
    std,
    stddev,
    stddev_pop,
    stddev_samp,
    string_agg,
    sum,
    sum_distinct,
    try_avg,
    try_sum,
    var_pop,
    var_samp,
    variance,
    z_score,
)
from .settings import config
from .udf import aggregate, partition_function, vectorized

__version__: str

__all__ = [
    "ArithmeticOverflowError",
    "Call",
    "DataError",
    "FramePlot",
    "InternalError",
    "Interval",
    "MemoryLimitError",
    "Operator",
    "OrderError",
    "SpecError",
    "SpillError",
    "UnsupportedError",
    "UserError",
    "Window",
    "WindrowError",
    "aggregate",
    "any",
    "any_value",
    "approx_count_distinct",
    "approx_percentile",
    "arg_max",
    "arg_min",
    "array_agg",
    "asc",
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "bounded_sum",
    "col",
    "collect_list",
    "collect_set",
    "config",
    "corr",
    "count",
    "count_distinct",
    "count_if",
    "counter_diff",
    "covar_pop",
    "covar_samp",
    "cume_dist",
    "dense_rank",
    "desc",
    "diff",
    "entropy",
    "every",
    "ewm_corr",
    "ewm_cov",
    "ewm_mean",
    "ewm_mean_by",
    "ewm_std",
    "ewm_var",
    "explain",
    "expr",
    "fill",
    "fill_backward",
    "fill_forward",
    "first",
    "first_value",
    "following",
    "geomean",
    "geometric_mean",
    "group_id",
    "histogram_numeric",
    "interval",
    "islands",
    "kurtosis",
    "lag",
    "last",
    "last_value",
    "lead",
    "listagg",
    "lit",
    "mad",
    "max",
    "max_by",
    "mean",
    "median",
    "min",
    "min_by",
    "mode",
    "nth_value",
    "ntile",
    "operator",
    "partition_function",
    "pct_change",
    "percent_rank",
    "percentile",
    "percentile_approx",
    "percentile_cont",
    "percentile_disc",
    "plot_frame",
    "preceding",
    "product",
    "quantile_cont",
    "quantile_disc",
    "rank",
    "rank_with",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "row_number",
    "select",
    "session_id",
    "shift",
    "skewness",
    "some",
    "spark",
    "sql",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "sum_distinct",
    "try_avg",
    "try_sum",
    "var_pop",
    "var_samp",
    "variance",
    "vectorized",
    "when",
    "window",
    "with_columns",
    "z_score",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a checker would take every name for one that there is

    def __getattr__(name: str) -> str:
        """Look up the version when it is asked for, as that costs more than all of this package."""
        if name != "__version__":
            hint = "" if name.startswith("_") else _instead_of_attribute(name, __all__)
            if hint and _is_import_from(_sys._getframe(1)):  # Python's own ImportError would have no hint
                raise ImportError(f"cannot import name {name!r} from {__name__!r}{hint}", name=__name__, path=__file__)
            # with a name of its own and no object, Python adds no suggestion to it
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}", name=name)
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("windrow-arrow")
        except PackageNotFoundError:  # the source tree on the path, not installed
            return "0.0.0"


del TYPE_CHECKING
