//! Two stacks for narrow frames of one width that move by one row each.
//!
//! ```text
//!   rows     a b c | d e f | g h i         blocks as wide as a frame
//!   fronts   abc bc c  def ef f            from each row to the end of its block
//!   backs    -   d  de  -  g  gh           from the block's begin to each row, except for a whole block
//!   frames   abc bcd cde def efg fgh       a front merged with the back after it
//! ```
//!
//! The form of two stacks in which no row depends on the row before, as the refills are known beforehand. Cost: two
//! steps and a merge per row; memory: the states of a batch of frames. Best for narrow frames, for which the general
//! form refills once per frame, each time by an unpredictable branch. Source: van Herk, "A fast algorithm for local
//! minimum and maximum filters on rectangular and octagonal kernels" (Pattern Recognition Letters 13, 1992); Gil and
//! Werman, "Computing 2-D min, median, and max filters" (IEEE PAMI 15, 1993).

use crate::bounds::block::FrameRuns;
use crate::bounds::motion::Motion;
use crate::error::Result;
use crate::model::aggregate::{Accumulator, Aggregate, ResultReader};

/// The number of narrow frames to evaluate together: the more, the fewer rows are read twice, while their states stay
/// in the first-level cache.
pub(super) const FRAMES_PER_BATCH: usize = 256;

/// Buffers for the states of a batch of frames.
#[derive(Debug)]
pub(super) struct FixedWidthStates<S> {
    /// From a row to the end of its block.
    fronts: Vec<S>,
    /// From the block's begin to a row.
    backs: Vec<S>,
    /// Zero where a block begins, else all bits set.
    keep_masks: Vec<u64>,
}

impl<S: Clone> FixedWidthStates<S> {
    pub(super) fn new() -> Self {
        Self { fronts: Vec::new(), backs: Vec::new(), keep_masks: Vec::new() }
    }

    /// Evaluates the leading frames, if they have one width and move by one row each. Returns how many.
    #[inline(always)]
    pub(super) fn evaluate_block<A: Aggregate<State = S>>(
        &mut self,
        aggregate: &A,
        runs: FrameRuns,
        out: &mut A::Builder,
    ) -> Result<usize> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let Some((first, Motion { begin: true, end: true })) = runs.sliding() else { return Ok(0) };
        let (frames, width) = (runs.iter().len(), first.len());
        // The last block is whole: it ends where the last frame does, or before.
        let rows = frames.next_multiple_of(width);
        let Self { fronts, backs, keep_masks } = self;
        keep_masks.clear();
        keep_masks.resize(rows, u64::MAX);
        keep_masks.iter_mut().step_by(width).for_each(|keep| *keep = 0);
        fronts.resize_with(rows, || accumulator.init());
        accumulator.prepend_scan(
            &mut accumulator.init(),
            first.start..first.start + rows,
            keep_masks.iter().copied(),
            fronts,
        )?;
        backs.resize_with(frames, || accumulator.init());
        accumulator.append_scan(
            &mut accumulator.init(),
            first.end..first.end + frames - 1,
            keep_masks.iter().copied(),
            &mut backs[1..],
        )?;
        // A frame that is a whole block is its front alone.
        backs.iter_mut().step_by(width).for_each(|back| *back = accumulator.init());
        let merged = fronts.iter().zip(&*backs).map(|(front, back)| accumulator.merged(front, back));
        reader.evaluate_block(merged, out)?;
        Ok(frames)
    }
}
