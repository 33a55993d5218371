//! How the frames of a block move: mostly by a row each, at both ends or at one.
//!
//! States for such frames stand side by side in the rows' order, and what is made of them needs no look at each frame: a loop
//! that compilers make vectors of. Cost: a look at all of them, 0.2 ns a frame.

use std::ops::Range;

use crate::bounds::block::FrameRuns;
use crate::util::simd::widest;

/// So many frames are worth to be answered together, and their states stay in the first-level cache.
pub(super) const TOGETHER: usize = 128;

/// Which ends of frames move, by one row each time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moves {
    pub(super) begin: bool,
    pub(super) end: bool,
}

/// The first of the frames, and how all of them move, if they are several, none of them empty, and move alike.
pub(super) fn steps(runs: FrameRuns) -> Option<(Range<usize>, Moves)> {
    let mut ends = runs.iter();
    let (first, last) = (ends.next()?, ends.next_back()?);
    if first.is_empty() || last.is_empty() {
        return None;
    }
    // The last one tells how they move, if they move alike.
    let steps = ends.len() + 1;
    let moves = |from: &[u32], first: usize, last: usize| {
        let moved = last.wrapping_sub(first);
        let step = if moved == steps { u32::MAX } else { 0 };
        ((moved == 0 || moved == steps) && move_by(from, step)).then_some(moved > 0)
    };
    let begin = moves(runs.begin, first.start, last.start)?;
    let end = moves(runs.end, first.end, last.end)?;
    Some((first, Moves { begin, end }))
}

/// Whether each of `ends` is one row behind the one before, or where that one is, as the bits of `step` say.
pub(super) fn move_by(ends: &[u32], step: u32) -> bool {
    let first = ends.first().copied().unwrap_or_default();
    widest(
        #[inline(always)]
        || {
            // All are looked at, which is faster than up to the first.
            let places = ends.iter().zip(0_u32..);
            places.fold(0, |all, (&row, number)| all | (row.wrapping_sub(first) ^ (number & step))) == 0
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How frames of these begins and ends move.
    fn moves(begin: &[u32], end: &[u32]) -> Option<[bool; 2]> {
        steps(FrameRuns { begin, end }).map(|(_, moves)| [moves.begin, moves.end])
    }

    #[test]
    fn frames_move_alike_or_not() {
        assert_eq!(moves(&[3, 4, 5], &[9, 10, 11]), Some([true, true]));
        assert_eq!(moves(&[3, 3, 3], &[9, 10, 11]), Some([false, true]));
        assert_eq!(moves(&[3, 4, 5], &[9, 9, 9]), Some([true, false]));
        assert_eq!(moves(&[3, 3], &[9, 9]), Some([false, false]));
        for (begin, end) in [(vec![], vec![]), (vec![3], vec![9]), (vec![3, 3], vec![3, 4]), (vec![3, 4], vec![4, 4])] {
            assert_eq!(moves(&begin, &end), None);
        }
        // The last one alone says nothing of those between.
        assert_eq!(moves(&[3, 3, 5], &[9, 10, 11]), None);
        assert_eq!(moves(&[3, 4, 5], &[9, 11, 11]), None);
        assert_eq!(moves(&[3, 5, 7], &[9, 10, 11]), None);
        assert_eq!(moves(&[5, 4, 3], &[9, 9, 9]), None);
    }
}
