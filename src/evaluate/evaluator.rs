//! What every strategy and every function implements: an evaluator of one call over one section.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use crate::bounds::block::Bounds;
use crate::bounds::exclude::SubRanges;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::model::carry::Carry;
use crate::model::group_ids::RowGroups;
use crate::sort::sort_column::SortColumn;
use crate::spec::strategy::Strategy;
use crate::util::cancel::Cancel;
use crate::util::threads::Threads;

/// Frames are filled and answered so many at a time: their bounds stay in the first-level cache.
pub(crate) const FRAMES_PER_BLOCK: usize = 1024;

/// Computes one call over one section.
///
/// `evaluate` is pure in its rows: any rows, in any order, on any thread, give the same answers.
pub trait Evaluator: Send + Sync {
    /// The results of `rows`, one each, as a column of the call's type.
    ///
    /// # Errors
    /// A result that does not fit its type, a value that cannot be read, or cancellation.
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef>;

    /// Refuses results of all of `rows` that cannot fit their type or the memory there is, before any is made; they are then
    /// asked for piece by piece.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn check_size(&self, _frames: &Frames, _rows: &Range<usize>, _threads: &Threads) -> Result<()> {
        Ok(())
    }

    /// What `rows`, which lie in one partition, appended to the right of what `state` covers came to.
    ///
    /// Called only where the plan says that a state stands for the rows before a section.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch>;

    /// What the rows of `left` and then those of `right` came to, both by `save_state`; a peer group begins with `right`.
    ///
    /// Called only where the plan says that states of sections can be joined.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn merge_states(&self, _left: &RecordBatch, _right: &RecordBatch) -> Result<RecordBatch> {
        Err(Error::internal("the states of this call cannot be joined"))
    }

    /// One answer for each group of rows, whose order the sort columns say, if this is a call with one answer per partition
    /// that takes its rows as they come; `None` otherwise. The section's edges play no part.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn evaluate_groups(&self, _: &RowGroups, _: &[SortColumn], _: &Threads) -> Result<Option<ArrayRef>> {
        Ok(None)
    }

    /// The first row whose answer may still change when more rows of an open section's last partition come.
    fn first_unsettled(&self, frames: &Frames) -> usize {
        frames.first_unsettled()
    }

    /// The first row that must stay once the rows before `answered` have been answered; rows before it are
    /// needed by no later frame, or are covered by the carry.
    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        frames.first_needed(answered)
    }
}

/// Calls `f` with each of `rows` and the pieces of its frame, in row order.
///
/// # Errors
/// Cancellation, bounds that cannot be found, the first error of `f`.
pub(crate) fn for_each_frame(
    frames: &Frames,
    rows: Range<usize>,
    cancel: &Cancel,
    mut f: impl FnMut(usize, SubRanges) -> Result<()>,
) -> Result<()> {
    for_each_block(frames, rows, cancel, &mut |bounds| {
        bounds.rows.clone().try_for_each(|row| f(row, bounds.sub_ranges(row)))
    })
}

/// Calls `f` with each block of frames of `rows`, in row order. Not generic, so that it is compiled once.
///
/// # Errors
/// Cancellation, bounds that cannot be found, the first error of `f`.
pub(crate) fn for_each_block(
    frames: &Frames,
    rows: Range<usize>,
    cancel: &Cancel,
    f: &mut dyn FnMut(&Bounds) -> Result<()>,
) -> Result<()> {
    let mut bounds = Bounds::default();
    let mut block = rows.start..rows.start;
    while block.end < rows.end {
        cancel.check()?;
        block = block.end..rows.end.min(block.end + FRAMES_PER_BLOCK);
        frames.fill(block.clone(), &mut bounds)?;
        f(&bounds)?;
    }
    Ok(())
}

/// What decides how an evaluator visits the frames of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameTraits {
    /// The strategy that the plan chose.
    pub(crate) strategy: Strategy,
    /// Neither end of a frame moves back from one row to the next.
    pub(crate) monotone: bool,
}
