//! A sort key of batches.

use arrow_schema::SortOptions;

/// A column to sort by: a key of [`ExternalSort`](crate::ExternalSort), or of the order in which a stream's input must
/// be sorted.
///
/// ```
/// use windrow::SortKey;
/// use windrow::arrow_schema::SortOptions;
/// let latest_first = SortKey { column: 1, options: SortOptions::default().desc() };
/// assert!(latest_first.options.descending);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// The column's index in the schema.
    pub column: usize,
    /// The direction, and whether nulls come before all values, independent of the direction.
    pub options: SortOptions,
}
