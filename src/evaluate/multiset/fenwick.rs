//! A Fenwick tree: counts by code, with their sums before a place and the place of a rank in O(log n).
//!
//! Cost: O(log n) to set and to count; 4n bytes. Tested beside the bitmaps in `bitset.rs`.
//!
//! P. Fenwick, "A New Data Structure for Cumulative Frequency Tables", Software: Practice and Experience 24(3), 1994.

/// A set of codes, counted.
#[derive(Debug, Default)]
pub(crate) struct Fenwick {
    /// Element `n` counts the codes there of the `n & -n` before code `n`.
    counts: Vec<u32>,
}

impl Fenwick {
    /// None of `codes` codes.
    pub(crate) fn reset(&mut self, codes: usize) {
        self.counts.clear();
        self.counts.resize(codes + 1, 0);
    }

    /// The code, which was not there, comes; or which was, goes.
    #[inline]
    pub(crate) fn set(&mut self, code: usize, present: bool) {
        let step = if present { 1 } else { u32::MAX };
        let mut at = code + 1;
        while at < self.counts.len() {
            self.counts[at] = self.counts[at].wrapping_add(step);
            at += at & at.wrapping_neg();
        }
    }

    /// How many are there before `code`.
    #[inline]
    pub(crate) fn count_before(&self, code: usize) -> u32 {
        let (mut at, mut count) = (code, 0);
        while at > 0 {
            count += self.counts[at];
            at &= at - 1;
        }
        count
    }
}
