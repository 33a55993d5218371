//! Builds the evaluator of an aggregate under a strategy: one constructor per algebra, listing the strategies it
//! supports.

use super::evaluator::Evaluator;
use super::fold::AggregateEvaluator;
use super::{deque, naive, prefix, refold, scan, segment_tree, two_stacks, whole};
use crate::error::{Error, Result};
use crate::model::aggregate::{Aggregate, Removable, Selective};
use crate::model::section::Section;
use crate::sort::sort_column::SortColumn;
use crate::spec::strategy::Strategy;

/// The evaluator of an aggregate with mergeable states.
///
/// # Errors
/// The strategy needs more than `merge`.
pub(crate) fn evaluator_for_mergeable<A: Aggregate + 'static>(
    aggregate: A,
    strategy: Strategy,
    section: &Section,
) -> Result<Box<dyn Evaluator>> {
    match strategy {
        Strategy::SegmentTree => {
            let tree = segment_tree::SegmentTree::new(aggregate.accumulator(), section.rows)?;
            Ok(AggregateEvaluator::boxed(aggregate, tree, section))
        }
        Strategy::Naive => Ok(AggregateEvaluator::boxed(aggregate, naive::Naive, section)),
        other => common_evaluator_for_mergeable(aggregate, other, section),
    }
}

fn unserved_strategy(strategy: Strategy) -> Error {
    Error::internal(format!("the plan chose {strategy} for an aggregate that cannot serve it"))
}

/// The evaluator of an aggregate that can also retract.
///
/// # Errors
/// The strategy needs more than that.
pub(crate) fn evaluator_for_retractable<A: Aggregate<Accumulator: Removable> + 'static>(
    aggregate: A,
    strategy: Strategy,
    section: &Section,
) -> Result<Box<dyn Evaluator>> {
    if COMMON_FOR_RETRACTABLE.contains(&strategy) {
        common_evaluator_for_retractable(aggregate, strategy, section)
    } else {
        evaluator_for_mergeable(aggregate, strategy, section)
    }
}

/// The strategies of [`common_evaluator_for_mergeable`].
pub(crate) const COMMON_FOR_MERGEABLE: [Strategy; 3] = [Strategy::Whole, Strategy::Scan, Strategy::TwoStacks];

/// The strategies of [`common_evaluator_for_retractable`].
pub(crate) const COMMON_FOR_RETRACTABLE: [Strategy; 3] = [Strategy::Whole, Strategy::Scan, Strategy::Prefix];

/// As [`evaluator_for_mergeable`], restricted to the strategies that a plan chooses for most frames, because each
/// strategy is compiled for each aggregate.
///
/// # Errors
/// Any other strategy.
pub(crate) fn common_evaluator_for_mergeable<A: Aggregate + 'static>(
    aggregate: A,
    strategy: Strategy,
    section: &Section,
) -> Result<Box<dyn Evaluator>> {
    match strategy {
        Strategy::Whole => Ok(AggregateEvaluator::boxed(aggregate, whole::Whole { exact: false }, section)),
        Strategy::Scan => Ok(AggregateEvaluator::boxed(aggregate, scan::Scan::new(section), section)),
        Strategy::TwoStacks => Ok(AggregateEvaluator::boxed(aggregate, two_stacks::TwoStacks, section)),
        other => Err(unserved_strategy(other)),
    }
}

/// As [`evaluator_for_retractable`], restricted to the strategies that a plan chooses for most frames.
///
/// # Errors
/// Any other strategy.
pub(crate) fn common_evaluator_for_retractable<A: Aggregate<Accumulator: Removable> + 'static>(
    aggregate: A,
    strategy: Strategy,
    section: &Section,
) -> Result<Box<dyn Evaluator>> {
    match strategy {
        Strategy::Whole => {
            Ok(AggregateEvaluator::boxed(aggregate, whole::Whole { exact: A::Accumulator::MERGE_IS_EXACT }, section))
        }
        Strategy::Scan => Ok(AggregateEvaluator::boxed(aggregate, scan::Scan::new(section), section)),
        Strategy::Prefix => Ok(AggregateEvaluator::boxed(aggregate, prefix::Prefix, section)),
        other => Err(unserved_strategy(other)),
    }
}

/// The evaluator of an aggregate whose result is a value of one row.
///
/// # Errors
/// The strategy needs more than that.
pub(crate) fn evaluator_for_selective<A: Aggregate<Accumulator: Selective> + 'static>(
    aggregate: A,
    strategy: Strategy,
    section: &Section,
) -> Result<Box<dyn Evaluator>> {
    match strategy {
        Strategy::Deque => Ok(AggregateEvaluator::boxed(aggregate, deque::Deque, section)),
        Strategy::Whole => Ok(AggregateEvaluator::boxed(aggregate, whole::Whole { exact: true }, section)),
        other => evaluator_for_mergeable(aggregate, other, section),
    }
}

/// The evaluator of an aggregate whose states support update only, with rows read in the order of `order` if it has
/// keys.
///
/// # Errors
/// The strategy needs more than that; there is no memory for the order.
pub(crate) fn evaluator_for_update_only<A: Aggregate + 'static>(
    aggregate: A,
    strategy: Strategy,
    section: &Section,
    order: &[SortColumn],
) -> Result<Box<dyn Evaluator>> {
    let refold = refold::Refold::new(aggregate, section, order)?;
    match strategy {
        Strategy::Refold => Ok(Box::new(refold)),
        Strategy::Naive => Ok(Box::new(refold.naive())),
        other => Err(unserved_strategy(other)),
    }
}
