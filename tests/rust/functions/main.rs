//! The functions compared with their definitions.
#![allow(missing_docs, unreachable_pub, clippy::expect_used, clippy::panic, clippy::pedantic, clippy::unwrap_used)]

mod cases;
#[path = "../support/fuzz.rs"]
mod fuzz;
mod laws;
mod null_results;
mod positional;
mod udf;
