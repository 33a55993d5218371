//! A block of frames as row numbers.

use std::ops::Range;

use crate::spec::frame::Exclude;

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
    /// What is taken out again.
    pub exclude: Exclude,
    /// The first row of each row's peer group; filled for EXCLUDE GROUP and TIES alone.
    pub peer_begin: Vec<u32>,
    /// The row behind each row's peer group; filled for EXCLUDE GROUP and TIES alone.
    pub peer_end: Vec<u32>,
}

/// The frames of successive rows, one run of rows each.
#[derive(Debug, Clone, Copy)]
pub struct FrameRuns<'a> {
    /// The first row of each.
    pub(crate) begin: &'a [u32],
    /// The row behind each.
    pub(crate) end: &'a [u32],
}

impl<'a> FrameRuns<'a> {
    /// Whether there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.begin.is_empty()
    }

    /// Each of them.
    #[inline]
    #[must_use]
    pub fn iter(self) -> impl ExactSizeIterator<Item = Range<usize>> + DoubleEndedIterator + Clone + use<'a> {
        self.begin.iter().zip(self.end).map(|(&begin, &end)| begin as usize..end as usize)
    }

    /// The first so many, or all if they are fewer, and the others.
    #[inline]
    #[must_use]
    pub fn split(self, count: usize) -> (Self, Self) {
        let count = count.min(self.begin.len());
        let ((begin, begins), (end, ends)) = (self.begin.split_at(count), self.end.split_at(count));
        (Self { begin, end }, Self { begin: begins, end: ends })
    }
}

impl Bounds {
    /// The frame of `row`, a row of `self.rows`, before EXCLUDE.
    #[inline]
    #[must_use]
    pub fn frame(&self, row: usize) -> Range<usize> {
        let at = row - self.rows.start;
        self.begin[at] as usize..self.end[at] as usize
    }

    /// The frames of all rows, one run each, where EXCLUDE takes nothing out of them.
    #[must_use]
    pub fn runs(&self) -> Option<FrameRuns<'_>> {
        (self.exclude == Exclude::NoOthers).then_some(FrameRuns { begin: &self.begin, end: &self.end })
    }
}
