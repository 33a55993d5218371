//! NULL for rows whose order key is NULL: such a row lies at no distance from any other.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::evaluator::Evaluator;
use super::positional::gather_plan::null_where;
use crate::bounds::frames::Frames;
use crate::error::Result;
use crate::model::carry::Carry;
use crate::util::cancel::Cancel;

/// An evaluator whose results are NULL where the key is.
pub(crate) struct WhereKeyed {
    inner: Box<dyn Evaluator>,
    /// The rows whose key is NULL.
    keyless: BooleanBuffer,
}

impl WhereKeyed {
    /// `inner` where `keys` are not NULL.
    pub(crate) fn new(inner: Box<dyn Evaluator>, keys: &NullBuffer) -> Self {
        Self { inner, keyless: !keys.inner() }
    }
}

impl Evaluator for WhereKeyed {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let keyless = self.keyless.slice(rows.start, rows.len());
        null_where(&self.inner.evaluate(frames, rows, carry, cancel)?, keyless)
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        self.inner.save_state(state, rows)
    }

    fn merge_states(&self, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        self.inner.merge_states(left, right)
    }

    fn first_unsettled(&self, frames: &Frames) -> usize {
        self.inner.first_unsettled(frames)
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        self.inner.first_needed(frames, answered)
    }
}
