//! Types that the layers above share: sections of sorted rows, row masks, group ids, carries, the traits of aggregates.

pub(crate) mod aggregate;
pub(crate) mod carry;
pub(crate) mod group_ids;
pub(crate) mod order_column;
pub(crate) mod physical_type;
pub(crate) mod reach;
pub(crate) mod row_mask;
pub(crate) mod section;
