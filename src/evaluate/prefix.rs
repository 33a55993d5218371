//! Prefix difference: the state of a frame is what lies before its end less what lies before its begin.
//!
//! ```text
//!   |------- before end -------|
//!   |- before begin -|
//!                    [ frame   ]
//! ```
//!
//! Both prefixes move forward with the frame, so instead of an array of them the cursor keeps their difference:
//! rows that enter are updated into it, rows that leave are folded into a state of their own and retracted.
//! Cost: O(1) amortised per row for frames that never go back, no memory. Only for states whose retract is exact
//! (counts, integer and decimal sums in wide accumulators): a float would drift.

use std::ops::Range;

use super::fold::{Fold, Work, aside, states};
use crate::aggregate::Removable;
use crate::error::Result;

/// Keeps the difference of two prefixes.
#[derive(Debug, Clone, Copy)]
pub struct Prefix;

/// Fewer rows are taken in, or let go, one by one and without a call.
const NEAR: usize = 16;

/// The frame last seen and its state.
#[derive(Debug, Clone)]
pub struct Difference<S> {
    run: Range<usize>,
    state: S,
}

impl<S: Clone> Difference<S> {
    /// Moves both ends to `run`'s. One row at each is the common step.
    #[inline(always)]
    fn move_to<A: Removable<State = S>>(&mut self, aggregate: &A, run: Range<usize>) -> Result<S> {
        let Self { run: known, state } = self;
        if run.start == known.start + 1 && run.end == known.end + 1 && run.start < known.end {
            aggregate.append(state, known.end)?;
            aggregate.remove(state, known.start..known.start + 1)?;
            *known = run;
        } else if run.start < known.end
            && (known.start..known.start + NEAR).contains(&run.start)
            && (known.end..known.end + NEAR).contains(&run.end)
        {
            // RANGE frames take a few rows at a time, and how many is different for each.
            for row in known.end..run.end {
                aggregate.append(state, row)?;
            }
            for row in known.start..run.start {
                aggregate.remove(state, row..row + 1)?;
            }
            *known = run;
        } else if run != *known {
            aside(self, |difference| difference.jump_to(aggregate, run))?;
        }
        Ok(self.state.clone())
    }

    #[inline(never)]
    fn jump_to<A: Removable<State = S>>(&mut self, aggregate: &A, run: Range<usize>) -> Result<()> {
        let Self { run: known, state } = self;
        if run.start < known.start || run.end < known.end || run.start >= known.end {
            *known = run.start..run.start;
            *state = aggregate.init();
        }
        if run.end > known.end {
            aggregate.update(state, known.end..run.end)?;
        }
        if run.start > known.start {
            aggregate.remove(state, known.start..run.start)?;
        }
        *known = run;
        Ok(())
    }
}

impl<A: Removable> Fold<A> for Prefix {
    type Cursor = Difference<A::State>;

    fn cursor(&self, aggregate: &A) -> Self::Cursor {
        Difference { run: 0..0, state: aggregate.init() }
    }

    fn state(&self, aggregate: &A, cursor: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        cursor.move_to(aggregate, run)
    }

    fn block(
        &self,
        aggregate: &A,
        cursor: &mut Self::Cursor,
        runs: impl ExactSizeIterator<Item = Range<usize>>,
        carried: Option<&A::State>,
        _: &mut Work,
        out: &mut A::Builder,
    ) -> Result<()> {
        let mut difference = std::mem::replace(cursor, self.cursor(aggregate));
        let state = |run| difference.move_to(aggregate, run);
        aggregate.evaluate_all(states(aggregate, runs, carried, state), out)?;
        *cursor = difference;
        Ok(())
    }
}
