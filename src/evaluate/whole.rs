//! Whole: one state per partition, repeated for each of its rows.
//!
//! Cost: O(1) per row amortised, one state of memory. Wins where the frame is the entire partition.
//!
//! Rows that are not brought together have a state for each partition, found by its number:
//!
//! ```text
//!   partition   2 0 2 1 2        states   [ 0 ][ 1 ][ 2 ]      a row, or a run of rows of one partition, is an update
//! ```
//!
//! On several threads each share of the rows has states of its own, merged in the end. The shares depend on the rows
//! and not on the threads, and so do the last digits of float sums. Memory: a state per partition and share.

use std::ops::Range;

use arrow_array::ArrayRef;

use super::fold::{Fold, Work, behind};
use crate::aggregate::Aggregate;
use crate::bounds::FrameRuns;
use crate::error::Result;
use crate::parallel::Threads;
use crate::rows::Groups;

/// Remembers the last run and its state.
#[derive(Debug, Clone, Copy)]
pub struct Whole;

impl<A: Aggregate> Fold<A> for Whole {
    type Cursor = Option<(Range<usize>, A::State)>;

    const WHOLE: bool = true;

    fn cursor(&self, _: &A) -> Self::Cursor {
        None
    }

    fn state(&self, aggregate: &A, cursor: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        match cursor {
            Some((known, state)) if *known == run => Ok(state.clone()),
            _ => {
                let mut state = aggregate.init();
                aggregate.update(&mut state, run.clone())?;
                *cursor = Some((run, state.clone()));
                Ok(state)
            }
        }
    }

    fn block(
        &self,
        aggregate: &A,
        cursor: &mut Self::Cursor,
        runs: FrameRuns,
        carried: Option<&A::State>,
        work: &mut Work,
        out: &mut A::Builder,
    ) -> Result<()> {
        let mut runs = runs.iter().peekable();
        while let Some(run) = runs.next() {
            let mut times = 1;
            while runs.next_if_eq(&run).is_some() {
                times += 1;
            }
            let piece = if run.is_empty() {
                aggregate.init()
            } else {
                work.spend(run.len())?;
                self.state(aggregate, cursor, run)?
            };
            aggregate.repeat(&behind(aggregate, carried, piece)?, times, out)?;
        }
        Ok(())
    }
}

/// Where runs of a group are shorter than this, rows are appended one by one: where runs end is not to be foreseen.
const FEW: usize = 8;

/// Rows between two looks at whether to go on.
const STEP: usize = 1 << 16;

/// The answer of each group.
pub(super) fn by_group<A: Aggregate>(aggregate: &A, groups: &Groups, threads: &Threads) -> Result<ArrayRef> {
    let folded = threads.map(groups.shares(), |share: Range<usize>| {
        let mut states = vec![aggregate.init(); groups.count()];
        let mut step = share.start..share.start;
        while step.end < share.end {
            threads.cancel().check()?;
            step = step.end..share.end.min(step.end + STEP);
            if groups.runs(&step) > step.len() / FEW {
                groups.each_row(step.clone(), |group, row| aggregate.append(&mut states[group], row))?;
            } else {
                groups.each_run(step.clone(), |group, run| aggregate.update(&mut states[group], run))?;
            }
        }
        Ok(states)
    })?;
    let mut out = aggregate.builder(groups.count());
    let mut folded = folded.into_iter();
    if let Some(mut states) = folded.next() {
        for share in folded {
            for (state, right) in states.iter_mut().zip(&share) {
                aggregate.merge(state, right)?;
            }
        }
        aggregate.evaluate_all(states.into_iter().map(Ok), &mut out)?;
    }
    aggregate.finish(out)
}
