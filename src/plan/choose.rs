//! Chooses the strategy of a call, and how far its results depend on rows before and after.

use super::planned::{OrderStability, Plan, PlannedArg, PlannedCall, PlannedOrder, lag_lead_offset};
use crate::bounds::resolve::FramePlan;
use crate::catalog::algebra::Algebra;
use crate::catalog::function::{Family, FrameEnd, Function, RowsNeeded};
use crate::catalog::shared_state::SharedState;
use crate::model::physical_type::PhysicalType;
use crate::model::reach::Reach;
use crate::spec::call::{Call, Nulls};
use crate::spec::frame::{Bound, Exclude, Shape};
use crate::spec::strategy::Strategy;

/// Frames of a fixed number of rows up to this many are folded anew for each row, which is cheaper than a queue
/// (`benches/kernels.rs`). Sums and means are excepted, unless EXCLUDE makes holes in frames: they are computed for many
/// frames at a time.
const TINY_FRAME: i128 = 4;

/// The strategies that can evaluate the call.
pub(super) fn applicable(order: &PlannedOrder, call: &PlannedCall) -> Vec<Strategy> {
    let algebra = call.signature.algebra;
    let excludes = call.frame.frame().exclude != Exclude::NoOthers;
    let applies = |strategy: Strategy| match strategy {
        Strategy::Grouped => has_one_result_per_partition(order, call),
        // EXCLUDE can leave a frame of several ranges.
        Strategy::Sweep => !excludes,
        Strategy::Prefix if algebra == Algebra::Sliding => !excludes,
        _ => true,
    };
    // Built-in aggregates merge as cheaply as they update; only user states gain from Refold.
    let by_updates = call.user.is_some() && matches!(algebra, Algebra::Mergeable | Algebra::Retractable);
    let strategies = algebra.strategies().iter().copied().filter(|&strategy| applies(strategy));
    strategies.chain(by_updates.then_some(Strategy::Refold)).collect()
}

/// Chooses the cheapest strategy, and whether the rows need sorting.
pub(super) fn choose(order: &PlannedOrder, call: &mut PlannedCall) {
    (call.strategy, call.reason) = choose_sorted(call);
    call.grouped = has_one_result_per_partition(order, call)
        .then_some("each partition has one result, for which the order of its rows does not matter");
}

/// The cheapest strategy for rows in the window's order, and the reason for it.
fn choose_sorted(call: &PlannedCall) -> (Strategy, &'static str) {
    let PlannedCall { function, signature, frame, .. } = call;
    // The selected value is itself of a primitive type.
    let native = matches!(signature.inputs.as_slice(), [input] if PhysicalType::of(input).is_some());
    let excludes = frame.frame().exclude != Exclude::NoOthers;
    let grows = frame.shape() == Shape::Growing && !excludes && frame.monotone();
    let tiny = frame.frame().width().is_some_and(|width| width <= TINY_FRAME);
    let totals = function.shared_state == Some(SharedState::Totals);
    match (signature.algebra, frame.shape()) {
        (Algebra::Positional, _) => (Strategy::Index, "the result follows from row numbers"),
        (Algebra::Ordered, _) => {
            (Strategy::Wavelet, "positions among the frame's values are counted in a wavelet matrix")
        }
        (Algebra::Quantile, Shape::Entire) if !excludes => {
            (Strategy::Wavelet, "every row's frame is the sorted partition")
        }
        (Algebra::Quantile, _) if frame.monotone() => (
            Strategy::Codes,
            "the frame's values, and the last result's position among them, are kept as rows enter and leave",
        ),
        (Algebra::Quantile, _) => (
            Strategy::Wavelet,
            "frame ends may move backwards: positions among the values are counted in a wavelet matrix",
        ),
        (Algebra::Distinct, _) if !frame.monotone() && !excludes => (
            Strategy::Sweep,
            "frame ends may move backwards: frames are evaluated by their end, with the last row of each value",
        ),
        (Algebra::Multiset | Algebra::Distinct, _) if !frame.monotone() => (
            Strategy::Codes,
            "frame ends may move backwards: counts of each value are kept, and near frames follow one another",
        ),
        (Algebra::Multiset | Algebra::Distinct, _) => {
            (Strategy::Codes, "the count of each value in the frame is kept as rows enter and leave")
        }
        (Algebra::Vectorized, _) => (Strategy::Blocks, "the function computes whole blocks of frames, or partitions"),
        (Algebra::UpdateOnly { .. } | Algebra::Sliding, Shape::Entire) if !excludes => {
            (Strategy::Refold, "every row of a partition has the same frame, which is aggregated once")
        }
        (Algebra::UpdateOnly { .. } | Algebra::Sliding, _) if grows => {
            (Strategy::Refold, "rows only enter the frame, and each updates the state")
        }
        (Algebra::UpdateOnly { ordered: true }, _) => (
            Strategy::Refold,
            "the call has its own ORDER BY: each moving frame is aggregated from its start, one update per row in it",
        ),
        (Algebra::UpdateOnly { ordered: false }, _) => (
            Strategy::Refold,
            "there is no merge: each moving frame is aggregated from its start, one update per row in it",
        ),
        (Algebra::Sliding, _) if excludes || !frame.monotone() => (
            Strategy::Refold,
            "there is no merge, and frame ends may move backwards or EXCLUDE applies: each such frame is aggregated from its start",
        ),
        (Algebra::Sliding, _) => (Strategy::Prefix, "each row that leaves the frame is retracted"),
        (_, Shape::Entire) if !excludes => (Strategy::Whole, "every row of a partition has the same frame"),
        // Merging a user's state for each row would copy it for each row.
        _ if grows && call.user.is_some() => {
            (Strategy::Refold, "rows only enter the frame, and each updates the state")
        }
        _ if grows => (Strategy::Scan, "rows only enter the frame"),
        _ if !frame.monotone() => (Strategy::SegmentTree, "frame ends may move backwards"),
        _ if tiny && (excludes || !totals) => (Strategy::Naive, "the frame has few rows"),
        (Algebra::Retractable, _) => (Strategy::Prefix, "rows that leave the frame can be subtracted exactly"),
        (_, Shape::Entire) => (Strategy::Scan, "EXCLUDE leaves one part that grows and one that shrinks"),
        (_, Shape::Shrinking) if !excludes => (Strategy::Scan, "rows only leave the frame"),
        // For numbers a state is as small as a value, and two stacks have no data-dependent branch.
        (Algebra::Selective, _) if !native => (Strategy::Deque, "only rows that may still be the result are kept"),
        _ => (Strategy::TwoStacks, "states merge and cannot be subtracted"),
    }
}

/// Whether each partition has a single result that can be computed without sorting.
fn has_one_result_per_partition(order: &PlannedOrder, call: &PlannedCall) -> bool {
    let frame = call.frame.frame();
    let entire = frame.shape() == Shape::Entire;
    let answers = match (call.signature.algebra, call.function.picks) {
        (Algebra::Mergeable | Algebra::Retractable | Algebra::Selective, _) if entire => {
            order.order_by.is_empty() || call.order_stability() == Some(OrderStability::Exact)
        }
        (Algebra::Positional, Some(FrameEnd::First)) => entire || has_fixed_end(call, Shape::Growing),
        (Algebra::Positional, Some(FrameEnd::Last)) => entire || has_fixed_end(call, Shape::Shrinking),
        _ => false,
    };
    let plain = frame.exclude == Exclude::NoOthers && call.min_rows.is_none() && call.user.is_none();
    answers && plain
}

/// Whether the end that all frames share with their partition is the same row for all of them.
fn has_fixed_end(call: &PlannedCall, shape: Shape) -> bool {
    let frame = call.frame.frame();
    // If every row counts and the frame includes its own row, a frame from the partition's start is never empty.
    let holds_its_row = frame.start == Bound::CurrentRow || frame.end == Bound::CurrentRow;
    let all_rows = call.nulls != Nulls::Ignore && call.filter.is_none();
    frame.shape() == shape && holds_its_row && all_rows
}

/// How far the call's results depend on rows before and after the current row.
pub(super) fn reach(
    function: &Function,
    call: &Call,
    algebra: Algebra,
    frame: &FramePlan,
    args: &[PlannedArg],
) -> (Reach, Reach) {
    let all = |reach, stands: bool| if reach == Reach::State && !stands { Reach::Everything } else { reach };
    let rows_needed =
        if function.takes_frame(!call.argument_order.is_empty()) { RowsNeeded::Frame } else { function.rows_needed };
    match rows_needed {
        RowsNeeded::Frame => {
            let (before, after) = frame.reach();
            let carries = carries(function, call, algebra, args);
            (all(before, carries), all(after, carries && algebra.merges()))
        }
        RowsNeeded::Partition => (Reach::Everything, Reach::Everything),
        RowsNeeded::Before => (Reach::State, Reach::Nothing),
        RowsNeeded::BeforeAndCountAfter => (Reach::State, Reach::State),
        RowsNeeded::Distance { before } => {
            let Some(offset) = lag_lead_offset(before, args) else {
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

/// Whether a state of bounded size can replace the rows at the beginning of a frame.
fn carries(function: &Function, call: &Call, algebra: Algebra, args: &[PlannedArg]) -> bool {
    match algebra {
        Algebra::Ordered
        | Algebra::Quantile
        | Algebra::Multiset
        | Algebra::Distinct
        | Algebra::Vectorized
        | Algebra::UpdateOnly { ordered: true } => false,
        Algebra::Positional => {
            let per_row = matches!(args.get(1), Some(PlannedArg::Column(_)));
            function.family == Family::Value && call.argument_order.is_empty() && !per_row
        }
        Algebra::Mergeable
        | Algebra::Retractable
        | Algebra::Selective
        | Algebra::Sliding
        | Algebra::UpdateOnly { ordered: false } => true,
    }
}

impl Plan {
    /// The strategies that can evaluate the call at this index.
    #[must_use]
    pub fn strategies(&self, call: usize) -> Vec<Strategy> {
        self.calls.get(call).map_or_else(Vec::new, |call| applicable(&self.orders[call.order], call))
    }

    /// If one call of an order needs its rows sorted, all calls of that order use the sorted rows.
    pub(super) fn share_sorts(&mut self) {
        let sorted = |&order: &usize| {
            let mut leaders = self.passes.iter().map(|pass| self.first_call(pass)).filter(|call| call.order == order);
            !self.orders[order].order_by.is_empty() && leaders.any(|call| call.grouped.is_none())
        };
        let sorted: Vec<_> = (0..self.orders.len()).filter(sorted).collect();
        for call in self.calls.iter_mut().filter(|call| sorted.contains(&call.order)) {
            call.grouped = None;
        }
    }

    /// The plan for partitions so short that no frame ends within them: frames by a number of rows become frames over
    /// the whole partition, which are cheaper. `None` if there are no such frames, or a strategy is set explicitly.
    pub(crate) fn with_entire_frames(&self) -> Option<Self> {
        let widens = |call: &PlannedCall| call.user.is_none() && call.frame.with_entire_frame().is_some();
        if self.options.strategy.is_some() || !self.calls.iter().any(widens) {
            return None;
        }
        let mut plan = self.clone();
        for call in plan.calls.iter_mut().filter(|call| call.user.is_none()) {
            if let Some((frame, _)) = call.frame.with_entire_frame() {
                call.frame = frame;
            }
            choose(&plan.orders[call.order], call);
        }
        plan.share_sorts();
        Some(plan)
    }
}
