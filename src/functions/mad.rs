//! `mad`: the median distance of the frame's values from their median.
//!
//! ```text
//!   values           1   2   4   8  20        the median is 4
//!   distances        3   2 | 0   4  16        ascending outwards on both sides: two sorted sequences
//! ```
//!
//! The k-th of two sorted sequences is found by bisecting how many of the first k are on the left, each probe one value
//! of the frame by its place. Doubles are subtracted as they are, so an infinite median is at no distance (NaN) from
//! itself; intervals in whole units, medians of them cut off. Cost: O(log W log m) per row for frames of W rows;
//! all distances are sorted where the median is infinite.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::DataType;

use super::native::labelled;
use super::quantile::{Between, position};
use crate::error::{Error, Result};
use crate::evaluate::arranged::{Reading, View};

/// Values with distances between them.
pub(crate) trait Metric: Between {
    /// How far apart they are.
    fn distance(self, other: Self) -> Self;

    /// How distances, which have no sign, are ordered; NaN is greatest.
    fn compare(&self, other: &Self) -> Ordering;

    /// Whether it is at no distance from itself.
    fn is_infinite(self) -> bool;
}

impl Metric for f64 {
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
        impl Metric for $native {
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

/// The median absolute deviation.
pub(crate) struct Mad<T: ArrowPrimitiveType> {
    /// The values where [`View::find`] finds them, ascending.
    pub(crate) values: ScalarBuffer<T::Native>,
    /// The values' type.
    pub(crate) output: DataType,
    /// Sorts all distances.
    pub(crate) naive: bool,
}

impl<T: ArrowPrimitiveType> Mad<T>
where
    T::Native: Metric,
{
    fn value(&self, view: &mut View, k: usize) -> Result<T::Native> {
        Ok(self.values[view.find(&[k as u32])?[0] as usize])
    }

    /// The median of what `kth` gives for the places of `count` values.
    fn median(count: usize, mut kth: impl FnMut(usize) -> Result<T::Native>) -> Result<T::Native> {
        let (low, high, part) = position(0.5, count as u64);
        let first = kth(low as usize)?;
        let second = if high == low { first } else { kth(high as usize)? };
        Ok(T::Native::between(first, second, part))
    }

    /// The `k`-th distance, from 0.
    fn distance(&self, view: &mut View, median: T::Native, k: usize) -> Result<T::Native> {
        let count = view.len();
        // Values before `middle` are not above the median, the others not below it.
        let middle = count / 2;
        let mut apart = |place: usize| Ok::<_, Error>(self.value(view, place)?.distance(median));
        // Of the first k + 1 distances so many are on the left: the least number that leaves none smaller there.
        let taken = k + 1;
        let (mut low, mut high) = (taken.saturating_sub(count - middle), taken.min(middle));
        while low < high {
            let left = low + (high - low) / 2;
            let (next, last) = (apart(middle - 1 - left)?, apart(middle + taken - left - 1)?);
            if next.compare(&last).is_lt() {
                low = left + 1;
            } else {
                high = left;
            }
        }
        let left = (low > 0).then(|| apart(middle - low)).transpose()?;
        let right = (taken > low).then(|| apart(middle + taken - low - 1)).transpose()?;
        Ok(match (left, right) {
            (Some(left), Some(right)) if left.compare(&right).is_lt() => right,
            (left, right) => left.or(right).unwrap_or_default(),
        })
    }

    /// All distances, ascending: from the definition, and where they do not ascend outwards.
    fn distances(&self, view: &mut View, median: T::Native) -> Result<Vec<T::Native>> {
        let ks: Vec<u32> = (0..view.len() as u32).collect();
        let places = view.find(&ks)?.iter();
        let mut distances: Vec<_> = places.map(|&at| self.values[at as usize].distance(median)).collect();
        distances.sort_by(Metric::compare);
        Ok(distances)
    }
}

impl<T: ArrowPrimitiveType> Reading for Mad<T>
where
    T::Native: Metric,
{
    type Answers = Vec<Option<T::Native>>;

    fn answers(&self, rows: usize) -> Self::Answers {
        Vec::with_capacity(rows)
    }

    fn read(&self, _: usize, view: &mut View, answers: &mut Self::Answers) -> Result<()> {
        let count = view.len();
        if count == 0 {
            answers.push(None);
            return Ok(());
        }
        let median = Self::median(count, |k| self.value(view, k))?;
        answers.push(Some(if self.naive || median.is_infinite() {
            let distances = self.distances(view, median)?;
            Self::median(count, |k| Ok(distances[k]))?
        } else {
            Self::median(count, |k| self.distance(view, median, k))?
        }));
        Ok(())
    }

    fn finish(&self, answers: Self::Answers) -> Result<ArrayRef> {
        let answers: PrimitiveArray<T> = answers.into_iter().collect();
        labelled(&(Arc::new(answers) as ArrayRef), &self.output)
    }
}
