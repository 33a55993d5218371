//! How sums of floats are split, so that their terms are added side by side.

/// Values read twice while they lie in the first-level cache.
pub(crate) const VALUES_PER_BLOCK: usize = 64;

/// Sums that a block is split over, so that additions need not wait for each other.
pub(crate) const SUM_LANES: usize = 4;
