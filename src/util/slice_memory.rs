//! The part of shared buffers that a slice refers to: its size, and a copy of it alone.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, GenericListViewArray, OffsetSizeTrait, RecordBatch, UInt64Array};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;
use arrow_select::take::take;

use crate::error::Result;

/// The size in bytes of a column's own rows. The text buffers of view types, and dictionaries, count as in Arrow.
pub(crate) fn slice_size(column: &dyn Array) -> usize {
    let nulls = column.nulls().map_or(0, |_| column.len().div_ceil(8));
    match column.data_type() {
        DataType::Struct(_) => {
            nulls + column.as_struct().columns().iter().map(|field| slice_size(field)).sum::<usize>()
        }
        DataType::List(_) => nulls + list_size(column.as_list::<i32>()),
        DataType::LargeList(_) => nulls + list_size(column.as_list::<i64>()),
        DataType::Map(..) => {
            let map = column.as_map();
            let (first, last) = (map.value_offsets()[0] as usize, map.value_offsets()[map.len()] as usize);
            nulls + size_of_val(map.value_offsets()) + slice_size(&map.entries().slice(first, last - first))
        }
        DataType::ListView(_) => nulls + list_view_size(column.as_list_view::<i32>()),
        DataType::LargeListView(_) => nulls + list_view_size(column.as_list_view::<i64>()),
        DataType::FixedSizeList(..) => nulls + slice_size(column.as_fixed_size_list().values()),
        _ => column.to_data().get_slice_memory_size().unwrap_or(0),
    }
}

/// The size in bytes of a batch's own rows.
pub(crate) fn batch_size(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|column| slice_size(column)).sum()
}

fn list_size<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> usize {
    let offsets = lists.value_offsets();
    let (first, last) = (offsets[0].as_usize(), offsets[lists.len()].as_usize());
    size_of_val(offsets) + slice_size(&lists.values().slice(first, last - first))
}

fn list_view_size<O: OffsetSizeTrait>(lists: &GenericListViewArray<O>) -> usize {
    let values = lists.values();
    let shown = visible_sizes(lists).sum::<usize>().min(values.len());
    // An estimate in proportion to the lengths: the referenced values may lie anywhere.
    let share = slice_size(values) as u128 * shown as u128 / values.len().max(1) as u128;
    2 * lists.len() * size_of::<O>() + share as usize
}

/// The lists' lengths, 0 for null lists.
fn visible_sizes<O: OffsetSizeTrait>(lists: &GenericListViewArray<O>) -> impl Iterator<Item = usize> {
    lists.sizes().iter().enumerate().map(|(row, size)| if lists.is_valid(row) { size.as_usize() } else { 0 })
}

/// A slice without the values that it does not refer to. View types keep all buffers of their batch alive, which would
/// add up over batches. Other types are returned unchanged.
///
/// # Errors
/// The values cannot be gathered.
pub(crate) fn compact(slice: &ArrayRef) -> Result<ArrayRef> {
    Ok(match slice.data_type() {
        DataType::Utf8View => Arc::new(slice.as_string_view().gc()),
        DataType::BinaryView => Arc::new(slice.as_binary_view().gc()),
        DataType::ListView(_) => return compact_lists::<i32>(slice),
        DataType::LargeListView(_) => return compact_lists::<i64>(slice),
        _ => slice.clone(),
    })
}

/// List views that refer to all of their values, or overlap, are returned unchanged.
fn compact_lists<O: OffsetSizeTrait>(slice: &ArrayRef) -> Result<ArrayRef> {
    let lists = slice.as_list_view::<O>();
    let (DataType::ListView(field) | DataType::LargeListView(field)) = lists.data_type() else {
        return Ok(slice.clone());
    };
    let shown: usize = visible_sizes(lists).sum();
    if shown >= lists.values().len() {
        return Ok(slice.clone());
    }
    let mut rows = Vec::with_capacity(shown);
    let (mut offsets, mut sizes) = (Vec::with_capacity(lists.len()), Vec::with_capacity(lists.len()));
    for (size, begin) in visible_sizes(lists).zip(lists.offsets()) {
        offsets.push(O::usize_as(rows.len()));
        sizes.push(O::usize_as(size));
        rows.extend((begin.as_usize() as u64..).take(size));
    }
    let values = take(lists.values(), &UInt64Array::from(rows), None)?;
    let (offsets, sizes) = (ScalarBuffer::from(offsets), ScalarBuffer::from(sizes));
    Ok(Arc::new(GenericListViewArray::try_new(field.clone(), offsets, sizes, values, lists.nulls().cloned())?))
}
