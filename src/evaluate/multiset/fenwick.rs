//! A Fenwick tree: a set of codes with counts before a code and selection by rank in O(log n).
//!
//! Cost: O(log n) to set and to count; 4n bytes. Tested together with the bitmaps in `bitset.rs`.
//!
//! P. Fenwick, "A New Data Structure for Cumulative Frequency Tables", Software: Practice and Experience 24(3), 1994.

/// A set of codes with prefix counts.
#[derive(Debug, Default)]
pub(crate) struct Fenwick {
    /// Element `n` is the number of set codes among the `n & -n` codes before code `n`.
    counts: Vec<u32>,
}

impl Fenwick {
    /// Empties the set and sets its capacity to `codes` codes.
    pub(crate) fn reset(&mut self, codes: usize) {
        self.counts.clear();
        self.counts.resize(codes + 1, 0);
    }

    /// Adds a code that is not in the set, or removes one that is.
    #[inline]
    pub(crate) fn set(&mut self, code: usize, present: bool) {
        let step = if present { 1 } else { u32::MAX };
        let mut at = code + 1;
        while at < self.counts.len() {
            self.counts[at] = self.counts[at].wrapping_add(step);
            at += at & at.wrapping_neg();
        }
    }

    /// The number of set codes before `code`.
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
