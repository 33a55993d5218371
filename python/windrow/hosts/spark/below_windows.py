"""Expressions that Spark evaluates below the windows beside them, as their values or the rows depend on where that is.

    SELECT explode(a), count(*) OVER () FROM t      counts the rows that explode makes
    SELECT input_file_name(), rank() OVER ...       names the file, which no row tells behind an exchange

Generators come first, since the windows see their rows.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["EVALUATED_FIRST", "GENERATORS", "evaluated_before_windows"]

#: The column of an item that is to be evaluated first, until it has a name of its own.
EVALUATED_FIRST = "__windrow_below"

#: Functions that make rows of a row.
GENERATORS = frozenset([
    "explode", "explode_outer", "inline", "inline_outer", "json_tuple", "posexplode", "posexplode_outer", "stack",
    "variant_explode", "variant_explode_outer",
])  # fmt: skip
_NONDETERMINISTIC = frozenset([
    "input_file_block_length", "input_file_block_start", "input_file_name", "java_method",
    "monotonically_increasing_id", "rand", "randn", "random", "randstr", "reflect", "shuffle", "spark_partition_id",
    "try_reflect", "uniform", "uuid",
])  # fmt: skip


def evaluated_before_windows(functions: Iterable[str]) -> str | None:
    """Name the first function for which Spark evaluates an expression below the windows; a generator goes first.

    Parameters
    ----------
    functions
        The names of the functions in the expression, in lower case.

    Returns
    -------
    str or None
        None where it may be evaluated anywhere.
    """
    found = sorted(set(functions) & (GENERATORS | _NONDETERMINISTIC), key=lambda f: (f not in GENERATORS, f))
    return found[0] if found else None
