//! What the layers above pass to each other: sections of sorted rows, masks, group ids, states, the algebra of aggregates.

pub mod order_column;
pub(crate) mod physical_type;
pub mod reach;
