//! ROWS: bounds at a number of rows from the row, clamped to the partition.
//!
//! Cost: the partition's start or end, an addition and a comparison per row, without a branch.

use std::ops::Range;

use crate::util::run_index::RunIndex;
use crate::util::simd::with_widest_vectors;

/// The maximum offset: beyond it every bound is clamped anyway. Keeps the arithmetic in range.
pub(super) const MAX_ROW_OFFSET: i64 = 1 << 33;

/// Writes `row + delta`, clamped to the row's partition, for each of `rows`.
pub(super) fn shift(partitions: &RunIndex, rows: Range<usize>, delta: i64, out: &mut [u32]) {
    let first = rows.start as u32;
    // Saturating is exact, because larger steps are clamped alike.
    let step = u32::try_from(delta.unsigned_abs()).unwrap_or(u32::MAX);
    // A bound at or before its row can only pass the partition's start, one after it only the end; steps of 0 and 1
    // pass neither.
    match delta {
        0 | 1 => with_widest_vectors(
            #[inline(always)]
            move || out.iter_mut().zip(first..).for_each(|(slot, row)| *slot = row + step),
        ),
        2.. => partitions.map_run_ends(rows, out, move |row, end| row.saturating_add(step).min(end)),
        ..0 => partitions.map_run_starts(rows, out, move |row, begin| row.saturating_sub(step).max(begin)),
    }
}

/// `row + delta`, clamped to `limits`, for a row with its own offset.
#[inline]
pub(super) fn shift_one(row: usize, delta: i64, limits: &Range<usize>) -> u32 {
    (row as i64 + delta.clamp(-MAX_ROW_OFFSET, MAX_ROW_OFFSET)).clamp(limits.start as i64, limits.end as i64) as u32
}

#[cfg(test)]
mod tests {
    use arrow_buffer::BooleanBuffer;

    use super::*;
    use crate::util::boundaries::Boundaries;
    use crate::util::simd::portable_and_widest;

    /// Partitions of one, few and many rows, for any range of rows, compared with single rows.
    #[test]
    fn shift_matches_per_row() {
        let starts = [0, 1, 2, 5, 9, 63, 64, 65, 70, 127, 128, 300, 599];
        let boundaries = Boundaries::new(
            BooleanBuffer::collect_bool(603, |bit| bit > 2 && starts.contains(&(bit - 3))).slice(3, 600),
        );
        let partitions = RunIndex::new(&boundaries);
        for rows in [0..600, 0..0, 0..1, 1..64, 3..70, 64..128, 100..299, 130..600, 599..600] {
            for delta in [0, 1, 2, -1, -2, 50, -50, 1000, -1000, i64::from(u32::MAX), -MAX_ROW_OFFSET, MAX_ROW_OFFSET] {
                let expected: Vec<_> =
                    rows.clone().map(|row| shift_one(row, delta, &boundaries.run_range(row))).collect();
                let shifted = portable_and_widest(|| {
                    let mut out = vec![0; rows.len()];
                    shift(&partitions, rows.clone(), delta, &mut out);
                    out
                });
                assert_eq!(shifted, [expected.clone(), expected], "{rows:?} by {delta}");
            }
        }
    }
}
