"""Takes rows of a column in any order, also for types and lengths that pyarrow's ``take`` does not support."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from .arrow_columns import (
    WITHOUT_VIEWS,
    as_single_array,
    child_arrays,
    with_buffers,
    with_child_types,
    with_children,
)

__all__ = ["has_dictionary", "take_rows"]

#: So many bytes have offsets of 32 bits in one array.
_MAX_BYTES = 2**31 - 1


def take_rows(column: pa.ChunkedArray, rows: pa.Array) -> pa.ChunkedArray:
    """Take rows of a column.

    Parameters
    ----------
    column
        The column, whose layout is valid.
    rows
        The numbers of the rows.

    Returns
    -------
    pyarrow.ChunkedArray
        Of the same type, in one piece where that can be.
    """
    data_type = column.type
    plain = pa.chunked_array([_plain(c) for c in column.chunks], _plain_type(data_type))
    pieces = plain.take(rows).chunks if plain.nbytes <= _MAX_BYTES else list(_take_large(plain.chunks, rows))
    return pa.chunked_array([_as_type(p, data_type) for p in pieces], data_type)


def _take_large(chunks: list[pa.Array], rows: pa.Array) -> Iterator[pa.Array]:
    """Take rows with more bytes than one array can hold: first chunk by chunk, then in the order of ``rows``."""
    order = pc.sort_indices(rows)
    ascending = rows.take(order)
    taken, begin = [], 0
    for chunk in chunks:
        inside = pc.and_(pc.greater_equal(ascending, begin), pc.less(ascending, begin + len(chunk)))
        taken.append(chunk.take(pc.subtract(ascending.filter(inside), begin)))
        begin += len(chunk)
    if len(rows) > 1 and sum(t.nbytes for t in taken) > _MAX_BYTES:
        half = len(rows) // 2
        del taken
        yield from _take_large(chunks, rows.slice(0, half))
        yield from _take_large(chunks, rows.slice(half))
    else:
        yield as_single_array(pa.chunked_array(taken, chunks[0].type)).take(pc.sort_indices(order))


def _plain_type(data_type: pa.DataType) -> pa.DataType:
    """Return a type of the same values that pyarrow's ``take`` supports: no views and no run ends."""
    if data_type in WITHOUT_VIEWS:
        return WITHOUT_VIEWS[data_type]
    if isinstance(data_type, pa.BaseExtensionType):
        return _plain_type(data_type.storage_type)
    if pa.types.is_run_end_encoded(data_type):
        return _plain_type(data_type.value_type)
    return with_child_types(data_type, [_plain_type(t) for t in _part_types(data_type)])


def _plain(array: pa.Array) -> pa.Array:
    data_type = array.type
    plain = _plain_type(data_type)
    if plain == data_type and not has_dictionary(data_type):
        return array
    if data_type in WITHOUT_VIEWS:
        return array.cast(plain)
    if isinstance(data_type, pa.BaseExtensionType):
        return _plain(array.storage)
    if pa.types.is_run_end_encoded(data_type):
        runs = pa.array(range(len(array.values)), pa.int64())
        numbers = pa.Array.from_buffers(
            pa.run_end_encoded(data_type.run_end_type, pa.int64()),
            len(array),
            [None],
            offset=array.offset,
            children=[array.run_ends, runs],
        )
        return _plain(array.values).take(pc.run_end_decode(numbers))
    if pa.types.is_dictionary(data_type) and array.dictionary.null_count:
        array = _without_null_values(array)
    return with_children(array, [_plain(p) for p in child_arrays(array)], plain)


def _without_null_values(array: pa.DictionaryArray) -> pa.DictionaryArray:
    """Move a dictionary array's nulls to the indices: pyarrow cannot unify dictionaries that contain nulls."""
    valid = array.dictionary.is_valid()
    places = pc.subtract(pc.cumulative_sum(valid.cast(pa.int64())), 1)
    places = pc.if_else(valid, places, pa.scalar(None, pa.int64()))
    indices = places.take(array.indices).cast(array.indices.type)
    return pa.DictionaryArray.from_arrays(indices, array.dictionary.filter(valid), ordered=array.type.ordered)


def has_dictionary(data_type: pa.DataType) -> bool:
    """Whether a type is a dictionary, or has one within.

    Parameters
    ----------
    data_type
        The type.

    Returns
    -------
    bool
        Whether it does.
    """
    return pa.types.is_dictionary(data_type) or any(map(has_dictionary, _part_types(data_type)))


def _as_type(array: pa.Array, data_type: pa.DataType) -> pa.Array:
    """Convert an array of a plain type back to its original type."""
    if array.type == data_type:
        return array
    if data_type in WITHOUT_VIEWS:
        return with_buffers(array.cast(data_type))
    if isinstance(data_type, pa.BaseExtensionType):
        return data_type.wrap_array(_as_type(array, data_type.storage_type))
    if pa.types.is_run_end_encoded(data_type):
        return _with_runs(array, data_type)
    parts = [_as_type(p, t) for p, t in zip(child_arrays(array), _part_types(data_type), strict=True)]
    return with_children(array, parts, data_type)


def _with_runs(array: pa.Array, data_type: pa.DataType) -> pa.Array:
    try:
        made = pc.run_end_encode(array, run_end_type=data_type.run_end_type)
        ends, values = made.run_ends, made.values
    except pa.ArrowNotImplementedError:  # each value is a run
        ends, values = pa.array(range(1, len(array) + 1), data_type.run_end_type), array
    children = [ends, _as_type(values, data_type.value_type)]
    return pa.Array.from_buffers(data_type, len(array), [None], children=children)


def _part_types(data_type: pa.DataType) -> list[pa.DataType]:
    if pa.types.is_dictionary(data_type):
        return [data_type.value_type]
    return [data_type.field(i).type for i in range(data_type.num_fields)]
