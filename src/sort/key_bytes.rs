//! Keys as bytes: equal keys have equal bytes, in any batch.
//!
//! Floats are in normal form (no -0.0, one NaN), dictionaries and runs are decoded ([`key_order::normalise`]); the
//! bytes are those of Arrow's row format.

use arrow_array::{ArrayRef, new_empty_array};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::DataType;

use super::key_order;
use crate::error::Result;

/// Makes the bytes of keys of some types.
#[derive(Debug)]
pub(crate) struct KeyBytes(RowConverter);

impl KeyBytes {
    /// For keys of these types.
    ///
    /// # Errors
    /// A type without an order.
    pub(crate) fn new<'t>(types: impl IntoIterator<Item = &'t DataType>) -> Result<Self> {
        let field =
            |data_type| Ok(SortField::new(key_order::normalise(&new_empty_array(data_type))?.data_type().clone()));
        let fields = types.into_iter().map(field).collect::<Result<_>>()?;
        Ok(Self(RowConverter::new(fields)?))
    }

    /// The bytes of each row. There must be a key.
    ///
    /// # Errors
    /// Columns of other types.
    pub(crate) fn of(&self, keys: &[ArrayRef]) -> Result<Rows> {
        let keys = keys.iter().map(key_order::normalise).collect::<Result<Vec<_>>>()?;
        Ok(self.0.convert_columns(&keys)?)
    }
}
