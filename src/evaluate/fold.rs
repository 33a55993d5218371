//! Makes an evaluator from any aggregate and any strategy.
//!
//! Only this file combines the parts of a frame's state, from left to right: the carry, then the ranges that EXCLUDE
//! leaves of the frame. A strategy folds one run of rows at a time, or, where each frame of a block is one run, all
//! runs of the block in one loop compiled for the aggregate.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use super::evaluator::{Evaluator, for_each_block};
use crate::bounds::block::FrameRuns;
use crate::bounds::frames::Frames;
use crate::error::Result;
use crate::model::aggregate::{Accumulator, Aggregate, ResultReader};
use crate::model::carry::Carry;
use crate::model::group_ids::RowGroups;
use crate::model::section::Section;
use crate::sort::sort_column::SortColumn;
use crate::util::cancel::Cancel;
use crate::util::threads::Threads;

/// Cancellation is checked at least once per this many frame rows, each of which a naive fold reads.
const ROWS_PER_CANCEL_CHECK: usize = 1 << 24;

/// One lane per range of a frame: before the excluded rows, the row that TIES keeps, and after the excluded rows.
/// Within a lane, ranges move as monotonically as the frames do.
const EXCLUDE_PIECES: usize = 3;

/// How a strategy folds runs of rows into states.
pub(crate) trait Fold<A: Aggregate>: Send + Sync {
    /// What the strategy keeps from one row of a lane to the next. It affects speed only, never results.
    type Cursor;

    /// An empty cursor.
    fn cursor(&self, accumulator: &A::Accumulator) -> Self::Cursor;

    /// The state of `run`, which is not empty.
    ///
    /// # Errors
    /// As for [`Accumulator::update`].
    fn state(&self, accumulator: &A::Accumulator, cursor: &mut Self::Cursor, run: Range<usize>) -> Result<A::State>;

    /// The result of each group; `None` if the rows of a partition can have different results.
    ///
    /// # Errors
    /// As for [`Accumulator::update`] and [`ResultReader::evaluate`], or cancellation.
    fn fold_groups(&self, _aggregate: &A, _groups: &RowGroups, _threads: &Threads) -> Result<Option<ArrayRef>> {
        Ok(None)
    }

    /// Appends the results of a block of frames, one run each; runs may be empty, and all follow the carried state.
    ///
    /// # Errors
    /// As for `state` and [`ResultReader::evaluate`], or cancellation.
    fn fold_block(
        &self,
        aggregate: &A,
        cursor: &mut Self::Cursor,
        runs: FrameRuns,
        carried: Option<&A::State>,
        work: &mut CancelBudget,
        out: &mut A::Builder,
    ) -> Result<()> {
        let accumulator = aggregate.accumulator();
        let state = |run: Range<usize>| {
            work.charge(run.len())?;
            self.state(accumulator, cursor, run)
        };
        aggregate.reader().evaluate_block(states(accumulator, runs.iter(), carried, state), out)
    }
}

/// The state of the carried rows followed by `piece`.
#[inline(always)]
pub(super) fn with_prefix<A: Accumulator>(
    accumulator: &A,
    carried: Option<&A::State>,
    piece: A::State,
) -> Result<A::State> {
    match carried {
        Some(carried) => accumulator.merged(carried, &piece),
        None => Ok(piece),
    }
}

/// For types without destructors, runs `change` on a copy of `value`, so that `value` can stay in registers in the
/// caller's loop (its address does not escape).
#[inline(always)]
pub(super) fn in_registers<T: Clone, R>(value: &mut T, change: impl FnOnce(&mut T) -> Result<R>) -> Result<R> {
    if std::mem::needs_drop::<T>() {
        return change(value);
    }
    let mut copy = value.clone();
    let answer = change(&mut copy)?;
    *value = copy;
    Ok(answer)
}

/// The states of `runs` after the carried state, empty runs included; `state` gives those of the others.
#[inline(always)]
pub(super) fn states<A: Accumulator>(
    accumulator: &A,
    runs: impl ExactSizeIterator<Item = Range<usize>>,
    carried: Option<&A::State>,
    mut state: impl FnMut(Range<usize>) -> Result<A::State>,
) -> impl ExactSizeIterator<Item = Result<A::State>> {
    runs.map(move |run| {
        if run.is_empty() {
            return Ok(carried.cloned().unwrap_or_else(|| accumulator.init()));
        }
        with_prefix(accumulator, carried, state(run)?)
    })
}

/// The number of rows read since the last cancellation check.
#[derive(Debug)]
pub(crate) struct CancelBudget<'a> {
    cancel: &'a Cancel,
    rows: usize,
}

impl CancelBudget<'_> {
    /// Counts rows as read, and checks for cancellation when it is due.
    ///
    /// # Errors
    /// Cancellation.
    #[inline]
    pub(crate) fn charge(&mut self, rows: usize) -> Result<()> {
        self.rows += rows;
        if self.rows > ROWS_PER_CANCEL_CHECK {
            self.rows = 0;
            return self.cancel.check();
        }
        Ok(())
    }
}

/// An aggregate evaluated by a strategy.
#[derive(Debug)]
pub(crate) struct AggregateEvaluator<A, F> {
    aggregate: A,
    fold: F,
    /// The end of the partition that a carry's `state` belongs to.
    first_partition_end: usize,
    /// The beginning of the partition that a carry's `after` belongs to.
    last_partition_begin: usize,
}

impl<A: Aggregate, F: Fold<A>> AggregateEvaluator<A, F> {
    pub(crate) fn boxed(aggregate: A, fold: F, section: &Section) -> Box<dyn Evaluator>
    where
        A: 'static,
        F: 'static,
    {
        let (first_partition_end, last_partition_begin) =
            (section.first_partition_end(), section.last_partition_begin());
        Box::new(Self { aggregate, fold, first_partition_end, last_partition_begin })
    }
}

impl<A: Aggregate, F: Fold<A>> Evaluator for AggregateEvaluator<A, F> {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let Self { aggregate, fold, first_partition_end, last_partition_begin } = self;
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let load = |state: &Option<RecordBatch>| state.as_ref().map(|state| accumulator.load(state)).transpose();
        let (carried, after) = (load(&carry.state)?, load(&carry.after)?);
        let mut lanes: [F::Cursor; EXCLUDE_PIECES] = std::array::from_fn(|_| fold.cursor(accumulator));
        let mut out = reader.builder(rows.len());
        let mut work = CancelBudget { cancel, rows: 0 };
        for_each_block(frames, rows, cancel, &mut |bounds| {
            let carried = carried.as_ref().filter(|_| bounds.rows.start < *first_partition_end);
            let after = after.as_ref().filter(|_| *last_partition_begin < bounds.rows.end);
            // A carry applies to all rows of the block or to none, and precedes them; otherwise rows are evaluated one
            // by one.
            let alike = after.is_none() && (carried.is_none() || bounds.rows.end <= *first_partition_end);
            if let Some(runs) = bounds.runs().filter(|_| alike) {
                return fold.fold_block(aggregate, &mut lanes[0], runs, carried, &mut work, &mut out);
            }
            for row in bounds.rows.clone() {
                let mut state = carried.filter(|_| row < *first_partition_end).cloned();
                for (lane, run) in lanes.iter_mut().zip(bounds.sub_ranges(row)) {
                    if !run.is_empty() {
                        work.charge(run.len())?;
                        let piece = fold.state(accumulator, lane, run)?;
                        match &mut state {
                            Some(state) => accumulator.merge(state, &piece)?,
                            None => state = Some(piece),
                        }
                    }
                }
                if let Some(after) = after.filter(|_| *last_partition_begin <= row) {
                    match &mut state {
                        Some(state) => accumulator.merge(state, after)?,
                        None => state = Some(after.clone()),
                    }
                }
                match state {
                    Some(state) => reader.evaluate(&state, &mut out)?,
                    None => reader.evaluate(&accumulator.init(), &mut out)?,
                }
            }
            Ok(())
        })?;
        reader.finish(out)
    }

    fn evaluate_groups(&self, groups: &RowGroups, _: &[SortColumn], threads: &Threads) -> Result<Option<ArrayRef>> {
        self.fold.fold_groups(&self.aggregate, groups, threads)
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        append_saved(self.aggregate.accumulator(), state, rows)
    }

    fn merge_states(&self, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        merge_saved(self.aggregate.accumulator(), left, right)
    }
}

/// The saved state of the rows that `state` covers followed by `rows`.
pub(super) fn append_saved<A: Accumulator>(
    accumulator: &A,
    state: Option<&RecordBatch>,
    rows: Range<usize>,
) -> Result<RecordBatch> {
    let mut state = match state {
        Some(state) => accumulator.load(state)?,
        None => accumulator.init(),
    };
    if !rows.is_empty() {
        accumulator.update(&mut state, rows)?;
    }
    accumulator.save(&state)
}

/// The merge of two saved states.
pub(super) fn merge_saved<A: Accumulator>(
    accumulator: &A,
    left: &RecordBatch,
    right: &RecordBatch,
) -> Result<RecordBatch> {
    let mut state = accumulator.load(left)?;
    accumulator.merge(&mut state, &accumulator.load(right)?)?;
    accumulator.save(&state)
}
