//! Shared passes: calls whose results follow from the same states over the same frames are evaluated together.

use super::planned::{Plan, PlannedArg, PlannedCall};
use crate::catalog::shared_state::SharedState;
use crate::model::physical_type::PhysicalType;

/// The state from which the call's result is computed, if other calls can share it.
fn shared_state(call: &PlannedCall) -> Option<SharedState> {
    call.function.shared_state.filter(|_| !call.distinct && call.min_rows.is_none())
}

/// The indices of the plan's calls, grouped by shared pass; the first call of a group determines the strategy.
pub(super) fn passes(plan: &Plan) -> Vec<Vec<usize>> {
    let calls = &plan.calls;
    let mut passes: Vec<Vec<usize>> = Vec::new();
    // Counts are assigned last so that they can join a sum's pass.
    let (counts, others): (Vec<_>, Vec<_>) = (0..calls.len()).partition(|&number| only_counts(plan, &calls[number]));
    for number in others.into_iter().chain(counts) {
        let call = &calls[number];
        let joins = |first: &PlannedCall| {
            let Some(shared) = shared_state(first).filter(|_| same_frames(first, call)) else { return false };
            if only_counts(plan, call) {
                shared.counts()
            } else {
                shared != SharedState::Count
                    && shared_state(call) == Some(shared)
                    && call.signature.inputs == first.signature.inputs
                    && call.strategy == first.strategy
            }
        };
        match passes.iter_mut().find(|pass| joins(&calls[pass[0]])) {
            Some(pass) => pass.push(number),
            None => passes.push(vec![number]),
        }
    }
    passes
}

/// Whether this is `count(x)` of one native column: its null mask is the one that `sum(x)` uses, as no cast can add
/// NULLs.
fn only_counts(plan: &Plan, call: &PlannedCall) -> bool {
    let [PlannedArg::Column(place)] = call.args.as_slice() else { return false };
    let column = plan.orders[call.order].columns[*place];
    shared_state(call) == Some(SharedState::Count) && PhysicalType::of(plan.schema.field(column).data_type()).is_some()
}

/// Whether two calls read the same columns over the same frames of the same order.
fn same_frames(one: &PlannedCall, other: &PlannedCall) -> bool {
    let same = |(one, other): (&PlannedArg, &PlannedArg)| match (one, other) {
        (PlannedArg::Column(one), PlannedArg::Column(other)) => one == other,
        _ => false,
    };
    one.order == other.order
        && one.filter == other.filter
        && one.frame.frame() == other.frame.frame()
        && one.args.len() == other.args.len()
        && one.args.iter().zip(&other.args).all(same)
}
