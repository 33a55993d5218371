//! The `min_rows` modifier: NULL where fewer rows of the frame are counted.
//!
//! An ordinary count over the same frames counts the rows, so `min_rows` costs as much as a count and works for every
//! function.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StructArray};
use arrow_buffer::{BooleanBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};

use super::evaluator::Evaluator;
use super::positional::gather_plan::null_where;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::model::carry::Carry;
use crate::util::cancel::Cancel;
use crate::util::threads::Threads;

/// An evaluator whose results are NULL where `count` is less than `rows`.
pub(crate) struct MinRows {
    inner: Box<dyn Evaluator>,
    count: Box<dyn Evaluator>,
    rows: i64,
}

impl MinRows {
    /// `inner` where `count`, an Int64 column without nulls, is at least `rows`; NULL elsewhere.
    #[must_use]
    pub(crate) fn new(inner: Box<dyn Evaluator>, count: Box<dyn Evaluator>, rows: u64) -> Self {
        Self { inner, count, rows: i64::try_from(rows).unwrap_or(i64::MAX) }
    }
}

impl Evaluator for MinRows {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let carries = split_carry(carry)?;
        let values = self.inner.evaluate(frames, rows.clone(), &carries[0], cancel)?;
        let counts = self.count.evaluate(frames, rows, &carries[1], cancel)?;
        let counts = counts.as_primitive::<Int64Type>().values();
        let few = BooleanBuffer::collect_bool(counts.len(), |row| counts[row] < self.rows);
        null_where(&values, few)
    }

    fn check_size(&self, frames: &Frames, rows: &Range<usize>, threads: &Threads) -> Result<()> {
        self.inner.check_size(frames, rows, threads)
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        let [inner, count] = split_state(state)?;
        combine_states(
            self.inner.save_state(inner.as_ref(), rows.clone())?,
            self.count.save_state(count.as_ref(), rows)?,
        )
    }

    fn merge_states(&self, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        let joined = |evaluator: &dyn Evaluator, part: usize| -> Result<RecordBatch> {
            let lacking = || Error::internal("the carry of a call with min_rows lacks a state");
            let [left, right] = [&split_state(Some(left))?[part], &split_state(Some(right))?[part]].map(Clone::clone);
            evaluator.merge_states(&left.ok_or_else(lacking)?, &right.ok_or_else(lacking)?)
        };
        combine_states(joined(self.inner.as_ref(), 0)?, joined(self.count.as_ref(), 1)?)
    }

    fn first_unsettled(&self, frames: &Frames) -> usize {
        self.inner.first_unsettled(frames).min(self.count.first_unsettled(frames))
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        self.inner.first_needed(frames, answered).min(self.count.first_needed(frames, answered))
    }
}

/// The carries of the evaluator and of its count.
fn split_carry(carry: &Carry) -> Result<[Carry; 2]> {
    let ([inner, count], [inner_after, count_after]) =
        (split_state(carry.state.as_ref())?, split_state(carry.after.as_ref())?);
    let Carry { base, .. } = *carry;
    Ok([Carry { base, state: inner, after: inner_after }, Carry { base, state: count, after: count_after }])
}

/// The states of the evaluator and of its count.
fn split_state(state: Option<&RecordBatch>) -> Result<[Option<RecordBatch>; 2]> {
    let Some(state) = state else { return Ok([None, None]) };
    let part = |column: usize| {
        let lists = state.columns().get(column).and_then(|column| column.as_list_opt::<i32>());
        let rows = lists.filter(|lists| lists.len() == 1).map(|lists| lists.value(0));
        let rows = rows.ok_or_else(|| Error::internal("the carry of a call with min_rows holds two lists"))?;
        Ok::<_, Error>(Some(RecordBatch::from(rows.as_struct())))
    };
    Ok([part(0)?, part(1)?])
}

/// Combines two states into one. They may differ in length, so each becomes one list.
fn combine_states(inner: RecordBatch, count: RecordBatch) -> Result<RecordBatch> {
    let columns = [("inner", inner), ("count", count)].map(|(name, state)| {
        let offsets = OffsetBuffer::from_lengths([state.num_rows()]);
        let item = Field::new("row", DataType::Struct(state.schema().fields().clone()), false);
        let list = ListArray::new(Arc::new(item), offsets, Arc::new(StructArray::from(state)), None);
        (name, Arc::new(list) as ArrayRef)
    });
    Ok(RecordBatch::try_from_iter(columns)?)
}
