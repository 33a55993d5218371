//! Execution of a plan: whole batches, streams, sections of a sorted input.

pub(crate) mod append;
#[cfg(feature = "spill")]
pub(crate) mod append_bytes;
pub(crate) mod batch;
pub(crate) mod build;
pub(crate) mod columns;
pub(crate) mod halo;
pub(crate) mod input_order;
pub(crate) mod ranges;
pub(crate) mod reader;
pub(crate) mod sectioned;
pub(crate) mod stream;
pub(crate) mod top_rows;
