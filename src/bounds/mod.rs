//! Bounds: which rows each frame holds.
//!
//! [`FramePlan`] is the frame resolved against the schema (once per call), [`Frames`] is it over one section,
//! [`Bounds`] a block of frames as row numbers. Each stage is plain data to the next.

mod exclude;
mod groups;
mod range;
mod rows;

use std::ops::Range;

pub use exclude::SubRanges;

/// A block of frames: for each of `rows`, the section rows `begin..end`, and what EXCLUDE takes out of them.
///
/// `begin <= end` always; an empty frame has them equal. Frames never leave their row's partition.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// The rows whose frames these are.
    pub rows: Range<usize>,
    /// The first row of each frame.
    pub begin: Vec<u32>,
    /// The row behind each frame's last.
    pub end: Vec<u32>,
}
