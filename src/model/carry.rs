//! What crosses a section's edge.

use arrow_array::RecordBatch;

/// What rows that a section does not hold came to.
///
/// A carry is plain Arrow data, so it may cross a thread, a disk or a cluster. In the section's first partition
/// a frame that begins at UNBOUNDED PRECEDING begins at `base`, with `state` standing for all rows before it. In the
/// partition of its last own row a frame that ends at UNBOUNDED FOLLOWING ends with the section's rows, and `after` stands
/// for all rows behind them.
#[derive(Debug, Clone, Default)]
pub struct Carry {
    /// The first row (of the section) that `state` does not cover.
    pub base: usize,
    /// What the evaluator's `advance` made of the rows before; `None`: there were none.
    pub state: Option<RecordBatch>,
    /// What it made of the rows of that partition behind the section; `None`: the section has them all.
    pub after: Option<RecordBatch>,
}
