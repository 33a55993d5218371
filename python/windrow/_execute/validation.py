"""Validates Arrow columns before anything reads them.

Arrow's C interface does not contain the lengths of buffers, and Rust and Polars assume that strings are UTF-8. So an
invalid offset or string would lead to a read outside of a buffer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .._windrow import broken_bytes, without_hidden_bytes
from ..exceptions import DataError
from .arrow_columns import as_binary_type, with_buffers, with_children
from .struct_offsets import without_offsets

__all__ = ["Checker"]


@cache
def _is_plain(data_type: pa.DataType) -> bool:
    """Whether values of a type have one size and nothing within them, so that their buffer's size says all."""
    return bool(pa.types.is_primitive(data_type) or pa.types.is_decimal(data_type))


class _BrokenError(Exception):
    """A value violates Arrow's format: its row, if known, and the reason."""

    def __init__(self, row: int | None, why: str) -> None:
        super().__init__(why)
        self.row = row


class _HiddenByNullError(Exception):
    """The only invalid values are under a null parent."""


class Checker:
    """Validates columns batch by batch; shared dictionaries, and columns read by several calls, only once."""

    def __init__(self) -> None:
        #: By name, whether text was looked at, and whether nulls were refused: the column, and what it was made.
        self._columns: dict[tuple[str, bool, bool], tuple[Any, Any]] = {}
        self._dictionaries: dict[tuple[Any, ...], tuple[pa.Array, pa.Array]] = {}
        self._text = True
        #: The number of rows of the batches before.
        self.rows = 0

    def end_batch(self, rows: int) -> None:
        """Forget a batch's columns, but keep its dictionaries: the next batch may share them."""
        self._columns.clear()
        self.rows += rows

    def validated(self, column: Any, name: str, *, nullable: bool = True, text: bool = True) -> Any:
        """Check that offsets, views, indices and run ends are within bounds, and that strings are UTF-8.

        Parameters
        ----------
        column
            The column, a pyarrow.Array or pyarrow.ChunkedArray.
        name
            Its name.
        nullable
            Whether it may have nulls.
        text
            Whether text must be UTF-8, as for all that is read. What passes through may be any bytes, as in Spark.

        Returns
        -------
        pyarrow.Array or pyarrow.ChunkedArray
            The column, made anew only where nulls hide text that is not UTF-8.

        Raises
        ------
        DataError
            It is broken; the message names the row.
        """
        for looked_at_text, may_be_null in {(text, nullable), (True, nullable), (text, False), (True, False)}:
            seen = self._columns.get((name, looked_at_text, may_be_null))
            if seen is not None and seen[0] is column:
                return seen[1]
        self._text = text
        is_chunked = isinstance(column, pa.ChunkedArray)
        chunks = column.chunks if is_chunked else [column]
        made, begin = [], self.rows
        for chunk in chunks:
            made.append(self._chunk(chunk, name, nullable, begin))
            begin += len(chunk)
        same = all(a is b for a, b in zip(made, chunks, strict=True))
        result = column if same else pa.chunked_array(made, type=column.type) if is_chunked else made[0]
        self._columns[name, text, nullable] = (column, result)
        return result

    def _chunk(self, chunk: pa.Array, name: str, nullable: bool, begin: int) -> pa.Array:
        try:
            if nullable and len(chunk) and _is_plain(chunk.type):
                chunk.validate()
                return chunk
            try:
                made = self._validate_buffers(chunk, (name,))
            except _HiddenByNullError:
                # values under nulls are not copied
                made = self._validate_buffers(_copy_without_hidden(chunk), (name,))
            if not nullable:
                _refuse_nulls(chunk, None)
        except (pa.ArrowException, _BrokenError, _HiddenByNullError) as error:
            row = getattr(error, "row", None)
            at = "" if row is None else f" at row {begin + row}"
            why = str(error) or "what a null hides is not UTF-8, or lies outside of its buffer"
            raise DataError(
                f"column {name!r} is broken{at}: {why}; whatever made this {chunk.type} column wrote wrong Arrow data"
            ) from None
        return without_offsets(with_buffers(made))

    def _validate_buffers(self, array: pa.Array, path: tuple[Any, ...]) -> pa.Array:
        """Validate an array, and of its children only the part that it refers to: batches are slices of one column."""
        data_type = array.type
        if not len(array):
            array.validate()  # which has no buffers, perhaps
        elif isinstance(data_type, pa.BaseExtensionType):
            self._require_unchanged(array.storage, path)
        elif pa.types.is_struct(data_type):
            array.validate()
            for number in range(data_type.num_fields):
                field = array.field(number)
                self._validate_children(array, field, (*path, number), lambda row: row)
                if not data_type.field(number).nullable:
                    _refuse_nulls(field, array, data_type.field(number).name)
        elif pa.types.is_list(data_type) or pa.types.is_large_list(data_type) or pa.types.is_map(data_type):
            self._list(array, path)
        elif pa.types.is_list_view(data_type) or pa.types.is_large_list_view(data_type):
            return self._list_view(array, path)
        elif pa.types.is_fixed_size_list(data_type):
            array.validate()
            size = data_type.list_size
            values = array.values.slice(array.offset * size, len(array) * size)
            self._validate_children(array, values, (*path, 0), lambda row: row // size)
        elif pa.types.is_dictionary(data_type):
            return self._dictionary(array, path)
        elif pa.types.is_union(data_type):
            self._validate_all(array)
            self._union(array, path)
        elif pa.types.is_run_end_encoded(data_type):
            ends, offset = array.run_ends, array.offset
            # the runs alone: Arrow says of the values' faults where they are among these
            runs = [ends, pa.nulls(len(array.values))]
            runs_only = pa.run_end_encoded(data_type.run_end_type, pa.null())
            pa.Array.from_buffers(runs_only, len(array), [None], offset=offset, children=runs).validate(full=True)
            begin, count = array.find_physical_offset(), array.find_physical_length()
            shown = array.values.slice(begin, count)
            made = self._validate_children(  # run ends have no nulls but those of their values
                None,
                shown,
                (*path, 0),
                lambda run: ends[begin + run - 1].as_py() - offset if run else 0,
                can_rebuild=True,
            )
            if made is not shown:
                values = pa.concat_arrays([array.values.slice(0, begin), made, array.values.slice(begin + count)])
                return with_children(array, [values])
        elif as_binary_type(data_type) is not data_type or pa.types.is_binary_view(data_type) or _is_binary(data_type):
            return self._bytes(array)
        else:
            array.validate()
        return array

    def _require_unchanged(self, array: pa.Array, path: tuple[Any, ...]) -> None:
        if self._validate_buffers(array, path) is not array:
            raise _HiddenByNullError

    def _validate_children(
        self,
        parent: pa.Array | None,
        values: pa.Array,
        path: tuple[Any, ...],
        parent_row: Callable[[int], int | None],
        *,
        can_rebuild: bool = False,
    ) -> pa.Array:
        """Validate the child values of an array; an error names the row of ``parent`` that shows the broken value.

        Returns the values, which may be a copy only if ``can_rebuild``.
        """
        try:
            made = self._validate_buffers(values, path)
            if made is not values and not can_rebuild:
                raise _HiddenByNullError
            return made
        except _BrokenError as error:
            row = None if error.row is None else parent_row(error.row)
            if error.row is not None and (row is None or not _is_valid(parent, row)):
                raise _HiddenByNullError from None
            raise _BrokenError(row, str(error)) from None

    def _bytes(self, array: pa.Array) -> pa.Array:
        data_type = array.type
        plain = with_buffers(array).view(as_binary_type(data_type))
        _validate(plain)
        fault = broken_bytes(plain, self._text and plain.type is not data_type and plain.type != data_type)
        if fault is None:
            return array
        row, why = fault
        if row is not None:
            raise _BrokenError(row, why)
        return pa.array(without_hidden_bytes(plain)).view(data_type)

    def _list(self, array: pa.Array, path: tuple[Any, ...]) -> None:
        array.validate()
        offsets = array.offsets
        first, last = offsets[0].as_py(), offsets[len(array)].as_py()
        goes_up = pc.less_equal(offsets.slice(0, len(array)), offsets.slice(1))
        inside = pc.and_(pc.greater_equal(offsets, 0), pc.less_equal(offsets, len(array.values)))
        ordered = pc.and_(goes_up, pc.and_(inside.slice(0, len(array)), inside.slice(1)))
        if not pc.all(ordered, min_count=0).as_py():
            raise _BrokenError(pc.index(ordered, False).as_py(), "its offsets go back, or lie outside of the values")
        self._validate_children(
            array,
            array.values.slice(first, last - first),
            (*path, 0),
            lambda row: bisect_right(range(len(array) + 1), first + row, key=lambda i: offsets[i].as_py()) - 1,
        )
        item = array.type.value_field if not pa.types.is_map(array.type) else None
        if item is not None and not item.nullable:
            values = array.flatten()
            if _has_nulls(values):
                row = pc.list_parent_indices(array).filter(pc.is_null(values))[0].as_py()
                raise _BrokenError(row, f"{item.name!r} was declared to have no nulls, and has one")

    def _list_view(self, array: pa.Array, path: tuple[Any, ...]) -> pa.Array:
        begins, sizes = array.offsets.cast(pa.int64()), array.sizes.cast(pa.int64())
        ends = pc.add_checked(begins, sizes)
        outside = pc.or_(pc.less(pc.min_element_wise(begins, sizes), 0), pc.greater(ends, len(array.values)))
        if pc.any(outside).as_py():
            raise _BrokenError(pc.index(outside, True).as_py(), "its list lies outside of the values")
        least, most = pc.min(begins).as_py(), pc.max(ends).as_py()

        def parent_row(value: int) -> int | None:
            shows = pc.and_(pc.less_equal(begins, least + value), pc.greater(ends, least + value))
            return _first_index(pc.and_(shows, array.is_valid()), True)

        shown = array.values.slice(least, most - least)
        made = self._validate_children(array, shown, (*path, 0), parent_row, can_rebuild=True)
        if made is shown:
            return array
        values = pa.concat_arrays([array.values.slice(0, least), made, array.values.slice(most)])
        return with_children(array, [values])

    def _dictionary(self, array: pa.Array, path: tuple[Any, ...]) -> pa.Array:
        array.validate()
        indices, values = array.indices, array.dictionary
        range_ = pc.min_max(indices).as_py()
        if range_["min"] is not None and not 0 <= range_["min"] <= range_["max"] < len(values):
            outside = pc.or_(pc.less(indices, 0), pc.greater_equal(indices, len(values)))
            raise _BrokenError(_first_index(outside, True), "its index lies outside of the dictionary")
        key = (*path, self._text)
        known = self._dictionaries.get(key)
        if known is None or not _same_buffers(known[0], values):
            try:
                known = (values, self._validate_buffers(values, (*path, 0)))
            except _BrokenError as error:
                row = None if error.row is None else _first_index(indices, error.row)
                where = "" if row is not None or error.row is None else f"value {error.row} of its dictionary: "
                raise _BrokenError(row, f"{where}{error}") from None
            self._dictionaries[key] = known
        if known[1] is known[0]:
            return array
        return with_children(array, [known[1]])

    def _union(self, array: pa.Array, path: tuple[Any, ...]) -> None:
        is_dense = array.type.mode == "dense"
        # the array's own methods give those of the array that it is a slice of
        codes, *offsets = (
            pa.Array.from_buffers(data_type, len(array), [None, buffer], offset=array.offset)
            for data_type, buffer in zip((pa.int8(), pa.int32()), array.buffers()[1 : 2 + is_dense], strict=False)
        )
        for number, code in enumerate(array.type.type_codes):

            def parent_row(value: int, code: int = code) -> int | None:
                of_code = pc.equal(codes, code)
                if not is_dense:
                    return value if of_code[value].as_py() else None
                return _first_index(pc.and_(of_code, pc.equal(offsets[0], value)), True)

            self._validate_children(array, array.field(number), (*path, number), parent_row)

    def _validate_all(self, array: pa.Array) -> None:
        """Validate all but strings with Arrow, which does not report the rows of invalid strings."""
        _validate(array.view(as_binary_type(array.type)), full=True)


def _validate(array: pa.Array, *, full: bool = False) -> None:
    """Validate an array with Arrow, and find the row of an error."""
    try:
        array.validate(full=full)
    except pa.ArrowException as error:
        for row in range(len(array)):
            try:
                array.slice(row, 1).validate(full=full)
            except pa.ArrowException:
                raise _BrokenError(row, str(error)) from None
        raise


def _copy_without_hidden(array: pa.Array) -> pa.Array:
    """Copy an array, without the values under nulls."""
    try:
        return array.take(pa.array(range(len(array)), pa.int64()))
    except pa.ArrowNotImplementedError:
        raise _HiddenByNullError from None


def _is_binary(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_binary(data_type) or pa.types.is_large_binary(data_type))


def _is_valid(array: pa.Array | None, row: int) -> bool:
    """Whether a row is not null; does not make a scalar, which would read an invalid value."""
    return array is None or bool(pc.is_valid(array.slice(row, 1))[0].as_py())


def _first_index(values: pa.Array, value: Any) -> int | None:
    index: int = pc.index(values, value).as_py()
    return None if index < 0 else index


def _same_buffers(one: pa.Array, other: pa.Array) -> bool:
    """Whether two arrays have the same buffers."""
    if one is other:
        return True
    if (len(one), one.offset, one.type) != (len(other), other.offset, other.type):
        return False
    ours, theirs = one.buffers(), other.buffers()
    return [b and b.address for b in ours] == [b and b.address for b in theirs]


def _has_nulls(array: pa.Array) -> bool:
    data_type = array.type
    indirect = (
        pa.types.is_dictionary(data_type) or pa.types.is_union(data_type) or pa.types.is_run_end_encoded(data_type)
    )
    return bool(array.null_count) or (indirect and bool(pc.any(pc.is_null(array)).as_py()))


def _refuse_nulls(array: pa.Array, parent: pa.Array | None, name: str | None = None) -> None:
    """Refuse nulls that are not under a null parent."""
    if not _has_nulls(array):
        return
    nulls = pc.is_null(array)
    if parent is not None:
        nulls = pc.and_(nulls, parent.is_valid())
    row = _first_index(nulls, True)
    if row is not None:
        what = "it" if name is None else repr(name)
        raise _BrokenError(row, f"{what} was declared to have no nulls, and has one")
