//! A set of codes: a bitmap with summary bitmaps of its nonzero words, with and without cursors for selection.
//!
//! ```text
//!   level 1                 1               .               1          words of level 0 that are not zero
//!   level 0     [. . 1 . 1 . . .][. . . . . . . .][. . . . . . . 1]
//! ```
//!
//! Cost: [`Bitset`] O(1) to set, O(log n) to the base 64 to find the next code of a sparse set; n/8 bytes.
//! [`SelectBitset`] has the same cost, and O(1) per word between the code found last and the next one.

use std::hint::select_unpredictable;

use crate::util::bitmap::{WORD_BITS as BITS, select_in_word};

/// A set of codes, iterated in order.
#[derive(Debug, Default)]
pub(crate) struct Bitset {
    /// `levels[0]` has one bit per code, `levels[k]` one per word of `levels[k - 1]`.
    levels: Vec<Vec<u64>>,
}

impl Bitset {
    /// Empties the set and sets its capacity to `codes` codes.
    pub(crate) fn reset(&mut self, codes: usize) {
        let (mut level, mut bits) = (0, codes);
        while level == 0 || bits > 1 {
            bits = bits.div_ceil(BITS);
            if level == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[level].clear();
            self.levels[level].resize(bits, 0);
            level += 1;
        }
        self.levels.truncate(level);
    }

    /// Adds or removes a code.
    #[inline(always)]
    pub(crate) fn set(&mut self, code: usize, present: bool) {
        let mut at = code;
        for level in &mut self.levels {
            let word = &mut level[at / BITS];
            let before = *word;
            *word = before & !(1 << (at % BITS)) | u64::from(present) << (at % BITS);
            // The level above records only whether the word is nonzero.
            if (before == 0) == (*word == 0) {
                break;
            }
            at /= BITS;
        }
    }

    /// The first code in the set at or after `from`.
    pub(crate) fn next(&self, from: usize) -> Option<usize> {
        self.next_at(0, from)
    }

    /// The first set bit of a level at or after `from`.
    fn next_at(&self, level: usize, from: usize) -> Option<usize> {
        let mut at = from;
        for (height, words) in self.levels.iter().enumerate().skip(level) {
            let word = words.get(at / BITS)? & (u64::MAX << (at % BITS));
            if word != 0 {
                let mut found = at / BITS * BITS + word.trailing_zeros() as usize;
                for below in self.levels[level..height].iter().rev() {
                    found = found * BITS + below[found].trailing_zeros() as usize;
                }
                return Some(found);
            }
            at = at / BITS + 1;
        }
        None
    }

    /// The last set bit of a level before `end`.
    fn previous_at(&self, level: usize, end: usize) -> Option<usize> {
        let mut end = end;
        for (height, words) in self.levels.iter().enumerate().skip(level) {
            let word = words.get(end / BITS).map_or(0, |word| word & !(u64::MAX << (end % BITS)));
            if word != 0 {
                let mut found = end / BITS * BITS + word.ilog2() as usize;
                for below in self.levels[level..height].iter().rev() {
                    found = found * BITS + below[found].ilog2() as usize;
                }
                return Some(found);
            }
            end /= BITS;
        }
        None
    }

    /// The `k`-th code in the set, from 0, and the cursor of its word; `k` must be less than the number of codes. Cost:
    /// one step per nonempty word between `from` and it.
    #[inline(always)]
    fn select(&self, from: BitCursor, k: u32) -> Option<(usize, BitCursor)> {
        let words = self.levels.first()?;
        let BitCursor { mut at, mut before } = from;
        while k < before {
            at = self.previous_at(1, at)?;
            before -= words[at].count_ones();
        }
        loop {
            let here = words[at].count_ones();
            if k - before < here {
                let code = at * BITS + select_in_word(words[at], k - before) as usize;
                return Some((code, BitCursor { at, before }));
            }
            before += here;
            at = self.next_at(1, at + 1)?;
        }
    }

    /// The codes in the set, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.next(0), |code| self.next(code + 1))
    }
}

/// A position in the bitmap: a word of the lowest level.
#[derive(Debug, Clone, Copy, Default)]
struct BitCursor {
    at: usize,
    /// The number of codes before the word.
    before: u32,
}

/// A set of codes that is queried repeatedly for its `k`-th code, with similar `k`.
///
/// It keeps the words of the last results and the number of codes before each. Adding or removing a code changes such a
/// number by one, so the next result is at most as many words away as codes have changed. Most rows stay within their
/// word, where the code is selected without a branch, since no processor could predict it.
#[derive(Debug, Default)]
pub(crate) struct SelectBitset {
    present: Bitset,
    /// Ascending; at least one after the first query.
    cursors: Vec<BitCursor>,
    /// The cursors of the query in progress.
    next: Vec<BitCursor>,
    count: u32,
}

impl SelectBitset {
    /// Empties the set and sets its capacity to `codes` codes.
    pub(crate) fn reset(&mut self, codes: usize) {
        self.present.reset(codes);
        self.cursors.clear();
        self.count = 0;
    }

    /// Adds a code that is not in the set, or removes one that is.
    #[inline(always)]
    pub(crate) fn set(&mut self, code: usize, present: bool) {
        let step = if present { 1 } else { u32::MAX };
        self.count = self.count.wrapping_add(step);
        self.present.set(code, present);
        for cursor in &mut self.cursors {
            cursor.before = cursor.before.wrapping_add(select_unpredictable(code / BITS < cursor.at, step, 0));
        }
    }

    /// The number of codes in the set.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.count
    }

    /// Calls `f` with the `k`-th code in the set, from 0, for each of `ks`, which are ascending and less than `len`.
    #[inline(always)]
    pub(crate) fn select(&mut self, ks: &[u32], mut f: impl FnMut(usize)) {
        let Self { present, cursors, next, .. } = self;
        next.clear();
        let mut near = 0;
        for &k in ks {
            let distance = |cursor: &BitCursor| cursor.before.abs_diff(k);
            while near + 1 < cursors.len() && distance(&cursors[near + 1]) <= distance(&cursors[near]) {
                near += 1;
            }
            let kept = cursors.get(near).copied().unwrap_or_default();
            let found = next.last().filter(|found| distance(found) < distance(&kept));
            let (code, cursor) = present.select(found.copied().unwrap_or(kept), k).unwrap_or_default();
            if next.last().is_none_or(|last| last.at != cursor.at) {
                next.push(cursor);
            }
            f(code);
        }
        if !next.is_empty() {
            std::mem::swap(cursors, next);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::evaluate::multiset::fenwick::Fenwick;
    use std::collections::BTreeSet;

    use super::*;

    /// Compares both sets with the standard library's, sparse and dense.
    #[test]
    fn bitset_matches_btree_set() {
        for codes in [1, 2, 63, 64, 65, 4096, 4097, 300_000] {
            let (mut present, mut ranked, mut expected) = (Bitset::default(), Fenwick::default(), BTreeSet::new());
            let mut selected = SelectBitset::default();
            selected.reset(5);
            selected.reset(codes);
            present.reset(7);
            present.reset(codes);
            ranked.reset(codes);
            let mut seed = 1_u64;
            for _ in 0..600 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let code = (seed >> 33) as usize % codes;
                let comes = !expected.remove(&code);
                if comes {
                    expected.insert(code);
                }
                present.set(code, comes);
                ranked.set(code, comes);
                selected.set(code, comes);
                // Queries whose number changes, both near each other and far apart.
                let (all, turn): (Vec<_>, _) = (expected.iter().copied().collect(), (seed >> 20) as usize % 5);
                let shares = [0, 1, all.len() / 3, all.len() / 2, all.len() / 2 + 1, all.len().saturating_sub(1)];
                let mut ks: Vec<_> = shares[turn..].iter().map(|&k| k as u32).collect();
                ks.retain(|&k| (k as usize) < all.len());
                ks.sort_unstable();
                let mut found = Vec::new();
                selected.select(&ks, |code| found.push(code));
                assert_eq!(found, ks.iter().map(|&k| all[k as usize]).collect::<Vec<_>>());
                assert_eq!(selected.len() as usize, all.len());
            }
            assert_eq!(present.iter().collect::<Vec<_>>(), expected.iter().copied().collect::<Vec<_>>());
            for (k, &code) in expected.iter().enumerate() {
                assert_eq!((ranked.count_before(code) as usize, ranked.count_before(code + 1) as usize), (k, k + 1));
            }
        }
    }
}
