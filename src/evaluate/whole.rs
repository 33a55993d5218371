//! Whole: one state per partition, repeated for each of its rows.
//!
//! Cost: O(1) per row amortised, one state of memory. Wins where the frame is the entire partition.

use std::ops::Range;

use super::fold::Fold;
use crate::aggregate::Aggregate;
use crate::error::Result;

/// Remembers the last run and its state.
#[derive(Debug, Clone, Copy)]
pub struct Whole;

impl<A: Aggregate> Fold<A> for Whole {
    type Cursor = Option<(Range<usize>, A::State)>;

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
}
