//! `var_pop`, `var_samp`, `stddev_pop`, `stddev_samp`: from the count, the mean, and the sum of squared distances.
//!
//! A row is added by Welford's update, two states by Chan's, so nothing is ever subtracted from a sum of squares:
//! a variance is never negative, and that of equal values is exactly 0. The mean is kept as its distance from one of
//! the values, the pivot: rounded to a part of the values' spread and not of the values, it costs values near 1e9 no
//! more digits than values near 0.
//! Papers: Welford, "Note on a method for calculating corrected sums of squares and products" (Technometrics 4,
//! 1962); Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm" (1979); `Pébay`, "Formulas for robust,
//! one-pass parallel computation of covariances and arbitrary-order statistical moments" (SAND2008-6212).
//! Long runs are read in blocks, twice each, which takes Welford's division per row off them.

use std::marker::PhantomData;
use std::ops::Range;

use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_buffer::ScalarBuffer;

use super::native::{Saved, each_value, native, saved, saved_value};
use super::readout::{Accumulator, NativeReadout};
use crate::error::Result;
use crate::inclusion::Inclusion;

/// The moments of some values, up to some order: gathered one by one, block by block, or merged.
pub trait Moment: Copy + Default + Send + Sync {
    /// Adds one value.
    fn add(&mut self, value: f64);

    /// Adds values one by one, and the moments after each of them to `out`.
    fn add_each(&mut self, values: impl ExactSizeIterator<Item = f64>, out: &mut Vec<Self>) {
        out.extend(values.map(|value| {
            self.add(value);
            *self
        }));
    }

    /// The moments of a block: its mean, then the distances from it.
    fn of(block: &[f64; BLOCK]) -> Self;

    /// Appends the values of `right`.
    fn merge(&mut self, right: &Self);

    /// The moments as one row of Arrow data.
    ///
    /// # Errors
    /// They do not make an array.
    fn save(&self) -> Result<RecordBatch>;

    /// The moments that `save` wrote.
    ///
    /// # Errors
    /// The data is not what `save` writes.
    fn load(saved: &RecordBatch) -> Result<Self>;
}

/// The first two moments of some values.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    /// How many values. A float, exact far beyond any number of rows, because it only ever meets floats.
    pub count: f64,
    /// One of them.
    pub pivot: f64,
    /// Their mean's distance from it.
    pub offset: f64,
    /// The sum of their squared distances from it.
    pub squares: f64,
}

/// Values read twice while they lie in the first-level cache.
pub const BLOCK: usize = 64;

/// Sums that a block is split over, so that additions need not wait for each other.
pub(super) const LANES: usize = 4;

impl Moments {
    /// The moments of one value, whose distance from itself is 0 if it has one.
    #[inline]
    pub(super) fn one(value: f64) -> Self {
        Self { count: 1.0, pivot: value, offset: 0.0, squares: if value.is_finite() { 0.0 } else { f64::NAN } }
    }

    /// The moments of a block, given the sum of its squared distances from its mean.
    #[inline]
    pub(super) fn of_block(block: &[f64; BLOCK], squares: f64) -> Self {
        Self { count: BLOCK as f64, pivot: block[0], offset: offset(block), squares }
    }

    /// How far the mean of `other` is above this one.
    #[inline]
    pub(super) fn distance(&self, other: &Self) -> f64 {
        (other.pivot - self.pivot) + (other.offset - self.offset)
    }
}

impl Moment for Moments {
    #[inline]
    fn add(&mut self, value: f64) {
        if self.count == 0.0 {
            self.pivot = value;
        }
        self.count += 1.0;
        let distance = (value - self.pivot) - self.offset;
        // The division does not wait for the value before.
        let step = distance * (1.0 / self.count);
        self.offset += step;
        self.squares += distance * (distance - step);
    }

    /// The mean is read off a sum, as Youngs and Cramer do: one addition waits for the value before, not three operations,
    /// 1.4 ns a value and not 3.8.
    #[inline]
    fn add_each(&mut self, values: impl ExactSizeIterator<Item = f64>, out: &mut Vec<Self>) {
        let Self { mut count, mut pivot, mut offset, mut squares } = *self;
        let mut sum = offset * count;
        out.extend(values.map(|value| {
            if count == 0.0 {
                pivot = value;
            }
            count += 1.0;
            let (above, share) = (value - pivot, 1.0 / count);
            let distance = above - offset;
            sum += above;
            offset = sum * share;
            squares += distance * (distance - distance * share);
            Self { count, pivot, offset, squares }
        }));
        *self = Self { count, pivot, offset, squares };
    }

    fn of(block: &[f64; BLOCK]) -> Self {
        let distance = distances(block);
        Self::of_block(block, summed(block, |value| distance(value) * distance(value)))
    }

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
        let (share, distance) = (right.count / count, self.distance(right));
        self.squares += right.squares + distance * distance * self.count * share;
        self.offset += distance * share;
        self.count = count;
    }

    fn save(&self) -> Result<RecordBatch> {
        let Self { count, pivot, offset, squares } = *self;
        saved([
            ("count", count.write()?),
            ("pivot", pivot.write()?),
            ("offset", offset.write()?),
            ("squares", squares.write()?),
        ])
    }

    fn load(saved: &RecordBatch) -> Result<Self> {
        Ok(Self {
            count: saved_value(saved, "count")?,
            pivot: saved_value(saved, "pivot")?,
            offset: saved_value(saved, "offset")?,
            squares: saved_value(saved, "squares")?,
        })
    }
}

/// How far the mean of a block is above its first value: 0 exactly where values are equal.
#[inline]
fn offset(block: &[f64; BLOCK]) -> f64 {
    let first = block[0];
    summed(block, |value| value - first) / BLOCK as f64
}

/// Distances from the mean of a block.
#[inline]
pub(super) fn distances(block: &[f64; BLOCK]) -> impl Fn(f64) -> f64 + use<> {
    let (first, offset) = (block[0], offset(block));
    move |value| (value - first) - offset
}

/// The sum of `f` over a block.
#[inline]
pub(super) fn summed(block: &[f64; BLOCK], f: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    for values in block.chunks_exact(LANES) {
        for (lane, &value) in lanes.iter_mut().zip(values) {
            *lane += f(value);
        }
    }
    lanes.iter().sum()
}

/// Gathers the moments of a column of doubles.
#[derive(Debug, Clone)]
pub struct Values<M> {
    doubles: ScalarBuffer<f64>,
    inclusion: Inclusion,
    gathered: PhantomData<M>,
}

impl<M: Moment> Values<M> {
    /// Those of the rows that take part.
    ///
    /// # Errors
    /// The column holds something else.
    pub fn new(values: &dyn Array, inclusion: Inclusion) -> Result<Self> {
        Ok(Self { doubles: native::<Float64Type>(values)?.values().clone(), inclusion, gathered: PhantomData })
    }
}

impl<M: Moment> Accumulator for Values<M> {
    type State = M;

    #[inline]
    fn init(&self) -> M {
        M::default()
    }

    #[inline]
    fn update(&self, state: &mut M, rows: Range<usize>) {
        if rows.len() < 2 * BLOCK {
            each_value(&self.doubles, &self.inclusion, rows, |value| state.add(value));
            return;
        }
        let (mut block, mut filled) = ([0.0; BLOCK], 0);
        each_value(&self.doubles, &self.inclusion, rows, |value| {
            block[filled] = value;
            filled += 1;
            if filled == BLOCK {
                state.merge(&M::of(&block));
                filled = 0;
            }
        });
        for &value in &block[..filled] {
            state.add(value);
        }
    }

    fn accumulate(&self, state: &mut M, rows: Range<usize>, out: &mut Vec<M>) {
        match &self.inclusion {
            Inclusion::All => state.add_each(self.doubles[rows].iter().copied(), out),
            Inclusion::Mask(_) => out.extend(rows.map(|row| {
                self.append(state, row);
                *state
            })),
        }
    }

    fn prepend_all(&self, state: &mut M, rows: Range<usize>, out: &mut Vec<M>) {
        match &self.inclusion {
            Inclusion::All => state.add_each(self.doubles[rows].iter().rev().copied(), out),
            Inclusion::Mask(_) => out.extend(rows.rev().map(|row| {
                self.prepend(state, row);
                *state
            })),
        }
    }

    #[inline]
    fn append(&self, state: &mut M, row: usize) {
        if self.inclusion.includes(row) {
            state.add(self.doubles[row]);
        }
    }

    /// Moments know no sides.
    #[inline]
    fn prepend(&self, state: &mut M, row: usize) {
        self.append(state, row);
    }

    #[inline]
    fn merge(&self, left: &mut M, right: &M) {
        left.merge(right);
    }

    fn save(&self, state: &M) -> Result<RecordBatch> {
        state.save()
    }

    fn load(&self, saved: &RecordBatch) -> Result<M> {
        M::load(saved)
    }
}

/// Which spread is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// Of a sample: the divisor is one less, and one value has none.
    pub sample: bool,
    /// The square root: the standard deviation.
    pub root: bool,
}

impl NativeReadout<Moments> for Spread {
    type Type = Float64Type;

    #[inline]
    fn read(&self, state: &Moments) -> Result<Option<f64>> {
        let divisor = if self.sample { state.count - 1.0 } else { state.count };
        Ok((divisor > 0.0).then(|| {
            let variance = state.squares / divisor;
            if self.root { variance.sqrt() } else { variance }
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use arrow_array::Float64Array;
    use arrow_array::cast::AsArray;

    use super::*;
    use crate::functions::readout::{Accumulated, results};

    /// `var_pop`, `var_samp`, `stddev_pop`, `stddev_samp` of all of `values`.
    fn spreads(values: Vec<f64>) -> [Option<f64>; 4] {
        let column = Float64Array::from(values);
        [(false, false), (true, false), (false, true), (true, true)].map(|(sample, root)| {
            let values = Values::new(&column, Inclusion::All).unwrap();
            let spread = Accumulated::new(values, Spread { sample, root });
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
    fn equal_values_have_no_spread() {
        assert_eq!(spreads(vec![0.1; 1000]), [Some(0.0); 4]);
        assert_eq!(spreads(vec![1e17 / 3.0; 7]), [Some(0.0); 4]);
        assert_eq!(spreads(vec![-0.3; 3 * BLOCK]), [Some(0.0); 4]);
    }

    #[test]
    fn what_is_not_finite_has_none_either() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let [population, sample, ..] = spreads(vec![value]);
            assert!(population.unwrap().is_nan() && sample.is_none());
            for many in [1, 2 * BLOCK] {
                let values = [vec![1.0; many], vec![value], vec![2.0; many]].concat();
                assert!(spreads(values).iter().all(|spread| spread.unwrap().is_nan()));
            }
        }
    }

    /// The moments after each value, of values added one by one in either direction, are those that `update` finds.
    #[test]
    fn values_one_by_one() {
        let sets: [fn(u32) -> f64; 4] = [
            |_| 0.1,
            |row| 1e9 + f64::from(row % 2),
            |row| if row == 0 { 1e16 } else { f64::from(row % 7) },
            |row| f64::from(row * row % 97) / 7.0,
        ];
        for set in sets {
            let values: Vec<_> = (0..300).map(set).collect();
            for backwards in [false, true] {
                let mut column = values.clone();
                let (mut state, mut after) = (Moments::default(), Vec::new());
                let accumulator = |column: &[f64]| {
                    Values::<Moments>::new(&Float64Array::from(column.to_vec()), Inclusion::All).unwrap()
                };
                if backwards {
                    accumulator(&column).prepend_all(&mut state, 0..300, &mut after);
                    column.reverse();
                } else {
                    accumulator(&column).accumulate(&mut state, 0..300, &mut after);
                }
                assert_eq!(after.last(), Some(&state));
                for (rows, found) in (1..).zip(&after) {
                    let expected = spreads(column[..rows].to_vec())[0].unwrap();
                    let found = Spread { sample: false, root: false }.read(found).unwrap().unwrap();
                    assert!((found - expected).abs() <= 1e-11 * expected, "{found} {expected} of {rows} rows");
                }
            }
        }
    }

    #[test]
    fn a_large_mean_costs_nothing() {
        let values = (0..1000).map(|value| 1e9 + f64::from(value % 2)).collect::<Vec<_>>();
        for few in [10, 100, 1000] {
            assert!((spreads(values[..few].to_vec())[0].unwrap() - 0.25).abs() < 1e-14);
        }
    }
}
