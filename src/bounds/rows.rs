//! ROWS: ends so many rows from the row, clipped to the partition.
//!
//! Cost: where the partition begins or ends, an addition and a comparison per row, without a branch.

use std::ops::Range;

use crate::util::run_index::RunIndex;
use crate::util::simd::with_widest_vectors;

/// An offset past which every row number of a section is clipped: keeps the arithmetic in range.
pub(super) const MAX_ROW_OFFSET: i64 = 1 << 33;

/// Writes `row + delta`, clipped to the row's partition, for each of `rows`.
pub(super) fn shift(partitions: &RunIndex, rows: Range<usize>, delta: i64, out: &mut [u32]) {
    let first = rows.start as u32;
    // Steps past u32 clip to a limit like any other, so saturating there changes nothing.
    let step = u32::try_from(delta.unsigned_abs()).unwrap_or(u32::MAX);
    // What is not behind its row can only lie before the partition, what is behind only behind it, and a step never does.
    match delta {
        0 | 1 => with_widest_vectors(
            #[inline(always)]
            move || out.iter_mut().zip(first..).for_each(|(slot, row)| *slot = row + step),
        ),
        2.. => partitions.map_run_ends(rows, out, move |row, end| row.saturating_add(step).min(end)),
        ..0 => partitions.map_run_starts(rows, out, move |row, begin| row.saturating_sub(step).max(begin)),
    }
}

/// `row + delta`, clipped to `limits`, where the offset is the row's own.
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

    /// Partitions of one row, of few, and of many, from any row to any, against a row at a time.
    #[test]
    fn shift_matches_per_row() {
        let starts = [0, 1, 2, 5, 9, 63, 64, 65, 70, 127, 128, 300, 599];
        let edges = Boundaries::new(
            BooleanBuffer::collect_bool(603, |bit| bit > 2 && starts.contains(&(bit - 3))).slice(3, 600),
        );
        let partitions = RunIndex::new(&edges);
        for rows in [0..600, 0..0, 0..1, 1..64, 3..70, 64..128, 100..299, 130..600, 599..600] {
            for delta in [0, 1, 2, -1, -2, 50, -50, 1000, -1000, i64::from(u32::MAX), -MAX_ROW_OFFSET, MAX_ROW_OFFSET] {
                let expected: Vec<_> = rows.clone().map(|row| shift_one(row, delta, &edges.run_range(row))).collect();
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
