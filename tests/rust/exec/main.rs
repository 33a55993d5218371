//! Execution of plans: batches in blocks, streams, sections of a sorted input.
#![allow(missing_docs, unreachable_pub, clippy::expect_used, clippy::panic, clippy::pedantic, clippy::unwrap_used)]

mod batch;
#[path = "../support/fuzz.rs"]
mod fuzz;
mod reader;
mod sectioned;
mod top_rows;
