//! What the layers above pass to each other: sections of sorted rows, masks, group ids, states, the algebra of aggregates.

pub mod aggregate;
pub mod carry;
pub mod group_ids;
pub mod order_column;
pub(crate) mod physical_type;
pub mod reach;
pub mod row_mask;
pub mod section;
