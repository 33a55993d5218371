//! Columns of fixed width as bytes, and the reverse.

use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;

use crate::error::Result;

/// The values of a column of this width, aligned.
pub(crate) fn fixed_width_values(column: &ArrayRef, width: usize) -> Buffer {
    let data = column.to_data();
    let values = data.buffers()[0].slice_with_length(data.offset() * width, data.len() * width);
    // The buffer may be aligned to four bytes only, as for intervals, while `AtomicCell` reads 8-byte integers.
    let aligned = values.as_ptr().align_offset(width.min(size_of::<u64>())) == 0;
    if aligned { values } else { Buffer::from_slice_ref(values.as_slice()) }
}

/// A column of fixed width from the bytes of its values.
pub(crate) fn fixed_width_column(
    data_type: &DataType,
    rows: usize,
    values: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let data = ArrayData::builder(data_type.clone()).len(rows).add_buffer(values).nulls(nulls);
    Ok(make_array(data.align_buffers(true).build()?))
}
