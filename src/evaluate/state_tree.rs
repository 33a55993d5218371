//! A tree of states whose leaves can be set and removed; its root is the merge of all leaves.
//!
//! ```text
//!   1                 [ merge of all ]
//!   2 3          [ 0 and 1 ]    [ 2 and 3 ]
//!   4 5 6 7      0      1       2      .         leaf 3 is removed: the empty state
//! ```
//!
//! Cost: O(log n) merges per leaf that is set or removed and per range that is read; two states per leaf. States are
//! merged from left to right, so merge need not commute. For states that cannot be retracted; retractable ones need no
//! tree.

use std::ops::Range;

use crate::error::Result;
use crate::model::aggregate::Accumulator;
use crate::util::reserve;

/// Leaves and their merges.
#[derive(Debug)]
pub(crate) struct StateTree<S> {
    /// Node `n` has the children `2n` and `2n + 1`; the second half are leaves.
    nodes: Vec<S>,
}

impl<S> Default for StateTree<S> {
    fn default() -> Self {
        Self { nodes: Vec::new() }
    }
}

impl<S: Clone + Send + Sync> StateTree<S> {
    /// Resets the tree to `leaves` empty leaves.
    ///
    /// # Errors
    /// There is no memory for them.
    pub(crate) fn reset<A: Accumulator<State = S>>(&mut self, accumulator: &A, leaves: usize) -> Result<()> {
        reserve::refill(&mut self.nodes, 2 * leaves.next_power_of_two(), accumulator.init())
    }

    /// Sets a leaf to `state`.
    ///
    /// # Errors
    /// As for [`Accumulator::merge`].
    pub(crate) fn set<A: Accumulator<State = S>>(&mut self, accumulator: &A, leaf: usize, state: S) -> Result<()> {
        let mut node = self.nodes.len() / 2 + leaf;
        self.nodes[node] = state;
        while node > 1 {
            node /= 2;
            let mut merged = self.nodes[2 * node].clone();
            accumulator.merge(&mut merged, &self.nodes[2 * node + 1])?;
            self.nodes[node] = merged;
        }
        Ok(())
    }

    /// The state of all leaves.
    pub(crate) fn root(&self) -> Option<&S> {
        self.nodes.get(1)
    }

    /// The state of the leaves `range`.
    ///
    /// # Errors
    /// As for [`Accumulator::merge`].
    pub(crate) fn range<A: Accumulator<State = S>>(&self, accumulator: &A, range: Range<usize>) -> Result<S> {
        let leaves = self.nodes.len() / 2;
        let (mut low, mut high) = (leaves + range.start, leaves + range.end);
        let mut state = accumulator.init();
        // Nodes right of the middle, collected from the outside in.
        let mut aside = [0; usize::BITS as usize];
        let mut kept = 0;
        while low < high {
            if low % 2 == 1 {
                accumulator.merge(&mut state, &self.nodes[low])?;
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                aside[kept] = high;
                kept += 1;
            }
            low /= 2;
            high /= 2;
        }
        for &node in aside[..kept].iter().rev() {
            accumulator.merge(&mut state, &self.nodes[node])?;
        }
        Ok(state)
    }
}
