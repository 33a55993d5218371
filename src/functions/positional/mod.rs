//! Ranking and value functions: evaluators of their own over row numbers.

pub mod counter_diff;
pub mod fill;
pub mod lag_lead;
pub mod nth;
pub mod rank;
