//! The order of rows, groups, and columns permuted by both.
#![allow(missing_docs, unreachable_pub, clippy::expect_used, clippy::panic, clippy::pedantic, clippy::unwrap_used)]

#[path = "../support/fuzz.rs"]
mod fuzz;
mod orders;
