//! More rows than fit in memory: sorted on disk, and divided by a hash.
#![allow(missing_docs, unreachable_pub, clippy::expect_used, clippy::panic, clippy::pedantic, clippy::unwrap_used)]

#[path = "../support/fuzz.rs"]
mod fuzz;
#[allow(dead_code, reason = "each test crate uses its share")]
#[path = "../support/mod.rs"]
mod support;

mod external_sort;
mod hash_partitions;
