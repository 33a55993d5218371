//! A key of an external sort.

use arrow_array::RecordBatch;

use crate::sort::sort_column::SortColumn;

/// A column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// Its number in the schema.
    pub column: usize,
    /// Greatest first.
    pub descending: bool,
    /// Nulls before all values, whatever the direction.
    pub nulls_first: bool,
}

impl SortKey {
    /// The batch's column.
    #[cfg(feature = "spill")]
    pub(crate) fn over(self, batch: &RecordBatch) -> SortColumn {
        let Self { column, descending, nulls_first } = self;
        SortColumn { values: batch.column(column).clone(), descending, nulls_first }
    }
}
