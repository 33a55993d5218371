//! What crosses a section's edge.

use arrow_array::RecordBatch;

/// What the rows of a section's first partition that lie before `base` came to.
///
/// A carry is plain Arrow data, so it may cross a thread, a disk or a cluster. In the section's first partition
/// a frame that begins at UNBOUNDED PRECEDING begins at `base`, with `state` standing for all rows before it.
#[derive(Debug, Clone, Default)]
pub struct Carry {
    /// The first row (of the section) that `state` does not cover.
    pub base: usize,
    /// What the evaluator's `advance` made of the rows before; `None`: there were none.
    pub state: Option<RecordBatch>,
}

/// How far a call's answer for a row looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Not past the row's own section.
    Nothing,
    /// So many rows.
    Rows(u64),
    /// So many peer groups.
    Groups(u64),
    /// A distance of the order key.
    Within,
    /// A state of bounded size stands for all rows there.
    State,
    /// All rows of the partition.
    Everything,
}
