//! Rows of equal keys made neighbours, when no order is asked for.

use arrow_array::ArrayRef;

use super::sort::{SortColumn, sort};
use crate::error::Result;
use crate::evaluate::Cancel;

/// The row numbers with rows of equal `columns` side by side, in input order within; `None` if they are already.
///
/// # Errors
/// As [`sort`].
pub fn group(columns: &[ArrayRef], threads: usize, cancel: &Cancel) -> Result<Option<Vec<u32>>> {
    let columns: Vec<_> = columns.iter().cloned().map(SortColumn::ascending).collect();
    sort(&columns, threads, cancel)
}
