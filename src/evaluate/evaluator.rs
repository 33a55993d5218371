//! The interface of every strategy and function: an evaluator of one call over one section.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use crate::bounds::block::Bounds;
use crate::bounds::exclude::SubRanges;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::model::carry::Carry;
use crate::model::group_ids::RowGroups;
use crate::sort::sort_column::SortColumn;
use crate::util::cancel::Cancel;
use crate::util::threads::Threads;

/// Frames are resolved and evaluated in blocks of this many, so that their bounds stay in the first-level cache.
pub(crate) const FRAMES_PER_BLOCK: usize = 1024;

/// Evaluates one call over one section.
///
/// `evaluate` is a pure function of the rows: any rows, in any order, on any thread, give the same results.
pub trait Evaluator: Send + Sync {
    /// The results of `rows`, one each, as a column of the call's type.
    ///
    /// # Errors
    /// A result that does not fit its type, a value that cannot be converted, or cancellation.
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef>;

    /// Checks before evaluation that the results of all of `rows` together fit their type and the available memory;
    /// they are then computed piece by piece.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn check_size(&self, _frames: &Frames, _rows: &Range<usize>, _threads: &Threads) -> Result<()> {
        Ok(())
    }

    /// The state of the rows that `state` covers followed by `rows`, which lie in one partition.
    ///
    /// Called only where the plan allows a state to replace the rows before a section.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch>;

    /// The state of the rows of `left` followed by those of `right`, both from `save_state`; a peer group begins with
    /// `right`.
    ///
    /// Called only where the plan allows the states of sections to be merged.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn merge_states(&self, _left: &RecordBatch, _right: &RecordBatch) -> Result<RecordBatch> {
        Err(Error::internal("the states of this call cannot be joined"))
    }

    /// One result for each group of rows, if the call has one result per partition and accepts rows in input order;
    /// `None` otherwise. The sort columns give the order of a group's rows; the section's boundaries are ignored.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn evaluate_groups(&self, _: &RowGroups, _: &[SortColumn], _: &Threads) -> Result<Option<ArrayRef>> {
        Ok(None)
    }

    /// The first row whose result may still change when more rows of an open section's last partition arrive.
    fn first_unsettled(&self, frames: &Frames) -> usize {
        frames.first_unsettled()
    }

    /// The first row to keep once the rows before `answered` are evaluated; no later frame needs rows before it, or the
    /// carry covers them.
    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        frames.first_needed(answered)
    }
}

/// Calls `f` with each of `rows` and the ranges of its frame, in row order.
///
/// # Errors
/// Cancellation, bounds that cannot be resolved, the first error of `f`.
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
/// Cancellation, bounds that cannot be resolved, the first error of `f`.
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
