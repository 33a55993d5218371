//! Short partitions: frames that go on for some rows and then begin anew.
//!
//! ```text
//!   frames   [a] [ab] [abc] | [d] [de] | [f]        growing: a state is kept, or begins anew, and a row is appended
//!            [abc] [bc] [c] | [de] [e] | [f]        shrinking: the same from the last to the first
//! ```
//!
//! Where partitions have five rows, a branch on where one ends is not foreseen once in five rows, which costs more than all
//! their additions. So whether frames move like this is seen by a look at all of them, a loop that compilers make vectors of,
//! and whether a state is kept is a choice and no branch (`Aggregate::accumulate`). Cost: O(1) per row, the states of some
//! frames of memory.

use super::motion::move_by;
use crate::bounds::block::FrameRuns;
use crate::util::simd::widest;

/// Room for what is known of some frames that are answered together.
#[derive(Debug)]
pub(super) struct Room<S> {
    /// The states of their rows.
    pub(super) states: Vec<S>,
    /// All bits for each row whose state goes on from the row before, none where it begins anew.
    ///
    /// Written down first, since compilers that know where bits come from make branches of them.
    pub(super) kept: Vec<u64>,
}

impl<S> Room<S> {
    pub(super) fn new() -> Self {
        Self { states: Vec::new(), kept: Vec::new() }
    }

    /// Notes which of the frames are of more than one row.
    pub(super) fn keep_longer(&mut self, FrameRuns { begin, end }: FrameRuns) {
        let kept = &mut self.kept;
        kept.clear();
        widest(
            #[inline(always)]
            || kept.extend(begin.iter().zip(end).map(|(begin, end)| if begin + 1 == *end { 0 } else { u64::MAX })),
        );
    }
}

/// Whether each of the frames, but for the first, ends a row behind the one before, and begins where that does or is one row.
pub(super) fn grow(FrameRuns { begin, end }: FrameRuns) -> bool {
    let ends = end.get(1..).unwrap_or_default();
    // Of two differences the less is 0 where one of them is.
    let wrong = |(begin, end): (&[u32], &u32)| (begin[0] ^ begin[1]).min((begin[1] + 1) ^ end);
    move_by(end, u32::MAX) && none(begin.windows(2).zip(ends).map(wrong))
}

/// Whether each of the frames, but for the last, begins a row before the next, and ends where that does or is one row.
pub(super) fn shrink(FrameRuns { begin, end }: FrameRuns) -> bool {
    let wrong = |(end, begin): (&[u32], &u32)| (end[0] ^ end[1]).min((begin + 1) ^ end[0]);
    move_by(begin, u32::MAX) && none(end.windows(2).zip(begin).map(wrong))
}

/// Whether each frame is the one before, or behind it, and none is empty or has more than `longest` rows.
pub(super) fn repeat(FrameRuns { begin, end }: FrameRuns, longest: u32) -> bool {
    let wrong = |(begin, end): (&[u32], &[u32])| {
        ((begin[0] ^ begin[1]) | (end[0] ^ end[1])).min(end[0].saturating_sub(begin[1]))
    };
    let long = |(begin, end): (&u32, &u32)| end.wrapping_sub(*begin).wrapping_sub(1).saturating_sub(longest - 1);
    none(begin.iter().zip(end).map(long)) && none(begin.windows(2).zip(end.windows(2)).map(wrong))
}

/// Whether all are 0: every one is looked at, which is faster than up to the first that is not.
#[inline(always)]
fn none(bits: impl Iterator<Item = u32>) -> bool {
    widest(
        #[inline(always)]
        || bits.fold(0, |all, bits| all | bits) == 0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::simd::both;

    /// Whether frames grow, shrink, or are repeated.
    fn kinds(frames: &[(u32, u32)]) -> [bool; 3] {
        let (begin, end): (Vec<_>, Vec<_>) = frames.iter().copied().unzip();
        let runs = FrameRuns { begin: &begin, end: &end };
        let [portable, widest] = both(|| [grow(runs), shrink(runs), repeat(runs, 4)]);
        assert_eq!(portable, widest);
        portable
    }

    #[test]
    fn frames_of_short_partitions_are_told_from_others() {
        assert_eq!(kinds(&[(2, 5), (2, 6), (6, 7), (7, 8), (7, 9)]), [true, false, false]);
        assert_eq!(kinds(&[(2, 5), (3, 5), (4, 5), (5, 6), (6, 9), (7, 9)]), [false, true, false]);
        assert_eq!(kinds(&[(2, 5), (2, 5), (5, 9), (9, 10), (12, 14), (12, 14)]), [false, false, true]);
        assert_eq!(kinds(&[(2, 3), (3, 4), (4, 5)]), [true; 3]);
        // One of them is too long, empty, or out of line.
        assert_eq!(kinds(&[(2, 5), (5, 10), (5, 10)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (5, 5), (5, 7)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (4, 6), (4, 7)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (2, 7), (7, 8)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (3, 4), (4, 6)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (2, 6), (2, 7)]), [true, false, false]);
    }
}
