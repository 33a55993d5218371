"""Which calls Spark's own windows compute.

``mapInArrow`` costs about as much as one Spark sort. A ranking, an offset or a running total costs Spark little beyond
its exchange and its sort, so a stage with nothing else stays with Spark, unless it needs more than one sort, or Spark's
result could differ from windrow's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._model.catalog import function_of
from ..._plan.bound import Argument, BoundCall, LiteralArgument
from .spark_sql import order_sql

__all__ = ["spark_is_cheaper"]


def spark_is_cheaper(
    calls: Sequence[BoundCall],
    types: Mapping[str, T.DataType],
    constants: Collection[str] = (),
    *,
    in_one_task: bool = False,
) -> bool:
    """Whether Spark computes the calls of a stage at lower cost: each in O(n) after one sort, with the same results.

    Parameters
    ----------
    calls
        The stage's calls.
    types
        The types of the columns that they read.
    constants
        The columns of one value for all rows, which part nothing.
    in_one_task
        Whether one task has all rows of calls without partition keys, whoever computes them.

    Returns
    -------
    bool
        True where ``engine="auto"`` leaves them to Spark.
    """
    keys = {frozenset(c.partition_by).difference(constants) for c in calls}
    # a longer order would serve a shorter one, but break its ties otherwise
    orders = {tuple(map(order_sql, c.order_by)) for c in calls if c.order_by}
    spreads_alike = in_one_task or all(keys)
    return len(keys) == 1 and spreads_alike and len(orders) < 2 and all(_linear_and_identical(c, types) for c in calls)


def _linear_and_identical(call: BoundCall, types: Mapping[str, T.DataType]) -> bool:
    """Whether Spark computes a call in O(n), and gives windrow's answer whatever the data are.

    Ties come in the order of arrival in both, but where there is one key in all: then Spark's radix sort moves rows.
    """
    known, ordered = function_of(call.function), bool(call.order_by)
    if call.user is not None or call.distinct or call.argument_order or call.min_rows is not None:
        return False
    if known is None:
        return False
    if known.family == "ranking":
        return ordered and not known.positions("method")  # Spark has no methods for ties
    if known.family == "offset":
        return ordered and all(_is_int32_literal(a) for a in call.args[1:2])
    shape = _shape(call)
    if shape is None:
        return False
    if known.family == "value":  # Spark's optimizer loses the filter of first() over some frames
        return ordered and call.filter is None and all(_is_int32_literal(a) for a in call.args[1:2])
    if known.name == "sum" and (column := call.argument_column()) is not None:
        summed = types.get(column)
        # a total of bigint may pass 2^63 on its way, which is an error to Spark alone; a running one is an answer there
        return isinstance(summed, (T.ByteType, T.ShortType, T.IntegerType, T.DecimalType)) or (
            isinstance(summed, T.LongType) and shape == "growing"
        )
    return known.is_exact


def _is_int32_literal(argument: Argument) -> bool:
    """Whether an argument is a literal that Spark takes for an offset."""
    value = argument.value if isinstance(argument, LiteralArgument) else None
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31


def _shape(call: BoundCall) -> str | None:
    """Say whether a frame is the entire partition or grows by a row or a group of peers; None for all others."""
    frame = call.frame
    if frame is None:
        return "growing" if call.order_by else "entire"
    if frame.exclude != "no_others" or frame.units not in ("rows", "range"):
        return None
    ends = (frame.start.kind, frame.end.kind)
    if ends == ("unbounded_preceding", "current_row"):
        return "growing" if call.order_by else None
    return "entire" if ends == ("unbounded_preceding", "unbounded_following") else None
