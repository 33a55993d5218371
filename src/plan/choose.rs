//! The choice: which strategy answers a call, and how far it looks.

use super::{PlannedArg, offset_of};
use crate::bounds::FramePlan;
use crate::carry::Reach;
use crate::evaluate::Strategy;
use crate::frame::{Exclude, Shape};
use crate::functions::registry::{Algebra, Family, Function, Kernel};
use crate::spec::Call;

/// Frames of a fixed number of rows up to this many are folded anew: two updates cost less than a queue
/// (`benches/evaluate.rs`).
const TINY_FRAME: i128 = 4;

/// The strategy that costs least, and why.
pub(super) fn choose(algebra: Algebra, frame: &FramePlan) -> (Strategy, &'static str) {
    let excludes = frame.frame().exclude != Exclude::NoOthers;
    let tiny = frame.frame().width().is_some_and(|width| width <= TINY_FRAME);
    match (algebra, frame.shape()) {
        (Algebra::Positional, _) => (Strategy::Index, "the answer follows from row numbers"),
        (_, Shape::Entire) if !excludes => (Strategy::Whole, "every row of a partition has the same frame"),
        (_, Shape::Growing) if !excludes && frame.monotone() => (Strategy::Scan, "rows only enter the frame"),
        _ if !frame.monotone() => (Strategy::SegmentTree, "frames may jump"),
        _ if tiny => (Strategy::Naive, "the frame is a few rows"),
        (Algebra::Retractable, _) => (Strategy::Prefix, "what leaves the frame can be subtracted exactly"),
        (_, Shape::Entire) => (Strategy::Scan, "what EXCLUDE leaves grows on one side and shrinks on the other"),
        (_, Shape::Shrinking) if !excludes => (Strategy::Scan, "rows only leave the frame"),
        (Algebra::Selective, _) => (Strategy::Deque, "only rows that may still be chosen are kept"),
        _ => (Strategy::TwoStacks, "states merge and cannot be subtracted"),
    }
}

/// How far the call looks.
pub(super) fn reach(function: &Function, call: &Call, frame: &FramePlan, args: &[PlannedArg]) -> (Reach, Reach) {
    match (function.family, function.kernel) {
        (Family::Aggregate | Family::Value, _) => frame.reach(),
        (_, Kernel::PercentRank | Kernel::CumeDist | Kernel::Ntile) => (Reach::Nothing, Reach::Everything),
        (Family::Ranking, _) => (Reach::State, Reach::Nothing),
        (Family::Offset, kernel) => {
            let offset = offset_of(kernel, args);
            match (call.ignore_nulls, offset) {
                (_, 0) => (Reach::Nothing, Reach::Nothing),
                (true, ..0) => (Reach::State, Reach::Nothing),
                (true, 1..) => (Reach::Nothing, Reach::Everything),
                (false, ..0) => (Reach::Rows(offset.unsigned_abs()), Reach::Nothing),
                (false, 1..) => (Reach::Nothing, Reach::Rows(offset.unsigned_abs())),
            }
        }
    }
}
