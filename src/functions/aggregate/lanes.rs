//! Constants for splitting float sums into independent lanes.

/// Values per block; they are read twice while in the first-level cache.
pub(crate) const VALUES_PER_BLOCK: usize = 64;

/// Sums per block, so that additions do not depend on each other.
pub(crate) const SUM_LANES: usize = 4;
