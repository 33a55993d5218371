"""Arrow columns: checked before they are read, in one piece, without values that nothing shows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..exceptions import DataError

__all__ = ["checked", "compact", "whole"]

# Texts are looked at as bytes: whether these are UTF-8 costs as much as all the rest, and is not asked.
_BYTES = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.string_view(): pa.binary_view(),
}


def checked(column: Any, name: str) -> Any:
    """Check that a column's offsets, views and indices lie within what they are into.

    Arrow's C interface does not say how long a buffer is: whoever takes a wrong offset from it reads what is not there.

    Parameters
    ----------
    column
        The column; a million texts cost less than a millisecond.
    name
        Its name.

    Returns
    -------
    pyarrow.Array or pyarrow.ChunkedArray
        The column.

    Raises
    ------
    DataError
        It is broken.
    """
    try:
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            _look(chunk)
    except pa.ArrowException as error:
        raise DataError(
            f"column {name!r} is broken: {error}; whatever made this {column.type} column wrote wrong Arrow data"
        ) from None
    return column


def _look(array: pa.Array) -> None:
    """Look at an array, and at no more of what it is nested in than it shows: batches are slices of one column."""
    kind = array.type
    if pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_fixed_size_binary(kind):
        array.validate()
        return
    if kind in _BYTES:
        kind = _BYTES[kind]
        array = array.view(kind)
    array.validate()
    if pa.types.is_struct(kind):
        for number in range(kind.num_fields):
            _look(array.field(number))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        offsets = array.offsets
        first, last = offsets[0].as_py(), offsets[len(array)].as_py()
        ordered = pc.all(pc.less_equal(offsets.slice(0, len(array)), offsets.slice(1)), min_count=0).as_py()
        if not (ordered and first >= 0 and last <= len(array.values)):
            raise pa.ArrowInvalid("offsets go back, or lie outside of the values")
        _look(array.values.slice(first, last - first))
    elif pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        if len(array):
            begins, ends = pc.min_max(array.offsets).as_py(), pc.max(pc.add_checked(array.offsets, array.sizes)).as_py()
            if min(begins["min"], pc.min(array.sizes).as_py()) < 0 or max(begins["max"], ends) > len(array.values):
                raise pa.ArrowInvalid("lists lie outside of the values")
            _look(array.values.slice(begins["min"], max(begins["max"], ends) - begins["min"]))
    elif pa.types.is_fixed_size_list(kind):
        _look(array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size))
    elif pa.types.is_dictionary(kind):
        places = pc.min_max(array.indices).as_py()
        if places["min"] is not None and not 0 <= places["min"] <= places["max"] < len(array.dictionary):
            raise pa.ArrowInvalid("indices lie outside of the dictionary")
        _look(array.dictionary)
    else:
        array.validate(full=True)


def whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Give a column as one array, copying only where it lies in several pieces."""
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    if column.num_chunks == 0:
        return pa.array([], type=column.type)
    return pa.concat_arrays(column.chunks)


def compact(column: pa.Array) -> pa.Array:
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
    if not pa.types.is_list_view(column.type) or len(column) == 0:
        return column
    offsets, sizes = column.offsets, column.sizes
    shown = pc.sum(sizes).as_py()
    filled = pc.greater(sizes, 0)
    begins, ends = offsets.filter(filled), pc.add(offsets, sizes).filter(filled)
    held = pc.max(ends).as_py() - pc.min(begins).as_py() if shown else 0
    if held <= shown:
        return column
    ends = pc.cumulative_sum(sizes)
    # both made anew, as from_arrays takes no two arrays that are slices from different rows on
    begins, sizes = pc.subtract(ends, sizes), pc.add(sizes, pa.scalar(0, pa.int32()))
    nulls = pc.invert(column.is_valid()) if column.null_count else None
    return pa.ListViewArray.from_arrays(begins, sizes, column.flatten(), type=column.type, mask=nulls)
