//! An order key, resolved against a schema.

use arrow_schema::{DataType, SortOptions};

/// An order key, resolved against the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderColumn {
    /// The column's number in [`crate::model::section::Section::columns`].
    pub number: usize,
    /// Its type.
    pub data_type: DataType,
    /// The direction, and whether nulls come before all values, independent of the direction.
    pub options: SortOptions,
    /// Its name, for messages.
    pub name: String,
}
