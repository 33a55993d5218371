//! sum: exact for integers, decimals, durations and intervals, compensated for floats.
//!
//! | argument | result |
//! |---|---|
//! | int32, int64, uint64 | bigint; uint64 for uint64 |
//! | duration, year-month interval | as it is |
//! | decimal | ten digits more |
//! | float64 | double |
//!
//! Accumulators are wide enough for any sum of a section's rows, so only the result of the frame itself can overflow.
//! The averages of `average.rs` are computed from the same states.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::DataType;

use super::accumulator::PrimitiveReader;
use super::exact::{Compensated, Int320};
use super::sum_accumulator::{SumAccumulator, SumState};
use super::sum_state::{ExactSum, SumInI128, SumInput};
use crate::error::{Error, Remedy, Result};
use crate::functions::decimal::{DecimalColumn, Unscaled};
use crate::functions::native::{to_primitive, with_type};
use crate::functions::results::{PrimitiveResults, in_slot};
use crate::model::row_mask::RowMask;

/// The behaviour where a result does not fit its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOverflow {
    /// An error: ANSI mode.
    Error,
    /// NULL: the `try_` functions, and decimals outside ANSI mode.
    Null,
    /// Two's complement: integers outside ANSI mode.
    Wrap,
}

/// The accumulator of a column of integers, durations or intervals.
///
/// # Errors
/// The column has another type.
pub fn integer_accumulator<T: ArrowPrimitiveType>(
    values: &dyn Array,
    inclusion: RowMask,
) -> Result<SumAccumulator<T::Native, i128>> {
    Ok(SumAccumulator::new(to_primitive::<T>(values)?.values().clone(), inclusion))
}

/// The accumulator of a column of decimals.
///
/// # Errors
/// The column has another type.
pub fn decimal_accumulator<T: ArrowPrimitiveType>(
    values: &dyn Array,
    inclusion: RowMask,
) -> Result<SumAccumulator<T::Native, Int320>> {
    Ok(SumAccumulator::new(to_primitive::<T>(values)?.values().clone(), inclusion))
}

/// The accumulator of a column of doubles.
///
/// # Errors
/// The column has another type.
pub fn float_accumulator(values: &dyn Array, inclusion: RowMask) -> Result<SumAccumulator<f64, Compensated>> {
    Ok(SumAccumulator::new(to_primitive::<Float64Type>(values)?.values().clone(), inclusion))
}

/// Returns a sum of integers in the output type.
#[derive(Debug, Clone)]
pub struct IntegerSum {
    output: DataType,
    /// The range of sums that fit the output.
    least: i128,
    most: i128,
    on_overflow: OnOverflow,
}

impl IntegerSum {
    /// The sum as `output`: `Int64`, `UInt64`, a duration, or a year-month interval.
    #[must_use]
    pub fn new(output: DataType, on_overflow: OnOverflow) -> Self {
        let (least, most) = match output {
            DataType::UInt64 => (0, i128::from(u64::MAX)),
            DataType::Interval(_) => (i128::from(i32::MIN), i128::from(i32::MAX)),
            _ => (i128::from(i64::MIN), i128::from(i64::MAX)),
        };
        Self { output, least, most, on_overflow }
    }

    #[cold]
    fn overflow(&self, sum: i128) -> Result<Option<i64>> {
        match self.on_overflow {
            OnOverflow::Null => Ok(None),
            OnOverflow::Wrap => Ok(Some(sum as i64)),
            OnOverflow::Error => {
                let refused = |remedy| {
                    let output = &self.output;
                    Error::overflow(format!(
                        "the sum {sum} of a frame does not fit {output}; use try_sum for NULL, {remedy}"
                    ))
                };
                Err(match self.output {
                    DataType::Int64 | DataType::UInt64 => {
                        refused("cast the column to DECIMAL").with_remedy(Remedy::AnsiOff)
                    }
                    _ => refused("or sum a number instead"),
                })
            }
        }
    }
}

impl<S: SumInI128> PrimitiveReader<SumState<S>> for IntegerSum {
    type Type = Int64Type;

    #[inline]
    fn read(&self, state: &SumState<S>) -> Result<Option<i64>> {
        let sum = state.sum.to_i128();
        if state.count == 0 {
            return Ok(None);
        }
        // The output has 64 bits, or 32 for months.
        if self.least <= sum && sum <= self.most { Ok(Some(sum as i64)) } else { self.overflow(sum) }
    }

    #[inline(always)]
    fn read_block(
        &self,
        states: impl ExactSizeIterator<Item = Result<SumState<S>>>,
        sums: &mut PrimitiveResults<Int64Type>,
    ) -> Result<()> {
        // If all sums fit, they need no individual checks, and compilers vectorise the loop.
        let most = i128::MAX >> (i128::BITS - 1 - S::BITS);
        if self.least <= !most && most <= self.most {
            return sums.extend(states.map(|state| state.map(|state| (state.sum.to_i128() as i64, state.count > 0))));
        }
        sums.extend(states.map(|state| Ok(in_slot(self.read(&state?)?))))
    }

    fn with_type(&self, sums: PrimitiveArray<Int64Type>) -> Result<ArrayRef> {
        match &self.output {
            // A u64's bits are stored in an i64; a cast would read large values as negative.
            DataType::UInt64 => Ok(Arc::new(sums.unary::<_, UInt64Type>(i64::cast_unsigned))),
            DataType::Interval(_) => with_type(&arrow_cast::cast(&sums, &DataType::Int32)?, &self.output),
            output => with_type(&sums, output),
        }
    }
}

/// Returns a sum of floats.
#[derive(Debug, Clone, Copy)]
pub struct FloatSum;

impl PrimitiveReader<SumState<Compensated>> for FloatSum {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &SumState<Compensated>) -> Result<Option<f64>> {
        Ok((state.count > 0).then_some(state.sum.total()))
    }
}

/// Returns a sum of decimals.
#[derive(Debug, Clone)]
pub struct DecimalSum<N> {
    column: DecimalColumn,
    on_overflow: OnOverflow,
    values: PhantomData<N>,
}

impl<N: Unscaled + SumInput> DecimalSum<N> {
    /// The sum as `output`, a decimal of the values' width.
    ///
    /// # Errors
    /// `output` is another type.
    pub fn new(output: DataType, on_overflow: OnOverflow) -> Result<Self> {
        Ok(Self { column: DecimalColumn::new::<N>(output)?, on_overflow, values: PhantomData })
    }

    #[cold]
    fn overflow(&self) -> Result<Option<N>> {
        if self.on_overflow == OnOverflow::Error {
            return Err(Error::overflow(format!(
                "the sum of a frame does not fit {}; use try_sum for NULL, cast the column to fewer digits",
                self.column.output
            ))
            .with_remedy(Remedy::AnsiOff));
        }
        Ok(None)
    }
}

impl<N: Unscaled + SumInput, S: ExactSum> PrimitiveReader<SumState<S>> for DecimalSum<N> {
    type Type = N::Decimal;

    #[inline]
    fn read(&self, state: &SumState<S>) -> Result<Option<N>> {
        match self.column.checked(state.sum.to_int320().value()) {
            _ if state.count == 0 => Ok(None),
            Some(sum) => Ok(Some(sum)),
            None => self.overflow(),
        }
    }

    fn with_type(&self, sums: PrimitiveArray<N::Decimal>) -> Result<ArrayRef> {
        self.column.with_type::<N>(&sums)
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
    use crate::functions::aggregate::accumulator::Accumulated;
    use crate::functions::aggregate::accumulator::results;

    fn bigints(values: Vec<Option<i64>>, on_overflow: OnOverflow) -> Result<Vec<Option<i64>>> {
        let column: ArrayRef = Arc::new(Int64Array::from(values));
        let inclusion = RowMask::new(std::slice::from_ref(&column), None);
        let sum = Accumulated::new(
            integer_accumulator::<Int64Type>(&column, inclusion)?,
            IntegerSum::new(DataType::Int64, on_overflow),
        );
        let runs: Vec<_> = (0..=column.len()).map(|end| 0..end).collect();
        Ok(results(&sum, &runs)?.as_primitive::<Int64Type>().iter().collect())
    }

    #[test]
    fn bigints_overflow_by_policy() {
        let values = || vec![Some(i64::MAX), Some(1), Some(-5)];
        let error = bigints(values(), OnOverflow::Error).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Overflow);
        for part in ["9223372036854775808", "Int64", "try_sum", "DECIMAL"] {
            assert!(error.message().contains(part), "{error}");
        }
        assert_eq!(error.remedy(), Some(Remedy::AnsiOff));
        let after = i64::MAX - 4;
        assert_eq!(bigints(values(), OnOverflow::Null).unwrap(), [None, Some(i64::MAX), None, Some(after)]);
        assert_eq!(bigints(values(), OnOverflow::Wrap).unwrap(), [None, Some(i64::MAX), Some(i64::MIN), Some(after)]);
        // Only the frame's own sum can overflow, not the prefixes from which it is computed.
        assert_eq!(bigints(vec![Some(i64::MAX), Some(-1)], OnOverflow::Error).unwrap()[2], Some(i64::MAX - 1));
    }

    #[test]
    fn nulls_are_not_zeros() {
        assert_eq!(bigints(vec![None, Some(0), None], OnOverflow::Error).unwrap(), [None, None, Some(0), Some(0)]);
    }

    #[test]
    fn unsigned_sums_use_their_top_bit() {
        let column = UInt64Array::from(vec![u64::MAX - 1, 1, 1]);
        let sum = |policy| {
            let values = integer_accumulator::<UInt64Type>(&column, RowMask::All).unwrap();
            results(&Accumulated::new(values, IntegerSum::new(DataType::UInt64, policy)), &[0..2, 0..3])
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
        let values = integer_accumulator::<Int32Type>(&column, RowMask::All).unwrap();
        let sum = Accumulated::new(values, IntegerSum::new(DataType::Interval(YearMonth), OnOverflow::Error));
        assert_eq!(results(&sum, &[0..2]).unwrap_err().kind(), ErrorKind::Overflow);
        let sums = results(&sum, &[0..3, 1..3]).unwrap();
        assert_eq!(sums.as_primitive::<IntervalYearMonthType>().values(), &[i32::MAX, 0]);
    }

    #[test]
    fn int_sums_are_bigint() {
        let column = Int32Array::from(vec![i32::MAX, i32::MAX]);
        let values = integer_accumulator::<Int32Type>(&column, RowMask::All).unwrap();
        let sums =
            results(&Accumulated::new(values, IntegerSum::new(DataType::Int64, OnOverflow::Error)), &[0..2]).unwrap();
        assert_eq!(sums.as_primitive::<Int64Type>().value(0), 2 * i64::from(i32::MAX));
    }

    #[test]
    fn decimal_overflow_is_checked_on_the_result() {
        let nines = 10_i128.pow(38) - 1;
        let mut values = vec![nines; 500];
        values.extend([-nines; 499]);
        values.extend([1, -1]);
        let column = Decimal128Array::from(values).with_precision_and_scale(38, 0).unwrap();
        let sum = |policy| {
            let values = decimal_accumulator::<Decimal128Type>(&column, RowMask::All).unwrap();
            let sum = Accumulated::new(values, DecimalSum::<i128>::new(DataType::Decimal128(38, 0), policy).unwrap());
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
    fn float_sums_follow_ieee_rules() {
        let sums = |values: Vec<f64>| {
            let column = Float64Array::from(values);
            let runs: Vec<_> = (0..=column.len()).map(|end| 0..end).collect();
            let sums =
                results(&Accumulated::new(float_accumulator(&column, RowMask::All).unwrap(), FloatSum), &runs).unwrap();
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
