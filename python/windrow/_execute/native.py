"""Plans of the native module: makes them, and turns what comes back into pyarrow objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from .._model.names import fresh
from .._plan.bound import BoundCalls
from .._windrow import Plan
from ..settings import Options
from .validation import Checker

__all__ = ["ROWS", "input_table", "make_plan", "output_fields", "window_columns"]

#: Stands for the rows of a frame of which no column is read, as in ``count(*) OVER ()``.
ROWS = "__windrow_rows"


def make_plan(schema: pa.Schema, calls: Sequence[dict[str, Any]], options: Options) -> Plan:
    """Make the native plan; every mistake that needs no data is raised here.

    Parameters
    ----------
    schema
        The columns the plan may read, each name once.
    calls
        What :func:`windrow._plan.bind.bind` made of the user's calls.
    options
        The settings in force.

    Returns
    -------
    Plan
        The native plan.
    """
    return Plan(schema, list(calls), options.native())


def output_fields(plan: Plan) -> list[pa.Field]:
    """Give the fields of the new columns, in the order of the calls."""
    return list(pa.schema(plan.output_schema))


def input_table(
    bound: BoundCalls,
    columns: Any,
    temporaries: Sequence[Any],
    rows: int,
    schema: pa.Schema | None = None,
    *,
    checker: Checker | None = None,
) -> pa.Table:
    """Put the columns that the calls read into a table for the native module.

    Parameters
    ----------
    bound
        Says which columns are read, and under which names.
    columns
        All columns of the frame, or a mapping from position to column; only those that are read are looked at.
    temporaries
        The evaluated expressions, in their order.
    rows
        How many rows there are.
    schema
        The frame's fields, which tell what is never null; without them all columns may hold nulls.
    checker
        Checks the columns, of which it may know some already.

    Returns
    -------
    pyarrow.Table
        Shares the buffers of what it was given.
    """
    checker = checker or Checker()
    nullable = [schema is None or schema.field(i).nullable for i in bound.read]
    arrays = [
        checker.checked(columns[i], bound.names[i], nullable=n) for i, n in zip(bound.read, nullable, strict=True)
    ]
    fields = [pa.field(bound.names[i], a.type, n) for i, a, n in zip(bound.read, arrays, nullable, strict=True)]
    arrays += temporaries
    fields += [pa.field(t.name, a.type) for t, a in zip(bound.temporaries, temporaries, strict=True)]
    if not arrays:
        arrays.append(pa.nulls(rows))
        fields.append(pa.field(fresh(ROWS, set(bound.names)), pa.null()))
    return pa.table(arrays, schema=pa.schema(fields))


def window_columns(
    table: pa.Table, bound: BoundCalls, options: Options
) -> tuple[list[pa.Field], list[pa.ChunkedArray]]:
    """Compute the new columns for a table in memory; rows keep their order.

    Parameters
    ----------
    table
        What :func:`input_table` gave.
    bound
        The bound calls.
    options
        The settings in force.

    Returns
    -------
    tuple
        The new fields and the new columns.
    """
    result = pa.table(make_plan(table.schema, bound.native, options).compute(table))
    return list(result.schema), result.columns
