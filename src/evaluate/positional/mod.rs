//! Results that are rows of the input, found by row numbers.

pub(crate) mod carried;
pub(crate) mod gather_plan;
pub(crate) mod index;
pub(crate) mod nearest;
pub(crate) mod shift;
