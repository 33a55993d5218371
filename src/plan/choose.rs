//! The choice: which strategy answers a call, and how far it looks.

use super::planned::{Plan, PlannedArg, offset_of};
use crate::bounds::resolve::FramePlan;
use crate::catalog::algebra::Algebra;
use crate::catalog::function::{Family, Function, Looks};
use crate::catalog::shared_state::SharedState;
use crate::catalog::signature::Signature;
use crate::model::physical_type::Native;
use crate::model::reach::Reach;
use crate::spec::call::{Call, Nulls};
use crate::spec::frame::{Exclude, Shape};
use crate::spec::strategy::Strategy;

/// Frames of a fixed number of rows up to this many are folded anew: two updates cost less than a queue
/// (`benches/kernels.rs`). Sums and means are not, unless EXCLUDE makes holes in frames: many at a time cost less still.
const TINY_FRAME: i128 = 4;

/// The strategy that costs least, and why.
pub(super) fn choose(function: &Function, signature: &Signature, frame: &FramePlan) -> (Strategy, &'static str) {
    // A value that is chosen by itself.
    let native = matches!(signature.inputs.as_slice(), [input] if Native::of(input).is_some());
    let excludes = frame.frame().exclude != Exclude::NoOthers;
    let tiny = frame.frame().width().is_some_and(|width| width <= TINY_FRAME);
    let totals = function.shared_state == Some(SharedState::Totals);
    match (signature.algebra, frame.shape()) {
        (Algebra::Positional, _) => (Strategy::Index, "the answer follows from row numbers"),
        (Algebra::Ordered, _) => (Strategy::Wavelet, "places among the frame's values are counted bit by bit"),
        (Algebra::Quantile, Shape::Entire) if !excludes => {
            (Strategy::Wavelet, "every row's frame is the sorted partition")
        }
        (Algebra::Quantile, _) if frame.monotone() => {
            (Strategy::Codes, "the frame's values are kept in order as rows come and go, and where the last answer was")
        }
        (Algebra::Quantile, _) => {
            (Strategy::Wavelet, "frames may jump: places among their values are counted bit by bit")
        }
        (Algebra::Counted, _) => (Strategy::Codes, "how often each value is in the frame is kept as rows come and go"),
        (Algebra::Blocks, _) => (Strategy::Blocks, "the function answers whole blocks of frames, or partitions"),
        (_, Shape::Entire) if !excludes => (Strategy::Whole, "every row of a partition has the same frame"),
        (_, Shape::Growing) if !excludes && frame.monotone() => (Strategy::Scan, "rows only enter the frame"),
        (Algebra::Foldable { ordered: true }, _) => (
            Strategy::Naive,
            "rows are read in an order of their own: a moving frame is folded anew, an update per row",
        ),
        (Algebra::Foldable { ordered: false }, _) => {
            (Strategy::Naive, "there is no merge: each frame is folded anew, an update for every row in it")
        }
        (Algebra::Sliding, _) if excludes || !frame.monotone() => {
            (Strategy::Naive, "there is no merge, and frames may jump or have holes: each is folded anew")
        }
        (Algebra::Sliding, _) => (Strategy::Prefix, "what leaves the frame is retracted row by row"),
        _ if !frame.monotone() => (Strategy::SegmentTree, "frames may jump"),
        _ if tiny && (excludes || !totals) => (Strategy::Naive, "the frame is a few rows"),
        (Algebra::Retractable, _) => (Strategy::Prefix, "what leaves the frame can be subtracted exactly"),
        (_, Shape::Entire) => (Strategy::Scan, "what EXCLUDE leaves grows on one side and shrinks on the other"),
        (_, Shape::Shrinking) if !excludes => (Strategy::Scan, "rows only leave the frame"),
        // Of numbers a state is as small as a row's, and two stacks have no branch that the values decide.
        (Algebra::Selective, _) if !native => (Strategy::Deque, "only rows that may still be chosen are kept"),
        _ => (Strategy::TwoStacks, "states merge and cannot be subtracted"),
    }
}

/// How far the call looks.
pub(super) fn reach(
    function: &Function,
    call: &Call,
    algebra: Algebra,
    frame: &FramePlan,
    args: &[PlannedArg],
) -> (Reach, Reach) {
    let all = |reach, stands: bool| if reach == Reach::State && !stands { Reach::Everything } else { reach };
    let looks = if function.takes_frame(!call.argument_order.is_empty()) { Looks::Frame } else { function.looks };
    match looks {
        Looks::Frame => {
            let (before, after) = frame.reach();
            let carries = carries(function, call, algebra, args);
            (all(before, carries), all(after, carries && joins(algebra)))
        }
        Looks::Partition => (Reach::Everything, Reach::Everything),
        Looks::Before => (Reach::State, Reach::Nothing),
        Looks::AllCounted => (Reach::State, Reach::State),
        Looks::Distance { before } => {
            let Some(offset) = offset_of(before, args) else {
                return (Reach::Everything, Reach::Everything);
            };
            match (call.nulls == Nulls::Ignore, offset) {
                (_, 0) => (Reach::Nothing, Reach::Nothing),
                (true, ..0) => (Reach::State, Reach::Nothing),
                (true, 1..) => (Reach::Nothing, Reach::State),
                (false, ..0) => (Reach::Rows(offset.unsigned_abs()), Reach::Nothing),
                (false, 1..) => (Reach::Nothing, Reach::Rows(offset.unsigned_abs())),
            }
        }
    }
}

/// Whether the states of neighbouring rows can be joined: a user's states may have no merge.
pub(super) fn joins(algebra: Algebra) -> bool {
    !matches!(algebra, Algebra::Sliding | Algebra::Foldable { .. })
}

/// Whether a state of bounded size can stand for the rows at the beginning of a frame.
fn carries(function: &Function, call: &Call, algebra: Algebra, args: &[PlannedArg]) -> bool {
    match algebra {
        Algebra::Ordered
        | Algebra::Quantile
        | Algebra::Counted
        | Algebra::Blocks
        | Algebra::Foldable { ordered: true } => false,
        Algebra::Positional => {
            let per_row = matches!(args.get(1), Some(PlannedArg::Column(_)));
            function.family == Family::Value && call.argument_order.is_empty() && !per_row
        }
        Algebra::Mergeable
        | Algebra::Retractable
        | Algebra::Selective
        | Algebra::Sliding
        | Algebra::Foldable { ordered: false } => true,
    }
}

impl Plan {
    /// The plan for partitions that no frame ends within: its frames reach to the partition's ends instead of a number of
    /// rows, and cost less. `None` if there are none of these, or a strategy is asked for.
    pub(crate) fn widened(&self) -> Option<Self> {
        if self.options.strategy.is_some() {
            return None;
        }
        let mut plan = self.clone();
        let mut any = false;
        for call in plan.calls.iter_mut().filter(|call| call.user.is_none()) {
            if let Some((frame, _)) = call.frame.widened() {
                (call.strategy, call.reason) = choose(call.function, &call.signature, &frame);
                (call.frame, any) = (frame, true);
            }
        }
        any.then_some(plan)
    }
}
