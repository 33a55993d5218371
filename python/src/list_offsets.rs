//! The offsets of lists in batches on their way to Python.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    RecordBatch, StructArray, UnionArray, downcast_run_array, new_empty_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{ArrowError, DataType};
use pyo3_arrow::PyRecordBatch;

/// A batch for Python, as `with_lists_from_zero`.
pub(crate) fn to_python_batch(batch: RecordBatch) -> windrow::Result<PyRecordBatch> {
    Ok(PyRecordBatch::new(with_lists_from_zero(batch)?))
}

/// The batch with lists and maps that begin at the first of their values. pyarrow before 21 writes others wrongly, or
/// aborts where it does.
pub(crate) fn with_lists_from_zero(batch: RecordBatch) -> windrow::Result<RecordBatch> {
    if !batch.schema_ref().fields().iter().any(|field| has_lists(field.data_type())) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(lists_from_zero).collect::<Result<_, ArrowError>>()?;
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

fn has_lists(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(_) | DataType::LargeList(_) | DataType::Map(..) => true,
        DataType::FixedSizeList(field, _)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::RunEndEncoded(_, field) => has_lists(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_lists(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_lists(field.data_type())),
        _ => false,
    }
}

fn lists_from_zero(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    if !has_lists(array.data_type()) {
        return Ok(array.clone());
    }
    Ok(match array.data_type() {
        DataType::List(_) => Arc::new(list_from_zero(array.as_list::<i32>())?),
        DataType::LargeList(_) => Arc::new(list_from_zero(array.as_list::<i64>())?),
        DataType::Map(..) => {
            let (field, offsets, entries, nulls, ordered) = array.as_map().clone().into_parts();
            let (offsets, entries) = from_zero(offsets, &(Arc::new(entries) as ArrayRef))?;
            Arc::new(MapArray::try_new(field, offsets, entries.as_struct().clone(), nulls, ordered)?)
        }
        DataType::FixedSizeList(..) => {
            let (field, size, values, nulls) = array.as_fixed_size_list().clone().into_parts();
            Arc::new(FixedSizeListArray::try_new(field, size, lists_from_zero(&values)?, nulls)?)
        }
        DataType::ListView(_) => Arc::new(view_of_lists_from_zero(array.as_list_view::<i32>())?),
        DataType::LargeListView(_) => Arc::new(view_of_lists_from_zero(array.as_list_view::<i64>())?),
        DataType::Struct(_) => {
            let (fields, columns, nulls) = array.as_struct().clone().into_parts();
            let columns = columns.iter().map(lists_from_zero).collect::<Result<_, _>>()?;
            Arc::new(StructArray::try_new(fields, columns, nulls)?)
        }
        DataType::Union(..) => {
            let (fields, type_ids, offsets, children) = array.as_union().clone().into_parts();
            let children = children.iter().map(lists_from_zero).collect::<Result<_, _>>()?;
            Arc::new(UnionArray::try_new(fields, type_ids, offsets, children)?)
        }
        // `with_values` drops the metadata of the field
        DataType::RunEndEncoded(_, field) if field.metadata().is_empty() => downcast_run_array!(
            array => Arc::new(array.with_values(lists_from_zero(array.values())?)),
            _ => array.clone(),
        ),
        _ => array.clone(),
    })
}

fn view_of_lists_from_zero<O: OffsetSizeTrait>(
    view: &GenericListViewArray<O>,
) -> Result<GenericListViewArray<O>, ArrowError> {
    let (field, offsets, sizes, values, nulls) = view.clone().into_parts();
    GenericListViewArray::try_new(field, offsets, sizes, lists_from_zero(&values)?, nulls)
}

fn list_from_zero<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Result<GenericListArray<O>, ArrowError> {
    let (field, offsets, values, nulls) = list.clone().into_parts();
    let (offsets, values) = from_zero(offsets, &values)?;
    GenericListArray::try_new(field, offsets, values, nulls)
}

/// Offsets from 0 on, and the values that they refer to.
fn from_zero<O: OffsetSizeTrait>(
    offsets: OffsetBuffer<O>,
    values: &ArrayRef,
) -> Result<(OffsetBuffer<O>, ArrayRef), ArrowError> {
    let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
    let values = if first == last {
        new_empty_array(values.data_type()) // an empty slice of text would come back without its bytes
    } else {
        lists_from_zero(&values.slice(first.as_usize(), (last - first).as_usize()))?
    };
    if first == O::zero() {
        return Ok((offsets, values));
    }
    Ok((OffsetBuffer::new(offsets.iter().map(|&offset| offset - first).collect()), values))
}
