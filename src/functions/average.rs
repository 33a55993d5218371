//! avg: read off the sums of `sum.rs`.
//!
//! Integers and floats give a double, rounded once from the exact or compensated sum. Decimals give four digits
//! more, durations microseconds, intervals months: all rounded once, half away from zero.

use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Float64Array, PrimitiveArray};
use arrow_buffer::i256;
use arrow_schema::{DataType, TimeUnit};

use super::exact::{Compensated, Wide, divide_half_up};
use super::native::labelled;
use super::readout::{Accumulated, Accumulator, Readout};
use super::sum::{DecimalColumn, OnOverflow, Total};
use crate::error::{Error, Result};

/// Reads the mean of numbers as a double.
#[derive(Debug, Clone, Copy)]
pub struct FloatAverage;

impl FloatAverage {
    /// The mean of integers or floats.
    pub fn over<A: Accumulator>(accumulator: A) -> Accumulated<A, Self>
    where
        Self: Readout<A::State>,
    {
        Accumulated { accumulator, readout: Self }
    }
}

impl Readout<Total<i128>> for FloatAverage {
    type Builder = Vec<Option<f64>>;

    fn builder(&self, capacity: usize) -> Self::Builder {
        Vec::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Total<i128>, out: &mut Self::Builder) -> Result<()> {
        out.push((state.count > 0).then(|| state.sum as f64 / state.count as f64));
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        Ok(Arc::new(Float64Array::from(out)))
    }
}

impl Readout<Total<Compensated>> for FloatAverage {
    type Builder = Vec<Option<f64>>;

    fn builder(&self, capacity: usize) -> Self::Builder {
        Vec::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Total<Compensated>, out: &mut Self::Builder) -> Result<()> {
        out.push((state.count > 0).then(|| state.sum.total() / state.count as f64));
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        Ok(Arc::new(Float64Array::from(out)))
    }
}

/// Reads the mean of decimals.
#[derive(Debug, Clone)]
pub struct DecimalAverage {
    column: DecimalColumn,
    /// What the sum is multiplied by to have the result's scale.
    factor: u64,
    on_overflow: OnOverflow,
}

impl DecimalAverage {
    /// The mean of decimals of `scale` as `output`.
    ///
    /// # Errors
    /// `output` is no decimal of 128 or 256 bits, or of a lesser scale.
    pub fn over<A: Accumulator<State = Total<Wide>>>(
        accumulator: A,
        scale: i8,
        output: DataType,
        on_overflow: OnOverflow,
    ) -> Result<Accumulated<A, Self>> {
        let (DataType::Decimal128(_, wanted) | DataType::Decimal256(_, wanted)) = output else {
            return Err(Error::internal(format!("a decimal average of type {output}")));
        };
        let more = u32::try_from(i16::from(wanted) - i16::from(scale))
            .map_err(|_| Error::internal("an average has fewer digits behind the point than its values"))?;
        let readout = Self { column: DecimalColumn::new(output)?, factor: 10_u64.pow(more), on_overflow };
        Ok(Accumulated { accumulator, readout })
    }
}

impl Readout<Total<Wide>> for DecimalAverage {
    type Builder = Vec<Option<i256>>;

    fn builder(&self, capacity: usize) -> Self::Builder {
        Vec::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Total<Wide>, out: &mut Self::Builder) -> Result<()> {
        if state.count == 0 {
            out.push(None);
            return Ok(());
        }
        let mean = self.column.fit(state.sum.divided(self.factor, state.count));
        if mean.is_none() && self.on_overflow == OnOverflow::Error {
            return Err(Error::overflow(format!(
                "the average of a frame does not fit {}; use try_avg for NULL, cast the column to fewer digits, or set ansi=False",
                self.column.output
            )));
        }
        out.push(mean);
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        self.column.finish(out)
    }
}

/// Reads the mean of durations as microseconds, or of year-month intervals as months.
#[derive(Debug, Clone)]
pub struct IntervalAverage {
    output: DataType,
    /// The sum times `factor`, divided by `divisor` and the count.
    factor: i128,
    divisor: u64,
}

impl IntervalAverage {
    /// The mean of values of `input`, a duration or a year-month interval.
    pub fn over<A: Accumulator<State = Total<i128>>>(accumulator: A, input: &DataType) -> Accumulated<A, Self> {
        let (output, factor, divisor) = match input {
            DataType::Duration(unit) => {
                let (factor, divisor) = match unit {
                    TimeUnit::Second => (1_000_000, 1),
                    TimeUnit::Millisecond => (1000, 1),
                    TimeUnit::Microsecond => (1, 1),
                    TimeUnit::Nanosecond => (1, 1000),
                };
                (DataType::Duration(TimeUnit::Microsecond), factor, divisor)
            }
            other => (other.clone(), 1, 1),
        };
        Accumulated { accumulator, readout: Self { output, factor, divisor } }
    }
}

impl Readout<Total<i128>> for IntervalAverage {
    type Builder = Vec<Option<i64>>;

    fn builder(&self, capacity: usize) -> Self::Builder {
        Vec::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Total<i128>, out: &mut Self::Builder) -> Result<()> {
        if state.count == 0 {
            out.push(None);
            return Ok(());
        }
        let mean = divide_half_up(state.sum * self.factor, state.count * self.divisor);
        let mean = i64::try_from(mean);
        out.push(Some(
            mean.map_err(|_| Error::overflow(format!("the average of a frame does not fit {}", self.output)))?,
        ));
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        let means = PrimitiveArray::<Int64Type>::from(out);
        match &self.output {
            DataType::Interval(_) => labelled(&arrow_cast::cast(&means, &DataType::Int32)?, &self.output),
            output => labelled(&means, output),
        }
    }
}
