//! Refold: folds frames from left to right into one state, using `update` only.
//!
//! ```text
//!   last frame    [======]            the state so far
//!   growing       [======]==>         append the rows that enter
//!   another            [=======]      fold from the first row again
//! ```
//!
//! For states that do not merge, and for frames whose rows are read in an argument order, where merging states would
//! put rows in the wrong order. The fold starts from the carry. Cost: O(1) updates per row for frames that only grow or
//! are equal; W for any other frame of W rows, and O(W log W) comparisons with an argument order. Memory: one state,
//! and 4 bytes per row with an argument order.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use super::evaluator::{Evaluator, for_each_frame};
use super::fold::{append_saved, merge_saved};
use crate::bounds::exclude::SubRanges;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::model::aggregate::{Accumulator, Aggregate, ResultReader};
use crate::model::carry::Carry;
use crate::model::section::Section;
use crate::sort::sort_column::SortColumn;
use crate::sort::sort_to_indices::sort;
use crate::util::cancel::Cancel;

/// An aggregate evaluated by updates only.
#[derive(Debug)]
pub(crate) struct Refold<A> {
    aggregate: A,
    /// Rows are read in an argument order.
    ordered: bool,
    /// Each frame is folded from its first row, whatever the previous frame was.
    anew: bool,
    /// The position of each row in that order; `None` if it is the window's order.
    places: Option<Vec<u32>>,
    first_partition_end: usize,
    last_partition_begin: usize,
}

/// The last frame and its fold.
struct LastFold<S> {
    pieces: Vec<Range<usize>>,
    carried: bool,
    /// The largest position of its rows.
    last: Option<u32>,
    state: S,
}

impl<A: Aggregate> Refold<A> {
    /// The evaluator over `section`; each frame's rows are read in the order of the keys `order`, if there are any.
    ///
    /// # Errors
    /// A key without an order.
    pub(crate) fn new(aggregate: A, section: &Section, order: &[SortColumn]) -> Result<Self> {
        let places = match order {
            [] => None,
            order => sort(order, 1, &Cancel::default())?.map(|sorted| {
                let mut places = vec![0; sorted.len()];
                for (place, row) in (0..).zip(sorted) {
                    places[row as usize] = place;
                }
                places
            }),
        };
        let (first_partition_end, last_partition_begin) =
            (section.first_partition_end(), section.last_partition_begin());
        let ordered = !order.is_empty();
        Ok(Self { aggregate, ordered, anew: false, places, first_partition_end, last_partition_begin })
    }

    /// Folds each frame from its first row, by definition.
    #[must_use]
    pub(crate) fn naive(self) -> Self {
        Self { anew: true, ..self }
    }

    /// Appends rows to the fold; returns `false` if some of them belong before rows that are already in it.
    fn append(&self, folded: &mut LastFold<A::State>, entering: &[Range<usize>]) -> Result<bool> {
        let Some(places) = &self.places else {
            for run in entering {
                self.aggregate.accumulator().update(&mut folded.state, run.clone())?;
            }
            return Ok(true);
        };
        let mut rows: Vec<_> = entering.iter().flat_map(Clone::clone).collect();
        rows.sort_unstable_by_key(|&row| places[row]);
        let (Some(&first), Some(&last)) = (rows.first(), rows.last()) else {
            return Ok(true);
        };
        if folded.last.is_some_and(|known| known > places[first]) {
            return Ok(false);
        }
        for row in rows {
            self.aggregate.accumulator().update(&mut folded.state, row..row + 1)?;
        }
        folded.last = Some(places[last]);
        Ok(true)
    }

    /// The fold of a frame, continuing from the previous frame if that is a prefix of it.
    fn fold(
        &self,
        before: Option<LastFold<A::State>>,
        frame: SubRanges,
        carried: Option<&A::State>,
    ) -> Result<LastFold<A::State>> {
        let pieces: Vec<_> = frame.filter(|piece| !piece.is_empty()).collect();
        if let Some(mut folded) = before.filter(|folded| !self.anew && folded.carried == carried.is_some())
            && let Some(entering) = entering(&folded.pieces, &pieces)
            && self.append(&mut folded, &entering)?
        {
            folded.pieces = pieces;
            return Ok(folded);
        }
        let state = carried.cloned().unwrap_or_else(|| self.aggregate.accumulator().init());
        let mut folded = LastFold { pieces: Vec::new(), carried: carried.is_some(), last: None, state };
        self.append(&mut folded, &pieces)?;
        folded.pieces = pieces;
        Ok(folded)
    }
}

/// The ranges of `pieces` after all of `known`, if they begin with it.
fn entering(known: &[Range<usize>], pieces: &[Range<usize>]) -> Option<Vec<Range<usize>>> {
    let Some((last, first)) = known.split_last() else {
        return Some(pieces.to_vec());
    };
    let open = pieces.get(first.len())?;
    if !pieces.starts_with(first) || open.start != last.start || open.end < last.end {
        return None;
    }
    let entering = std::iter::once(last.end..open.end).chain(pieces[known.len()..].iter().cloned());
    Some(entering.filter(|piece| !piece.is_empty()).collect())
}

impl<A: Aggregate> Evaluator for Refold<A> {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let load = |state: &Option<RecordBatch>| {
            state.as_ref().map(|state| self.aggregate.accumulator().load(state)).transpose()
        };
        let (loaded, after) = (load(&carry.state)?, load(&carry.after)?);
        let mut out = self.aggregate.reader().builder(rows.len());
        let mut folded = None;
        for_each_frame(frames, rows, cancel, |row, frame| {
            let carried = loaded.as_ref().filter(|_| row < self.first_partition_end);
            let state = self.fold(folded.take(), frame, carried)?;
            match after.as_ref().filter(|_| self.last_partition_begin <= row) {
                None => self.aggregate.reader().evaluate(&state.state, &mut out)?,
                Some(after) => self
                    .aggregate
                    .reader()
                    .evaluate(&self.aggregate.accumulator().merged(&state.state, after)?, &mut out)?,
            }
            folded = Some(state);
            Ok(())
        })?;
        self.aggregate.reader().finish(out)
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        if self.ordered {
            return Err(Error::internal("no state stands for rows that are read in an order of their own"));
        }
        append_saved(self.aggregate.accumulator(), state, rows)
    }

    fn merge_states(&self, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        merge_saved(self.aggregate.accumulator(), left, right)
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        if self.ordered { frames.first_needed_without_carry(answered) } else { frames.first_needed(answered) }
    }
}
