//! EXCLUDE: what is taken out of a frame again. Nothing outside this file knows of it.
//!
//! ```text
//!   frame            [ begin ---------------------------------- end )
//!   peers                      [ peer_begin -- row -- peer_end )
//!
//!   NO OTHERS        [ ======================================== )
//!   CURRENT ROW      [ ====================== ) [ ============= )
//!   GROUP            [ ====== )                        [ ====== )
//!   TIES             [ ====== )            [ = )       [ ====== )
//! ```
//!
//! Cost: a handful of comparisons per row, none at all without EXCLUDE. Each cut is clamped into the frame, so
//! piece k of successive rows moves as monotonically as the frames themselves do, wherever the row stands.

use std::ops::Range;

use crate::frame::Exclude;

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

// stays
impl Bounds {
    /// What the frame of `row`, a row of `self.rows`, holds: ordered, disjoint ranges, some of them maybe empty.
    ///
    /// One range without EXCLUDE, two (left and right of what is taken out) for CURRENT ROW and GROUP, three
    /// (left, the row, right) for TIES. Where the frames are monotone, so is range k of successive rows.
    #[inline]
    #[must_use]
    pub fn sub_ranges(&self, row: usize) -> SubRanges {
        let frame = self.frame(row);
        if self.exclude == Exclude::NoOthers { SubRanges::one(frame) } else { self.pieces(row, frame) }
    }

    fn pieces(&self, row: usize, frame: Range<usize>) -> SubRanges {
        let at = row - self.rows.start;
        let cut = |row: usize| row.clamp(frame.start, frame.end);
        let peers = || cut(self.peer_begin[at] as usize)..cut(self.peer_end[at] as usize);
        match self.exclude {
            Exclude::NoOthers => SubRanges::one(frame),
            Exclude::CurrentRow => SubRanges::two(frame.start..cut(row), cut(row + 1)..frame.end),
            Exclude::Group => {
                let peers = peers();
                SubRanges::two(frame.start..peers.start, peers.end..frame.end)
            }
            Exclude::Ties => {
                let peers = peers();
                SubRanges {
                    ranges: [frame.start..peers.start, cut(row)..cut(row + 1), peers.end..frame.end],
                    next: 0,
                    count: 3,
                }
            }
        }
    }
}

/// The ranges of one frame, in row order: an iterator over them. Some may be empty.
#[derive(Debug, Clone)]
pub struct SubRanges {
    ranges: [Range<usize>; 3],
    next: u8,
    count: u8,
}

impl SubRanges {
    #[inline]
    fn one(range: Range<usize>) -> Self {
        Self { ranges: [range, 0..0, 0..0], next: 0, count: 1 }
    }

    #[inline]
    fn two(left: Range<usize>, right: Range<usize>) -> Self {
        Self { ranges: [left, right, 0..0], next: 0, count: 2 }
    }

    /// The ranges not yet taken.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Range<usize>] {
        &self.ranges[self.next as usize..self.count as usize]
    }

    /// The number of rows in the ranges not yet taken.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.as_slice().iter().map(ExactSizeIterator::len).sum()
    }
}

impl Iterator for SubRanges {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        if self.next >= self.count {
            return None;
        }
        let range = self.ranges[self.next as usize].clone();
        self.next += 1;
        Some(range)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::from(self.count - self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for SubRanges {}
