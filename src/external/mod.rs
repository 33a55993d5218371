//! More rows than memory: sorted runs in spill files, and their merge.

pub mod external_sort;
pub(crate) mod merge;
pub mod sort_key;
pub(crate) mod sorted_run;
pub(crate) mod spill_file;
pub mod spilled_batches;
