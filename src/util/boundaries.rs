//! Where runs of consecutive rows begin: partitions and peer groups of sorted rows.
//!
//! A set bit means that a run begins at its row. Lookups scan the bitmap a word at a time: O(n / 64) in the length of
//! the run.

use std::ops::Range;

use arrow_buffer::BooleanBuffer;

use super::bitmap::{next_set, previous_set};

/// Where runs of rows begin. Row 0 always begins a run, whether its bit is set or not.
#[derive(Debug, Clone)]
pub struct Boundaries {
    starts: BooleanBuffer,
}

impl Boundaries {
    /// Runs that begin at the set bits.
    #[must_use]
    pub fn new(starts: BooleanBuffer) -> Self {
        Self { starts }
    }

    /// One run of `rows` rows.
    #[must_use]
    pub fn single(rows: usize) -> Self {
        let mut words = vec![0_u64; rows.div_ceil(64)];
        if let Some(first) = words.first_mut() {
            *first = 1;
        }
        Self { starts: BooleanBuffer::new(words.into(), 0, rows) }
    }

    /// The bitmap: a set bit for each row that begins a run.
    #[must_use]
    pub fn starts(&self) -> &BooleanBuffer {
        &self.starts
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether a run begins at `row`.
    #[must_use]
    pub fn starts_at(&self, row: usize) -> bool {
        row == 0 || self.starts.value(row)
    }

    /// The run that holds `row`.
    #[must_use]
    pub fn run_range(&self, row: usize) -> Range<usize> {
        self.run_start(row)..self.run_end(row)
    }

    /// The boundaries of the rows `rows`, in a bitmap of their own. `rows` must begin with a run.
    pub(crate) fn slice(&self, rows: Range<usize>) -> Self {
        if rows.len() == self.len() {
            return self.clone();
        }
        let bits = self.starts.inner().bit_slice(self.starts.offset() + rows.start, rows.len());
        Self { starts: BooleanBuffer::new(bits, 0, rows.len()) }
    }

    /// The length of the longest run.
    pub(crate) fn longest_run(&self) -> usize {
        let (mut longest, mut begin) = (0, 0);
        for start in self.starts.set_indices().chain([self.len()]) {
            longest = longest.max(start - begin);
            begin = start;
        }
        longest
    }

    /// Cuts the rows into blocks of whole runs, each of at most `rows` rows unless a single run is longer.
    pub(crate) fn blocks(&self, rows: usize) -> Vec<Range<usize>> {
        let mut blocks = Vec::with_capacity(self.len() / rows + 1);
        let mut begin = 0;
        while begin < self.len() {
            let limit = begin + rows;
            // A run that crosses the block's limit moves to the next block, unless it is the block's only run.
            let end = if limit >= self.len() { self.len() } else { self.run_start(limit) };
            let end = if end > begin { end } else { self.run_end(begin) };
            blocks.push(begin..end);
            begin = end;
        }
        blocks
    }

    /// Calls `f` with each run.
    pub(crate) fn for_each_run(&self, mut f: impl FnMut(Range<usize>)) {
        let mut begin = 0;
        while begin < self.len() {
            let end = self.run_end(begin);
            f(begin..end);
            begin = end;
        }
    }

    /// The first row of the run that holds `row`.
    #[must_use]
    pub fn run_start(&self, row: usize) -> usize {
        previous_set(&self.starts, row).unwrap_or(0)
    }

    /// The row after the run that holds `row`.
    #[must_use]
    pub fn run_end(&self, row: usize) -> usize {
        next_set(&self.starts, row + 1).unwrap_or(self.starts.len())
    }
}
