//! Planning: every decision that can be made before the first row.
//!
//! Looks up columns, checks types, resolves default frames, and chooses for each call the strategy, the reach and the
//! output field. All errors of the query are raised here. Calls with the same partition and order keys share one order,
//! and so one sort.

pub(crate) mod choose;
pub(crate) mod explain;
pub(crate) mod planned;
pub(crate) mod resolve;
pub(crate) mod shared_passes;
pub(crate) mod stream_order;
pub(crate) mod validate;
