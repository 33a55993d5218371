//! Functions of a frame's values in an order: quantiles, ranks and values by an argument order.

pub(crate) mod mad;
pub(crate) mod quantile;
pub(crate) mod rank_in_frame;
pub(crate) mod value_by_order;
