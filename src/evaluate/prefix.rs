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

use super::fold::Fold;
use crate::aggregate::Removable;
use crate::error::Result;

/// Keeps the difference of two prefixes.
#[derive(Debug, Clone, Copy)]
pub struct Prefix;

/// The frame last seen and its state.
#[derive(Debug)]
pub struct Difference<S> {
    run: Range<usize>,
    state: S,
}

impl<A: Removable> Fold<A> for Prefix {
    type Cursor = Difference<A::State>;

    fn cursor(&self, aggregate: &A) -> Self::Cursor {
        Difference { run: 0..0, state: aggregate.init() }
    }

    fn state(&self, aggregate: &A, cursor: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        let known = &mut cursor.run;
        if run.start < known.start || run.end < known.end || run.start >= known.end {
            *known = run.start..run.start;
            cursor.state = aggregate.init();
        }
        if run.end > known.end {
            aggregate.update(&mut cursor.state, known.end..run.end)?;
        }
        if run.start > known.start {
            aggregate.remove(&mut cursor.state, known.start..run.start)?;
        }
        *known = run;
        Ok(cursor.state.clone())
    }
}
