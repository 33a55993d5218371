//! What is known of some frames that are answered together.

use crate::bounds::block::FrameRuns;
use crate::util::simd::with_widest_vectors;

/// So many frames are worth to be answered together, and their states stay in the first-level cache.
pub(super) const MAX_FRAMES: usize = 128;

/// Room for the states of some frames that are answered together.
#[derive(Debug)]
pub(super) struct StateBuffer<S> {
    /// The states of their rows.
    pub(super) states: Vec<S>,
    /// All bits for each row whose state goes on from the row before, none where it begins anew.
    ///
    /// Written down first, since compilers that know where bits come from make branches of them.
    pub(super) kept: Vec<u64>,
}

impl<S> StateBuffer<S> {
    pub(super) fn new() -> Self {
        Self { states: Vec::new(), kept: Vec::new() }
    }

    /// Notes which of the frames are of more than one row.
    pub(super) fn mark_long_runs(&mut self, FrameRuns { begin, end }: FrameRuns) {
        let kept = &mut self.kept;
        kept.clear();
        with_widest_vectors(
            #[inline(always)]
            || kept.extend(begin.iter().zip(end).map(|(begin, end)| if begin + 1 == *end { 0 } else { u64::MAX })),
        );
    }
}
