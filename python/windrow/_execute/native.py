"""Makes plans of the native module, and converts their results to pyarrow objects."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from .._model.bounded_cache import BoundedCache
from .._model.catalog import function_of
from .._model.names import HIDDEN_PREFIX, unused_name
from .._plan.bound import Argument, BoundCall, ColumnArgument, FrameBound, SortKey, comparison_only_columns
from .._plan.steps import Compute
from .._windrow import Plan
from ..exceptions import SpecError, UnsupportedError
from ..settings import Options
from .arrow_columns import BINARY_TYPES
from .dictionaries import Dictionaries
from .explained_call import ExplainedCall
from .lossless import fits
from .ordered_categories import ordered_columns, refuse_comparison
from .struct_offsets import align_chunks
from .validation import Checker

#: Plans by what they were made of; with each the calls, whose identity is part of the key.
_PLANS: BoundedCache[tuple[Sequence[BoundCall], Plan]] = BoundedCache(256)

__all__ = [
    "ROW_PLACEHOLDER",
    "explained_plan",
    "input_table",
    "kept_plan",
    "make_plan",
    "output_fields",
    "refuse_extension",
    "refuse_nested_runs",
    "window_columns",
]

#: Stands for the rows of a frame of which no column is read, as in ``count(*) OVER ()``.
ROW_PLACEHOLDER = "__windrow_rows"


def explained_plan(plan: Plan, fields: Sequence[pa.Field], *, streamed: bool) -> list[ExplainedCall]:
    """Return how a plan computes its calls, over a sorted stream or over all rows at once.

    Parameters
    ----------
    plan
        The plan.
    fields
        The fields of the results, one for each call.
    streamed
        Whether the rows come sorted, batch by batch.

    Returns
    -------
    list of ExplainedCall
        One for each call, in their order.
    """
    rows = zip(plan.explain(streamed), fields, strict=True)
    return [ExplainedCall(**{**row, "type": str(field.type)}) for row, field in rows]


def make_plan(
    schema: pa.Schema, calls: Sequence[BoundCall], options: Options, ordered: Mapping[str, str] | None = None
) -> Plan:
    """Make the native plan; every mistake that needs no data is raised here.

    Parameters
    ----------
    schema
        The columns the plan may read, each name once.
    calls
        The bound calls.
    options
        The settings in force.
    ordered
        The columns that hold ordered categories, where others do than those whose types say so.

    Returns
    -------
    Plan
        The native plan.
    """
    if ordered is None:
        ordered = ordered_columns(schema)
    for call in calls:
        _check_default(schema, call)
        _check_condition(schema, call)
        refuse_comparison(ordered, call)
    return Plan(schema, list(map(_native, calls)), options.native())


def kept_plan(
    schema: pa.Schema, calls: Sequence[BoundCall], options: Options, ordered: Mapping[str, str] | None
) -> Plan:
    """Make the native plan, or give the one that was made for the same calls over the same columns.

    Parameters
    ----------
    schema, calls, options, ordered
        As for :func:`make_plan`. Calls are the same if they are one object.

    Returns
    -------
    Plan
        The native plan.
    """
    if any(t.num_fields or pa.types.is_dictionary(t) for t in schema.types):
        return make_plan(schema, calls, options, ordered)  # equal types may differ in the metadata of fields within
    key = id(calls), schema, tuple(ordered or ()), *options.native().values()
    kept = _PLANS.get(key)
    if kept is not None:
        return kept[1]
    plan = make_plan(schema, calls, options, ordered)
    if all(call.user is None for call in calls):  # which the cache should not keep alive
        _PLANS.put(key, (calls, plan))
    return plan


def _native(call: BoundCall) -> dict[str, Any]:
    """Convert a call to the arguments of the native module."""
    frame = call.frame
    return {
        "function": call.function,
        "user": call.user,
        "args": list(map(_argument, call.args)),
        "partition_by": list(call.partition_by),
        "order_by": list(map(_key, call.order_by)),
        "frame": frame
        and {
            "units": frame.units,
            "start": _bound(frame.start),
            "end": _bound(frame.end),
            "exclude": frame.exclude,
            "open": frame.open,
            "elapsed": frame.elapsed,
        },
        "filter": call.filter,
        "distinct": call.distinct,
        "ignore_nulls": call.ignore_nulls,
        "argument_order": list(map(_key, call.argument_order)),
        "min_rows": call.min_rows,
        "name": call.name,
        "display": call.display,
    }


def _argument(argument: Argument) -> dict[str, Any]:
    return {"column": argument.column} if isinstance(argument, ColumnArgument) else {"literal": argument.value}


def _key(key: SortKey) -> dict[str, Any]:
    return {"column": key.column, "descending": key.descending, "nulls_first": key.nulls_first}


def _bound(bound: FrameBound) -> tuple[str, dict[str, Any] | None]:
    return bound.kind, None if bound.offset is None else _argument(bound.offset)


def _check_default(schema: pa.Schema, call: BoundCall) -> None:
    """Refuse a default that the column's type would truncate; the native plan refuses other misfits."""
    known = function_of(call.function) if call.user is None else None
    defaults = [i for i in known.positions("default") if i < len(call.args)] if known else []
    if not defaults:
        return
    name, value = call.argument_column(0), call.literal(defaults[0])
    position = -1 if name is None else schema.get_field_index(name)
    if value is None or position < 0:
        return
    data_type = schema.field(position).type
    if not _holds(data_type, value):
        raise SpecError(
            f"{call.display}: the default {value} does not fit {data_type}, the type of the column; write one that "
            "does, or cast the column to a wider type"
        )


def _check_condition(schema: pa.Schema, call: BoundCall) -> None:
    """Refuse a condition that is not boolean, if the user did not name its column."""
    index = (
        -1 if call.filter is None or not call.filter.startswith(HIDDEN_PREFIX) else schema.get_field_index(call.filter)
    )
    if index >= 0 and not pa.types.is_boolean(schema.field(index).type):
        raise SpecError(
            f"{call.display}: the condition of FILTER is {schema.field(index).type}, and a condition must be boolean"
        )


def refuse_extension(name: str, data_type: pa.DataType) -> None:
    """Refuse extension types at any depth: their storage does not show what the values mean.

    Parameters
    ----------
    name
        The column's name.
    data_type
        Its type.

    Raises
    ------
    UnsupportedError
        If it is of such a type.
    """
    if isinstance(data_type, pa.BaseExtensionType):
        raise UnsupportedError(
            f"column {name!r} is of the extension type {data_type}, which would be read as its storage, "
            f"{data_type.storage_type}; cast it to a type that has the values you mean"
        )
    for index in range(data_type.num_fields):
        refuse_extension(name, data_type.field(index).type)


def refuse_nested_runs(schema: pa.Schema, *, spills: bool) -> None:
    """Refuse run-end encoding that arrow-rs does not support: in unions, of nested values, and on disk in lists.

    Parameters
    ----------
    schema
        The columns.
    spills
        Whether rows may go to files.

    Raises
    ------
    UnsupportedError
        If a column is of such a type.
    """
    for field in schema:
        if _has_nested_runs(field.type, inside=False, spills=spills):
            raise UnsupportedError(
                f"column {field.name!r} of type {field.type} has run ends within another type, or around nested "
                f"values, which operators{' with a memory_limit' if spills else ''} do not pass on; make the column "
                "anew of the plain values, as pyarrow.compute.run_end_decode gives them, or leave it out"
            )


def _has_nested_runs(data_type: pa.DataType, *, inside: bool, spills: bool) -> bool:
    if isinstance(data_type, pa.BaseExtensionType):
        return _has_nested_runs(data_type.storage_type, inside=inside, spills=spills)
    if pa.types.is_run_end_encoded(data_type):
        return inside or data_type.value_type.num_fields > 0
    # if all lists of a batch are empty it has no runs, and Arrow cannot read that back
    inside = inside or pa.types.is_union(data_type) or (spills and not pa.types.is_struct(data_type))
    return any(
        _has_nested_runs(data_type.field(i).type, inside=inside, spills=spills) for i in range(data_type.num_fields)
    )


def _holds(data_type: pa.DataType, value: Any) -> bool:
    if pa.types.is_dictionary(data_type) or pa.types.is_run_end_encoded(data_type):
        return _holds(data_type.value_type, value)
    if pa.types.is_integer(data_type) and isinstance(value, (int, float, Decimal)):
        if value != value or value in (math.inf, -math.inf):
            return False
        signed = pa.types.is_signed_integer(data_type)
        limit = 2 ** (data_type.bit_width - signed)
        return bool((-limit if signed else 0) <= int(value) < limit)  # Spark cuts a fraction off
    if pa.types.is_decimal(data_type) and isinstance(value, Decimal):
        return True  # rounded as by Spark's cast; one of too many digits the plan refuses
    return fits([value], data_type)


def output_fields(plan: Plan) -> list[pa.Field]:
    """Return the fields of the new columns, in the order of the calls."""
    return list(pa.schema(plan.output_schema))


def input_table(
    step: Compute,
    columns: Any,
    rows: int,
    *,
    nullable: Callable[[int], bool] | None = None,
    already_validated: Callable[[int], bool] | None = None,
    checker: Checker | None = None,
    compared: frozenset[str] | None = None,
) -> pa.Table:
    """Make the table of the columns that calls read, for the native module.

    Parameters
    ----------
    step
        The calls, and which columns they read.
    columns
        All columns, or a mapping from position to column; only those that are read are looked at.
    rows
        How many rows there are.
    nullable
        Says of a column whether it may hold nulls; all may without it.
    already_validated
        Says of a column whether windrow made it, so that it needs no check.
    checker
        Checks the others, of which it may know some already.
    compared
        What :func:`comparison_only_columns` gives for the calls, where that is known.

    Returns
    -------
    pyarrow.Table
        Shares the buffers of what it was given.
    """
    checker = checker or Checker()
    for i in step.reads:
        refuse_extension(step.names[i], columns[i].type)
    if compared is None:
        compared = comparison_only_columns(step.calls)

    def validated(name: str, column: Any, may_be_null: bool) -> Any:
        # strings compare like their bytes, so these need not be UTF-8
        text = name not in compared or column.type not in BINARY_TYPES
        made = checker.validated(column, name, nullable=may_be_null, text=text)
        if text:
            return made
        chunks = made.chunks if isinstance(made, pa.ChunkedArray) else [made]
        return pa.chunked_array([chunk.view(BINARY_TYPES[made.type]) for chunk in chunks], BINARY_TYPES[made.type])

    arrays, fields = [], []
    for i in step.reads:
        may_be_null = nullable is None or nullable(i)
        column = columns[i]
        if already_validated is None or not already_validated(i):
            column = validated(step.names[i], column, may_be_null)
        arrays.append(column)
        fields.append(pa.field(step.names[i], column.type, may_be_null))
    if not arrays:
        arrays.append(pa.nulls(rows))
        fields.append(pa.field(unused_name(ROW_PLACEHOLDER, set(step.names)), pa.null()))
    return align_chunks(pa.table(arrays, schema=pa.schema(fields)))


def window_columns(
    table: pa.Table,
    calls: Sequence[BoundCall],
    options: Options,
    *,
    presorted: bool = False,
    ordered: Mapping[str, str] | None = None,
    explained: list[list[ExplainedCall]] | None = None,
) -> tuple[list[pa.Field], list[pa.ChunkedArray]]:
    """Compute the new columns for a table in memory; rows keep their order.

    Parameters
    ----------
    table
        What :func:`input_table` gave.
    calls
        The calls.
    options
        The settings in force.
    presorted
        Whether the rows must already be grouped and ordered: an error where they are not.
    ordered
        As for :func:`make_plan`.
    explained
        Takes a list of how each call is computed, in their order.

    Returns
    -------
    tuple
        The new fields and the new columns.
    """
    dictionaries = Dictionaries(table.schema, calls)
    table, calls = dictionaries.by_position(table)
    plan = kept_plan(table.schema, calls, options, ordered)
    dictionaries.check_defaults()
    if presorted:
        fields, made = output_fields(plan), _streamed(plan, table)
    else:
        result = pa.table(plan.compute(table))
        fields, made = list(result.schema), result.columns
    fields = dictionaries.result_fields(fields)
    if explained is not None:
        explained.append(dictionaries.explained(explained_plan(plan, fields, streamed=presorted)))
    return fields, dictionaries.with_source_dictionaries(made)


def _streamed(plan: Plan, table: pa.Table) -> list[pa.ChunkedArray]:
    """Compute the new columns of rows that must be grouped and ordered already."""
    stream = plan.stream()
    done: list[Any] = []
    for batch in table.to_batches():
        done += stream.push(batch)
    done += stream.finish()
    pieces = [pa.record_batch(b) for b in done]
    first = table.num_columns
    fields = output_fields(plan)
    return [pa.chunked_array([p.column(first + i) for p in pieces], type=f.type) for i, f in enumerate(fields)]
