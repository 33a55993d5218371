//! Results that are rows of the input, found by row numbers.

pub(crate) mod picks;
