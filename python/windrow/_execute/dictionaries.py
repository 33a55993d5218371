"""Dictionary columns: results keep the categories of their column, in the same order.

The native module reads and returns a dictionary column as plain values, with a dictionary of its own. Therefore the
dictionaries of the input columns are recorded, and results are mapped back to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .._model.catalog import Function, function_of
from .._model.names import unused_name
from .._model.replace import replace
from .._plan.bound import BoundCall, ColumnArgument, SortKey
from ..exceptions import DataError, SpecError, shown
from .arrow_columns import WITHOUT_VIEWS, with_buffers, with_child_types, with_children
from .explained_call import ExplainedCall
from .ordered_categories import display_name, is_list, ordered_type

__all__ = ["Dictionaries"]


class Dictionaries:
    """The dictionaries of the columns from which calls take values, merged batch by batch.

    Parameters
    ----------
    schema
        The columns that the calls may read.
    calls
        The calls.
    """

    def __init__(self, schema: pa.Schema, calls: Sequence[BoundCall]) -> None:
        self._calls = calls
        #: Of each call whose results are values of a dictionary column, or lists of such: that column, by call name.
        self._sources: dict[str, str] = {}
        #: The calls whose results are positions of categories.
        self._position_results: set[str] = set()
        #: Of which column the columns of positions have them.
        self._positions: dict[str, str] = {}
        self._types = {f.name: _item(f.type) for f in schema if pa.types.is_dictionary(_item(f.type))}
        if self._types:
            self._sources = {call.name: name for call in calls if (name := _source(call, schema)) is not None}
        self._source_columns = set(self._sources.values())
        self._merged: dict[str, pa.Array] = {}

    @property
    def known(self) -> dict[str, pa.Array]:
        """The dictionaries recorded so far, by the names of their columns."""
        return dict(self._merged)

    def remember(self, known: Mapping[str, pa.Array]) -> None:
        """Record dictionaries of earlier rows.

        Parameters
        ----------
        known
            Them by the names of their columns.
        """
        self._merged.update(known)

    def observe(self, data: pa.Table | pa.RecordBatch) -> None:
        """Record the dictionaries of a batch's columns.

        Parameters
        ----------
        data
            The batch.

        Raises
        ------
        DataError
            If the dictionaries of ordered categories contradict each other.
        """
        for name in self._source_columns:
            column, ordered = data.column(name), self._types[name].ordered
            pieces = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            dictionaries = list(map(_dictionary, pieces))
            # the longest says in which order those of others are
            for dictionary in sorted(dictionaries, key=len, reverse=True) if ordered else dictionaries:
                self._merge(name, dictionary)

    def check_defaults(self) -> None:
        """Refuse a default that is not one of the ordered categories of its column.

        Raises
        ------
        SpecError
            If there is one.
        """
        for call in self._calls:
            name, function = self._sources.get(call.name), function_of(call.function)
            if name is None or function is None or not self._types[name].ordered:
                continue
            known = self._merged.get(name, [])
            for value in map(call.literal, function.positions("default")):
                if value is not None and len(known) and value not in known.to_pylist():
                    raise _unknown_category(call, value, name)

    def by_position(self, table: pa.Table) -> tuple[pa.Table, Sequence[BoundCall]]:
        """Let calls compare ordered categories by position, in columns added to the table.

        Parameters
        ----------
        table
            All rows, of which nothing need have been read.

        Returns
        -------
        tuple
            The table of the columns that the calls now read, and these calls.
        """
        if not any(t.ordered for t in self._types.values()):
            self.observe(table)
            return table, self._calls
        taken = {n.lower() for n in table.column_names}
        positions: dict[str, str] = {}

        def position(name: str) -> str:
            column_type = table.schema.field(name).type
            if not (pa.types.is_dictionary(column_type) and column_type.ordered and _can_look_up(column_type)):
                return name
            if name not in positions:
                positions[name] = unused_name(f"position of {name}", taken)
            return positions[name]

        calls = [_compare_by_position(call, position) for call in self._calls]
        self._position_results = {
            call.name
            for call, given in zip(calls, self._calls, strict=True)
            if call.name in self._sources and call.argument_column() != given.argument_column()
        }
        self._positions = {new: name for name, new in positions.items()}
        self._source_columns.update(positions)
        self.observe(table)
        if not positions:
            return table, calls
        for name, new in positions.items():
            table = table.append_column(new, self._positions_of(name, table.column(name)))
        columns_read = {n for call in calls for n in call.columns_read()}
        return table.select([n for n in table.column_names if n in columns_read]), calls

    def explained(self, rows: Iterable[ExplainedCall]) -> list[ExplainedCall]:
        """Return the plan's explanation of the calls, with the names that the user wrote.

        Parameters
        ----------
        rows
            What the plan says, one for each call.

        Returns
        -------
        list of ExplainedCall
            The same, without columns of positions.
        """

        def known(key: str) -> str:
            found = (n for n in self._positions if key == n or key.startswith(f"{n} "))
            name = next(found, None)
            return key if name is None else self._positions[name] + key[len(name) :]

        return [replace(row, order_by=list(map(known, row.order_by))) for row in rows]

    def result_fields(self, fields: Sequence[pa.Field]) -> list[pa.Field]:
        """Return the fields of the results with the types from :meth:`with_source_dictionaries`.

        Parameters
        ----------
        fields
            The fields that the native module gives, one for each call.

        Returns
        -------
        list of pyarrow.Field
            The fields.
        """
        if not self._types:
            return list(fields)
        return [f.with_type(self._type(call, f.type)) for call, f in zip(self._calls, fields, strict=True)]

    def with_source_dictionaries(self, columns: Sequence[Any]) -> list[Any]:
        """Encode results with the dictionaries of the columns from which their values come.

        Parameters
        ----------
        columns
            The results, an Array or a ChunkedArray for each call.

        Returns
        -------
        list of pyarrow.Array or pyarrow.ChunkedArray
            The results, of the types that :meth:`result_fields` gives.

        Raises
        ------
        SpecError
            For a default that is none of the ordered categories.
        DataError
            If there are more categories than the type of their indices can tell apart.
        """
        if not self._types:
            return list(columns)
        return [self._with_source_dictionary(call, c) for call, c in zip(self._calls, columns, strict=True)]

    def _type(self, call: BoundCall, given: pa.DataType) -> pa.DataType:
        """Return the type of a result, whose values may be positions of categories."""
        name = self._sources.get(call.name)
        if name is None:
            return given
        if call.name in self._position_results:
            return _with_item(given, self._types[name])
        return ordered_type(given) if self._types[name].ordered else given

    def _with_source_dictionary(self, call: BoundCall, column: Any) -> Any:
        data_type = self._type(call, column.type)
        if call.name not in self._sources or not pa.types.is_dictionary(_item(data_type)):
            return column
        if isinstance(column, pa.Array):
            return self._reindex(column, data_type, call)
        chunks = column.chunks
        for chunk in chunks[1:]:  # each may add values to the dictionary of all
            self._reindex(chunk, data_type, call)
        return pa.chunked_array([self._reindex(c, data_type, call) for c in chunks], data_type)

    def _reindex(self, array: pa.Array, data_type: pa.DataType, call: BoundCall) -> pa.Array:
        if is_list(data_type):
            return with_children(array, [self._reindex(array.values, data_type.value_type, call)], data_type)
        if not _can_look_up(data_type):
            return with_children(array, [array.dictionary], data_type)
        name = self._sources[call.name]
        indices = array if call.name in self._position_results else self._indices(array, call, name)
        known = self._merged.get(name, pa.array([], data_type.value_type))
        try:
            indices = indices.cast(data_type.index_type)
        except pa.ArrowInvalid:
            raise DataError(
                f"{call.display}: {len(known)} categories are more than {data_type.index_type} tells apart; cast the "
                "column to a dictionary of wider indices, or to text"
            ) from None
        values = with_buffers(known.cast(data_type.value_type))  # a cast to views may leave a buffer out
        return pa.DictionaryArray.from_arrays(indices, values, ordered=data_type.ordered)

    def _indices(self, array: pa.DictionaryArray, call: BoundCall, name: str) -> pa.Array:
        """Return the indices of values in the known dictionary; other values are appended to it, or are an error."""
        values = _plain(array.dictionary)
        known = self._merged.get(name, values[:0])
        if values.equals(known):
            return array.indices
        places = pc.index_in(values, value_set=known)
        unknown = pc.and_(places.is_null(), values.is_valid())
        if pc.any(unknown).as_py():
            used = pc.is_in(pa.array(range(len(values)), array.indices.type), value_set=array.indices.unique())
            missing = values.filter(pc.and_(used, unknown))
            if len(missing):
                if self._types[name].ordered:
                    raise _unknown_category(call, missing[0].as_py(), name)
                self._merged[name] = known = pa.concat_arrays([known, missing.unique()])
                places = pc.index_in(values, value_set=known)
        return places.take(array.indices)

    def _merge(self, name: str, dictionary: pa.Array) -> None:
        dictionary = _plain(dictionary)
        known = self._merged.get(name)
        if known is not None and known.equals(dictionary):
            return
        if not _can_look_up(self._types[name]):
            self._merged.setdefault(name, dictionary)
            return
        dictionary = dictionary.drop_null().unique()
        if known is None:
            self._merged[name] = dictionary
        elif self._types[name].ordered:
            longer, shorter = (dictionary, known) if len(dictionary) > len(known) else (known, dictionary)
            places = pc.index_in(shorter, value_set=longer)
            if places.null_count or pc.any(pc.less_equal(places[1:], places[:-1])).as_py():
                raise DataError(
                    f"column {name!r} has pieces with ordered categories that have no order among them: "
                    f"{shown(known.to_pylist())} and {shown(dictionary.to_pylist())}; give all of them one dictionary"
                )
            self._merged[name] = longer
        else:
            self._merged[name] = pa.concat_arrays(
                [known, dictionary.filter(pc.invert(pc.is_in(dictionary, value_set=known)))]
            )

    def _positions_of(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        known, made = self._merged.get(name), []
        for chunk in column.chunks:
            values = _plain(chunk.dictionary)
            indices = chunk.indices
            if not values.equals(known):
                indices = pc.index_in(values, value_set=known).take(indices).cast(indices.type)
            made.append(indices)
        return pa.chunked_array(made, column.type.index_type)


def _source(call: BoundCall, schema: pa.Schema) -> str | None:
    """Return the dictionary column (or column of lists of dictionary values) from which a call's results come."""
    known = function_of(call.function) if call.user is None else None
    name = call.argument_column() if known is not None and known.keeps_type else None
    index = -1 if name is None else schema.get_field_index(name)
    return name if index >= 0 and pa.types.is_dictionary(_item(schema.field(index).type)) else None


def _dictionary(array: pa.Array) -> pa.Array:
    """Return the dictionary of an array, or of the items of its lists."""
    while is_list(array.type):
        array = array.values
    return array.dictionary


def _gives_values(function: Function) -> bool:
    """Whether results are values of rows, or lists of these; not computed values such as a sum or a joined string."""
    return function.keeps_type and function.order_sensitivity == "rows" and function.within_group is None


def _compare_by_position(call: BoundCall, position: Callable[[str], str]) -> BoundCall:
    """Have a call read positions where it compares values: as keys, and as the argument that orders or is made unique.

    A RANGE frame with an offset adds to its key, which no position stands for.
    """
    known = function_of(call.function) if call.user is None else None
    compared = set() if known is None else set(known.positions("ordered"))
    if call.distinct and known is not None and _gives_values(known):  # distinct values come in their order
        compared.add(0)
    args = tuple(
        ColumnArgument(position(a.column)) if i in compared and isinstance(a, ColumnArgument) else a
        for i, a in enumerate(call.args)
    )
    frame = call.frame
    adds = frame is not None and frame.units == "range" and any(b.offset is not None for b in (frame.start, frame.end))
    return replace(
        call,
        args=args,
        order_by=call.order_by if adds else _keys(call.order_by, position),
        argument_order=_keys(call.argument_order, position),
    )


def _keys(keys: Sequence[SortKey], position: Callable[[str], str]) -> tuple[SortKey, ...]:
    return tuple(replace(k, column=position(k.column)) for k in keys)


def _can_look_up(dictionary: pa.DictionaryType) -> bool:
    """Whether pyarrow can look up values of a dictionary's type."""
    values = dictionary.value_type
    return values.num_fields == 0 and not isinstance(values, pa.BaseExtensionType) and not pa.types.is_null(values)


def _plain(values: pa.Array) -> pa.Array:
    return values.cast(WITHOUT_VIEWS.get(values.type, values.type))


def _item(data_type: pa.DataType) -> pa.DataType:
    """Return the item type of a list type, or the type itself."""
    while data_type.num_fields and is_list(data_type):
        data_type = data_type.value_type
    return data_type


def _with_item(data_type: pa.DataType, item: pa.DataType) -> pa.DataType:
    """Return a list type with another item type; for other types, the item type."""
    return with_child_types(data_type, [_with_item(data_type.value_type, item)]) if is_list(data_type) else item


def _unknown_category(call: BoundCall, value: object, name: str) -> SpecError:
    return SpecError(
        f"{call.display}: the default {shown(value)} is none of the categories of {display_name(name)}; write one of "
        "them, or add it to them first"
    )
