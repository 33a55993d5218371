//! The grouping of rows by equal keys, without a sort.

pub(crate) mod assign;
pub mod cluster;
pub(crate) mod first_last;
