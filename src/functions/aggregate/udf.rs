//! Adapts user-defined aggregates to the crate's aggregate trait.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch};

use crate::error::{Error, Result};
use crate::functions::saved_state::{saved_column, saved_row};
use crate::model::aggregate::{Accumulator, Removable, ResultReader};
use crate::model::row_mask::RowMask;
use crate::spec::udf::{BoundAggregate, UserResults, UserState};

/// A bound user-defined aggregate with the counted rows: what strategies fold.
pub(crate) struct UdfAccumulator {
    aggregate: Box<dyn BoundAggregate>,
    inclusion: RowMask,
}

impl UdfAccumulator {
    pub(crate) fn new(aggregate: Box<dyn BoundAggregate>, inclusion: RowMask) -> Self {
        Self { aggregate, inclusion }
    }

    /// Calls `f` with the runs of counted rows.
    fn runs(&self, rows: Range<usize>, mut f: impl FnMut(Range<usize>) -> Result<()>) -> Result<()> {
        match &self.inclusion {
            RowMask::All => f(rows),
            RowMask::Mask(_) => self.inclusion.try_for_each(rows, |row| f(row..row + 1)),
        }
    }
}

impl Accumulator for UdfAccumulator {
    type State = UserState;

    fn init(&self) -> UserState {
        self.aggregate.initial()
    }

    fn update(&self, state: &mut UserState, rows: Range<usize>) -> Result<()> {
        self.runs(rows, |rows| self.aggregate.update(state, rows))
    }

    fn merge(&self, left: &mut UserState, right: &UserState) -> Result<()> {
        self.aggregate.merge(left, right)
    }

    fn save(&self, state: &UserState) -> Result<RecordBatch> {
        let bytes = self.aggregate.save(state)?;
        saved_row([("state", Arc::new(BinaryArray::from_vec(vec![&bytes])) as ArrayRef)])
    }

    fn load(&self, state: &RecordBatch) -> Result<UserState> {
        match saved_column(state, "state")?.as_binary_opt::<i32>() {
            Some(bytes) if bytes.is_valid(0) => self.aggregate.load(bytes.value(0)),
            _ => Err(Error::internal("a saved state holds no bytes")),
        }
    }
}

impl ResultReader<UserState> for UdfAccumulator {
    type Builder = Box<dyn UserResults>;

    fn builder(&self, capacity: usize) -> Self::Builder {
        self.aggregate.results(capacity)
    }

    fn evaluate(&self, state: &UserState, out: &mut Self::Builder) -> Result<()> {
        out.push(state)
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        out.finish()
    }
}

impl Removable for UdfAccumulator {
    fn retract_rows(&self, state: &mut UserState, rows: Range<usize>) -> Result<()> {
        self.runs(rows, |rows| self.aggregate.retract(state, rows))
    }
}
