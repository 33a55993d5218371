//! Rows in a new order, and results back in the old one.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;

use crate::error::{Error, Result};
use crate::evaluate::Cancel;

/// Each column with its rows in the order of the row numbers `order`.
///
/// # Errors
/// Text or bytes that outgrow their offsets; cancellation.
pub fn gather(
    columns: &[ArrayRef],
    order: &[u32],
    _threads: usize,
    cancel: &Cancel,
) -> Result<Vec<ArrayRef>> {
    let indices = UInt32Array::from(order.to_vec());
    columns
        .iter()
        .map(|column| {
            cancel.check()?;
            Ok(take(column.as_ref(), &indices, None)?)
        })
        .collect()
}

/// A column in the order of the row numbers `order`, back in the order of the rows: the inverse of [`gather`].
///
/// # Errors
/// An order of another length than the column.
pub fn restore(column: &ArrayRef, order: &[u32]) -> Result<ArrayRef> {
    if column.len() != order.len() {
        return Err(Error::internal(format!(
            "a result of {} rows for {} rows",
            column.len(),
            order.len()
        )));
    }
    let mut inverse = vec![0; order.len()];
    for (position, &row) in order.iter().enumerate() {
        inverse[row as usize] = position as u32;
    }
    Ok(take(column.as_ref(), &UInt32Array::from(inverse), None)?)
}
