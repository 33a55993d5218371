//! DISTINCT: an aggregate of the frame's different values.
//!
//! No aggregate knows of it. A value that comes to the frame is one row to update with, and where it leaves again that
//! row is retracted, or its leaf in a tree of states becomes that of no rows. The row is the value's first in the
//! partition: the same one for every frame that holds the value.
//!
//! Cost: see [`crate::evaluate::multiset::sliding`] and [`crate::evaluate::multiset::distinct_sweep`]; O(1) per change
//! where the aggregate retracts, O(log n) merges where it merges. The naive twin counts each frame anew and folds one
//! row of each value.

use std::collections::BTreeMap;

use arrow_array::ArrayRef;

use super::distinct_sweep::Sweep;
use super::sliding::{Codes, MultisetFunction};
use super::value_codes::{Partition, Values};
use crate::error::Result;
use crate::evaluate::evaluator::{Evaluator, FrameTraits};
use crate::evaluate::state_tree::StateTree;
use crate::model::aggregate::{Accumulator, Aggregate, Readout, Retractable};
use crate::spec::strategy::Strategy;

/// The evaluator of any aggregate over the different values of frames of these traits.
pub(crate) fn mergeable<A: Aggregate + 'static>(
    aggregate: A,
    frames: FrameTraits,
    values: Values,
) -> Box<dyn Evaluator> {
    if frames.strategy == Strategy::Sweep {
        Box::new(Sweep::new(aggregate, values))
    } else {
        Codes::boxed(frames, values, MergedDistinct(aggregate))
    }
}

/// As [`mergeable`], of an aggregate that can also subtract.
pub(crate) fn retractable<A: Aggregate<Accumulator: Retractable> + 'static>(
    aggregate: A,
    frames: FrameTraits,
    values: Values,
) -> Box<dyn Evaluator> {
    if frames.strategy == Strategy::Sweep {
        Box::new(Sweep::new(aggregate, values))
    } else {
        Codes::boxed(frames, values, RetractedDistinct(aggregate))
    }
}

/// Appends the aggregate of one row of each value.
fn fold<A: Aggregate>(
    aggregate: &A,
    counts: &BTreeMap<u32, u32>,
    values: &Values,
    partition: &Partition,
    out: &mut A::Builder,
) -> Result<()> {
    let (accumulator, readout) = (aggregate.accumulator(), aggregate.readout());
    let mut state = accumulator.init();
    for &code in counts.keys() {
        let row = values.row(partition, code as usize);
        accumulator.update(&mut state, row..row + 1)?;
    }
    readout.evaluate(&state, out)
}

/// One state, from which values are taken again.
struct RetractedDistinct<A>(A);

impl<A: Aggregate<Accumulator: Retractable>> MultisetFunction for RetractedDistinct<A> {
    type Kept = Option<A::State>;
    type Builder = A::Builder;

    fn counts(&self) -> bool {
        false
    }

    fn restart(&self, kept: &mut Self::Kept, _: &Values, _: &Partition) -> Result<()> {
        *kept = Some(self.0.accumulator().init());
        Ok(())
    }

    fn set(
        &self,
        kept: &mut Self::Kept,
        values: &Values,
        partition: &Partition,
        code: usize,
        count: u32,
    ) -> Result<()> {
        let row = values.row(partition, code);
        let state = kept.get_or_insert_with(|| self.0.accumulator().init());
        if count > 0 {
            return self.0.accumulator().update(state, row..row + 1);
        }
        let mut gone = self.0.accumulator().init();
        self.0.accumulator().update(&mut gone, row..row + 1)?;
        self.0.accumulator().retract(state, &gone);
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Self::Builder {
        self.0.readout().builder(capacity)
    }

    fn answer(
        &self,
        kept: &mut Self::Kept,
        _: &Values,
        _: &Partition,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        self.0.readout().evaluate(kept.get_or_insert_with(|| self.0.accumulator().init()), out)
    }

    fn define(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &Values,
        partition: &Partition,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        fold(&self.0, counts, values, partition, out)
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        self.0.readout().finish(out)
    }
}

/// A tree of the states of the values present.
struct MergedDistinct<A>(A);

impl<A: Aggregate> MultisetFunction for MergedDistinct<A> {
    type Kept = StateTree<A::State>;
    type Builder = A::Builder;

    fn counts(&self) -> bool {
        false
    }

    fn restart(&self, kept: &mut Self::Kept, _: &Values, partition: &Partition) -> Result<()> {
        kept.restart(self.0.accumulator(), partition.codes)
    }

    fn set(
        &self,
        kept: &mut Self::Kept,
        values: &Values,
        partition: &Partition,
        code: usize,
        count: u32,
    ) -> Result<()> {
        let mut state = self.0.accumulator().init();
        if count > 0 {
            let row = values.row(partition, code);
            self.0.accumulator().update(&mut state, row..row + 1)?;
        }
        kept.set(self.0.accumulator(), code, state)
    }

    fn builder(&self, capacity: usize) -> Self::Builder {
        self.0.readout().builder(capacity)
    }

    fn answer(
        &self,
        kept: &mut Self::Kept,
        _: &Values,
        _: &Partition,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        match kept.root() {
            Some(state) => self.0.readout().evaluate(state, out),
            None => self.0.readout().evaluate(&self.0.accumulator().init(), out),
        }
    }

    fn define(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &Values,
        partition: &Partition,
        _: usize,
        out: &mut Self::Builder,
    ) -> Result<()> {
        fold(&self.0, counts, values, partition, out)
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        self.0.readout().finish(out)
    }
}
