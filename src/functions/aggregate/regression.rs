//! `covar_pop`, `covar_samp`, `corr` and the `regr_` functions: nine results computed from one state of pairs.
//!
//! | function | of pairs (y, x) | NULL |
//! |---|---|---|
//! | `covar_pop`, `covar_samp` | xy / n, xy / (n - 1) | no pair; one pair |
//! | `corr` | xy / sqrt(xx yy) | one pair, x or y constant |
//! | `regr_slope`, `regr_intercept` | xy / xx, mean y - slope mean x | x constant |
//! | `regr_r2` | corr², and 1 where y is constant | x constant |
//! | `regr_sxx`, `regr_syy`, `regr_sxy` | xx, yy, xy | no pair |
//!
//! xx, yy, xy are sums of products of deviations from the means. They are updated without subtraction, so those of a
//! constant are exactly 0. Source: `Pébay`, see `skewness_kurtosis.rs`; for two variables its equation 3.12.

use std::ops::Range;

use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_buffer::ScalarBuffer;

use super::accumulator::PrimitiveReader;
use crate::error::Result;
use crate::functions::native::to_primitive;
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::model::aggregate::Accumulator;
use crate::model::row_mask::RowMask;

/// The first two moments of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Comoments {
    /// The number of pairs.
    pub count: f64,
    /// The mean of the dependent variable.
    pub mean_y: f64,
    /// The mean of the independent variable.
    pub mean_x: f64,
    /// The sum of y's squared deviations from its mean.
    pub yy: f64,
    /// The sum of x's squared deviations from its mean.
    pub xx: f64,
    /// The sum of the products of both deviations.
    pub xy: f64,
}

impl Comoments {
    /// Adds one pair.
    #[inline]
    fn add(&mut self, y: f64, x: f64) {
        self.count += 1.0;
        let share = 1.0 / self.count;
        let (dy, dx) = (y - self.mean_y, x - self.mean_x);
        let (step_y, step_x) = (dy * share, dx * share);
        self.mean_y += step_y;
        self.mean_x += step_x;
        self.yy += dy * (dy - step_y);
        self.xx += dx * (dx - step_x);
        self.xy += dx * (dy - step_y);
    }

    /// Appends the pairs of `right`.
    #[inline]
    fn merge(&mut self, right: &Self) {
        if right.count == 0.0 {
            return;
        }
        if self.count == 0.0 {
            *self = *right;
            return;
        }
        let count = self.count + right.count;
        let share = right.count / count;
        let (dy, dx) = (right.mean_y - self.mean_y, right.mean_x - self.mean_x);
        let weight = self.count * share;
        self.yy += right.yy + dy * dy * weight;
        self.xx += right.xx + dx * dx * weight;
        self.xy += right.xy + dx * dy * weight;
        self.mean_y += dy * share;
        self.mean_x += dx * share;
        self.count = count;
    }

    fn slope(&self) -> f64 {
        self.xy / self.xx
    }

    fn correlation(&self) -> f64 {
        let product = self.xx * self.yy;
        // One root has a smaller rounding error; two have the range of the values.
        if product.is_normal() { self.xy / product.sqrt() } else { self.xy / self.xx.sqrt() / self.yy.sqrt() }
    }
}

/// Accumulates the moments of two columns of doubles.
#[derive(Debug, Clone)]
pub struct PairAccumulator {
    y: ScalarBuffer<f64>,
    x: ScalarBuffer<f64>,
    inclusion: RowMask,
}

impl Accumulator for PairAccumulator {
    type State = Comoments;

    #[inline]
    fn init(&self) -> Comoments {
        Comoments::default()
    }

    #[inline]
    fn update(&self, state: &mut Comoments, rows: Range<usize>) -> Result<()> {
        self.inclusion.for_each(rows, |row| state.add(self.y[row], self.x[row]));
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut Comoments, right: &Comoments) -> Result<()> {
        left.merge(right);
        Ok(())
    }

    fn save(&self, state: &Comoments) -> Result<RecordBatch> {
        let Comoments { count, mean_y, mean_x, yy, xx, xy } = *state;
        saved_row([
            ("count", count.write()?),
            ("mean_y", mean_y.write()?),
            ("mean_x", mean_x.write()?),
            ("yy", yy.write()?),
            ("xx", xx.write()?),
            ("xy", xy.write()?),
        ])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Comoments> {
        Ok(Comoments {
            count: saved_value(saved, "count")?,
            mean_y: saved_value(saved, "mean_y")?,
            mean_x: saved_value(saved, "mean_x")?,
            yy: saved_value(saved, "yy")?,
            xx: saved_value(saved, "xx")?,
            xy: saved_value(saved, "xy")?,
        })
    }
}

/// Which result is computed from pairs (y, x).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regression {
    /// Population covariance.
    CovarPop,
    /// Sample covariance.
    CovarSamp,
    /// Pearson's correlation.
    Corr,
    /// The slope of the least squares line.
    Slope,
    /// The line's value at x = 0.
    Intercept,
    /// The fraction of y's variance that the line explains.
    R2,
    /// The sum of x's squared deviations from its mean.
    Sxx,
    /// The sum of y's squared deviations from its mean.
    Syy,
    /// The sum of the products of both deviations.
    Sxy,
}

impl PairAccumulator {
    /// The accumulator over two columns of doubles.
    ///
    /// # Errors
    /// The columns have another type.
    pub fn new(y: &dyn Array, x: &dyn Array, inclusion: RowMask) -> Result<Self> {
        let y = to_primitive::<Float64Type>(y)?.values().clone();
        let x = to_primitive::<Float64Type>(x)?.values().clone();
        Ok(Self { y, x, inclusion })
    }
}

impl PrimitiveReader<Comoments> for Regression {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &Comoments) -> Result<Option<f64>> {
        let Comoments { count, mean_y, mean_x, yy, xx, xy } = *state;
        let least = if matches!(self, Self::CovarSamp | Self::Corr) { 2.0 } else { 1.0 };
        Ok(match self {
            _ if count < least => None,
            Self::CovarPop => Some(xy / count),
            Self::CovarSamp => Some(xy / (count - 1.0)),
            Self::Sxx => Some(xx),
            Self::Syy => Some(yy),
            Self::Sxy => Some(xy),
            Self::Slope | Self::Intercept | Self::R2 | Self::Corr if xx == 0.0 => None,
            Self::Slope => Some(state.slope()),
            Self::Intercept => Some(mean_y - state.slope() * mean_x),
            Self::R2 if yy == 0.0 => Some(1.0),
            Self::R2 => Some(state.correlation() * state.correlation()),
            Self::Corr => (yy != 0.0).then(|| state.correlation()),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use arrow_array::Float64Array;
    use arrow_array::cast::AsArray;

    use super::*;
    use crate::functions::aggregate::accumulator::Accumulated;
    use crate::functions::aggregate::accumulator::results;

    use Regression::{Corr, CovarPop, CovarSamp, Intercept, R2, Slope, Sxx, Sxy, Syy};

    /// The results over all pairs.
    fn answers<const N: usize>(which: [Regression; N], pairs: &[(f64, f64)]) -> [Option<f64>; N] {
        let (y, x): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let (y, x) = (Float64Array::from(y), Float64Array::from(x));
        which.map(|which| {
            let regression = Accumulated::new(PairAccumulator::new(&y, &x, RowMask::All).unwrap(), which);
            results(&regression, &[0..y.len()]).unwrap().as_primitive::<Float64Type>().iter().next().flatten()
        })
    }

    #[test]
    fn few_pairs() {
        let all = [CovarPop, CovarSamp, Corr, Slope, Intercept, R2, Sxx, Syy, Sxy];
        assert_eq!(answers(all, &[]), [None; 9]);
        let one = [Some(0.0), None, None, None, None, None, Some(0.0), Some(0.0), Some(0.0)];
        assert_eq!(answers(all, &[(3.0, 4.0)]), one);
        let two = [Some(0.5), Some(1.0), Some(1.0), Some(0.5), Some(1.5), Some(1.0), Some(2.0), Some(0.5), Some(1.0)];
        assert_eq!(answers(all, &[(2.0, 1.0), (3.0, 3.0)]), two);
    }

    #[test]
    fn constant_columns() {
        let which = [R2, Slope, Intercept, Corr, CovarSamp, Sxy];
        let x = answers(which, &[(1.0, 5.0), (2.0, 5.0)]);
        assert_eq!(x, [None, None, None, None, Some(0.0), Some(0.0)]);
        let y = answers(which, &[(5.0, 1.0), (5.0, 2.0)]);
        assert_eq!(y, [Some(1.0), Some(0.0), Some(5.0), None, Some(0.0), Some(0.0)]);
        let noisy = answers([Sxx, Syy, Sxy], &[(1e17 / 3.0, 0.1); 7]);
        assert_eq!(noisy, [Some(0.0); 3]);
    }

    #[test]
    fn single_infinite_pair() {
        let nan = |answers: [Option<f64>; 3]| answers.map(|answer| answer.map(f64::is_nan));
        assert_eq!(answers([R2, Slope, Corr], &[(f64::INFINITY, 1.0)]), [None; 3]);
        assert_eq!(nan(answers([Sxy, Syy, CovarPop], &[(f64::INFINITY, 1.0)])), [Some(true); 3]);
        assert_eq!(answers([R2, Corr, CovarSamp], &[(1.0, f64::INFINITY)]), [Some(1.0), None, None]);
        assert_eq!(nan(answers([Slope, Intercept, Sxx], &[(1.0, f64::INFINITY)])), [Some(true); 3]);
    }

    #[test]
    fn correlation_of_huge_values_is_finite() {
        let pairs = [(1e150, 1e120), (2e150, 2e120), (4e150, 3e120)];
        let found = answers([Corr], &pairs)[0].unwrap();
        assert!((found - 0.981_980_506_061_965_7).abs() < 1e-12, "{found}");
    }
}
