//! `var_pop`, `var_samp`, `stddev_pop`, `stddev_samp`: computed from the count, the sum of the values' differences from
//! one of them, the pivot, and the sum of the squared differences.
//!
//! Sums about a pivot need no division, neither to add a value nor to merge: a variance divides twice, when it is read,
//! where the updates of Welford and of Chan divide per value. The subtracted term is `n` times the squared difference
//! between pivot and mean, so the pivot must stay near the mean: once that term is four fifths of the sum of squares,
//! the mean becomes the pivot. However many values there are, this happens only a few times. No variance is negative,
//! that of equal values, which are their own pivot, is exactly 0, and values near 1e9 lose no more digits than values
//! near 0.
//!
//! Source: the shifted data algorithm of Chan, Golub, LeVeque, "Algorithms for computing the sample variance: analysis
//! and recommendations" (The American Statistician 37, 1983), whose error bound is the condition number that
//! `MAX_PIVOT_ERROR_FRACTION` limits. Moving the pivot, and taking that of the larger side in a merge, are our additions.

use std::hint::select_unpredictable;

use arrow_array::RecordBatch;
use arrow_array::types::Float64Type;

use super::accumulator::PrimitiveReader;
use super::lanes::VALUES_PER_BLOCK;
use super::moments::{Moments, block_sum, mean_offset};
use crate::error::Result;
use crate::functions::native::{masked, select_present};
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};

/// The largest fraction of the squares due to the difference of pivot and mean: a variance loses at most two and a half
/// bits.
const MAX_PIVOT_ERROR_FRACTION: f64 = 0.8;

/// Values as sums about one of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PivotMoments {
    /// The number of values. A double, exact for any number of rows, because it is only used with doubles.
    pub count: f64,
    /// The first value, or a later mean.
    pub pivot: f64,
    /// The sum of the differences from the pivot.
    pub sum: f64,
    /// The sum of the squared differences.
    pub squares: f64,
}

impl PivotMoments {
    /// Whether the pivot is too far from the mean; false where the differences are NaN.
    #[inline(always)]
    fn has_far_pivot(&self) -> bool {
        self.sum * self.sum > MAX_PIVOT_ERROR_FRACTION * self.count * self.squares
    }

    /// The same values about their mean.
    #[cold]
    fn centred(self) -> Self {
        let Self { count, pivot, sum, squares } = self;
        let mean = pivot + sum / count;
        // The step as rounded, not as intended.
        let step = mean - pivot;
        Self { count, pivot: mean, sum: sum - count * step, squares: squares - step * (2.0 * sum - count * step) }
    }

    /// The state with one more value, if it is counted. Without an unpredictable branch, and each sum depends only on
    /// the one before: a value that is not counted has difference zero whatever the pivot is.
    #[inline(always)]
    fn with_value(self, value: f64, takes_part: bool) -> Self {
        // Selected by bits: compilers turn a number made from a boolean into a branch, which sparse NULLs make
        // unpredictable (`benches/kernels.rs`). If it is 0, so is the value; a pivot that is not finite has already
        // made the sum so.
        let (value, one) = (select_present(value, 0.0, takes_part), select_present(1.0, 0.0, takes_part));
        let pivot = if self.count == 0.0 { value } else { self.pivot };
        let distance = (value - pivot) * one;
        let (sum, squares) = (self.sum + distance, self.squares + distance * distance);
        let next = Self { count: self.count + one, pivot, sum, squares };
        if next.has_far_pivot() { next.centred() } else { next }
    }

    /// The sum of the squared deviations from the mean.
    #[inline(always)]
    fn sum_of_squared_deviations(&self) -> f64 {
        let spread = self.squares - self.sum * (self.sum / self.count);
        // The differences are finite, but their squares overflow.
        let beyond = self.sum.is_finite() & !self.squares.is_finite();
        let spread = select_unpredictable(beyond, f64::INFINITY, spread);
        // A single NaN: the bits of a computed one depend on the order of operations.
        select_unpredictable(spread.is_nan(), f64::NAN, spread)
    }
}

impl Moments for PivotMoments {
    #[inline]
    fn add(&mut self, value: f64) {
        *self = self.with_value(value, true);
    }

    #[inline]
    fn add_if(&mut self, value: f64, takes_part: bool) {
        *self = self.with_value(value, takes_part);
    }

    fn of(block: &[f64; VALUES_PER_BLOCK]) -> Self {
        let pivot = block[0] + mean_offset(block);
        Self {
            count: VALUES_PER_BLOCK as f64,
            pivot,
            sum: block_sum(block, |value| value - pivot),
            squares: block_sum(block, |value| (value - pivot) * (value - pivot)),
        }
    }

    #[inline]
    fn merge(&mut self, right: &Self) {
        let both = self.merged(right);
        *self = if both.has_far_pivot() { both.centred() } else { both };
    }

    /// The smaller side is moved to the pivot of the larger: the mean is then as near to it as either side's mean,
    /// relative to their distance. Without a branch, so that compilers vectorise merges.
    #[inline(always)]
    fn merged(self, right: &Self) -> Self {
        let more = right.count > self.count;
        let choose = |right, left| select_unpredictable(more, right, left);
        let (few, sum) = (choose(self.count, right.count), choose(self.sum, right.sum));
        let (pivot, from) = (choose(right.pivot, self.pivot), choose(self.pivot, right.pivot));
        let step = from - pivot;
        Self {
            count: self.count + right.count,
            pivot,
            sum: self.sum + right.sum + few * step,
            squares: self.squares + right.squares + step * (2.0 * sum + few * step),
        }
    }

    #[inline(always)]
    fn masked(self, keep: u64) -> Self {
        let or_zero = |value| masked(value, keep);
        Self {
            count: or_zero(self.count),
            pivot: or_zero(self.pivot),
            sum: or_zero(self.sum),
            squares: or_zero(self.squares),
        }
    }

    fn save(&self) -> Result<RecordBatch> {
        let Self { count, pivot, sum, squares } = *self;
        saved_row([
            ("count", count.write()?),
            ("pivot", pivot.write()?),
            ("sum", sum.write()?),
            ("squares", squares.write()?),
        ])
    }

    fn load(saved: &RecordBatch) -> Result<Self> {
        Ok(Self {
            count: saved_value(saved, "count")?,
            pivot: saved_value(saved, "pivot")?,
            sum: saved_value(saved, "sum")?,
            squares: saved_value(saved, "squares")?,
        })
    }
}

/// Which result.
#[derive(Debug, Clone, Copy)]
pub struct Variance {
    /// Of a sample: the divisor is n - 1, and a single value gives NULL.
    pub sample: bool,
    /// The square root: the standard deviation.
    pub root: bool,
}

impl PrimitiveReader<PivotMoments> for Variance {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &PivotMoments) -> Result<Option<f64>> {
        let divisor = if self.sample { state.count - 1.0 } else { state.count };
        let variance = state.sum_of_squared_deviations() / divisor;
        Ok((divisor > 0.0).then_some(if self.root { variance.sqrt() } else { variance }))
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
    use crate::functions::aggregate::moments::MomentAccumulator;
    use crate::model::aggregate::{Accumulator, keep_all};
    use crate::model::row_mask::RowMask;

    /// `var_pop`, `var_samp`, `stddev_pop`, `stddev_samp` of all of `values`.
    fn spreads(values: Vec<f64>) -> [Option<f64>; 4] {
        let column = Float64Array::from(values);
        [(false, false), (true, false), (false, true), (true, true)].map(|(sample, root)| {
            let values = MomentAccumulator::new(&column, RowMask::All).unwrap();
            let spread = Accumulated::new(values, Variance { sample, root });
            results(&spread, &[0..column.len()]).unwrap().as_primitive::<Float64Type>().iter().next().flatten()
        })
    }

    #[test]
    fn few_values() {
        assert_eq!(spreads(vec![]), [None; 4]);
        assert_eq!(spreads(vec![7.0]), [Some(0.0), None, Some(0.0), None]);
        assert_eq!(spreads(vec![1.0, 3.0]), [Some(1.0), Some(2.0), Some(1.0), Some(2_f64.sqrt())]);
    }

    #[test]
    fn equal_values_have_zero_variance() {
        assert_eq!(spreads(vec![0.1; 1000]), [Some(0.0); 4]);
        assert_eq!(spreads(vec![1e17 / 3.0; 7]), [Some(0.0); 4]);
        assert_eq!(spreads(vec![-0.3; 3 * VALUES_PER_BLOCK]), [Some(0.0); 4]);
    }

    #[test]
    fn non_finite_values_give_nan() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let [population, sample, ..] = spreads(vec![value]);
            assert!(population.unwrap().is_nan() && sample.is_none());
            for many in [1, 2 * VALUES_PER_BLOCK] {
                let values = [vec![1.0; many], vec![value], vec![2.0; many]].concat();
                assert!(spreads(values).iter().all(|spread| spread.unwrap().is_nan()));
            }
        }
    }

    /// The states of values added in various ways: one by one from either end, in blocks, or merged: single values to
    /// all before, all after to single values, or halves with each other.
    fn ways(values: &[f64]) -> [PivotMoments; 6] {
        fn halves(values: &[f64]) -> PivotMoments {
            let (left, right) = values.split_at(values.len() / 2);
            if left.is_empty() {
                values.iter().fold(PivotMoments::default(), |sums, &value| sums.with_value(value, true))
            } else {
                merged(halves(left), halves(right))
            }
        }
        fn merged(mut left: PivotMoments, right: PivotMoments) -> PivotMoments {
            left.merge(&right);
            left
        }
        let accumulator =
            MomentAccumulator::<PivotMoments>::new(&Float64Array::from(values.to_vec()), RowMask::All).unwrap();
        let [mut forwards, mut backwards, mut blocks] = [PivotMoments::default(); 3];
        let [mut after, mut before] =
            [vec![PivotMoments::default(); values.len()], vec![PivotMoments::default(); values.len()]];
        accumulator.append_scan(&mut forwards, 0..values.len(), keep_all(), &mut after).unwrap();
        accumulator.prepend_scan(&mut backwards, 0..values.len(), keep_all(), &mut before).unwrap();
        assert_eq!([after.last(), before.first()], [Some(&forwards), Some(&backwards)]);
        accumulator.update(&mut blocks, 0..values.len()).unwrap();
        let ones = || values.iter().map(|&value| PivotMoments::default().with_value(value, true));
        let onto = ones().fold(PivotMoments::default(), merged);
        let before = ones().rev().fold(PivotMoments::default(), |behind, one| merged(one, behind));
        [forwards, backwards, blocks, onto, before, halves(values)]
    }

    #[test]
    fn result_is_order_independent() {
        let sets: [fn(i32) -> f64; 10] = [
            |row| f64::from(row * row % 97) / 7.0,
            |row| 1e9 + f64::from(row % 2),
            // The first value is far from all others, near similar ones, or far and of a different magnitude.
            |row| if row == 0 { 1e6 } else { f64::from(row * row % 97) },
            |row| if row == 0 { 1e16 } else { f64::from(row % 7) },
            |row| if row == 999 { -1e16 } else { 1e9 + f64::from(row % 7) },
            // A step after few or many values, a slope, growth, and an oscillation.
            |row| if row < 3 { f64::from(row) } else { 1e12 + f64::from(row * row % 97) },
            |row| if row < 900 { f64::from(row % 7) } else { 1e9 + f64::from(row % 7) },
            |row| -1e9 + 3.0 * f64::from(row),
            |row| 1.1_f64.powi(row),
            |row| f64::from(row) * (-1.1_f64).powi(row),
        ];
        for (number, set) in sets.into_iter().enumerate() {
            let all: Vec<_> = (0..1000).map(set).collect();
            for rows in [2, 3, 5, 64, 65, 200, 901, 1000] {
                for values in [&all[..rows], &all[1000 - rows..]] {
                    // The values are read twice; the differences from the rounded mean correct for its rounding.
                    let total = |value: &dyn Fn(&f64) -> f64| values.iter().map(value).sum::<f64>();
                    let mean = values[0] + total(&|value| value - values[0]) / values.len() as f64;
                    let rounded = total(&|value| value - mean);
                    let expected =
                        total(&|value| (value - mean) * (value - mean)) - rounded * rounded / values.len() as f64;
                    for (way, sums) in ways(values).into_iter().enumerate() {
                        let (found, share) = (sums.sum_of_squared_deviations(), 1e-14 * values.len() as f64);
                        assert!(!sums.has_far_pivot(), "{rows} rows of {number} in way {way}: {sums:?}");
                        assert!(
                            (found - expected).abs() <= share.max(1e-13) * expected,
                            "{rows} rows of {number} in way {way}: {found} {expected}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn equal_values_have_zero_variance_in_any_order() {
        for value in [0.1, -0.3, 1e17 / 3.0, 5e-324, f64::MAX, -0.0] {
            for sums in ways(&[value; 300]) {
                assert_eq!((sums.sum_of_squared_deviations(), sums.pivot), (0.0, value));
            }
        }
    }

    #[test]
    fn squares_beyond_all_numbers_are_infinite() {
        let values: Vec<_> = (0..300).map(|row| if row % 3 == 0 { 1e300 } else { -1e200 }).collect();
        for (way, sums) in ways(&values).into_iter().enumerate() {
            assert_eq!(sums.sum_of_squared_deviations(), f64::INFINITY, "{way}");
        }
    }

    #[test]
    fn large_mean_loses_no_precision() {
        let values = (0..1000).map(|value| 1e9 + f64::from(value % 2)).collect::<Vec<_>>();
        for few in [10, 100, 1000] {
            assert!((spreads(values[..few].to_vec())[0].unwrap() - 0.25).abs() < 1e-14);
        }
    }
}
