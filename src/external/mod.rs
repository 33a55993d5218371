//! More rows than fit in memory, in spill files: sorted runs and their merge, or parts by a hash of the keys.

#[cfg(feature = "spill")]
pub(crate) mod external_sort;
#[cfg(feature = "spill")]
pub(crate) mod hash_partitions;
#[cfg(feature = "spill")]
pub(crate) mod merge;
#[cfg(feature = "spill")]
pub(crate) mod run_cursor;
pub(crate) mod sort_key;
#[cfg(feature = "spill")]
pub(crate) mod sorted_run;
#[cfg(feature = "spill")]
pub(crate) mod spill_file;
#[cfg(feature = "spill")]
pub(crate) mod spilled_batches;
