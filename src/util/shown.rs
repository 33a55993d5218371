//! What a slice shows of the buffers that it shares with others: its bytes, and a copy of those alone.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, GenericListViewArray, OffsetSizeTrait, UInt64Array};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;
use arrow_select::take::take;

use crate::error::Result;

/// The bytes of a column's own rows; text that views show elsewhere, and a dictionary, count as Arrow counts them.
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

fn list_size<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> usize {
    let offsets = lists.value_offsets();
    let (first, last) = (offsets[0].as_usize(), offsets[lists.len()].as_usize());
    size_of_val(offsets) + slice_size(&lists.values().slice(first, last - first))
}

fn list_view_size<O: OffsetSizeTrait>(lists: &GenericListViewArray<O>) -> usize {
    let values = lists.values();
    let shown = visible_sizes(lists).sum::<usize>().min(values.len());
    // A share of all values: those shown may lie anywhere among them.
    let share = slice_size(values) as u128 * shown as u128 / values.len().max(1) as u128;
    2 * lists.len() * size_of::<O>() + share as usize
}

/// The lists' lengths, which are 0 where they are null, whatever their slots say.
fn visible_sizes<O: OffsetSizeTrait>(lists: &GenericListViewArray<O>) -> impl Iterator<Item = usize> {
    lists.sizes().iter().enumerate().map(|(row, size)| if lists.is_valid(row) { size.as_usize() } else { 0 })
}

/// The slice without values of rows that it does not show: views keep those of their whole batch alive, and batch by
/// batch they would add up. Other types are given back as they are.
///
/// # Errors
/// Values that cannot be taken.
pub(crate) fn compact(slice: &ArrayRef) -> Result<ArrayRef> {
    Ok(match slice.data_type() {
        DataType::Utf8View => Arc::new(slice.as_string_view().gc()),
        DataType::BinaryView => Arc::new(slice.as_binary_view().gc()),
        DataType::ListView(_) => return compact_lists::<i32>(slice),
        DataType::LargeListView(_) => return compact_lists::<i64>(slice),
        _ => slice.clone(),
    })
}

/// List views that share more than they hide stay as they are.
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
