//! Which calls one order of the rows can serve: for a stream all of them, for a sort those whose results do not depend
//! on ties.

use std::collections::HashSet;

use arrow_schema::SortOptions;

use super::planned::{Plan, PlannedOrder};
use crate::error::{Error, Remedy, Result};
use crate::model::order_column::OrderColumn;

/// A sort and the calls that are evaluated over it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSort {
    /// The indices of the calls; the rows are sorted by the order of the first.
    pub calls: Vec<usize>,
    /// Whether the row's original position must be the last sort key: an earlier sort may have changed the order of
    /// ties, and a result depends on it.
    pub by_position: bool,
}

/// An order's keys as indices in the schema.
struct OrderKeys {
    /// The partition keys, sorted.
    partition_by: Vec<usize>,
    /// The order keys.
    order_by: Vec<(usize, SortOptions)>,
}

impl OrderKeys {
    fn of(order: &PlannedOrder) -> Self {
        let mut partition_by: Vec<_> = order.partition_by.iter().map(|&place| order.columns[place]).collect();
        partition_by.sort_unstable();
        partition_by.dedup();
        let key = |key: &OrderColumn| (order.columns[key.number], key.options);
        Self { partition_by, order_by: order.order_by.iter().map(key).collect() }
    }

    /// Whether rows sorted in this order are also sorted in the other one, except for its ties.
    fn begins_with(&self, other: &Self) -> bool {
        self.partition_by == other.partition_by && self.order_by.starts_with(&other.order_by)
    }

    fn columns(&self) -> impl Iterator<Item = usize> {
        self.partition_by.iter().copied().chain(self.order_by.iter().map(|&(column, ..)| column))
    }
}

impl Plan {
    /// Groups the calls by the sorts that serve them, for callers that sort the rows from one order to the next with a
    /// stable sort.
    ///
    /// Rows that tie in a shorter order are rearranged by a longer one. The longer sort therefore serves calls of the
    /// shorter order only where that cannot change their results.
    #[must_use]
    pub fn sorts(&self) -> Vec<SharedSort> {
        let keys: Vec<_> = self.orders.iter().map(OrderKeys::of).collect();
        let length = |order: usize| keys[order].order_by.len();
        let (mut calls, mut by_ties) = (vec![Vec::new(); keys.len()], vec![false; keys.len()]);
        for (number, call) in self.calls.iter().enumerate() {
            calls[call.order].push(number);
            by_ties[call.order] |= !call.ignores_ties();
        }
        let mut orders: Vec<_> = (0..keys.len()).collect();
        // First the orders that no other sort can serve, then from the longest to the shortest.
        orders.sort_by_key(|&order| (!by_ties[order], std::cmp::Reverse(length(order))));
        // The orders to sort by; each has the calls that it serves.
        let mut sorts: Vec<usize> = Vec::new();
        for order in orders {
            let serves = |sort: &&usize| !by_ties[order] && keys[**sort].begins_with(&keys[order]);
            match sorts.iter().find(serves) {
                Some(&sort) => {
                    let served = std::mem::take(&mut calls[order]);
                    calls[sort].extend(served);
                }
                None => sorts.push(order),
            }
        }
        // Shorter orders first: rows that tie in a longer order also tie in the shorter one, so they still have their
        // input order.
        sorts.sort_by_key(|&order| length(order));
        let mut sorted_by: HashSet<usize> = HashSet::new();
        let shared = |order: usize| {
            let own: HashSet<usize> = keys[order].columns().collect();
            let shuffled = !sorted_by.is_subset(&own);
            sorted_by.extend(own);
            SharedSort { calls: std::mem::take(&mut calls[order]), by_position: by_ties[order] && shuffled }
        };
        sorts.into_iter().map(shared).collect()
    }
}

/// The order of which all the plan's orders are prefixes.
pub(crate) fn longest_order(plan: &Plan) -> Result<usize> {
    let longest = (0..plan.orders.len()).max_by_key(|&number| plan.orders[number].order_by.len()).unwrap_or(0);
    let keys: Vec<_> = plan.orders.iter().map(OrderKeys::of).collect();
    if keys.iter().all(|order| keys[longest].begins_with(order)) {
        return Ok(longest);
    }
    let calls = plan.calls.iter().map(|call| call.display.as_str()).collect::<Vec<_>>().join("; ");
    Err(Error::spec(format!(
        "these calls need more than one order, and a stream has one: {calls}; \
         compute them one after another"
    ))
    .with_remedy(Remedy::SortInput))
}
