//! States as Arrow data: writing an aggregate's state to one row and reading it back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow_buffer::{Buffer, i256};
use arrow_schema::{Field, Schema};

use crate::error::{Error, Result};

/// A number that a saved state preserves bit for bit.
pub(crate) trait SavedValue: Sized {
    /// The number as a column of one row.
    fn write(self) -> Result<ArrayRef>;
    /// The number in such a column; `None` if it has another type.
    fn read(column: &dyn Array) -> Option<Self>;
}

/// Numbers with an Arrow type of their own.
macro_rules! saved_as_primitive {
    ($($native:ty, $arrow:ty, $array:ty);*) => {$(
        impl SavedValue for $native {
            fn write(self) -> Result<ArrayRef> {
                Ok(Arc::new(<$array>::from(vec![self])))
            }

            fn read(column: &dyn Array) -> Option<Self> {
                column.as_primitive_opt::<$arrow>().map(|column| column.value(0))
            }
        }
    )*};
}

saved_as_primitive!(u64, UInt64Type, UInt64Array; i64, Int64Type, Int64Array; f64, Float64Type, Float64Array);

/// Integers that may exceed Arrow's decimals (38 and 76 digits), as little-endian bytes.
macro_rules! saved_as_bytes {
    ($($native:ty),*) => {$(
        impl SavedValue for $native {
            fn write(self) -> Result<ArrayRef> {
                let bytes = self.to_le_bytes();
                Ok(Arc::new(FixedSizeBinaryArray::try_new(bytes.len() as i32, Buffer::from(bytes.to_vec()), None)?))
            }

            fn read(column: &dyn Array) -> Option<Self> {
                let bytes = column.as_fixed_size_binary_opt()?.value(0);
                bytes.try_into().ok().map(Self::from_le_bytes)
            }
        }
    )*};
}

saved_as_bytes!(i128, i256);

/// One row of Arrow data with named columns.
pub(crate) fn saved_row<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    let fields: Vec<_> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// The column `name` of a saved state; it must have one row.
pub(crate) fn saved_column<'a>(saved: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    saved
        .column_by_name(name)
        .filter(|column| column.len() == 1)
        .ok_or_else(|| Error::internal(format!("the saved state holds no one-row column {name}")))
}

/// The number `name` of a saved state.
pub(crate) fn saved_value<S: SavedValue>(saved: &RecordBatch, name: &str) -> Result<S> {
    let column = saved_column(saved, name)?;
    (!column.is_null(0)).then(|| S::read(column)).flatten().ok_or_else(|| {
        Error::internal(format!("the saved state's {name} is not what was saved: {}", column.data_type()))
    })
}
