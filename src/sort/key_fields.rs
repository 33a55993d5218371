//! Columns as bit fields of a sort word: each key value as an integer of as few bits as the column's values need.
//!
//! ```text
//!   k  100 .. 103, nulls first    code = k - 100 + 1, null = 0      3 bits
//!   t  0 .. 999, descending       code = 999 - t                   10 bits
//!   word                          k k k t t t t t t t t t t        13 bits: one integer comparison compares both
//! ```
//!
//! The minimum is subtracted; null is one more code at either end; DESC counts down from the maximum. Strings and
//! binary values are encoded by `string_key.rs`, nested columns by arrow-row. Dictionaries are replaced by the ranks of
//! their values before. Cost: two passes over a column; no memory for fixed-width values, 8 bytes per row for others.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryType, BinaryViewType, LargeBinaryType, LargeUtf8Type, StringViewType, Utf8Type};
use arrow_buffer::{NullBuffer, ScalarBuffer, i256};
use arrow_row::{RowConverter, SortField};
use arrow_schema::SortOptions;

use super::key_order::{self, Coded, match_coded};
use super::normalized_key::{CodeTarget, Field, KeyEncoder, SortWord};
use super::sort_column::SortColumn;
use super::string_key::{self, ByteValues, PackedKeys};
use crate::error::{Error, Result};
use crate::util::reserve;
use crate::util::simd::with_widest_vectors;
use crate::util::threads::Threads;

/// The fields of one column.
pub(super) struct Fields {
    /// Most significant first; none for a constant column.
    pub(super) fields: Vec<Field>,
    /// Whether rows with equal fields are equal. Otherwise equal fields leave the order open.
    pub(super) exact: bool,
}

/// A code with a distance from another code.
trait CodeDistance: Copy + Ord {
    /// `self - low`, if that fits.
    fn distance_from(self, low: Self) -> Option<u64>;

    /// `self - low`, if that is known to fit; any value if `self` is the undefined value of a null.
    fn wrapping_distance_from(self, low: Self) -> u64;
}

macro_rules! step {
    ($($type:ty),*) => {$(
        impl CodeDistance for $type {
            #[inline]
            fn distance_from(self, low: Self) -> Option<u64> {
                Some(self.wrapping_distance_from(low))
            }

            // One body for all integers; `From` does not exist for the signed ones.
            #[allow(clippy::cast_lossless)]
            #[inline]
            fn wrapping_distance_from(self, low: Self) -> u64 {
                (self as u64).wrapping_sub(low as u64)
            }
        }
    )*};
}
step!(i8, i16, i32, i64, u8, u16, u32, u64);

impl CodeDistance for i128 {
    fn distance_from(self, low: Self) -> Option<u64> {
        u64::try_from(self.checked_sub(low)?).ok()
    }

    #[inline]
    fn wrapping_distance_from(self, low: Self) -> u64 {
        self.wrapping_sub(low) as u64
    }
}

impl CodeDistance for i256 {
    fn distance_from(self, low: Self) -> Option<u64> {
        u64::try_from(self.checked_sub(low)?.to_i128()?).ok()
    }

    #[inline]
    fn wrapping_distance_from(self, low: Self) -> u64 {
        self.wrapping_sub(low).as_i128() as u64
    }
}

/// Encodes fixed-width values whose codes lie within a range.
struct RangeCodes<T: Coded> {
    values: ScalarBuffer<T>,
    low: T::Code,
    span: u64,
    descending: bool,
    /// 1 if code 0 is that of nulls.
    gap: u64,
    nulls: Option<(NullBuffer, u64)>,
}

impl<T: Coded> RangeCodes<T>
where
    T::Code: CodeDistance,
{
    fn push<W: SortWord>(&self, push: CodeTarget, words: &mut [W]) {
        let (low, gap) = (self.low, self.gap);
        if self.descending {
            let high = self.span.wrapping_add(gap);
            self.push_values(push, words, move |value| high.wrapping_sub(value.code().wrapping_distance_from(low)));
        } else {
            self.push_values(push, words, move |value| value.code().wrapping_distance_from(low).wrapping_add(gap));
        }
    }

    #[inline]
    fn push_values<W: SortWord>(&self, push: CodeTarget, words: &mut [W], code: impl Fn(T) -> u64 + Copy) {
        let values = &self.values[push.start..];
        match &self.nulls {
            None => push.all(words, values.iter().map(move |&value| code(value))),
            Some((nulls, null)) => {
                let rows = (push.start..).zip(values);
                let code = move |(row, &value)| if nulls.is_valid(row) { code(value) } else { *null };
                push.all(words, rows.map(code));
            }
        }
    }
}

impl<T: Coded> KeyEncoder for RangeCodes<T>
where
    T::Code: CodeDistance,
{
    fn push_narrow(&self, to: CodeTarget, words: &mut [u64]) {
        self.push(to, words);
    }

    fn push_wide(&self, to: CodeTarget, words: &mut [u128]) {
        self.push(to, words);
    }
}

/// Encodes in one bit whether a row is null.
struct NullFlag {
    nulls: NullBuffer,
    first: bool,
}

impl KeyEncoder for NullFlag {
    fn push_narrow(&self, push: CodeTarget, words: &mut [u64]) {
        push.all(words, (push.start..).map(|row| u64::from(self.nulls.is_null(row) != self.first)));
    }

    fn push_wide(&self, push: CodeTarget, words: &mut [u128]) {
        push.all(words, (push.start..).map(|row| u64::from(self.nulls.is_null(row) != self.first)));
    }
}

/// The fields of a column, which must not be a dictionary.
///
/// # Errors
/// A type without an order; cancellation.
pub(super) fn fields(column: &SortColumn, threads: &Threads) -> Result<Fields> {
    threads.cancel().check()?;
    let values = &column.values;
    macro_rules! fixed {
        ($type:ty) => {
            match ranged::<$type>(column, key_order::scalars(values), true, threads)? {
                Some(fields) => Ok(fields),
                // The range exceeds 64 bits.
                None => encoded(column, threads),
            }
        };
    }
    match_coded! {
        values.data_type(), fixed,
        DataType::Null => Ok(Fields { fields: Vec::new(), exact: true }),
        DataType::Boolean => {
            let values = values.as_boolean().values().iter().map(u8::from).collect();
            exact::<u8>(column, values, threads)
        }
        DataType::Utf8 => packed(column, values.as_bytes::<Utf8Type>(), threads),
        DataType::LargeUtf8 => packed(column, values.as_bytes::<LargeUtf8Type>(), threads),
        DataType::Utf8View => packed(column, values.as_byte_view::<StringViewType>(), threads),
        DataType::Binary => packed(column, values.as_bytes::<BinaryType>(), threads),
        DataType::LargeBinary => packed(column, values.as_bytes::<LargeBinaryType>(), threads),
        DataType::BinaryView => packed(column, values.as_byte_view::<BinaryViewType>(), threads),
        DataType::FixedSizeBinary(_) => packed(column, values.as_fixed_size_binary(), threads),
        DataType::Float16 | DataType::RunEndEncoded(..) => {
            fields(&SortColumn { values: key_order::normalise(values)?, ..column.clone() }, threads)
        }
        _ => encoded(column, threads),
    }
}

/// The fields of fixed-width values; `None` if their codes span 64 bits or more.
fn ranged<T: Coded>(
    column: &SortColumn,
    values: ScalarBuffer<T>,
    exact: bool,
    threads: &Threads,
) -> Result<Option<Fields>>
where
    T::Code: CodeDistance,
{
    let nulls = key_order::nulls(&column.values);
    let ranges = threads.map(threads.ranges(&(0..values.len())), |rows| {
        let begin = rows.start;
        Ok(match &nulls {
            None => with_widest_vectors(
                #[inline(always)]
                || range(values[rows].iter().map(|value| value.code())),
            ),
            Some(nulls) => {
                let valid = nulls.slice(begin, rows.len());
                range(valid.valid_indices().map(|row| values[begin + row].code()))
            }
        })
    })?;
    let range = ranges.into_iter().flatten().reduce(|(low, high), range| (low.min(range.0), high.max(range.1)));
    // Without a valid value all rows are equal.
    let Some((low, high)) = range else {
        return Ok(Some(Fields { fields: Vec::new(), exact: true }));
    };
    let Some(span) = high.distance_from(low) else {
        return Ok(None);
    };
    let mut fields = Vec::new();
    let mut push = |top: u64, codes: Box<dyn KeyEncoder>| {
        let bits = u64::BITS - top.leading_zeros();
        if bits > 0 {
            fields.push(Field { bits, codes, top, dropped: 0 });
        }
    };
    let mut ranged = RangeCodes { values, low, span, descending: column.options.descending, gap: 0, nulls: None };
    match nulls {
        None => push(span, Box::new(ranged)),
        Some(nulls) if span == u64::MAX => {
            // There is no code left for null.
            push(1, Box::new(NullFlag { nulls: nulls.clone(), first: column.options.nulls_first }));
            ranged.nulls = Some((nulls, 0));
            push(span, Box::new(ranged));
        }
        Some(nulls) => {
            ranged.gap = u64::from(column.options.nulls_first);
            ranged.nulls = Some((nulls, if column.options.nulls_first { 0 } else { span + 1 }));
            push(span + 1, Box::new(ranged));
        }
    }
    Ok(Some(Fields { fields, exact }))
}

#[inline(always)]
fn range<C: Copy + Ord>(mut codes: impl Iterator<Item = C>) -> Option<(C, C)> {
    let first = codes.next()?;
    Some(codes.fold((first, first), |(low, high), code| (low.min(code), high.max(code))))
}

/// Fields of values that represent the column's values row by row.
fn exact<T: Coded>(column: &SortColumn, values: Vec<T>, threads: &Threads) -> Result<Fields>
where
    T::Code: CodeDistance,
{
    ranged(column, values.into(), true, threads)?.ok_or_else(|| Error::internal("codes wider than 64 bits"))
}

/// Fields of strings or binary values.
fn packed(column: &SortColumn, texts: &impl ByteValues, threads: &Threads) -> Result<Fields> {
    let PackedKeys { codes, exact } = string_key::pack(texts, threads)?;
    ranged::<u64>(column, codes.into(), exact, threads)?.ok_or_else(|| Error::internal("codes wider than 64 bits"))
}

/// Fields of nested values, and of integers whose range exceeds 64 bits: encoded as bytes that compare like the values.
fn encoded(column: &SortColumn, threads: &Threads) -> Result<Fields> {
    let values = key_order::normalise(&column.values)?;
    // arrow-row needs some bytes more than the values, and an offset per row.
    reserve::probe(column.values.len() * size_of::<[usize; 2]>())?;
    reserve::probe_rows(&values, 2 * values.len())?;
    // Ascending with nulls first makes nested nulls smallest; direction and top-level nulls are handled by the field.
    let options = SortOptions::default();
    let converter = RowConverter::new(vec![SortField::new_with_options(values.data_type().clone(), options)])?;
    let rows = converter.convert_columns(&[values])?;
    packed(column, &string_key::EncodedRows { rows: &rows, nulls: key_order::nulls(&column.values) }, threads)
}
