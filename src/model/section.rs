//! Sorted rows: a number of whole partitions, or a part of one large partition.
//!
//! ```text
//!   rows   0 1 2 3 4 5 6 7 8 9
//!          h h o o o o o o o h      h = halo: read by frames, not answered here   o = own
//!   part.  1 . . . 1 . . 1 . .      1 = a partition begins
//!   peers  1 1 . 1 1 1 . 1 1 .      1 = a peer group begins
//! ```
//!
//! Partition boundaries are stored in bitmaps only: there is no object per partition.

use std::ops::Range;

use arrow_array::ArrayRef;

use crate::error::{Error, Remedy, Result};
use crate::util::boundaries::Boundaries;

/// Sorted rows with their boundaries and columns.
#[derive(Debug, Clone)]
pub struct Section {
    /// The number of rows, including the halo. At most `u32::MAX`.
    pub rows: usize,
    /// The rows whose results are computed here.
    pub own: Range<usize>,
    /// Where partitions begin. The bit of row 0 is not set if its partition began in an earlier section.
    pub partitions: Boundaries,
    /// Where peer groups begin; includes the first row of each partition.
    pub peers: Boundaries,
    /// The columns that the calls read, by the plan's column numbers, each of `rows` rows.
    pub columns: Vec<ArrayRef>,
    /// Whether the last partition continues in a later section.
    pub open: bool,
    /// Whether this is one of several sections: states of its rows may be merged with states of rows elsewhere.
    pub part: bool,
}

impl Section {
    /// Whole partitions, without halo or carry.
    ///
    /// # Errors
    /// More than `u32::MAX` rows.
    pub fn whole(partitions: Boundaries, peers: Boundaries, columns: Vec<ArrayRef>) -> Result<Self> {
        let rows = partitions.len();
        if u32::try_from(rows).is_err() {
            return Err(Error::unsupported(format!(
                "{rows} rows in one piece; windrow takes up to {} at once: partition the input",
                u32::MAX
            ))
            .with_remedy(Remedy::Stream));
        }
        Ok(Self { rows, own: 0..rows, partitions, peers, columns, open: false, part: false })
    }

    /// Whether the rows before `row` belong to a partition that began in an earlier section.
    #[must_use]
    pub fn continues(&self) -> bool {
        self.rows > 0 && !self.partitions.starts().value(0)
    }

    /// The row after the first partition if that began in an earlier section (the one
    /// [`Carry::state`](super::carry::Carry::state) covers), else 0.
    #[must_use]
    pub fn first_partition_end(&self) -> usize {
        if self.continues() { self.partitions.run_end(0) } else { 0 }
    }

    /// The first row of the partition that [`Carry::after`](super::carry::Carry::after) covers: that of the last own
    /// row.
    #[must_use]
    pub fn last_partition_begin(&self) -> usize {
        if self.own.is_empty() { self.own.end } else { self.partitions.run_start(self.own.end - 1) }
    }

    /// Column `number`.
    ///
    /// # Errors
    /// The section has no such column, an internal error.
    pub fn column(&self, number: usize) -> Result<&ArrayRef> {
        self.columns.get(number).ok_or_else(|| Error::internal(format!("the section holds no column {number}")))
    }
}
