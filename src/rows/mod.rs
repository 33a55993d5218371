//! Rows: from batches to sorted rows with their edges.
//!
//! One order of values serves sorting, grouping, partition edges and peers, and it is Spark's: nulls are equal
//! and their place is the key's, -0.0 equals 0.0, all NaNs are equal and greater than every number, text and
//! bytes compare byte by byte, decimals and dictionary keys by value, lists, structs and fixed size lists element
//! by element with nested nulls smallest; descending is the exact reverse. `keys.rs` is where that order is written.

pub mod external;
pub(crate) mod held;
pub(crate) mod merge;
pub(crate) mod spill;
