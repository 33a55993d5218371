//! Which codes are present: a bitmap with bitmaps of its words that are not zero, and a tree of counts.
//!
//! ```text
//!   level 1                 1               .               1          words of level 0 that are not zero
//!   level 0     [. . 1 . 1 . . .][. . . . . . . .][. . . . . . . 1]
//! ```
//!
//! Cost: [`Present`] O(1) to set, O(log n) to find the next of few among many, to the base 64; n/8 bytes. [`Ranked`]
//! O(log n) to set and to count; 4n bytes (P. Fenwick, "A New Data Structure for Cumulative Frequency Tables", 1994).

const BITS: usize = u64::BITS as usize;

/// A set of codes, read in order.
#[derive(Debug, Default)]
pub(crate) struct Present {
    /// `levels[0]` has a bit per code, `levels[k]` one per word of `levels[k - 1]`.
    levels: Vec<Vec<u64>>,
}

impl Present {
    /// None of `codes` codes.
    pub(crate) fn restart(&mut self, codes: usize) {
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

    /// The code is there or not.
    #[inline]
    pub(crate) fn set(&mut self, code: usize, present: bool) {
        let mut at = code;
        for level in &mut self.levels {
            let word = &mut level[at / BITS];
            let before = *word;
            if present {
                *word |= 1 << (at % BITS);
            } else {
                *word &= !(1 << (at % BITS));
            }
            // The level above knows whether there is a bit, not how many.
            if (before == 0) == (*word == 0) {
                break;
            }
            at /= BITS;
        }
    }

    /// The first code there, from `from` on.
    pub(crate) fn next(&self, from: usize) -> Option<usize> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let word = level.get(at / BITS)? & (u64::MAX << (at % BITS));
            if word != 0 {
                let mut found = at / BITS * BITS + word.trailing_zeros() as usize;
                for below in self.levels[..height].iter().rev() {
                    found = found * BITS + below[found].trailing_zeros() as usize;
                }
                return Some(found);
            }
            at = at / BITS + 1;
        }
        None
    }

    /// The codes there, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.next(0), |code| self.next(code + 1))
    }
}

/// A set of codes, counted.
#[derive(Debug, Default)]
pub(crate) struct Ranked {
    /// Element `n` counts the codes there of the `n & -n` before code `n`.
    counts: Vec<u32>,
    present: u32,
}

impl Ranked {
    /// None of `codes` codes.
    pub(crate) fn restart(&mut self, codes: usize) {
        self.present = 0;
        self.counts.clear();
        self.counts.resize(codes + 1, 0);
    }

    /// The code, which was not there, comes; or which was, goes.
    #[inline]
    pub(crate) fn set(&mut self, code: usize, present: bool) {
        let step = if present { 1 } else { u32::MAX };
        self.present = self.present.wrapping_add(step);
        let mut at = code + 1;
        while at < self.counts.len() {
            self.counts[at] = self.counts[at].wrapping_add(step);
            at += at & at.wrapping_neg();
        }
    }

    /// How many are there.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.present
    }

    /// How many are there before `code`.
    #[inline]
    pub(crate) fn before(&self, code: usize) -> u32 {
        let (mut at, mut count) = (code, 0);
        while at > 0 {
            count += self.counts[at];
            at &= at - 1;
        }
        count
    }

    /// The `k`-th code there, from 0.
    #[inline]
    pub(crate) fn select(&self, k: u32) -> Option<usize> {
        if k >= self.present {
            return None;
        }
        let (mut at, mut left) = (0, k);
        let mut step = self.counts.len().next_power_of_two() / 2;
        while step > 0 {
            if let Some(&count) = self.counts.get(at + step).filter(|&&count| count <= left) {
                at += step;
                left -= count;
            }
            step /= 2;
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Both sets against the standard library's, of few and of many codes.
    #[test]
    fn as_an_ordered_set() {
        for codes in [1, 2, 63, 64, 65, 4096, 4097, 300_000] {
            let (mut present, mut ranked, mut expected) = (Present::default(), Ranked::default(), BTreeSet::new());
            present.restart(7);
            present.restart(codes);
            ranked.restart(codes);
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
            }
            assert_eq!(present.iter().collect::<Vec<_>>(), expected.iter().copied().collect::<Vec<_>>());
            for (k, &code) in expected.iter().enumerate() {
                assert_eq!((ranked.before(code) as usize, ranked.before(code + 1) as usize), (k, k + 1));
                assert_eq!(ranked.select(k as u32), Some(code));
            }
            assert_eq!((ranked.len() as usize, ranked.select(ranked.len())), (expected.len(), None));
        }
    }
}
