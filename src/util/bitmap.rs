//! Bitmaps read 64 bits at a time: a word at any position, the next and the previous set bit, counts.

use std::ops::Range;

use arrow_buffer::BooleanBuffer;

/// Rows per word of a bitmap.
pub(crate) const WORD_BITS: usize = 64;

/// The bits `[at, at + 64)` as a word, zero past the end.
#[inline(always)]
pub(crate) fn word(bits: &BooleanBuffer, at: usize) -> u64 {
    let (values, first) = (bits.values(), bits.offset() + at);
    let (byte, shift) = (first / 8, first % 8);
    // Read 16 bytes where available: a copy of constant length compiles to one load.
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

/// Packs eight booleans into a byte, the first one into the lowest bit.
#[inline(always)]
pub(crate) fn pack_booleans(booleans: &[bool; 8]) -> u8 {
    // The product moves each byte, which is 0 or 1, to its own bit of the top byte.
    const PACK_MULTIPLIER: u64 = 0x0102_0408_1020_4080;
    (u64::from_le_bytes(booleans.map(u8::from)).wrapping_mul(PACK_MULTIPLIER) >> 56) as u8
}

/// A word with each byte equal to one.
const ONE_PER_BYTE: u64 = u64::MAX / 0xFF;

/// `SELECT_IN_BYTE[k][byte]`: the position of the `k`-th set bit of `byte`, from 0.
static SELECT_IN_BYTE: [[u8; 256]; 8] = {
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

/// The position of the `k`-th set bit of a word, from 0. The word must have more than `k` set bits. Branch-free.
///
/// Source: S. Vigna, "Broadword Implementation of Rank/Select Queries" (WEA 2008).
#[inline(always)]
pub(crate) fn select_in_word(word: u64, k: u32) -> u32 {
    let pairs = word - ((word >> 1) & (ONE_PER_BYTE * 0x55));
    let fours = (pairs & (ONE_PER_BYTE * 0x33)) + ((pairs >> 2) & (ONE_PER_BYTE * 0x33));
    // Byte `i` of `through`: the number of set bits in bytes `0..=i`.
    let through = ((fours + (fours >> 4)) & (ONE_PER_BYTE * 0x0F)).wrapping_mul(ONE_PER_BYTE);
    // The highest bit of a byte stays set where `through` is at most `k`.
    let highest = ONE_PER_BYTE << 7;
    let passed = (((u64::from(k) * ONE_PER_BYTE) | highest) - through) & highest;
    let begin = (passed >> 7).wrapping_mul(ONE_PER_BYTE) >> 56 << 3;
    let k = u64::from(k) - ((through << 8 >> begin) & 0xFF);
    begin as u32 + u32::from(SELECT_IN_BYTE[k as usize & 7][(word >> begin) as usize & 0xFF])
}

/// The first set bit at or after `from`.
#[must_use]
pub(crate) fn next_set(bits: &BooleanBuffer, from: usize) -> Option<usize> {
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
pub(crate) fn previous_set(bits: &BooleanBuffer, from: usize) -> Option<usize> {
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
pub(crate) fn count_set(bits: &BooleanBuffer, range: Range<usize>) -> usize {
    if range.is_empty() { 0 } else { bits.slice(range.start, range.len()).count_set_bits() }
}
