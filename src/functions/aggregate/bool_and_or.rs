//! `bool_and`, `bool_or`: computed from the numbers of true and false values, so that rows can be retracted.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::BooleanBuilder;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};

use super::accumulator::Accumulated;
use crate::error::Result;
use crate::functions::native::count_rows;
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::model::aggregate::{Accumulator, ResultReader, Retractable};
use crate::model::row_mask::RowMask;

/// The numbers of true and false values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BoolState {
    /// True values.
    pub trues: u64,
    /// False values.
    pub falses: u64,
}

/// Counts the true and false values of a column.
#[derive(Debug, Clone)]
pub struct BoolAccumulator {
    trues: RowMask,
    all: RowMask,
}

impl Accumulator for BoolAccumulator {
    type State = BoolState;

    #[inline]
    fn init(&self) -> BoolState {
        BoolState::default()
    }

    #[inline]
    fn update(&self, state: &mut BoolState, rows: Range<usize>) -> Result<()> {
        let trues = count_rows(&self.trues, rows.clone());
        state.trues += trues;
        state.falses += count_rows(&self.all, rows) - trues;
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut BoolState, right: &BoolState) -> Result<()> {
        left.trues += right.trues;
        left.falses += right.falses;
        Ok(())
    }

    fn save(&self, state: &BoolState) -> Result<RecordBatch> {
        saved_row([("true", state.trues.write()?), ("false", state.falses.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<BoolState> {
        Ok(BoolState { trues: saved_value(saved, "true")?, falses: saved_value(saved, "false")? })
    }
}

impl Retractable for BoolAccumulator {
    #[inline]
    fn retract(&self, state: &mut BoolState, gone: &BoolState) {
        state.trues -= gone.trues;
        state.falses -= gone.falses;
    }
}

/// Which aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoolAggregate {
    /// Whether all are true.
    And,
    /// Whether any is true.
    Or,
}

impl BoolAggregate {
    /// The aggregate over the rows of `inclusion` (without nulls) of a column.
    #[must_use]
    pub fn over(self, values: &BooleanArray, inclusion: RowMask) -> Accumulated<BoolAccumulator, Self> {
        let trues = match &inclusion {
            RowMask::All => values.values().clone(),
            RowMask::Mask(mask) => values.values() & mask,
        };
        Accumulated { accumulator: BoolAccumulator { trues: RowMask::Mask(trues), all: inclusion }, reader: self }
    }
}

impl ResultReader<BoolState> for BoolAggregate {
    type Builder = BooleanBuilder;

    fn builder(&self, capacity: usize) -> Self::Builder {
        BooleanBuilder::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &BoolState, out: &mut Self::Builder) -> Result<()> {
        out.append_option((state.trues + state.falses > 0).then_some(match self {
            Self::And => state.falses == 0,
            Self::Or => state.trues > 0,
        }));
        Ok(())
    }

    fn finish(&self, mut out: Self::Builder) -> Result<ArrayRef> {
        Ok(Arc::new(out.finish()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::cast::AsArray;

    use super::*;
    use crate::functions::aggregate::accumulator::results;

    #[test]
    fn bool_aggregates_skip_nulls() {
        let column: ArrayRef = Arc::new(BooleanArray::from(vec![None, Some(true), None, Some(false)]));
        let inclusion = RowMask::new(std::slice::from_ref(&column), None);
        let answers = |logic: BoolAggregate| -> Vec<_> {
            let runs = [0..0, 0..1, 0..2, 3..4, 0..4];
            let answers = results(&logic.over(column.as_boolean(), inclusion.clone()), &runs).unwrap();
            answers.as_boolean().iter().collect()
        };
        assert_eq!(answers(BoolAggregate::And), [None, None, Some(true), Some(false), Some(false)]);
        assert_eq!(answers(BoolAggregate::Or), [None, None, Some(true), Some(false), Some(true)]);
    }
}
