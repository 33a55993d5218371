//! Totals: sums with the number of their values, the state of every sum and average.
//!
//! | values | summed in |
//! |---|---|
//! | int32, int64, uint64, durations, intervals | 64 bits where every sum of a section's rows fits, else 128 |
//! | decimal | 128 bits where every sum of a section's rows fits, else 320 |
//! | float64 | a sum and its rounding errors |
//!
//! Which width suffices follows from the values' type and number, or else from one scan of the values
//! ([`SumAccumulator::fits_in`]), unless each row is added only once, together with others of its partition: then 128
//! bits cost no more than the scan. A row that is not counted adds zero: the loops have no branch on it.

use std::marker::PhantomData;
use std::ops::{BitOr, Range};

use arrow_array::RecordBatch;
use arrow_buffer::{ArrowNativeType, ScalarBuffer};

use super::sum_state::{ExactSum, SumInput, SumOf};
use crate::error::Result;
use crate::functions::native::{for_each_grouped_slot, scan_slots, scan_slots_back, visit_slot};
use crate::functions::saved_state::saved_value;
use crate::model::aggregate::{Accumulator, Retractable};
use crate::model::group_ids::RowGroups;
use crate::model::row_mask::RowMask;
use crate::util::bitmap::{WORD_BITS, word};
use crate::util::reserve;
use crate::util::simd::with_widest_vectors;
use crate::util::threads::Threads;

/// A sum and the number of its values, which distinguishes an empty frame from one that sums to zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SumState<S> {
    /// The sum.
    pub sum: S,
    /// The number of values.
    pub count: u64,
}

/// Values whose significant bits can be counted.
pub trait BitWidth: ArrowNativeType + BitOr<Output = Self> {
    /// The maximum number of significant bits of a value, without the sign.
    const BITS: u32;

    /// The value without its sign: its distance from 0, or from -1 if it is negative.
    #[must_use]
    fn magnitude(self) -> Self;

    /// The number of significant bits of an unsigned value.
    fn bit_count(self) -> u32;
}

macro_rules! measured {
    ($($native:ty),*) => {$(
        impl BitWidth for $native {
            const BITS: u32 = if Self::MIN == 0 { Self::BITS } else { Self::BITS - 1 };

            #[inline]
            fn magnitude(self) -> Self {
                // Unsigned numbers have no sign.
                let sign = if Self::MIN == 0 { 0 } else { self >> (Self::BITS - 1) };
                self ^ sign
            }

            #[inline]
            fn bit_count(self) -> u32 {
                Self::BITS - self.leading_zeros()
            }
        }
    )*};
}
measured!(i32, i64, u64, i128);

/// Sums a column of `N` in an `S`.
#[derive(Debug, Clone)]
pub struct SumAccumulator<N: ArrowNativeType, S> {
    values: ScalarBuffer<N>,
    inclusion: RowMask,
    sum: PhantomData<S>,
}

impl<N: ArrowNativeType, S> SumAccumulator<N, S> {
    pub(super) fn new(values: ScalarBuffer<N>, inclusion: RowMask) -> Self {
        Self { values, inclusion, sum: PhantomData }
    }

    /// Whether `T` can hold every sum of these values: by their number, or else, with `look`, by a scan of them.
    ///
    /// The caller guarantees that no sums of other rows are merged with theirs.
    ///
    /// # Errors
    /// The system cannot start threads.
    pub fn fits_in<T: ExactSum>(&self, look: bool, threads: &Threads) -> Result<bool>
    where
        N: BitWidth,
    {
        let fit = |bits| bits + BitWidth::bit_count(self.values.len() as u64) <= T::BITS;
        if fit(N::BITS) || !look {
            return Ok(fit(N::BITS));
        }
        let values = &self.values[..];
        let longest = threads.map(threads.ranges(&(0..values.len())), |rows| {
            let values = &values[rows];
            Ok(with_widest_vectors(
                #[inline(always)]
                move || values.iter().fold(N::default(), |all, value| all | value.magnitude()),
            ))
        })?;
        Ok(fit(longest.into_iter().fold(N::default(), |all, some| all | some).bit_count()))
    }

    /// The same values, summed in `T`, which can hold their sums ([`SumAccumulator::fits_in`]).
    #[must_use]
    pub fn with_width<T>(self) -> SumAccumulator<N, T> {
        SumAccumulator::new(self.values, self.inclusion)
    }
}

impl<S> SumAccumulator<u64, S> {
    /// The same values as signed; the top bits are zero if an `i64` can hold their sums ([`SumAccumulator::fits_in`]).
    pub(crate) fn signed(self) -> SumAccumulator<i64, S> {
        SumAccumulator::new(self.values.into_inner().into(), self.inclusion)
    }
}

impl<S> SumAccumulator<i32, S> {
    /// The same values in 64 bits.
    ///
    /// # Errors
    /// There is no memory for them.
    pub(crate) fn widened(self) -> Result<SumAccumulator<i64, S>> {
        let values = reserve::collect(self.values.iter().map(|&value| i64::from(value)))?;
        Ok(SumAccumulator::new(values.into(), self.inclusion))
    }
}

impl<N: SumInput, S: SumOf<N>> SumAccumulator<N, S> {
    /// The total if it is kept, else the empty one.
    #[inline(always)]
    fn masked(total: SumState<S>, keep: Option<u64>) -> SumState<S> {
        let keep = keep.unwrap_or(u64::MAX);
        SumState { sum: total.sum.or_zero(keep), count: total.count & keep }
    }

    #[inline]
    fn add_if(state: &mut SumState<S>, value: N, takes_part: bool) {
        state.sum.add(value.masked(takes_part));
        state.count += u64::from(takes_part);
    }
}

impl<N: SumInput, S: SumOf<N>> Accumulator for SumAccumulator<N, S> {
    type State = SumState<S>;

    #[inline]
    fn init(&self) -> SumState<S> {
        SumState { sum: S::ZERO, count: 0 }
    }

    #[inline]
    fn update(&self, state: &mut SumState<S>, rows: Range<usize>) -> Result<()> {
        let mut total = *state;
        match &self.inclusion {
            RowMask::All => {
                let values = &self.values[rows];
                total.count += values.len() as u64;
                total.sum.add_all(values);
            }
            RowMask::Mask(bits) => {
                let (words, rest) = self.values[rows.clone()].as_chunks::<WORD_BITS>();
                with_widest_vectors(
                    #[inline(always)]
                    || {
                        for (at, values) in rows.clone().step_by(WORD_BITS).zip(words) {
                            let present = word(bits, at);
                            total.sum.add_present(values, present);
                            total.count += u64::from(present.count_ones());
                        }
                    },
                );
                let present = word(bits, rows.end - rest.len());
                for (bit, &value) in rest.iter().enumerate() {
                    Self::add_if(&mut total, value, (present >> bit) & 1 != 0);
                }
            }
        }
        *state = total;
        Ok(())
    }

    #[inline]
    fn append(&self, state: &mut SumState<S>, row: usize) -> Result<()> {
        visit_slot(&self.values, &self.inclusion, row, |value, takes_part| Self::add_if(state, value, takes_part));
        Ok(())
    }

    #[inline(always)]
    fn append_grouped(
        &self,
        states: &mut [SumState<S>],
        first: usize,
        groups: &RowGroups,
        rows: Range<usize>,
    ) -> Result<()> {
        for_each_grouped_slot(&self.values, &self.inclusion, groups, rows, |group, value, takes_part| {
            Self::add_if(&mut states[group - first], value, takes_part);
        });
        Ok(())
    }

    fn append_scan(
        &self,
        state: &mut SumState<S>,
        rows: Range<usize>,
        mut keep: impl Iterator<Item = u64>,
        out: &mut [SumState<S>],
    ) -> Result<()> {
        *state = scan_slots(&self.values, &self.inclusion, rows, *state, out, |total, value, takes_part| {
            let mut total = Self::masked(total, keep.next());
            Self::add_if(&mut total, value, takes_part);
            total
        });
        Ok(())
    }

    fn prepend_scan(
        &self,
        state: &mut SumState<S>,
        rows: Range<usize>,
        mut keep: impl Iterator<Item = u64>,
        out: &mut [SumState<S>],
    ) -> Result<()> {
        *state = scan_slots_back(&self.values, &self.inclusion, rows, *state, out, |total, value, takes_part| {
            let mut total = Self::masked(total, keep.next());
            Self::add_if(&mut total, value, takes_part);
            total
        });
        Ok(())
    }

    // Sums commute, compensated ones too: the error of each rounding is exact, and errors are added two at a time.
    #[inline]
    fn prepend(&self, state: &mut SumState<S>, row: usize) -> Result<()> {
        self.append(state, row)
    }

    #[inline]
    fn merge(&self, left: &mut SumState<S>, right: &SumState<S>) -> Result<()> {
        left.sum.merge(&right.sum);
        left.count += right.count;
        Ok(())
    }

    fn save(&self, state: &SumState<S>) -> Result<RecordBatch> {
        state.sum.save(state.count)
    }

    fn load(&self, saved: &RecordBatch) -> Result<SumState<S>> {
        Ok(SumState { sum: S::load(saved)?, count: saved_value(saved, "count")? })
    }
}

impl<N: SumInput, S: SumOf<N> + ExactSum> Retractable for SumAccumulator<N, S> {
    #[inline]
    fn retract(&self, state: &mut SumState<S>, removed: &SumState<S>) {
        state.sum.retract(&removed.sum);
        state.count -= removed.count;
    }

    /// First the change of each step of a word, which does not depend on the row before, then the running sums.
    #[inline(always)]
    fn slide(
        &self,
        state: &mut SumState<S>,
        entering: Range<usize>,
        leaving: Range<usize>,
        out: &mut [SumState<S>],
    ) -> Result<()> {
        let (mut total, mut sums, mut counts) = (*state, [S::ZERO; WORD_BITS], [0; WORD_BITS]);
        let (added, removed) = (&self.values[entering.clone()], &self.values[leaving.clone()]);
        let words = out.chunks_mut(WORD_BITS).zip(added.chunks(WORD_BITS)).zip(removed.chunks(WORD_BITS));
        for (number, ((out, added), removed)) in words.enumerate() {
            let present = |rows: &Range<usize>| self.inclusion.word(rows.start + WORD_BITS * number);
            let [entering, leaving] = [&entering, &leaving].map(present);
            let changes = sums.iter_mut().zip(&mut counts).zip(0..);
            for (((sum, count), bit), (&added, &removed)) in changes.zip(added.iter().zip(removed)) {
                let of = |value, present: u64| {
                    let (mut sum, count) = (S::ZERO, (present >> bit) & 1);
                    sum.add(value);
                    (sum.or_zero(count.wrapping_neg()), count)
                };
                let (added, removed) = (of(added, entering), of(removed, leaving));
                (*sum, *count) = (added.0, added.1.wrapping_sub(removed.1));
                sum.retract(&removed.0);
            }
            for ((out, sum), &count) in out.iter_mut().zip(&sums).zip(&counts) {
                total.sum.merge(sum);
                total.count = total.count.wrapping_add(count);
                *out = total;
            }
        }
        *state = total;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_buffer::BooleanBuffer;

    use super::*;
    use crate::functions::aggregate::exact::Compensated;
    use crate::functions::aggregate::sum_state::MAX_SUMMED_HALVES;
    use crate::util::simd::portable_and_widest;

    /// Blocks of values with some of them masked, at any offset, compared with single values.
    #[test]
    fn hidden_values_are_not_summed() {
        fn check<N: SumInput, S: SumOf<N> + PartialEq + std::fmt::Debug>(values: Vec<N>) {
            let bits = BooleanBuffer::collect_bool(values.len() + 3, |bit| bit * bit % 7 > 1).slice(3, values.len());
            let sums = SumAccumulator::<N, S>::new(values.into(), RowMask::Mask(bits));
            for rows in [0..300, 0..0, 5..6, 1..64, 1..65, 2..130, 64..256, 299..300] {
                let mut expected = sums.init();
                rows.clone().for_each(|row| sums.append(&mut expected, row).unwrap());
                let found = portable_and_widest(|| {
                    let mut found = sums.init();
                    sums.update(&mut found, rows.clone()).unwrap();
                    found
                });
                assert_eq!(found, [expected, expected], "{rows:?}");
            }
        }
        let value = |row: i64| row * row % 1009 - 300;
        check::<i64, i64>((0..300).map(value).collect());
        check::<i32, i64>((0..300).map(|row| value(row) as i32).collect());
        check::<u64, i64>((0..300).map(|row| value(row).unsigned_abs()).collect());
        check::<i64, i128>((0..300).map(|row| i64::MAX - value(row).abs()).collect());
        check::<i64, i128>((0..300).map(|row| i64::MIN + value(row).abs()).collect());
        check::<u64, i128>((0..300).map(|row| u64::MAX - value(row).unsigned_abs()).collect());
        check::<i128, i128>((0..300).map(|row| i128::from(value(row)) << 80).collect());
        // A masked value may be NaN.
        let hidden = |row: i64| (row + 3) * (row + 3) % 7 <= 1;
        check::<f64, Compensated>((0..300).map(|row| if hidden(row) { f64::NAN } else { value(row) as f64 }).collect());
    }

    /// 64-bit values at either end of their range, more of them than the halves can sum at a time, compared with single
    /// values.
    #[test]
    fn split_sums_match() {
        fn check<N: SumInput>(value: fn(usize) -> N)
        where
            i128: SumOf<N> + From<N>,
        {
            for rows in [0, 1, 63, 64, 65, MAX_SUMMED_HALVES + 100] {
                let values: Vec<_> = (0..rows).map(value).collect();
                let expected = values.iter().map(|&value| i128::from(value)).sum();
                let sums = SumAccumulator::<N, i128>::new(values.into(), RowMask::All);
                let mut total = sums.init();
                sums.update(&mut total, 0..rows).unwrap();
                assert_eq!(total, SumState { sum: expected, count: rows as u64 });
            }
        }
        check(|row| i64::MAX - row as i64);
        check(|row| i64::MIN + row as i64);
        check(|row| (row as i64 * 7919 % 1009 - 500) << (row % 54));
        check(|row| u64::MAX - row as u64);
        check(|row| row as u64 * 7919 % 1009);
    }

    /// The maximum number of bits of a type is that of its values furthest from zero.
    #[test]
    fn bit_width_covers_the_extremes() {
        fn check<N: BitWidth + std::fmt::Debug>(ends: [N; 2]) {
            assert_eq!(ends.map(|end| end.magnitude().bit_count()).into_iter().max(), Some(N::BITS), "{ends:?}");
        }
        check([i32::MIN, i32::MAX]);
        check([i64::MIN, i64::MAX]);
        check([u64::MIN, u64::MAX]);
        check([i128::MIN, i128::MAX]);
    }
}
