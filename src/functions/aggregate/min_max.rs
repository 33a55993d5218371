//! min, max of numbers, dates, times, decimals and other native types; of equal values the first is kept. Types without
//! a native order (strings, booleans, nested types) are compared by row, in `arg_min_max.rs`.
//!
//! NaN is greatest and -0.0 equals 0.0, as in Spark. The state is the value; results are relabelled to the column's
//! exact type.

use std::hint::select_unpredictable;
use std::ops::Range;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::{ArrowNativeType, ScalarBuffer, i256};
use arrow_schema::DataType;

use crate::error::Result;
use crate::functions::native::{
    for_each_slot, scan_slots, scan_slots_back, select_present, to_primitive, visit_slot, with_type,
};
use crate::functions::results::{PrimitiveResults, in_slot};
use crate::functions::saved_state::{saved_column, saved_row};
use crate::model::aggregate::{Accumulator, ResultReader, Selective};
use crate::model::row_mask::RowMask;
use crate::util::bitmap::{WORD_BITS, word};
use crate::util::simd::with_widest_vectors;

/// Up to this many rows with NULLs are processed at once; the remainder of a tree's leaf is no longer.
const MAX_MASKED_ROWS: usize = 16;

/// Values compared at a time.
const COMPARE_LANES: usize = 8;

/// Minimum or maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extremum {
    /// The minimum.
    Min,
    /// The maximum.
    Max,
}

/// Values in Spark's order.
pub trait TotalOrd: ArrowNativeType {
    /// The least value of the type.
    const LEAST: Self;

    /// The greatest value of the type.
    const GREATEST_VALUE: Self;

    /// Whether values may be compared in any order, by vector instructions: only if equal values are indistinguishable.
    const VECTORIZES: bool;

    /// Whether `self` comes before `other`.
    fn before(self, other: Self) -> bool;

    /// `self` if `taken`, the result of a comparison, else `other`; without a branch.
    #[must_use]
    fn select(self, other: Self, taken: bool) -> Self;

    /// `self` if present by a bitmap, else `other`; without a branch.
    #[inline]
    #[must_use]
    fn select_present(self, other: Self, present: bool) -> Self {
        self.select(other, present)
    }
}

macro_rules! ordered {
    ($($native:ty),*) => {$(
        impl TotalOrd for $native {
            const LEAST: Self = Self::MIN;
            const GREATEST_VALUE: Self = Self::MAX;
            const VECTORIZES: bool = size_of::<Self>() <= size_of::<u64>();

            #[inline]
            fn before(self, other: Self) -> bool {
                self < other
            }

            #[inline]
            fn select(self, other: Self, taken: bool) -> Self {
                select_unpredictable(taken, self, other)
            }
        }
    )*};
}
ordered!(i32, i64, u64, i128, i256);

impl TotalOrd for f64 {
    const LEAST: Self = Self::NEG_INFINITY;
    const GREATEST_VALUE: Self = Self::NAN;
    // Zeros have signs, and there are many NaNs.
    const VECTORIZES: bool = false;

    #[inline]
    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN is meant: where either is one, the comparison is false")]
    fn before(self, other: Self) -> bool {
        // Every number comes before NaN; two NaNs are equal.
        !(other <= self) & !self.is_nan()
    }

    #[inline]
    fn select(self, other: Self, taken: bool) -> Self {
        // Selecting floats would compile to a branch.
        Self::from_bits(select_unpredictable(taken, self.to_bits(), other.to_bits()))
    }

    #[inline]
    fn select_present(self, other: Self, present: bool) -> Self {
        select_present(self, other, present)
    }
}

/// The extremum of values, if there are any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExtremeState<N> {
    /// Without values, the identity, which every value beats or equals: comparisons then need not check `any`.
    value: N,
    /// 1 if there are values, else 0. As wide as most values, so that compilers vectorise the two together.
    any: u64,
}

/// The minimum or maximum of a column of natives.
#[derive(Debug, Clone)]
pub struct MinMax<T: ArrowPrimitiveType, const GREATEST: bool> {
    values: ScalarBuffer<T::Native>,
    inclusion: RowMask,
    output: DataType,
}

impl<T: ArrowPrimitiveType<Native: TotalOrd>, const GREATEST: bool> MinMax<T, GREATEST> {
    /// The value that beats no other.
    const IDENTITY: T::Native = if GREATEST { T::Native::LEAST } else { T::Native::GREATEST_VALUE };

    /// The extremum of `column`, whose values are natives of `T` in the same order.
    ///
    /// # Errors
    /// The column's values are not `T`'s.
    pub fn new(column: &dyn Array, inclusion: RowMask) -> Result<Self> {
        let values = to_primitive::<T>(column)?.values().clone();
        Ok(Self { values, inclusion, output: column.data_type().clone() })
    }

    /// Whether `new` replaces `old`.
    #[inline]
    fn replaces(new: T::Native, old: T::Native) -> bool {
        if GREATEST { old.before(new) } else { new.before(old) }
    }

    /// The better of two values, on ties the first.
    #[inline]
    fn better(first: T::Native, second: T::Native) -> T::Native {
        second.select(first, Self::replaces(second, first))
    }

    /// The extremum of the values whose bit is set. All of them are compared, in pairs, since their number is
    /// unpredictable.
    #[inline]
    fn best_of(values: &[T::Native; MAX_MASKED_ROWS], present: u64) -> T::Native {
        let mut best: [_; MAX_MASKED_ROWS] =
            std::array::from_fn(|at| values[at].select_present(Self::IDENTITY, (present >> at) & 1 != 0));
        let mut left = MAX_MASKED_ROWS;
        while left > 1 {
            left /= 2;
            for at in 0..left {
                best[at] = Self::better(best[2 * at], best[2 * at + 1]);
            }
        }
        best[0]
    }

    /// The extremum per lane of a word's values whose bit is set; compilers vectorise it.
    #[inline(always)]
    fn best_of_word(values: &[T::Native; WORD_BITS], present: u64) -> T::Native {
        let mut best = [Self::IDENTITY; COMPARE_LANES];
        for (number, values) in values.as_chunks::<COMPARE_LANES>().0.iter().enumerate() {
            let present = present >> (COMPARE_LANES * number);
            for at in 0..COMPARE_LANES {
                let value = values[at].select_present(Self::IDENTITY, (present >> at) & 1 != 0);
                best[at] = Self::better(best[at], value);
            }
        }
        best.into_iter().fold(Self::IDENTITY, Self::better)
    }

    /// Appends the values of `rows` in whole words. Returns the remaining rows.
    fn update_words(&self, state: &mut ExtremeState<T::Native>, rows: Range<usize>) -> Range<usize> {
        let (words, rest) = self.values[rows.clone()].as_chunks::<WORD_BITS>();
        *state = with_widest_vectors(
            #[inline(always)]
            || {
                let mut best = *state;
                for (at, values) in rows.clone().step_by(WORD_BITS).zip(words) {
                    let present = self.inclusion.word(at);
                    best.value = Self::better(best.value, Self::best_of_word(values, present));
                    best.any |= u64::from(present != 0);
                }
                best
            },
        );
        rows.end - rest.len()..rows.end
    }

    /// The state if it is kept, else the empty state.
    #[inline(always)]
    fn masked(state: ExtremeState<T::Native>, keep: Option<u64>) -> ExtremeState<T::Native> {
        let keep = keep.unwrap_or(u64::MAX);
        ExtremeState { value: state.value.select_present(Self::IDENTITY, keep != 0), any: state.any & keep }
    }

    /// Appends a value, if it is counted.
    #[inline]
    fn append_if(state: &mut ExtremeState<T::Native>, value: T::Native, takes_part: bool) {
        state.value = Self::better(state.value, value.select_present(Self::IDENTITY, takes_part));
        state.any |= u64::from(takes_part);
    }

    /// Prepends a value, if it is counted: on ties it is the one kept.
    #[inline]
    fn prepend_if(state: &mut ExtremeState<T::Native>, value: T::Native, takes_part: bool) {
        state.value = Self::better(value.select_present(Self::IDENTITY, takes_part), state.value);
        state.any |= u64::from(takes_part);
    }
}

impl<T: ArrowPrimitiveType<Native: TotalOrd>, const GREATEST: bool> Accumulator for MinMax<T, GREATEST> {
    type State = ExtremeState<T::Native>;

    #[inline]
    fn init(&self) -> Self::State {
        ExtremeState { value: Self::IDENTITY, any: 0 }
    }

    #[inline]
    fn update(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()> {
        if let RowMask::Mask(bits) = &self.inclusion
            && rows.len() <= MAX_MASKED_ROWS
            && let Some(values) = self.values[rows.start..].first_chunk()
        {
            let present = word(bits, rows.start) & !(u64::MAX << rows.len());
            return self
                .merge(state, &ExtremeState { value: Self::best_of(values, present), any: u64::from(present != 0) });
        }
        let words = T::Native::VECTORIZES && rows.len() >= WORD_BITS;
        let rows = if words { self.update_words(state, rows) } else { rows };
        let mut best = *state;
        for_each_slot(&self.values, &self.inclusion, rows, |value, takes_part| {
            Self::append_if(&mut best, value, takes_part);
        });
        *state = best;
        Ok(())
    }

    #[inline]
    fn append(&self, state: &mut Self::State, row: usize) -> Result<()> {
        visit_slot(&self.values, &self.inclusion, row, |value, takes_part| Self::append_if(state, value, takes_part));
        Ok(())
    }

    fn append_scan(
        &self,
        state: &mut Self::State,
        rows: Range<usize>,
        mut keep: impl Iterator<Item = u64>,
        out: &mut [Self::State],
    ) -> Result<()> {
        *state = scan_slots(&self.values, &self.inclusion, rows, *state, out, |best, value, takes_part| {
            let mut best = Self::masked(best, keep.next());
            Self::append_if(&mut best, value, takes_part);
            best
        });
        Ok(())
    }

    #[inline]
    fn prepend(&self, state: &mut Self::State, row: usize) -> Result<()> {
        visit_slot(&self.values, &self.inclusion, row, |value, takes_part| Self::prepend_if(state, value, takes_part));
        Ok(())
    }

    fn prepend_scan(
        &self,
        state: &mut Self::State,
        rows: Range<usize>,
        mut keep: impl Iterator<Item = u64>,
        out: &mut [Self::State],
    ) -> Result<()> {
        *state = scan_slots_back(&self.values, &self.inclusion, rows, *state, out, |best, value, takes_part| {
            let mut best = Self::masked(best, keep.next());
            Self::prepend_if(&mut best, value, takes_part);
            best
        });
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut Self::State, right: &Self::State) -> Result<()> {
        left.value = Self::better(left.value, right.value);
        left.any |= right.any;
        Ok(())
    }

    fn save(&self, state: &Self::State) -> Result<RecordBatch> {
        let mut value = self.builder(1);
        self.evaluate(state, &mut value)?;
        saved_row([("value", self.finish(value)?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Self::State> {
        let value = to_primitive::<T>(saved_column(saved, "value")?)?;
        let any = value.is_valid(0);
        Ok(ExtremeState { value: if any { value.value(0) } else { Self::IDENTITY }, any: u64::from(any) })
    }
}

impl<T: ArrowPrimitiveType<Native: TotalOrd>, const GREATEST: bool> ResultReader<ExtremeState<T::Native>>
    for MinMax<T, GREATEST>
{
    type Builder = PrimitiveResults<T>;

    fn builder(&self, capacity: usize) -> Self::Builder {
        PrimitiveResults::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &ExtremeState<T::Native>, out: &mut Self::Builder) -> Result<()> {
        self.repeat(state, 1, out)
    }

    #[inline(always)]
    fn evaluate_block(
        &self,
        states: impl ExactSizeIterator<Item = Result<ExtremeState<T::Native>>>,
        out: &mut Self::Builder,
    ) -> Result<()> {
        out.extend(states.map(|state| state.map(|state| in_slot((state.any != 0).then_some(state.value)))))
    }

    fn repeat(&self, state: &ExtremeState<T::Native>, times: usize, out: &mut Self::Builder) -> Result<()> {
        out.repeat((state.any != 0).then_some(state.value), times);
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        with_type(&out.finish()?, &self.output)
    }
}

impl<T: ArrowPrimitiveType<Native: TotalOrd>, const GREATEST: bool> Selective for MinMax<T, GREATEST> {
    #[inline]
    fn includes(&self, row: usize) -> bool {
        self.inclusion.includes(row)
    }

    #[inline]
    fn prefers_old(&self, old: usize, new: usize) -> bool {
        !Self::replaces(self.values[new], self.values[old])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::{Decimal128Type, Float64Type, Int32Type, Int64Type, UInt64Type};
    use arrow_array::{Float64Array, Int64Array, PrimitiveArray};
    use arrow_buffer::BooleanBuffer;

    use super::*;
    use crate::functions::aggregate::accumulator::results;
    use crate::util::simd::portable_and_widest;

    fn end<const GREATEST: bool>(column: &Float64Array) -> f64 {
        let extremum = MinMax::<Float64Type, GREATEST>::new(column, RowMask::All).unwrap();
        results(&extremum, &[0..column.len()]).unwrap().as_primitive::<Float64Type>().value(0)
    }

    /// The minimum and maximum of all of `values`.
    fn ends(values: Vec<f64>) -> [f64; 2] {
        let column = Float64Array::from(values);
        [end::<false>(&column), end::<true>(&column)]
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

    /// The identity is also a possible value; frames of all widths, with NULLs at all positions.
    #[test]
    fn extreme_values_are_not_nulls() {
        let values: Vec<_> = (0..40).map(|row| [Some(i64::MAX), None, Some(7), None][row * row % 7 % 4]).collect();
        let floats: Vec<_> = values.iter().map(|value| value.map(|v| if v == 7 { 7.0 } else { f64::NAN })).collect();
        let (column, floats) = (Int64Array::from(values.clone()), Float64Array::from(floats));
        let frames: Vec<_> = (0..40).flat_map(|begin| (begin..=40).map(move |end| begin..end)).collect();
        let least = |frame: &Range<usize>| values[frame.clone()].iter().flatten().min().copied();
        let expected: Vec<_> = frames.iter().map(least).collect();

        let min = MinMax::<Int64Type, false>::new(&column, RowMask::new(&[Arc::new(column.clone())], None)).unwrap();
        assert_eq!(results(&min, &frames).unwrap().as_primitive(), &Int64Array::from(expected.clone()));
        let min = MinMax::<Float64Type, false>::new(&floats, RowMask::new(&[Arc::new(floats.clone())], None)).unwrap();
        let found = results(&min, &frames).unwrap();
        let found = found.as_primitive::<Float64Type>().iter();
        let found: Vec<_> = found.map(|value| value.map(|v| if v.is_nan() { i64::MAX } else { v as i64 })).collect();
        assert_eq!(found, expected);
    }

    /// Whole words of values, for either end and all widths, with and without NULLs, compared with single values.
    #[test]
    fn word_extremes_match_values() {
        fn check<T: ArrowPrimitiveType<Native: TotalOrd>, const GREATEST: bool>(value: fn(usize) -> T::Native) {
            let column = PrimitiveArray::<T>::from_iter_values((0..300).map(value));
            let bits =
                BooleanBuffer::collect_bool(303, |bit| bit * bit % 7 > 1 && !(70..150).contains(&bit)).slice(3, 300);
            for inclusion in [RowMask::All, RowMask::Mask(bits)] {
                let ends = MinMax::<T, GREATEST>::new(&column, inclusion).unwrap();
                for rows in [0..300, 0..64, 5..69, 1..129, 70..140, 100..300, 299..300] {
                    let mut expected = ends.init();
                    rows.clone().for_each(|row| ends.append(&mut expected, row).unwrap());
                    let found = portable_and_widest(|| {
                        let mut found = ends.init();
                        ends.update(&mut found, rows.clone()).unwrap();
                        found
                    });
                    // Compared as strings, since a NaN does not equal itself, and zeros of either sign are equal.
                    assert_eq!(
                        found.map(|found| format!("{found:?}")),
                        [(); 2].map(|()| format!("{expected:?}")),
                        "{rows:?}"
                    );
                }
            }
        }
        check::<Int64Type, false>(|row| [i64::MAX, 5, -7, i64::MIN + 1][row * row % 7 % 4]);
        check::<Int64Type, true>(|row| [i64::MIN, 5, -7][row * row % 7 % 3]);
        check::<Int32Type, false>(|row| (row * 7919 % 1009) as i32 - 500);
        check::<UInt64Type, true>(|row| (row as u64 * 7919 % 1009) << 54);
        check::<Decimal128Type, true>(|row| (row as i128 * 7919 % 1009 - 500) << 80);
        check::<Float64Type, false>(|row| [-0.0, 0.0, 1.5][row * row % 7 % 3]);
    }
}
