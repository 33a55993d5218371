//! `entropy`: the Shannon entropy of the frame's values in bits, log2(n) - sum(c * log2(c)) / n over their counts c;
//! 0.0 for no values, as for one.
//!
//! The terms of all values are summed in a tree, in which replacing one costs O(log k): nothing is subtracted from a
//! running float, so a result does not depend on earlier frames. 16 bytes per value.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};

use crate::error::Result;
use crate::evaluate::multiset::sliding::MultisetFunction;
use crate::evaluate::multiset::value_codes::{PartitionCodes, ValueCodes};
use crate::util::reserve;

/// The entropy of the values; each is counted once if `distinct`.
#[derive(Debug)]
pub(crate) struct Entropy {
    pub(crate) distinct: bool,
}

/// The counts of the values, and the sums of their terms.
#[derive(Debug, Default)]
pub(crate) struct EntropyState {
    counts: Vec<u32>,
    total: u64,
    present: usize,
    /// Node `n` has the children `2n` and `2n + 1`.
    nodes: Vec<f64>,
}

/// c * log2(c), 0 for c = 0.
fn term(count: u32) -> f64 {
    if count == 0 { 0.0 } else { f64::from(count) * f64::from(count).log2() }
}

impl MultisetFunction for Entropy {
    type State = EntropyState;
    type Builder = Vec<f64>;

    fn needs_counts(&self) -> bool {
        !self.distinct
    }

    fn reset(&self, state: &mut EntropyState, _: &ValueCodes, partition: &PartitionCodes) -> Result<()> {
        reserve::refill(&mut state.counts, partition.codes, 0)?;
        reserve::refill(&mut state.nodes, 2 * partition.codes.next_power_of_two(), 0.0)?;
        (state.total, state.present) = (0, 0);
        Ok(())
    }

    #[inline]
    fn set_count(
        &self,
        state: &mut EntropyState,
        _: &ValueCodes,
        _: &PartitionCodes,
        code: usize,
        count: u32,
    ) -> Result<()> {
        let count = if self.distinct { count.min(1) } else { count };
        let before = std::mem::replace(&mut state.counts[code], count);
        state.total = state.total + u64::from(count) - u64::from(before);
        state.present = state.present + usize::from(count > 0) - usize::from(before > 0);
        let nodes = &mut state.nodes;
        let mut node = nodes.len() / 2 + code;
        nodes[node] = term(count);
        while node > 1 {
            node /= 2;
            nodes[node] = nodes[2 * node] + nodes[2 * node + 1];
        }
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Vec<f64> {
        Vec::with_capacity(capacity)
    }

    fn evaluate(
        &self,
        state: &mut EntropyState,
        _: &ValueCodes,
        _: &PartitionCodes,
        _: usize,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        let total = state.total as f64;
        out.push(if state.present < 2 { 0.0 } else { (total.log2() - state.nodes[1] / total).max(0.0) });
        Ok(())
    }

    fn evaluate_naive(
        &self,
        counts: &BTreeMap<u32, u32>,
        _: &ValueCodes,
        _: &PartitionCodes,
        _: usize,
        out: &mut Vec<f64>,
    ) -> Result<()> {
        let count = |count: &u32| f64::from(if self.distinct { 1 } else { *count });
        let total: f64 = counts.values().map(count).sum();
        let terms = counts.values().map(|times| count(times) / total).map(|share| share * -share.log2());
        // The empty sum is -0.0.
        out.push(terms.sum::<f64>() + 0.0);
        Ok(())
    }

    fn finish(&self, out: Vec<f64>) -> Result<ArrayRef> {
        Ok(Arc::new(Float64Array::from(out)))
    }
}
