"""Works around a bug of arrow-rs, which applies a parent's slice offset twice to nested structs."""

from __future__ import annotations

import pyarrow as pa

from .arrow_columns import with_children

__all__ = ["align_chunks", "without_offsets"]


def without_offsets(array: pa.Array, *, is_child: bool = False) -> pa.Array:
    """Move the offsets of structs within structs and fixed-size lists into their fields.

    Parameters
    ----------
    array
        The array.
    is_child
        Whether it is a field of a struct, or an item of fixed-size lists.

    Returns
    -------
    pyarrow.Array
        The array itself where there is nothing to move.
    """
    data_type = array.type
    if array.offset > 0 and _has_struct_in_union(data_type):
        # written and read, a slice is an array of its own
        batch = pa.record_batch([array], names=["slice"])
        return pa.ipc.read_record_batch(batch.serialize(), batch.schema).column(0)
    if not _has_struct(data_type):
        return array
    if pa.types.is_struct(data_type):
        fields = [array.field(i) for i in range(data_type.num_fields)]
        made = [without_offsets(f, is_child=True) for f in fields]
        if (not is_child or array.offset == 0) and all(a is b for a, b in zip(made, fields, strict=True)):
            return array
        return with_children(array, made)
    if pa.types.is_fixed_size_list(data_type):
        values = array.values.slice(array.offset * data_type.list_size, len(array) * data_type.list_size)
        items = without_offsets(values, is_child=True)
        if array.offset == 0 and items is values:
            return array
        nulls = array.is_null() if array.null_count else None
        return pa.FixedSizeListArray.from_arrays(items, type=data_type, mask=nulls)
    values = array.dictionary if pa.types.is_dictionary(data_type) else array.values
    items = without_offsets(values)
    return array if items is values else with_children(array, [items])


def _has_struct(data_type: pa.DataType) -> bool:
    """Whether a type contains a struct whose offset can be moved."""
    if pa.types.is_primitive(data_type):
        return False
    if pa.types.is_struct(data_type):
        return True
    if pa.types.is_dictionary(data_type):
        return _has_struct(data_type.value_type)
    if (
        pa.types.is_union(data_type)
        or pa.types.is_run_end_encoded(data_type)
        or isinstance(data_type, pa.BaseExtensionType)
    ):
        return False
    if pa.types.is_fixed_size_list(data_type) and data_type.list_size == 0:
        return False
    return any(_has_struct(data_type.field(i).type) for i in range(data_type.num_fields))


def align_chunks(table: pa.Table) -> pa.Table:
    """Split the columns of a table at the same rows, if arrow-rs would slice them wrongly.

    Parameters
    ----------
    table
        Checked columns, in pieces of any lengths.

    Returns
    -------
    pyarrow.Table
        The table itself where it has no structs, or all columns are cut alike.
    """
    if table.num_columns < 2 or not any(_has_struct(t) for t in table.schema.types):
        return table
    if len({tuple(map(len, column.chunks)) for column in table.columns}) == 1:
        return table
    batches = [
        pa.RecordBatch.from_arrays([without_offsets(c) for c in batch.columns], schema=batch.schema)
        for batch in table.to_batches()
    ]
    return pa.Table.from_batches(batches, schema=table.schema)


def _has_struct_in_union(data_type: pa.DataType, inside: bool = False) -> bool:
    """Whether a type has structs within unions, whose offset they share."""
    if isinstance(data_type, pa.BaseExtensionType) or data_type.num_fields == 0:
        return False
    if pa.types.is_struct(data_type) and inside:
        return True
    inside = inside or pa.types.is_union(data_type)
    return any(_has_struct_in_union(data_type.field(i).type, inside) for i in range(data_type.num_fields))
