//! `mode`: the most frequent value of the frame, of several the smallest (by WITHIN GROUP (ORDER BY x DESC) the
//! largest).
//!
//! ```text
//!   greatest count              3
//!                         2           3           the leftmost leaf with the root's count is the mode
//!   counts by code      1   2       3   3
//! ```
//!
//! Cost: O(log k) per change among k values, usually less, as the update stops at a node whose count does not change;
//! O(log k) per result if the previous mode has lost a row, else O(1); 8 bytes per value.

use std::collections::BTreeMap;

use arrow_array::ArrayRef;

use crate::error::Result;
use crate::evaluate::multiset::sliding::MultisetFunction;
use crate::evaluate::multiset::value_codes::{PartitionCodes, ValueCodes};
use crate::evaluate::positional::gather_plan::{GatherPlan, RowSource};
use crate::util::reserve;

/// The most frequent value.
#[derive(Debug)]
pub(crate) struct Mode {
    column: ArrayRef,
    distinct: bool,
}

impl Mode {
    /// The most frequent value of `column`; each is counted once if `distinct`.
    pub(crate) fn new(column: ArrayRef, distinct: bool) -> Self {
        Self { column, distinct }
    }
}

/// The greatest count below each node; node `n` has the children `2n` and `2n + 1`.
#[derive(Debug, Default)]
pub(crate) struct ModeTree {
    nodes: Vec<u32>,
    /// The mode, if `found`.
    mode: Option<usize>,
    /// Whether the mode is known.
    found: bool,
}

impl ModeTree {
    /// Resets all counts, for `codes` codes.
    fn reset(&mut self, codes: usize) -> Result<()> {
        (self.mode, self.found) = (None, true);
        reserve::refill(&mut self.nodes, 2 * codes.next_power_of_two(), 0)
    }

    /// Sets the count of the code.
    #[inline]
    fn set_count(&mut self, code: usize, count: u32) {
        let Self { nodes, mode, found } = self;
        if *mode == Some(code) {
            // A mode whose count grew remains the only one; after a decrease the tree is searched.
            *found &= count > nodes[1];
        } else if count > nodes[1] || (count == nodes[1] && mode.is_some_and(|mode| code < mode)) {
            *mode = Some(code);
        }
        let mut node = nodes.len() / 2 + code;
        nodes[node] = count;
        while node > 1 {
            node /= 2;
            let greatest = nodes[2 * node].max(nodes[2 * node + 1]);
            if nodes[node] == greatest {
                break;
            }
            nodes[node] = greatest;
        }
    }

    /// The smallest of the most frequent codes.
    #[inline]
    fn mode(&mut self) -> Option<usize> {
        if !std::mem::replace(&mut self.found, true) {
            self.mode = self.find_mode();
        }
        self.mode
    }

    fn find_mode(&self) -> Option<usize> {
        let greatest = *self.nodes.get(1).filter(|&&count| count > 0)?;
        let leaves = self.nodes.len() / 2;
        let mut node = 1;
        while node < leaves {
            node = 2 * node + usize::from(self.nodes[2 * node] != greatest);
        }
        Some(node - leaves)
    }
}

impl MultisetFunction for Mode {
    type State = ModeTree;
    type Builder = GatherPlan;

    fn needs_counts(&self) -> bool {
        !self.distinct
    }

    fn reset(&self, tree: &mut ModeTree, _: &ValueCodes, partition: &PartitionCodes) -> Result<()> {
        tree.reset(partition.codes)
    }

    #[inline]
    fn set_count(
        &self,
        tree: &mut ModeTree,
        _: &ValueCodes,
        _: &PartitionCodes,
        code: usize,
        count: u32,
    ) -> Result<()> {
        tree.set_count(code, if self.distinct { count.min(1) } else { count });
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Self::Builder {
        GatherPlan::with_capacity(capacity)
    }

    fn evaluate(
        &self,
        tree: &mut ModeTree,
        values: &ValueCodes,
        partition: &PartitionCodes,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        out.push(tree.mode().map_or(RowSource::Null, |code| RowSource::Row(values.row(partition, code))));
        Ok(())
    }

    fn evaluate_naive(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &ValueCodes,
        partition: &PartitionCodes,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        let count = |count: u32| if self.distinct { count.min(1) } else { count };
        let greatest = counts.values().copied().map(count).max();
        let mode = counts.iter().find(|(_, times)| Some(count(**times)) == greatest);
        out.push(mode.map_or(RowSource::Null, |(&code, _)| RowSource::Row(values.row(partition, code as usize))));
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        out.gather(&self.column, None, None)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn mode_follows_changing_counts() {
        let mut seed = 1_u64;
        for codes in [1, 2, 3, 5, 64] {
            let (mut tree, mut counts) = (ModeTree::default(), vec![0_u32; codes]);
            tree.reset(7).unwrap();
            tree.reset(codes).unwrap();
            for _ in 0..20_000 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let code = (seed >> 33) as usize % codes;
                let up = (seed >> 20) % 5 < 2 || counts[code] == 0;
                counts[code] = if up { counts[code] + 1 } else { counts[code] - 1 };
                tree.set_count(code, counts[code]);
                // Not every change is followed by a query.
                if !(seed >> 40).is_multiple_of(3) {
                    let greatest = counts.iter().max().filter(|&&count| count > 0);
                    let expected = greatest.and_then(|greatest| counts.iter().position(|count| count == greatest));
                    assert_eq!(tree.mode(), expected, "{counts:?}");
                }
            }
        }
    }
}
