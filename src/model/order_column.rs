//! An order key, resolved against a schema.

use arrow_schema::DataType;

/// An order key, resolved against the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderColumn {
    /// The column's number in [`crate::model::section::Section::columns`].
    pub number: usize,
    /// Its type.
    pub data_type: DataType,
    /// Greatest first.
    pub descending: bool,
    /// Nulls before all values, whatever the direction.
    pub nulls_first: bool,
    /// Its name, for messages.
    pub name: String,
}
