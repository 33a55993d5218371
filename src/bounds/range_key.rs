//! The order key of RANGE as integers in sort order, ascending, once per section.
//!
//! | key | stored as |
//! |---|---|
//! | integers, dates, times, timestamps, durations, months, decimals up to 18 digits | `i64` (unsigned: top bit
//! flipped) |
//! | floats | `i64`: the bits in total order, -0.0 as 0.0, one NaN, greatest |
//! | decimals up to 38 and 76 digits | `i128`, `i256`; those of 38 digits whose values all fit, `i64` |
//!
//! For DESC a number x becomes -1 - x, which reverses the order and cannot overflow. Both mappings preserve distances,
//! so an integer offset is the same addition in either direction. Ascending 64-bit keys are not copied; others cost one
//! pass and 8 bytes per row.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{NullBuffer, ScalarBuffer, i256};
use arrow_schema::{DataType, IntervalUnit, SortOptions, TimeUnit};

use super::calendar::Calendar;
use crate::error::{Error, Result};
use crate::model::section::Section;
use crate::sort::key_order::Coded;
use crate::util::data_types::decode;
use crate::util::reserve;

/// The single order key of a RANGE frame with an offset.
#[derive(Debug, Clone)]
pub(crate) struct KeyPlan {
    pub(super) number: usize,
    pub(super) name: String,
    /// The type of the values; for a dictionary that of its values.
    pub(super) data_type: DataType,
    pub(super) options: SortOptions,
    pub(super) calendar: Option<Calendar>,
}

/// Keys as ordered integers. The values at nulls are undefined.
#[derive(Debug, Clone)]
pub(crate) enum RangeKeys {
    Small(ScalarBuffer<i64>),
    Wide(ScalarBuffer<i128>),
    Huge(ScalarBuffer<i256>),
}

/// A section's key column.
#[derive(Debug, Clone)]
pub(super) struct SectionKey {
    pub(super) keys: RangeKeys,
    nulls: Option<NullBuffer>,
    nulls_first: bool,
}

impl SectionKey {
    pub(super) fn new(plan: &KeyPlan, section: &Section) -> Result<Self> {
        let column = section.column(plan.number)?;
        // For the memory of a cast, of reversed keys, or of 64-bit keys.
        reserve::probe_rows(column, column.len())?;
        reserve::probe(column.len() * size_of::<i64>())?;
        let column = decode(column)?;
        let keys = ordered_keys(&column, &plan.data_type, plan.options.descending)
            .ok_or_else(|| Error::internal(format!("order key {:?} is not a {}", plan.name, plan.data_type)))?;
        let keys = match keys {
            RangeKeys::Wide(keys) => narrow(keys),
            keys => keys,
        };
        let nulls = column.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        Ok(Self { keys, nulls, nulls_first: plan.options.nulls_first })
    }

    /// Whether the row's key is null.
    #[inline]
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// The rows of partition `run` whose key is not null. The nulls lie at one side.
    pub(super) fn non_null_rows(&self, run: &Range<usize>) -> Range<usize> {
        let Some(nulls) = &self.nulls else {
            return run.clone();
        };
        let edge_is_filled = nulls.is_valid(if self.nulls_first { run.start } else { run.end - 1 });
        if edge_is_filled {
            return run.clone();
        }
        let (mut low, mut high) = (run.start, run.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if nulls.is_valid(middle) == self.nulls_first { high = middle } else { low = middle + 1 }
        }
        if self.nulls_first { low..run.end } else { run.start..low }
    }
}

/// Whether keys of this type support offsets.
pub(super) fn takes_offsets(data_type: &DataType) -> bool {
    ordered_keys(&arrow_array::new_empty_array(data_type), data_type, false).is_some()
}

/// The column's values as ordered integers; `None` if the column does not have this type, or the type has no offsets.
pub(crate) fn ordered_keys(column: &ArrayRef, data_type: &DataType, descending: bool) -> Option<RangeKeys> {
    use DataType::{
        Date32, Date64, Decimal32, Decimal64, Decimal128, Decimal256, Duration, Float16, Float32, Float64, Int8, Int16,
        Int32, Int64, Interval, Time32, Time64, Timestamp, UInt8, UInt16, UInt32, UInt64,
    };
    Some(RangeKeys::Small(match data_type {
        Int8 => small::<Int8Type>(column, descending, i64::from)?,
        Int16 => small::<Int16Type>(column, descending, i64::from)?,
        Int32 => small::<Int32Type>(column, descending, i64::from)?,
        Int64 => native::<Int64Type>(column, descending)?,
        UInt8 => small::<UInt8Type>(column, descending, i64::from)?,
        UInt16 => small::<UInt16Type>(column, descending, i64::from)?,
        UInt32 => small::<UInt32Type>(column, descending, i64::from)?,
        UInt64 => small::<UInt64Type>(column, descending, |value| (value ^ (1 << 63)) as i64)?,
        Float16 => small::<Float16Type>(column, descending, |value| i64::from(value.to_f32().code()))?,
        Float32 => small::<Float32Type>(column, descending, |value| i64::from(value.code()))?,
        Float64 => small::<Float64Type>(column, descending, Coded::code)?,
        Decimal32(..) => small::<Decimal32Type>(column, descending, i64::from)?,
        Decimal64(..) => native::<Decimal64Type>(column, descending)?,
        Date32 => small::<Date32Type>(column, descending, i64::from)?,
        Date64 => native::<Date64Type>(column, descending)?,
        Time32(TimeUnit::Second) => small::<Time32SecondType>(column, descending, i64::from)?,
        Time32(_) => small::<Time32MillisecondType>(column, descending, i64::from)?,
        Time64(TimeUnit::Microsecond) => native::<Time64MicrosecondType>(column, descending)?,
        Time64(_) => native::<Time64NanosecondType>(column, descending)?,
        Timestamp(TimeUnit::Second, _) => native::<TimestampSecondType>(column, descending)?,
        Timestamp(TimeUnit::Millisecond, _) => native::<TimestampMillisecondType>(column, descending)?,
        Timestamp(TimeUnit::Microsecond, _) => native::<TimestampMicrosecondType>(column, descending)?,
        Timestamp(TimeUnit::Nanosecond, _) => native::<TimestampNanosecondType>(column, descending)?,
        Duration(TimeUnit::Second) => native::<DurationSecondType>(column, descending)?,
        Duration(TimeUnit::Millisecond) => native::<DurationMillisecondType>(column, descending)?,
        Duration(TimeUnit::Microsecond) => native::<DurationMicrosecondType>(column, descending)?,
        Duration(TimeUnit::Nanosecond) => native::<DurationNanosecondType>(column, descending)?,
        Interval(IntervalUnit::YearMonth) => small::<IntervalYearMonthType>(column, descending, i64::from)?,
        Decimal128(..) => {
            let values = column.as_primitive_opt::<Decimal128Type>()?.values();
            return Some(RangeKeys::Wide(if descending {
                values.iter().map(|value| !value).collect()
            } else {
                values.clone()
            }));
        }
        Decimal256(..) => {
            let values = column.as_primitive_opt::<Decimal256Type>()?.values();
            let mirror = |value: &i256| i256::MINUS_ONE.wrapping_sub(*value);
            return Some(RangeKeys::Huge(if descending {
                values.iter().map(mirror).collect()
            } else {
                values.clone()
            }));
        }
        _ => return None,
    }))
}

/// Converts 128-bit keys to 64 bits if all fit, as for most decimals.
fn narrow(keys: ScalarBuffer<i128>) -> RangeKeys {
    let beyond = keys.iter().fold(0, |beyond, &key| beyond | (i128::from(key as i64) ^ key));
    if beyond == 0 { RangeKeys::Small(keys.iter().map(|&key| key as i64).collect()) } else { RangeKeys::Wide(keys) }
}

/// 64-bit values, as they are or reversed.
fn native<T: ArrowPrimitiveType<Native = i64>>(column: &ArrayRef, descending: bool) -> Option<ScalarBuffer<i64>> {
    let values = column.as_primitive_opt::<T>()?.values();
    Some(if descending { values.iter().map(|value| !value).collect() } else { values.clone() })
}

/// Other values, converted to 64 bits.
fn small<T: ArrowPrimitiveType>(
    column: &ArrayRef,
    descending: bool,
    number: impl Fn(T::Native) -> i64,
) -> Option<ScalarBuffer<i64>> {
    let values = column.as_primitive_opt::<T>()?.values().iter();
    // All ones flip every bit: -1 - x.
    let mirror = if descending { -1 } else { 0 };
    Some(values.map(|value| number(*value) ^ mirror).collect())
}
