//! State carried from one section to another.

use arrow_array::RecordBatch;

/// The states of rows outside a section.
///
/// A carry is plain Arrow data, so it can be sent to another thread, written to disk, or sent over a network. In the
/// section's first partition a frame from UNBOUNDED PRECEDING begins at `base`, and `state` covers all rows before it.
/// In the partition of the last own row a frame to UNBOUNDED FOLLOWING ends with the section's rows, and `after` covers
/// all rows after them.
#[derive(Debug, Clone, Default)]
pub struct Carry {
    /// The first row of the section that `state` does not cover.
    pub base: usize,
    /// The state of the earlier rows, written by the evaluator's `advance`; `None` if there are none.
    pub state: Option<RecordBatch>,
    /// The state of the partition's rows after the section; `None` if the section has all of them.
    pub after: Option<RecordBatch>,
}
