//! Naive: folds each frame from scratch.
//!
//! Cost: O(W) per row for frames of W rows, no memory. It is the reference against which every other strategy is
//! tested, and the fastest strategy for frames of a few rows.

use std::ops::Range;

use super::fold::Fold;
use crate::error::Result;
use crate::model::aggregate::{Accumulator, Aggregate};

/// Keeps nothing between frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Naive;

impl<A: Aggregate> Fold<A> for Naive {
    type Cursor = ();

    fn cursor(&self, _: &A::Accumulator) {}

    fn state(&self, accumulator: &A::Accumulator, (): &mut (), run: Range<usize>) -> Result<A::State> {
        let mut state = accumulator.init();
        accumulator.update(&mut state, run)?;
        Ok(state)
    }
}
