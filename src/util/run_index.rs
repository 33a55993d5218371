//! Runs of rows (partitions, peer groups) by number, and iteration over runs.
//!
//! Rank and select over the boundaries find the run that holds a row in O(log n), however long the run is, where
//! [`Boundaries`] scans. Iterating over the runs of a block costs one step per run in the block, also within a huge
//! partition. Memory: 4 bytes per 64 rows.

use std::convert::Infallible;
use std::hint::select_unpredictable;
use std::ops::Range;

use arrow_buffer::bit_iterator::BitIndexIterator;

use super::bitmap::{WORD_BITS, word};
use super::boundaries::Boundaries;
use super::rank_select::RankSelect;
use super::simd::with_widest_vectors;
use crate::error::Result;

/// The runs of [`Boundaries`], indexed.
#[derive(Debug, Clone)]
pub(crate) struct RunIndex {
    ranks: RankSelect,
    /// 1 if the bit of row 0 is set, else 0. Row 0 begins a run in either case.
    first: usize,
}

impl RunIndex {
    pub(crate) fn new(boundaries: &Boundaries) -> Self {
        let starts = boundaries.starts();
        let first = usize::from(!starts.is_empty() && starts.value(0));
        Self { ranks: RankSelect::new(starts.clone()), first }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.ranks.bits().len()
    }

    /// Whether the bit of `row` is set. Row 0 begins a run even without one.
    #[inline]
    pub(crate) fn bit(&self, row: usize) -> bool {
        self.ranks.bits().value(row)
    }

    /// The bits of 64 rows from `row` on, zero past the end.
    #[inline]
    pub(crate) fn word(&self, row: usize) -> u64 {
        word(self.ranks.bits(), row)
    }

    /// How many bits are set before `row`.
    #[inline]
    pub(crate) fn count_before(&self, row: usize) -> usize {
        self.ranks.rank(row)
    }

    /// The number, from 0, of the run that holds `row`.
    pub(crate) fn run_number(&self, row: usize) -> usize {
        self.count_before(row + 1) - self.first
    }

    /// The first row of run `number`; the number of rows if there is no such run.
    pub(crate) fn run_start_of(&self, number: usize) -> usize {
        if number == 0 { 0 } else { self.ranks.select(number - 1 + self.first).unwrap_or(self.len()) }
    }

    /// The first row of the run that holds `row`.
    pub(crate) fn run_start(&self, row: usize) -> usize {
        if self.bit(row) {
            row
        } else {
            self.count_before(row).checked_sub(1).and_then(|k| self.ranks.select(k)).unwrap_or(0)
        }
    }

    /// The row after the run that holds `row`.
    pub(crate) fn run_end(&self, row: usize) -> usize {
        self.next_start(row + 1)
    }

    /// The first row at or after `row` where a run begins, or the number of rows.
    pub(crate) fn next_start(&self, row: usize) -> usize {
        if row >= self.len() || self.bit(row) {
            row
        } else {
            self.ranks.select(self.count_before(row)).unwrap_or(self.len())
        }
    }

    /// Writes `f(row, first row of its run)` for each of `rows`. Does not branch on where runs begin, which is
    /// unpredictable for short runs.
    #[inline]
    pub(crate) fn map_run_starts(&self, rows: Range<usize>, out: &mut [u32], f: impl Fn(u32, u32) -> u32) {
        if rows.is_empty() {
            return;
        }
        let mut begin = self.run_start(rows.start) as u32;
        with_widest_vectors(
            #[inline(always)]
            move || {
                for (at, out) in rows.step_by(WORD_BITS).zip(out.chunks_mut(WORD_BITS)) {
                    let (first, starts) = (at as u32, self.word(at));
                    if starts == 0 {
                        // A local copy: the loop is vectorised only if nothing it reads can change.
                        let begin = begin;
                        out.iter_mut().zip(first..).for_each(|(slot, row)| *slot = f(row, begin));
                        continue;
                    }
                    for (bit, slot) in out.iter_mut().enumerate() {
                        let row = first + bit as u32;
                        begin = select_unpredictable((starts >> bit) & 1 != 0, row, begin);
                        *slot = f(row, begin);
                    }
                }
            },
        );
    }

    /// Writes `f(row, row after its run)` for each of `rows`, in the way of [`RunIndex::map_run_starts`].
    #[inline]
    pub(crate) fn map_run_ends(&self, rows: Range<usize>, out: &mut [u32], f: impl Fn(u32, u32) -> u32) {
        let Some(last) = rows.clone().next_back() else { return };
        let mut end = self.run_end(last) as u32;
        with_widest_vectors(
            #[inline(always)]
            move || {
                for (at, out) in rows.step_by(WORD_BITS).zip(out.chunks_mut(WORD_BITS)).rev() {
                    let (first, starts) = (at as u32, self.word(at));
                    if starts == 0 {
                        let end = end;
                        out.iter_mut().zip(first..).for_each(|(slot, row)| *slot = f(row, end));
                        continue;
                    }
                    for (bit, slot) in out.iter_mut().enumerate().rev() {
                        let row = first + bit as u32;
                        *slot = f(row, end);
                        end = select_unpredictable((starts >> bit) & 1 != 0, row, end);
                    }
                }
            },
        );
    }

    /// The rows of `rows` where runs begin.
    pub(crate) fn starts_within(&self, rows: Range<usize>) -> impl Iterator<Item = usize> {
        let (bits, first) = (self.ranks.bits(), rows.start.min(rows.end));
        let bits = BitIndexIterator::new(bits.values(), bits.offset() + first, rows.end - first);
        bits.map(move |at| first + at)
    }

    /// Calls `f` with each run that intersects `rows`, and with the intersection.
    #[inline(always)]
    pub(crate) fn for_each_run(&self, rows: Range<usize>, f: impl FnMut(Range<usize>, Range<usize>)) {
        if !rows.is_empty() {
            self.for_each_run_in(self.run_start(rows.start)..self.run_end(rows.end - 1), rows, f);
        }
    }

    /// As [`RunIndex::for_each_run`], until the first error of `f`.
    #[inline(always)]
    pub(crate) fn try_for_each_run(
        &self,
        rows: Range<usize>,
        f: impl FnMut(Range<usize>, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.try_for_each_run_in(self.run_start(rows.start)..self.run_end(rows.end - 1), rows, f)
    }

    /// As [`RunIndex::for_each_run`], if it is known that a run begins at `around.start` and one ends at `around.end`.
    pub(crate) fn for_each_run_between(
        &self,
        around: &Range<usize>,
        rows: Range<usize>,
        f: impl FnMut(Range<usize>, Range<usize>),
    ) {
        if !rows.is_empty() {
            let begin = if rows.start == around.start { rows.start } else { self.run_start(rows.start) };
            let end = if rows.end == around.end { rows.end } else { self.run_end(rows.end - 1) };
            self.for_each_run_in(begin..end, rows, f);
        }
    }

    #[inline(always)]
    fn for_each_run_in(&self, around: Range<usize>, rows: Range<usize>, mut f: impl FnMut(Range<usize>, Range<usize>)) {
        // The attribute is needed: a closure that is not inlined is compiled without its caller's target features.
        let walked = self.try_for_each_run_in(
            around,
            rows,
            #[inline(always)]
            |run, rows| {
                f(run, rows);
                std::result::Result::<_, Infallible>::Ok(())
            },
        );
        match walked {
            Ok(()) => {}
        }
    }

    /// The iteration. `around` reaches from the start of the first row's run to the end of the last row's.
    #[inline(always)]
    fn try_for_each_run_in<E>(
        &self,
        around: Range<usize>,
        rows: Range<usize>,
        mut f: impl FnMut(Range<usize>, Range<usize>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (mut begin, mut at) = (around.start, rows.start);
        for next in self.starts_within(rows.start + 1..rows.end) {
            f(begin..next, at..next)?;
            (begin, at) = (next, next);
        }
        f(begin..around.end, at..rows.end)
    }
}
