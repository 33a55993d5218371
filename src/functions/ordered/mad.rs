//! `mad`: the median absolute deviation of the frame's values from their median.
//!
//! ```text
//!   values           1   2   4   8  20        the median is 4
//!   distances        3   2 | 0   4  16        ascending outwards on both sides: two sorted sequences
//! ```
//!
//! The k-th of two sorted sequences is found by bisecting the number of its first k elements that are on the left; each
//! probe reads two values of the frame by rank. Doubles are subtracted directly, so the distance of an infinite median
//! from itself is NaN; intervals are computed in whole units, their medians truncated. Cost: O(log W log m) per row for
//! frames of W rows; where frames never move back, so that consecutive results are near each other, the search starts
//! from the previous result: O(1) per row that enters or leaves. All distances are sorted where the median is infinite.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;

use super::quantile::{Interpolate, position};
use crate::error::{Error, Result};
use crate::evaluate::order_statistics::frame_order::{FrameOrderFunction, FrameView};
use crate::functions::native::with_type;

/// Values with distances between them.
pub(crate) trait Distance: Interpolate {
    /// The distance between two values.
    fn distance(self, other: Self) -> Self;

    /// The order of distances, which have no sign; NaN is greatest.
    fn compare(&self, other: &Self) -> Ordering;

    /// Whether the value is infinite, so that its distance from itself is not 0.
    fn is_infinite(self) -> bool;
}

impl Distance for f64 {
    fn distance(self, other: Self) -> Self {
        (self - other).abs()
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }

    fn is_infinite(self) -> bool {
        Self::is_infinite(self)
    }
}

macro_rules! metric_units {
    ($($native:ty),*) => {$(
        impl Distance for $native {
            fn distance(self, other: Self) -> Self {
                self.saturating_sub(other).saturating_abs()
            }

            fn compare(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }

            fn is_infinite(self) -> bool {
                false
            }
        }
    )*};
}
metric_units!(i32, i64);

/// The position of the last result, which affects the speed of the next only.
#[derive(Default)]
pub(crate) struct MadHint {
    /// The number of distances on the left that were not greater.
    left: usize,
    /// The ranks of the adjacent values, on either side of the median.
    places: [usize; 2],
}

/// The median absolute deviation.
pub(crate) struct Mad<T: ArrowPrimitiveType> {
    /// The values in the order in which [`FrameView::select`] indexes them, ascending.
    pub(crate) values: ScalarBuffer<T::Native>,
    /// The values' type.
    pub(crate) output: DataType,
    /// Whether to sort all distances.
    pub(crate) naive: bool,
}

impl<T: ArrowPrimitiveType> Mad<T>
where
    T::Native: Distance,
{
    /// The `ks`-th values; `ks` is ascending.
    fn values<const N: usize>(&self, view: &mut FrameView, ks: [usize; N]) -> Result<[T::Native; N]> {
        let places = view.select(&ks.map(|k| k as u32))?;
        Ok(std::array::from_fn(|at| self.values[places[at] as usize]))
    }

    /// The `k`-th distance, from 0.
    fn distance(&self, view: &mut FrameView, median: T::Native, k: usize, near: &mut MadHint) -> Result<T::Native> {
        let count = view.len();
        let has_set = view.has_set();
        // Values before `middle` are not above the median, the others not below it.
        let middle = count / 2;
        let mut apart = |inner: usize, outer: usize| {
            let [inner, outer] = if has_set {
                // The median is selected again, so that the cursor stays near it.
                let [inner, _, outer] = self.values(view, [inner, (count - 1) / 2, outer])?;
                [inner, outer]
            } else {
                self.values(view, [inner, outer])?
            };
            Ok::<_, Error>([inner.distance(median), outer.distance(median)])
        };
        // The number of the first k + 1 distances on the left: the smallest one that leaves none smaller there.
        let taken = k + 1;
        let mut is_more = |left: usize| {
            let [next, last] = apart(middle - 1 - left, middle + taken - left - 1)?;
            Ok::<_, Error>(next.compare(&last).is_lt())
        };
        let (mut low, mut high) = (taken.saturating_sub(count - middle), taken.min(middle));
        if has_set {
            // In steps that double from the last number, until the result is between two of them.
            let (at, mut step) = (near.left.clamp(low, high), 1);
            if at < high && is_more(at)? {
                low = at + 1;
                while low + step <= high {
                    let probe = low + step - 1;
                    if !is_more(probe)? {
                        high = probe;
                        break;
                    }
                    (low, step) = (probe + 1, 2 * step);
                }
            } else {
                high = at;
                while low < high {
                    let probe = high.saturating_sub(step).max(low);
                    if is_more(probe)? {
                        low = probe + 1;
                        break;
                    }
                    (high, step) = (probe, 2 * step);
                }
            }
        }
        while low < high {
            let left = low + (high - low) / 2;
            if is_more(left)? {
                low = left + 1;
            } else {
                high = left;
            }
        }
        let inner = (low > 0).then(|| middle - low);
        let outer = (taken > low).then(|| middle + taken - low - 1);
        let places = [inner.unwrap_or((count - 1) / 2), outer.unwrap_or((count - 1) / 2)];
        let [left, right] = apart(places[0], places[1])?;
        *near = MadHint { left: low, places };
        Ok(match (inner, outer) {
            (Some(_), Some(_)) if left.compare(&right).is_lt() => right,
            (Some(_), _) => left,
            (None, _) => right,
        })
    }

    /// All distances, ascending: by definition, and where they do not ascend outwards.
    fn distances(&self, view: &mut FrameView, median: T::Native) -> Result<Vec<T::Native>> {
        let ks: Vec<u32> = (0..view.len() as u32).collect();
        let places = view.select(&ks)?.iter();
        let mut distances: Vec<_> = places.map(|&at| self.values[at as usize].distance(median)).collect();
        distances.sort_by(Distance::compare);
        Ok(distances)
    }
}

impl<T: ArrowPrimitiveType> FrameOrderFunction for Mad<T>
where
    T::Native: Distance,
{
    type Builder = (Vec<Option<T::Native>>, MadHint);

    fn builder(&self, rows: usize) -> Self::Builder {
        (Vec::with_capacity(rows), MadHint::default())
    }

    fn evaluate(&self, _: usize, view: &mut FrameView, (answers, near): &mut Self::Builder) -> Result<()> {
        let count = view.len();
        if count == 0 {
            answers.push(None);
            return Ok(());
        }
        let (low, high, part) = position(0.5, count as u64);
        let (low, high) = (low as usize, high as usize);
        let [left, right] = near.places;
        let [_, first, second, _] = self.values(view, [left.min(low), low, high, right.clamp(high, count - 1)])?;
        let median = T::Native::between(first, second, part);
        let [first, second] = if self.naive || median.is_infinite() {
            let distances = self.distances(view, median)?;
            [distances[low], distances[high]]
        } else {
            let first = self.distance(view, median, low, near)?;
            [first, if high == low { first } else { self.distance(view, median, high, near)? }]
        };
        answers.push(Some(T::Native::between(first, second, part)));
        Ok(())
    }

    fn repeat(&self, (answers, _): &mut Self::Builder) -> Result<bool> {
        answers.extend_from_within(answers.len().saturating_sub(1)..);
        Ok(true)
    }

    fn finish(&self, (answers, _): Self::Builder) -> Result<ArrayRef> {
        let answers: PrimitiveArray<T> = answers.into_iter().collect();
        with_type(&(Arc::new(answers) as ArrayRef), &self.output)
    }
}
