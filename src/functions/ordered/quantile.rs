//! `median`, `percentile` (`percentile_cont`), `percentile_disc`, `percentile_approx`: values at a fraction of the
//! frame's ordered values.
//!
//! ```text
//!   values, n = 4               10      20      30      40
//!   0.5, interpolated               position (n - 1) * 0.5 = 1.5: 20 + 0.5 * (30 - 20) = 25
//!   0.5, discrete                   rank ceil(n * 0.5) = 2: 20
//! ```
//!
//! Computed in doubles, as in Spark: the rank 0.07 * 100 is 7.000000000000001, hence 8. In descending order the same
//! formulas count from the greatest value. -0.0 sorts before 0.0 in either direction. Interpolated intervals are
//! truncated to whole units. `percentile_approx` has the values' own type and is exact, whatever accuracy is requested.
//! A list of fractions gives a list; a frame without values gives NULL.
//!
//! Cost: O(1) per fraction and row that enters or leaves where frames never move back, O(log m) otherwise, m rows in
//! the partition; the fractions of one list descend the wavelet tree together. With frequencies each frame is summed in
//! order, O(W) or O(W log m) for W rows.

use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray, UInt32Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef};
use arrow_select::take::take;

use crate::error::{Error, Result};
use crate::evaluate::order_statistics::frame_order::{FrameOrderFunction, FrameView};
use crate::functions::list_builder::ListBuilder;
use crate::functions::native::with_type;

/// The requested fractions, and whether they were given as a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuantileShares {
    pub(crate) shares: Vec<f64>,
    /// The element field of the result, if that is a list.
    pub(crate) element: Option<FieldRef>,
}

/// The multiplicity of each value, in the order in which [`FrameView::select`] indexes them.
pub(crate) type Frequencies = Option<ScalarBuffer<i64>>;

/// A value interpolated between two adjacent ones, `part` of the way from the first to the second.
pub(crate) trait Interpolate: Copy + Default {
    fn between(low: Self, high: Self, part: f64) -> Self;
}

impl Interpolate for f64 {
    #[inline]
    fn between(low: Self, high: Self, part: f64) -> Self {
        // The difference of equal infinities is NaN.
        if low == high { low } else { low + part * (high - low) }
    }
}

/// An interpolated number of units, truncated to a whole one.
fn between_units(low: f64, high: f64, part: f64) -> f64 {
    f64::between(low, high, part).trunc()
}

impl Interpolate for i32 {
    #[inline]
    fn between(low: Self, high: Self, part: f64) -> Self {
        between_units(low.into(), high.into(), part) as Self
    }
}

impl Interpolate for i64 {
    #[inline]
    fn between(low: Self, high: Self, part: f64) -> Self {
        if low == high { low } else { between_units(low as f64, high as f64, part) as Self }
    }
}

/// A fraction of `count` values as the indices of the two adjacent values and the part between them.
#[inline]
pub(crate) fn position(share: f64, count: u64) -> (u64, u64, f64) {
    let position = (count - 1) as f64 * share;
    // Positions are not negative, so truncation is rounding down; `floor` is a library call on older processors.
    let low = position as u64;
    let part = position - low as f64;
    (low, low + u64::from(part > 0.0), part)
}

/// The index, from 0, of the first of `count` values at or beyond a fraction.
#[inline]
fn rank(share: f64, count: u64) -> u64 {
    ((share * count as f64).ceil() as u64).clamp(1, count) - 1
}

/// Interpolated quantiles.
pub(crate) struct InterpolatedQuantile<T: ArrowPrimitiveType> {
    /// The values in the order in which [`FrameView::select`] indexes them.
    pub(crate) values: ScalarBuffer<T::Native>,
    pub(crate) shares: QuantileShares,
    pub(crate) frequencies: Frequencies,
    /// The values' type.
    pub(crate) output: DataType,
}

/// Quantiles that are values of the frame.
pub(crate) struct DiscreteQuantile {
    /// The values in the order in which [`FrameView::select`] indexes them.
    pub(crate) values: ArrayRef,
    pub(crate) shares: QuantileShares,
    pub(crate) frequencies: Frequencies,
}

/// The number of values with their multiplicities, and the running sums of these.
#[inline(always)]
fn total_count(view: &mut FrameView, frequencies: &Frequencies, through: &mut Vec<u64>) -> Result<u64> {
    match frequencies {
        None => Ok(view.len() as u64),
        Some(frequencies) => sum_frequencies(view, frequencies, through),
    }
}

fn sum_frequencies(view: &mut FrameView, frequencies: &[i64], through: &mut Vec<u64>) -> Result<u64> {
    through.clear();
    let ks: Vec<u32> = (0..view.len() as u32).collect();
    let mut total = 0_u64;
    for &at in view.select(&ks)? {
        total = total
            .checked_add(u64::try_from(frequencies[at as usize]).unwrap_or(0))
            .ok_or_else(|| Error::overflow("the frequencies of a frame add up to more than 2^64; scale them down"))?;
        through.push(total);
    }
    Ok(total)
}

/// The index of the value at a rank, which is the rank itself where each value is counted once.
#[inline]
fn index_of_place(place: u64, frequencies: &Frequencies, through: &[u64]) -> u32 {
    match frequencies {
        None => place as u32,
        Some(_) => through.partition_point(|&through| through <= place) as u32,
    }
}

/// The results: one list per row, or one value if a single fraction was given.
pub(crate) struct QuantileBuilder<T> {
    lists: ListBuilder<T>,
    valid: Vec<bool>,
    through: Vec<u64>,
    wanted: QuantilePositions,
}

/// The query for one number of values.
#[derive(Default)]
struct QuantilePositions {
    count: u64,
    /// The indices to select, ascending.
    ks: Vec<u32>,
    /// For each fraction its two adjacent values, as indices in `ks`, and the part between them.
    shares: Vec<(u32, u32, f64)>,
}

impl QuantilePositions {
    /// Sets the query for `count` values. `position` gives the two adjacent indices of a fraction, and the part between
    /// them.
    fn of(&mut self, count: u64, shares: &[f64], position: impl Fn(f64) -> (u32, u32, f64)) {
        let Self { ks, shares: wanted, .. } = self;
        wanted.clear();
        wanted.extend(shares.iter().map(|&share| position(share)));
        ks.clear();
        ks.extend(wanted.iter().flat_map(|&(low, high, _)| [low, high]));
        if shares.len() > 1 {
            ks.sort_unstable();
        }
        ks.dedup();
        let place = |k: u32| if k == ks[0] { 0 } else { ks.partition_point(|&other| other < k) as u32 };
        for (low, high, _) in wanted {
            (*low, *high) = (place(*low), place(*high));
        }
        self.count = count;
    }
}

impl<T: Copy + Default> QuantileBuilder<T> {
    fn new(rows: usize, shares: &QuantileShares) -> Self {
        let mut lists = ListBuilder::with_capacity(if shares.element.is_some() { rows } else { 0 });
        lists.items.reserve_exact(rows * shares.shares.len());
        Self { lists, valid: Vec::with_capacity(rows), through: Vec::new(), wanted: QuantilePositions::default() }
    }

    /// Ends a row, which has results or is NULL.
    #[inline(always)]
    fn finish_row(&mut self, shares: &QuantileShares, valid: bool) -> Result<()> {
        if shares.element.is_some() {
            return self.lists.finish_list(valid);
        }
        if !valid {
            self.lists.items.push(T::default());
        }
        self.valid.push(valid);
        Ok(())
    }

    /// Ends a row that has the same results as the previous row.
    #[inline]
    fn repeat_row(&mut self, shares: &QuantileShares) -> Result<bool> {
        if shares.element.is_some() {
            self.lists.repeat_list()?;
        } else {
            self.lists.items.extend_from_within(self.lists.items.len().saturating_sub(1)..);
            self.valid.extend_from_within(self.valid.len().saturating_sub(1)..);
        }
        Ok(true)
    }

    fn finish(
        self,
        shares: &QuantileShares,
        array: impl FnOnce(Vec<T>, Option<NullBuffer>) -> Result<ArrayRef>,
    ) -> Result<ArrayRef> {
        if let Some(element) = &shares.element {
            return self.lists.finish(element, |items| array(items, None));
        }
        let nulls = Some(NullBuffer::from(self.valid)).filter(|nulls| nulls.null_count() > 0);
        array(self.lists.items, nulls)
    }
}

impl<T: ArrowPrimitiveType> FrameOrderFunction for InterpolatedQuantile<T>
where
    T::Native: Interpolate,
{
    type Builder = QuantileBuilder<T::Native>;

    fn builder(&self, rows: usize) -> Self::Builder {
        QuantileBuilder::new(rows, &self.shares)
    }

    #[inline(always)]
    fn evaluate(&self, _: usize, view: &mut FrameView, answers: &mut Self::Builder) -> Result<()> {
        let count = total_count(view, &self.frequencies, &mut answers.through)?;
        let shares = &self.shares.shares;
        if count == 0 || shares.is_empty() {
            return answers.finish_row(&self.shares, false);
        }
        let QuantileBuilder { lists, through, wanted, .. } = answers;
        if count != wanted.count || self.frequencies.is_some() {
            let number = |place| index_of_place(place, &self.frequencies, through);
            wanted.of(count, shares, |share| {
                let (low, high, part) = position(share, count);
                (number(low), number(high), part)
            });
        }
        let places = view.select(&wanted.ks)?;
        let value = |at: u32| self.values[places[at as usize] as usize];
        for &(low, high, part) in &wanted.shares {
            lists.items.push(T::Native::between(value(low), value(high), part));
        }
        answers.finish_row(&self.shares, true)
    }

    #[inline]
    fn repeat(&self, answers: &mut Self::Builder) -> Result<bool> {
        answers.repeat_row(&self.shares)
    }

    fn finish(&self, answers: Self::Builder) -> Result<ArrayRef> {
        answers.finish(&self.shares, |values, nulls| {
            with_type(&PrimitiveArray::<T>::try_new(values.into(), nulls)?, &self.output)
        })
    }
}

impl FrameOrderFunction for DiscreteQuantile {
    type Builder = QuantileBuilder<u32>;

    fn builder(&self, rows: usize) -> Self::Builder {
        QuantileBuilder::new(rows, &self.shares)
    }

    #[inline(always)]
    fn evaluate(&self, _: usize, view: &mut FrameView, answers: &mut Self::Builder) -> Result<()> {
        let count = total_count(view, &self.frequencies, &mut answers.through)?;
        let shares = &self.shares.shares;
        if count == 0 || shares.is_empty() {
            return answers.finish_row(&self.shares, false);
        }
        let QuantileBuilder { lists, through, wanted, .. } = answers;
        if count != wanted.count || self.frequencies.is_some() {
            wanted.of(count, shares, |share| {
                let number = index_of_place(rank(share, count), &self.frequencies, through);
                (number, number, 0.0)
            });
        }
        let places = view.select(&wanted.ks)?;
        lists.items.extend(wanted.shares.iter().map(|&(at, ..)| places[at as usize]));
        answers.finish_row(&self.shares, true)
    }

    #[inline]
    fn repeat(&self, answers: &mut Self::Builder) -> Result<bool> {
        answers.repeat_row(&self.shares)
    }

    fn finish(&self, answers: Self::Builder) -> Result<ArrayRef> {
        answers.finish(&self.shares, |places, nulls| {
            Ok(take(&self.values, &UInt32Array::try_new(places.into(), nulls)?, None)?)
        })
    }
}
