//! How the frames of a block move: mostly by a row each, at both ends or at one.
//!
//! States for such frames stand side by side in the rows' order, and what is made of them needs no look at each frame: a loop
//! that compilers make vectors of. Cost: a look at all of them, 0.2 ns a frame.

use std::ops::Range;

use crate::bounds::block::FrameRuns;
use crate::util::simd::widest;

/// So many frames are worth to be answered together, and their states stay in the first-level cache.
pub(super) const TOGETHER: usize = 128;

/// Which ends of frames move, by one row each time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moves {
    pub(super) begin: bool,
    pub(super) end: bool,
}

/// The first of the frames, and how all of them move, if they are several, none of them empty, and move alike.
pub(super) fn steps(runs: FrameRuns) -> Option<(Range<usize>, Moves)> {
    let mut ends = runs.iter();
    let (first, last) = (ends.next()?, ends.next_back()?);
    if first.is_empty() || last.is_empty() {
        return None;
    }
    // The last one tells how they move, if they move alike.
    let steps = ends.len() + 1;
    let moves = |from: &[u32], first: usize, last: usize| {
        let moved = last.wrapping_sub(first);
        let step = if moved == steps { u32::MAX } else { 0 };
        ((moved == 0 || moved == steps) && move_by(from, step)).then_some(moved > 0)
    };
    let begin = moves(runs.begin, first.start, last.start)?;
    let end = moves(runs.end, first.end, last.end)?;
    Some((first, Moves { begin, end }))
}

/// Whether each of `ends` is one row behind the one before, or where that one is, as the bits of `step` say.
pub(super) fn move_by(ends: &[u32], step: u32) -> bool {
    let first = ends.first().copied().unwrap_or_default();
    widest(
        #[inline(always)]
        || {
            // All are looked at, which is faster than up to the first.
            let places = ends.iter().zip(0_u32..);
            places.fold(0, |all, (&row, number)| all | (row.wrapping_sub(first) ^ (number & step))) == 0
        },
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};

    use super::*;
    use crate::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

    /// How frames of these begins and ends move.
    fn moves(begin: &[u32], end: &[u32]) -> Option<[bool; 2]> {
        steps(FrameRuns { begin, end }).map(|(_, moves)| [moves.begin, moves.end])
    }

    #[test]
    fn frames_move_alike_or_not() {
        assert_eq!(moves(&[3, 4, 5], &[9, 10, 11]), Some([true, true]));
        assert_eq!(moves(&[3, 3, 3], &[9, 10, 11]), Some([false, true]));
        assert_eq!(moves(&[3, 4, 5], &[9, 9, 9]), Some([true, false]));
        assert_eq!(moves(&[3, 3], &[9, 9]), Some([false, false]));
        for (begin, end) in [(vec![], vec![]), (vec![3], vec![9]), (vec![3, 3], vec![3, 4]), (vec![3, 4], vec![4, 4])] {
            assert_eq!(moves(&begin, &end), None);
        }
        // The last one alone says nothing of those between.
        assert_eq!(moves(&[3, 3, 5], &[9, 10, 11]), None);
        assert_eq!(moves(&[3, 4, 5], &[9, 11, 11]), None);
        assert_eq!(moves(&[3, 5, 7], &[9, 10, 11]), None);
        assert_eq!(moves(&[5, 4, 3], &[9, 9, 9]), None);
    }

    /// Frames of few rows and of many that move by a row, at one end or both, across partitions, with NULLs and with what is no
    /// number, are answered as each of them alone.
    #[test]
    fn frames_together_are_answered_as_alone() {
        let rows = 2000_i64;
        let value = |row: i64| row * row % 1009 - 300;
        let some = |row: i64| (row % 7 > 1).then_some(value(row));
        let double = |value: i64| value as f64;
        // Frames with an infinity, with both, or with a NaN, behind frames without, and zeros of either sign.
        let strange = |row: i64| match row {
            350 | 1700 => f64::INFINITY,
            500 => f64::NEG_INFINITY,
            1300 => f64::NAN,
            _ if row % 3 == 0 => -0.0,
            _ if row < 900 => 0.0,
            _ => double(value(row)),
        };
        let columns: [(&str, ArrayRef); 7] = [
            ("p", Arc::new((0..rows).map(|row| Some(row / 900)).collect::<Int64Array>())),
            ("k", Arc::new((0..rows).map(Some).collect::<Int64Array>())),
            ("v", Arc::new((0..rows).map(some).collect::<Int64Array>())),
            ("w", Arc::new((0..rows).map(|row| Some(value(row))).collect::<Int64Array>())),
            ("d", Arc::new((0..rows).map(|row| Some(double(value(row)))).collect::<Float64Array>())),
            ("e", Arc::new((0..rows).map(|row| some(row).map(double)).collect::<Float64Array>())),
            ("x", Arc::new((0..rows).map(|row| some(row).map(|_| strange(row))).collect::<Float64Array>())),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let before = [Some(-300), Some(-10), Some(-1), Some(0), None];
        let behind = [Some(-200), Some(0), Some(1), Some(20), Some(300), None];
        let frames = before.into_iter().flat_map(|begin| behind.map(|end| (begin, end)));
        for (begin, end) in frames.filter(|(begin, end)| begin.unwrap_or(-300) <= end.unwrap_or(300)) {
            let bound = |rows: i64| if rows < 0 { Bound::preceding(-rows) } else { Bound::following(rows) };
            let frame = Frame::rows(
                begin.map_or(Bound::UnboundedPreceding, bound),
                end.map_or(Bound::UnboundedFollowing, bound),
            );
            let answers = |strategy| {
                let columns = ["v", "w", "d", "e", "x"].into_iter();
                let names = ["min", "max", "sum", "count", "stddev_samp"].into_iter();
                let calls = columns.flat_map(|column| names.clone().map(move |name| (name, column)));
                let spec = WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("k")]);
                let spec = calls.fold(spec, |spec, (name, column)| {
                    spec.call(Call::new(name, [Arg::column(column)]).over(frame.clone()))
                });
                let options = Options { strategy, threads: 1, ..Options::default() };
                Plan::new(batch.schema(), &[spec], options).unwrap().compute(&batch).unwrap()
            };
            let (found, expected) = (answers(None), answers(Some(Strategy::Naive)));
            for (found, expected) in found.columns().iter().zip(expected.columns()) {
                let Some(floats) = found.as_primitive_opt::<Float64Type>() else {
                    assert_eq!(found, expected, "{begin:?} {end:?}");
                    continue;
                };
                // Sums of these are exact, deviations are not.
                for (found, expected) in floats.iter().zip(expected.as_primitive::<Float64Type>()) {
                    let alike = found.zip(expected).map(|(found, expected)| {
                        found.to_bits() == expected.to_bits()
                            || found.is_nan() && expected.is_nan()
                            || (found - expected).abs() <= 1e-12 * expected.abs() && expected != 0.0
                    });
                    assert!(alike.unwrap_or(found == expected), "{begin:?} {end:?}: {found:?} {expected:?}");
                }
            }
        }
    }
}
