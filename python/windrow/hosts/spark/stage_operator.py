"""The operator of a stage in an optimized plan of Spark's: calls over columns that have names of their own."""

from __future__ import annotations

from collections.abc import Sequence

import pyspark.sql.types as T  # noqa: N812 - its usual name

from ..._execute.level import Level
from ..._execute.stream import Operator
from ..._model.replace import replace
from ..._plan.bound import BoundCall
from ..._plan.steps import Compute, Project
from ...settings import Options
from .clustering import STAGE_NAME
from .types import arrow_round_trip_type, check_keys, spark_schema, to_arrow

__all__ = ["sorts_of", "stage_operator"]


def sorts_of(
    calls: Sequence[BoundCall], schema: T.StructType, results: Sequence[str], options: Options
) -> list[list[int]]:
    """Group calls by the sort that serves them.

    Parameters
    ----------
    calls
        The calls.
    schema
        The columns that come to the stage.
    results
        The names of the calls' results.
    options
        The settings.

    Returns
    -------
    list of list of int
        Positions of calls; last those that share the sort of the last call, in whose order rows leave.
    """
    level = _level(calls, schema, results, results, options)
    return sorted((members for members, _ in level.sorts()), key=lambda members: len(calls) - 1 in members)


def stage_operator(
    calls: Sequence[BoundCall],
    schema: T.StructType,
    output: Sequence[str],
    results: Sequence[str],
    sorts: Sequence[Sequence[int]],
    options: Options,
    strings: Sequence[tuple[str, str]] = (),
) -> Operator:
    """Make the operator of a stage.

    Parameters
    ----------
    calls
        The calls.
    schema
        The columns that come to the stage.
    output
        The columns that leave it.
    results
        The names of the calls' results.
    sorts
        What :func:`sorts_of` gives, so that rows leave in the order of the last; empty: in any order.
    options
        The settings.
    strings
        The calls with a string that is a column's name.

    Returns
    -------
    Operator
        The operator.
    """
    last = sorts[-1] if sorts else range(len(calls))
    others = [i for i in range(len(calls)) if i not in last]
    levels, arrived = [], schema
    if others:
        names = [results[i] for i in others]
        levels.append(
            _level([calls[i] for i in others], schema, names, [*schema.names, *names], options, is_last=False)
        )
        arrived = spark_schema(Operator(levels, None, options, _in_arrow_types(schema)))
    names = [results[i] for i in last]
    levels.append(_level([calls[i] for i in last], arrived, names, output, options, in_window_order=bool(sorts)))
    operator = Operator(levels, None, options, _in_arrow_types(schema), strings=strings)
    operator.__name__ = STAGE_NAME
    return operator


def _level(
    calls: Sequence[BoundCall],
    schema: T.StructType,
    results: Sequence[str],
    output: Sequence[str],
    options: Options,
    *,
    in_window_order: bool = False,
    is_last: bool = True,
) -> Level:
    check_keys(schema, calls)
    names = [*schema.names, *results]
    named = tuple(replace(call, name=name) for call, name in zip(calls, results, strict=True))
    read = {n for c in named for n in c.columns_read()}
    return Level(
        Compute(named, tuple(schema.names), tuple(i for i, n in enumerate(schema.names) if n in read), ()),
        (),
        Project(tuple((name, names.index(name)) for name in output)),
        to_arrow(_in_arrow_types(schema), options.timezone or "UTC"),
        options,
        True,
        in_window_order=in_window_order,
        is_last=is_last,
    )


def _in_arrow_types(schema: T.StructType) -> T.StructType:
    return T.StructType([T.StructField(f.name, arrow_round_trip_type(f.dataType), f.nullable) for f in schema.fields])
