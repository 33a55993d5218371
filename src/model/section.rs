//! Sorted rows: many whole partitions, or a cut of one huge partition.
//!
//! ```text
//!   rows   0 1 2 3 4 5 6 7 8 9
//!          h h o o o o o o o h      h = halo: needed by frames, not answered here   o = own
//!   part.  1 . . . 1 . . 1 . .      1 = a partition begins
//!   peers  1 1 . 1 1 1 . 1 1 .      1 = a peer group begins
//! ```
//!
//! Partition edges live in bitmaps alone, so a million tiny partitions cost no million objects.

use std::ops::Range;

use arrow_array::ArrayRef;

use crate::error::{Error, Remedy, Result};
use crate::util::boundaries::Boundaries;

/// Sorted rows with their edges and columns.
#[derive(Debug, Clone)]
pub struct Section {
    /// How many rows, halo included. At most `u32::MAX`.
    pub rows: usize,
    /// The rows that are answered here.
    pub own: Range<usize>,
    /// Where partitions begin. Row 0 has no bit where its partition began in an earlier section.
    pub partitions: Boundaries,
    /// Where peer groups begin (each partition's first row too).
    pub peers: Boundaries,
    /// The columns the calls read, by the plan's column numbers, each `rows` long.
    pub columns: Vec<ArrayRef>,
    /// The last partition goes on in a later section: its end here is not its end.
    pub open: bool,
    /// One of several sections: to the states of its rows may come what rows elsewhere came to.
    pub part: bool,
}

impl Section {
    /// Whole partitions: every row its own, nothing before or after.
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

    /// The row behind the partition that a carry speaks of: the first, if it began in an earlier section.
    #[must_use]
    pub fn first_partition_end(&self) -> usize {
        if self.continues() { self.partitions.run_end(0) } else { 0 }
    }

    /// Where the partition begins that a carry's `after` speaks of: that of the last own row.
    #[must_use]
    pub fn last_partition_begin(&self) -> usize {
        if self.own.is_empty() { self.own.end } else { self.partitions.run_start(self.own.end - 1) }
    }

    /// The column of this number.
    ///
    /// # Errors
    /// The plan named a column the section does not hold.
    pub fn column(&self, number: usize) -> Result<&ArrayRef> {
        self.columns.get(number).ok_or_else(|| Error::internal(format!("the section holds no column {number}")))
    }
}
