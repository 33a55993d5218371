//! Segment tree: states of aligned runs of rows, 16 rows per leaf, 16 nodes per parent.
//!
//! ```text
//!   level 1      [        0..256        )[       256..512       ) ...
//!   level 0      [0..16)[16..32) ... [240..256)[256..272) ...
//!   rows         . . . . x x x x x x x x x x x x x x . . .
//!                        update | merge level 0 | update
//! ```
//!
//! A frame is covered from both ends: the rows before the first whole leaf, then the nodes before the first whole
//! parent, and so on. The parts on the left are appended to one state, and another state to each of the parts on the
//! right, so states are merged in row order, merge need not commute, and the two sides do not depend on each other.
//! Partition boundaries are irrelevant: one tree serves all partitions of a section, and a frame never reads past its
//! own rows. Cost: O(log W) merges per row, 1/15 of a state per row of memory, for any frames in any order. Best for
//! bounds per row, and wherever frames move arbitrarily. Source: Leis, Kundhikanjana, Kemper, Neumann, "Efficient
//! processing of window functions in analytical SQL queries" (PVLDB 8, 2015).

use std::ops::Range;

use super::fold::Fold;
use crate::error::Result;
use crate::model::aggregate::{Accumulator, Aggregate};
use crate::util::reserve;

/// Children per node: faster than a binary tree over wide frames, at 1/15 of a state per row of memory
/// (`benches/kernels.rs`).
const FANOUT: usize = 16;

/// Levels above the rows: a section has fewer than 16^8 rows.
const MAX_LEVELS: usize = 8;

/// States of aligned runs.
#[derive(Debug)]
pub(crate) struct SegmentTree<S> {
    /// `levels[0]` contains states of 16 rows each, `levels[k]` states of 16 nodes of `levels[k - 1]`.
    levels: Vec<Vec<S>>,
}

impl<S: Clone + Send + Sync> SegmentTree<S> {
    /// The tree over a section of `rows` rows.
    ///
    /// # Errors
    /// As for [`Accumulator::update`].
    pub(crate) fn new<A: Accumulator<State = S>>(accumulator: &A, rows: usize) -> Result<Self> {
        let mut levels: Vec<Vec<S>> = Vec::new();
        // Only whole leaves and whole parents are ever read.
        let mut count = rows / FANOUT;
        while count > 0 {
            let mut level = reserve::with_capacity(count)?;
            for node in 0..count {
                let children = node * FANOUT..(node + 1) * FANOUT;
                let mut state = accumulator.init();
                match levels.last() {
                    None => accumulator.update(&mut state, children)?,
                    Some(below) => {
                        for child in &below[children] {
                            accumulator.merge(&mut state, child)?;
                        }
                    }
                }
                level.push(state);
            }
            levels.push(level);
            count /= FANOUT;
        }
        Ok(Self { levels })
    }

    /// Appends the units `run` of `height` (0: rows, k: nodes of level k - 1) to `state`.
    fn append<A: Accumulator<State = S>>(
        &self,
        accumulator: &A,
        state: &mut S,
        height: usize,
        run: Range<usize>,
    ) -> Result<()> {
        match height.checked_sub(1) {
            None if run.is_empty() => Ok(()),
            None => accumulator.update(state, run),
            Some(level) => self.levels[level][run].iter().try_for_each(|node| accumulator.merge(state, node)),
        }
    }
}

impl<A: Aggregate> Fold<A> for SegmentTree<A::State> {
    type Cursor = ();

    fn cursor(&self, _: &A::Accumulator) {}

    fn state(&self, accumulator: &A::Accumulator, (): &mut (), run: Range<usize>) -> Result<A::State> {
        let (mut left, mut right) = (accumulator.init(), accumulator.init());
        let Range { start: mut low, end: mut high } = run;
        let mut height = 0;
        loop {
            let (first, last) = (low.div_ceil(FANOUT), high / FANOUT);
            if first >= last || height == MAX_LEVELS {
                self.append(accumulator, &mut left, height, low..high)?;
                accumulator.merge(&mut left, &right)?;
                return Ok(left);
            }
            self.append(accumulator, &mut left, height, low..first * FANOUT)?;
            let mut part = accumulator.init();
            self.append(accumulator, &mut part, height, last * FANOUT..high)?;
            accumulator.merge(&mut part, &right)?;
            right = part;
            (low, high) = (first, last);
            height += 1;
        }
    }
}
