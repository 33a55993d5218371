//! Runs of rows by their number: which run a row is in, and where each run begins.

use std::ops::Range;

use arrow_buffer::bit_iterator::BitIndexIterator;

use super::bitmap::word;
use super::boundaries::Edges;
use super::rank_select::Ranks;
use crate::error::Result;

/// The runs between edges, found in O(log n) from anywhere, where [`Edges`] scans.
#[derive(Debug, Clone)]
pub(crate) struct Runs(Ranks);

impl Runs {
    pub(crate) fn new(edges: &Edges) -> Self {
        Self(Ranks::new(edges.starts().clone()))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.bits().len()
    }

    /// Whether the bit of `row` is set. Row 0 begins a run even without one.
    #[inline]
    pub(crate) fn bit(&self, row: usize) -> bool {
        self.0.bits().value(row)
    }

    /// The bits of 64 rows from `row` on, zero past the end.
    #[inline]
    pub(crate) fn word(&self, row: usize) -> u64 {
        word(self.0.bits(), row)
    }

    /// How many bits are set before `row`.
    #[inline]
    pub(crate) fn before(&self, row: usize) -> usize {
        self.0.rank(row)
    }

    /// The first row of the run that holds `row`.
    pub(crate) fn begin(&self, row: usize) -> usize {
        if self.bit(row) { row } else { self.before(row).checked_sub(1).and_then(|k| self.0.select(k)).unwrap_or(0) }
    }

    /// The first row at or after `row` where a run begins, or the end.
    pub(crate) fn next(&self, row: usize) -> usize {
        if row >= self.len() || self.bit(row) { row } else { self.0.select(self.before(row)).unwrap_or(self.len()) }
    }

    /// Calls `f` with each run that meets `rows`, whole, and with its rows among them.
    pub(crate) fn each(
        &self,
        rows: Range<usize>,
        mut f: impl FnMut(Range<usize>, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let (mut begin, mut from) = (self.begin(rows.start), rows.start);
        let bits = self.0.bits();
        for index in BitIndexIterator::new(bits.values(), bits.offset() + from + 1, rows.len() - 1) {
            let end = rows.start + 1 + index;
            f(begin..end, from..end)?;
            (begin, from) = (end, end);
        }
        f(begin..self.next(rows.end), from..rows.end)
    }
}
