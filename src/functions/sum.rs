//! sum: exact for integers, decimals, durations and intervals, compensated for floats.
//!
//! | argument | state | result |
//! |---|---|---|
//! | int32, int64, uint64 | 128-bit sum | bigint; uint64 for uint64 |
//! | duration, year-month interval | 128-bit sum | as it is |
//! | decimal | 320-bit sum | ten digits more |
//! | float64 | sum and its rounding errors | double |
//!
//! Accumulators are wider than any sum of a section's rows, so only a frame's own result can overflow. The averages
//! of `average.rs` are read off the same states.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder};
use arrow_array::types::{ArrowPrimitiveType, Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{ArrowNativeType, ScalarBuffer, i256};
use arrow_schema::DataType;

use super::decimal::{DecimalBuilder, DecimalColumn};
use super::exact::{Compensated, Wide};
use super::native::{Saved, each_value, labelled, native, saved, saved_value};
use super::readout::{Accumulated, Accumulator, Readout, RetractableAccumulator};
use crate::error::{Error, Result};
use crate::inclusion::Inclusion;

/// What to do where a result does not fit its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOverflow {
    /// An error: ANSI mode.
    Error,
    /// NULL: the `try_` functions, and decimals outside ANSI mode.
    Null,
    /// Two's complement: integers outside ANSI mode.
    Wrap,
}

/// A sum and the number of its values, by which an empty frame is told from one that sums to zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Total<S> {
    /// The sum.
    pub sum: S,
    /// How many values it has.
    pub count: u64,
}

/// Integers that widen to 128 bits.
pub trait Whole: ArrowNativeType {
    /// The same number.
    fn wide(self) -> i128;
}

macro_rules! whole {
    ($($native:ty),*) => {$(
        impl Whole for $native {
            #[inline]
            fn wide(self) -> i128 {
                i128::from(self)
            }
        }
    )*};
}
whole!(i32, i64, u64);

/// Sums integers in 128 bits.
#[derive(Debug, Clone)]
pub struct Integers<N: ArrowNativeType> {
    values: ScalarBuffer<N>,
    inclusion: Inclusion,
}

impl<N: Whole> Accumulator for Integers<N> {
    type State = Total<i128>;

    #[inline]
    fn init(&self) -> Self::State {
        Total { sum: 0, count: 0 }
    }

    #[inline]
    fn update(&self, state: &mut Self::State, rows: Range<usize>) {
        each_value(&self.values, &self.inclusion, rows, |value| {
            state.sum += value.wide();
            state.count += 1;
        });
    }

    #[inline]
    fn merge(&self, left: &mut Self::State, right: &Self::State) {
        left.sum += right.sum;
        left.count += right.count;
    }

    fn save(&self, state: &Self::State) -> Result<RecordBatch> {
        saved([("sum", state.sum.write()?), ("count", state.count.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Self::State> {
        Ok(Total { sum: saved_value(saved, "sum")?, count: saved_value(saved, "count")? })
    }
}

impl<N: Whole> RetractableAccumulator for Integers<N> {
    #[inline]
    fn retract(&self, state: &mut Self::State, gone: &Self::State) {
        state.sum -= gone.sum;
        state.count -= gone.count;
    }
}

/// Decimals' unscaled values that widen to 256 bits.
pub trait Unscaled: ArrowNativeType {
    /// The same number.
    fn wide(self) -> i256;
}

impl Unscaled for i128 {
    #[inline]
    fn wide(self) -> i256 {
        i256::from_i128(self)
    }
}

impl Unscaled for i256 {
    #[inline]
    fn wide(self) -> i256 {
        self
    }
}

/// Sums decimals in 320 bits.
#[derive(Debug, Clone)]
pub struct Decimals<N: ArrowNativeType> {
    values: ScalarBuffer<N>,
    inclusion: Inclusion,
}

impl<N: Unscaled> Accumulator for Decimals<N> {
    type State = Total<Wide>;

    #[inline]
    fn init(&self) -> Self::State {
        Total { sum: Wide::ZERO, count: 0 }
    }

    #[inline]
    fn update(&self, state: &mut Self::State, rows: Range<usize>) {
        each_value(&self.values, &self.inclusion, rows, |value| {
            state.sum.add(value.wide());
            state.count += 1;
        });
    }

    #[inline]
    fn merge(&self, left: &mut Self::State, right: &Self::State) {
        left.sum.merge(&right.sum);
        left.count += right.count;
    }

    fn save(&self, state: &Self::State) -> Result<RecordBatch> {
        let Wide { low, wraps } = state.sum;
        saved([("sum", low.write()?), ("wraps", wraps.write()?), ("count", state.count.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Self::State> {
        let sum = Wide { low: saved_value(saved, "sum")?, wraps: saved_value(saved, "wraps")? };
        Ok(Total { sum, count: saved_value(saved, "count")? })
    }
}

impl<N: Unscaled> RetractableAccumulator for Decimals<N> {
    #[inline]
    fn retract(&self, state: &mut Self::State, gone: &Self::State) {
        state.sum.retract(&gone.sum);
        state.count -= gone.count;
    }
}

/// Sums floats in twice their precision.
#[derive(Debug, Clone)]
pub struct Floats {
    values: ScalarBuffer<f64>,
    inclusion: Inclusion,
}

impl Accumulator for Floats {
    type State = Total<Compensated>;

    #[inline]
    fn init(&self) -> Self::State {
        Total { sum: Compensated::ZERO, count: 0 }
    }

    #[inline]
    fn update(&self, state: &mut Self::State, rows: Range<usize>) {
        each_value(&self.values, &self.inclusion, rows, |value| {
            state.sum.add(value);
            state.count += 1;
        });
    }

    #[inline]
    fn merge(&self, left: &mut Self::State, right: &Self::State) {
        left.sum.merge(&right.sum);
        left.count += right.count;
    }

    fn save(&self, state: &Self::State) -> Result<RecordBatch> {
        let Compensated { sum, lost } = state.sum;
        saved([("sum", sum.write()?), ("lost", lost.write()?), ("count", state.count.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Self::State> {
        let sum = Compensated { sum: saved_value(saved, "sum")?, lost: saved_value(saved, "lost")? };
        Ok(Total { sum, count: saved_value(saved, "count")? })
    }
}

/// The accumulator of a column of integers, durations or intervals.
///
/// # Errors
/// The column holds something else.
pub fn integers<T: ArrowPrimitiveType<Native: Whole>>(
    values: &dyn Array,
    inclusion: Inclusion,
) -> Result<Integers<T::Native>> {
    Ok(Integers { values: native::<T>(values)?.values().clone(), inclusion })
}

/// The accumulator of a column of decimals.
///
/// # Errors
/// The column holds something else.
pub fn decimals<T: ArrowPrimitiveType<Native: Unscaled>>(
    values: &dyn Array,
    inclusion: Inclusion,
) -> Result<Decimals<T::Native>> {
    Ok(Decimals { values: native::<T>(values)?.values().clone(), inclusion })
}

/// The accumulator of a column of doubles.
///
/// # Errors
/// The column holds something else.
pub fn floats(values: &dyn Array, inclusion: Inclusion) -> Result<Floats> {
    Ok(Floats { values: native::<Float64Type>(values)?.values().clone(), inclusion })
}

/// Reads a sum of integers as `T`, labelled as `output`.
#[derive(Debug, Clone)]
pub struct IntegerSum {
    output: DataType,
    on_overflow: OnOverflow,
}

impl IntegerSum {
    /// The sum as `output`: `Int64`, `UInt64`, a duration, or a year-month interval.
    pub fn over<A: Accumulator<State = Total<i128>>>(
        accumulator: A,
        output: DataType,
        on_overflow: OnOverflow,
    ) -> Accumulated<A, Self> {
        Accumulated { accumulator, readout: Self { output, on_overflow } }
    }

    /// The sum in the output's 64 bits (32 for months), if it fits.
    fn fit(&self, sum: i128) -> Option<i64> {
        match self.output {
            DataType::UInt64 => u64::try_from(sum).ok().map(u64::cast_signed),
            DataType::Interval(_) => i32::try_from(sum).ok().map(i64::from),
            _ => i64::try_from(sum).ok(),
        }
    }
}

impl Readout<Total<i128>> for IntegerSum {
    type Builder = Int64Builder;

    fn builder(&self, capacity: usize) -> Self::Builder {
        Int64Builder::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Total<i128>, out: &mut Self::Builder) -> Result<()> {
        let Total { sum, count } = *state;
        out.append_option(match (count, self.fit(sum), self.on_overflow) {
            (0, ..) | (_, None, OnOverflow::Null) => None,
            (_, Some(sum), _) => Some(sum),
            (_, None, OnOverflow::Wrap) => Some(sum as i64),
            (_, None, OnOverflow::Error) => {
                let remedy = match self.output {
                    DataType::Int64 | DataType::UInt64 => {
                        "use try_sum for NULL, cast the column to DECIMAL, or set ansi=False"
                    }
                    _ => "use try_sum for NULL, or sum a number instead",
                };
                return Err(Error::overflow(format!(
                    "the sum {sum} of a frame does not fit {}; {remedy}",
                    self.output
                )));
            }
        });
        Ok(())
    }

    fn finish(&self, mut out: Self::Builder) -> Result<ArrayRef> {
        let sums = out.finish();
        match &self.output {
            // The bits of a u64 were kept in an i64; a cast would take them for a negative number.
            DataType::UInt64 => Ok(Arc::new(sums.unary::<_, UInt64Type>(i64::cast_unsigned))),
            DataType::Interval(_) => labelled(&arrow_cast::cast(&sums, &DataType::Int32)?, &self.output),
            output => labelled(&sums, output),
        }
    }
}

/// Reads a sum of floats.
#[derive(Debug, Clone, Copy)]
pub struct FloatSum;

impl FloatSum {
    /// The sum as a double.
    pub fn over<A: Accumulator<State = Total<Compensated>>>(accumulator: A) -> Accumulated<A, Self> {
        Accumulated { accumulator, readout: Self }
    }
}

impl Readout<Total<Compensated>> for FloatSum {
    type Builder = Float64Builder;

    fn builder(&self, capacity: usize) -> Self::Builder {
        Float64Builder::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Total<Compensated>, out: &mut Self::Builder) -> Result<()> {
        out.append_option((state.count > 0).then(|| state.sum.total()));
        Ok(())
    }

    fn finish(&self, mut out: Self::Builder) -> Result<ArrayRef> {
        Ok(Arc::new(out.finish()))
    }
}

/// Reads a sum of decimals.
#[derive(Debug, Clone)]
pub struct DecimalSum {
    column: DecimalColumn,
    on_overflow: OnOverflow,
}

impl DecimalSum {
    /// The sum as `output`, a decimal of 128 or 256 bits.
    ///
    /// # Errors
    /// `output` is something else.
    pub fn over<A: Accumulator<State = Total<Wide>>>(
        accumulator: A,
        output: DataType,
        on_overflow: OnOverflow,
    ) -> Result<Accumulated<A, Self>> {
        Ok(Accumulated { accumulator, readout: Self { column: DecimalColumn::new(output)?, on_overflow } })
    }
}

impl Readout<Total<Wide>> for DecimalSum {
    type Builder = DecimalBuilder;

    fn builder(&self, capacity: usize) -> Self::Builder {
        self.column.builder(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Total<Wide>, out: &mut Self::Builder) -> Result<()> {
        let sum = if state.count == 0 { None } else { self.column.fit(state.sum.value()) };
        if sum.is_none() && state.count > 0 && self.on_overflow == OnOverflow::Error {
            return Err(Error::overflow(format!(
                "the sum of a frame does not fit {}; use try_sum for NULL, cast the column to fewer digits, or set ansi=False",
                self.column.output
            )));
        }
        out.append(sum);
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        self.column.finish(out)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Decimal128Type, Int32Type, Int64Type};
    use arrow_array::{Decimal128Array, Float64Array, Int32Array, Int64Array, UInt64Array};

    use super::*;
    use crate::error::ErrorKind;
    use crate::functions::readout::results;

    fn bigints(values: Vec<Option<i64>>, on_overflow: OnOverflow) -> Result<Vec<Option<i64>>> {
        let column: ArrayRef = Arc::new(Int64Array::from(values));
        let inclusion = Inclusion::new(std::slice::from_ref(&column), None);
        let sum = IntegerSum::over(integers::<Int64Type>(&column, inclusion)?, DataType::Int64, on_overflow);
        let runs: Vec<_> = (0..=column.len()).map(|end| 0..end).collect();
        Ok(results(&sum, &runs)?.as_primitive::<Int64Type>().iter().collect())
    }

    #[test]
    fn bigints_overflow_by_policy() {
        let values = || vec![Some(i64::MAX), Some(1), Some(-5)];
        let error = bigints(values(), OnOverflow::Error).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Overflow);
        for part in ["9223372036854775808", "Int64", "try_sum", "DECIMAL", "ansi=False"] {
            assert!(error.message().contains(part), "{error}");
        }
        let after = i64::MAX - 4;
        assert_eq!(bigints(values(), OnOverflow::Null).unwrap(), [None, Some(i64::MAX), None, Some(after)]);
        assert_eq!(bigints(values(), OnOverflow::Wrap).unwrap(), [None, Some(i64::MAX), Some(i64::MIN), Some(after)]);
        // Only the frame's own sum can overflow, not what it is read off.
        assert_eq!(bigints(vec![Some(i64::MAX), Some(-1)], OnOverflow::Error).unwrap()[2], Some(i64::MAX - 1));
    }

    #[test]
    fn nulls_are_no_zeros() {
        assert_eq!(bigints(vec![None, Some(0), None], OnOverflow::Error).unwrap(), [None, None, Some(0), Some(0)]);
    }

    #[test]
    fn unsigned_sums_use_their_top_bit() {
        let column = UInt64Array::from(vec![u64::MAX - 1, 1, 1]);
        let sum = |policy| {
            let values = integers::<UInt64Type>(&column, Inclusion::All).unwrap();
            results(&IntegerSum::over(values, DataType::UInt64, policy), &[0..2, 0..3])
        };
        assert_eq!(sum(OnOverflow::Error).unwrap_err().kind(), ErrorKind::Overflow);
        assert_eq!(sum(OnOverflow::Wrap).unwrap().as_primitive::<UInt64Type>().values(), &[u64::MAX, 0]);
    }

    #[test]
    fn months_overflow_at_32_bits() {
        use arrow_array::IntervalYearMonthArray;
        use arrow_array::types::IntervalYearMonthType;
        use arrow_schema::IntervalUnit::YearMonth;

        let column = IntervalYearMonthArray::from(vec![i32::MAX, 1, -1]);
        let values = integers::<Int32Type>(&column, Inclusion::All).unwrap();
        let sum = IntegerSum::over(values, DataType::Interval(YearMonth), OnOverflow::Error);
        assert_eq!(results(&sum, &[0..2]).unwrap_err().kind(), ErrorKind::Overflow);
        let sums = results(&sum, &[0..3, 1..3]).unwrap();
        assert_eq!(sums.as_primitive::<IntervalYearMonthType>().values(), &[i32::MAX, 0]);
    }

    #[test]
    fn ints_sum_to_bigint() {
        let column = Int32Array::from(vec![i32::MAX, i32::MAX]);
        let values = integers::<Int32Type>(&column, Inclusion::All).unwrap();
        let sums = results(&IntegerSum::over(values, DataType::Int64, OnOverflow::Error), &[0..2]).unwrap();
        assert_eq!(sums.as_primitive::<Int64Type>().value(0), 2 * i64::from(i32::MAX));
    }

    #[test]
    fn decimals_are_checked_only_in_the_end() {
        let nines = 10_i128.pow(38) - 1;
        let mut values = vec![nines; 500];
        values.extend([-nines; 499]);
        values.extend([1, -1]);
        let column = Decimal128Array::from(values).with_precision_and_scale(38, 0).unwrap();
        let sum = |policy| {
            let values = decimals::<Decimal128Type>(&column, Inclusion::All).unwrap();
            let sum = DecimalSum::over(values, DataType::Decimal128(38, 0), policy).unwrap();
            results(&sum, &[0..0, 0..999, 0..1000, 0..1001])
        };
        let error = sum(OnOverflow::Error).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Overflow);
        assert!(error.message().contains("Decimal128(38, 0)") && error.message().contains("try_sum"), "{error}");
        let sums = sum(OnOverflow::Null).unwrap();
        assert_eq!(
            sums.as_primitive::<Decimal128Type>().iter().collect::<Vec<_>>(),
            [None, Some(nines), None, Some(nines)]
        );
    }

    #[test]
    fn floats_follow_their_own_rules() {
        let sums = |values: Vec<f64>| {
            let column = Float64Array::from(values);
            let runs: Vec<_> = (0..=column.len()).map(|end| 0..end).collect();
            let sums = results(&FloatSum::over(floats(&column, Inclusion::All).unwrap()), &runs).unwrap();
            assert!(sums.is_null(0));
            sums.as_primitive::<Float64Type>().values()[1..].to_vec()
        };
        assert_eq!(sums(vec![1.7e308, 1.7e308, -1.7e308]), [1.7e308, f64::INFINITY, f64::INFINITY]);
        assert!(sums(vec![f64::INFINITY, f64::NEG_INFINITY, 1.0])[2].is_nan());
        assert!(sums(vec![1.0, f64::NAN])[1].is_nan());
        assert!(sums(vec![-0.0])[0].is_sign_positive());
        assert_eq!(sums(vec![0.1; 10])[9], 1.0);
    }
}
