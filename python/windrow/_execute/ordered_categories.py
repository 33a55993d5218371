"""Ordered categories: dictionaries whose codes order the values, which the native module knows as their texts alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from .._model.names import HIDDEN
from .._model.result_columns import without_places
from .._plan.bound import BoundCall, BoundCalls
from ..exceptions import UnsupportedError

__all__ = ["has_ordered_categories", "ordered_columns", "ordered_results", "refuse_comparison", "with_order"]

# functions whose answer depends on the order of an argument's values, by the argument's position
_ORDERED_ARGUMENTS = {
    "min": 0, "max": 0, "mode": 0, "collect_set": 0, "min_by": 1, "max_by": 1, "arg_min": 1, "arg_max": 1,
    "percentile_disc": 0, "quantile_disc": 0,
}  # fmt: skip


def refuse_comparison(ordered: Mapping[str, str], call: BoundCall) -> None:
    """Refuse a call that compares categories with an order of their own: the native module compares their text.

    Parameters
    ----------
    ordered
        The columns of such categories, each with what a message calls it.
    call
        The native call.

    Raises
    ------
    UnsupportedError
        If it does.
    """
    position = _ORDERED_ARGUMENTS.get(call.function) if call.user is None else None
    if call.distinct and call.user is None and call.function != "count":
        position = 0  # distinct values are put together in their order
    compared = [o.column for o in (*call.order_by, *call.argument_order)]
    if position is not None and position < len(call.args):
        compared.append(call.argument_column(position) or "")
    for name in compared:
        if name in ordered:
            raise UnsupportedError(
                f"{call.display}: it would compare the ordered categories of {_told(ordered[name])} as text; "
                "order by their positions, in a column of integers (pandas: s.cat.codes, Polars: "
                "pl.col('e').to_physical(), Arrow: the dictionary's indices), or cast the column to text"
            )


def _told(name: str) -> str:
    """Name a column as its user knows it."""
    text = without_places(name)
    if text != name:
        return text
    return "an expression" if name.startswith(HIDDEN) else repr(name)


def ordered_columns(schema: pa.Schema) -> dict[str, str]:
    """Give the names of the columns that hold ordered categories, for :func:`refuse_comparison`."""
    return {f.name: f.name for f in schema if has_ordered_categories(f.type)}


def has_ordered_categories(kind: pa.DataType) -> bool:
    """Say whether values of a type are, or hold, ordered categories."""
    if pa.types.is_dictionary(kind):
        return bool(kind.ordered) or has_ordered_categories(kind.value_type)
    return any(has_ordered_categories(kind.field(i).type) for i in range(kind.num_fields))


def ordered_results(schema: pa.Schema, calls: Sequence[BoundCall], fields: Sequence[pa.Field]) -> list[int]:
    """List the calls that give values of ordered categories, which the native module knows as categories alone.

    Parameters
    ----------
    schema
        The columns that the calls read.
    calls
        The native calls.
    fields
        The fields of their results.

    Returns
    -------
    list of int
        Their positions.
    """
    return _ordered_results(schema, calls, fields)


def _ordered_results(
    schema: pa.Schema, calls: Sequence[BoundCall], fields: Sequence[pa.Field], *, lists: bool = False
) -> list[int]:
    found = []
    for position, (call, field) in enumerate(zip(calls, fields, strict=True)):
        name = call.argument_column() if call.user is None else None
        index = -1 if name is None else schema.get_field_index(name)
        kind = field.type.value_type if lists and _is_list(field.type) else field.type
        if pa.types.is_dictionary(kind) and index >= 0 and has_ordered_categories(schema.field(index).type):
            found.append(position)
    return found


def with_order(
    schema: pa.Schema, bound: BoundCalls, fields: list[pa.Field], columns: list[pa.ChunkedArray]
) -> tuple[list[pa.Field], list[pa.ChunkedArray]]:
    """Give results that are values of ordered categories their order back.

    Parameters
    ----------
    schema
        The columns that the calls read.
    bound
        The calls.
    fields, columns
        Their results, of which those are exchanged.

    Returns
    -------
    tuple of list
        The fields and the columns.
    """
    for index in _ordered_results(schema, bound.native, fields, lists=True):
        kind = _ordered_type(columns[index].type)
        columns[index] = pa.chunked_array([_with_order(c, kind) for c in columns[index].chunks], type=kind)
        fields[index] = fields[index].with_type(kind)
    return fields, columns


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_list_view(kind))


def _ordered_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, kind.value_type, ordered=True)
    item = kind.value_field.with_type(_ordered_type(kind.value_type))
    return pa.list_view(item) if pa.types.is_list_view(kind) else pa.list_(item)


def _with_order(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(array.indices, array.dictionary, ordered=True)
    items = _with_order(array.values, kind.value_type)
    own = array.buffers()[: 3 if pa.types.is_list_view(kind) else 2]
    return pa.Array.from_buffers(kind, len(array), own, offset=array.offset, children=[items])
