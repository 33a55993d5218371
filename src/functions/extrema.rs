//! min, max of numbers, dates, times, decimals ...: the least and the greatest value of the frame; of equal values the
//! first met is kept. What has no native order (text, booleans, nested ...) is chosen by row, in `choice.rs`.
//!
//! NaN is greatest and -0.0 equals 0.0, as in Spark. The state is the value; results are labelled back to the column's
//! exact type.

use std::ops::Range;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{ArrowNativeType, ScalarBuffer, i256};
use arrow_schema::DataType;

use super::native::{labelled, native, saved, saved_column};
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
}

macro_rules! ordered {
    ($($native:ty),*) => {$(
        impl Ordered for $native {
            #[inline]
            fn before(self, other: Self) -> bool {
                self < other
            }
        }
    )*};
}
ordered!(i32, i64, u64, i128, i256);

impl Ordered for f64 {
    #[inline]
    fn before(self, other: Self) -> bool {
        // Every number comes before NaN; two NaNs are equal.
        self < other || (other.is_nan() && !self.is_nan())
    }
}

/// The extremum of a column of natives.
#[derive(Debug, Clone)]
pub struct Natives<T: ArrowPrimitiveType> {
    values: ScalarBuffer<T::Native>,
    inclusion: Inclusion,
    which: Extremum,
    output: DataType,
}

impl<T: ArrowPrimitiveType<Native: Ordered>> Natives<T> {
    /// The extremum of `column`, whose values `T` holds in their order.
    ///
    /// # Errors
    /// The column's values are not `T`'s.
    pub fn new(column: &dyn Array, inclusion: Inclusion, which: Extremum) -> Result<Self> {
        let values = native::<T>(column)?.values().clone();
        Ok(Self { values, inclusion, which, output: column.data_type().clone() })
    }

    /// Whether `new` takes the place of `old`.
    #[inline]
    fn beats(&self, new: T::Native, old: T::Native) -> bool {
        match self.which {
            Extremum::Min => new.before(old),
            Extremum::Max => old.before(new),
        }
    }
}

impl<T: ArrowPrimitiveType<Native: Ordered>> Aggregate for Natives<T> {
    type State = Option<T::Native>;
    type Builder = PrimitiveBuilder<T>;

    fn init(&self) -> Self::State {
        None
    }

    #[inline]
    fn update(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()> {
        if let Inclusion::All = self.inclusion {
            // With the first value in hand and the direction chosen outside, the loop is a plain reduction.
            if let Some((&first, rest)) = self.values[rows].split_first() {
                let first = state.filter(|&old| !self.beats(first, old)).unwrap_or(first);
                *state = Some(match self.which {
                    Extremum::Min => rest.iter().fold(first, |old, &new| if new.before(old) { new } else { old }),
                    Extremum::Max => rest.iter().fold(first, |old, &new| if old.before(new) { new } else { old }),
                });
            }
        } else {
            let mut best = *state;
            self.inclusion.each(rows, |row| {
                let value = self.values[row];
                if best.is_none_or(|old| self.beats(value, old)) {
                    best = Some(value);
                }
            });
            *state = best;
        }
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut Self::State, right: &Self::State) -> Result<()> {
        if let Some(value) = *right
            && left.is_none_or(|old| self.beats(value, old))
        {
            *left = Some(value);
        }
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Self::Builder {
        PrimitiveBuilder::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Self::State, out: &mut Self::Builder) -> Result<()> {
        out.append_option(*state);
        Ok(())
    }

    fn finish(&self, mut out: Self::Builder) -> Result<ArrayRef> {
        labelled(&out.finish(), &self.output)
    }

    fn save(&self, state: &Self::State) -> Result<RecordBatch> {
        let mut value = self.builder(1);
        value.append_option(*state);
        saved([("value", self.finish(value)?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Self::State> {
        let value = native::<T>(saved_column(saved, "value")?)?;
        Ok(value.is_valid(0).then(|| value.value(0)))
    }
}

impl<T: ArrowPrimitiveType<Native: Ordered>> Selective for Natives<T> {
    #[inline]
    fn includes(&self, row: usize) -> bool {
        self.inclusion.includes(row)
    }

    #[inline]
    fn keeps(&self, old: usize, new: usize) -> bool {
        !self.beats(self.values[new], self.values[old])
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

    /// Minimum and maximum of all of `values`.
    fn ends(values: Vec<f64>) -> [f64; 2] {
        let column = Float64Array::from(values);
        [Extremum::Min, Extremum::Max].map(|which| {
            let extremum = Natives::<Float64Type>::new(&column, Inclusion::All, which).unwrap();
            results(&extremum, &[0..column.len()]).unwrap().as_primitive::<Float64Type>().value(0)
        })
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
