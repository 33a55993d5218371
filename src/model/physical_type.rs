//! The six native types that functions are implemented for, and the mapping of logical types to them.

use arrow_schema::{DataType, IntervalUnit};

/// The native type of the values that an implementation reads; dispatch matches on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PhysicalType {
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

impl PhysicalType {
    /// The narrowest native type that holds all values of `data_type` in their order; `None` for types other than
    /// numbers, dates, times, durations and timestamps (strings, binary, booleans, intervals of several units, nested
    /// types).
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
