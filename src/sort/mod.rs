//! Sorting: from key columns to row numbers.
//!
//! One order of values, Spark's, serves sorting, grouping, partition boundaries and peers. Nulls are equal and placed
//! by the key's options; -0.0 equals 0.0; all NaNs are equal and greater than every number; strings and binary values
//! compare byte by byte; decimals and dictionaries compare by value; lists, structs and fixed-size lists compare
//! element by element with nested nulls smallest. Descending is the exact reverse. The order is defined in
//! `key_order.rs`.

pub(crate) mod adjacent;
pub(crate) mod boundaries;
pub(crate) mod key_bytes;
pub(crate) mod key_fields;
pub(crate) mod key_layout;
pub(crate) mod key_order;
pub(crate) mod normalized_key;
pub(crate) mod radix;
pub(crate) mod sort_column;
pub(crate) mod sort_to_indices;
pub(crate) mod string_key;
