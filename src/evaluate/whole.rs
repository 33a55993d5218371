//! Whole: one state per partition, repeated for each of its rows.
//!
//! Cost: O(1) per row amortised; memory: one state. Best where the frame is the entire partition.
//!
//! Unsorted rows have one state per partition, addressed by the partition's number:
//!
//! ```text
//!   partition   2 0 2 1 2        states   [ 0 ][ 1 ][ 2 ]      a row, or a run of rows of one partition, is an update
//! ```
//!
//! With several threads, each share of the rows has its own states, merged at the end, or evaluated directly if no
//! other share has rows of the same partitions. The shares of float sums depend on the rows only, not on the number of
//! threads, and so does their rounding. Memory: one state per share and partition that may have rows in it; one per
//! partition for sorted rows.

use std::mem::needs_drop;
use std::ops::Range;
use std::vec::IntoIter;

use arrow_array::ArrayRef;
use arrow_select::concat::concat;

use super::fold::{CancelBudget, Fold, with_prefix};
use super::state_buffer::{MAX_FRAMES, StateBuffer};
use crate::bounds::block::FrameRuns;
use crate::error::Result;
use crate::model::aggregate::{Accumulator, Aggregate, ResultReader};
use crate::model::group_ids::{GroupShare, RowGroups};
use crate::util::cancel::Cancel;
use crate::util::simd::with_avx2_only;
use crate::util::threads::Threads;

/// Runs up to this length are short; their states do not depend on folding in blocks, whose sums are taken in lanes.
const MAX_SHORT_RUN: u32 = 32;

/// Keeps the last run and its state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whole {
    /// Whether merging states gives exactly the state of all rows, without rounding.
    pub exact: bool,
}

/// The last run and its state.
#[derive(Debug)]
pub(crate) struct CachedState<S> {
    last: Option<(Range<usize>, S)>,
    short_runs: StateBuffer<S>,
}

impl<S: Clone> CachedState<S> {
    /// Evaluates the frames if their runs are short and nearly every frame has a row of its own: computes the states of
    /// all rows, and takes for each frame the state of its last row.
    #[inline(always)]
    fn evaluate_short_runs<A: Aggregate<State = S>>(
        &mut self,
        aggregate: &A,
        runs: FrameRuns,
        carried: Option<&S>,
        out: &mut A::Builder,
    ) -> Result<bool> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let (Some(&first), Some(&last)) = (runs.begin.first(), runs.end.last()) else { return Ok(false) };
        let (first, rows) = (first as usize, first as usize..last as usize);
        if rows.len() > runs.iter().len() + 2 * MAX_SHORT_RUN as usize || !runs.are_repeating(MAX_SHORT_RUN) {
            return Ok(false);
        }
        let StateBuffer { states, keep_masks } = &mut self.short_runs;
        keep_masks.clear();
        keep_masks.resize(rows.len(), u64::MAX);
        for &begin in runs.begin {
            keep_masks[begin as usize - first] = 0;
        }
        states.resize_with(rows.len(), || accumulator.init());
        accumulator.append_scan(&mut accumulator.init(), rows, keep_masks.iter().copied(), states)?;
        let state = |&end: &u32| with_prefix(accumulator, carried, states[end as usize - 1 - first].clone());
        reader.evaluate_block(runs.end.iter().map(state), out)?;
        Ok(true)
    }
}

impl<A: Aggregate> Fold<A> for Whole {
    type Cursor = CachedState<A::State>;

    fn cursor(&self, _: &A::Accumulator) -> Self::Cursor {
        CachedState { last: None, short_runs: StateBuffer::new() }
    }

    fn state(&self, accumulator: &A::Accumulator, known: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        match &known.last {
            Some((last, state)) if *last == run => Ok(state.clone()),
            _ => {
                let mut state = accumulator.init();
                accumulator.update(&mut state, run.clone())?;
                known.last = Some((run, state.clone()));
                Ok(state)
            }
        }
    }

    fn fold_groups(&self, aggregate: &A, groups: &RowGroups, threads: &Threads) -> Result<Option<ArrayRef>> {
        by_group(aggregate, groups, self.exact, threads).map(Some)
    }

    fn fold_block(
        &self,
        aggregate: &A,
        known: &mut Self::Cursor,
        mut runs: FrameRuns,
        carried: Option<&A::State>,
        work: &mut CancelBudget,
        out: &mut A::Builder,
    ) -> Result<()> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        while let Some(run) = runs.iter().next() {
            let (mut some, mut others) = runs.split(MAX_FRAMES);
            if run.len() > MAX_SHORT_RUN as usize || needs_drop::<A::State>() {
                (some, others) = runs.split(runs.iter().take_while(|other| *other == run).count());
            } else if with_avx2_only(
                #[inline(always)]
                || known.evaluate_short_runs(aggregate, some, carried, out),
            )
            .transpose()?
                == Some(true)
            {
                runs = others;
                continue;
            }
            let mut each = some.iter().peekable();
            while let Some(run) = each.next() {
                let mut times = 1;
                while each.next_if_eq(&run).is_some() {
                    times += 1;
                }
                let piece = if run.is_empty() {
                    accumulator.init()
                } else {
                    work.charge(run.len())?;
                    Fold::<A>::state(self, accumulator, known, run)?
                };
                reader.repeat(&with_prefix(accumulator, carried, piece)?, times, out)?;
            }
            runs = others;
        }
        Ok(())
    }
}

/// Where a group's runs are shorter than this on average, rows are appended one by one: the ends of runs are
/// unpredictable.
const MIN_RUN_ROWS: usize = 8;

/// The number of rows sampled to estimate the length of the runs of a step.
const PROBE_ROWS: usize = 1 << 12;

/// Rows between two cancellation checks.
const ROWS_PER_CANCEL_CHECK: usize = 1 << 16;

/// The result of each group.
fn by_group<A: Aggregate>(aggregate: &A, groups: &RowGroups, exact: bool, threads: &Threads) -> Result<ArrayRef> {
    let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
    let fill =
        |share: &GroupShare, states: &mut [A::State]| fold_share(accumulator, groups, share, states, threads.cancel());
    let answers = |states: Vec<A::State>| {
        let mut out = reader.builder(states.len());
        reader.evaluate_block(states.into_iter().map(Ok), &mut out)?;
        reader.finish(out)
    };
    let shares = groups.shares(exact, threads)?;
    let Some(disjoint) = groups.disjoint_shares(&shares) else {
        let mut merge = |states: &mut [A::State], right: &mut IntoIter<A::State>| {
            states.iter_mut().zip(right).try_for_each(|(state, right)| accumulator.merge(state, &right))
        };
        return answers(groups.fold(shares, &accumulator.init(), &fill, &mut merge, threads)?);
    };
    // Not generic, so that it is compiled once.
    let answer: &(dyn Fn(GroupShare) -> Result<ArrayRef> + Send + Sync) = &|share| {
        let mut states = vec![accumulator.init(); share.groups.len()];
        fill(&share, &mut states)?;
        answers(states)
    };
    let pieces = threads.map(disjoint, answer)?;
    match &pieces[..] {
        [only] => Ok(only.clone()),
        pieces => Ok(concat(&pieces.iter().map(AsRef::as_ref).collect::<Vec<_>>())?),
    }
}

/// Folds the rows of a share into the states of its groups. A separate function, whose arguments the compiler knows not
/// to alias: otherwise it would reload them for each row.
#[inline(never)]
fn fold_share<A: Accumulator>(
    accumulator: &A,
    groups: &RowGroups,
    share: &GroupShare,
    states: &mut [A::State],
    cancel: &Cancel,
) -> Result<()> {
    let (rows, first) = (&share.rows, share.groups.start);
    let mut step = rows.start..rows.start;
    while step.end < rows.end {
        cancel.check()?;
        step = step.end..rows.end.min(step.end + ROWS_PER_CANCEL_CHECK);
        let look = step.start..step.end.min(step.start + PROBE_ROWS);
        let mut appended = None;
        if groups.count_runs(&look) > look.len() / MIN_RUN_ROWS {
            let (rows, states) = (step.clone(), &mut *states);
            appended = with_avx2_only(
                #[inline(always)]
                move || accumulator.append_grouped(states, first, groups, rows),
            );
        }
        match appended {
            Some(appended) => appended?,
            None => {
                groups.for_each_run(step.clone(), |group, run| accumulator.update(&mut states[group - first], run))?;
            }
        }
    }
    Ok(())
}
