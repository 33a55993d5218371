//! `ewm_mean`, `ewm_mean_by`: exponentially weighted means over any frame.
//!
//! ```text
//!   x                              a   b   .   d          alpha = 1 - q
//!   weights                        q³  q²  .   1          ewm_mean(x, alpha): divided by their sum
//!   weights, IGNORE NULLS          q²  q   .   1          a NULL row does not age values
//!   ewm_mean(x, alpha, false)      y(d) = (1 - c) y(b) + c d,   c = alpha / (q² + alpha)     y(a) = a
//!   ewm_mean_by(x, t, h)           y(d) = (1 - c) y(b) + c d,   c = 1 - 2^(-|t(d) - t(b)| / h)
//! ```
//!
//! The same results as in Polars for frames that grow from the partition's begin, except that only a row that is NULL
//! itself gets the mean of the values before it. Both are folds of a recurrence whose step is linear in the previous
//! state, so they merge: the first as two weighted sums, which appending rows scales by a power of q; the others as a
//! linear function of their first value, `slope * first + offset`. Cost: O(1) per update, and one power per merge.
//! Weights are never subtracted, so a NaN or an infinity leaves the state with its row.

use std::ops::Range;

use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};

use super::accumulator::{Accumulated, PrimitiveReader, PrimitiveResult};
use crate::error::Result;
use crate::functions::native::to_primitive;
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::model::aggregate::Accumulator;
use crate::model::row_mask::RowMask;

/// A column of doubles in which rows without a value still age the values before them.
#[derive(Debug, Clone)]
struct Series {
    values: ScalarBuffer<f64>,
    /// The rows with a value.
    inclusion: RowMask,
    /// The rows that age earlier values.
    rows: RowMask,
}

impl Series {
    /// Calls `f` for each of `rows` that ages earlier values, with whether it has a value.
    #[inline]
    fn each(&self, rows: Range<usize>, mut f: impl FnMut(usize, Option<f64>)) {
        self.rows.for_each(rows, |row| f(row, self.inclusion.includes(row).then(|| self.values[row])));
    }
}

/// `decay` to the power of `rows`.
#[inline]
fn power(decay: f64, rows: u64) -> f64 {
    if rows == 1 { decay } else { decay.powi(i32::try_from(rows).unwrap_or(i32::MAX)) }
}

/// Weighted sums, relative to a weight of 1 for the last value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WeightedSum {
    /// The sum of the values times their weights.
    pub sum: f64,
    /// The sum of the weights.
    pub weight: f64,
    /// The number of rows up to and including the last value.
    pub through: u64,
    /// The number of rows after it.
    pub after: u64,
}

/// Weights each row by the number of rows after it.
#[derive(Debug, Clone)]
pub struct AdjustedEwm {
    series: Series,
    decay: f64,
}

impl AdjustedEwm {
    /// Appends the rows of `right` after those of `left`.
    #[inline]
    fn append_state(&self, left: &mut WeightedSum, right: &WeightedSum) {
        if right.weight == 0.0 {
            left.after += right.after;
            return;
        }
        if left.weight == 0.0 {
            *left = WeightedSum { through: left.after + right.through, ..*right };
            return;
        }
        let scale = power(self.decay, left.after + right.through);
        left.sum = left.sum * scale + right.sum;
        left.weight = left.weight * scale + right.weight;
        left.through += left.after + right.through;
        left.after = right.after;
    }
}

impl Accumulator for AdjustedEwm {
    type State = WeightedSum;

    #[inline]
    fn init(&self) -> WeightedSum {
        WeightedSum::default()
    }

    #[inline]
    fn update(&self, state: &mut WeightedSum, rows: Range<usize>) -> Result<()> {
        self.series.each(rows, |_, value| match value {
            Some(value) => self.append_state(state, &WeightedSum { sum: value, weight: 1.0, through: 1, after: 0 }),
            None => state.after += 1,
        });
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut WeightedSum, right: &WeightedSum) -> Result<()> {
        self.append_state(left, right);
        Ok(())
    }

    fn save(&self, state: &WeightedSum) -> Result<RecordBatch> {
        let WeightedSum { sum, weight, through, after } = *state;
        saved_row([
            ("sum", sum.write()?),
            ("weight", weight.write()?),
            ("through", through.write()?),
            ("after", after.write()?),
        ])
    }

    fn load(&self, saved: &RecordBatch) -> Result<WeightedSum> {
        Ok(WeightedSum {
            sum: saved_value(saved, "sum")?,
            weight: saved_value(saved, "weight")?,
            through: saved_value(saved, "through")?,
            after: saved_value(saved, "after")?,
        })
    }
}

/// The times of values, and the weights that follow from their distances.
#[allow(private_bounds, reason = "states are saved by the crate alone")]
pub trait Clock: Send + Sync {
    /// A point in time, or a distance.
    type Time: Copy + Default + Send + Sync + SavedValue;

    /// The time of a row's value as seen from values before it, and from values after it.
    fn times(&self, row: usize) -> [Self::Time; 2];

    /// The time that a row without a value adds.
    fn idle(&self) -> Self::Time;

    /// A time with idle time added between it and its neighbour.
    fn delayed(&self, time: Self::Time, idle: Self::Time) -> Self::Time;

    /// The weight of the later of two adjacent values in their mean.
    fn later_weight(&self, earlier: Self::Time, later: Self::Time) -> f64;
}

/// Counts rows: distances from the ends of a run.
#[derive(Debug, Clone, Copy)]
pub struct RowClock {
    alpha: f64,
}

impl Clock for RowClock {
    type Time = u64;

    #[inline]
    fn times(&self, _: usize) -> [u64; 2] {
        [1, 0]
    }

    #[inline]
    fn idle(&self) -> u64 {
        1
    }

    #[inline]
    fn delayed(&self, time: u64, idle: u64) -> u64 {
        time + idle
    }

    #[inline]
    fn later_weight(&self, earlier: u64, later: u64) -> f64 {
        self.alpha / (power(1.0 - self.alpha, earlier + later) + self.alpha)
    }
}

/// A number that can be used as a time.
pub trait TimeValue: ArrowNativeType {
    /// The distance to another.
    fn distance(self, other: Self) -> f64;
}

impl TimeValue for i64 {
    #[inline]
    fn distance(self, other: Self) -> f64 {
        self.abs_diff(other) as f64
    }
}

impl TimeValue for f64 {
    #[inline]
    fn distance(self, other: Self) -> f64 {
        (self - other).abs()
    }
}

/// Reads times from a column.
#[derive(Debug, Clone)]
pub struct TimeClock<N: ArrowNativeType> {
    /// The times of the rows with a value.
    pub times: ScalarBuffer<N>,
    /// The distance over which a weight halves.
    pub half_life: f64,
}

impl<N: TimeValue + Default + SavedValue> Clock for TimeClock<N> {
    type Time = N;

    #[inline]
    fn times(&self, row: usize) -> [N; 2] {
        [self.times[row]; 2]
    }

    #[inline]
    fn idle(&self) -> N {
        N::default()
    }

    #[inline]
    fn delayed(&self, time: N, _: N) -> N {
        time
    }

    #[inline]
    fn later_weight(&self, earlier: N, later: N) -> f64 {
        -(-std::f64::consts::LN_2 * later.distance(earlier) / self.half_life).exp_m1()
    }
}

/// The effect of a run of rows on its first value: `slope * first + offset`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LinearMap<T> {
    /// The number of values.
    pub values: u64,
    /// The first value.
    pub first: f64,
    /// The weight of the first value.
    pub slope: f64,
    /// The weighted sum of the other values.
    pub offset: f64,
    /// The time of the first value, as seen from values before it.
    pub begin: T,
    /// The time of the last value, as seen from values after it; without a value, the idle time.
    pub end: T,
}

/// Updates a mean from value to value.
#[derive(Debug, Clone)]
pub struct RecursiveEwm<C> {
    series: Series,
    clock: C,
}

impl<C: Clock> RecursiveEwm<C> {
    /// Appends the rows of `right` after those of `left`.
    #[inline]
    fn append_state(&self, left: &mut LinearMap<C::Time>, right: &LinearMap<C::Time>) {
        match (left.values, right.values) {
            (_, 0) => left.end = self.clock.delayed(left.end, right.end),
            (0, _) => *left = LinearMap { begin: self.clock.delayed(right.begin, left.end), ..*right },
            _ => {
                let share = self.clock.later_weight(left.end, right.begin);
                let kept = right.slope * (1.0 - share);
                left.slope *= kept;
                left.offset = kept * left.offset + right.slope * share * right.first + right.offset;
                left.values += right.values;
                left.end = right.end;
            }
        }
    }
}

impl<C: Clock> Accumulator for RecursiveEwm<C> {
    type State = LinearMap<C::Time>;

    #[inline]
    fn init(&self) -> Self::State {
        LinearMap::default()
    }

    #[inline]
    fn update(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()> {
        self.series.each(rows, |row, value| {
            let one = match value {
                Some(first) => {
                    let [begin, end] = self.clock.times(row);
                    LinearMap { values: 1, first, slope: 1.0, offset: 0.0, begin, end }
                }
                None => LinearMap { end: self.clock.idle(), ..LinearMap::default() },
            };
            self.append_state(state, &one);
        });
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut Self::State, right: &Self::State) -> Result<()> {
        self.append_state(left, right);
        Ok(())
    }

    fn save(&self, state: &Self::State) -> Result<RecordBatch> {
        let LinearMap { values, first, slope, offset, begin, end } = *state;
        saved_row([
            ("values", values.write()?),
            ("first", first.write()?),
            ("slope", slope.write()?),
            ("offset", offset.write()?),
            ("begin", begin.write()?),
            ("end", end.write()?),
        ])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Self::State> {
        Ok(LinearMap {
            values: saved_value(saved, "values")?,
            first: saved_value(saved, "first")?,
            slope: saved_value(saved, "slope")?,
            offset: saved_value(saved, "offset")?,
            begin: saved_value(saved, "begin")?,
            end: saved_value(saved, "end")?,
        })
    }
}

/// Computes an exponentially weighted mean.
#[derive(Debug, Clone, Copy)]
pub struct EwmMean;

impl EwmMean {
    /// The weighted mean of a column of doubles. Each row of `rows` multiplies the weights of the values before it by
    /// `1 - alpha`.
    ///
    /// # Errors
    /// The column has another type.
    pub fn adjusted(
        values: &dyn Array,
        inclusion: RowMask,
        rows: RowMask,
        alpha: f64,
    ) -> Result<Accumulated<AdjustedEwm, PrimitiveResult<Self>>> {
        let series = Series { values: to_primitive::<Float64Type>(values)?.values().clone(), inclusion, rows };
        Ok(Accumulated::new(AdjustedEwm { series, decay: 1.0 - alpha }, Self))
    }

    /// As [`EwmMean::adjusted`], in the recursive form.
    ///
    /// # Errors
    /// The column has another type.
    pub fn recursive(
        values: &dyn Array,
        inclusion: RowMask,
        rows: RowMask,
        alpha: f64,
    ) -> Result<Accumulated<RecursiveEwm<RowClock>, PrimitiveResult<Self>>> {
        let series = Series { values: to_primitive::<Float64Type>(values)?.values().clone(), inclusion, rows };
        Ok(Accumulated::new(RecursiveEwm { series, clock: RowClock { alpha } }, Self))
    }

    /// The recursive form by the times between values.
    ///
    /// # Errors
    /// The column has another type.
    pub fn timed<C: Clock>(
        values: &dyn Array,
        inclusion: RowMask,
        clock: C,
    ) -> Result<Accumulated<RecursiveEwm<C>, PrimitiveResult<Self>>> {
        let values = to_primitive::<Float64Type>(values)?.values().clone();
        let series = Series { values, rows: inclusion.clone(), inclusion };
        Ok(Accumulated::new(RecursiveEwm { series, clock }, Self))
    }
}

impl PrimitiveReader<WeightedSum> for EwmMean {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &WeightedSum) -> Result<Option<f64>> {
        Ok((state.weight > 0.0).then(|| state.sum / state.weight))
    }
}

impl<T: Send + Sync> PrimitiveReader<LinearMap<T>> for EwmMean {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &LinearMap<T>) -> Result<Option<f64>> {
        Ok((state.values > 0).then_some(state.slope * state.first + state.offset))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::{ArrayRef, Float64Array};

    use super::*;
    use crate::functions::aggregate::accumulator::results;
    use crate::model::aggregate::{Aggregate, ResultReader};

    const X: [Option<f64>; 5] = [None, Some(1.0), None, Some(3.0), Some(6.0)];

    fn column() -> (ArrayRef, RowMask) {
        let column: ArrayRef = Arc::new(Float64Array::from(X.to_vec()));
        let inclusion = RowMask::new(std::slice::from_ref(&column), None);
        (column, inclusion)
    }

    /// The means of growing frames, folded at once and merged from two parts.
    fn growing(mean: &impl Aggregate) -> Vec<Option<f64>> {
        let runs: Vec<_> = (1..=X.len()).map(|end| 0..end).collect();
        let (accumulator, reader) = (mean.accumulator(), mean.reader());
        let whole = results(mean, &runs).unwrap();
        let whole: Vec<_> = whole.as_primitive::<Float64Type>().iter().collect();
        for middle in 0..=X.len() {
            let (mut left, mut right) = (accumulator.init(), accumulator.init());
            accumulator.update(&mut left, 0..middle).unwrap();
            accumulator.update(&mut right, middle..X.len()).unwrap();
            accumulator.merge(&mut left, &right).unwrap();
            let mut out = reader.builder(1);
            reader.evaluate(&accumulator.load(&accumulator.save(&left).unwrap()).unwrap(), &mut out).unwrap();
            let merged = reader.finish(out).unwrap();
            near(&[whole[4]], &[merged.as_primitive::<Float64Type>().iter().next().flatten()]);
        }
        whole
    }

    fn near(expected: &[Option<f64>], found: &[Option<f64>]) {
        let close = |a: &Option<f64>, b: &Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-12,
            (a, b) => a == b,
        };
        assert!(expected.iter().zip(found).all(|(a, b)| close(a, b)), "{expected:?} {found:?}");
    }

    // Expected by pandas 2: Series(x).ewm(alpha=0.5, adjust=.., ignore_na=..).mean().
    #[test]
    fn ewm_mean_matches_pandas() {
        let (values, inclusion) = column();
        let every = EwmMean::adjusted(&values, inclusion.clone(), RowMask::All, 0.5).unwrap();
        near(&[None, Some(1.0), Some(1.0), Some(3.25 / 1.25), Some(7.625 / 1.625)], &growing(&every));
        let valued = EwmMean::adjusted(&values, inclusion.clone(), inclusion.clone(), 0.5).unwrap();
        near(&[None, Some(1.0), Some(1.0), Some(3.5 / 1.5), Some(7.75 / 1.75)], &growing(&valued));
        let every = EwmMean::recursive(&values, inclusion.clone(), RowMask::All, 0.5).unwrap();
        let fourth = (0.25 * 1.0 + 0.5 * 3.0) / 0.75;
        near(&[None, Some(1.0), Some(1.0), Some(fourth), Some(0.5 * fourth + 3.0)], &growing(&every));
        let valued = EwmMean::recursive(&values, inclusion.clone(), inclusion, 0.5).unwrap();
        near(&[None, Some(1.0), Some(1.0), Some(2.0), Some(4.0)], &growing(&valued));
    }

    #[test]
    fn weights_halve_after_each_half_life() {
        let (values, inclusion) = column();
        let times = ScalarBuffer::from(vec![0_i64, 0, 5, 10, 30]);
        let by = EwmMean::timed(&values, inclusion, TimeClock { times, half_life: 10.0 }).unwrap();
        near(&[None, Some(1.0), Some(1.0), Some(2.0), Some(5.0)], &growing(&by));
    }

    #[test]
    fn rows_without_a_value_do_not_change_the_mean() {
        let values = [vec![Some(7.0)], vec![None; 5000]].concat();
        let values: ArrayRef = Arc::new(Float64Array::from(values));
        let inclusion = RowMask::new(std::slice::from_ref(&values), None);
        let mean = EwmMean::adjusted(&values, inclusion, RowMask::All, 0.9).unwrap();
        let means = results(&mean, &[0..5001, 1..5001]).unwrap();
        assert_eq!(means.as_primitive::<Float64Type>().iter().collect::<Vec<_>>(), [Some(7.0), None]);
    }
}
