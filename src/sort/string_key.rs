//! Encodes strings and binary values as integers with the same order.
//!
//! The common prefix of all values is skipped. After it each byte position is a digit of a mixed-radix number, whose
//! radix is the range of the bytes there; the end of the value is the smallest digit:
//!
//! ```text
//!   device_0412     prefix "device_", then four digits of radix 10 each: 0 .. 9999, 14 bits
//!   device_7
//!                   positions at which some values have ended count one more: radix 10, 11, 11, 11
//! ```
//!
//! So short identifiers, the most common keys, become exact integers of few bits. If 64 bits do not hold all positions,
//! the integer encodes a prefix only, and rows with equal integers are compared again. Cost: three passes, each O(bytes
//! read), at most [`MAX_DIGITS`] per value after the common prefix; 8 bytes per row.

use std::ops::Range;

use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{Array, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray};
use arrow_buffer::NullBuffer;
use arrow_row::Rows;

use crate::error::Result;
use crate::util::reserve;
use crate::util::threads::Threads;

/// The maximum number of bytes per value that are read after the common prefix: 64 bits hold no more digits.
const MAX_DIGITS: usize = 20;

/// Integers with the order of the values.
pub(crate) struct PackedKeys {
    /// One per row; 0 for nulls.
    pub(crate) codes: Vec<u64>,
    /// Whether equal integers are equal values.
    pub(crate) exact: bool,
}

/// A column of byte strings.
pub(crate) trait ByteValues: Sync {
    fn rows(&self) -> usize;

    /// The row's bytes, unless it is null.
    fn bytes(&self, row: usize) -> Option<&[u8]>;
}

impl<T: ByteArrayType> ByteValues for GenericByteArray<T> {
    fn rows(&self) -> usize {
        self.len()
    }

    #[inline]
    fn bytes(&self, row: usize) -> Option<&[u8]> {
        self.is_valid(row).then(|| self.value(row).as_ref())
    }
}

impl<T: ByteViewType> ByteValues for GenericByteViewArray<T> {
    fn rows(&self) -> usize {
        self.len()
    }

    #[inline]
    fn bytes(&self, row: usize) -> Option<&[u8]> {
        self.is_valid(row).then(|| self.value(row).as_ref())
    }
}

impl ByteValues for FixedSizeBinaryArray {
    fn rows(&self) -> usize {
        self.len()
    }

    #[inline]
    fn bytes(&self, row: usize) -> Option<&[u8]> {
        self.is_valid(row).then(|| self.value(row))
    }
}

/// Values in arrow-row's encoding.
pub(crate) struct EncodedRows<'a> {
    pub(crate) rows: &'a Rows,
    pub(crate) nulls: Option<NullBuffer>,
}

impl ByteValues for EncodedRows<'_> {
    fn rows(&self) -> usize {
        self.rows.num_rows()
    }

    #[inline]
    fn bytes(&self, row: usize) -> Option<&[u8]> {
        let valid = self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        valid.then(|| self.rows.row(row).data())
    }
}

/// Statistics of a set of values.
#[derive(Clone, Copy)]
struct CommonPrefix<'a> {
    /// The longest common prefix.
    prefix: &'a [u8],
    shortest: usize,
    longest: usize,
}

impl<'a> CommonPrefix<'a> {
    fn of(texts: &'a impl ByteValues, rows: Range<usize>) -> Option<Self> {
        let mut valid = rows.filter_map(|row| texts.bytes(row));
        let first = valid.next()?;
        let mut survey = CommonPrefix { prefix: first, shortest: first.len(), longest: first.len() };
        for text in valid {
            survey.shortest = survey.shortest.min(text.len());
            survey.longest = survey.longest.max(text.len());
            survey.shrink_to(text);
        }
        Some(survey)
    }

    /// Cuts the prefix to what it shares with `text`.
    fn shrink_to(&mut self, text: &[u8]) {
        if !starts_with(text, self.prefix) {
            let common = self.prefix.iter().zip(text).take_while(|(left, right)| left == right).count();
            self.prefix = &self.prefix[..common];
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.shrink_to(other.prefix);
        CommonPrefix {
            prefix: self.prefix,
            shortest: self.shortest.min(other.shortest),
            longest: self.longest.max(other.longest),
        }
    }
}

/// Whether `text` begins with `prefix`. Short prefixes are compared as two integers, which may overlap, to avoid a
/// function call per value.
#[inline]
fn starts_with(text: &[u8], prefix: &[u8]) -> bool {
    fn ends<const N: usize>(text: &[u8]) -> Option<[&[u8; N]; 2]> {
        Some([text.first_chunk()?, text.last_chunk()?])
    }
    let Some(text) = text.get(..prefix.len()) else { return false };
    match prefix.len() {
        0..4 => text.iter().zip(prefix).all(|(byte, expected)| byte == expected),
        4..8 => ends::<4>(text) == ends(prefix),
        8..=16 => ends::<8>(text) == ends(prefix),
        _ => text == prefix,
    }
}

/// A byte position after the common prefix.
#[derive(Clone, Copy)]
struct ByteDigit {
    /// The smallest byte.
    low: u8,
    /// 1 if some values end before it, which is digit 0; else 0.
    ended: u64,
    /// The number of digits.
    radix: u64,
    /// The product of the radices of the following positions.
    behind: u64,
}

/// The positions after the prefix that fit 64 bits.
fn digits(texts: &impl ByteValues, survey: &CommonPrefix, threads: &Threads) -> Result<Vec<ByteDigit>> {
    let prefix = survey.prefix.len();
    let count = (survey.longest - prefix).min(MAX_DIGITS);
    let mut ranges = [(u8::MAX, u8::MIN); MAX_DIGITS];
    let found = threads.map(threads.ranges(&(0..texts.rows())), |rows| {
        let mut ranges = ranges;
        for text in rows.filter_map(|row| texts.bytes(row)) {
            for ((low, high), &byte) in ranges.iter_mut().zip(&text[prefix..]) {
                *low = (*low).min(byte);
                *high = (*high).max(byte);
            }
        }
        Ok(ranges)
    })?;
    for found in found {
        for ((low, high), found) in ranges.iter_mut().zip(found) {
            *low = (*low).min(found.0);
            *high = (*high).max(found.1);
        }
    }
    let mut places: Vec<ByteDigit> = Vec::with_capacity(count);
    let mut product = 1_u64;
    for (place, &(low, high)) in ranges.iter().enumerate().take(count) {
        // If some values end before this position, digit 0 is the end and bytes count from 1.
        let ended = u64::from(prefix + place >= survey.shortest);
        let radix = u64::from(high - low) + 1 + ended;
        let Some(next) = product.checked_mul(radix) else {
            break;
        };
        product = next;
        places.push(ByteDigit { low, ended, radix, behind: 1 });
    }
    let mut behind = 1;
    for place in places.iter_mut().rev() {
        place.behind = behind;
        behind *= place.radix;
    }
    Ok(places)
}

#[inline]
fn encode(text: &[u8], places: &[ByteDigit]) -> u64 {
    let mut number = 0;
    for (place, byte) in places.iter().zip(text) {
        number += (u64::from(byte - place.low) + place.ended) * place.behind;
    }
    number
}

/// Encodes the values as integers.
///
/// # Errors
/// The memory is not available; no thread could be started.
pub(crate) fn pack(texts: &impl ByteValues, threads: &Threads) -> Result<PackedKeys> {
    let rows = texts.rows();
    let surveys = threads.map(threads.ranges(&(0..rows)), |rows| Ok(CommonPrefix::of(texts, rows)))?;
    let mut codes = reserve::repeated(0, rows)?;
    let Some(survey) = surveys.into_iter().flatten().reduce(CommonPrefix::merge) else {
        return Ok(PackedKeys { codes, exact: true });
    };
    let places = digits(texts, &survey, threads)?;
    let prefix = survey.prefix.len();
    let share = threads.chunk_rows(rows);
    threads.map(codes.chunks_mut(share).enumerate().collect(), |(at, codes)| {
        for (row, code) in (at * share..).zip(codes) {
            if let Some(text) = texts.bytes(row) {
                *code = encode(&text[prefix..], &places);
            }
        }
        Ok(())
    })?;
    Ok(PackedKeys { codes, exact: prefix + places.len() >= survey.longest })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prefixes of all lengths, and strings that differ from them in one byte or are shorter.
    #[test]
    fn prefix_comparison_matches_starts_with() {
        let text: Vec<u8> = (0..40).collect();
        for length in 0..30 {
            let prefix = &text[..length];
            assert!((length..40).all(|end| starts_with(&text[..end], prefix)), "{length}");
            assert!((0..length).all(|end| !starts_with(&text[..end], prefix)), "{length}");
            for place in 0..length {
                let mut other = text.clone();
                other[place] ^= 0x80;
                assert!(!starts_with(&other, prefix), "{length} {place}");
            }
        }
    }
}
