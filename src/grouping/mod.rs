//! The grouping of rows by equal keys, without a sort.

pub(crate) mod assign;
pub(crate) mod cluster;
pub(crate) mod first_last;
