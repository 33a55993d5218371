//! A buffer for the states of frames that are evaluated together.

use crate::bounds::block::FrameRuns;
use crate::util::simd::with_widest_vectors;

/// The number of frames to evaluate together: enough for it to pay, while their states stay in the first-level cache.
pub(super) const MAX_FRAMES: usize = 128;

/// A buffer for the states of frames that are evaluated together.
#[derive(Debug)]
pub(super) struct StateBuffer<S> {
    /// The states of their rows.
    pub(super) states: Vec<S>,
    /// All bits set for each row whose state continues from the row before, zero where it starts anew.
    ///
    /// Stored beforehand, because compilers that see where the bits come from turn them into branches.
    pub(super) keep_masks: Vec<u64>,
}

impl<S> StateBuffer<S> {
    pub(super) fn new() -> Self {
        Self { states: Vec::new(), keep_masks: Vec::new() }
    }

    /// Records which of the frames have more than one row.
    pub(super) fn mark_long_runs(&mut self, FrameRuns { begin, end }: FrameRuns) {
        let masks = &mut self.keep_masks;
        masks.clear();
        with_widest_vectors(
            #[inline(always)]
            || masks.extend(begin.iter().zip(end).map(|(begin, end)| if begin + 1 == *end { 0 } else { u64::MAX })),
        );
    }
}
