//! Grouping rows by equal keys.

pub(crate) mod assign;
pub(crate) mod cluster;
pub(crate) mod first_last;
pub(crate) mod top_rows;
