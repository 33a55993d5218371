//! The frames of a block of rows, as row numbers.

use std::ops::Range;

use crate::spec::frame::Exclude;

/// For each of `rows`, its frame as section rows `begin..end`, and what EXCLUDE removes from it.
///
/// `begin <= end` always; for an empty frame they are equal. Frames never extend beyond their row's partition.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// The rows whose frames are stored.
    pub rows: Range<usize>,
    /// The first row of each frame.
    pub begin: Vec<u32>,
    /// The row after the last row of each frame.
    pub end: Vec<u32>,
    /// The EXCLUDE clause.
    pub exclude: Exclude,
    /// The first row of each row's peer group; only for EXCLUDE GROUP and TIES.
    pub peer_begin: Vec<u32>,
    /// The row after each row's peer group; only for EXCLUDE GROUP and TIES.
    pub peer_end: Vec<u32>,
}

/// The frames of consecutive rows where each frame is a single range of rows.
#[derive(Debug, Clone, Copy)]
pub struct FrameRuns<'a> {
    /// The first row of each frame.
    pub(crate) begin: &'a [u32],
    /// The row after the last of each frame.
    pub(crate) end: &'a [u32],
}

impl<'a> FrameRuns<'a> {
    /// Whether there are no frames.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.begin.is_empty()
    }

    /// The frames as ranges.
    #[inline]
    #[must_use]
    pub fn iter(self) -> impl ExactSizeIterator<Item = Range<usize>> + DoubleEndedIterator + Clone + use<'a> {
        self.begin.iter().zip(self.end).map(|(&begin, &end)| begin as usize..end as usize)
    }

    /// The first `count` frames, or all if there are fewer, and the rest.
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

    /// The frames of all rows as single ranges; `None` with an EXCLUDE clause.
    #[must_use]
    pub fn runs(&self) -> Option<FrameRuns<'_>> {
        (self.exclude == Exclude::NoOthers).then_some(FrameRuns { begin: &self.begin, end: &self.end })
    }
}
