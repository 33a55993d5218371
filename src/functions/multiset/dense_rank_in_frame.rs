//! `dense_rank(ORDER BY x)`: one more than the different values of the frame that come before the row's own.
//!
//! The row itself need not be in the frame. Cost: O(log k) per change and per answer among k values, 4 bytes per value.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};

use crate::error::Result;
use crate::evaluate::multiset::fenwick::Ranked;
use crate::evaluate::multiset::sliding::MultisetFunction;
use crate::evaluate::multiset::value_codes::{Partition, Values};
use crate::util::reserve;

/// The place of the row's value among the frame's.
#[derive(Debug)]
pub(crate) struct DenseRank;

impl DenseRank {
    /// The code of the row's own value: every row takes part.
    fn own(values: &Values, row: usize) -> usize {
        values.codes[row] as usize
    }
}

impl MultisetFunction for DenseRank {
    type Kept = Ranked;
    type Builder = Vec<i32>;

    fn counts(&self) -> bool {
        false
    }

    fn restart(&self, kept: &mut Ranked, _: &Values, partition: &Partition) -> Result<()> {
        reserve::probe(partition.codes * size_of::<u32>())?;
        kept.restart(partition.codes);
        Ok(())
    }

    #[inline]
    fn set(&self, kept: &mut Ranked, _: &Values, _: &Partition, code: usize, count: u32) -> Result<()> {
        kept.set(code, count > 0);
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Vec<i32> {
        Vec::with_capacity(capacity)
    }

    fn answer(&self, kept: &mut Ranked, values: &Values, _: &Partition, row: usize, out: &mut Vec<i32>) -> Result<()> {
        out.push(kept.before(Self::own(values, row)) as i32 + 1);
        Ok(())
    }

    fn define(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &Values,
        _: &Partition,
        row: usize,
        out: &mut Vec<i32>,
    ) -> Result<()> {
        let before = counts.keys().filter(|&&code| (code as usize) < Self::own(values, row));
        out.push(before.count() as i32 + 1);
        Ok(())
    }

    fn finish(&self, out: Vec<i32>) -> Result<ArrayRef> {
        Ok(Arc::new(Int32Array::from(out)))
    }
}
