//! More rows than memory: sorted runs in spill files, and their merge.

pub mod sort_key;
