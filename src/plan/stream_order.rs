//! The one order of a stream: the longest of the plan's, of which all others are the beginning.

use std::collections::HashSet;

use super::planned::{Order, Plan};
use crate::error::{Error, Result};

/// The order that all of the plan's orders are beginnings of.
pub(crate) fn longest_order(plan: &Plan) -> Result<usize> {
    let longest = (0..plan.orders.len()).max_by_key(|&number| plan.orders[number].order_by.len()).unwrap_or(0);
    let keys = |order: &Order| -> Vec<_> {
        order.order_by.iter().map(|key| (order.columns[key.number], key.descending, key.nulls_first)).collect()
    };
    let partition =
        |order: &Order| -> HashSet<_> { order.partition_by.iter().map(|&place| order.columns[place]).collect() };
    for order in &plan.orders {
        let long = &plan.orders[longest];
        if partition(order) != partition(long) || !keys(long).starts_with(&keys(order)) {
            let calls = plan.calls.iter().map(|call| call.display.as_str()).collect::<Vec<_>>().join("; ");
            return Err(Error::spec(format!(
                "these calls need more than one order, and a stream has one: {calls}; \
                 ask for the input to be sorted (sort=True), or compute them one after another"
            )));
        }
    }
    Ok(longest)
}
