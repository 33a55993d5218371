//! The functions, held against their definitions.
#![allow(missing_docs, unreachable_pub, clippy::expect_used, clippy::panic, clippy::pedantic, clippy::unwrap_used)]

mod cases;
mod laws;
mod positional;
mod udf;
