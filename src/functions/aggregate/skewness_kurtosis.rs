//! `skewness`, `kurtosis`: computed from the sums of the second, third and fourth powers of the deviations from the
//! mean.
//!
//! NULL where all values are equal; there is no minimum number of values. A single value is added as a merge with its
//! moments, so no sum of powers is ever subtracted and the powers of equal values are exactly 0. Source: `Pébay`,
//! "Formulas for robust, one-pass parallel computation of covariances and arbitrary-order statistical moments"
//! (SAND2008-6212), equations 2.1 to 2.3.

use arrow_array::RecordBatch;
use arrow_array::types::Float64Type;

use super::accumulator::PrimitiveReader;
use super::lanes::VALUES_PER_BLOCK;
use super::moments::{Moments, block_sum, mean_offset};
use crate::error::Result;
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};

/// The first four moments of values.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FourMoments {
    /// The number of values. A double, exact for any number of rows, because it is only used with doubles.
    pub count: f64,
    /// One of them.
    pub pivot: f64,
    /// The mean minus the pivot.
    pub offset: f64,
    /// The sum of the squared deviations from the mean.
    pub squares: f64,
    /// The sum of the cubed deviations.
    pub cubes: f64,
    /// The sum of the fourth powers of the deviations.
    pub fourths: f64,
}

impl Moments for FourMoments {
    #[inline]
    fn add(&mut self, value: f64) {
        // The deviation of a finite value from itself is 0.
        let squares = if value.is_finite() { 0.0 } else { f64::NAN };
        self.merge(&Self { count: 1.0, pivot: value, squares, ..Self::default() });
    }

    fn of(block: &[f64; VALUES_PER_BLOCK]) -> Self {
        let offset = mean_offset(block);
        let distance = |value: f64| (value - block[0]) - offset;
        let square = |value: f64| distance(value) * distance(value);
        Self {
            count: VALUES_PER_BLOCK as f64,
            pivot: block[0],
            offset,
            squares: block_sum(block, square),
            cubes: block_sum(block, |value| square(value) * distance(value)),
            fourths: block_sum(block, |value| square(value) * square(value)),
        }
    }

    #[inline]
    fn merge(&mut self, right: &Self) {
        let (a, b) = (*self, *right);
        if a.count == 0.0 || b.count == 0.0 {
            if b.count > 0.0 {
                *self = b;
            }
            return;
        }
        let count = a.count + b.count;
        let (p, q) = (a.count / count, b.count / count);
        let distance = (b.pivot - a.pivot) + (b.offset - a.offset);
        let square = distance * distance;
        let spread = square * a.count * q;
        self.count = count;
        self.offset += distance * q;
        self.squares += b.squares + spread;
        self.cubes += b.cubes + spread * distance * (p - q) + 3.0 * distance * (p * b.squares - q * a.squares);
        self.fourths += b.fourths
            + spread * square * (p * p - p * q + q * q)
            + 6.0 * square * (p * p * b.squares + q * q * a.squares)
            + 4.0 * distance * (p * b.cubes - q * a.cubes);
    }

    fn save(&self) -> Result<RecordBatch> {
        let Self { count, pivot, offset, squares, cubes, fourths } = *self;
        saved_row([
            ("count", count.write()?),
            ("pivot", pivot.write()?),
            ("offset", offset.write()?),
            ("squares", squares.write()?),
            ("cubes", cubes.write()?),
            ("fourths", fourths.write()?),
        ])
    }

    fn load(saved: &RecordBatch) -> Result<Self> {
        Ok(Self {
            count: saved_value(saved, "count")?,
            pivot: saved_value(saved, "pivot")?,
            offset: saved_value(saved, "offset")?,
            squares: saved_value(saved, "squares")?,
            cubes: saved_value(saved, "cubes")?,
            fourths: saved_value(saved, "fourths")?,
        })
    }
}

/// Which result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkewnessKurtosis {
    /// The third standardised moment of the population.
    Skewness,
    /// The fourth standardised moment minus 3, that of the normal distribution.
    Kurtosis,
}

impl PrimitiveReader<FourMoments> for SkewnessKurtosis {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &FourMoments) -> Result<Option<f64>> {
        let FourMoments { count, squares, .. } = *state;
        // Divides in steps, whose range is that of the values and not of their sixth power.
        Ok((count > 0.0 && squares != 0.0).then(|| match self {
            Self::Skewness => state.cubes / squares * (count / squares).sqrt(),
            Self::Kurtosis => count * (state.fourths / squares) / squares - 3.0,
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use arrow_array::Float64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;

    use super::*;
    use crate::functions::aggregate::accumulator::Accumulated;
    use crate::functions::aggregate::accumulator::results;
    use crate::functions::aggregate::moments::MomentAccumulator;
    use crate::model::row_mask::RowMask;

    /// Skewness and kurtosis of all of `values`.
    fn shape(values: &[f64]) -> [Option<f64>; 2] {
        let column = Float64Array::from(values.to_vec());
        [SkewnessKurtosis::Skewness, SkewnessKurtosis::Kurtosis].map(|which| {
            let shape = Accumulated::new(MomentAccumulator::<FourMoments>::new(&column, RowMask::All).unwrap(), which);
            results(&shape, &[0..column.len()]).unwrap().as_primitive::<Float64Type>().iter().next().flatten()
        })
    }

    #[test]
    fn constant_values_give_null_skewness() {
        for values in [vec![], vec![7.0], vec![0.1; 3], vec![1e17 / 3.0; 300]] {
            assert_eq!(shape(&values), [None; 2], "{values:?}");
        }
    }

    #[test]
    fn two_values_have_zero_skewness() {
        assert_eq!(shape(&[1.0, 2.0]), [Some(0.0), Some(-2.0)]);
    }

    #[test]
    fn non_finite_values_give_nan() {
        for values in
            [vec![f64::NAN], vec![f64::INFINITY], vec![1.0, f64::NAN, 2.0], [[1.0, f64::INFINITY]; 99].concat()]
        {
            assert!(shape(&values).iter().all(|shape| shape.unwrap().is_nan()), "{values:?}");
        }
    }

    #[test]
    fn blocks_match_the_definition() {
        let values: Vec<f64> = (0..1000).map(|value| 1e6 + f64::from(value * value % 97)).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let power = |n: i32| values.iter().map(|value| (value - mean).powi(n)).sum::<f64>() / count;
        let expected = [power(3) / power(2).powf(1.5), power(4) / (power(2) * power(2)) - 3.0];
        for (found, expected) in shape(&values).into_iter().zip(expected) {
            assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?} {expected}");
        }
    }
}
