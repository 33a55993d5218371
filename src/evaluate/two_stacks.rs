//! Two stacks: a queue of states without subtraction.
//!
//! ```text
//!   frame    [ a b c d | e f g ]
//!   front      states of abcd, bcd, cd, d      a row leaves: pop
//!   back                 state of efg          a row enters: update
//! ```
//!
//! The frame's state is the front's top merged with the back. When the front is used up, the rows of the frame
//! are folded backwards into a new front. Each row is put before the front once, after the back once, and one merge
//! makes the answer: O(1) amortised per row for frames that never go back; memory one state per row of the frame. Wins
//! for float sums, moments and every other mergeable state that cannot, or must not, be subtracted.
//! Source: the functional queue of Okasaki (1995) as used for windows by Tangwongsan et al., "General incremental
//! sliding-window aggregation" (PVLDB 8, 2015).

use std::ops::Range;

use super::fold::{Fold, Work, aside, states};
use crate::aggregate::Aggregate;
use crate::bounds::FrameRuns;
use crate::error::Result;

/// Keeps the two stacks.
#[derive(Debug, Clone, Copy)]
pub struct TwoStacks;

/// The stacks of one lane. `front[k]` is the state of the last `k + 1` rows before the middle.
#[derive(Debug)]
pub struct Stacks<S> {
    front: Vec<S>,
    back: Back<S>,
}

/// What changes with every row.
#[derive(Debug, Clone)]
struct Back<S> {
    run: Range<usize>,
    middle: usize,
    /// Of the rows from the middle on.
    state: S,
}

impl<S: Clone> Back<S> {
    fn new<A: Aggregate<State = S>>(aggregate: &A) -> Self {
        Self { run: 0..0, middle: 0, state: aggregate.init() }
    }

    /// The state of `run`. One row more at the end is the common step.
    #[inline(always)]
    fn move_to<A: Aggregate<State = S>>(&mut self, aggregate: &A, front: &mut Vec<S>, run: Range<usize>) -> Result<S> {
        if run.start < self.run.start || run.end < self.run.end || run.start > self.middle {
            aside(self, |back| back.turn(aggregate, front, &run))?;
        }
        let known = self.run.end;
        if run.end == known + 1 {
            aggregate.append(&mut self.state, known)?;
        } else if run.end > known {
            aside(&mut self.state, |state| aggregate.update(state, known..run.end))?;
        }
        // What lies in the front beyond this is of rows that have left.
        let rows = self.middle - run.start;
        self.run = run;
        match rows.checked_sub(1).and_then(|last| front.get(last)) {
            Some(state) => {
                let mut state = state.clone();
                aggregate.merge(&mut state, &self.state)?;
                Ok(state)
            }
            None => Ok(self.state.clone()),
        }
    }

    /// Makes a front of the rows that are known and lie in `run`, if it goes on from there.
    #[inline(never)]
    fn turn<A: Aggregate<State = S>>(&mut self, aggregate: &A, front: &mut Vec<S>, run: &Range<usize>) -> Result<()> {
        front.clear();
        self.state = aggregate.init();
        if run.start < self.run.start || run.end < self.run.end || run.start >= self.run.end {
            (self.run, self.middle) = (run.start..run.start, run.start);
            return Ok(());
        }
        self.middle = self.run.end;
        front.reserve(self.middle - run.start);
        let mut later = aggregate.init();
        for row in (run.start..self.middle).rev() {
            aggregate.prepend(&mut later, row)?;
            front.push(later.clone());
        }
        Ok(())
    }
}

impl<A: Aggregate> Fold<A> for TwoStacks {
    type Cursor = Stacks<A::State>;

    fn cursor(&self, aggregate: &A) -> Self::Cursor {
        Stacks { front: Vec::new(), back: Back::new(aggregate) }
    }

    fn state(&self, aggregate: &A, stacks: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        stacks.back.move_to(aggregate, &mut stacks.front, run)
    }

    fn block(
        &self,
        aggregate: &A,
        stacks: &mut Self::Cursor,
        runs: impl FrameRuns,
        carried: Option<&A::State>,
        _: &mut Work,
        out: &mut A::Builder,
    ) -> Result<()> {
        let mut back = std::mem::replace(&mut stacks.back, Back::new(aggregate));
        let state = |run| back.move_to(aggregate, &mut stacks.front, run);
        aggregate.evaluate_all(states(aggregate, runs, carried, state), out)?;
        stacks.back = back;
        Ok(())
    }
}
