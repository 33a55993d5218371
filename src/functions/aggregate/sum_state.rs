//! The states of sums: an integer, a decimal, or a compensated double, and how values are added to them.

use std::hint::select_unpredictable;

use arrow_array::RecordBatch;
use arrow_buffer::{ArrowNativeType, i256};

use super::exact::{Compensated, Int320};
use crate::error::{Error, Result};
use crate::functions::native::{masked, select_present};
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::util::bitmap::WORD_BITS;

/// A type of values that can be summed.
pub trait SumInput: ArrowNativeType {
    /// The value if it is counted, else zero; without a branch.
    #[must_use]
    fn masked(self, takes_part: bool) -> Self;
}

macro_rules! summand {
    ($($native:ty),*) => {$(
        impl SumInput for $native {
            #[inline]
            fn masked(self, takes_part: bool) -> Self {
                select_unpredictable(takes_part, self, 0)
            }
        }
    )*};
}

summand!(i32, i64, u64, i128);

impl SumInput for f64 {
    #[inline]
    fn masked(self, takes_part: bool) -> Self {
        // Adding +0.0 does not change a sum that started with it.
        select_present(self, 0.0, takes_part)
    }
}

impl SumInput for i256 {
    #[inline]
    fn masked(self, takes_part: bool) -> Self {
        if takes_part { self } else { Self::ZERO }
    }
}

/// The state of a sum.
pub trait RunningSum: Copy + Send + Sync {
    /// The empty sum.
    const ZERO: Self;

    /// The sum if all bits of `keep` are set, the empty one if none is.
    #[must_use]
    fn or_zero(self, keep: u64) -> Self;

    /// Adds another sum.
    fn merge(&mut self, right: &Self);

    /// The sum and its number of values as one row of Arrow data.
    ///
    /// # Errors
    /// The state does not form an array.
    fn save(&self, count: u64) -> Result<RecordBatch>;

    /// The sum that `save` wrote, in whatever width.
    ///
    /// # Errors
    /// The data is not what `save` writes.
    fn load(saved: &RecordBatch) -> Result<Self>;
}

/// A sum of values of type `N`.
pub trait SumOf<N>: RunningSum {
    /// Adds one value.
    fn add(&mut self, value: N);

    /// Adds the values whose bit is set.
    #[inline(always)]
    fn add_present(&mut self, values: &[N; WORD_BITS], present: u64)
    where
        N: SumInput,
    {
        for (bit, value) in values.iter().enumerate() {
            self.add(value.masked((present >> bit) & 1 != 0));
        }
    }

    /// Adds values.
    #[inline]
    fn add_all(&mut self, values: &[N])
    where
        N: Copy,
    {
        for &value in values {
            self.add(value);
        }
    }
}

/// An exact sum, which can be subtracted from another.
pub trait ExactSum: RunningSum {
    /// The number of bits of the largest sum it can hold.
    const BITS: u32;

    /// Subtracts another sum.
    fn retract(&mut self, gone: &Self);

    /// The sum as a 320-bit integer.
    fn to_int320(&self) -> Int320;
}

/// A sum that fits 128 bits.
pub trait SumInI128: ExactSum {
    /// The sum as an `i128`.
    fn to_i128(&self) -> i128;

    /// The nearest double.
    fn to_f64(&self) -> f64;
}

macro_rules! exact {
    ($($sum:ty: $($native:ty),*;)*) => {$(
        impl RunningSum for $sum {
            const ZERO: Self = 0;

            #[inline(always)]
            fn or_zero(self, keep: u64) -> Self {
                self & Self::from(keep.cast_signed())
            }

            #[inline]
            fn merge(&mut self, right: &Self) {
                *self += right;
            }

            fn save(&self, count: u64) -> Result<RecordBatch> {
                self.to_int320().save(count)
            }

            fn load(saved: &RecordBatch) -> Result<Self> {
                let sum = Int320::load(saved)?.value().and_then(i256::to_i128);
                let sum = sum.and_then(|sum| Self::try_from(sum).ok());
                sum.ok_or_else(|| Error::internal("a carried sum is wider than its section's sums"))
            }
        }

        impl ExactSum for $sum {
            const BITS: u32 = <$sum>::BITS - 1;

            #[inline]
            fn retract(&mut self, gone: &Self) {
                *self -= gone;
            }

            #[inline]
            fn to_int320(&self) -> Int320 {
                Int320 { low: i256::from_i128(i128::from(*self)), wraps: 0 }
            }
        }

        impl SumInI128 for $sum {
            #[inline]
            fn to_i128(&self) -> i128 {
                i128::from(*self)
            }

            #[inline]
            fn to_f64(&self) -> f64 {
                *self as f64
            }
        }

        $(impl SumOf<$native> for $sum {
            #[inline]
            fn add(&mut self, value: $native) {
                *self += value as $sum;
            }

            #[inline(always)]
            fn add_present(&mut self, values: &[$native; WORD_BITS], present: u64) {
                // Selected by bits, so that compilers vectorise it.
                *self += values.iter().zip(0..).fold(0, |sum, (&value, bit)| {
                    let taken = ((present >> bit) & 1).cast_signed().wrapping_neg();
                    sum + (value as $sum & Self::from(taken))
                });
            }
        })*
    )*};
}

exact! {
    i64: i32, i64, u64;
    i128: i32, i128;
}

/// Sums 64-bit values in 128 bits: the halves are summed separately, which compilers vectorise.
macro_rules! by_halves {
    ($($native:ty),*) => {$(const _: () = {
        /// The sum of at most [`MAX_SUMMED_HALVES`] values.
        #[inline(always)]
        fn summed(values: impl Iterator<Item = $native>) -> i128 {
            let (mut low, mut high) = (0, 0);
            for value in values {
                low += value as u64 & LOW_HALF;
                high += value >> HALF_BITS;
            }
            (i128::from(high) << HALF_BITS) + i128::from(low)
        }

        impl SumOf<$native> for i128 {
            #[inline]
            fn add(&mut self, value: $native) {
                *self += Self::from(value);
            }

            #[inline(always)]
            fn add_present(&mut self, values: &[$native; WORD_BITS], present: u64) {
                let keep = |bit: u32| ((present >> bit) & 1).wrapping_neg() as $native;
                *self += summed(values.iter().zip(0..).map(|(&value, bit)| value & keep(bit)));
            }

            #[inline(always)]
            fn add_all(&mut self, values: &[$native]) {
                for values in values.chunks(MAX_SUMMED_HALVES) {
                    *self += summed(values.iter().copied());
                }
            }
        }
    };)*};
}

by_halves!(i64, u64);

/// The number of bits of a half, and the mask of the lower one.
const HALF_BITS: u32 = u64::BITS / 2;

const LOW_HALF: u64 = u64::MAX >> HALF_BITS;

/// The sums of this many halves fit 64 bits.
pub(crate) const MAX_SUMMED_HALVES: usize = 1 << 16;

impl RunningSum for Int320 {
    const ZERO: Self = Self::ZERO;

    #[inline]
    fn or_zero(self, keep: u64) -> Self {
        if keep == 0 { Self::ZERO } else { self }
    }

    #[inline]
    fn merge(&mut self, right: &Self) {
        Self::merge(self, right);
    }

    fn save(&self, count: u64) -> Result<RecordBatch> {
        saved_row([("sum", self.low.write()?), ("wraps", self.wraps.write()?), ("count", count.write()?)])
    }

    fn load(saved: &RecordBatch) -> Result<Self> {
        Ok(Self { low: saved_value(saved, "sum")?, wraps: saved_value(saved, "wraps")? })
    }
}

impl ExactSum for Int320 {
    const BITS: u32 = 319;

    #[inline]
    fn retract(&mut self, gone: &Self) {
        Self::retract(self, gone);
    }

    #[inline]
    fn to_int320(&self) -> Int320 {
        *self
    }
}

impl SumOf<i128> for Int320 {
    #[inline]
    fn add(&mut self, value: i128) {
        Self::add(self, i256::from_i128(value));
    }
}

impl SumOf<i256> for Int320 {
    #[inline]
    fn add(&mut self, value: i256) {
        Self::add(self, value);
    }
}

impl RunningSum for Compensated {
    const ZERO: Self = Self::ZERO;

    #[inline(always)]
    fn or_zero(self, keep: u64) -> Self {
        Self { sum: masked(self.sum, keep), lost: masked(self.lost, keep) }
    }

    #[inline]
    fn merge(&mut self, right: &Self) {
        Self::merge(self, right);
    }

    fn save(&self, count: u64) -> Result<RecordBatch> {
        saved_row([("sum", self.sum.write()?), ("lost", self.lost.write()?), ("count", count.write()?)])
    }

    fn load(saved: &RecordBatch) -> Result<Self> {
        Ok(Self { sum: saved_value(saved, "sum")?, lost: saved_value(saved, "lost")? })
    }
}

impl SumOf<f64> for Compensated {
    #[inline]
    fn add(&mut self, value: f64) {
        Self::add(self, value);
    }

    #[inline]
    fn add_all(&mut self, values: &[f64]) {
        Self::add_all(self, values);
    }

    #[inline(always)]
    fn add_present(&mut self, values: &[f64; WORD_BITS], present: u64) {
        // Adding +0.0 does not change a sum that started with it.
        let mut block = [0.0; WORD_BITS];
        for ((slot, value), bit) in block.iter_mut().zip(values).zip(0..) {
            *slot = masked(*value, ((present >> bit) & 1).wrapping_neg());
        }
        self.add_block(&block);
    }
}
