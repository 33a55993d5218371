//! Exact sums and compensated sums.
//!
//! - [`Compensated`]: floats, in twice the working precision: a plain sum and the sum of its rounding errors, each
//!   computed exactly by Knuth's two-sum. Six additions per row, of which one depends on the previous row, or in a
//!   block on the fourth row before.
//! - [`Int320`]: 320-bit integers, so that sums of 76-digit decimals cannot overflow before they are read.
//!
//! Papers: Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54 (1974);
//! Ogita, Rump, Oishi, "Accurate Sum and Dot Product", SIAM J. Sci. Comput. 26 (2005).

use std::array::from_fn;

use arrow_buffer::i256;

use super::lanes::{SUM_LANES, VALUES_PER_BLOCK};

/// Values per long block: lanes are merged once per long block instead of once per short one (`benches/kernels.rs`).
const LANE_VALUES: usize = 512;

/// If all values of a block are smaller than this, its sum is finite in any order.
const FINITE_LIMIT: f64 = 1e300;

/// A float sum and the sum of its rounding errors.
///
/// `sum` is the plain, uncompensated sum: once it is infinite or NaN it stays so, as SQL requires. The errors are NaN
/// from then on, and `total` ignores them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compensated {
    /// The plain sum.
    pub sum: f64,
    /// The sum of its rounding errors.
    pub lost: f64,
}

impl Compensated {
    /// The empty sum: +0.0, so that a sum of -0.0 is 0.0.
    pub const ZERO: Self = Self { sum: 0.0, lost: 0.0 };

    /// Adds one value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        let (sum, error) = two_sum(self.sum, value);
        self.sum = sum;
        self.lost += error;
    }

    /// Adds values, block by block.
    #[inline]
    pub fn add_all(&mut self, values: &[f64]) {
        let (long, rest) = values.as_chunks::<LANE_VALUES>();
        let (short, rest) = rest.as_chunks::<VALUES_PER_BLOCK>();
        for block in long {
            self.add_block(block);
        }
        for block in short {
            self.add_block(block);
        }
        for &value in rest {
            self.add(value);
        }
    }

    /// Adds the values of a block: sequentially where the sum may not stay finite, else in independent lanes.
    pub(super) fn add_block<const VALUES: usize>(&mut self, block: &[f64; VALUES]) {
        let SumLanes { sums, lost, largest } = lanes(block, self.sum.abs());
        let mut total = *self;
        for (sum, lost) in sums.into_iter().zip(lost) {
            total.merge(&Self { sum, lost });
        }
        // The comparison does not detect a NaN, but the sum is NaN then.
        if total.sum.is_finite() && largest.iter().all(|&largest| largest < FINITE_LIMIT) {
            *self = total;
        } else {
            for &value in block {
                self.add(value);
            }
        }
    }

    /// Adds another sum.
    #[inline]
    pub fn merge(&mut self, right: &Self) {
        self.add(right.sum);
        self.lost += right.lost;
    }

    /// The sum, rounded once.
    #[inline]
    #[must_use]
    pub fn total(&self) -> f64 {
        // If the sum is finite, so is the two-sum's error, except in the last binade, where the plain sum is correct.
        // Selected without a branch, so that several sums can be read at once.
        let (total, finite) = (self.sum + self.lost, self.sum.is_finite() & self.lost.is_finite());
        if finite { total } else { self.sum }
    }
}

/// The sums of a block in lanes, every fourth value in one lane.
struct SumLanes {
    sums: [f64; SUM_LANES],
    lost: [f64; SUM_LANES],
    /// The largest absolute value per lane.
    largest: [f64; SUM_LANES],
}

/// The lanes of a block; `largest` is the initial largest absolute value of each.
///
/// A separate function: next to code that accesses lanes one by one, compilers do not vectorise it.
#[inline(never)]
fn lanes<const VALUES: usize>(block: &[f64; VALUES], largest: f64) -> SumLanes {
    let mut lanes = SumLanes { sums: [0.0; SUM_LANES], lost: [0.0; SUM_LANES], largest: [largest; SUM_LANES] };
    for values in block.as_chunks::<SUM_LANES>().0 {
        let added: [_; SUM_LANES] = from_fn(|lane| two_sum(lanes.sums[lane], values[lane]));
        lanes = SumLanes {
            sums: added.map(|(sum, _)| sum),
            lost: from_fn(|lane| lanes.lost[lane] + added[lane].1),
            largest: from_fn(|lane| {
                let (value, largest) = (values[lane].abs(), lanes.largest[lane]);
                if value > largest { value } else { largest }
            }),
        };
    }
    lanes
}

/// `a + b` rounded, and its rounding error (Knuth's two-sum; no branch on which is larger).
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_in_sum = sum - a;
    let error = (a - (sum - b_in_sum)) + (b - b_in_sum);
    (sum, error)
}

/// A 320-bit integer: `low + wraps * 2^256`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Int320 {
    /// The sum modulo `2^256`, signed.
    pub low: i256,
    /// The number of upward overflows of `low` minus that of downward ones.
    pub wraps: i64,
}

impl Int320 {
    /// Zero.
    pub const ZERO: Self = Self { low: i256::ZERO, wraps: 0 };

    /// Adds one value.
    #[inline]
    pub fn add(&mut self, value: i256) {
        let (low, wrapped) = self.low.overflowing_add(value);
        if wrapped {
            self.wraps += if value.is_negative() { -1 } else { 1 };
        }
        self.low = low;
    }

    /// Adds another sum.
    #[inline]
    pub fn merge(&mut self, right: &Self) {
        self.wraps += right.wraps;
        self.add(right.low);
    }

    /// Subtracts another sum.
    #[inline]
    pub fn retract(&mut self, gone: &Self) {
        let (low, wrapped) = self.low.overflowing_sub(gone.low);
        if wrapped {
            self.wraps += if gone.low.is_negative() { 1 } else { -1 };
        }
        self.low = low;
        self.wraps -= gone.wraps;
    }

    /// The sum, if it fits 256 bits.
    #[inline]
    #[must_use]
    pub fn value(&self) -> Option<i256> {
        (self.wraps == 0).then_some(self.low)
    }

    /// `self * factor / count`, rounded once, half away from zero; `None` beyond 255 bits.
    ///
    /// One pass over six limbs of 64 bits; a single 128-bit division if the sum is small, the common case.
    #[must_use]
    pub fn divided(&self, factor: u64, count: u64) -> Option<i256> {
        let small = self.value().and_then(i256::to_i128).and_then(|sum| sum.checked_mul(i128::from(factor)));
        if let Some(sum) = small {
            return Some(i256::from_i128(divide_half_up(sum, count)));
        }
        let (mut limbs, negative) = self.magnitude();
        let mut carry = 0;
        for limb in &mut limbs {
            let product = u128::from(*limb) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        let mut rest = 0_u128;
        for limb in limbs.iter_mut().rev() {
            let dividend = (rest << 64) | u128::from(*limb);
            *limb = (dividend / u128::from(count)) as u64;
            rest = dividend % u128::from(count);
        }
        let mut round_up = rest * 2 >= u128::from(count);
        for limb in &mut limbs {
            (*limb, round_up) = limb.overflowing_add(u64::from(round_up));
        }
        if limbs[4] != 0 || limbs[5] != 0 || limbs[3] >> 63 != 0 {
            return None;
        }
        let half = |high: u64, low: u64| (u128::from(high) << 64) | u128::from(low);
        let quotient = i256::from_parts(half(limbs[1], limbs[0]), half(limbs[3], limbs[2]) as i128);
        Some(if negative { quotient.wrapping_neg() } else { quotient })
    }

    /// The absolute value as limbs, lowest first, and whether the value is negative.
    fn magnitude(&self) -> ([u64; 6], bool) {
        let (low, high) = self.low.to_parts();
        // In two's complement a negative `low` borrows one from the upper part.
        let top = self.wraps - i64::from(self.low.is_negative());
        let mut limbs =
            [low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64, top as u64, (top >> 63) as u64];
        let negative = top < 0;
        if negative {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        (limbs, negative)
    }
}

/// `sum / count`, rounded half away from zero. `count` is not 0.
#[inline]
#[must_use]
pub(crate) fn divide_half_up(sum: i128, count: u64) -> i128 {
    let count = i128::from(count);
    let (quotient, rest) = (sum / count, sum % count);
    if rest.unsigned_abs() * 2 >= count.unsigned_abs() { quotient + sum.signum() } else { quotient }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn total(values: &[f64]) -> f64 {
        let mut sum = Compensated::ZERO;
        for &value in values {
            sum.add(value);
        }
        sum.total()
    }

    #[test]
    fn compensated_sum_is_exact() {
        assert_eq!(total(&[1.0, 1e100, 1.0, -1e100]), 2.0);
        assert_eq!(total(&[0.1; 10]), 1.0);
    }

    #[test]
    fn non_finite_values_propagate() {
        assert_eq!(total(&[1.7e308, 1.7e308, -1.7e308]), f64::INFINITY);
        assert_eq!(total(&[f64::NEG_INFINITY, 1.0]), f64::NEG_INFINITY);
        assert!(total(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(total(&[1.0, f64::NAN, 1.0]).is_nan());
    }

    /// For any values in the block, at any position.
    #[test]
    fn block_sum_equals_sum_of_values() {
        fn check<const VALUES: usize>(step: usize) {
            let infinite = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
            let sets: [&[f64]; 6] =
                [&[0.1], &[1e16, 1.0, -1e16], &[1.0, 1e100, 1.0, -1e100], &[1e299], &[-0.0], &infinite];
            for set in sets {
                // Values of one lane cancel each other, and the first two together overflow.
                for large in [0.0, 1.7e308, f64::INFINITY, f64::NAN] {
                    for at in (0..VALUES - SUM_LANES - 1).step_by(step) {
                        let mut block: [f64; VALUES] = from_fn(|at| set[at % set.len()]);
                        (block[at], block[at + 1]) = (large, large);
                        (block[at + SUM_LANES], block[at + SUM_LANES + 1]) = (-large, -large);
                        for before in [0.0, 0.1, 1.0, -1e308, f64::NEG_INFINITY] {
                            let mut sum = Compensated { sum: before, lost: 0.0 };
                            sum.add_block(&block);
                            let all: Vec<_> = [before].into_iter().chain(block).collect();
                            assert_eq!(sum.total().to_bits(), total(&all).to_bits(), "{before} and {block:?}");
                        }
                    }
                }
            }
        }
        check::<VALUES_PER_BLOCK>(1);
        check::<LANE_VALUES>(7);
    }

    #[test]
    fn zero_is_positive() {
        assert!(total(&[-0.0]).is_sign_positive());
        assert!(total(&[]).is_sign_positive());
    }

    #[test]
    fn halves_round_away_from_zero() {
        assert_eq!([-3, -1, 1, 3, 4].map(|sum| divide_half_up(sum, 2)), [-2, -1, 1, 2, 2]);
        assert_eq!(divide_half_up(5, 11), 0);
        assert_eq!(divide_half_up(i128::MIN, 1), i128::MIN);
    }

    #[test]
    fn wide_sums_can_be_retracted() {
        for value in [i256::MAX, i256::MIN] {
            let mut sum = Int320::ZERO;
            (0..1000).for_each(|_| sum.add(value));
            assert_eq!(sum.value(), None);
            assert_eq!(sum.divided(1, 1000), if value == i256::MAX { Some(value) } else { None });
            assert_eq!(sum.divided(1, 2000), Some(half(value)));
            let mut one = Int320::ZERO;
            one.add(value);
            (0..1000).for_each(|_| sum.retract(&one));
            assert_eq!(sum, Int320::ZERO);
        }
    }

    /// Half of the extreme 256-bit values, rounded away from zero.
    fn half(value: i256) -> i256 {
        let two = i256::from_i128(2);
        let rest = value.checked_rem(two).unwrap();
        value.checked_div(two).unwrap().wrapping_add(rest)
    }

    #[test]
    fn wide_division_agrees_with_narrow() {
        for sum in [-7_i128, -6, 0, 1, 5, 99_999] {
            let mut wide = Int320::ZERO;
            wide.add(i256::MAX);
            wide.add(i256::from_i128(sum));
            wide.retract(&Int320 { low: i256::MAX, wraps: 0 });
            assert_eq!(wide.divided(10_000, 7), Some(i256::from_i128(divide_half_up(sum * 10_000, 7))));
        }
    }
}
