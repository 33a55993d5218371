//! The evaluator of an aggregate under a strategy: one constructor for each algebra, which names the strategies it can run.

use super::evaluator::Evaluator;
use super::fold::Folded;
use super::{deque, naive, prefix, scan, segment_tree, two_stacks, whole};
use crate::error::{Error, Result};
use crate::model::aggregate::{Aggregate, Removable, Selective};
use crate::model::section::Section;
use crate::spec::strategy::Strategy;

/// The evaluator of any aggregate.
///
/// # Errors
/// The strategy asks more of the aggregate than `merge`.
pub fn mergeable<A: Aggregate + 'static>(
    aggregate: A,
    strategy: Strategy,
    section: &Section,
) -> Result<Box<dyn Evaluator>> {
    Ok(match strategy {
        Strategy::Whole => Folded::boxed(aggregate, whole::Whole { exact: false }, section),
        Strategy::Scan => Folded::boxed(aggregate, scan::Scan::new(section), section),
        Strategy::TwoStacks => Folded::boxed(aggregate, two_stacks::TwoStacks, section),
        Strategy::SegmentTree => {
            let tree = segment_tree::SegmentTree::new(&aggregate, section.rows)?;
            Folded::boxed(aggregate, tree, section)
        }
        Strategy::Naive => Folded::boxed(aggregate, naive::Naive, section),
        Strategy::Prefix
        | Strategy::Deque
        | Strategy::Index
        | Strategy::Wavelet
        | Strategy::Codes
        | Strategy::Blocks => {
            return Err(Error::internal(format!("the plan chose {strategy} for an aggregate that cannot serve it")));
        }
    })
}

/// The evaluator of an aggregate that can also subtract.
///
/// # Errors
/// The strategy asks more of the aggregate than that.
pub fn retractable<A: Removable + 'static>(
    aggregate: A,
    strategy: Strategy,
    section: &Section,
) -> Result<Box<dyn Evaluator>> {
    match strategy {
        Strategy::Prefix => Ok(Folded::boxed(aggregate, prefix::Prefix, section)),
        Strategy::Whole => Ok(Folded::boxed(aggregate, whole::Whole { exact: A::EXACT }, section)),
        other => mergeable(aggregate, other, section),
    }
}

/// The evaluator of an aggregate that picks one row.
///
/// # Errors
/// The strategy asks more of the aggregate than that.
pub fn selective<A: Selective + 'static>(
    aggregate: A,
    strategy: Strategy,
    section: &Section,
) -> Result<Box<dyn Evaluator>> {
    match strategy {
        Strategy::Deque => Ok(Folded::boxed(aggregate, deque::Deque, section)),
        Strategy::Whole => Ok(Folded::boxed(aggregate, whole::Whole { exact: true }, section)),
        other => mergeable(aggregate, other, section),
    }
}
