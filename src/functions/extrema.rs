//! min, max of numbers, dates, times, decimals ...: the least and the greatest value of the frame; of equal values the
//! first met is kept. What has no native order (text, booleans, nested ...) is chosen by row, in `choice.rs`.
//!
//! NaN is greatest and -0.0 equals 0.0, as in Spark. The state is the value; results are labelled back to the column's
//! exact type.

use std::hint::select_unpredictable;
use std::ops::Range;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{ArrowNativeType, ScalarBuffer, i256};
use arrow_schema::DataType;

use super::native::{each_slot, labelled, native, saved, saved_column, slot};
use super::results::Results;
use crate::aggregate::{Aggregate, Selective};
use crate::error::Result;
use crate::inclusion::Inclusion;

/// Which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extremum {
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// Values in Spark's order.
pub trait Ordered: ArrowNativeType {
    /// Whether `self` comes before `other`.
    fn before(self, other: Self) -> bool;

    /// `self` where it is taken, else `other`; without a branch.
    #[must_use]
    fn or(self, other: Self, taken: bool) -> Self;
}

macro_rules! ordered {
    ($($native:ty),*) => {$(
        impl Ordered for $native {
            #[inline]
            fn before(self, other: Self) -> bool {
                self < other
            }

            #[inline]
            fn or(self, other: Self, taken: bool) -> Self {
                select_unpredictable(taken, self, other)
            }
        }
    )*};
}
ordered!(i32, i64, u64, i128, i256);

impl Ordered for f64 {
    #[inline]
    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN is meant: where either is one, the comparison is false")]
    fn before(self, other: Self) -> bool {
        // Every number comes before NaN; two NaNs are equal.
        !(other <= self) & !self.is_nan()
    }

    #[inline]
    fn or(self, other: Self, taken: bool) -> Self {
        // A choice of floats would be a branch.
        Self::from_bits(select_unpredictable(taken, self.to_bits(), other.to_bits()))
    }
}

/// The least or the greatest of some values, if there are any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extreme<N> {
    value: N,
    any: bool,
}

/// The least value of a column of natives, or the greatest.
#[derive(Debug, Clone)]
pub struct Natives<T: ArrowPrimitiveType, const GREATEST: bool> {
    values: ScalarBuffer<T::Native>,
    inclusion: Inclusion,
    output: DataType,
}

impl<T: ArrowPrimitiveType<Native: Ordered>, const GREATEST: bool> Natives<T, GREATEST> {
    /// The extremum of `column`, whose values `T` holds in their order.
    ///
    /// # Errors
    /// The column's values are not `T`'s.
    pub fn new(column: &dyn Array, inclusion: Inclusion) -> Result<Self> {
        let values = native::<T>(column)?.values().clone();
        Ok(Self { values, inclusion, output: column.data_type().clone() })
    }

    /// Whether `new` takes the place of `old`.
    #[inline]
    fn beats(new: T::Native, old: T::Native) -> bool {
        if GREATEST { old.before(new) } else { new.before(old) }
    }

    /// Appends a value, if it takes part.
    #[inline]
    fn step(state: &mut Extreme<T::Native>, value: T::Native, takes_part: bool) {
        let taken = takes_part & (!state.any | Self::beats(value, state.value));
        state.value = value.or(state.value, taken);
        state.any |= takes_part;
    }
}

impl<T: ArrowPrimitiveType<Native: Ordered>, const GREATEST: bool> Aggregate for Natives<T, GREATEST> {
    type State = Extreme<T::Native>;
    type Builder = Results<T>;

    #[inline]
    fn init(&self) -> Self::State {
        Extreme { value: T::Native::default(), any: false }
    }

    #[inline]
    fn update(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()> {
        let mut best = *state;
        each_slot(&self.values, &self.inclusion, rows, |value, takes_part| Self::step(&mut best, value, takes_part));
        *state = best;
        Ok(())
    }

    #[inline]
    fn append(&self, state: &mut Self::State, row: usize) -> Result<()> {
        slot(&self.values, &self.inclusion, row, |value, takes_part| Self::step(state, value, takes_part));
        Ok(())
    }

    #[inline]
    fn prepend(&self, state: &mut Self::State, row: usize) -> Result<()> {
        // Of ties the first met is kept, and that is now this one.
        slot(&self.values, &self.inclusion, row, |value, takes_part| {
            let taken = takes_part & !(state.any & Self::beats(state.value, value));
            state.value = value.or(state.value, taken);
            state.any |= takes_part;
        });
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut Self::State, right: &Self::State) -> Result<()> {
        Self::step(left, right.value, right.any);
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Self::Builder {
        Results::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Self::State, out: &mut Self::Builder) -> Result<()> {
        self.repeat(state, 1, out)
    }

    #[inline(always)]
    fn evaluate_all(
        &self,
        states: impl ExactSizeIterator<Item = Result<Self::State>>,
        out: &mut Self::Builder,
    ) -> Result<()> {
        out.extend(states.map(|state| state.map(|state| state.any.then_some(state.value))))
    }

    fn repeat(&self, state: &Self::State, times: usize, out: &mut Self::Builder) -> Result<()> {
        out.repeat(state.any.then_some(state.value), times);
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        labelled(&out.finish()?, &self.output)
    }

    fn save(&self, state: &Self::State) -> Result<RecordBatch> {
        let mut value = self.builder(1);
        self.evaluate(state, &mut value)?;
        saved([("value", self.finish(value)?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Self::State> {
        let value = native::<T>(saved_column(saved, "value")?)?;
        Ok(Extreme { value: value.value(0), any: value.is_valid(0) })
    }
}

impl<T: ArrowPrimitiveType<Native: Ordered>, const GREATEST: bool> Selective for Natives<T, GREATEST> {
    #[inline]
    fn includes(&self, row: usize) -> bool {
        self.inclusion.includes(row)
    }

    #[inline]
    fn keeps(&self, old: usize, new: usize) -> bool {
        !Self::beats(self.values[new], self.values[old])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use arrow_array::Float64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;

    use super::*;
    use crate::functions::readout::results;

    fn end<const GREATEST: bool>(column: &Float64Array) -> f64 {
        let extremum = Natives::<Float64Type, GREATEST>::new(column, Inclusion::All).unwrap();
        results(&extremum, &[0..column.len()]).unwrap().as_primitive::<Float64Type>().value(0)
    }

    /// Minimum and maximum of all of `values`.
    fn ends(values: Vec<f64>) -> [f64; 2] {
        let column = Float64Array::from(values);
        [end::<false>(&column), end::<true>(&column)]
    }

    #[test]
    fn nan_is_greatest() {
        assert_eq!(ends(vec![f64::NAN, 1.0])[0], 1.0);
        assert!(ends(vec![1.0, f64::NAN, f64::INFINITY])[1].is_nan());
        assert!(ends(vec![f64::NAN]).iter().all(|end| end.is_nan()));
    }

    #[test]
    fn the_first_zero_is_kept() {
        assert!(ends(vec![-0.0, 0.0]).iter().all(|end| end.is_sign_negative()));
        assert!(ends(vec![0.0, -0.0]).iter().all(|end| end.is_sign_positive()));
    }
}
