"""The window functions: one Python function per SQL function, each giving an immutable :class:`windrow.call.Call`.

An argument that is a string is a column's name. Other values go through ``wr.lit(value)``, SQL text through
``wr.expr("a * b")``, and an expression object of the host (a ``polars.Expr``, a PySpark ``Column``) stands for itself.
Arguments are checked against their types when the plan is made, before any row is read.
"""

from __future__ import annotations

from .aggregates import (
    any,
    avg,
    bool_and,
    bool_or,
    count,
    every,
    max,
    mean,
    min,
    some,
    std,
    stddev,
    stddev_pop,
    stddev_samp,
    sum,
    var_pop,
    var_samp,
    variance,
)
from .ranking import (
    cume_dist,
    dense_rank,
    ntile,
    percent_rank,
    rank,
    row_number,
)
from .values import (
    any_value,
    first,
    first_value,
    lag,
    last,
    last_value,
    lead,
    nth_value,
)

__all__ = [
    "any",
    "any_value",
    "avg",
    "bool_and",
    "bool_or",
    "count",
    "cume_dist",
    "dense_rank",
    "every",
    "first",
    "first_value",
    "lag",
    "last",
    "last_value",
    "lead",
    "max",
    "mean",
    "min",
    "nth_value",
    "ntile",
    "percent_rank",
    "rank",
    "row_number",
    "some",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
]
