//! Ranking and value functions: evaluators over row numbers.

pub(crate) mod counter_diff;
pub(crate) mod fill;
pub(crate) mod fill_carry;
pub(crate) mod group_id;
pub(crate) mod lag_lead;
pub(crate) mod max_gap;
pub(crate) mod nth;
pub(crate) mod rank;
pub(crate) mod rank_with;
mod whole_partitions;
