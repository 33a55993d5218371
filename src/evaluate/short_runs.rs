//! Short partitions: frames that go on for some rows and then begin anew.
//!
//! ```text
//!   frames   [a] [ab] [abc] | [d] [de] | [f]        growing: a state is kept, or begins anew, and a row is appended
//!            [abc] [bc] [c] | [de] [e] | [f]        shrinking: the same from the last to the first
//! ```
//!
//! Where partitions have five rows, a branch on where one ends is not foreseen once in five rows, which costs more than all
//! their additions. So whether frames move like this is seen by a look at all of them, a loop that compilers make vectors of,
//! and whether a state is kept is a choice and no branch (`Aggregate::accumulate`). Cost: O(1) per row, the states of some
//! frames of memory.

use super::motion::move_by;
use crate::bounds::block::FrameRuns;
use crate::util::simd::widest;

/// Room for what is known of some frames that are answered together.
#[derive(Debug)]
pub(super) struct Room<S> {
    /// The states of their rows.
    pub(super) states: Vec<S>,
    /// All bits for each row whose state goes on from the row before, none where it begins anew.
    ///
    /// Written down first, since compilers that know where bits come from make branches of them.
    pub(super) kept: Vec<u64>,
}

impl<S> Room<S> {
    pub(super) fn new() -> Self {
        Self { states: Vec::new(), kept: Vec::new() }
    }

    /// Notes which of the frames are of more than one row.
    pub(super) fn keep_longer(&mut self, FrameRuns { begin, end }: FrameRuns) {
        let kept = &mut self.kept;
        kept.clear();
        widest(
            #[inline(always)]
            || kept.extend(begin.iter().zip(end).map(|(begin, end)| if begin + 1 == *end { 0 } else { u64::MAX })),
        );
    }
}

/// Whether each of the frames, but for the first, ends a row behind the one before, and begins where that does or is one row.
pub(super) fn grow(FrameRuns { begin, end }: FrameRuns) -> bool {
    let ends = end.get(1..).unwrap_or_default();
    // Of two differences the less is 0 where one of them is.
    let wrong = |(begin, end): (&[u32], &u32)| (begin[0] ^ begin[1]).min((begin[1] + 1) ^ end);
    move_by(end, u32::MAX) && none(begin.windows(2).zip(ends).map(wrong))
}

/// Whether each of the frames, but for the last, begins a row before the next, and ends where that does or is one row.
pub(super) fn shrink(FrameRuns { begin, end }: FrameRuns) -> bool {
    let wrong = |(end, begin): (&[u32], &u32)| (end[0] ^ end[1]).min((begin + 1) ^ end[0]);
    move_by(begin, u32::MAX) && none(end.windows(2).zip(begin).map(wrong))
}

/// Whether each frame is the one before, or behind it, and none is empty or has more than `longest` rows.
pub(super) fn repeat(FrameRuns { begin, end }: FrameRuns, longest: u32) -> bool {
    let wrong = |(begin, end): (&[u32], &[u32])| {
        ((begin[0] ^ begin[1]) | (end[0] ^ end[1])).min(end[0].saturating_sub(begin[1]))
    };
    let long = |(begin, end): (&u32, &u32)| end.wrapping_sub(*begin).wrapping_sub(1).saturating_sub(longest - 1);
    none(begin.iter().zip(end).map(long)) && none(begin.windows(2).zip(end.windows(2)).map(wrong))
}

/// Whether all are 0: every one is looked at, which is faster than up to the first that is not.
#[inline(always)]
fn none(bits: impl Iterator<Item = u32>) -> bool {
    widest(
        #[inline(always)]
        || bits.fold(0, |all, bits| all | bits) == 0,
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};

    use super::*;
    use crate::util::simd::both;
    use crate::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

    /// Whether frames grow, shrink, or are repeated.
    fn kinds(frames: &[(u32, u32)]) -> [bool; 3] {
        let (begin, end): (Vec<_>, Vec<_>) = frames.iter().copied().unzip();
        let runs = FrameRuns { begin: &begin, end: &end };
        let [portable, widest] = both(|| [grow(runs), shrink(runs), repeat(runs, 4)]);
        assert_eq!(portable, widest);
        portable
    }

    #[test]
    fn frames_of_short_partitions_are_told_from_others() {
        assert_eq!(kinds(&[(2, 5), (2, 6), (6, 7), (7, 8), (7, 9)]), [true, false, false]);
        assert_eq!(kinds(&[(2, 5), (3, 5), (4, 5), (5, 6), (6, 9), (7, 9)]), [false, true, false]);
        assert_eq!(kinds(&[(2, 5), (2, 5), (5, 9), (9, 10), (12, 14), (12, 14)]), [false, false, true]);
        assert_eq!(kinds(&[(2, 3), (3, 4), (4, 5)]), [true; 3]);
        // One of them is too long, empty, or out of line.
        assert_eq!(kinds(&[(2, 5), (5, 10), (5, 10)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (5, 5), (5, 7)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (4, 6), (4, 7)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (2, 7), (7, 8)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (3, 4), (4, 6)]), [false; 3]);
        assert_eq!(kinds(&[(2, 5), (2, 6), (2, 7)]), [true, false, false]);
    }

    /// Partitions of one row, of few and of many, in and out of blocks, with NULLs and with what is no number, are answered as
    /// each frame alone; on two threads as well, which may divide a partition.
    #[test]
    fn short_partitions_are_answered_as_each_frame_is() {
        let (rows, mut partition) = (70_000_i64, 0);
        let keys = (0..rows).map(|row| {
            let length = [1, 2, 5, 9, 40, 300][(row / 700 % 6) as usize];
            partition += i64::from(row * 7919 % 1009 * length < 1009);
            partition
        });
        let value = |row: i64| row * row % 1009 - 300;
        let some = |row: i64| (row % 7 > 1).then_some(value(row));
        let strange = |row: i64| match row % 50 {
            17 => f64::NAN,
            30 => f64::INFINITY,
            31 => -0.0,
            _ => value(row) as f64,
        };
        let text = |row| some(row).map(|value| value.to_string());
        let columns: [(&str, ArrayRef); 6] = [
            ("p", Arc::new(keys.map(Some).collect::<Int64Array>())),
            ("k", Arc::new((0..rows).map(Some).collect::<Int64Array>())),
            ("v", Arc::new((0..rows).map(some).collect::<Int64Array>())),
            ("w", Arc::new((0..rows).map(|row| Some(value(row))).collect::<Int64Array>())),
            ("d", Arc::new((0..rows).map(|row| some(row).map(|_| strange(row))).collect::<Float64Array>())),
            ("t", Arc::new((0..rows).map(text).collect::<StringArray>())),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let frames = [
            (Bound::UnboundedPreceding, Bound::CurrentRow),
            (Bound::CurrentRow, Bound::UnboundedFollowing),
            (Bound::UnboundedPreceding, Bound::UnboundedFollowing),
            (Bound::preceding(9), Bound::following(9)),
        ];
        for (begin, end) in frames {
            let frame = Frame::rows(begin, end);
            let answers = |strategy, threads| {
                let names = ["min", "max", "sum", "count", "avg"].into_iter();
                let calls = names.flat_map(|name| ["v", "w", "d"].map(|column| (name, column)));
                let calls = calls.chain([("min", "t"), ("max", "t"), ("count", "t")]);
                let spec = WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("k")]);
                let spec = calls.fold(spec, |spec, (name, column)| {
                    spec.call(Call::new(name, [Arg::column(column)]).over(frame.clone()))
                });
                let options = Options { threads, strategy, ..Options::default() };
                Plan::new(batch.schema(), &[spec], options).unwrap().compute(&batch).unwrap()
            };
            let expected = answers(Some(Strategy::Naive), 1);
            for threads in [1, 2] {
                let found = answers(None, threads);
                for (found, expected) in found.columns().iter().zip(expected.columns()) {
                    // Sums of these are exact; as data, since a NaN is not equal to itself.
                    assert_eq!(found.to_data(), expected.to_data(), "{frame:?} on {threads}");
                }
            }
        }
    }
}
