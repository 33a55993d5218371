//! `bounded_sum`: a running sum that stays between two bounds; what would carry it beyond one is lost.
//!
//! ```text
//!   x                      5  -8   3   9        s = min(high, max(low, s + x)), s = start before the first value
//!   bounded_sum(x, 0, 10)  5   0   3  10
//! ```
//!
//! A step `s -> min(high, max(low, s + x))` followed by another is again such a step, of three numbers: the sums of the
//! steps, and the bounds as the later step leaves them. So states merge, in row order, and every strategy of sums serves
//! but those that subtract. Cost: three additions per update or merge.
//!
//! Integers and decimals are computed exactly in 256 bits. A step by an infinity leads to a bound, from wherever; NaN
//! stays.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_buffer::{ScalarBuffer, i256};
use arrow_schema::DataType;

use super::accumulator::{Accumulated, PrimitiveReader, PrimitiveResult};
use super::sum::OnOverflow;
use crate::error::{Error, Remedy, Result};
use crate::functions::native::{for_each_value, to_primitive, with_type};
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::model::aggregate::Accumulator;
use crate::model::row_mask::RowMask;

/// Numbers that are added and bounded.
#[allow(private_bounds, reason = "states are saved by the crate alone")]
pub trait BoundedValue: Copy + PartialEq + Send + Sync + SavedValue {
    /// Zero.
    const ZERO: Self;
    /// No lower bound.
    const LOWEST: Self;
    /// No upper bound.
    const HIGHEST: Self;

    /// The sum; of a missing bound and a number, the missing bound. `None`: it has too many digits.
    fn plus(self, other: Self) -> Option<Self>;

    /// The number, or the bound that it passes.
    fn clamp(self, low: Self, high: Self) -> Self;

    /// Whether a step by this number leads to a bound from everywhere.
    fn is_infinite(self) -> bool;
}

impl BoundedValue for i256 {
    const ZERO: Self = i256::ZERO;
    const LOWEST: Self = i256::MIN;
    const HIGHEST: Self = i256::MAX;

    #[inline]
    fn plus(self, other: Self) -> Option<Self> {
        if self == Self::LOWEST || self == Self::HIGHEST { Some(self) } else { self.checked_add(other) }
    }

    #[inline]
    fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }

    #[inline]
    fn is_infinite(self) -> bool {
        false
    }
}

impl BoundedValue for f64 {
    const ZERO: Self = 0.0;
    const LOWEST: Self = f64::NEG_INFINITY;
    const HIGHEST: Self = f64::INFINITY;

    #[inline]
    fn plus(self, other: Self) -> Option<Self> {
        Some(self + other)
    }

    #[inline]
    fn clamp(self, low: Self, high: Self) -> Self {
        // A step by NaN has it as its bounds. `f64::max` and `min` would replace a NaN by the other number.
        match (self.is_nan(), low.is_nan()) {
            (true, _) => self,
            (_, true) => low,
            _ => self.max(low).min(high),
        }
    }

    #[inline]
    fn is_infinite(self) -> bool {
        !self.is_finite()
    }
}

/// The step of a run of rows: `s -> min(high, max(low, s + sum))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedStep<N> {
    /// The number of values.
    pub values: u64,
    /// The sum of the values.
    pub sum: N,
    /// What a sum that was lowest before is after them.
    pub low: N,
    /// What a sum that was highest before is after them.
    pub high: N,
}

impl<N: BoundedValue> BoundedStep<N> {
    /// The step of one value.
    #[inline]
    fn of(value: N, low: N, high: N) -> Self {
        Self { values: 1, sum: value, low, high }.finite()
    }

    /// The step with a finite sum, which is 0 where the step leads to one value from everywhere, as one by an infinity
    /// does.
    #[inline]
    fn finite(self) -> Self {
        if self.low == self.high {
            return Self { sum: N::ZERO, ..self };
        }
        if !self.sum.is_infinite() {
            return self;
        }
        let end = self.sum.clamp(self.low, self.high);
        Self { sum: N::ZERO, low: end, high: end, ..self }
    }

    /// Where the step leads from `start`; `None`: it has too many digits.
    #[inline]
    fn from(&self, start: N) -> Option<N> {
        // From a single end, also if that is NaN.
        if self.low == self.high || self.low.is_infinite() && self.low != N::LOWEST {
            return Some(self.low);
        }
        Some(start.plus(self.sum)?.clamp(self.low, self.high))
    }

    /// This step, then `next`.
    #[inline]
    fn then(&self, next: &Self) -> Option<Self> {
        let sum = self.sum.plus(next.sum)?;
        let (low, high) = (next.after(self.low)?, next.after(self.high)?);
        Some(Self { values: self.values + next.values, sum, low, high }.finite())
    }

    /// Where the step leads from a bound of the step before it.
    #[inline]
    fn after(&self, bound: N) -> Option<N> {
        Some(bound.plus(self.sum)?.clamp(self.low, self.high))
    }
}

/// Steps of a column's values.
#[derive(Debug, Clone)]
pub struct BoundedSum<N: arrow_buffer::ArrowNativeType> {
    values: ScalarBuffer<N>,
    inclusion: RowMask,
    low: N,
    high: N,
}

#[cold]
fn too_many_digits() -> Error {
    Error::overflow("a sum has more than 76 digits; cast the column to fewer")
}

impl<N: BoundedValue + arrow_buffer::ArrowNativeType> Accumulator for BoundedSum<N> {
    type State = BoundedStep<N>;

    #[inline]
    fn init(&self) -> BoundedStep<N> {
        BoundedStep { values: 0, sum: N::ZERO, low: N::LOWEST, high: N::HIGHEST }
    }

    #[inline]
    fn update(&self, state: &mut BoundedStep<N>, rows: Range<usize>) -> Result<()> {
        let mut after = Some(*state);
        for_each_value(&self.values, &self.inclusion, rows, |value| {
            after = after.and_then(|state| state.then(&BoundedStep::of(value, self.low, self.high)));
        });
        *state = after.ok_or_else(too_many_digits)?;
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut BoundedStep<N>, right: &BoundedStep<N>) -> Result<()> {
        *left = left.then(right).ok_or_else(too_many_digits)?;
        Ok(())
    }

    fn save(&self, state: &BoundedStep<N>) -> Result<RecordBatch> {
        let BoundedStep { values, sum, low, high } = *state;
        saved_row([("values", values.write()?), ("sum", sum.write()?), ("low", low.write()?), ("high", high.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<BoundedStep<N>> {
        Ok(BoundedStep {
            values: saved_value(saved, "values")?,
            sum: saved_value(saved, "sum")?,
            low: saved_value(saved, "low")?,
            high: saved_value(saved, "high")?,
        })
    }
}

/// The bounds of a sum and its first value.
#[derive(Debug, Clone, Copy)]
pub struct SumBounds<N> {
    /// The lower bound.
    pub low: Option<N>,
    /// The upper bound.
    pub high: Option<N>,
    /// The sum before the first value.
    pub start: N,
}

/// The bounded sum of a column of `T`.
///
/// # Errors
/// The column has another type.
pub fn bounded_sum<T: ArrowPrimitiveType<Native: BoundedValue>, R: PrimitiveReader<BoundedStep<T::Native>>>(
    values: &dyn Array,
    inclusion: RowMask,
    bounds: SumBounds<T::Native>,
    reader: R,
) -> Result<Accumulated<BoundedSum<T::Native>, PrimitiveResult<R>>> {
    let SumBounds { low, high, .. } = bounds;
    let steps = BoundedSum {
        values: to_primitive::<T>(values)?.values().clone(),
        inclusion,
        low: low.unwrap_or(T::Native::LOWEST),
        high: high.unwrap_or(T::Native::HIGHEST),
    };
    Ok(Accumulated::new(steps, reader))
}

/// Returns the bounded sum of floats.
#[derive(Debug, Clone, Copy)]
pub struct DoubleResult {
    /// The sum before the first value.
    pub start: f64,
}

impl PrimitiveReader<BoundedStep<f64>> for DoubleResult {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &BoundedStep<f64>) -> Result<Option<f64>> {
        Ok(if state.values == 0 { None } else { state.from(self.start) })
    }
}

/// Returns the bounded sum of integers or decimals.
#[derive(Debug, Clone)]
pub struct ExactResult {
    start: i256,
    output: DataType,
    least: i256,
    most: i256,
    on_overflow: OnOverflow,
}

impl ExactResult {
    /// The sum as `output`: `Int64`, `UInt64` or a decimal.
    #[must_use]
    pub fn new(start: i256, output: DataType, on_overflow: OnOverflow) -> Self {
        let (least, most) = match output {
            DataType::UInt64 => (i256::ZERO, i256::from_i128(u64::MAX.into())),
            DataType::Decimal128(precision, _) | DataType::Decimal256(precision, _) => {
                let limit = i256::from_i128(10).wrapping_pow(u32::from(precision)).wrapping_sub(i256::ONE);
                (limit.wrapping_neg(), limit)
            }
            _ => (i256::from_i128(i64::MIN.into()), i256::from_i128(i64::MAX.into())),
        };
        Self { start, output, least, most, on_overflow }
    }

    #[cold]
    fn overflow(&self, sum: i256) -> Result<Option<i256>> {
        match self.on_overflow {
            OnOverflow::Null => Ok(None),
            OnOverflow::Wrap => Ok(Some(sum)),
            OnOverflow::Error => Err(Error::overflow(format!(
                "the bounded sum of a frame does not fit {}; give it a bound, or cast the column",
                self.output
            ))
            .with_remedy(Remedy::AnsiOff)),
        }
    }
}

impl PrimitiveReader<BoundedStep<i256>> for ExactResult {
    type Type = Decimal256Type;

    #[inline]
    fn read(&self, state: &BoundedStep<i256>) -> Result<Option<i256>> {
        if state.values == 0 {
            return Ok(None);
        }
        let sum = state.from(self.start).ok_or_else(too_many_digits)?;
        if self.least <= sum && sum <= self.most { Ok(Some(sum)) } else { self.overflow(sum) }
    }

    fn with_type(&self, sums: PrimitiveArray<Decimal256Type>) -> Result<ArrayRef> {
        match &self.output {
            DataType::Int64 => Ok(Arc::new(sums.unary::<_, Int64Type>(|sum| sum.as_i128() as i64))),
            DataType::UInt64 => Ok(Arc::new(sums.unary::<_, UInt64Type>(|sum| sum.as_i128() as u64))),
            output @ DataType::Decimal128(..) => with_type(&sums.unary::<_, Decimal128Type>(i256::as_i128), output),
            output => with_type(&sums, output),
        }
    }
}
