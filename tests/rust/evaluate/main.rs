//! The strategies compared with the naive one.
#![allow(missing_docs, unreachable_pub, clippy::expect_used, clippy::panic, clippy::pedantic, clippy::unwrap_used)]

#[path = "../support/fuzz.rs"]
mod fuzz;
#[allow(dead_code, reason = "each test crate uses its share")]
#[path = "../support/mod.rs"]
mod support;

mod deque;
mod motion;
mod prefix;
mod short_runs;
mod strategies;
mod whole;
