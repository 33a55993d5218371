//! Sweep: DISTINCT over frames that move arbitrarily, in the order of their ends.
//!
//! ```text
//!   values      a b a c b          swept up to here: only the last position of each value holds its state
//!   states      . . a c b |
//!   frame         [-------)        each value of a frame that ends here has its last position in it
//! ```
//!
//! A sweep along the partition's positions maintains a tree in which each value is stored at its last position so far.
//! A frame that ends at the current position contains each of its values there exactly once, wherever it begins.
//!
//! Cost: O(log n) merges per row of the partition and per frame, and a sort of the frames by their ends; two states per
//! position. For any mergeable state and contiguous frames; for frames that EXCLUDE splits see `sliding.rs`. Source:
//! the offline form of counting distinct values in ranges, as in R. Wesley, F. Xu, "Incremental Computation of Common
//! Windowed Holistic Aggregates" (PVLDB 9, 2016), section 4.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use super::value_codes::ValueCodes;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluator, for_each_frame};
use crate::evaluate::state_tree::StateTree;
use crate::model::aggregate::{Accumulator, Aggregate, ResultReader};
use crate::model::carry::Carry;
use crate::permute::column_writer::restore;
use crate::util::cancel::Cancel;
use crate::util::reserve;

/// The value has not occurred yet.
const NO_POSITION: usize = usize::MAX;

/// An aggregate of each frame's distinct values.
#[derive(Debug)]
pub(crate) struct DistinctSweep<A> {
    aggregate: A,
    values: ValueCodes,
}

impl<A: Aggregate> DistinctSweep<A> {
    pub(crate) fn new(aggregate: A, values: ValueCodes) -> Self {
        Self { aggregate, values }
    }
}

/// The range of counted positions of each frame; frames are contiguous.
fn place_runs(values: &ValueCodes, frames: &Frames, rows: Range<usize>, cancel: &Cancel) -> Result<Vec<Range<u32>>> {
    let mut runs = reserve::with_capacity(rows.len())?;
    for_each_frame(frames, rows, cancel, |_, pieces| {
        let mut pieces = pieces.filter(|piece| !piece.is_empty());
        let run = pieces.next().map_or(0..0, |piece| values.places.of(piece));
        runs.push(run.start as u32..run.end as u32);
        if pieces.next().is_some() { Err(Error::internal("a frame of several pieces")) } else { Ok(()) }
    })?;
    Ok(runs)
}

/// Sorts `frames` by the ends of their ranges, ties by index.
fn sort_by_end(frames: &mut [u32], runs: &[Range<u32>]) {
    frames.sort_unstable_by_key(|&frame| (runs[frame as usize].end, frame));
}

impl<A: Aggregate> Evaluator for DistinctSweep<A> {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, _: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let Self { aggregate, values } = self;
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let runs = place_runs(values, frames, rows.clone(), cancel)?;
        let mut out = reader.builder(rows.len());
        let mut order = reserve::collect(0..rows.len() as u32)?;
        let (mut tree, mut last) = (StateTree::default(), Vec::new());
        let mut at = 0;
        while at < rows.len() {
            cancel.check()?;
            let partition = values.partition(rows.start + at);
            let end = partition.rows.end.min(rows.end) - rows.start;
            let here = &mut order[at..end];
            sort_by_end(here, &runs);
            let runs_here = || here.iter().map(|&row| &runs[row as usize]).filter(|run| !run.is_empty());
            let first = runs_here().map(|run| run.start as usize).min().unwrap_or(0);
            let behind = runs_here().next_back().map_or(first, |run| run.end as usize);
            tree.reset(accumulator, behind - first)?;
            reserve::refill(&mut last, partition.codes, NO_POSITION)?;
            let mut swept = first;
            for &row in here.iter() {
                let run = &runs[row as usize];
                if run.is_empty() {
                    reader.evaluate(&accumulator.init(), &mut out)?;
                    continue;
                }
                for place in swept..run.end as usize {
                    let row = values.places.row(place);
                    let mut state = accumulator.init();
                    accumulator.update(&mut state, row..row + 1)?;
                    let before = std::mem::replace(&mut last[values.codes[place] as usize], place);
                    if before != NO_POSITION {
                        tree.set(accumulator, before - first, accumulator.init())?;
                    }
                    tree.set(accumulator, place - first, state)?;
                }
                swept = run.end as usize;
                let state = tree.range(accumulator, run.start as usize - first..swept - first)?;
                reader.evaluate(&state, &mut out)?;
            }
            at = end;
        }
        restore(&reader.finish(out)?, &order)
    }

    fn save_state(&self, _: Option<&RecordBatch>, _: Range<usize>) -> Result<RecordBatch> {
        Err(Error::internal("no state stands for values that are counted"))
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        frames.first_needed_without_carry(answered)
    }
}
