//! Compares each row of a column with the previous row, 64 rows at a time.
//!
//! Results are bitmap words, so that columns combine by AND and OR, and nulls cost a few instructions per 64 rows.
//! Partition boundaries, peer boundaries and the check for sorted input are all computed from these words. For ranges
//! of many rows there is a faster check whether any row differs or is out of order: within long partitions none does.
//! Cost: one pass over the column; no memory except for the normalised form of nested columns.

use std::cmp::Ordering;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type,
};
use arrow_array::{ArrayRef, GenericByteArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, SortOptions};

use super::key_order::{self, Coded, match_coded};
use crate::error::Result;
use crate::util::bitmap::{WORD_BITS, pack_booleans, word};
use crate::util::simd::with_widest_vectors;

/// The bytes of a string that are compared as one integer.
const PREFIX_BYTES: usize = size_of::<u128>();

/// A column whose rows are compared with their previous rows.
pub(crate) struct Adjacent {
    values: Box<dyn CompareAdjacent>,
    nulls: Option<NullBuffer>,
    options: SortOptions,
}

/// Compares values with their previous values, ascending, ignoring nulls.
trait CompareAdjacent: Send + Sync {
    /// Bit `i`: value `at + i` differs from value `at + i - 1`. `at` is at least 1, `count` at most 64.
    fn differs(&self, at: usize, count: usize) -> u64;

    /// Bit `i`: value `at + i` is less than value `at + i - 1`.
    fn descends(&self, at: usize, count: usize) -> u64;

    /// Both results. The second may be 0 if none of the values in `asked` differ.
    fn differs_and_descends(&self, at: usize, count: usize, asked: u64) -> (u64, u64) {
        let differ = self.differs(at, count);
        (differ, if asked & differ == 0 { 0 } else { self.descends(at, count) })
    }

    /// Whether all values of `rows` equal their previous values. May return `false` if that takes long to determine.
    fn is_constant(&self, _rows: Range<usize>) -> bool {
        false
    }

    /// Whether no value of `rows` is less (greater, if `descending`) than its previous value. May return `false` if
    /// that takes long to determine.
    fn is_sorted(&self, _rows: Range<usize>, _descending: bool) -> bool {
        false
    }
}

impl Adjacent {
    /// Ascending with nulls first.
    pub(crate) fn new(column: &ArrayRef) -> Result<Self> {
        Self::with_options(column, SortOptions::default())
    }

    /// With direction and null placement.
    pub(crate) fn with_options(column: &ArrayRef, options: SortOptions) -> Result<Self> {
        let column = match column.data_type() {
            // Top-level floats are compared by their codes, without a normalised copy.
            DataType::Float32 | DataType::Float64 => column.clone(),
            _ => key_order::normalise(column)?,
        };
        Ok(Self { values: values(&column)?, nulls: key_order::nulls(&column), options })
    }

    /// Bit `i`: row `at + i` differs from the previous row. Row 0 counts as different.
    pub(crate) fn differs(&self, at: usize, count: usize) -> u64 {
        if at == 0 {
            return 1 | (self.differs(1, count - 1) << 1);
        }
        if count == 0 {
            return 0;
        }
        self.differing_rows(self.values.differs(at, count), at, count)
    }

    /// Bit `i`: row `at + i` sorts before the previous row. Row 0 does not.
    pub(crate) fn descends(&self, at: usize, count: usize) -> u64 {
        if at == 0 {
            return self.descends(1, count - 1) << 1;
        }
        if count == 0 {
            return 0;
        }
        let smaller = self.values.descends(at, count);
        let differ = if self.options.descending { self.values.differs(at, count) } else { 0 };
        self.descending_rows(differ, smaller, at, count)
    }

    /// Both results, computed together where that is cheaper. The second is valid for the rows in `asked`.
    pub(crate) fn differs_and_descends(&self, at: usize, count: usize, asked: u64) -> (u64, u64) {
        if at == 0 {
            let (differ, descend) = self.differs_and_descends(1, count - 1, asked >> 1);
            return (1 | (differ << 1), descend << 1);
        }
        if count == 0 {
            return (0, 0);
        }
        let (differ, smaller) = self.values.differs_and_descends(at, count, asked);
        (self.differing_rows(differ, at, count), self.descending_rows(differ, smaller, at, count))
    }

    /// Whether all of `rows` equal their previous rows. `rows` must not include row 0. May return `false` if that takes
    /// long to determine.
    pub(crate) fn is_constant(&self, rows: Range<usize>) -> bool {
        self.nulls.is_none() && self.values.is_constant(rows)
    }

    /// Whether `rows` are sorted, including their first against its previous row. `rows` must not include row 0. May
    /// return `false` if that takes long to determine.
    pub(crate) fn is_sorted(&self, rows: Range<usize>) -> bool {
        self.nulls.is_none() && self.values.is_sorted(rows, self.options.descending)
    }

    /// The rows that differ, given where the values differ.
    fn differing_rows(&self, differ: u64, at: usize, count: usize) -> u64 {
        match &self.nulls {
            None => differ,
            Some(nulls) => {
                let (now, before) = (valid(nulls, at, count), valid(nulls, at - 1, count));
                (differ & now & before) | (now ^ before)
            }
        }
    }

    /// The rows that sort before their previous rows, given where the values differ and where they are less.
    fn descending_rows(&self, differ: u64, smaller: u64, at: usize, count: usize) -> u64 {
        let descend = if self.options.descending { differ & !smaller } else { smaller };
        match &self.nulls {
            None => descend,
            Some(nulls) => {
                let (now, before) = (valid(nulls, at, count), valid(nulls, at - 1, count));
                let misplaced = if self.options.nulls_first { before & !now } else { now & !before };
                (descend & now & before) | misplaced
            }
        }
    }
}

/// The validity of rows `at..at + count`, at most 64.
fn valid(nulls: &NullBuffer, at: usize, count: usize) -> u64 {
    word(nulls.inner(), at) & (u64::MAX >> (WORD_BITS - count))
}

fn values(column: &ArrayRef) -> Result<Box<dyn CompareAdjacent>> {
    macro_rules! primitive {
        ($type:ty) => {
            Box::new(PrimitiveColumn(key_order::scalars::<$type>(column)))
        };
    }
    Ok(match_coded! {
        column.data_type(), primitive,
        DataType::Null => Box::new(NullColumn),
        DataType::Boolean => Box::new(BooleanColumn(column.as_boolean().values().clone())),
        DataType::Utf8 => Box::new(ByteColumn(column.as_bytes::<Utf8Type>().clone())),
        DataType::LargeUtf8 => Box::new(ByteColumn(column.as_bytes::<LargeUtf8Type>().clone())),
        DataType::Binary => Box::new(ByteColumn(column.as_bytes::<BinaryType>().clone())),
        DataType::LargeBinary => Box::new(ByteColumn(column.as_bytes::<LargeBinaryType>().clone())),
        DataType::Utf8View => views::<StringViewType>(column),
        DataType::BinaryView => views::<BinaryViewType>(column),
        _ => {
            let compare = key_order::comparator(column, column, SortOptions::default())?;
            Box::new(ComparedColumn(move |row| compare(row, row - 1)))
        }
    })
}

/// Fixed-width values, compared by their codes.
struct PrimitiveColumn<T: Coded>(ScalarBuffer<T>);

impl<T: Coded> CompareAdjacent for PrimitiveColumn<T> {
    fn differs(&self, at: usize, count: usize) -> u64 {
        pairs(&self.0, at, count, |before, now| before.code() != now.code())
    }

    fn descends(&self, at: usize, count: usize) -> u64 {
        pairs(&self.0, at, count, |before, now| now.code() < before.code())
    }

    fn is_constant(&self, rows: Range<usize>) -> bool {
        none_in(&self.0, rows, |before, now| before.code() != now.code())
    }

    fn is_sorted(&self, rows: Range<usize>, descending: bool) -> bool {
        if descending {
            none_in(&self.0, rows, |before, now| now.code() > before.code())
        } else {
            none_in(&self.0, rows, |before, now| now.code() < before.code())
        }
    }
}

/// Whether `is` holds for no value of `rows` and its previous value. Stops after the first group of 64 values with a
/// match.
#[inline]
fn none_in<T: Copy>(values: &[T], rows: Range<usize>, is: impl Fn(T, T) -> bool) -> bool {
    let (before, now) = (&values[rows.start - 1..rows.end - 1], &values[rows]);
    with_widest_vectors(
        #[inline(always)]
        || {
            let words = before.chunks(WORD_BITS).zip(now.chunks(WORD_BITS));
            words
                .into_iter()
                .all(|(before, now)| !before.iter().zip(now).fold(false, |any, (&before, &now)| any | is(before, now)))
        },
    )
}

#[inline]
fn pairs<T: Copy>(values: &[T], at: usize, count: usize, is: impl Fn(T, T) -> bool) -> u64 {
    with_widest_vectors(
        #[inline(always)]
        || pairs_of(&values[at - 1..at - 1 + count], &values[at..at + count], is),
    )
}

#[inline(always)]
fn pairs_of<T: Copy>(before: &[T], now: &[T], is: impl Fn(T, T) -> bool) -> u64 {
    if let (Some(before), Some(now)) = (before.first_chunk::<WORD_BITS>(), now.first_chunk::<WORD_BITS>()) {
        // Arrays of constant length, so that the loop is vectorised.
        let mut booleans = [false; WORD_BITS];
        for ((boolean, &before), &now) in booleans.iter_mut().zip(before).zip(now) {
            *boolean = is(before, now);
        }
        let mut word = 0;
        for (number, booleans) in booleans.as_chunks().0.iter().enumerate() {
            word |= u64::from(pack_booleans(booleans)) << (8 * number);
        }
        return word;
    }
    let mut word = 0;
    for (bit, (&before, &now)) in before.iter().zip(now).enumerate() {
        word |= u64::from(is(before, now)) << bit;
    }
    word
}

/// Booleans.
struct BooleanColumn(BooleanBuffer);

impl CompareAdjacent for BooleanColumn {
    fn differs(&self, at: usize, count: usize) -> u64 {
        rows(at, count, |row| self.0.value(row) != self.0.value(row - 1))
    }

    fn descends(&self, at: usize, count: usize) -> u64 {
        rows(at, count, |row| !self.0.value(row) & self.0.value(row - 1))
    }
}

#[inline]
fn rows(at: usize, count: usize, mut is: impl FnMut(usize) -> bool) -> u64 {
    (0..count).fold(0, |word, bit| word | (u64::from(is(at + bit)) << bit))
}

/// A column of type Null.
struct NullColumn;

impl CompareAdjacent for NullColumn {
    fn differs(&self, _: usize, _: usize) -> u64 {
        0
    }

    fn descends(&self, _: usize, _: usize) -> u64 {
        0
    }
}

/// Other types, by a comparator.
struct ComparedColumn<F>(F);

impl<F: Fn(usize) -> Ordering + Send + Sync> CompareAdjacent for ComparedColumn<F> {
    fn differs(&self, at: usize, count: usize) -> u64 {
        rows(at, count, |row| (self.0)(row) != Ordering::Equal)
    }

    fn descends(&self, at: usize, count: usize) -> u64 {
        rows(at, count, |row| (self.0)(row) == Ordering::Less)
    }
}

/// Strings and binary values. Most are decided by their first bytes.
struct ByteColumn<T: ByteArrayType>(GenericByteArray<T>);

impl<T: ByteArrayType> ByteColumn<T> {
    /// Where values differ from their previous values, and where they are less, for those in `asked`.
    ///
    /// Reads all prefixes before it compares any, without a branch that depends on them, because changes of value are
    /// unpredictable. The order of two values is determined only where they differ, because their prefixes must be
    /// byte-swapped to compare as integers.
    fn compare(&self, at: usize, count: usize, asked: u64) -> (u64, u64) {
        let (offsets, data) = (&self.0.value_offsets()[at - 1..=at + count], self.0.value_data());
        if all_equal(offsets, data) {
            return (0, 0);
        }
        let mut heads = [(0, 0); WORD_BITS + 1];
        let mut longest = 0;
        for (to, ends) in heads.iter_mut().zip(offsets.windows(2)) {
            let (begin, end) = (ends[0].as_usize(), ends[1].as_usize());
            *to = (prefix(&data[begin..], end - begin), end - begin);
            longest = longest.max(end - begin);
        }
        let value = |bit: usize| -> &[u8] { self.0.value(at + bit - 1).as_ref() };
        let mut differ = 0;
        for (bit, pair) in heads[..=count].windows(2).enumerate() {
            let (before, now) = (pair[0], pair[1]);
            let other = (before.0 ^ now.0) | (before.1 ^ now.1) as u128;
            differ |= u64::from(other != 0) << bit;
            if longest > PREFIX_BYTES && before.0 == now.0 {
                differ = differ & !(1 << bit) | (u64::from(value(bit) != value(bit + 1)) << bit);
            }
        }
        let (mut smaller, mut left) = (0, differ & asked);
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            let [before, now] = [heads[bit], heads[bit + 1]].map(|(head, length)| (head.swap_bytes(), length));
            let [less, equal, shorter] = [now.0 < before.0, now.0 == before.0, now.1 < before.1].map(u64::from);
            let is = if longest > PREFIX_BYTES && equal == 1 {
                u64::from(value(bit + 1) < value(bit))
            } else {
                less | (equal & shorter)
            };
            smaller |= is << bit;
        }
        (differ, smaller)
    }
}

/// Whether all values are equal, as within a partition of sorted rows: they have one length, and each byte equals the
/// byte one value's length later.
fn all_equal<O: ArrowNativeType>(offsets: &[O], data: &[u8]) -> bool {
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return true };
    let (begin, end, values) = (first.as_usize(), last.as_usize(), offsets.len() - 1);
    let length = (end - begin) / values.max(1);
    // If values change, the last one usually differs from the first.
    if length * values != end - begin || data[begin..begin + length] != data[end - length..end] {
        return false;
    }
    let alike = with_widest_vectors(
        #[inline(always)]
        || {
            let places = offsets.iter().enumerate();
            places.fold(0, |all, (number, offset)| all | (offset.as_usize() ^ (begin + number * length))) == 0
        },
    );
    alike && data[begin..end - length] == data[begin + length..end]
}

/// The first [`PREFIX_BYTES`] bytes of a value of the given length as an integer, the first byte lowest, padded with
/// zeros. `bytes` may continue after the value.
#[inline(always)]
fn prefix(bytes: &[u8], length: usize) -> u128 {
    let head = match bytes.first_chunk::<PREFIX_BYTES>() {
        Some(head) => *head,
        None => std::array::from_fn(|at| bytes.get(at).copied().unwrap_or_default()),
    };
    u128::from_le_bytes(head) & PREFIX_MASKS[length.min(PREFIX_BYTES)]
}

/// For each length the bits of a prefix that belong to the value.
const PREFIX_MASKS: [u128; PREFIX_BYTES + 1] = {
    let mut own = [u128::MAX; PREFIX_BYTES + 1];
    let mut length = 0;
    while length < PREFIX_BYTES {
        own[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    own
};

impl<T: ByteArrayType> CompareAdjacent for ByteColumn<T> {
    fn differs(&self, at: usize, count: usize) -> u64 {
        self.compare(at, count, 0).0
    }

    fn descends(&self, at: usize, count: usize) -> u64 {
        self.compare(at, count, u64::MAX).1
    }

    fn differs_and_descends(&self, at: usize, count: usize, asked: u64) -> (u64, u64) {
        self.compare(at, count, asked)
    }
}

fn views<T: ByteViewType>(column: &ArrayRef) -> Box<dyn CompareAdjacent> {
    let column = column.as_byte_view::<T>().clone();
    Box::new(ComparedColumn(move |row| {
        // Equal views are equal values: the same bytes in the same buffer, or inline bytes.
        if column.views()[row] == column.views()[row - 1] {
            return Ordering::Equal;
        }
        let (before, now): (&[u8], &[u8]) = (column.value(row - 1).as_ref(), column.value(row).as_ref());
        now.cmp(before)
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{
        Array, BinaryArray, Float64Array, Int32Array, Int64Array, StringArray, StringViewArray, UInt64Array,
    };

    use super::*;
    use crate::util::simd::portable_and_widest;

    /// All pairs of values with a common start, with lengths around the prefix length, with zeros and high bytes.
    #[test]
    fn byte_comparison_matches_ordering() {
        let mut values: Vec<Vec<u8>> = vec![vec![], vec![0], vec![0, 0], vec![0xff], b"a".to_vec(), b"a\0".to_vec()];
        for length in [1, 14, 15, 16, 17, 33] {
            for last in [0, 1, 0x7f, 0x80, 0xff] {
                values.push([vec![b'x'; length], vec![last]].concat());
            }
        }
        let pairs: Vec<_> = values.iter().flat_map(|before| values.iter().map(move |now| [before, now])).collect();
        let column = BinaryArray::from_iter_values(pairs.iter().flatten());
        for skipped in [0, 2] {
            let column: ArrayRef = Arc::new(column.slice(skipped, column.len() - skipped));
            let adjacent = Adjacent::new(&column).unwrap();
            for (number, [before, now]) in pairs[skipped / 2..].iter().enumerate() {
                let bit = |word: u64| word == 1;
                assert_eq!(bit(adjacent.differs(2 * number + 1, 1)), before != now, "{before:?} {now:?}");
                assert_eq!(bit(adjacent.descends(2 * number + 1, 1)), now < before, "{before:?} {now:?}");
            }
        }
    }

    /// Words of many rows against single rows, in both directions.
    #[test]
    fn word_bits_match_rows() {
        let texts: Vec<_> = (0..300_usize).map(|row| "abc".repeat(row * row % 7) + &"z".repeat(row % 3)).collect();
        let texts = texts.iter().enumerate().map(|(row, text)| (row % 11 > 0).then_some(text));
        let column: ArrayRef = Arc::new(texts.collect::<StringArray>());
        for (descending, nulls_first) in [(false, true), (false, false), (true, true), (true, false)] {
            let adjacent = Adjacent::with_options(&column, SortOptions::new(descending, nulls_first)).unwrap();
            for at in [0, 1, 64, 100] {
                let each = |bit: &dyn Fn(usize) -> u64| (0..64).fold(0, |word, row| word | (bit(at + row) << row));
                let single = (each(&|row| adjacent.differs(row, 1)), each(&|row| adjacent.descends(row, 1)));
                assert_eq!((adjacent.differs(at, 64), adjacent.descends(at, 64)), single);
                assert_eq!(adjacent.differs_and_descends(at, 64, u64::MAX), single);
            }
        }
    }

    /// One repeated string with one exception: of the same length, longer, shorter or NULL; in arrays and views.
    #[test]
    fn repeated_texts_are_detected() {
        for text in ["", "a", "abcdefgh", "longer than a head of sixteen bytes"] {
            for odd in [Some(text), Some("b"), Some("abcdefgi"), Some("abcdefg"), Some(""), None] {
                for place in [0, 1, 40, 63, 64, 65, 127, 128] {
                    let texts = || (0..150).map(|row| if row == place { odd } else { Some(text) });
                    let columns: [ArrayRef; 3] = [
                        Arc::new(texts().collect::<StringArray>()),
                        Arc::new(texts().collect::<StringViewArray>()),
                        Arc::new(texts().skip(1).collect::<StringArray>().slice(3, 140)),
                    ];
                    for column in columns {
                        let adjacent = Adjacent::new(&column).unwrap();
                        for at in [0, 1, 64, 70] {
                            let each =
                                |bit: &dyn Fn(usize) -> u64| (0..64).fold(0, |word, row| word | (bit(at + row) << row));
                            let differ = each(&|row| adjacent.differs(row, 1));
                            let descend = each(&|row| adjacent.descends(row, 1));
                            assert_eq!(
                                adjacent.differs_and_descends(at, 64, u64::MAX),
                                (differ, descend),
                                "{text:?} {odd:?} {place}"
                            );
                            let same = column.to_data();
                            let equal = |row: usize| row > 0 && same.slice(row, 1) == same.slice(row - 1, 1);
                            assert_eq!(differ, each(&|row| u64::from(!equal(row))), "{text:?} {odd:?} {place}");
                        }
                    }
                }
            }
        }
    }

    /// The vectorised comparison against comparing values one by one.
    #[test]
    fn number_comparison_matches_ordering() {
        let near = |row: i64| [0, 1, -1, i64::MIN, i64::MAX, 7][(row * row % 11 % 6) as usize];
        let longs: Vec<_> = (0..200).map(near).collect();
        let columns: [ArrayRef; 4] = [
            Arc::new(Int64Array::from(longs.clone())),
            Arc::new(UInt64Array::from_iter_values(longs.iter().map(|&long| long as u64))),
            Arc::new(Int32Array::from_iter_values(longs.iter().map(|&long| long as i32))),
            Arc::new(Float64Array::from_iter_values(
                longs.iter().map(|&long| if long == 7 { f64::NAN } else { -(long as f64) }),
            )),
        ];
        for column in columns {
            let adjacent = Adjacent::new(&column).unwrap();
            for at in [1, 64, 130] {
                let each = |bit: &dyn Fn(usize) -> u64| (0..64).fold(0, |word, row| word | (bit(at + row) << row));
                let single = (each(&|row| adjacent.differs(row, 1)), each(&|row| adjacent.descends(row, 1)));
                let found = portable_and_widest(|| (adjacent.differs(at, 64), adjacent.descends(at, 64)));
                assert_eq!(found, [single; 2], "{column:?}");
            }
        }
    }

    #[test]
    fn null_differs_from_empty_text() {
        let column: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, None, Some(""), Some("a")]));
        let adjacent = Adjacent::new(&column).unwrap();
        assert_eq!(adjacent.differs(0, 5), 0b1_1011);
        assert_eq!(adjacent.descends(0, 5), 0b0_0010);
    }

    /// A positive answer for a range must agree with the answer for each row.
    #[test]
    fn range_checks_match_row_checks() {
        // Runs of 100 rows, ascending and descending.
        let up = |row: i64| row / 100;
        let columns: [(ArrayRef, bool); 4] = [
            (Arc::new((0..1000).map(|row| Some(up(row))).collect::<Int64Array>()), true),
            (Arc::new((0..1000).map(|row| Some(-up(row) as f64)).collect::<Float64Array>()), true),
            (Arc::new((0..1000).map(|row| Some(row * row % 7)).collect::<Int32Array>()), true),
            (Arc::new((0..1000).map(|row| (row != 555).then_some(up(row))).collect::<Int64Array>()), false),
        ];
        for (column, recognized) in columns {
            for descending in [false, true] {
                let adjacent = Adjacent::with_options(&column, SortOptions::new(descending, true)).unwrap();
                for rows in [1..2, 1..100, 1..101, 64..128, 101..199, 300..900, 401..500, 500..600, 1..1000] {
                    let none = |said: &dyn Fn(usize) -> u64| rows.clone().all(|row| said(row) == 0);
                    let same = none(&|row| adjacent.differs(row, 1));
                    let in_order = none(&|row| adjacent.descends(row, 1));
                    let found =
                        portable_and_widest(|| (adjacent.is_constant(rows.clone()), adjacent.is_sorted(rows.clone())));
                    assert_eq!(found, [(recognized && same, recognized && in_order); 2], "{rows:?} of {column:?}");
                }
            }
        }
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"; 10]));
        let adjacent = Adjacent::new(&texts).unwrap();
        assert!(!adjacent.is_constant(1..10) && !adjacent.is_sorted(1..10));
    }
}
