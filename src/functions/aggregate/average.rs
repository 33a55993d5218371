//! avg: computed from the sums of `sum.rs`.
//!
//! Integers and floats give a double, rounded once from the exact or compensated sum. Decimals give four more digits,
//! durations give microseconds, year-month intervals months: all rounded once, half away from zero.

use std::marker::PhantomData;

use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};

use super::accumulator::PrimitiveReader;
use super::exact::{Compensated, divide_half_up};
use super::sum::OnOverflow;
use super::sum_accumulator::SumState;
use super::sum_state::{ExactSum, SumInI128, SumInput};
use crate::error::{Error, Remedy, Result};
use crate::functions::decimal::{DecimalColumn, Unscaled};
use crate::functions::native::with_type;
use crate::util::civil::{MICROS_PER_SECOND, ticks_per_second};

/// Computes the mean of numbers as a double.
#[derive(Debug, Clone, Copy)]
pub struct FloatAverage;

impl<S: SumInI128> PrimitiveReader<SumState<S>> for FloatAverage {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &SumState<S>) -> Result<Option<f64>> {
        Ok((state.count > 0).then_some(state.sum.to_f64() / state.count as f64))
    }
}

impl PrimitiveReader<SumState<Compensated>> for FloatAverage {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &SumState<Compensated>) -> Result<Option<f64>> {
        Ok((state.count > 0).then_some(state.sum.total() / state.count as f64))
    }
}

/// Computes the mean of decimals.
#[derive(Debug, Clone)]
pub struct DecimalAverage<N> {
    column: DecimalColumn,
    /// The factor that brings the sum to the result's scale.
    factor: u64,
    on_overflow: OnOverflow,
    values: PhantomData<N>,
}

impl<N: Unscaled + SumInput> DecimalAverage<N> {
    /// The mean of decimals of `scale` as `output`.
    ///
    /// # Errors
    /// `output` is not a decimal of the values' width, or has a smaller scale.
    pub fn new(scale: i8, output: DataType, on_overflow: OnOverflow) -> Result<Self> {
        let (DataType::Decimal128(_, wanted) | DataType::Decimal256(_, wanted)) = output else {
            return Err(Error::internal(format!("a decimal average of type {output}")));
        };
        let more = u32::try_from(i16::from(wanted) - i16::from(scale))
            .map_err(|_| Error::internal("an average has fewer digits behind the point than its values"))?;
        let column = DecimalColumn::new::<N>(output)?;
        Ok(Self { column, factor: 10_u64.pow(more), on_overflow, values: PhantomData })
    }

    #[cold]
    fn overflow(&self) -> Result<Option<N>> {
        if self.on_overflow == OnOverflow::Error {
            return Err(Error::overflow(format!(
                "the average of a frame does not fit {}; use try_avg for NULL, cast the column to fewer digits",
                self.column.output
            ))
            .with_remedy(Remedy::AnsiOff));
        }
        Ok(None)
    }
}

impl<N: Unscaled + SumInput, S: ExactSum> PrimitiveReader<SumState<S>> for DecimalAverage<N> {
    type Type = N::Decimal;

    #[inline]
    fn read(&self, state: &SumState<S>) -> Result<Option<N>> {
        if state.count == 0 {
            return Ok(None);
        }
        let mean = self.column.checked(state.sum.to_int320().divided(self.factor, state.count));
        mean.map_or_else(|| self.overflow(), |mean| Ok(Some(mean)))
    }

    fn with_type(&self, means: PrimitiveArray<N::Decimal>) -> Result<ArrayRef> {
        self.column.with_type::<N>(&means)
    }
}

/// Computes the mean of durations in microseconds, or of year-month intervals in months.
#[derive(Debug, Clone)]
pub struct IntervalAverage {
    output: DataType,
    /// The result is the sum times `factor`, divided by `divisor` and the count.
    factor: i128,
    divisor: u64,
    on_overflow: OnOverflow,
}

impl IntervalAverage {
    /// The mean of values of `input`, a duration or a year-month interval.
    #[must_use]
    pub fn new(input: &DataType, on_overflow: OnOverflow) -> Self {
        let (output, factor, divisor) = match input {
            DataType::Duration(unit) => {
                let (factor, divisor) =
                    (MICROS_PER_SECOND / ticks_per_second(*unit), ticks_per_second(*unit) / MICROS_PER_SECOND);
                (DataType::Duration(TimeUnit::Microsecond), i128::from(factor.max(1)), divisor.max(1).unsigned_abs())
            }
            other => (other.clone(), 1, 1),
        };
        Self { output, factor, divisor, on_overflow }
    }
}

impl<S: SumInI128> PrimitiveReader<SumState<S>> for IntervalAverage {
    type Type = Int64Type;

    #[inline]
    fn read(&self, state: &SumState<S>) -> Result<Option<i64>> {
        if state.count == 0 {
            return Ok(None);
        }
        let mean = divide_half_up(state.sum.to_i128() * self.factor, state.count * self.divisor);
        match i64::try_from(mean) {
            Ok(mean) => Ok(Some(mean)),
            Err(_) if self.on_overflow == OnOverflow::Null => Ok(None),
            Err(_) => Err(Error::overflow(format!(
                "the average {mean} of a frame does not fit {}; use try_avg for NULL, or average a number instead",
                self.output
            ))),
        }
    }

    fn with_type(&self, means: PrimitiveArray<Int64Type>) -> Result<ArrayRef> {
        match &self.output {
            DataType::Interval(_) => with_type(&arrow_cast::cast(&means, &DataType::Int32)?, &self.output),
            output => with_type(&means, output),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use arrow_array::cast::AsArray;
    use arrow_array::types::{
        Decimal128Type, DurationMicrosecondType, Float64Type, Int32Type, Int64Type, IntervalYearMonthType,
    };
    use arrow_array::{
        Array, Decimal128Array, DurationNanosecondArray, DurationSecondArray, Int64Array, IntervalYearMonthArray,
    };

    use super::*;
    use crate::error::ErrorKind;
    use crate::functions::aggregate::accumulator::Accumulated;
    use crate::functions::aggregate::accumulator::results;
    use crate::functions::aggregate::sum::{decimal_accumulator, integer_accumulator};
    use crate::model::row_mask::RowMask;

    /// The mean of all of `values`, with this precision and scale.
    fn decimal(values: Vec<i128>, precision: u8, scale: i8, policy: OnOverflow) -> Result<Option<i128>> {
        let column = Decimal128Array::from(values).with_precision_and_scale(precision, scale)?;
        let output = DataType::Decimal128((precision + 4).min(38), (scale + 4).min(38));
        let sums = decimal_accumulator::<Decimal128Type>(&column, RowMask::All)?;
        let mean =
            results(&Accumulated::new(sums, DecimalAverage::<i128>::new(scale, output, policy)?), &[0..column.len()])?;
        Ok(mean.as_primitive::<Decimal128Type>().iter().next().flatten())
    }

    #[test]
    fn decimals_round_once_half_up() {
        let mean = |values: Vec<i128>, precision, scale| decimal(values, precision, scale, OnOverflow::Error).unwrap();
        assert_eq!(mean(vec![100, 200, 200], 10, 2), Some(1_666_667));
        // At scale 38 no digit can be added: 5e-38/11 is 0, and -1.5e-38 is -2e-38.
        assert_eq!(mean([vec![5], vec![0; 10]].concat(), 38, 38), Some(0));
        assert_eq!(mean(vec![-1, -2], 38, 38), Some(-2));
        assert_eq!(mean(vec![], 38, 38), None);
    }

    #[test]
    fn full_precision_decimal_mean_overflows() {
        // avg(1.5 as decimal(38, 37)) is a decimal(38, 38), whose values are below 1.
        let one_and_a_half = 15 * 10_i128.pow(36);
        let nines = 10_i128.pow(38) - 1;
        for (value, scale) in [(one_and_a_half, 37), (nines, 0)] {
            assert_eq!(decimal(vec![value], 38, scale, OnOverflow::Null).unwrap(), None);
            let error = decimal(vec![value], 38, scale, OnOverflow::Error).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Overflow);
            assert!(error.message().contains("try_avg"), "{error}");
        }
    }

    #[test]
    fn bigints_never_overflow() {
        let column = Int64Array::from(vec![i64::MAX; 3]);
        let sums = integer_accumulator::<Int64Type>(&column, RowMask::All).unwrap();
        let means = results(&Accumulated::new(sums, FloatAverage), &[0..0, 0..3]).unwrap();
        assert_eq!(means.as_primitive::<Float64Type>().iter().collect::<Vec<_>>(), [None, Some(i64::MAX as f64)]);
    }

    #[test]
    fn intervals_round_half_up() {
        let column = IntervalYearMonthArray::from(vec![1, 2, -1, -2]);
        let sums = integer_accumulator::<Int32Type>(&column, RowMask::All).unwrap();
        let means = results(
            &Accumulated::new(sums, IntervalAverage::new(column.data_type(), OnOverflow::Error)),
            &[0..2, 2..4, 0..0],
        )
        .unwrap();
        let means: Vec<_> = means.as_primitive::<IntervalYearMonthType>().iter().collect();
        assert_eq!(means, [Some(2), Some(-2), None]);
    }

    #[test]
    fn durations_average_to_microseconds() {
        let column = DurationNanosecondArray::from(vec![1000, 2000, 1499, 1500]);
        let sums = integer_accumulator::<Int64Type>(&column, RowMask::All).unwrap();
        let means = results(
            &Accumulated::new(sums, IntervalAverage::new(column.data_type(), OnOverflow::Error)),
            &[0..2, 2..3, 3..4],
        )
        .unwrap();
        assert_eq!(means.as_primitive::<DurationMicrosecondType>().values(), &[2, 1, 2]);

        let column = DurationSecondArray::from(vec![i64::MAX]);
        let sums = integer_accumulator::<Int64Type>(&column, RowMask::All).unwrap();
        let average = |policy| {
            results(&Accumulated::new(sums.clone(), IntervalAverage::new(column.data_type(), policy)), &[0..1])
        };
        assert_eq!(average(OnOverflow::Error).unwrap_err().kind(), ErrorKind::Overflow);
        assert!(average(OnOverflow::Null).unwrap().is_null(0));
    }
}
