//! Bitmaps of starts (partitions, peer groups) and counts over bitmaps.
//!
//! A set bit says "something begins at this row". Edges are looked up by scanning words, so a long run costs
//! one step per 64 rows; [`Ranks`] answers "how many bits before this row" and "where is the k-th bit" in
//! O(1) and O(log n).

use std::ops::Range;

use arrow_buffer::BooleanBuffer;

/// Where runs of rows begin. Row 0 always counts as a beginning.
#[derive(Debug, Clone)]
pub struct Edges {
    starts: BooleanBuffer,
}

impl Edges {
    /// Runs that begin at the set bits.
    #[must_use]
    pub fn new(starts: BooleanBuffer) -> Self {
        Self { starts }
    }

    /// One run of `rows` rows.
    #[must_use]
    pub fn single(rows: usize) -> Self {
        let mut words = vec![0_u64; rows.div_ceil(64)];
        if let Some(first) = words.first_mut() {
            *first = 1;
        }
        Self { starts: BooleanBuffer::new(words.into(), 0, rows) }
    }

    /// The bits.
    #[must_use]
    pub fn starts(&self) -> &BooleanBuffer {
        &self.starts
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// No rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether a run begins at `row`.
    #[must_use]
    pub fn starts_at(&self, row: usize) -> bool {
        row == 0 || self.starts.value(row)
    }

    /// The run that holds `row`.
    #[must_use]
    pub fn run(&self, row: usize) -> Range<usize> {
        self.begin(row)..self.end(row)
    }

    /// The runs of some rows, the first of which begins one, in a bitmap of their own.
    pub(crate) fn slice(&self, rows: Range<usize>) -> Self {
        if rows.len() == self.len() {
            return self.clone();
        }
        let bits = self.starts.inner().bit_slice(self.starts.offset() + rows.start, rows.len());
        Self { starts: BooleanBuffer::new(bits, 0, rows.len()) }
    }

    /// How many rows the longest run has.
    pub(crate) fn longest(&self) -> usize {
        let (mut longest, mut begin) = (0, 0);
        for start in self.starts.set_indices().chain([self.len()]) {
            longest = longest.max(start - begin);
            begin = start;
        }
        longest
    }

    /// Calls `f` with each run.
    pub(crate) fn each(&self, mut f: impl FnMut(Range<usize>)) {
        let mut begin = 0;
        while begin < self.len() {
            let end = self.end(begin);
            f(begin..end);
            begin = end;
        }
    }

    /// The first row of the run that holds `row`.
    #[must_use]
    pub fn begin(&self, row: usize) -> usize {
        previous_set(&self.starts, row).unwrap_or(0)
    }

    /// The row behind the run that holds `row`.
    #[must_use]
    pub fn end(&self, row: usize) -> usize {
        next_set(&self.starts, row + 1).unwrap_or(self.starts.len())
    }
}

/// Rows whose bits are one word.
pub(crate) const WORD: usize = 64;

/// The bits `[at, at + 64)` as a word, zero past the end.
#[inline(always)]
pub(crate) fn word(bits: &BooleanBuffer, at: usize) -> u64 {
    let (values, first) = (bits.values(), bits.offset() + at);
    let (byte, shift) = (first / 8, first % 8);
    // Sixteen bytes at once wherever they are there: a copy of known length is one load.
    let rest = values.get(byte..).unwrap_or_default();
    let buffer = rest.first_chunk::<16>().copied().unwrap_or_else(|| {
        let mut buffer = [0; 16];
        buffer[..rest.len()].copy_from_slice(rest);
        buffer
    });
    let word = (u128::from_le_bytes(buffer) >> shift) as u64;
    let left = bits.len().saturating_sub(at);
    if left >= 64 { word } else { word & ((1_u64 << left) - 1) }
}

/// Eight booleans as bits, the first one lowest.
#[inline(always)]
pub(crate) fn packed(booleans: &[bool; 8]) -> u8 {
    // A product moves each byte, which is 0 or 1, to a place of its own in the top byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    (u64::from_le_bytes(booleans.map(u8::from)).wrapping_mul(GATHER) >> 56) as u8
}

/// A one in each byte of a word.
const ONES: u64 = u64::MAX / 0xFF;

/// Where the `k`-th set bit of each byte is, from 0.
static IN_BYTE: [[u8; 256]; 8] = {
    let mut found = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut k, mut bit) = (0, 0);
        while bit < 8 {
            if (byte >> bit) & 1 != 0 {
                found[k][byte] = bit;
                k += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    found
};

/// The `k`-th set bit of a word, from 0; it has more than `k`. Without a branch, some 25 instructions.
///
/// Source: S. Vigna, "Broadword Implementation of Rank/Select Queries" (WEA 2008).
#[inline(always)]
pub(crate) fn select_in(word: u64, k: u32) -> u32 {
    let pairs = word - ((word >> 1) & (ONES * 0x55));
    let fours = (pairs & (ONES * 0x33)) + ((pairs >> 2) & (ONES * 0x33));
    // How many are set through each byte.
    let through = ((fours + (fours >> 4)) & (ONES * 0x0F)).wrapping_mul(ONES);
    // The highest bit of each byte stays where no more than `k` are.
    let highest = ONES << 7;
    let passed = (((u64::from(k) * ONES) | highest) - through) & highest;
    let begin = (passed >> 7).wrapping_mul(ONES) >> 56 << 3;
    let k = u64::from(k) - ((through << 8 >> begin) & 0xFF);
    begin as u32 + u32::from(IN_BYTE[k as usize & 7][(word >> begin) as usize & 0xFF])
}

/// The first set bit at or after `from`.
#[must_use]
pub fn next_set(bits: &BooleanBuffer, from: usize) -> Option<usize> {
    let mut at = from;
    while at < bits.len() {
        let word = word(bits, at);
        if word != 0 {
            return Some(at + word.trailing_zeros() as usize);
        }
        at += 64;
    }
    None
}

/// The last set bit at or before `from`.
#[must_use]
pub fn previous_set(bits: &BooleanBuffer, from: usize) -> Option<usize> {
    let mut end = from + 1;
    while end > 0 {
        let begin = end.saturating_sub(64);
        let (width, word) = (end - begin, word(bits, begin));
        let word = if width == 64 { word } else { word & ((1_u64 << width) - 1) };
        if word != 0 {
            return Some(begin + 63 - word.leading_zeros() as usize);
        }
        end = begin;
    }
    None
}

/// The number of set bits in `range`.
#[must_use]
pub fn count_set(bits: &BooleanBuffer, range: Range<usize>) -> usize {
    if range.is_empty() { 0 } else { bits.slice(range.start, range.len()).count_set_bits() }
}

/// Rows per counter of [`Ranks`]: a word of bits, so counters cost half as much as the bitmap.
const RANK_BLOCK: usize = 64;

/// Counts of set bits before each word, for rank and select.
///
/// Memory: 4 bytes per 64 rows. `rank` reads one counter and one word, `select` bisects the counters.
#[derive(Debug, Clone)]
pub struct Ranks {
    bits: BooleanBuffer,
    before: Vec<u32>,
}

impl Ranks {
    /// Counts over `bits`.
    #[must_use]
    pub fn new(bits: BooleanBuffer) -> Self {
        let mut before = Vec::with_capacity(bits.len() / RANK_BLOCK + 2);
        let mut count = 0;
        before.push(0);
        before.extend((0..bits.len()).step_by(RANK_BLOCK).map(|at| {
            count += word(&bits, at).count_ones();
            count
        }));
        Self { bits, before }
    }

    /// The bits counted.
    #[must_use]
    pub fn bits(&self) -> &BooleanBuffer {
        &self.bits
    }

    /// The number of set bits before `row`.
    #[must_use]
    #[inline(always)]
    pub fn rank(&self, row: usize) -> usize {
        let (block, bit) = (row / RANK_BLOCK, row % RANK_BLOCK);
        let before = self.before[block] as usize;
        if bit == 0 {
            return before;
        }
        before + (word(&self.bits, row - bit) & ((1 << bit) - 1)).count_ones() as usize
    }

    /// The row of the `k`-th set bit, from 0.
    #[must_use]
    pub fn select(&self, k: usize) -> Option<usize> {
        let block = self.before.partition_point(|&before| before as usize <= k).checked_sub(1)?;
        let at = block * RANK_BLOCK;
        if at >= self.bits.len() {
            return None;
        }
        let word = word(&self.bits, at);
        Some(at + select_in(word, (k - self.before[block] as usize) as u32) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of words with a bit here and there, with most bits and with all of them: each bit by its number, and how many are before.
    #[test]
    fn bits_are_found_by_their_number() {
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
                assert_eq!(select_in(word, k), bit, "bit {k} of {word:#x}");
            }
        }
        let rows: Vec<_> =
            (0..).zip(&words).flat_map(|(at, &word)| bits(word).map(move |bit| 64 * at + bit as usize)).collect();
        let ranks = Ranks::new(BooleanBuffer::new(words.into(), 0, 204 * 64 - 3));
        for (k, &row) in rows.iter().enumerate() {
            let there = row < 204 * 64 - 3;
            assert_eq!(ranks.select(k), there.then_some(row), "row {row}");
            assert!(!there || ranks.rank(row) == k, "rows before {row}");
        }
        assert_eq!(ranks.select(rows.len()), None);
    }
}
