//! Two stacks: a queue of states without subtraction.
//!
//! ```text
//!   frame    [ a b c d | e f g ]
//!   front      states of abcd, bcd, cd, d      a row leaves: pop
//!   back                 state of efg          a row enters: update
//! ```
//!
//! The frame's state is the front's top merged with the back. When the front is used up, the rows of the frame
//! are folded backwards into a new front. Each row is updated twice and merged at most twice: O(1) amortised per
//! row for frames that never go back; memory one state per row of the frame. Wins for float sums, moments and
//! every other mergeable state that cannot, or must not, be subtracted.
//! Source: the functional queue of Okasaki (1995) as used for windows by Tangwongsan et al., "General incremental
//! sliding-window aggregation" (PVLDB 8, 2015).

use std::ops::Range;

use super::fold::Fold;
use crate::aggregate::Aggregate;
use crate::error::Result;

/// Keeps the two stacks.
#[derive(Debug, Clone, Copy)]
pub struct TwoStacks;

/// The stacks of one lane. `front[k]` is the state of the last `k + 1` rows before `middle`.
#[derive(Debug)]
pub struct Stacks<S> {
    run: Range<usize>,
    front: Vec<S>,
    middle: usize,
    back: S,
}

impl<A: Aggregate> Fold<A> for TwoStacks {
    type Cursor = Stacks<A::State>;

    fn cursor(&self, aggregate: &A) -> Self::Cursor {
        Stacks { run: 0..0, front: Vec::new(), middle: 0, back: aggregate.init() }
    }

    fn state(&self, aggregate: &A, stacks: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        let Stacks { run: known, front, middle, back } = stacks;
        if run.start < known.start || run.end < known.end || run.start >= known.end {
            front.clear();
            *known = run.start..run.start;
            *middle = run.start;
            *back = aggregate.init();
        }
        if run.start > *middle {
            front.clear();
            let mut later: Option<A::State> = None;
            for row in (run.start..known.end).rev() {
                let mut state = aggregate.init();
                aggregate.update(&mut state, row..row + 1)?;
                if let Some(later) = &later {
                    aggregate.merge(&mut state, later)?;
                }
                front.push(state.clone());
                later = Some(state);
            }
            *middle = known.end;
            *back = aggregate.init();
        } else {
            front.truncate(*middle - run.start);
        }
        if run.end > known.end {
            aggregate.update(back, known.end..run.end)?;
        }
        *known = run;
        match front.last() {
            Some(state) if known.end > *middle => {
                let mut state = state.clone();
                aggregate.merge(&mut state, back)?;
                Ok(state)
            }
            Some(state) => Ok(state.clone()),
            None => Ok(back.clone()),
        }
    }
}
