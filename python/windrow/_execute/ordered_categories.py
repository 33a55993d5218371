"""Ordered categories: dictionaries whose codes give the order of the values.

The native module sees only the strings of such a column. An expression over the column has the type string, but its
values still have an order. Therefore the order is recorded by column name, and passed on from an expression to the
calls that read it, and from a call to the expressions and calls that read its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from .._model.catalog import function_of
from .._model.names import HIDDEN_PREFIX
from .._model.result_columns import hide_result_columns
from .._plan.bound import BoundCall
from ..exceptions import UnsupportedError
from .arrow_columns import with_child_types

__all__ = [
    "display_name",
    "has_ordered_categories",
    "is_list",
    "ordered_columns",
    "ordered_results",
    "ordered_type",
    "refuse_comparison",
]


def refuse_comparison(ordered: Mapping[str, str], call: BoundCall) -> None:
    """Refuse a call that compares ordered categories, because the native module would compare their strings.

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
    compared = [o.column for o in (*call.order_by, *call.argument_order)]
    known = function_of(call.function) if call.user is None else None
    if known is not None:
        positions = known.positions("ordered")
        if call.distinct and known.keeps_type:
            positions.append(0)  # distinct values are put together in their order
        compared += [call.argument_column(i) or "" for i in positions if i < len(call.args)]
    for name in compared:
        if name in ordered:
            raise UnsupportedError(
                f"{call.display}: it would compare the ordered categories of {display_name(ordered[name])} as text; "
                "order by their positions, in a column of integers (pandas: s.cat.codes, Polars: "
                "pl.col('e').to_physical(), Arrow: the dictionary's indices), or cast the column to text"
            )


def display_name(name: str) -> str:
    """Return the name of a column that the user knows."""
    text = hide_result_columns(name)
    if text != name:
        return text
    return "an expression" if name.startswith(HIDDEN_PREFIX) else repr(name)


def ordered_columns(schema: pa.Schema) -> dict[str, str]:
    """Return the names of the columns with ordered categories, for :func:`refuse_comparison`."""
    return {f.name: f.name for f in schema if has_ordered_categories(f.type)}


def has_ordered_categories(data_type: pa.DataType) -> bool:
    """Whether values of a type are or contain ordered categories."""
    if pa.types.is_dictionary(data_type):
        return bool(data_type.ordered) or has_ordered_categories(data_type.value_type)
    return any(has_ordered_categories(data_type.field(i).type) for i in range(data_type.num_fields))


def ordered_results(
    calls: Sequence[BoundCall], fields: Sequence[pa.Field], ordered: Mapping[str, str]
) -> dict[str, str]:
    """Return the calls whose results take their values from an ordered-categorical argument.

    Parameters
    ----------
    calls
        The calls.
    fields
        The fields of their results.
    ordered
        The columns of such categories among those that they read, each with what a message calls it.

    Returns
    -------
    dict
        The names of the results, each with what a message calls it.
    """
    if not ordered:
        return {}
    return {
        call.name: call.name
        for call, field in zip(calls, fields, strict=True)
        if call.user is None
        and (known := function_of(call.function)) is not None
        and known.keeps_type
        and not ordered.keys().isdisjoint(call.argument_columns())
        and _has_text(field.type)
    }


def ordered_type(data_type: pa.DataType, *, text: bool = False) -> pa.DataType:
    """Return a type with ordered dictionaries, also in lists; with ``text``, strings become such dictionaries."""
    if pa.types.is_dictionary(data_type):
        return pa.dictionary(data_type.index_type, data_type.value_type, ordered=True)
    if text and _is_text(data_type):
        return pa.dictionary(pa.uint32(), data_type, ordered=True)
    return (
        with_child_types(data_type, [ordered_type(data_type.value_type, text=text)])
        if is_list(data_type)
        else data_type
    )


def is_list(data_type: pa.DataType) -> bool:
    """Whether a type is a list or list view, the list types of windrow's results."""
    return bool(pa.types.is_list(data_type) or pa.types.is_large_list(data_type) or pa.types.is_list_view(data_type))


def _is_text(data_type: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(data_type) or pa.types.is_large_string(data_type) or pa.types.is_string_view(data_type)
    )


def _has_text(data_type: pa.DataType) -> bool:
    if pa.types.is_dictionary(data_type) or _is_text(data_type):
        return True
    return any(_has_text(data_type.field(i).type) for i in range(data_type.num_fields))
