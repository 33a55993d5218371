//! Bitmaps read a word at a time: 64 bits from any place, the next and the previous set bit, counts.

use std::ops::Range;

use arrow_buffer::BooleanBuffer;

/// Rows whose bits are one word.
pub(crate) const WORD_BITS: usize = 64;

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
pub(crate) fn pack_booleans(booleans: &[bool; 8]) -> u8 {
    // A product moves each byte, which is 0 or 1, to a place of its own in the top byte.
    const PACK_MULTIPLIER: u64 = 0x0102_0408_1020_4080;
    (u64::from_le_bytes(booleans.map(u8::from)).wrapping_mul(PACK_MULTIPLIER) >> 56) as u8
}

/// A one in each byte of a word.
const ONE_PER_BYTE: u64 = u64::MAX / 0xFF;

/// Where the `k`-th set bit of each byte is, from 0.
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

/// The `k`-th set bit of a word, from 0; it has more than `k`. Without a branch, some 25 instructions.
///
/// Source: S. Vigna, "Broadword Implementation of Rank/Select Queries" (WEA 2008).
#[inline(always)]
pub(crate) fn select_in_word(word: u64, k: u32) -> u32 {
    let pairs = word - ((word >> 1) & (ONE_PER_BYTE * 0x55));
    let fours = (pairs & (ONE_PER_BYTE * 0x33)) + ((pairs >> 2) & (ONE_PER_BYTE * 0x33));
    // How many are set through each byte.
    let through = ((fours + (fours >> 4)) & (ONE_PER_BYTE * 0x0F)).wrapping_mul(ONE_PER_BYTE);
    // The highest bit of each byte stays where no more than `k` are.
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
