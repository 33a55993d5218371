//! Offsets from a column, one per row.
//!
//! The column is cast once per section to one of the few types below; a NULL is an error when its row is evaluated.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int64Type, IntervalMonthDayNanoType,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_cast::CastOptions;
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

use super::calendar::NANOS_PER_DAY;
use super::offset_literal::{day_ticks, interval, refusal};
use super::range_key::KeyPlan;
use super::range_offset::{FrameSide, RangeOffset};
use crate::error::{Error, Result};
use crate::model::section::Section;
use crate::util::civil::ticks_per_second;

/// A column of offsets, resolved against the schema.
#[derive(Debug, Clone)]
pub(super) struct OffsetColumn {
    pub(super) number: usize,
    name: String,
    /// The type to which the column is cast.
    cast: DataType,
    pub(super) preceding: bool,
}

impl OffsetColumn {
    /// Offsets for the RANGE key `key`; without one, for ROWS and GROUPS.
    ///
    /// # Errors
    /// The column's type does not suit the key or unit.
    pub(super) fn new(
        name: &str,
        (number, data_type): (usize, DataType),
        key: Option<&KeyPlan>,
        preceding: bool,
    ) -> Result<Self> {
        let cast = match key {
            None if data_type.is_integer() => DataType::Int64,
            None => {
                return Err(Error::spec(format!(
                    "offset column {name:?} is {data_type}, and ROWS and GROUPS count: give a column of whole numbers"
                )));
            }
            Some(key) => cast_target(&key.data_type, &data_type).ok_or_else(|| {
                let column = format!("column {name:?} of type {data_type}");
                refusal(key, &column, "give a column of offsets that the key's type takes")
            })?,
        };
        Ok(Self { number, name: name.into(), cast, preceding })
    }

    /// The column of `section`, cast.
    pub(super) fn values(&self, section: &Section) -> Result<SectionOffsets> {
        let column = section.column(self.number)?;
        // Without this an offset that exceeds the target type would become NULL.
        let options = CastOptions { safe: false, ..CastOptions::default() };
        let column = arrow_cast::cast_with_options(column, &self.cast, &options)
            .map_err(|error| Error::data(format!("offset column {:?}: {error}", self.name)))?;
        let values = typed(&column).ok_or_else(|| Error::internal(format!("{:?} is not {}", self.name, self.cast)))?;
        Ok(SectionOffsets { values, name: self.name.clone(), preceding: self.preceding })
    }
}

/// The type to which an offset column is cast for keys of type `key`; `None` if it is unsuitable.
fn cast_target(key: &DataType, column: &DataType) -> Option<DataType> {
    let number = column.is_numeric();
    let time = matches!(column, DataType::Interval(_) | DataType::Duration(_));
    let as_time = || match column {
        DataType::Duration(_) => column.clone(),
        _ => DataType::Interval(IntervalUnit::MonthDayNano),
    };
    match key {
        key if key.is_integer() && number => Some(DataType::Int64),
        DataType::Float64 if number => Some(DataType::Float64),
        DataType::Float32 | DataType::Float16 if number => Some(DataType::Float32),
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) if number => {
            Some(DataType::Decimal128(*precision, *scale))
        }
        DataType::Decimal128(..) | DataType::Decimal256(..) if number => Some(key.clone()),
        DataType::Date32 | DataType::Date64 | DataType::Duration(_) | DataType::Interval(_) if column.is_integer() => {
            Some(DataType::Int64)
        }
        DataType::Date32
        | DataType::Date64
        | DataType::Timestamp(..)
        | DataType::Duration(_)
        | DataType::Time32(_)
        | DataType::Time64(_)
            if time =>
        {
            Some(as_time())
        }
        DataType::Interval(_) if *column == DataType::Interval(IntervalUnit::YearMonth) => Some(as_time()),
        _ => None,
    }
}

#[derive(Debug, Clone)]
enum OffsetValues {
    Whole(PrimitiveArray<Int64Type>),
    Double(PrimitiveArray<Float64Type>),
    Single(PrimitiveArray<Float32Type>),
    Wide(PrimitiveArray<Decimal128Type>),
    Huge(PrimitiveArray<Decimal256Type>),
    Interval(PrimitiveArray<IntervalMonthDayNanoType>),
    /// Ticks, and the nanoseconds per tick.
    Duration(PrimitiveArray<Int64Type>, i128),
}

fn typed(column: &ArrayRef) -> Option<OffsetValues> {
    Some(match column.data_type() {
        DataType::Int64 => OffsetValues::Whole(column.as_primitive_opt()?.clone()),
        DataType::Float64 => OffsetValues::Double(column.as_primitive_opt()?.clone()),
        DataType::Float32 => OffsetValues::Single(column.as_primitive_opt()?.clone()),
        DataType::Decimal128(..) => OffsetValues::Wide(column.as_primitive_opt()?.clone()),
        DataType::Decimal256(..) => OffsetValues::Huge(column.as_primitive_opt()?.clone()),
        DataType::Interval(_) => OffsetValues::Interval(column.as_primitive_opt()?.clone()),
        DataType::Duration(unit) => {
            let ticks = arrow_cast::cast(column, &DataType::Int64).ok()?;
            OffsetValues::Duration(ticks.as_primitive_opt()?.clone(), nanos_per_tick(*unit))
        }
        _ => return None,
    })
}

/// Nanoseconds in a tick of `unit`.
fn nanos_per_tick(unit: TimeUnit) -> i128 {
    1_000_000_000 / i128::from(ticks_per_second(unit))
}

/// The offsets of a section.
#[derive(Debug, Clone)]
pub(super) struct SectionOffsets {
    values: OffsetValues,
    name: String,
    preceding: bool,
}

impl SectionOffsets {
    /// The signed number of rows or groups for `row`.
    pub(super) fn count(&self, row: usize) -> Result<i64> {
        match &self.values {
            OffsetValues::Whole(values) => {
                self.get(values, row).map(|by| if self.preceding { by.saturating_neg() } else { by })
            }
            _ => Err(self.invalid_offset()),
        }
    }

    /// The signed distance from a key of `plan` for `row`.
    pub(super) fn offset(&self, plan: &KeyPlan, row: usize, side: FrameSide) -> Result<RangeOffset> {
        let sign = if self.preceding { -1 } else { 1 };
        let by_interval = |months: i64, days: i64, nanos: i128| {
            interval(plan, months, days, nanos, self.preceding, side, false).map_err(|remedy| {
                let offset = format!("INTERVAL {months} MONTH {days} DAY {nanos} NANOSECOND in column {:?}", self.name);
                let error = refusal(plan, &offset, remedy);
                Error::data(error.message())
            })
        };
        match &self.values {
            OffsetValues::Whole(values) => {
                Ok(RangeOffset::Whole(i128::from(self.get(values, row)?) * sign * day_ticks(plan)))
            }
            OffsetValues::Double(values) => {
                let by = self.get(values, row)? * sign as f64;
                if by.is_nan() { Err(self.nan_error(row)) } else { Ok(RangeOffset::Double(by)) }
            }
            OffsetValues::Single(values) => {
                let by = self.get(values, row)? * sign as f32;
                if by.is_nan() { Err(self.nan_error(row)) } else { Ok(RangeOffset::Single(by)) }
            }
            OffsetValues::Wide(values) => {
                let by = self.get(values, row)? * sign;
                // Narrow decimals are stored as small keys.
                let small = matches!(plan.data_type, DataType::Decimal32(..) | DataType::Decimal64(..));
                Ok(if small { RangeOffset::Whole(by) } else { RangeOffset::Wide(by) })
            }
            OffsetValues::Huge(values) => {
                let by = self.get(values, row)?;
                Ok(RangeOffset::Huge(if self.preceding { by.wrapping_neg() } else { by }))
            }
            OffsetValues::Interval(values) => {
                let by = self.get(values, row)?;
                by_interval(by.months.into(), by.days.into(), by.nanoseconds.into())
            }
            OffsetValues::Duration(values, tick) => {
                let nanos = i128::from(self.get(values, row)?) * tick;
                // As for a literal: whole days are calendar days.
                let days = (nanos / NANOS_PER_DAY) as i64;
                by_interval(0, days, nanos - i128::from(days) * NANOS_PER_DAY)
            }
        }
    }

    fn get<T: ArrowPrimitiveType>(&self, values: &PrimitiveArray<T>, row: usize) -> Result<T::Native> {
        match row.cmp(&values.len()) {
            Ordering::Less if values.is_valid(row) => Ok(values.value(row)),
            Ordering::Less => Err(Error::data(format!(
                "offset column {:?} is NULL in some row, and a frame needs both ends: fill its nulls, with 0 for the \
                 current row",
                self.name
            ))),
            _ => Err(self.invalid_offset()),
        }
    }

    fn nan_error(&self, row: usize) -> Error {
        Error::data(format!("offset column {:?} is NaN in row {row} of its section: give a number", self.name))
    }

    fn invalid_offset(&self) -> Error {
        Error::internal(format!("offset column {:?} does not hold what its plan says", self.name))
    }
}
