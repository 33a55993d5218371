//! Sort words: unsigned integers that compare as the rows' keys do, assembled from fields of codes.
//!
//! `key_fields.rs` computes the fields of a column, `radix.rs` sorts the words.

use std::ops::{BitOr, BitOrAssign, BitXor, Shl, Shr};

use arrow_buffer::ArrowNativeType;

use crate::util::simd::with_widest_vectors;

/// The number of rows whose fields are appended at a time, so that their words stay in the first-level cache from
/// column to column.
pub(crate) const KEYS_PER_BLOCK: usize = 1024;

/// A bit field of the sort word, and the encoder of its values.
pub(crate) struct Field {
    /// The number of bits.
    pub(crate) bits: u32,
    pub(crate) codes: Box<dyn KeyEncoder>,
    /// The maximum code.
    pub(crate) top: u64,
    /// The number of low bits of the code that are dropped.
    pub(crate) dropped: u32,
}

/// Writes the fields of the rows from `start` on into their words.
pub(crate) fn write_words<W: SortWord>(fields: &[Field], start: usize, words: &mut [W]) {
    for (place, field) in fields.iter().enumerate() {
        field.push(start, place == 0, words);
    }
}

impl Field {
    /// Appends this field to the words of the rows from `start` on.
    fn push<W: SortWord>(&self, start: usize, first: bool, words: &mut [W]) {
        W::push_codes(self.codes.as_ref(), CodeTarget { start, first, bits: self.bits, dropped: self.dropped }, words);
    }

    /// An exclusive upper bound of the codes.
    pub(crate) fn count(&self) -> usize {
        (self.top >> self.dropped) as usize + 1
    }

    /// Drops the lowest bits, which makes the field inexact.
    pub(crate) fn drop_low(&mut self, bits: u32) {
        self.dropped += bits;
        self.bits -= bits;
    }
}

/// Where and how codes are written into words.
#[derive(Clone, Copy)]
pub(crate) struct CodeTarget {
    pub(crate) start: usize,
    pub(crate) first: bool,
    pub(crate) bits: u32,
    pub(crate) dropped: u32,
}

impl CodeTarget {
    /// Appends the codes of the rows from `start` on.
    #[inline]
    pub(crate) fn all<W: SortWord>(self, words: &mut [W], codes: impl Iterator<Item = u64>) {
        let Self { first, bits, dropped, .. } = self;
        // Captured by value: the loop then reads nothing that its writes might change.
        with_widest_vectors(
            #[inline(always)]
            move || {
                for (word, code) in words.iter_mut().zip(codes) {
                    let code = W::from_code(code >> dropped);
                    // Shifting a new word by its full width would overflow.
                    *word = if first { code } else { (*word << bits) | code };
                }
            },
        );
    }
}

/// A source of codes.
pub(crate) trait KeyEncoder: Send + Sync {
    fn push_narrow(&self, push: CodeTarget, words: &mut [u64]);
    fn push_wide(&self, push: CodeTarget, words: &mut [u128]);
}

/// An unsigned integer that holds a key, or a key and a row number.
pub(crate) trait SortWord:
    ArrowNativeType
    + Ord
    + BitOr<Output = Self>
    + BitOrAssign
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    const BITS: u32;
    const HIGHEST: Self;

    fn from_code(code: u64) -> Self;
    fn from_row(row: usize) -> Self;
    /// The digit of `digits` values (a power of two) at bit `shift`.
    fn digit(self, shift: u32, digits: usize) -> usize;
    /// The row number in the lowest `bits` bits.
    fn row(self, bits: u32) -> u32;
    fn leading_zeros(self) -> u32;
    fn trailing_zeros(self) -> u32;
    fn push_codes(codes: &dyn KeyEncoder, to: CodeTarget, words: &mut [Self]);
}

macro_rules! word {
    ($type:ty, $push:ident) => {
        impl SortWord for $type {
            const BITS: u32 = <$type>::BITS;
            const HIGHEST: Self = <$type>::MAX;

            #[inline]
            fn from_code(code: u64) -> Self {
                code.into()
            }

            #[inline]
            fn from_row(row: usize) -> Self {
                row as Self
            }

            #[inline]
            fn digit(self, shift: u32, digits: usize) -> usize {
                (self >> shift) as usize & (digits - 1)
            }

            #[inline]
            fn row(self, bits: u32) -> u32 {
                (self & ((1 << bits) - 1)) as u32
            }

            #[inline]
            fn leading_zeros(self) -> u32 {
                self.leading_zeros()
            }

            #[inline]
            fn trailing_zeros(self) -> u32 {
                self.trailing_zeros()
            }

            fn push_codes(codes: &dyn KeyEncoder, to: CodeTarget, words: &mut [Self]) {
                codes.$push(to, words);
            }
        }
    };
}

word!(u64, push_narrow);

word!(u128, push_wide);
