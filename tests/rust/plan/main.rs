//! The decisions of a plan.
#![allow(missing_docs, unreachable_pub, clippy::expect_used, clippy::panic, clippy::pedantic, clippy::unwrap_used)]

#[path = "../support/fuzz.rs"]
mod fuzz;
#[allow(dead_code, reason = "each test crate uses its share")]
#[path = "../support/mod.rs"]
mod support;

mod catalog;
mod shared_passes;
mod sorts;
