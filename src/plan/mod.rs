//! The plan: everything that can be decided before the first row.
//!
//! Columns are looked up, types checked, default frames made explicit, and for each call the strategy, the reach
//! and the output field chosen. Errors of the question are all raised here. Calls with the same partition and
//! order keys share one order, and so one sort.

pub(crate) mod choose;
pub(crate) mod explain;
pub(crate) mod planned;
pub(crate) mod resolve;
pub(crate) mod shared_passes;
pub(crate) mod stream_order;
pub(crate) mod validate;
