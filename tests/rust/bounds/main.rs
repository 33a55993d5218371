//! Frames resolved to row numbers.
#![allow(missing_docs, unreachable_pub, clippy::expect_used, clippy::panic, clippy::pedantic, clippy::unwrap_used)]

mod frames;
#[path = "../support/fuzz.rs"]
mod fuzz;
