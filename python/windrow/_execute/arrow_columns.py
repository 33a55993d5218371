"""Helpers for Arrow columns: combining chunks, casting strings to bytes, dropping values that no row refers to."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "BINARY_TYPES",
    "WITHOUT_VIEWS",
    "as_binary_type",
    "as_single_array",
    "child_arrays",
    "compacted_slice",
    "concatenated",
    "drop_unreferenced_values",
    "empty_table",
    "has_run_ends",
    "with_buffers",
    "with_child_types",
    "with_children",
]  # fmt: skip

#: The types with offsets that hold the same values, by the types of views: pyarrow takes and looks up no views.
WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}

#: The type of text's bytes, by the type of text.
BINARY_TYPES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def as_binary_type(data_type: pa.DataType) -> pa.DataType:
    """Return the type with binary in place of strings: the same buffers, whose bytes need not be UTF-8.

    Parameters
    ----------
    data_type
        The type.

    Returns
    -------
    pyarrow.DataType
        The type itself where it has no text, or has run ends, whose offset pyarrow's ``view`` drops.
    """
    return data_type if has_run_ends(data_type) else _as_bytes(data_type)


def _as_bytes(data_type: pa.DataType) -> pa.DataType:
    if data_type in BINARY_TYPES:
        return BINARY_TYPES[data_type]
    if isinstance(data_type, pa.BaseExtensionType) or (
        data_type.num_fields == 0 and not pa.types.is_dictionary(data_type)
    ):
        return data_type
    if pa.types.is_dictionary(data_type):
        return with_child_types(data_type, [_as_bytes(data_type.value_type)])
    return with_child_types(data_type, [_as_bytes(data_type.field(i).type) for i in range(data_type.num_fields)])


def with_child_types(data_type: pa.DataType, parts: Sequence[pa.DataType]) -> pa.DataType:
    """Return a nested type with other child types.

    Parameters
    ----------
    data_type
        The type.
    parts
        The other types: a dictionary's values, or the types of its fields in their order.

    Returns
    -------
    pyarrow.DataType
        The type itself where the others are the same.
    """
    if pa.types.is_dictionary(data_type):
        return (
            data_type
            if parts[0] == data_type.value_type
            else pa.dictionary(data_type.index_type, parts[0], data_type.ordered)
        )
    fields = [data_type.field(i) for i in range(data_type.num_fields)]
    plain = [f.with_type(t) for f, t in zip(fields, parts, strict=True)]
    if all(a.type == b.type for a, b in zip(fields, plain, strict=True)):
        return data_type
    if pa.types.is_struct(data_type):
        return pa.struct(plain)
    if pa.types.is_union(data_type):
        return pa.union(plain, data_type.mode, list(data_type.type_codes))
    if pa.types.is_map(data_type):
        return pa.map_(*plain[0].type, keys_sorted=data_type.keys_sorted)
    if pa.types.is_fixed_size_list(data_type):
        return pa.list_(plain[0], data_type.list_size)
    makers = {
        pa.types.is_list: pa.list_,
        pa.types.is_large_list: pa.large_list,
        pa.types.is_list_view: pa.list_view,
        pa.types.is_large_list_view: pa.large_list_view,
    }
    return next((make(plain[0]) for test, make in makers.items() if test(data_type)), data_type)


def has_run_ends(data_type: pa.DataType) -> bool:
    """Whether a type is run-end encoded, or has such values within.

    Parameters
    ----------
    data_type
        The type.

    Returns
    -------
    bool
        Whether it does.
    """
    if isinstance(data_type, pa.BaseExtensionType):
        data_type = data_type.storage_type
    if pa.types.is_run_end_encoded(data_type):
        return True
    if pa.types.is_dictionary(data_type):
        return has_run_ends(data_type.value_type)
    return any(has_run_ends(data_type.field(i).type) for i in range(data_type.num_fields))


def empty_table(schema: pa.Schema) -> pa.Table:
    """Return a table without rows; pyarrow's own method supports no unions and no nested run-end encoding."""
    return pa.Table.from_arrays([_empty(t) for t in schema.types], schema=schema)


def _empty(data_type: pa.DataType) -> pa.Array:
    if isinstance(data_type, pa.BaseExtensionType) or data_type.num_fields == 0 or pa.types.is_union(data_type):
        return pa.nulls(0, data_type)
    if pa.types.is_run_end_encoded(data_type):
        children = [pa.array([], data_type.run_end_type), _empty(data_type.value_type)]
        return pa.Array.from_buffers(data_type, 0, [None], children=children)
    slots = pa.py_buffer(bytes(8))  # an offset of any width
    if pa.types.is_struct(data_type) or pa.types.is_fixed_size_list(data_type):
        buffers = [None]
    elif pa.types.is_list_view(data_type) or pa.types.is_large_list_view(data_type):
        buffers = [None, slots, slots]
    else:
        buffers = [None, slots]
    children = [_empty(data_type.field(i).type) for i in range(data_type.num_fields)]
    return pa.Array.from_buffers(data_type, 0, buffers, children=children)


def with_buffers(array: pa.Array) -> pa.Array:
    """Return the array with all buffers present: an empty array may have none, but Arrow reads them nevertheless.

    Views whose values are all short may have a missing buffer of longer ones, which pyarrow before 25 cannot export.

    Parameters
    ----------
    array
        The array, whose layout is valid.

    Returns
    -------
    pyarrow.Array
        The array itself where no part of it lacks a buffer.
    """
    data_type = array.type
    if not len(array):
        return _empty(data_type)
    if pa.types.is_primitive(data_type):
        return array
    if isinstance(data_type, pa.BaseExtensionType):
        storage = array.storage
        made = with_buffers(storage)
        return array if made is storage else data_type.wrap_array(made)
    if pa.types.is_string_view(data_type) or pa.types.is_binary_view(data_type):
        nulls, *buffers = array.buffers()
        present = [b for b in buffers if b is not None]
        if len(present) == len(buffers):
            return array
        return pa.Array.from_buffers(data_type, len(array), [nulls, *present], offset=array.offset)
    parts = child_arrays(array)
    made = [with_buffers(p) for p in parts]
    return array if all(a is b for a, b in zip(made, parts, strict=True)) else with_children(array, made)


def child_arrays(array: pa.Array) -> list[pa.Array]:
    """Return the child arrays of a nested array, except run ends."""
    data_type = array.type
    if pa.types.is_dictionary(data_type):
        return [array.dictionary]
    if pa.types.is_struct(data_type) or pa.types.is_union(data_type):
        return [array.field(i) for i in range(data_type.num_fields)]
    return [array.values] if data_type.num_fields else []


def with_children(array: pa.Array, parts: Sequence[pa.Array], data_type: pa.DataType | None = None) -> pa.Array:
    """Return the array with its child arrays replaced.

    Parameters
    ----------
    array
        The array.
    parts
        The other arrays, in the order of its fields; run ends stay.
    data_type
        The type of the new array, where that of the other arrays differs.

    Returns
    -------
    pyarrow.Array
        The new array.
    """
    data_type = data_type or array.type
    if pa.types.is_dictionary(data_type):
        return pa.DictionaryArray.from_arrays(array.indices, parts[0], ordered=data_type.ordered)
    if pa.types.is_struct(data_type):  # an offset is in its fields already
        return pa.StructArray.from_arrays(
            parts, fields=list(data_type), mask=array.is_null() if array.null_count else None
        )
    if pa.types.is_union(data_type) and data_type.mode == "sparse":  # the same for its codes
        codes = array.buffers()[1].slice(array.offset, len(array))
        return pa.Array.from_buffers(data_type, len(array), [None, codes], children=parts)
    if pa.types.is_run_end_encoded(data_type):
        parts = [array.run_ends, *parts]
    return pa.Array.from_buffers(
        data_type, len(array), array.buffers()[: _buffer_count(data_type)], offset=array.offset, children=parts
    )


def _buffer_count(data_type: pa.DataType) -> int:
    """Return the number of buffers of a nested type, without those of its children."""
    types = pa.types
    if types.is_list_view(data_type) or types.is_large_list_view(data_type) or types.is_union(data_type):
        return 3
    return 1 if types.is_fixed_size_list(data_type) or types.is_run_end_encoded(data_type) else 2


def as_single_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array, copying only if it has several chunks."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    if column.num_chunks == 0:
        return pa.array([], type=column.type)
    return pa.concat_arrays(column.chunks)


def text_restored(columns: Sequence[pa.Array], schema: pa.Schema) -> pa.RecordBatch:
    """Make a batch of columns, where text that no call reads has passed as bytes and becomes text again."""
    columns = [c if c.type == t else c.view(t) for c, t in zip(columns, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def concatenated(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Put the values of columns below one another; types of one meaning, such as a dictionary and text, become one."""
    types = list(dict.fromkeys(c.type for c in columns if not pa.types.is_null(c.type))) or [pa.null()]
    if len(types) > 1:
        plain = [t.value_type if pa.types.is_dictionary(t) else t for t in types]
        large = [t for t in plain if t in (pa.large_string(), pa.large_binary())]
        columns = [c.cast(t.value_type) if pa.types.is_dictionary(t := c.type) else c for c in columns]
        types = large or plain
    return pa.chunked_array(
        [chunk for c in columns for chunk in c.cast(types[0]).chunks if len(chunk)] or [pa.nulls(0, types[0])],
        type=types[0],
    )


def compacted_slice(array: pa.Array) -> pa.Array:
    """Copy a slice of lists or structs, because some readers read the values of the whole array.

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
    """Drop the values that no list view refers to, if there are more of them than sharing saves.

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
    referenced = pc.sum(sizes).as_py()
    nonempty = pc.greater(sizes, 0)
    begins, ends = offsets.filter(nonempty), pc.add(offsets, sizes).filter(nonempty)
    span = pc.max(ends).as_py() - pc.min(begins).as_py() if referenced else 0
    if span <= referenced:
        return column
    ends = pc.cumulative_sum(sizes)
    # both made anew, as from_arrays takes no two arrays that are slices from different rows on
    begins, sizes = pc.subtract(ends, sizes), pc.add(sizes, pa.scalar(0, sizes.type))
    nulls = pc.invert(column.is_valid()) if column.null_count else None
    made = pa.LargeListViewArray if is_large else pa.ListViewArray
    return made.from_arrays(begins, sizes, column.flatten(), type=column.type, mask=nulls)
