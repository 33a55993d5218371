//! What the layers above pass to each other: sections of sorted rows, masks, group ids, states, the algebra of aggregates.

pub(crate) mod aggregate;
pub(crate) mod carry;
pub(crate) mod group_ids;
pub(crate) mod order_column;
pub(crate) mod physical_type;
pub(crate) mod reach;
pub(crate) mod row_mask;
pub(crate) mod section;
