//! Nearest: the last or the first counted row of each frame, for a block of frames at once.
//!
//! ```text
//!   rows            0 1 2 3 4 5 6 7 8 9
//!   counted         1 . 1 1 . . . 1 1 .
//!   last before     0 1 1 3 4 4 4 4 8 9 9      the row plus one, 0 for none
//!   frame [4, 8)            [-----)            the last before 8 is row 7, in the frame
//!   frame [4, 7)            [---)              the last before 7 is row 3, outside the frame
//! ```
//!
//! The ends of a block's frames span about as many rows as the block has. The rows between are therefore scanned once,
//! without a branch on any, and each frame looks up its end.
//!
//! Cost: O(1) per row and per row between the ends; four bytes per row between the ends of a block. Ends that are
//! farther apart than [`MAX_ROWS_PER_FRAME`] times the block's rows, as offsets per row can make them, are not
//! supported.

use std::ops::Range;

use crate::util::bitmap::word;
use crate::util::rank_select::RankSelect;

/// The maximum number of rows to scan per frame.
const MAX_ROWS_PER_FRAME: usize = 8;

/// The lookup table for the ends of frames.
#[derive(Debug, Default)]
pub(crate) struct Nearest {
    /// One entry per position between the ends.
    found: Vec<u32>,
}

impl Nearest {
    /// Calls `f` for each of `ends` with the last counted row before it plus one, or 0 if there is none. Returns
    /// `false`, without a call, if the ends are too far apart.
    pub(crate) fn last_before_each(&mut self, ranks: &RankSelect, ends: &[u32], mut f: impl FnMut(usize, u32)) -> bool {
        let Some(span) = span(ends) else { return false };
        let last = ranks.rank(span.start).checked_sub(1).and_then(|k| ranks.select(k));
        let mut last = last.map_or(0, |row| row as u32 + 1);
        self.found.clear();
        self.found.push(last);
        for at in span.clone().step_by(64) {
            let mut word = word(ranks.bits(), at);
            self.found.extend((at..span.end.min(at + 64)).map(|row| {
                last = if word & 1 == 0 { last } else { row as u32 + 1 };
                word >>= 1;
                last
            }));
        }
        ends.iter().enumerate().for_each(|(at, &end)| f(at, self.found[end as usize - span.start]));
        true
    }

    /// As [`Nearest::last_before_each`], with the first counted row at or after each of `begins`, or `u32::MAX`.
    pub(crate) fn first_from_each(
        &mut self,
        ranks: &RankSelect,
        begins: &[u32],
        mut f: impl FnMut(usize, u32),
    ) -> bool {
        let Some(span) = span(begins) else { return false };
        let first = ranks.select(ranks.rank(span.end));
        let mut first = first.map_or(u32::MAX, |row| row as u32);
        self.found.clear();
        self.found.resize(span.len() + 1, first);
        let words = span.clone().step_by(64).zip(self.found.chunks_mut(64));
        for (at, found) in words.rev() {
            let word = word(ranks.bits(), at);
            for (place, slot) in found.iter_mut().enumerate().take(span.end - at).rev() {
                first = if (word >> place) & 1 == 0 { first } else { (at + place) as u32 };
                *slot = first;
            }
        }
        begins.iter().enumerate().for_each(|(at, &begin)| f(at, self.found[begin as usize - span.start]));
        true
    }
}

/// The range from the smallest position to the largest; `None` if it is too long.
fn span(places: &[u32]) -> Option<Range<usize>> {
    let (low, high) = (*places.iter().min()? as usize, *places.iter().max()? as usize);
    (high - low <= MAX_ROWS_PER_FRAME * places.len()).then_some(low..high)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_buffer::BooleanBuffer;

    use super::*;

    /// Compares with a scan of each row, for ends near and far apart, in order and not.
    #[test]
    fn block_equals_row_by_row() {
        let bits = BooleanBuffer::collect_bool(300, |row| row % 7 == 3 && !(100..250).contains(&row)).slice(5, 290);
        let ranks = RankSelect::new(bits.clone());
        let mut nearest = Nearest::default();
        let near = [vec![0], vec![290; 3], (0..=290).collect(), vec![70, 60, 64, 99, 71], vec![255, 248]];
        let far = [vec![0, 290], vec![120, 101]];
        for (places, near) in near.map(|places| (places, true)).into_iter().chain(far.map(|places| (places, false))) {
            let (mut before, mut from) = (vec![], vec![]);
            assert_eq!(nearest.last_before_each(&ranks, &places, |_, row| before.push(row)), near);
            assert_eq!(nearest.first_from_each(&ranks, &places, |_, row| from.push(row)), near);
            if !near {
                continue;
            }
            for (at, &place) in places.iter().enumerate() {
                let place = place as usize;
                let last = (0..place).rev().find(|&row| bits.value(row)).map_or(0, |row| row as u32 + 1);
                let first = (place..290).find(|&row| bits.value(row)).map_or(u32::MAX, |row| row as u32);
                assert_eq!((before[at], from[at]), (last, first), "{places:?}, {place}");
            }
        }
    }
}
