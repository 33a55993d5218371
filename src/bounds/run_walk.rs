//! Runs of rows (partitions, peer groups), walked run by run.
//!
//! Rank and select over the starts find the run that holds a block's first row in O(log n), however long the
//! run; from there a walk over the bits of the block alone costs one step per run. So a block costs its own
//! rows, never those of the huge partition it lies in. Memory: 4 bytes per 64 rows.

use std::hint::select_unpredictable;
use std::ops::Range;

use arrow_buffer::bit_iterator::BitIndexIterator;

use crate::util::bitmap::{WORD, word};
use crate::util::boundaries::Edges;
use crate::util::rank_select::Ranks;
use crate::util::simd::widest;

/// Runs of rows.
#[derive(Debug, Clone)]
pub(super) struct Runs {
    ranks: Ranks,
    rows: usize,
    /// 1 where row 0 has its bit; row 0 begins a run in any case.
    first: usize,
}

impl Runs {
    pub(super) fn new(edges: &Edges) -> Self {
        let starts = edges.starts();
        let first = usize::from(!starts.is_empty() && starts.value(0));
        Self { ranks: Ranks::new(starts.clone()), rows: starts.len(), first }
    }

    /// The number, from 0, of the run that holds `row`.
    pub(super) fn number(&self, row: usize) -> usize {
        self.ranks.rank(row + 1) - self.first
    }

    /// The first row of the run of this number; behind the last row for a number past the last run.
    pub(super) fn first_row(&self, number: usize) -> usize {
        if number == 0 { 0 } else { self.ranks.select(number - 1 + self.first).unwrap_or(self.rows) }
    }

    /// The first row of the run that holds `row`.
    pub(super) fn begin(&self, row: usize) -> usize {
        self.first_row(self.number(row))
    }

    /// The row behind the run that holds `row`.
    pub(super) fn end(&self, row: usize) -> usize {
        self.first_row(self.number(row) + 1)
    }

    /// Writes what `f` makes of each of `rows` and of the first row of its run: without a branch on where runs begin, which
    /// cannot be foreseen where they are short.
    #[inline]
    pub(super) fn begins(&self, rows: Range<usize>, out: &mut [u32], f: impl Fn(u32, u32) -> u32) {
        if rows.is_empty() {
            return;
        }
        let mut begin = self.begin(rows.start) as u32;
        widest(
            #[inline(always)]
            move || {
                for (at, out) in rows.step_by(WORD).zip(out.chunks_mut(WORD)) {
                    let (first, starts) = (at as u32, word(self.ranks.bits(), at));
                    if starts == 0 {
                        // What a loop reads is its own, or compilers make no vectors of it.
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

    /// Writes what `f` makes of each of `rows` and of the row behind its run, as [`Runs::begins`] does.
    #[inline]
    pub(super) fn ends(&self, rows: Range<usize>, out: &mut [u32], f: impl Fn(u32, u32) -> u32) {
        let Some(last) = rows.clone().next_back() else { return };
        let mut end = self.end(last) as u32;
        widest(
            #[inline(always)]
            move || {
                for (at, out) in rows.step_by(WORD).zip(out.chunks_mut(WORD)).rev() {
                    let (first, starts) = (at as u32, word(self.ranks.bits(), at));
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
    pub(super) fn starts_within(&self, rows: Range<usize>) -> impl Iterator<Item = usize> {
        let (bits, first) = (self.ranks.bits(), rows.start.min(rows.end));
        let bits = BitIndexIterator::new(bits.values(), bits.offset() + first, rows.end - first);
        bits.map(move |at| first + at)
    }

    /// Calls `f` with each run that holds some of `rows`, and with the rows of it that are among `rows`.
    #[inline(always)]
    pub(super) fn each(&self, rows: Range<usize>, f: impl FnMut(Range<usize>, Range<usize>)) {
        if !rows.is_empty() {
            let around = self.begin(rows.start)..self.end(rows.end - 1);
            self.each_within(around, rows, f);
        }
    }

    /// As [`Runs::each`], where it is known that a run begins at `around.start` and one ends at `around.end`.
    pub(super) fn each_known(
        &self,
        around: &Range<usize>,
        rows: Range<usize>,
        f: impl FnMut(Range<usize>, Range<usize>),
    ) {
        if !rows.is_empty() {
            let begin = if rows.start == around.start { rows.start } else { self.begin(rows.start) };
            let end = if rows.end == around.end { rows.end } else { self.end(rows.end - 1) };
            self.each_within(begin..end, rows, f);
        }
    }

    /// The walk: `around` runs from the begin of the first row's run to the end of the last row's.
    #[inline(always)]
    fn each_within(&self, around: Range<usize>, rows: Range<usize>, mut f: impl FnMut(Range<usize>, Range<usize>)) {
        let (mut begin, mut at) = (around.start, rows.start);
        for next in self.starts_within(rows.start + 1..rows.end) {
            f(begin..next, at..next);
            (begin, at) = (next, next);
        }
        f(begin..around.end, at..rows.end);
    }
}
