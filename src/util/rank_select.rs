//! Rank and select over a bitmap: the number of set bits before a row, and the row of the k-th set bit.
//!
//! Cost: building counts each word once; rank is O(1), select O(log n).
//!
//! Source: G. Jacobson, "Space-efficient Static Trees and Graphs", FOCS 1989.

use arrow_buffer::BooleanBuffer;

use super::bitmap::{select_in_word, word};

/// Rows per counter of [`RankSelect`]: one word, so that the counters take half as much memory as the bitmap.
const RANK_BLOCK: usize = 64;

/// Counts of set bits before each word, for rank and select.
///
/// Memory: 4 bytes per 64 rows. `rank` reads one counter and one word; `select` bisects the counters.
#[derive(Debug, Clone)]
pub(crate) struct RankSelect {
    bits: BooleanBuffer,
    before: Vec<u32>,
}

impl RankSelect {
    /// Builds the counts over `bits`.
    #[must_use]
    pub(crate) fn new(bits: BooleanBuffer) -> Self {
        let mut before = Vec::with_capacity(bits.len() / RANK_BLOCK + 2);
        let mut count = 0;
        before.push(0);
        before.extend((0..bits.len()).step_by(RANK_BLOCK).map(|at| {
            count += word(&bits, at).count_ones();
            count
        }));
        Self { bits, before }
    }

    /// The bitmap.
    #[must_use]
    pub(crate) fn bits(&self) -> &BooleanBuffer {
        &self.bits
    }

    /// The number of set bits before `row`.
    #[must_use]
    #[inline(always)]
    pub(crate) fn rank(&self, row: usize) -> usize {
        let (block, bit) = (row / RANK_BLOCK, row % RANK_BLOCK);
        let before = self.before[block] as usize;
        if bit == 0 {
            return before;
        }
        before + (word(&self.bits, row - bit) & ((1 << bit) - 1)).count_ones() as usize
    }

    /// The row of the `k`-th set bit, counted from 0; `None` if there are no more than `k`.
    #[must_use]
    pub(crate) fn select(&self, k: usize) -> Option<usize> {
        let block = self.before.partition_point(|&before| before as usize <= k).checked_sub(1)?;
        let at = block * RANK_BLOCK;
        if at >= self.bits.len() {
            return None;
        }
        let word = word(&self.bits, at);
        Some(at + select_in_word(word, (k - self.before[block] as usize) as u32) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sparse words, dense words and full words: each set bit by its number, and its rank.
    #[test]
    fn select_finds_each_set_bit() {
        let mut seed = 1_u64;
        let mut words = vec![u64::MAX, 1, 1 << 63, 0];
        words.extend((0..200).map(|turn| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = seed ^ (seed >> 31);
            [word, word & (word << 7) & (word << 13), word | (word << 5), word << 40 >> 8][turn % 4]
        }));
        let bits = |word: u64| (0..64).filter(move |bit| (word >> bit) & 1 != 0);
        for &word in &words {
            for (k, bit) in (0..).zip(bits(word)) {
                assert_eq!(select_in_word(word, k), bit, "bit {k} of {word:#x}");
            }
        }
        let rows: Vec<_> =
            (0..).zip(&words).flat_map(|(at, &word)| bits(word).map(move |bit| 64 * at + bit as usize)).collect();
        let ranks = RankSelect::new(BooleanBuffer::new(words.into(), 0, 204 * 64 - 3));
        for (k, &row) in rows.iter().enumerate() {
            let there = row < 204 * 64 - 3;
            assert_eq!(ranks.select(k), there.then_some(row), "row {row}");
            assert!(!there || ranks.rank(row) == k, "rows before {row}");
        }
        assert_eq!(ranks.select(rows.len()), None);
    }
}
