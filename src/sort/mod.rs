//! Rows to their order.
//!
//! One order of values serves sorting, grouping, partition boundaries and peers, and it is Spark's: nulls are equal
//! and their place is the key's, -0.0 equals 0.0, all NaNs are equal and greater than every number, strings and
//! bytes compare byte by byte, decimals and dictionary keys by value, lists, structs and fixed size lists element
//! by element with nested nulls smallest; descending is the exact reverse. `key_order.rs` is where that order is written.

pub(crate) mod adjacent;
pub(crate) mod boundaries;
pub(crate) mod key_fields;
pub(crate) mod key_layout;
pub(crate) mod key_order;
pub(crate) mod normalized_key;
pub(crate) mod radix;
pub(crate) mod sort_column;
pub(crate) mod sort_to_indices;
pub(crate) mod string_key;
