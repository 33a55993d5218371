//! Sorting more rows than fit in memory: sorted runs in spill files, and their merge.

#[cfg(feature = "spill")]
pub(crate) mod external_sort;
#[cfg(feature = "spill")]
pub(crate) mod merge;
pub(crate) mod sort_key;
#[cfg(feature = "spill")]
pub(crate) mod sorted_run;
#[cfg(feature = "spill")]
pub(crate) mod spill_file;
#[cfg(feature = "spill")]
pub(crate) mod spilled_batches;
