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

use super::block::Bounds;
use crate::spec::frame::Exclude;

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
