//! Types: what a function makes of its arguments' types, by Spark's rules.
//!
//! Types that only Arrow has follow the nearest one of Spark: unsigned integers sum to `Int64` (`UInt64` to
//! `UInt64`, which cannot be negative), half floats count as floats, large, view and dictionary strings as strings.

use arrow_schema::{DataType, IntervalUnit, TimeUnit};

use super::registry::{Algebra, Function, Kernel};
use crate::error::{Error, Result};

/// What the plan knows of a call once its types are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The type the first argument is read as.
    pub input: DataType,
    /// The result's type.
    pub output: DataType,
    /// Whether the result may be NULL.
    pub nullable: bool,
    /// What its states allow.
    pub algebra: Algebra,
}

/// The signature of `function` over columns of `types`.
///
/// # Errors
/// The function does not take such arguments.
pub fn signature(function: &Function, types: &[DataType], ansi: bool) -> Result<Signature> {
    let first = types.first().map_or(&DataType::Null, values);
    let signature = |input: DataType, output: DataType, algebra| Signature { input, output, nullable: true, algebra };
    Ok(match function.kernel {
        Kernel::Count => Signature {
            input: types.first().cloned().unwrap_or(DataType::Null),
            output: DataType::Int64,
            nullable: false,
            algebra: Algebra::Retractable,
        },
        Kernel::Sum => {
            let input = summable(function, first)?;
            let (output, algebra) = match &input {
                DataType::Int32 | DataType::Int64 => (DataType::Int64, Algebra::Retractable),
                DataType::Float64 => (DataType::Float64, Algebra::Mergeable),
                DataType::Decimal128(p, s) => (DataType::Decimal128((p + 10).min(38), *s), Algebra::Retractable),
                DataType::Decimal256(p, s) => (DataType::Decimal256((p + 10).min(76), *s), Algebra::Retractable),
                other => (other.clone(), Algebra::Retractable),
            };
            signature(input, output, algebra)
        }
        Kernel::Avg => {
            let input = summable(function, first)?;
            let (output, algebra) = match &input {
                DataType::Float64 => (DataType::Float64, Algebra::Mergeable),
                DataType::Decimal128(p, s) => {
                    (DataType::Decimal128((p + 4).min(38), (s + 4).min(38)), Algebra::Retractable)
                }
                DataType::Decimal256(p, s) => {
                    (DataType::Decimal256((p + 4).min(76), (s + 4).min(76)), Algebra::Retractable)
                }
                DataType::Duration(_) => (DataType::Duration(TimeUnit::Microsecond), Algebra::Retractable),
                DataType::Interval(unit) => (DataType::Interval(*unit), Algebra::Retractable),
                _ => (DataType::Float64, Algebra::Retractable),
            };
            signature(input, output, algebra)
        }
        Kernel::VarPop | Kernel::VarSamp | Kernel::StddevPop | Kernel::StddevSamp => {
            if !(first.is_numeric() || first.is_string() || first.is_null()) {
                return Err(refused(function, first, "a number, or a string that holds one"));
            }
            signature(DataType::Float64, DataType::Float64, Algebra::Mergeable)
        }
        Kernel::Min | Kernel::Max => {
            if !orderable(first) {
                return Err(refused(function, first, "a type that has an order"));
            }
            // The column as it is: a dictionary stays a dictionary.
            signature(types[0].clone(), types[0].clone(), Algebra::Selective)
        }
        Kernel::BoolAnd | Kernel::BoolOr => match first {
            DataType::Boolean | DataType::Null => signature(DataType::Boolean, DataType::Boolean, Algebra::Retractable),
            string if string.is_string() && ansi => {
                signature(DataType::Boolean, DataType::Boolean, Algebra::Retractable)
            }
            other => return Err(refused(function, other, "a boolean")),
        },
        Kernel::First | Kernel::Last | Kernel::Nth | Kernel::Lag | Kernel::Lead => {
            signature(types[0].clone(), types[0].clone(), Algebra::Positional)
        }
        Kernel::RowNumber | Kernel::Rank | Kernel::DenseRank | Kernel::Ntile => {
            Signature { input: DataType::Null, output: DataType::Int32, nullable: false, algebra: Algebra::Positional }
        }
        Kernel::PercentRank | Kernel::CumeDist => Signature {
            input: DataType::Null,
            output: DataType::Float64,
            nullable: false,
            algebra: Algebra::Positional,
        },
    })
}

/// The type of a dictionary's or a run's values; any other type as it is.
#[must_use]
pub fn values(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => self::values(values),
        DataType::RunEndEncoded(_, values) => self::values(values.data_type()),
        other => other,
    }
}

/// Whether values of the type can be compared, and so be keys, or have a least one.
#[must_use]
pub fn orderable(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) | DataType::Union(..) | DataType::Interval(IntervalUnit::MonthDayNano) => false,
        DataType::Struct(fields) => fields.iter().all(|field| orderable(field.data_type())),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => orderable(field.data_type()),
        DataType::Dictionary(_, values) => orderable(values),
        DataType::RunEndEncoded(_, values) => orderable(values.data_type()),
        _ => true,
    }
}

/// The type a sum or a mean reads its argument as.
fn summable(function: &Function, data_type: &DataType) -> Result<DataType> {
    use DataType as T;
    Ok(match data_type {
        T::Int8 | T::Int16 | T::Int32 | T::UInt8 | T::UInt16 => T::Int32,
        T::Int64 | T::UInt32 => T::Int64,
        T::UInt64 => T::UInt64,
        // Spark reads a string as a double, an instant as its seconds, and an untyped NULL as a double.
        T::Float16
        | T::Float32
        | T::Float64
        | T::Utf8
        | T::LargeUtf8
        | T::Utf8View
        | T::Null
        | T::Timestamp(_, Some(_)) => T::Float64,
        T::Decimal32(p, s) | T::Decimal64(p, s) | T::Decimal128(p, s) => T::Decimal128(*p, *s),
        T::Decimal256(p, s) => T::Decimal256(*p, *s),
        T::Duration(unit) => T::Duration(*unit),
        T::Interval(IntervalUnit::YearMonth) => T::Interval(IntervalUnit::YearMonth),
        other => return Err(refused(function, other, "a number, a duration, or a string that holds a number")),
    })
}

fn refused(function: &Function, data_type: &DataType, wants: &str) -> Error {
    let remedy = match data_type {
        DataType::Boolean => "; cast it to an integer to count what is true",
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => "; cast it to a number, or subtract dates",
        DataType::Map(..) => "; use map_entries, or a key of it",
        _ => "; cast it",
    };
    Error::spec(format!("{} takes {wants}, not {data_type}{remedy}", function.name))
}
