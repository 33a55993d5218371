//! Result types: what a function makes of its arguments' types, by Spark's rules.
//!
//! Types that only Arrow has follow the nearest one of Spark: unsigned integers sum to `Int64` (`UInt64` to
//! `UInt64`, which cannot be negative), half floats count as floats, large, view and dictionary strings as strings.

use std::sync::Arc;

use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};

use super::algebra::Algebra;
use super::function_id::Kernel;
use super::functions::{Distinct, Family, Function};
use crate::error::{Error, Result};
use crate::spec::udf::UserFunction;

/// What the plan knows of a call once its types are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The types that the arguments which are columns are read as.
    pub inputs: Vec<DataType>,
    /// The result's type.
    pub output: DataType,
    /// Whether the result may be NULL.
    pub nullable: bool,
    /// What its states allow.
    pub algebra: Algebra,
}

/// The signature of `function` over arguments of `types`, given whether its rows are to be read in an order of their
/// own, and whether equal arguments count once.
///
/// # Errors
/// The function does not take such arguments.
pub fn signature(function: &Function, types: &[DataType], modifiers: Modifiers) -> Result<Signature> {
    let mut signature = plain(function, types, modifiers)?;
    let counted = modifiers.distinct && function.distinct() == Distinct::Counts;
    if counted && signature.algebra != Algebra::Positional {
        signature.algebra = Algebra::Counted;
    }
    if modifiers.argument_order && matches!(function.family, Family::Value | Family::Ranking) {
        signature.algebra = if function.kernel == Kernel::DenseRank { Algebra::Counted } else { Algebra::Ordered };
        // Of the rows of a frame, none may be there: no value, and no bucket.
        signature.nullable |= function.family == Family::Value || function.kernel == Kernel::Ntile;
    }
    Ok(signature)
}

/// What a call says beside its arguments, as far as types and algebra follow from it.
#[expect(clippy::struct_excessive_bools, reason = "each is written in a call, or is not")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modifiers {
    /// Spark's ANSI mode.
    pub ansi: bool,
    /// Equal arguments take part once.
    pub distinct: bool,
    /// The frame's rows are read in an order of their own.
    pub argument_order: bool,
    /// RESPECT NULLS was written.
    pub respect_nulls: bool,
}

impl Default for Modifiers {
    fn default() -> Self {
        Self { ansi: true, distinct: false, argument_order: false, respect_nulls: false }
    }
}

/// The signature of a user's function: it reads its arguments as they are.
#[must_use]
pub fn of_user(function: &UserFunction, types: Vec<DataType>, modifiers: Modifiers) -> Signature {
    let algebra = match function {
        UserFunction::Aggregate(_) if modifiers.argument_order => Algebra::Foldable { ordered: true },
        UserFunction::Aggregate(aggregate) => match (aggregate.merges(), aggregate.retracts()) {
            (true, true) => Algebra::Retractable,
            (true, false) => Algebra::Mergeable,
            (false, true) => Algebra::Sliding,
            (false, false) => Algebra::Foldable { ordered: false },
        },
        UserFunction::Frames(_) | UserFunction::Partitions(_) => Algebra::Blocks,
    };
    Signature { inputs: types, output: function.output().clone(), nullable: true, algebra }
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn plain(function: &Function, types: &[DataType], modifiers: Modifiers) -> Result<Signature> {
    use Kernel as K;
    let first = types.first().map_or(&DataType::Null, values);
    let nullable = true;
    let unary =
        |input: DataType, output: DataType, algebra| Signature { inputs: vec![input], output, nullable, algebra };
    let counts = |inputs: &[DataType], algebra| Signature {
        inputs: inputs.to_vec(),
        output: DataType::Int64,
        nullable: false,
        algebra,
    };
    let doubles = |count: usize| -> Result<Vec<DataType>> {
        for data_type in types.iter().take(count) {
            if !(is_number(values(data_type)) || values(data_type).is_string()) {
                return Err(refused(function, data_type, "a number, or a string that holds one"));
            }
        }
        Ok(vec![DataType::Float64; count])
    };
    let double = |count: usize, algebra| {
        doubles(count).map(|inputs| Signature { inputs, output: DataType::Float64, nullable, algebra })
    };
    Ok(match function.kernel {
        K::Count => counts(types, Algebra::Retractable),
        K::CountIf => counts(&[boolean(function, first, modifiers.ansi)?], Algebra::Retractable),
        K::RegrCount => counts(&doubles(2)?, Algebra::Retractable),
        K::ApproxCountDistinct => counts(&types[..1], Algebra::Counted),
        K::Sum | K::TrySum => sum(function, first)?,
        K::Avg | K::TryAvg => average(function, first)?,
        K::RegrAvgx | K::RegrAvgy => {
            doubles(2)?;
            let which = usize::from(function.kernel == K::RegrAvgx);
            let Signature { inputs, output, algebra, .. } = average(function, values(&types[which]))?;
            let mut both = vec![types[0].clone(), types[1].clone()];
            both[which] = inputs[0].clone();
            Signature { inputs: both, output, nullable, algebra }
        }
        K::VarPop
        | K::VarSamp
        | K::StddevPop
        | K::StddevSamp
        | K::Skewness
        | K::Kurtosis
        | K::Product
        | K::GeometricMean
        | K::EwmMean => double(1, Algebra::Mergeable)?,
        K::EwmMeanBy => {
            let times = values(&types[1]);
            if matches!(times, DataType::Interval(_)) || !(is_number(times) || is_moment(times)) {
                return Err(refused(function, times, "times that are numbers or moments"));
            }
            let Signature { mut inputs, output, .. } = double(1, Algebra::Mergeable)?;
            inputs.push(times.clone());
            Signature { inputs, output, nullable, algebra: Algebra::Mergeable }
        }
        K::CovarPop
        | K::CovarSamp
        | K::Corr
        | K::RegrSlope
        | K::RegrIntercept
        | K::RegrR2
        | K::RegrSxx
        | K::RegrSyy
        | K::RegrSxy => double(2, Algebra::Mergeable)?,
        K::BitAnd | K::BitOr | K::BitXor => {
            if !first.is_integer() {
                return Err(refused(function, first, "a whole number"));
            }
            let algebra = if function.kernel == K::BitXor { Algebra::Retractable } else { Algebra::Mergeable };
            unary(first.clone(), first.clone(), algebra)
        }
        K::Min | K::Max => {
            ordered(function, first)?;
            // The column as it is: a dictionary stays a dictionary.
            unary(types[0].clone(), types[0].clone(), Algebra::Selective)
        }
        K::MinBy | K::MaxBy => {
            ordered(function, values(&types[1]))?;
            let (output, algebra) = match types.len() {
                2 => (types[0].clone(), Algebra::Selective),
                _ => (list_of(types[0].clone(), true), Algebra::Ordered),
            };
            Signature { inputs: types[..2].to_vec(), output, nullable, algebra }
        }
        K::BoolAnd | K::BoolOr => {
            let input = boolean(function, first, modifiers.ansi)?;
            unary(input.clone(), input, Algebra::Retractable)
        }
        K::Mode => {
            groupable(function, first)?;
            unary(types[0].clone(), types[0].clone(), Algebra::Counted)
        }
        K::Entropy => {
            groupable(function, first)?;
            Signature { nullable: false, ..unary(types[0].clone(), DataType::Float64, Algebra::Counted) }
        }
        K::Median | K::Percentile | K::PercentileDisc | K::PercentileApprox | K::Mad => {
            quantile(function, types, first)?
        }
        K::CollectList => {
            let output = list_of(types[0].clone(), modifiers.respect_nulls || encoded(&types[0]));
            Signature { inputs: types[..1].to_vec(), output, nullable: false, algebra: Algebra::Positional }
        }
        K::CollectSet => {
            groupable(function, first)?;
            let output = list_of(types[0].clone(), encoded(&types[0]));
            Signature { inputs: types[..1].to_vec(), output, nullable: false, algebra: Algebra::Counted }
        }
        K::Listagg => {
            let output = match first {
                DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
                    DataType::Binary
                }
                nested if nested.is_nested() => return Err(refused(function, nested, "a value that has a text")),
                DataType::LargeUtf8 => DataType::LargeUtf8,
                _ => DataType::Utf8,
            };
            unary(types[0].clone(), output, Algebra::Positional)
        }
        K::HistogramNumeric => {
            let first = if first.is_string() || first.is_null() { &DataType::Float64 } else { first };
            if !(is_number(first) || is_moment(first)) {
                return Err(refused(function, first, "a number or a moment"));
            }
            let fields = vec![Field::new("x", first.clone(), true), Field::new("y", DataType::Float64, true)];
            // Bins that are merged are not those of their values one after another.
            let algebra = Algebra::Foldable { ordered: false };
            unary(first.clone(), list_of(DataType::Struct(fields.into()), true), algebra)
        }
        K::First | K::Last | K::Nth | K::Lag | K::Lead => {
            unary(types[0].clone(), types[0].clone(), Algebra::Positional)
        }
        K::Fill => {
            let first = if first.is_null() { &DataType::Float64 } else { first };
            if matches!(first, DataType::Decimal256(..)) || !(is_number(first) || is_moment(first)) {
                return Err(refused(function, first, "a number or a moment"));
            }
            unary(first.clone(), first.clone(), Algebra::Positional)
        }
        K::CounterDiff => {
            let first = if first.is_null() { &DataType::Float64 } else { first };
            if !is_number(first) {
                return Err(refused(function, first, "a number"));
            }
            let mut inputs = vec![first.clone()];
            if let Some(start) = types.get(1).map(values) {
                if !matches!(start, DataType::Timestamp(..)) {
                    return Err(Error::spec(format!("the start of counter_diff is a timestamp, not {start}; cast it")));
                }
                inputs.push(start.clone());
            }
            Signature { inputs, output: first.clone(), nullable, algebra: Algebra::Positional }
        }
        K::RowNumber | K::Rank | K::DenseRank | K::Ntile => {
            Signature { inputs: vec![], output: DataType::Int32, nullable: false, algebra: Algebra::Positional }
        }
        K::UserAggregate | K::UserFrames | K::UserPartitions => {
            return Err(Error::internal("a user's function has its types from the user"));
        }
        K::PercentRank | K::CumeDist => {
            Signature { inputs: vec![], output: DataType::Float64, nullable: false, algebra: Algebra::Positional }
        }
    })
}

fn sum(function: &Function, first: &DataType) -> Result<Signature> {
    let input = summable(function, first)?;
    let (output, algebra) = match &input {
        DataType::Int32 | DataType::Int64 => (DataType::Int64, Algebra::Retractable),
        DataType::Float64 => (DataType::Float64, Algebra::Mergeable),
        DataType::Decimal128(p, s) => (DataType::Decimal128((p + 10).min(38), *s), Algebra::Retractable),
        DataType::Decimal256(p, s) => (DataType::Decimal256((p + 10).min(76), *s), Algebra::Retractable),
        other => (other.clone(), Algebra::Retractable),
    };
    Ok(Signature { inputs: vec![input], output, nullable: true, algebra })
}

fn average(function: &Function, first: &DataType) -> Result<Signature> {
    let input = summable(function, first)?;
    let (output, algebra) = match &input {
        DataType::Float64 => (DataType::Float64, Algebra::Mergeable),
        DataType::Decimal128(p, s) => (DataType::Decimal128((p + 4).min(38), (s + 4).min(38)), Algebra::Retractable),
        DataType::Decimal256(p, s) => (DataType::Decimal256((p + 4).min(76), (s + 4).min(76)), Algebra::Retractable),
        DataType::Duration(_) => (DataType::Duration(TimeUnit::Microsecond), Algebra::Retractable),
        DataType::Interval(unit) => (DataType::Interval(*unit), Algebra::Retractable),
        _ => (DataType::Float64, Algebra::Retractable),
    };
    Ok(Signature { inputs: vec![input], output, nullable: true, algebra })
}

/// Quantiles: interpolated ones are doubles or intervals, the others have the values' type where Spark has it so.
fn quantile(function: &Function, types: &[DataType], first: &DataType) -> Result<Signature> {
    let number = is_number(first) || first.is_string();
    let interval = matches!(first, DataType::Duration(_) | DataType::Interval(IntervalUnit::YearMonth));
    let own = matches!(function.kernel, Kernel::PercentileApprox)
        || (function.kernel == Kernel::PercentileDisc && !number && !interval);
    let input = match first {
        string if string.is_string() => DataType::Float64,
        DataType::Duration(_) if !own => DataType::Duration(TimeUnit::Microsecond),
        _ if interval || (own && (is_number(first) || first.is_temporal())) => first.clone(),
        _ if number => DataType::Float64,
        other => return Err(refused(function, other, "a number or an interval")),
    };
    let output = match types.get(1) {
        Some(DataType::List(_)) => list_of(input.clone(), false),
        _ => input.clone(),
    };
    let mut inputs = vec![input];
    inputs.extend(types.get(2).filter(|_| !function.constant(2)).cloned());
    Ok(Signature { inputs, output, nullable: true, algebra: Algebra::Quantile })
}

/// `array<element>`, its child named as Spark names it.
fn list_of(element: DataType, nullable: bool) -> DataType {
    DataType::List(Arc::new(Field::new("element", element, nullable)))
}

/// Whether values are held apart from the rows, and may be null there though no row is.
fn encoded(data_type: &DataType) -> bool {
    values(data_type) != data_type
}

/// Whether the type is a number or an untyped NULL.
pub(crate) fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || data_type.is_null()
}

/// Whether the type is a moment or a distance between two, in one unit.
pub(crate) fn is_moment(data_type: &DataType) -> bool {
    let several = matches!(data_type, DataType::Interval(unit) if *unit != IntervalUnit::YearMonth);
    data_type.is_temporal() && !several
}

/// The type a condition is read as.
fn boolean(function: &Function, data_type: &DataType, ansi: bool) -> Result<DataType> {
    match data_type {
        DataType::Boolean | DataType::Null => Ok(DataType::Boolean),
        string if string.is_string() && ansi => Ok(DataType::Boolean),
        other => Err(refused(function, other, "a boolean")),
    }
}

fn ordered(function: &Function, data_type: &DataType) -> Result<()> {
    if orderable(data_type) { Ok(()) } else { Err(refused(function, data_type, "a type that has an order")) }
}

/// Values are told apart by their order.
fn groupable(function: &Function, data_type: &DataType) -> Result<()> {
    if orderable(data_type) { Ok(()) } else { Err(refused(function, data_type, "a type whose values can be compared")) }
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
