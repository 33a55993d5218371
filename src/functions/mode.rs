//! `mode`: the most frequent value of the frame, of several the least (by WITHIN GROUP (ORDER BY x DESC) the greatest).
//!
//! ```text
//!   greatest count              3
//!                         2           3           the leftmost leaf with the root's count is the answer
//!   counts by code      1   2       3   3
//! ```
//!
//! Cost: O(log k) per change among k values, mostly less, as a node whose count stays ends the climb; O(log k) per
//! answer that may have changed; 8 bytes per value.

use std::collections::BTreeMap;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;

use crate::error::Result;
use crate::evaluate::codes::{Partition, Tally, Values};

/// The most frequent value.
#[derive(Debug)]
pub(crate) struct Mode {
    column: ArrayRef,
    distinct: bool,
}

impl Mode {
    /// The most frequent value of `column`; each counts once if `distinct`.
    pub(crate) fn new(column: ArrayRef, distinct: bool) -> Self {
        Self { column, distinct }
    }
}

/// The greatest count below each node; node `n` has the children `2n` and `2n + 1`.
#[derive(Debug, Default)]
pub(crate) struct Greatest {
    nodes: Vec<u32>,
    /// The code found last.
    mode: Option<usize>,
    /// No count has changed since.
    found: bool,
}

impl Greatest {
    fn find(&self) -> Option<usize> {
        let greatest = *self.nodes.get(1).filter(|&&count| count > 0)?;
        let leaves = self.nodes.len() / 2;
        let mut node = 1;
        while node < leaves {
            node = 2 * node + usize::from(self.nodes[2 * node] != greatest);
        }
        Some(node - leaves)
    }
}

impl Tally for Mode {
    type Kept = Greatest;
    type Builder = Vec<Option<u32>>;

    fn counts(&self) -> bool {
        !self.distinct
    }

    fn restart(&self, kept: &mut Greatest, _: &Values, partition: &Partition) {
        kept.found = false;
        kept.nodes.clear();
        kept.nodes.resize(2 * partition.codes.next_power_of_two(), 0);
    }

    #[inline]
    fn set(&self, kept: &mut Greatest, _: &Values, _: &Partition, code: usize, count: u32) -> Result<()> {
        let nodes = &mut kept.nodes;
        let mut node = nodes.len() / 2 + code;
        nodes[node] = if self.distinct { count.min(1) } else { count };
        kept.found = false;
        while node > 1 {
            node /= 2;
            let greatest = nodes[2 * node].max(nodes[2 * node + 1]);
            if nodes[node] == greatest {
                break;
            }
            nodes[node] = greatest;
        }
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Self::Builder {
        Vec::with_capacity(capacity)
    }

    fn answer(
        &self,
        kept: &mut Greatest,
        values: &Values,
        partition: &Partition,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        if !std::mem::replace(&mut kept.found, true) {
            kept.mode = kept.find();
        }
        out.push(kept.mode.map(|code| values.row(partition, code) as u32));
        Ok(())
    }

    fn define(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &Values,
        partition: &Partition,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        let count = |count: u32| if self.distinct { count.min(1) } else { count };
        let greatest = counts.values().copied().map(count).max();
        let mode = counts.iter().find(|(_, times)| Some(count(**times)) == greatest);
        out.push(mode.map(|(&code, _)| values.row(partition, code as usize) as u32));
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        Ok(take(&self.column, &UInt32Array::from(out), None)?)
    }
}
