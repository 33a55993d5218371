//! Running a plan: whole batches, streams, sections of a sorted input.

pub(crate) mod build;
pub(crate) mod columns;
pub(crate) mod ranges;
pub mod sectioned;
