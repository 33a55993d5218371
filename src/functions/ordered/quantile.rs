//! `median`, `percentile` (`percentile_cont`), `percentile_disc`, `percentile_approx`: values at a share of the way
//! through the frame's ordered values.
//!
//! ```text
//!   values, n = 4               10      20      30      40
//!   share 0.5, interpolated         position (n - 1) * 0.5 = 1.5: 20 + 0.5 * (30 - 20) = 25
//!   share 0.5, discrete             rank ceil(n * 0.5) = 2: 20
//! ```
//!
//! All in doubles, as Spark computes it: a rank of 0.07 * 100 is 7.000000000000001, so 8. Descending order is counted from
//! the greatest value by the same formulas. -0.0 stands before 0.0 in either direction. Interpolated intervals are cut
//! off, not rounded, to whole units. `percentile_approx` has the values' own type and is exact, whatever accuracy is
//! asked for. Lists of shares give lists; a frame without values gives NULL.
//!
//! Cost: O(1) per share and row that comes or goes where frames never go back, O(log m) where they do, m rows in the
//! partition; shares of one list go down the wavelet together. With frequencies each frame is summed up in order, O(W)
//! or O(W log m) for W rows.

use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray, UInt32Array};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef};
use arrow_select::take::take;

use crate::error::{Error, Result};
use crate::evaluate::order_statistics::frame_order::{FrameOrderFunction, FrameView};
use crate::functions::list_builder::ListBuilder;
use crate::functions::native::with_type;

/// The shares asked for, and whether they were a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuantileShares {
    pub(crate) shares: Vec<f64>,
    /// The element of the list that is the answer, if it is one.
    pub(crate) element: Option<FieldRef>,
}

/// How often each value counts, where [`FrameView::select`] finds it.
pub(crate) type Frequencies = Option<ScalarBuffer<i64>>;

/// A value from its neighbours in the order, `part` of the way from the first to the second.
pub(crate) trait Interpolate: Copy + Default {
    fn between(low: Self, high: Self, part: f64) -> Self;
}

impl Interpolate for f64 {
    #[inline]
    fn between(low: Self, high: Self, part: f64) -> Self {
        // Equal infinities have no distance.
        if low == high { low } else { low + part * (high - low) }
    }
}

/// Units between units, cut off to whole ones.
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

/// Where a share of the way through `count` values is: the places of its neighbours, and how far between them.
#[inline]
pub(crate) fn position(share: f64, count: u64) -> (u64, u64, f64) {
    let position = (count - 1) as f64 * share;
    // Positions are not negative, so cutting off is rounding down; rounding itself is a call on processors of old.
    let low = position as u64;
    let part = position - low as f64;
    (low, low + u64::from(part > 0.0), part)
}

/// The place, from 0, of the first of `count` values at or beyond a share.
#[inline]
fn rank(share: f64, count: u64) -> u64 {
    ((share * count as f64).ceil() as u64).clamp(1, count) - 1
}

/// Quantiles between values.
pub(crate) struct InterpolatedQuantile<T: ArrowPrimitiveType> {
    /// The values where [`FrameView::select`] finds them.
    pub(crate) values: ScalarBuffer<T::Native>,
    pub(crate) shares: QuantileShares,
    pub(crate) frequencies: Frequencies,
    /// The values' type.
    pub(crate) output: DataType,
}

/// Quantiles that are values.
pub(crate) struct DiscreteQuantile {
    /// The values where [`FrameView::select`] finds them.
    pub(crate) values: ArrayRef,
    pub(crate) shares: QuantileShares,
    pub(crate) frequencies: Frequencies,
}

/// How many values there are, each counted as often as it is said to; and how often with the ones before it.
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

/// The number of the value at a place, which is the place itself where each value counts once.
#[inline]
fn index_of_place(place: u64, frequencies: &Frequencies, through: &[u64]) -> u32 {
    match frequencies {
        None => place as u32,
        Some(_) => through.partition_point(|&through| through <= place) as u32,
    }
}

/// What is collected: a list per row, of one value where one share was asked for.
pub(crate) struct QuantileBuilder<T> {
    lists: ListBuilder<T>,
    valid: Vec<bool>,
    through: Vec<u64>,
    wanted: QuantilePositions,
}

/// What is wanted of so many values.
#[derive(Default)]
struct QuantilePositions {
    count: u64,
    /// Which of them, ascending.
    ks: Vec<u32>,
    /// For each share its neighbours, as places in `ks`, and how far between them it is.
    shares: Vec<(u32, u32, f64)>,
}

impl QuantilePositions {
    /// Turns to `count` values. `position` is the two that a share is between, as they are numbered, and how far.
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

    /// Ends a row, which has answers or is NULL.
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

    /// Ends a row whose answers are those of the row before.
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
