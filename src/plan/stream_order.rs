//! Which calls rows in one order answer: of a stream all of them, of a sort those whose answers ties cannot change.

use std::collections::HashSet;

use arrow_schema::SortOptions;

use super::planned::{Plan, PlannedOrder};
use crate::error::{Error, Remedy, Result};
use crate::model::order_column::OrderColumn;

/// Calls that one sort of the rows serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSort {
    /// Their numbers; the rows are sorted by the order of the first.
    pub calls: Vec<usize>,
    /// After the sorts before this one, ties are no longer in the order in which the rows came, and an answer depends on
    /// it: the row's number in that order must be the last key.
    pub by_position: bool,
}

/// An order's keys by the schema's numbers.
struct OrderKeys {
    /// Those of PARTITION BY, sorted.
    partition_by: Vec<usize>,
    /// Those of ORDER BY.
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

    /// Whether rows in this order are in the other one too, but for its ties.
    fn begins_with(&self, other: &Self) -> bool {
        self.partition_by == other.partition_by && self.order_by.starts_with(&other.order_by)
    }

    fn columns(&self) -> impl Iterator<Item = usize> {
        self.partition_by.iter().copied().chain(self.order_by.iter().map(|&(column, ..)| column))
    }
}

impl Plan {
    /// Parts the calls by the sorts that answer them, for who sorts rows from one order into the next, by a stable sort.
    ///
    /// Rows that tie by a shorter order come in another order among each other where they are sorted by a longer one. So
    /// the longer one serves calls of the shorter only where that cannot change their answers.
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
        // Those that nothing else can serve, then from the longest to the shortest.
        orders.sort_by_key(|&order| (!by_ties[order], std::cmp::Reverse(length(order))));
        // The orders that rows are sorted by; each has the calls of those it serves.
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
        // A shorter order first: what ties by a longer one tied by it, and is still as it came.
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

/// The order that all of the plan's orders are beginnings of.
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
