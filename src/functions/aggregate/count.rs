//! count: the number of counted rows in the frame. Works for every type; `BIGINT`, never NULL.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};

use super::accumulator::PrimitiveReader;
use super::sum_accumulator::SumState;
use super::variance::PivotMoments;
use crate::error::Result;
use crate::functions::native::{count_rows, scan_slots};
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::model::aggregate::{Accumulator, ResultReader, Retractable};
use crate::model::row_mask::RowMask;

/// A slice of units for `scan_slots`: counting reads only the mask.
const UNITS: [(); usize::MAX] = [(); usize::MAX];

/// Counts the rows of a mask.
#[derive(Debug, Clone)]
pub struct Count {
    inclusion: RowMask,
}

impl Count {
    /// Counts the rows of `inclusion`: all rows for `count(*)`, those without a null argument for `count(x, y)`.
    #[must_use]
    pub fn new(inclusion: RowMask) -> Self {
        Self { inclusion }
    }
}

impl Accumulator for Count {
    type State = u64;

    fn init(&self) -> u64 {
        0
    }

    #[inline]
    fn update(&self, state: &mut u64, rows: Range<usize>) -> Result<()> {
        *state += count_rows(&self.inclusion, rows);
        Ok(())
    }

    fn append_scan(
        &self,
        state: &mut u64,
        rows: Range<usize>,
        mut keep: impl Iterator<Item = u64>,
        out: &mut [u64],
    ) -> Result<()> {
        *state = scan_slots(&UNITS, &self.inclusion, rows, *state, out, |count, (), takes_part| {
            (count & keep.next().unwrap_or(u64::MAX)) + u64::from(takes_part)
        });
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut u64, right: &u64) -> Result<()> {
        *left += right;
        Ok(())
    }

    fn save(&self, state: &u64) -> Result<RecordBatch> {
        saved_row([("rows", state.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<u64> {
        saved_value(saved, "rows")
    }
}

impl ResultReader<u64> for Count {
    type Builder = Vec<i64>;

    fn builder(&self, capacity: usize) -> Vec<i64> {
        Vec::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &u64, out: &mut Vec<i64>) -> Result<()> {
        out.push(*state as i64);
        Ok(())
    }

    #[inline(always)]
    fn evaluate_block(&self, states: impl ExactSizeIterator<Item = Result<u64>>, out: &mut Vec<i64>) -> Result<()> {
        let known = out.len();
        out.resize(known + states.len(), 0);
        for (slot, state) in out[known..].iter_mut().zip(states) {
            *slot = state? as i64;
        }
        Ok(())
    }

    fn finish(&self, out: Vec<i64>) -> Result<ArrayRef> {
        Ok(Arc::new(Int64Array::from(out)))
    }
}

impl Retractable for Count {
    #[inline]
    fn retract(&self, state: &mut u64, gone: &u64) {
        *state -= gone;
    }
}

/// Reads the number of values from any state that contains it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountResult;

impl<S> PrimitiveReader<SumState<S>> for CountResult {
    type Type = Int64Type;

    #[inline]
    fn read(&self, state: &SumState<S>) -> Result<Option<i64>> {
        Ok(Some(state.count as i64))
    }
}

impl PrimitiveReader<PivotMoments> for CountResult {
    type Type = Int64Type;

    #[inline]
    fn read(&self, state: &PivotMoments) -> Result<Option<i64>> {
        Ok(Some(state.count as i64))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;
    use crate::functions::aggregate::accumulator::results;

    #[test]
    fn no_rows_are_zero_not_null() {
        let (x, y): (ArrayRef, ArrayRef) = (
            Arc::new(Int64Array::from(vec![None, Some(1), Some(2)])),
            Arc::new(Int64Array::from(vec![None, None, Some(3)])),
        );
        let count = |args: &[ArrayRef]| {
            let counts = results(&Count::new(RowMask::new(args, None)), &[0..0, 0..1, 0..3]).unwrap();
            assert_eq!(counts.null_count(), 0);
            counts.as_primitive::<Int64Type>().values().to_vec()
        };
        assert_eq!(count(&[]), [0, 1, 3]);
        assert_eq!(count(std::slice::from_ref(&x)), [0, 0, 2]);
        // Rows where all arguments are valid.
        assert_eq!(count(&[x, y]), [0, 0, 1]);
    }
}
