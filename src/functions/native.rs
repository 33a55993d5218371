//! Columns as their native values, and states as Arrow data.
//!
//! Kernels are written for six natives. A logical type (date, timestamp, decimal ...) is relabelled to its native
//! without touching a value, a narrower number is widened once, and results are labelled back at the end.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeBinaryArray, Float64Array, Int64Array, PrimitiveArray, RecordBatch,
    UInt64Array, make_array,
};
use arrow_buffer::{Buffer, i256};
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::{DataType, Field, IntervalUnit, Schema};

use crate::bitmap::{WORD, word};
use crate::error::{Error, Result};
use crate::inclusion::Inclusion;
use crate::rows::{Groups, normalise};

/// The native values a kernel runs over; dispatch matches on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Native {
    /// [`arrow_array::types::Int32Type`]
    I32,
    /// [`arrow_array::types::Int64Type`]
    I64,
    /// [`arrow_array::types::UInt64Type`]
    U64,
    /// [`arrow_array::types::Float64Type`]
    F64,
    /// [`arrow_array::types::Decimal128Type`]
    I128,
    /// [`arrow_array::types::Decimal256Type`]
    I256,
}

impl Native {
    /// The narrowest native that holds all values of `data_type` in their order; `None` for what is not a number
    /// or a moment (text, bytes, booleans, intervals of several units, nested types).
    #[must_use]
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::UInt8
            | DataType::UInt16
            | DataType::Date32
            | DataType::Time32(_)
            | DataType::Decimal32(_, _)
            | DataType::Interval(IntervalUnit::YearMonth) => Self::I32,
            DataType::Int64
            | DataType::UInt32
            | DataType::Date64
            | DataType::Time64(_)
            | DataType::Timestamp(_, _)
            | DataType::Duration(_)
            | DataType::Decimal64(_, _) => Self::I64,
            DataType::UInt64 => Self::U64,
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Self::F64,
            DataType::Decimal128(_, _) => Self::I128,
            DataType::Decimal256(_, _) => Self::I256,
            _ => return None,
        })
    }
}

/// Whether an array of `from` becomes one of `to` by relabelling alone: the same native in the same bytes.
fn same_layout(from: &DataType, to: &DataType) -> bool {
    Native::of(from).is_some() && Native::of(from) == Native::of(to) && from.primitive_width() == to.primitive_width()
}

/// `array` as `T`'s values: relabelled where the layouts agree, else cast.
pub(crate) fn native<T: ArrowPrimitiveType>(array: &dyn Array) -> Result<PrimitiveArray<T>> {
    let array = labelled(array, &T::DATA_TYPE)?;
    array
        .as_primitive_opt::<T>()
        .cloned()
        .ok_or_else(|| Error::internal(format!("{} values asked of a {} column", T::DATA_TYPE, array.data_type())))
}

/// `array` under the type `to`: relabelled where the layouts agree, else cast.
pub(crate) fn labelled(array: &dyn Array, to: &DataType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(array.slice(0, array.len()));
    }
    if same_layout(array.data_type(), to) {
        return Ok(make_array(array.to_data().into_builder().data_type(to.clone()).build()?));
    }
    Ok(cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() })?)
}

/// `array` with -0.0 as 0.0 and every NaN as one: equal values look alike.
pub(crate) fn canonical(array: &ArrayRef) -> Result<ArrayRef> {
    if !has_floats(array.data_type()) {
        return Ok(array.clone());
    }
    let canonical = normalise(array)?;
    if canonical.data_type() == array.data_type() { Ok(canonical) } else { Ok(cast(&canonical, array.data_type())?) }
}

fn has_floats(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_floats(field.data_type())),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => has_floats(field.data_type()),
        DataType::Dictionary(_, values) => has_floats(values),
        DataType::RunEndEncoded(_, values) => has_floats(values.data_type()),
        _ => false,
    }
}

/// Calls `f` with the value of each of `rows` that takes part, in row order.
///
/// One place for the dense path: without a mask the values are a slice, and LLVM sees no bounds checks.
#[inline]
pub(crate) fn each_value<N: Copy>(values: &[N], inclusion: &Inclusion, rows: Range<usize>, mut f: impl FnMut(N)) {
    match inclusion {
        Inclusion::All => values[rows].iter().for_each(|&value| f(value)),
        Inclusion::Mask(_) => inclusion.each(rows, |row| f(values[row])),
    }
}

/// Calls `f` with the value of each of `rows` and whether it takes part, in row order: for steps without a branch.
#[inline]
pub(crate) fn each_slot<N: Copy>(values: &[N], inclusion: &Inclusion, rows: Range<usize>, mut f: impl FnMut(N, bool)) {
    match inclusion {
        Inclusion::All => values[rows].iter().for_each(|&value| f(value, true)),
        Inclusion::Mask(bits) => {
            let first = rows.start;
            for (number, values) in values[rows].chunks(WORD).enumerate() {
                let word = word(bits, first + WORD * number);
                // Of whole words alone: whether a shorter piece is without NULLs cannot be foreseen.
                if word == u64::MAX && values.len() == WORD {
                    for &value in values {
                        f(value, true);
                    }
                } else {
                    for (at, &value) in values.iter().enumerate() {
                        f(value, (word >> at) & 1 != 0);
                    }
                }
            }
        }
    }
}

/// Writes to `out`, which has a place for each slot, what `f` makes of the slot and of what it made of the one before, `state`
/// for the first. Returns the last.
#[inline]
pub(crate) fn scan_slots<N: Copy, T: Copy>(
    values: &[N],
    inclusion: &Inclusion,
    rows: Range<usize>,
    mut state: T,
    out: &mut [T],
    mut f: impl FnMut(T, N, bool) -> T,
) -> T {
    match inclusion {
        Inclusion::All => {
            for (&value, out) in values[rows].iter().zip(out) {
                state = f(state, value, true);
                *out = state;
            }
        }
        Inclusion::Mask(bits) => {
            let words = rows.clone().step_by(WORD).map(|at| word(bits, at));
            for ((values, out), word) in values[rows].chunks(WORD).zip(out.chunks_mut(WORD)).zip(words) {
                for ((at, &value), out) in values.iter().enumerate().zip(out) {
                    state = f(state, value, (word >> at) & 1 != 0);
                    *out = state;
                }
            }
        }
    }
    state
}

/// As [`scan_slots`], from the last slot to the first; each one's place is where it is from the first on.
#[inline]
pub(crate) fn scan_slots_back<N: Copy, T: Copy>(
    values: &[N],
    inclusion: &Inclusion,
    rows: Range<usize>,
    mut state: T,
    out: &mut [T],
    mut f: impl FnMut(T, N, bool) -> T,
) -> T {
    match inclusion {
        Inclusion::All => {
            for (&value, out) in values[rows].iter().zip(out).rev() {
                state = f(state, value, true);
                *out = state;
            }
        }
        Inclusion::Mask(bits) => {
            let words = rows.clone().step_by(WORD).map(|at| word(bits, at));
            for ((values, out), word) in values[rows].chunks(WORD).zip(out.chunks_mut(WORD)).zip(words).rev() {
                for ((at, &value), out) in values.iter().enumerate().zip(out).rev() {
                    state = f(state, value, (word >> at) & 1 != 0);
                    *out = state;
                }
            }
        }
    }
    state
}

/// As [`each_slot`], of one row.
#[inline]
pub(crate) fn slot<N: Copy>(values: &[N], inclusion: &Inclusion, row: usize, f: impl FnOnce(N, bool)) {
    f(values[row], inclusion.includes(row));
}

/// As [`each_slot`], with the group of each row.
#[inline(always)]
pub(crate) fn each_slot_of<N: Copy>(
    values: &[N],
    inclusion: &Inclusion,
    groups: &Groups,
    rows: Range<usize>,
    mut f: impl FnMut(usize, N, bool),
) {
    match inclusion {
        Inclusion::All => groups.each_row(rows, |group, row| f(group, values[row], true)),
        Inclusion::Mask(bits) => groups.each_row(rows, |group, row| f(group, values[row], bits.value(row))),
    }
}

/// `value` where it is present, else `other`; without a branch.
///
/// By bits: what a null hides may be NaN. Twice 32 bits, since compilers see through a mask, and x86-64 without AVX-512 has no
/// choice of floats but a branch: 9 ns a row of a sum, not 13.
#[inline]
pub(crate) fn present_or(value: f64, other: f64, present: bool) -> f64 {
    let out = u32::from(!present) * 32;
    f64::from_bits(other.to_bits() ^ ((value.to_bits() ^ other.to_bits()) << out << out))
}

/// `value` where all bits of `kept` are set, 0.0 where none is; without a branch, as long as compilers do not know how the bits
/// were made.
#[inline(always)]
pub(crate) fn or_zero(value: f64, kept: u64) -> f64 {
    f64::from_bits(value.to_bits() & kept)
}

/// How many of `rows` take part.
///
/// One row is the common step of a scan; counting words costs more than the row.
#[inline]
pub(crate) fn count_rows(inclusion: &Inclusion, rows: Range<usize>) -> u64 {
    if rows.len() == 1 { u64::from(inclusion.includes(rows.start)) } else { inclusion.count(rows) as u64 }
}

/// A number that a saved state holds, bit for bit.
pub(crate) trait Saved: Sized {
    /// As a column of one row.
    fn write(self) -> Result<ArrayRef>;
    /// From such a column; `None` if it is none.
    fn read(column: &dyn Array) -> Option<Self>;
}

/// Numbers that have an Arrow type of their own.
macro_rules! saved_as_primitive {
    ($($native:ty, $arrow:ty, $array:ty);*) => {$(
        impl Saved for $native {
            fn write(self) -> Result<ArrayRef> {
                Ok(Arc::new(<$array>::from(vec![self])))
            }

            fn read(column: &dyn Array) -> Option<Self> {
                column.as_primitive_opt::<$arrow>().map(|column| column.value(0))
            }
        }
    )*};
}
saved_as_primitive!(u64, UInt64Type, UInt64Array; i64, Int64Type, Int64Array; f64, Float64Type, Float64Array);

/// Integers wider than Arrow's decimals can be trusted with (38 and 76 digits): little-endian bytes.
macro_rules! saved_as_bytes {
    ($($native:ty),*) => {$(
        impl Saved for $native {
            fn write(self) -> Result<ArrayRef> {
                let bytes = self.to_le_bytes();
                Ok(Arc::new(FixedSizeBinaryArray::try_new(bytes.len() as i32, Buffer::from(bytes.to_vec()), None)?))
            }

            fn read(column: &dyn Array) -> Option<Self> {
                let bytes = column.as_fixed_size_binary_opt()?.value(0);
                bytes.try_into().ok().map(Self::from_le_bytes)
            }
        }
    )*};
}
saved_as_bytes!(i128, i256);

/// One row of Arrow data from named columns.
pub(crate) fn saved<const N: usize>(columns: [(&str, ArrayRef); N]) -> Result<RecordBatch> {
    let fields: Vec<_> =
        columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true)).collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// The column `name` of a saved state, which is one row long.
pub(crate) fn saved_column<'a>(saved: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    saved
        .column_by_name(name)
        .filter(|column| column.len() == 1)
        .ok_or_else(|| Error::internal(format!("the saved state holds no one-row column {name}")))
}

/// The number `name` of a saved state.
pub(crate) fn saved_value<S: Saved>(saved: &RecordBatch, name: &str) -> Result<S> {
    let column = saved_column(saved, name)?;
    (!column.is_null(0)).then(|| S::read(column)).flatten().ok_or_else(|| {
        Error::internal(format!("the saved state's {name} is not what was saved: {}", column.data_type()))
    })
}
