//! Which calls rows in one order answer: of a stream all of them, of a sort those whose answers ties cannot change.

use std::collections::HashSet;

use super::planned::{Order, Plan};
use crate::error::{Error, Result};

/// Calls that one sort of the rows serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSort {
    /// Their numbers; the rows are sorted by the order of the first.
    pub calls: Vec<usize>,
    /// After the sorts before this one, ties are no longer in the order in which the rows came, and an answer depends on
    /// it: the row's number in that order must be the last key.
    pub by_position: bool,
}

impl Order {
    /// The schema's numbers of the partition keys.
    fn partition_columns(&self) -> HashSet<usize> {
        self.partition_by.iter().map(|&place| self.columns[place]).collect()
    }

    /// The schema's numbers of all keys.
    fn key_columns(&self) -> HashSet<usize> {
        let order_by = self.order_by.iter().map(|key| self.columns[key.number]);
        order_by.chain(self.partition_columns()).collect()
    }

    /// Whether rows in this order are in the other one too, but for its ties.
    fn begins_with(&self, other: &Self) -> bool {
        let keys = |order: &Self| -> Vec<_> {
            order.order_by.iter().map(|key| (order.columns[key.number], key.descending, key.nulls_first)).collect()
        };
        self.partition_columns() == other.partition_columns() && keys(self).starts_with(&keys(other))
    }
}

impl Plan {
    /// Parts the calls by the sorts that answer them, for who sorts rows from one order into the next, by a stable sort.
    ///
    /// Rows that tie by a shorter order come in another order among each other where they are sorted by a longer one. So
    /// the longer one serves calls of the shorter only where that cannot change their answers.
    #[must_use]
    pub fn sorts(&self) -> Vec<SharedSort> {
        let mut calls_of = vec![Vec::new(); self.orders.len()];
        let mut by_ties = vec![false; self.orders.len()];
        for (number, call) in self.calls.iter().enumerate() {
            calls_of[call.order].push(number);
            by_ties[call.order] |= !call.ignores_ties();
        }
        let length = |order: usize| self.orders[order].order_by.len();
        let mut orders: Vec<_> = (0..self.orders.len()).collect();
        // Those that nothing else can serve, then from the longest to the shortest.
        orders.sort_by_key(|&order| (!by_ties[order], std::cmp::Reverse(length(order))));
        let mut sorts: Vec<(usize, Vec<usize>)> = Vec::new();
        for order in orders {
            let serves = |sort: usize| !by_ties[order] && self.orders[sort].begins_with(&self.orders[order]);
            let calls = std::mem::take(&mut calls_of[order]);
            match sorts.iter_mut().find(|(sort, _)| serves(*sort)) {
                Some((_, served)) => served.extend(calls),
                None => sorts.push((order, calls)),
            }
        }
        // A shorter order first: what ties by a longer one tied by it, and is still as it came.
        sorts.sort_by_key(|&(order, _)| length(order));
        let keys: Vec<_> = sorts.iter().map(|&(order, _)| self.orders[order].key_columns()).collect();
        let shuffled = |number: usize| keys[..number].iter().any(|before| !before.is_subset(&keys[number]));
        let shared = |(number, (order, calls)): (usize, &(usize, Vec<usize>))| SharedSort {
            calls: calls.clone(),
            by_position: by_ties[*order] && shuffled(number),
        };
        sorts.iter().enumerate().map(shared).collect()
    }
}

/// The order that all of the plan's orders are beginnings of.
pub(crate) fn longest_order(plan: &Plan) -> Result<usize> {
    let longest = (0..plan.orders.len()).max_by_key(|&number| plan.orders[number].order_by.len()).unwrap_or(0);
    if plan.orders.iter().all(|order| plan.orders[longest].begins_with(order)) {
        return Ok(longest);
    }
    let calls = plan.calls.iter().map(|call| call.display.as_str()).collect::<Vec<_>>().join("; ");
    Err(Error::spec(format!(
        "these calls need more than one order, and a stream has one: {calls}; \
         ask for the input to be sorted (sort=True), or compute them one after another"
    )))
}
