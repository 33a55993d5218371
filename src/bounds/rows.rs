//! ROWS: ends so many rows from the row, clipped to the partition.
//!
//! Cost: an addition and a clamp per row, without a branch, over each partition's run of rows.

use std::ops::Range;

use crate::vectors::widest;

/// An offset past which every row number of a section is clipped: keeps the arithmetic in range.
pub(super) const FAR: i64 = 1 << 33;

/// So many rows of a partition are worth a call of their own.
const MANY: usize = 32;

/// Writes `row + delta`, clipped to `limits`, for each of `rows`.
#[inline]
pub(super) fn shift(rows: Range<usize>, delta: i64, limits: &Range<usize>, out: &mut [u32]) {
    if rows.len() < MANY {
        return shift_each(rows, delta, limits, out);
    }
    widest(
        #[inline(always)]
        || shift_each(rows, delta, limits, out),
    );
}

#[inline(always)]
fn shift_each(rows: Range<usize>, delta: i64, limits: &Range<usize>, out: &mut [u32]) {
    let (low, high, first) = (limits.start as u32, limits.end as u32, rows.start as u32);
    // Steps past u32 clip to a limit like any other, so saturating there changes nothing.
    let step = u32::try_from(delta.unsigned_abs()).unwrap_or(u32::MAX);
    if delta < 0 {
        for (slot, row) in out.iter_mut().zip(first..) {
            *slot = row.saturating_sub(step).clamp(low, high);
        }
    } else {
        for (slot, row) in out.iter_mut().zip(first..) {
            *slot = row.saturating_add(step).clamp(low, high);
        }
    }
}

/// `row + delta`, clipped to `limits`, where the offset is the row's own.
#[inline]
pub(super) fn shift_one(row: usize, delta: i64, limits: &Range<usize>) -> u32 {
    (row as i64 + delta.clamp(-FAR, FAR)).clamp(limits.start as i64, limits.end as i64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::both;

    /// As many rows as are shifted at once, by few and by many, against a row at a time.
    #[test]
    fn rows_are_shifted_as_each_is() {
        for (rows, limits) in [(0..10, 0..10), (100..400, 90..500), (100..400, 100..400), (0..31, 0..64)] {
            for delta in [0, 1, -1, 50, -50, 1000, -1000, i64::from(u32::MAX), -FAR, FAR] {
                let expected: Vec<_> = rows.clone().map(|row| shift_one(row, delta, &limits)).collect();
                let shifted = both(|| {
                    let mut out = vec![0; rows.len()];
                    shift(rows.clone(), delta, &limits, &mut out);
                    out
                });
                assert_eq!(shifted, [expected.clone(), expected], "{rows:?} by {delta}");
            }
        }
    }
}
