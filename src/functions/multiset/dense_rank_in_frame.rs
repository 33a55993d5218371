//! `dense_rank(ORDER BY x)`: one more than the number of distinct values of the frame that are before the row's own.
//!
//! The row itself need not be in the frame. Cost: O(log k) per change and per result for k values, 4 bytes per value.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};

use crate::error::Result;
use crate::evaluate::multiset::fenwick::Fenwick;
use crate::evaluate::multiset::sliding::MultisetFunction;
use crate::evaluate::multiset::value_codes::{PartitionCodes, ValueCodes};
use crate::util::reserve;

/// The dense rank of the row's value in the frame.
#[derive(Debug)]
pub(crate) struct DenseRank;

impl DenseRank {
    /// The code of the row's own value; every row is counted.
    fn code_of_row(values: &ValueCodes, row: usize) -> usize {
        values.codes[row] as usize
    }
}

impl MultisetFunction for DenseRank {
    type State = Fenwick;
    type Builder = Vec<i32>;

    fn needs_counts(&self) -> bool {
        false
    }

    fn reset(&self, present: &mut Fenwick, _: &ValueCodes, partition: &PartitionCodes) -> Result<()> {
        reserve::probe(partition.codes * size_of::<u32>())?;
        present.reset(partition.codes);
        Ok(())
    }

    #[inline]
    fn set_count(
        &self,
        present: &mut Fenwick,
        _: &ValueCodes,
        _: &PartitionCodes,
        code: usize,
        count: u32,
    ) -> Result<()> {
        present.set(code, count > 0);
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Vec<i32> {
        Vec::with_capacity(capacity)
    }

    fn evaluate(
        &self,
        present: &mut Fenwick,
        values: &ValueCodes,
        _: &PartitionCodes,
        row: usize,
        out: &mut Vec<i32>,
    ) -> Result<()> {
        out.push(present.count_before(Self::code_of_row(values, row)) as i32 + 1);
        Ok(())
    }

    fn evaluate_naive(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &ValueCodes,
        _: &PartitionCodes,
        row: usize,
        out: &mut Vec<i32>,
    ) -> Result<()> {
        let before = counts.keys().filter(|&&code| (code as usize) < Self::code_of_row(values, row));
        out.push(before.count() as i32 + 1);
        Ok(())
    }

    fn finish(&self, out: Vec<i32>) -> Result<ArrayRef> {
        Ok(Arc::new(Int32Array::from(out)))
    }
}
