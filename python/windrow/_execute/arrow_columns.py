"""Arrow columns: in one piece, as bytes, without values that nothing shows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "BINARY_TYPES",
    "as_binary_type",
    "child_arrays",
    "compacted_slice",
    "drop_unreferenced_values",
    "empty_table",
    "has_run_ends",
    "whole",
    "with_buffers",
    "with_child_types",
    "with_children",
]  # fmt: skip

#: The type of text's bytes, by the type of text.
BINARY_TYPES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def as_binary_type(kind: pa.DataType) -> pa.DataType:
    """Give a type of the same buffers without text, which may be bytes of any kind where nobody reads it.

    Parameters
    ----------
    kind
        The type.

    Returns
    -------
    pyarrow.DataType
        The type itself where it has no text, or has run ends, whose offset pyarrow's ``view`` drops.
    """
    return kind if has_run_ends(kind) else _as_bytes(kind)


def _as_bytes(kind: pa.DataType) -> pa.DataType:
    if kind in BINARY_TYPES:
        return BINARY_TYPES[kind]
    if isinstance(kind, pa.BaseExtensionType) or (kind.num_fields == 0 and not pa.types.is_dictionary(kind)):
        return kind
    if pa.types.is_dictionary(kind):
        return with_child_types(kind, [_as_bytes(kind.value_type)])
    return with_child_types(kind, [_as_bytes(kind.field(i).type) for i in range(kind.num_fields)])


def with_child_types(kind: pa.DataType, parts: Sequence[pa.DataType]) -> pa.DataType:
    """Give a type with others in the place of those that it is made of.

    Parameters
    ----------
    kind
        The type.
    parts
        The other types: a dictionary's values, or the types of its fields in their order.

    Returns
    -------
    pyarrow.DataType
        The type itself where the others are the same.
    """
    if pa.types.is_dictionary(kind):
        return kind if parts[0] == kind.value_type else pa.dictionary(kind.index_type, parts[0], kind.ordered)
    fields = [kind.field(i) for i in range(kind.num_fields)]
    plain = [f.with_type(t) for f, t in zip(fields, parts, strict=True)]
    if all(a.type == b.type for a, b in zip(fields, plain, strict=True)):
        return kind
    if pa.types.is_struct(kind):
        return pa.struct(plain)
    if pa.types.is_union(kind):
        return pa.union(plain, kind.mode, list(kind.type_codes))
    if pa.types.is_map(kind):
        return pa.map_(*plain[0].type, keys_sorted=kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(plain[0], kind.list_size)
    makers = {
        pa.types.is_list: pa.list_,
        pa.types.is_large_list: pa.large_list,
        pa.types.is_list_view: pa.list_view,
        pa.types.is_large_list_view: pa.large_list_view,
    }
    return next((make(plain[0]) for test, make in makers.items() if test(kind)), kind)


def has_run_ends(kind: pa.DataType) -> bool:
    """Whether a type is run-end encoded, or has such values within.

    Parameters
    ----------
    kind
        The type.

    Returns
    -------
    bool
        Whether it does.
    """
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_run_end_encoded(kind):
        return True
    if pa.types.is_dictionary(kind):
        return has_run_ends(kind.value_type)
    return any(has_run_ends(kind.field(i).type) for i in range(kind.num_fields))


def empty_table(schema: pa.Schema) -> pa.Table:
    """Give a table without rows; pyarrow's own method knows no unions and no run ends within other types."""
    return pa.Table.from_arrays([_empty(t) for t in schema.types], schema=schema)


def _empty(kind: pa.DataType) -> pa.Array:
    if isinstance(kind, pa.BaseExtensionType) or kind.num_fields == 0 or pa.types.is_union(kind):
        return pa.nulls(0, kind)
    if pa.types.is_run_end_encoded(kind):
        children = [pa.array([], kind.run_end_type), _empty(kind.value_type)]
        return pa.Array.from_buffers(kind, 0, [None], children=children)
    slots = pa.py_buffer(bytes(8))  # an offset of any width
    if pa.types.is_struct(kind) or pa.types.is_fixed_size_list(kind):
        buffers = [None]
    elif pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        buffers = [None, slots, slots]
    else:
        buffers = [None, slots]
    children = [_empty(kind.field(i).type) for i in range(kind.num_fields)]
    return pa.Array.from_buffers(kind, 0, buffers, children=children)


def with_buffers(array: pa.Array) -> pa.Array:
    """Give an array whose parts all have buffers: empty ones may go without, and Arrow reads them nevertheless.

    Parameters
    ----------
    array
        The array, whose layout is valid.

    Returns
    -------
    pyarrow.Array
        The array itself where no part of it is empty.
    """
    kind = array.type
    if not len(array):
        return _empty(kind)
    if isinstance(kind, pa.BaseExtensionType):
        storage = array.storage
        made = with_buffers(storage)
        return array if made is storage else kind.wrap_array(made)
    parts = child_arrays(array)
    made = [with_buffers(p) for p in parts]
    return array if all(a is b for a, b in zip(made, parts, strict=True)) else with_children(array, made)


def child_arrays(array: pa.Array) -> list[pa.Array]:
    """Give the arrays that an array is made of, but for run ends."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return [array.dictionary]
    if pa.types.is_struct(kind) or pa.types.is_union(kind):
        return [array.field(i) for i in range(kind.num_fields)]
    return [array.values] if kind.num_fields else []


def with_children(array: pa.Array, parts: Sequence[pa.Array], kind: pa.DataType | None = None) -> pa.Array:
    """Return the array with its child arrays replaced.

    Parameters
    ----------
    array
        The array.
    parts
        The other arrays, in the order of its fields; run ends stay.
    kind
        The type of the new array, where that of the other arrays differs.

    Returns
    -------
    pyarrow.Array
        The new array.
    """
    kind = kind or array.type
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(array.indices, parts[0], ordered=kind.ordered)
    if pa.types.is_struct(kind):  # an offset is in its fields already
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=array.is_null() if array.null_count else None)
    if pa.types.is_union(kind) and kind.mode == "sparse":  # the same for its codes
        codes = array.buffers()[1].slice(array.offset, len(array))
        return pa.Array.from_buffers(kind, len(array), [None, codes], children=parts)
    if pa.types.is_run_end_encoded(kind):
        parts = [array.run_ends, *parts]
    return pa.Array.from_buffers(
        kind, len(array), array.buffers()[: _buffers(kind)], offset=array.offset, children=parts
    )


def _buffers(kind: pa.DataType) -> int:
    """Say how many buffers a nested type has itself."""
    types = pa.types
    if types.is_list_view(kind) or types.is_large_list_view(kind) or types.is_union(kind):
        return 3
    return 1 if types.is_fixed_size_list(kind) or types.is_run_end_encoded(kind) else 2


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Give a column as one array, copying only where it lies in several pieces."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    if column.num_chunks == 0:
        return pa.array([], type=column.type)
    return pa.concat_arrays(column.chunks)


def compacted_slice(array: pa.Array) -> pa.Array:
    """Copy a slice of lists or structs, as some readers look at the values of all rows that it was cut from.

    Parameters
    ----------
    array
        The array.

    Returns
    -------
    pyarrow.Array
        The array itself where it hides no values, or Arrow cannot take rows of its type.
    """
    if array.type.num_fields == 0 or array.get_total_buffer_size() <= array.nbytes:
        return array
    try:
        return array.take(pa.array(range(len(array)), pa.int64()))
    except pa.ArrowNotImplementedError:
        return array


def drop_unreferenced_values(column: pa.Array) -> pa.Array:
    """Give list views without the values that none of them shows, where those outnumber what sharing saves.

    A slice of list views keeps the values of all, and whoever sends it on sends them along.

    Parameters
    ----------
    column
        Any column; those that are no list views are given back as they are.

    Returns
    -------
    pyarrow.Array
        The same lists.
    """
    is_large = pa.types.is_large_list_view(column.type)
    if not (is_large or pa.types.is_list_view(column.type)) or len(column) == 0:
        return column
    offsets, sizes = column.offsets, column.sizes
    if column.null_count:
        sizes = pc.if_else(column.is_valid(), sizes, pa.scalar(0, sizes.type))  # a null slot may have a size
    shown = pc.sum(sizes).as_py()
    filled = pc.greater(sizes, 0)
    begins, ends = offsets.filter(filled), pc.add(offsets, sizes).filter(filled)
    held = pc.max(ends).as_py() - pc.min(begins).as_py() if shown else 0
    if held <= shown:
        return column
    ends = pc.cumulative_sum(sizes)
    # both made anew, as from_arrays takes no two arrays that are slices from different rows on
    begins, sizes = pc.subtract(ends, sizes), pc.add(sizes, pa.scalar(0, sizes.type))
    nulls = pc.invert(column.is_valid()) if column.null_count else None
    made = pa.LargeListViewArray if is_large else pa.ListViewArray
    return made.from_arrays(begins, sizes, column.flatten(), type=column.type, mask=nulls)
