//! User-defined functions: aggregates, functions of frames and of partitions.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use super::inputs::Inputs;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::aggregate_evaluator::{evaluator_for_retractable, evaluator_for_update_only};
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::multiset::rank_codes::IncludedRows;
use crate::evaluate::udf_blocks::{FrameBlocks, PartitionBlocks};
use crate::functions::aggregate::udf::UdfAccumulator;
use crate::model::carry::Carry;
use crate::spec::strategy::Strategy;
use crate::spec::udf::{UserAggregate, UserFunction};
use crate::util::cancel::Cancel;

/// The evaluator of a call of this family.
pub(super) fn evaluator(inputs: &Inputs) -> Result<Box<dyn Evaluator>> {
    let function = inputs.call.user.clone().ok_or_else(|| Error::internal("a user's function was not kept"))?;
    let inner = match &function {
        UserFunction::Aggregate(aggregate) => function.within(|| folded(inputs, aggregate.as_ref()))?,
        UserFunction::Frames(function) => {
            let places = IncludedRows::new(inputs.section, inputs.inclusion.clone())?;
            Box::new(FrameBlocks::new(function.clone(), places, &inputs.args)?)
        }
        UserFunction::Partitions(function) => Box::new(PartitionBlocks::new(function.clone(), inputs.args.clone())),
    };
    Ok(Box::new(Within { inner, function }))
}

fn folded(inputs: &Inputs, aggregate: &dyn UserAggregate) -> Result<Box<dyn Evaluator>> {
    let Inputs { call, section, inclusion, .. } = inputs;
    let folds = UdfAccumulator::new(aggregate.bind(&inputs.args)?, inclusion.clone());
    match call.strategy {
        Strategy::Naive if call.signature.algebra.merges() => {
            evaluator_for_retractable(folds, Strategy::Naive, section)
        }
        strategy @ (Strategy::Refold | Strategy::Naive) => {
            evaluator_for_update_only(folds, strategy, section, &inputs.argument_order()?)
        }
        strategy => evaluator_for_retractable(folds, strategy, section),
    }
}

/// Enters the user's runtime once for all calls of an evaluator.
struct Within {
    inner: Box<dyn Evaluator>,
    function: UserFunction,
}

impl Evaluator for Within {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        self.function.within(|| self.inner.evaluate(frames, rows, carry, cancel))
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        self.function.within(|| self.inner.save_state(state, rows))
    }

    fn merge_states(&self, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        self.function.within(|| self.inner.merge_states(left, right))
    }

    fn first_unsettled(&self, frames: &Frames) -> usize {
        self.inner.first_unsettled(frames)
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        self.inner.first_needed(frames, answered)
    }
}
