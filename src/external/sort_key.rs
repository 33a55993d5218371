//! A key of a sort of batches.

use arrow_schema::SortOptions;

/// A column to sort by: a key of [`ExternalSort`](crate::ExternalSort), or one of those that a stream's input must be
/// sorted by.
///
/// ```
/// use windrow::SortKey;
/// use windrow::arrow_schema::SortOptions;
/// let latest_first = SortKey { column: 1, options: SortOptions::default().desc() };
/// assert!(latest_first.options.descending);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// Its number in the schema.
    pub column: usize,
    /// The direction, and whether nulls stand before all values, whatever the direction.
    pub options: SortOptions,
}
