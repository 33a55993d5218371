//! Moments of a column of doubles, for variances (`variance.rs`) and for skewness and kurtosis
//! (`skewness_kurtosis.rs`).
//!
//! Values are added one by one, or a block at a time, which is read twice: for sums of differences from a pivot, one of
//! the values, and for sums of their powers. The mean of equal values is therefore exactly their value, and values near
//! 1e9 lose no more digits than values near 0.

use std::marker::PhantomData;
use std::ops::Range;

use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_buffer::ScalarBuffer;

use super::lanes::{SUM_LANES, VALUES_PER_BLOCK};
use crate::error::Result;
use crate::functions::native::{
    for_each_grouped_slot, for_each_value, scan_slots, scan_slots_back, to_primitive, visit_slot,
};
use crate::model::aggregate::Accumulator;
use crate::model::group_ids::RowGroups;
use crate::model::row_mask::RowMask;

/// The moments of values up to some order: added one by one, by block, or merged.
pub trait Moments: Copy + Default + Send + Sync {
    /// Adds one value.
    fn add(&mut self, value: f64);

    /// Adds a value if it is counted; otherwise its content is arbitrary.
    #[inline]
    fn add_if(&mut self, value: f64, takes_part: bool) {
        if takes_part {
            self.add(value);
        }
    }

    /// The moments of a block.
    fn of(block: &[f64; VALUES_PER_BLOCK]) -> Self;

    /// Appends the values of `right`.
    fn merge(&mut self, right: &Self);

    /// The moments of the values of both, as a new state.
    #[must_use]
    fn merged(mut self, right: &Self) -> Self {
        self.merge(right);
        self
    }

    /// The moments if all bits of `keep` are set, the empty ones if none is.
    #[inline(always)]
    #[must_use]
    fn masked(self, keep: u64) -> Self {
        if keep == 0 { Self::default() } else { self }
    }

    /// The moments as one row of Arrow data.
    ///
    /// # Errors
    /// They do not form an array.
    fn save(&self) -> Result<RecordBatch>;

    /// The moments that `save` wrote.
    ///
    /// # Errors
    /// The data is not what `save` writes.
    fn load(saved: &RecordBatch) -> Result<Self>;
}

/// The mean of a block minus its first value: exactly 0 if all values are equal.
#[inline]
pub(super) fn mean_offset(block: &[f64; VALUES_PER_BLOCK]) -> f64 {
    let first = block[0];
    block_sum(block, |value| value - first) / VALUES_PER_BLOCK as f64
}

/// The sum of `f` over a block.
#[inline]
pub(super) fn block_sum(block: &[f64; VALUES_PER_BLOCK], f: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; SUM_LANES];
    for values in block.chunks_exact(SUM_LANES) {
        for (lane, &value) in lanes.iter_mut().zip(values) {
            *lane += f(value);
        }
    }
    lanes.iter().sum()
}

/// Accumulates the moments of a column of doubles.
#[derive(Debug, Clone)]
pub struct MomentAccumulator<M> {
    doubles: ScalarBuffer<f64>,
    inclusion: RowMask,
    gathered: PhantomData<M>,
}

impl<M: Moments> MomentAccumulator<M> {
    /// The accumulator over the counted rows.
    ///
    /// # Errors
    /// The column has another type.
    pub fn new(values: &dyn Array, inclusion: RowMask) -> Result<Self> {
        Ok(Self { doubles: to_primitive::<Float64Type>(values)?.values().clone(), inclusion, gathered: PhantomData })
    }
}

impl<M: Moments> Accumulator for MomentAccumulator<M> {
    type State = M;

    #[inline]
    fn init(&self) -> M {
        M::default()
    }

    #[inline]
    fn update(&self, state: &mut M, rows: Range<usize>) -> Result<()> {
        if rows.len() < 2 * VALUES_PER_BLOCK {
            for_each_value(&self.doubles, &self.inclusion, rows, |value| state.add(value));
            return Ok(());
        }
        let (mut block, mut filled) = ([0.0; VALUES_PER_BLOCK], 0);
        for_each_value(&self.doubles, &self.inclusion, rows, |value| {
            block[filled] = value;
            filled += 1;
            if filled == VALUES_PER_BLOCK {
                state.merge(&M::of(&block));
                filled = 0;
            }
        });
        for &value in &block[..filled] {
            state.add(value);
        }
        Ok(())
    }

    #[inline]
    fn append(&self, state: &mut M, row: usize) -> Result<()> {
        visit_slot(&self.doubles, &self.inclusion, row, |value, takes_part| state.add_if(value, takes_part));
        Ok(())
    }

    #[inline(always)]
    fn append_grouped(&self, states: &mut [M], first: usize, groups: &RowGroups, rows: Range<usize>) -> Result<()> {
        for_each_grouped_slot(&self.doubles, &self.inclusion, groups, rows, |group, value, takes_part| {
            states[group - first].add_if(value, takes_part);
        });
        Ok(())
    }

    fn append_scan(
        &self,
        state: &mut M,
        rows: Range<usize>,
        mut keep: impl Iterator<Item = u64>,
        out: &mut [M],
    ) -> Result<()> {
        *state = scan_slots(&self.doubles, &self.inclusion, rows, *state, out, |moments, value, takes_part| {
            let mut moments = moments.masked(keep.next().unwrap_or(u64::MAX));
            moments.add_if(value, takes_part);
            moments
        });
        Ok(())
    }

    fn prepend_scan(
        &self,
        state: &mut M,
        rows: Range<usize>,
        mut keep: impl Iterator<Item = u64>,
        out: &mut [M],
    ) -> Result<()> {
        *state = scan_slots_back(&self.doubles, &self.inclusion, rows, *state, out, |moments, value, takes_part| {
            let mut moments = moments.masked(keep.next().unwrap_or(u64::MAX));
            moments.add_if(value, takes_part);
            moments
        });
        Ok(())
    }

    /// Moments are commutative.
    #[inline]
    fn prepend(&self, state: &mut M, row: usize) -> Result<()> {
        self.append(state, row)
    }

    #[inline]
    fn merge(&self, left: &mut M, right: &M) -> Result<()> {
        left.merge(right);
        Ok(())
    }

    #[inline(always)]
    fn merged(&self, left: &M, right: &M) -> Result<M> {
        Ok(left.merged(right))
    }

    fn save(&self, state: &M) -> Result<RecordBatch> {
        state.save()
    }

    fn load(&self, saved: &RecordBatch) -> Result<M> {
        M::load(saved)
    }
}
