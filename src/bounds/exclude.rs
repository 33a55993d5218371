//! EXCLUDE: removes rows from a frame. Only this file implements it.
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
//! Cost: a few comparisons per row; none without EXCLUDE. Each cut is clamped to the frame, so that range k of
//! consecutive rows moves as monotonically as the frames do, wherever the row lies.

use std::ops::Range;

use super::block::Bounds;
use crate::spec::frame::Exclude;

impl Bounds {
    /// The rows of the frame of `row`, a row of `self.rows`: ordered, disjoint ranges, some of which may be empty.
    ///
    /// One range without EXCLUDE; two (before and after the excluded rows) for CURRENT ROW and GROUP; three (before,
    /// the row, after) for TIES. If the frames are monotone, so is range k of consecutive rows.
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

/// An iterator over the ranges of a frame, in row order. Ranges may be empty.
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

    /// The remaining ranges.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Range<usize>] {
        &self.ranges[self.next as usize..self.count as usize]
    }

    /// The number of rows in the remaining ranges.
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
