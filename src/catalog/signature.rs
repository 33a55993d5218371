//! Result types by Spark's rules.
//!
//! Types that only Arrow has follow the nearest Spark type: unsigned integers sum to `Int64` (`UInt64` to `UInt64`,
//! which cannot be negative), half floats are treated as floats; large, view and dictionary strings as strings.

use std::sync::Arc;

use arrow_schema::{DECIMAL256_MAX_PRECISION, DataType, Field, IntervalUnit, TimeUnit};

use super::algebra::Algebra;
use crate::error::{Error, Result};
use crate::spec::udf::UserFunction;
use crate::util::data_types::{children, decoded_type};

/// The types of a call, and the algebra of its states.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The types as which the column arguments are read.
    pub inputs: Vec<DataType>,
    /// The result's type.
    pub output: DataType,
    /// Whether the result may be NULL.
    pub nullable: bool,
    /// The operations that its states support.
    pub algebra: Algebra,
}

/// The modifiers of a call that affect its types or algebra.
#[expect(clippy::struct_excessive_bools, reason = "each is written in a call, or is not")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modifiers {
    /// Spark's ANSI mode.
    pub ansi: bool,
    /// Duplicate arguments are aggregated once.
    pub distinct: bool,
    /// The frame's rows are read in an order other than the window's.
    pub argument_order: bool,
    /// RESPECT NULLS was written.
    pub respect_nulls: bool,
    /// Lists of a frame's values are returned as list views.
    pub list_views: bool,
    /// Constants ask for a rank that is a mean or a fraction.
    pub fractional: bool,
}

impl Default for Modifiers {
    fn default() -> Self {
        Self {
            ansi: true,
            distinct: false,
            argument_order: false,
            respect_nulls: false,
            list_views: false,
            fractional: false,
        }
    }
}

/// The parts of a call from which its types follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallTypes<'a> {
    /// The function's name.
    pub(super) name: &'static str,
    /// The index of the frequency argument, if the function takes one.
    pub(super) frequency: Option<usize>,
    /// The argument types; their number is already checked.
    pub(super) types: &'a [DataType],
    /// The modifiers.
    pub(super) modifiers: Modifiers,
}

/// A typing rule; each row of the catalog has one of the rules below.
pub(super) type Rule = fn(&CallTypes) -> Result<Signature>;

/// The signature of a user-defined function, which reads its arguments unconverted.
#[must_use]
pub(crate) fn of_user(function: &UserFunction, types: Vec<DataType>, modifiers: Modifiers) -> Signature {
    let algebra = match function {
        UserFunction::Aggregate(_) if modifiers.argument_order => Algebra::UpdateOnly { ordered: true },
        UserFunction::Aggregate(aggregate) => match (aggregate.merges(), aggregate.retracts()) {
            (true, true) => Algebra::Retractable,
            (true, false) => Algebra::Mergeable,
            (false, true) => Algebra::Sliding,
            (false, false) => Algebra::UpdateOnly { ordered: false },
        },
        UserFunction::Frames(_) | UserFunction::Partitions(_) => Algebra::Vectorized,
    };
    Signature { inputs: types, output: function.output().clone(), nullable: true, algebra }
}

impl CallTypes<'_> {
    /// The type of the argument at this index, dictionaries and runs decoded.
    fn values(&self, index: usize) -> &DataType {
        self.types.get(index).map_or(&DataType::Null, decoded_type)
    }

    /// The type of the first argument, dictionaries and runs included.
    fn first(&self) -> DataType {
        self.types.first().cloned().unwrap_or(DataType::Null)
    }

    /// `count` arguments read as doubles.
    fn doubles(&self, count: usize) -> Result<Vec<DataType>> {
        for index in 0..count.min(self.types.len()) {
            let data_type = self.values(index);
            if !(is_number(data_type) || data_type.is_string()) {
                return Err(refused(self.name, &self.types[index], "a number, or a string that holds one"));
            }
        }
        Ok(vec![DataType::Float64; count])
    }

    /// The first argument read as a condition.
    fn boolean(&self) -> Result<DataType> {
        match self.values(0) {
            DataType::Boolean | DataType::Null => Ok(DataType::Boolean),
            string if string.is_string() && self.modifiers.ansi => Ok(DataType::Boolean),
            other => Err(refused(self.name, other, "a boolean")),
        }
    }

    fn ordered(&self, index: usize) -> Result<()> {
        let data_type = self.values(index);
        if orderable(data_type) { Ok(()) } else { Err(refused(self.name, data_type, "a type that has an order")) }
    }

    /// An error unless the values can be ordered, by which they are compared.
    fn groupable(&self) -> Result<()> {
        let data_type = self.values(0);
        if orderable(data_type) {
            Ok(())
        } else {
            Err(refused(self.name, data_type, "a type whose values can be compared"))
        }
    }

    /// The list type for values, or a list view if requested.
    fn list(&self, element: DataType, nullable: bool) -> DataType {
        match list_of(element, nullable) {
            DataType::List(field) if self.modifiers.list_views => DataType::ListView(field),
            list => list,
        }
    }
}

/// A signature with one argument.
fn unary(input: DataType, output: DataType, algebra: Algebra) -> Signature {
    Signature { inputs: vec![input], output, nullable: true, algebra }
}

fn counts_of(inputs: Vec<DataType>, algebra: Algebra) -> Signature {
    Signature { inputs, output: DataType::Int64, nullable: false, algebra }
}

/// A count of rows, for arguments of any type.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn counts(given: &CallTypes) -> Result<Signature> {
    Ok(counts_of(given.types.to_vec(), Algebra::Retractable))
}

/// A count of rows where a condition is true.
pub(super) fn counts_true(given: &CallTypes) -> Result<Signature> {
    Ok(counts_of(vec![given.boolean()?], Algebra::Retractable))
}

/// A count of numeric pairs.
pub(super) fn counts_pairs(given: &CallTypes) -> Result<Signature> {
    Ok(counts_of(given.doubles(2)?, Algebra::Retractable))
}

/// A count of distinct values.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn counts_different(given: &CallTypes) -> Result<Signature> {
    Ok(counts_of(vec![given.first()], Algebra::Distinct))
}

/// A sum: the argument's kind of type, with more digits.
pub(super) fn sum(given: &CallTypes) -> Result<Signature> {
    sum_of(given.name, given.values(0))
}

/// A mean: a double, or the argument's kind of type.
pub(super) fn average(given: &CallTypes) -> Result<Signature> {
    average_of(given.name, given.values(0))
}

/// The mean of the first argument of a pair.
pub(super) fn average_first(given: &CallTypes) -> Result<Signature> {
    average_of_pair(given, 0)
}

/// The mean of the second argument of a pair.
pub(super) fn average_second(given: &CallTypes) -> Result<Signature> {
    average_of_pair(given, 1)
}

fn average_of_pair(given: &CallTypes, which: usize) -> Result<Signature> {
    given.doubles(2)?;
    let Signature { inputs, output, algebra, .. } = average_of(given.name, given.values(which))?;
    let mut both = given.types.to_vec();
    both[which] = inputs[0].clone();
    Ok(Signature { inputs: both, output, nullable: true, algebra })
}

/// A double computed from doubles.
pub(super) fn double(given: &CallTypes) -> Result<Signature> {
    let inputs = given.doubles(1)?;
    Ok(Signature { inputs, output: DataType::Float64, nullable: true, algebra: Algebra::Mergeable })
}

/// A double computed from pairs of doubles.
pub(super) fn double_of_pairs(given: &CallTypes) -> Result<Signature> {
    let inputs = given.doubles(2)?;
    Ok(Signature { inputs, output: DataType::Float64, nullable: true, algebra: Algebra::Mergeable })
}

/// A double computed from doubles and their times.
pub(super) fn double_by_times(given: &CallTypes) -> Result<Signature> {
    let times = given.values(1);
    if matches!(times, DataType::Interval(_)) || !(is_number(times) || is_moment(times)) {
        return Err(refused(given.name, times, "times that are numbers or moments"));
    }
    let mut signature = double(given)?;
    signature.inputs.push(times.clone());
    Ok(signature)
}

/// A bitwise aggregate of integers without an inverse.
pub(super) fn bits(given: &CallTypes) -> Result<Signature> {
    bits_by(given, Algebra::Mergeable)
}

/// A bitwise aggregate of integers with an inverse (XOR).
pub(super) fn bits_with_inverse(given: &CallTypes) -> Result<Signature> {
    bits_by(given, Algebra::Retractable)
}

fn bits_by(given: &CallTypes, algebra: Algebra) -> Result<Signature> {
    let first = given.values(0);
    if !first.is_integer() {
        return Err(refused(given.name, first, "a whole number"));
    }
    Ok(unary(first.clone(), first.clone(), algebra))
}

/// One of the orderable values, in the column's own type: a dictionary stays a dictionary.
pub(super) fn extremum(given: &CallTypes) -> Result<Signature> {
    given.ordered(0)?;
    Ok(unary(given.first(), given.first(), Algebra::Selective))
}

/// A value of the first argument selected by the second, or a list of k values.
pub(super) fn chosen(given: &CallTypes) -> Result<Signature> {
    given.ordered(1)?;
    let (output, algebra) = match given.types.len() {
        2 => (given.first(), Algebra::Selective),
        _ => (list_of(given.first(), true), Algebra::Ordered),
    };
    Ok(Signature { inputs: given.types[..2].to_vec(), output, nullable: true, algebra })
}

/// A boolean.
pub(super) fn logic(given: &CallTypes) -> Result<Signature> {
    let input = given.boolean()?;
    Ok(unary(input.clone(), input, Algebra::Retractable))
}

/// One of the comparable values.
pub(super) fn frequent(given: &CallTypes) -> Result<Signature> {
    given.groupable()?;
    Ok(unary(given.first(), given.first(), Algebra::Multiset))
}

/// A double computed from the frequencies of values.
pub(super) fn double_of_frequencies(given: &CallTypes) -> Result<Signature> {
    given.groupable()?;
    Ok(Signature { nullable: false, ..unary(given.first(), DataType::Float64, Algebra::Multiset) })
}

/// An interpolated value: a double or an interval.
pub(super) fn interpolated(given: &CallTypes) -> Result<Signature> {
    quantile(given, false)
}

/// A discrete quantile; numbers are read as doubles.
pub(super) fn discrete(given: &CallTypes) -> Result<Signature> {
    let first = given.values(0);
    quantile(given, !(is_number(first) || first.is_string() || is_interval(first)))
}

/// A discrete quantile of the argument's type.
pub(super) fn discrete_of_own_type(given: &CallTypes) -> Result<Signature> {
    quantile(given, true)
}

/// A list of the values.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn list(given: &CallTypes) -> Result<Signature> {
    let first = given.first();
    let output = given.list(first.clone(), given.modifiers.respect_nulls || encoded(&first));
    Ok(Signature { nullable: false, ..unary(first, output, gathered(given)) })
}

/// A list of the distinct values.
pub(super) fn set(given: &CallTypes) -> Result<Signature> {
    given.groupable()?;
    let first = given.first();
    let output = given.list(first.clone(), encoded(&first));
    Ok(Signature { nullable: false, ..unary(first, output, Algebra::Multiset) })
}

/// A joined string, or binary.
pub(super) fn text(given: &CallTypes) -> Result<Signature> {
    let output = match given.values(0) {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            DataType::Binary
        }
        nested if nested.is_nested() => return Err(refused(given.name, nested, "a value that has a text")),
        DataType::LargeUtf8 => DataType::LargeUtf8,
        _ => DataType::Utf8,
    };
    Ok(unary(given.first(), output, gathered(given)))
}

/// The algebra of lists: contiguous row ranges, or values in an argument order.
fn gathered(given: &CallTypes) -> Algebra {
    if given.modifiers.argument_order { Algebra::Multiset } else { Algebra::Positional }
}

/// A list of values and heights. Merging bins gives other bins than adding the values one by one, so states do not
/// merge.
pub(super) fn bins(given: &CallTypes) -> Result<Signature> {
    let first = match given.values(0) {
        none if none.is_string() || none.is_null() => &DataType::Float64,
        first => first,
    };
    if !(is_number(first) || is_moment(first)) {
        return Err(refused(given.name, first, "a number or a moment"));
    }
    let fields = vec![Field::new("x", first.clone(), true), Field::new("y", DataType::Float64, true)];
    let output = list_of(DataType::Struct(fields.into()), true);
    Ok(unary(first.clone(), output, Algebra::UpdateOnly { ordered: false }))
}

/// The value of a row of the frame; with an argument order, the row is searched for.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn value(given: &CallTypes) -> Result<Signature> {
    Ok(unary(given.first(), given.first(), by_order(given)))
}

/// The value of a row of the partition.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn offset(given: &CallTypes) -> Result<Signature> {
    Ok(unary(given.first(), given.first(), Algebra::Positional))
}

/// The value, or an interpolation.
pub(super) fn filled(given: &CallTypes) -> Result<Signature> {
    let first = given.values(0);
    let first = if first.is_null() { &DataType::Float64 } else { first };
    if matches!(first, DataType::Decimal256(..)) || !(is_number(first) || is_moment(first)) {
        return Err(refused(given.name, first, "a number or a moment"));
    }
    Ok(unary(first.clone(), first.clone(), Algebra::Positional))
}

/// The difference of two values.
pub(super) fn counter(given: &CallTypes) -> Result<Signature> {
    let first = given.values(0);
    let first = if first.is_null() { &DataType::Float64 } else { first };
    if !is_number(first) {
        return Err(refused(given.name, first, "a number"));
    }
    let mut signature = unary(first.clone(), first.clone(), Algebra::Positional);
    if let Some(start) = given.types.get(1).map(decoded_type) {
        if !matches!(start, DataType::Timestamp(..)) {
            return Err(Error::spec(format!("the start of {} is a timestamp, not {start}; cast it", given.name)));
        }
        signature.inputs.push(start.clone());
    }
    Ok(signature)
}

/// The number of a group; sums are of numbers, in 76 digits or as doubles.
pub(super) fn group(given: &CallTypes) -> Result<Signature> {
    let limits = given.types.iter().enumerate().filter(|(index, _)| *index != 3);
    if limits.clone().all(|(_, limit)| limit.is_null()) {
        return Err(Error::spec(format!(
            "{} has no limit; give a gap, a span, a number of rows, or a sum with its column",
            given.name
        )));
    }
    let inputs = match given.types.get(3) {
        Some(_) => vec![exact_or_double(given.name, given.values(3))?],
        None => vec![],
    };
    Ok(Signature { inputs, output: DataType::Int64, nullable: false, algebra: Algebra::UpdateOnly { ordered: false } })
}

/// A sum between bounds.
pub(super) fn bounded(given: &CallTypes) -> Result<Signature> {
    let input = exact_or_double(given.name, given.values(0))?;
    Ok(unary(input, sum_of(given.name, given.values(0))?.output, Algebra::Mergeable))
}

/// The widest type of a number's kind: a decimal of 76 digits, or a double.
pub(crate) fn exact_or_double(name: &str, data_type: &DataType) -> Result<DataType> {
    Ok(match summable(name, data_type)? {
        DataType::Float64 => DataType::Float64,
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => {
            DataType::Decimal256(DECIMAL256_MAX_PRECISION, scale)
        }
        integer if integer.is_integer() => DataType::Decimal256(DECIMAL256_MAX_PRECISION, 0),
        _ => return Err(refused(name, data_type, "a number")),
    })
}

/// A rank or a row number, as an integer.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn rank_type(given: &CallTypes) -> Result<Signature> {
    Ok(placed(DataType::Int32, by_order(given)))
}

/// A rank by a method, as an integer or a double; NULL where the key is.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn rank_with(given: &CallTypes) -> Result<Signature> {
    let output = if given.modifiers.fractional { DataType::Float64 } else { DataType::Int32 };
    Ok(Signature { nullable: true, ..placed(output, by_order(given)) })
}

/// A dense rank. Within a frame it cannot be computed from the number of smaller rows, so it counts distinct values.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn dense_rank_type(given: &CallTypes) -> Result<Signature> {
    let counted = if given.modifiers.argument_order { Algebra::Multiset } else { Algebra::Positional };
    Ok(placed(DataType::Int32, counted))
}

/// A fraction of the rows.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn share(given: &CallTypes) -> Result<Signature> {
    Ok(placed(DataType::Float64, by_order(given)))
}

/// A bucket number, which is NULL for a frame without rows.
#[expect(clippy::unnecessary_wraps, reason = "a rule of the catalog")]
pub(super) fn bucket(given: &CallTypes) -> Result<Signature> {
    let nullable = given.modifiers.argument_order;
    Ok(Signature { nullable, ..placed(DataType::Int32, by_order(given)) })
}

fn placed(output: DataType, algebra: Algebra) -> Signature {
    Signature { inputs: vec![], output, nullable: false, algebra }
}

/// The algebra of ranks: row numbers, or ranks among the frame's rows by an argument order.
fn by_order(given: &CallTypes) -> Algebra {
    if given.modifiers.argument_order { Algebra::Ordered } else { Algebra::Positional }
}

/// The rule of user-defined functions: their types come from the user, see [`of_user`].
pub(super) fn user(given: &CallTypes) -> Result<Signature> {
    Err(Error::internal(format!("a {} has its types from the user", given.name)))
}

fn sum_of(name: &str, first: &DataType) -> Result<Signature> {
    let input = summable(name, first)?;
    let (output, algebra) = match &input {
        DataType::Int32 | DataType::Int64 => (DataType::Int64, Algebra::Retractable),
        DataType::Float64 => (DataType::Float64, Algebra::Mergeable),
        DataType::Decimal128(p, s) => (DataType::Decimal128((p + 10).min(38), *s), Algebra::Retractable),
        DataType::Decimal256(p, s) => (DataType::Decimal256((p + 10).min(76), *s), Algebra::Retractable),
        other => (other.clone(), Algebra::Retractable),
    };
    Ok(Signature { inputs: vec![input], output, nullable: true, algebra })
}

fn average_of(name: &str, first: &DataType) -> Result<Signature> {
    let input = summable(name, first)?;
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

/// Quantiles; with `own` in the values' type, where Spark returns that.
fn quantile(given: &CallTypes, own: bool) -> Result<Signature> {
    let first = given.values(0);
    let input = match first {
        string if string.is_string() => DataType::Float64,
        DataType::Duration(_) if !own => DataType::Duration(TimeUnit::Microsecond),
        _ if is_interval(first) || (own && (is_number(first) || first.is_temporal())) => first.clone(),
        _ if is_number(first) => DataType::Float64,
        other => return Err(refused(given.name, other, "a number or an interval")),
    };
    let output = match given.types.get(1) {
        Some(DataType::List(_)) => list_of(input.clone(), false),
        _ => input.clone(),
    };
    let mut inputs = vec![input];
    inputs.extend(given.frequency.and_then(|index| given.types.get(index)).cloned());
    Ok(Signature { inputs, output, nullable: true, algebra: Algebra::Quantile })
}

/// Whether the type is an interval or a duration.
fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Duration(_) | DataType::Interval(IntervalUnit::YearMonth))
}

/// `array<element>`, its child field named as in Spark.
fn list_of(element: DataType, nullable: bool) -> DataType {
    DataType::List(Arc::new(Field::new("element", element, nullable)))
}

/// Whether values are stored apart from the rows and may be null where no row is.
fn encoded(data_type: &DataType) -> bool {
    decoded_type(data_type) != data_type
}

/// Whether the type is a number or an untyped NULL.
pub(crate) fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || data_type.is_null()
}

/// Whether the type is temporal with values in one unit: a date, a time, a timestamp, a duration, a year-month
/// interval.
pub(crate) fn is_moment(data_type: &DataType) -> bool {
    let several = matches!(data_type, DataType::Interval(unit) if *unit != IntervalUnit::YearMonth);
    data_type.is_temporal() && !several
}

/// Whether values of the type can be compared, so that they can be keys and have a minimum.
#[must_use]
pub(crate) fn orderable(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) | DataType::Union(..) | DataType::Interval(IntervalUnit::MonthDayNano) => false,
        _ => children(data_type).into_iter().all(orderable),
    }
}

/// The type as which a sum or a mean reads its argument.
fn summable(name: &str, data_type: &DataType) -> Result<DataType> {
    use DataType as T;
    Ok(match data_type {
        T::Int8 | T::Int16 | T::Int32 | T::UInt8 | T::UInt16 => T::Int32,
        T::Int64 | T::UInt32 => T::Int64,
        T::UInt64 => T::UInt64,
        // Spark reads a string as a double, a timestamp as its seconds, and an untyped NULL as a double.
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
        other => return Err(refused(name, other, "a number, a duration, or a string that holds a number")),
    })
}

fn refused(name: &str, data_type: &DataType, wants: &str) -> Error {
    let remedy = match data_type {
        DataType::Boolean => "; cast it to an integer to count what is true",
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => "; cast it to a number, or subtract dates",
        DataType::Map(..) => "; use map_entries, or a key of it",
        _ => "; cast it",
    };
    Error::spec(format!("{name} takes {wants}, not {data_type}{remedy}"))
}
