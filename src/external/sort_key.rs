//! A key of an external sort.

use arrow_array::RecordBatch;
use arrow_schema::SortOptions;

use crate::sort::sort_column::SortColumn;

/// A column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// Its number in the schema.
    pub column: usize,
    /// The direction, and whether nulls stand before all values, whatever the direction.
    pub options: SortOptions,
}

impl SortKey {
    /// The batch's column.
    pub(crate) fn over(self, batch: &RecordBatch) -> SortColumn {
        let Self { column, options } = self;
        SortColumn { values: batch.column(column).clone(), options }
    }
}
