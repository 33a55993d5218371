//! DISTINCT: an aggregate of the frame's distinct values.
//!
//! Works for any aggregate. When a value enters the frame, one of its rows is added to the state; when the value
//! leaves, that row is retracted, or its leaf in a tree of states is reset to the empty state. The row is the value's
//! first in the partition, the same for every frame that contains the value.
//!
//! Cost: see [`crate::evaluate::multiset::sliding`] and [`crate::evaluate::multiset::distinct_sweep`]; per change O(1)
//! where the aggregate can retract, O(log n) merges otherwise. The naive strategy counts each frame anew and folds one
//! row of each value.

use std::collections::BTreeMap;

use arrow_array::ArrayRef;

use super::sliding::MultisetFunction;
use super::value_codes::{PartitionCodes, ValueCodes};
use crate::error::Result;
use crate::evaluate::state_tree::StateTree;
use crate::model::aggregate::{Accumulator, Aggregate, ResultReader, Retractable};

/// Appends the aggregate of one row of each value.
fn fold<A: Aggregate>(
    aggregate: &A,
    counts: &BTreeMap<u32, u32>,
    values: &ValueCodes,
    partition: &PartitionCodes,
    out: &mut A::Builder,
) -> Result<()> {
    let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
    let mut state = accumulator.init();
    for &code in counts.keys() {
        let row = values.row(partition, code as usize);
        accumulator.update(&mut state, row..row + 1)?;
    }
    reader.evaluate(&state, out)
}

/// An aggregate of distinct values by one state, from which values are retracted.
pub(crate) struct RetractedDistinct<A>(pub(crate) A);

impl<A: Aggregate<Accumulator: Retractable>> MultisetFunction for RetractedDistinct<A> {
    type State = Option<A::State>;
    type Builder = A::Builder;

    fn needs_counts(&self) -> bool {
        false
    }

    fn reset(&self, current: &mut Self::State, _: &ValueCodes, _: &PartitionCodes) -> Result<()> {
        *current = Some(self.0.accumulator().init());
        Ok(())
    }

    fn set_count(
        &self,
        current: &mut Self::State,
        values: &ValueCodes,
        partition: &PartitionCodes,
        code: usize,
        count: u32,
    ) -> Result<()> {
        let row = values.row(partition, code);
        let state = current.get_or_insert_with(|| self.0.accumulator().init());
        if count > 0 {
            return self.0.accumulator().update(state, row..row + 1);
        }
        let mut gone = self.0.accumulator().init();
        self.0.accumulator().update(&mut gone, row..row + 1)?;
        self.0.accumulator().retract(state, &gone);
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Self::Builder {
        self.0.reader().builder(capacity)
    }

    fn evaluate(
        &self,
        current: &mut Self::State,
        _: &ValueCodes,
        _: &PartitionCodes,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        self.0.reader().evaluate(current.get_or_insert_with(|| self.0.accumulator().init()), out)
    }

    fn evaluate_naive(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &ValueCodes,
        partition: &PartitionCodes,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        fold(&self.0, counts, values, partition, out)
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        self.0.reader().finish(out)
    }
}

/// An aggregate of distinct values by a tree of the states of those in the frame.
pub(crate) struct MergedDistinct<A>(pub(crate) A);

impl<A: Aggregate> MultisetFunction for MergedDistinct<A> {
    type State = StateTree<A::State>;
    type Builder = A::Builder;

    fn needs_counts(&self) -> bool {
        false
    }

    fn reset(&self, tree: &mut Self::State, _: &ValueCodes, partition: &PartitionCodes) -> Result<()> {
        tree.reset(self.0.accumulator(), partition.codes)
    }

    fn set_count(
        &self,
        tree: &mut Self::State,
        values: &ValueCodes,
        partition: &PartitionCodes,
        code: usize,
        count: u32,
    ) -> Result<()> {
        let mut state = self.0.accumulator().init();
        if count > 0 {
            let row = values.row(partition, code);
            self.0.accumulator().update(&mut state, row..row + 1)?;
        }
        tree.set(self.0.accumulator(), code, state)
    }

    fn builder(&self, capacity: usize) -> Self::Builder {
        self.0.reader().builder(capacity)
    }

    fn evaluate(
        &self,
        tree: &mut Self::State,
        _: &ValueCodes,
        _: &PartitionCodes,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        match tree.root() {
            Some(state) => self.0.reader().evaluate(state, out),
            None => self.0.reader().evaluate(&self.0.accumulator().init(), out),
        }
    }

    fn evaluate_naive(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &ValueCodes,
        partition: &PartitionCodes,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        fold(&self.0, counts, values, partition, out)
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        self.0.reader().finish(out)
    }
}
