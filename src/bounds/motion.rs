//! How frames move from one row to the next: mostly by one row, at both ends or at one, restarting with each partition.
//!
//! ```text
//!   slide    [abc] [bcd] [cde]              both ends, or one of them, advance by one row
//!   grow     [a] [ab] [abc] | [d] [de]      a frame extends the previous one, or restarts
//!   shrink   [abc] [bc] [c] | [de] [e]      the same from the last to the first
//!   repeat   [abc] [abc] [abc] | [de] [de]  one frame for all rows of a partition
//! ```
//!
//! Strategies evaluate frames with the same motion together: states are stored in row order, results are read without
//! looking at each frame, and whether a state is kept or reset is a select instead of a branch, which would be
//! unpredictable for short partitions. Cost: a check of all frames by a vectorised loop. No memory.

use std::ops::Range;

use super::block::FrameRuns;
use crate::util::simd::with_widest_vectors;

/// Which ends of the frames advance by one row per frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Motion {
    pub(crate) begin: bool,
    pub(crate) end: bool,
}

impl FrameRuns<'_> {
    /// The first frame and the motion of all, if there are at least two, none is empty, and all advance alike.
    pub(crate) fn sliding(self) -> Option<(Range<usize>, Motion)> {
        let mut ends = self.iter();
        let (first, last) = (ends.next()?, ends.next_back()?);
        if first.is_empty() || last.is_empty() {
            return None;
        }
        // The last frame determines the motion; the others are then checked.
        let steps = ends.len() + 1;
        let moves = |from: &[u32], first: usize, last: usize| {
            let moved = last.wrapping_sub(first);
            let step = if moved == steps { u32::MAX } else { 0 };
            ((moved == 0 || moved == steps) && step_by(from, step)).then_some(moved > 0)
        };
        let begin = moves(self.begin, first.start, last.start)?;
        let end = moves(self.end, first.end, last.end)?;
        Some((first, Motion { begin, end }))
    }

    /// Whether each frame except the first ends one row after the previous one, and either starts where that does or
    /// has one row.
    pub(crate) fn are_growing(self) -> bool {
        let Self { begin, end } = self;
        let ends = end.get(1..).unwrap_or_default();
        // The minimum of two differences is 0 if either is.
        let wrong = |(begin, end): (&[u32], &u32)| (begin[0] ^ begin[1]).min((begin[1] + 1) ^ end);
        step_by(end, u32::MAX) && all_zero(begin.windows(2).zip(ends).map(wrong))
    }

    /// Whether each frame except the last starts one row before the next, and either ends where that does or has one
    /// row.
    pub(crate) fn are_shrinking(self) -> bool {
        let Self { begin, end } = self;
        let wrong = |(end, begin): (&[u32], &u32)| (end[0] ^ end[1]).min((begin + 1) ^ end[0]);
        step_by(begin, u32::MAX) && all_zero(end.windows(2).zip(begin).map(wrong))
    }

    /// Whether each frame equals the previous one or lies after it, and none is empty or has more than `longest` rows.
    pub(crate) fn are_repeating(self, longest: u32) -> bool {
        let Self { begin, end } = self;
        let wrong = |(begin, end): (&[u32], &[u32])| {
            ((begin[0] ^ begin[1]) | (end[0] ^ end[1])).min(end[0].saturating_sub(begin[1]))
        };
        let long = |(begin, end): (&u32, &u32)| end.wrapping_sub(*begin).wrapping_sub(1).saturating_sub(longest - 1);
        all_zero(begin.iter().zip(end).map(long)) && all_zero(begin.windows(2).zip(end.windows(2)).map(wrong))
    }
}

/// Whether `ends` ascend by one (`step` is all ones) or are all equal (`step` is 0).
fn step_by(ends: &[u32], step: u32) -> bool {
    let first = ends.first().copied().unwrap_or_default();
    all_zero(ends.iter().zip(0_u32..).map(|(&row, number)| row.wrapping_sub(first) ^ (number & step)))
}

/// Whether all are 0. Checks every value, which vectorises and is faster than stopping at the first that is not 0.
#[inline(always)]
fn all_zero(bits: impl Iterator<Item = u32>) -> bool {
    with_widest_vectors(
        #[inline(always)]
        || bits.fold(0, |all, bits| all | bits) == 0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::simd::portable_and_widest;

    /// The motion of frames with these starts and ends.
    fn moves(begin: &[u32], end: &[u32]) -> Option<[bool; 2]> {
        FrameRuns { begin, end }.sliding().map(|(_, moves)| [moves.begin, moves.end])
    }

    #[test]
    fn sliding_frames_are_detected() {
        assert_eq!(moves(&[3, 4, 5], &[9, 10, 11]), Some([true, true]));
        assert_eq!(moves(&[3, 3, 3], &[9, 10, 11]), Some([false, true]));
        assert_eq!(moves(&[3, 4, 5], &[9, 9, 9]), Some([true, false]));
        assert_eq!(moves(&[3, 3], &[9, 9]), Some([false, false]));
        for (begin, end) in [(vec![], vec![]), (vec![3], vec![9]), (vec![3, 3], vec![3, 4]), (vec![3, 4], vec![4, 4])] {
            assert_eq!(moves(&begin, &end), None);
        }
        // The first and the last frame alone do not suffice.
        assert_eq!(moves(&[3, 3, 5], &[9, 10, 11]), None);
        assert_eq!(moves(&[3, 4, 5], &[9, 11, 11]), None);
        assert_eq!(moves(&[3, 5, 7], &[9, 10, 11]), None);
        assert_eq!(moves(&[5, 4, 3], &[9, 9, 9]), None);
    }

    /// Whether frames grow, shrink, or repeat.
    fn kinds(frames: &[(u32, u32)]) -> [bool; 3] {
        let (begin, end): (Vec<_>, Vec<_>) = frames.iter().copied().unzip();
        let runs = FrameRuns { begin: &begin, end: &end };
        let [portable, widest] =
            portable_and_widest(|| [runs.are_growing(), runs.are_shrinking(), runs.are_repeating(4)]);
        assert_eq!(portable, widest);
        portable
    }

    #[test]
    fn motion_of_short_partitions_is_classified() {
        assert_eq!(kinds(&[(2, 5), (2, 6), (6, 7), (7, 8), (7, 9)]), [true, false, false]);
        assert_eq!(kinds(&[(2, 5), (3, 5), (4, 5), (5, 6), (6, 9), (7, 9)]), [false, true, false]);
        assert_eq!(kinds(&[(2, 5), (2, 5), (5, 9), (9, 10), (12, 14), (12, 14)]), [false, false, true]);
        assert_eq!(kinds(&[(2, 3), (3, 4), (4, 5)]), [true; 3]);
        // One frame is too long, empty, or at another place.
        assert_eq!(kinds(&[(2, 5), (5, 10), (5, 10)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (5, 5), (5, 7)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (4, 6), (4, 7)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (2, 7), (7, 8)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (3, 4), (4, 6)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (2, 6), (2, 7)]), [true, false, false]);
    }
}
