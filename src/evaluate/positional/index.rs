//! Index: results that are rows of the input, found by row number arithmetic.
//!
//! ```text
//!   rows            0 1 2 3 4 5 6 7 8 9
//!   counted         1 . 1 1 . . . 1 1 .
//!   rows before     0 1 1 2 3 3 3 3 4 5      `before(7) = 3`
//!   the k-th            k=2 ^     ^ k=3      `row(3) = 7`
//!   frame of 6              [-------]        its first: `row(before(3))`, its second: `row(before(3) + 1)`
//! ```
//!
//! A function picks one row per result here; `gather_plan.rs` gathers all picks at once. Values are moved but never
//! inspected, so any column type works.
//!
//! Cost: O(1) per row if all rows are counted. Under a mask the first and the last row of a frame are O(1) amortised;
//! any other row costs one rank, O(1), and one select, O(log n), independent of the runs of nulls; 4 bytes per 64 rows.
//! Always faster than folding frames for first, last, nth, lag and lead.
//!
//! Row arithmetic for frames: V. Leis et al., "Efficient Processing of Window Functions in Analytical SQL Queries",
//! VLDB 2015. Rank and select: G. Jacobson, "Space-efficient Static Trees and Graphs", FOCS 1989.

use std::ops::Range;

use crate::model::row_mask::RowMask;
use crate::util::rank_select::RankSelect;

/// The counted rows, with rank and select.
#[derive(Debug, Clone)]
pub(crate) enum MaskIndex {
    /// All rows are counted: a row's number is its rank.
    All,
    /// The rows of a mask.
    Ranked(RankSelect),
}

impl MaskIndex {
    pub(crate) fn new(inclusion: RowMask) -> Self {
        match inclusion {
            RowMask::All => Self::All,
            RowMask::Mask(bits) => Self::Ranked(RankSelect::new(bits)),
        }
    }

    #[inline]
    pub(crate) fn includes(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Ranked(ranks) => ranks.bits().value(row),
        }
    }

    /// The number of counted rows before `row`.
    #[inline(always)]
    pub(crate) fn before(&self, row: usize) -> usize {
        match self {
            Self::All => row,
            Self::Ranked(ranks) => ranks.rank(row),
        }
    }

    /// The `k`-th counted row, from 0.
    pub(crate) fn row(&self, k: usize) -> Option<usize> {
        match self {
            Self::All => Some(k),
            Self::Ranked(ranks) => ranks.select(k),
        }
    }
}

/// The number of counted rows before a row, advanced to the next row asked for.
#[derive(Debug, Clone, Copy, Default)]
struct RankCursor {
    row: usize,
    before: usize,
}

/// Up to this many rows are scanned one by one before a rank or a select is used instead.
const LINEAR_ROWS: usize = 8;

impl RankCursor {
    #[inline]
    fn advance_to(&mut self, row: usize, included: &MaskIndex) -> usize {
        let MaskIndex::Ranked(ranks) = included else { return row };
        self.before = if self.row <= row && row - self.row <= LINEAR_ROWS {
            self.before + (self.row..row).filter(|&row| ranks.bits().value(row)).count()
        } else {
            ranks.rank(row)
        };
        self.row = row;
        self.before
    }
}

/// A view of [`MaskIndex`] that remembers the row it found last, as the next one is often the same or the next. The
/// memory affects speed only, never results.
#[derive(Debug)]
pub(crate) struct MaskWalk<'a> {
    included: &'a MaskIndex,
    /// Rows that are not counted, up to one that is (or the end).
    ahead: Range<usize>,
    /// Rows that are not counted, down to one that is (or row 0).
    behind: Range<usize>,
    /// The numbers of counted rows before the last run's begin, and before its end.
    counts: [RankCursor; 2],
    /// The last result for a `k`-th row: `k` and the row.
    found: Option<(usize, usize)>,
}

impl<'a> MaskWalk<'a> {
    pub(crate) fn new(included: &'a MaskIndex) -> Self {
        Self { included, ahead: 0..0, behind: 0..0, counts: Default::default(), found: None }
    }

    /// The first counted row of `run`.
    #[inline]
    pub(crate) fn first(&mut self, run: Range<usize>) -> Option<usize> {
        if run.is_empty() {
            return None;
        }
        let row = match self.included {
            MaskIndex::All => run.start,
            MaskIndex::Ranked(ranks) if ranks.bits().value(run.start) => run.start,
            MaskIndex::Ranked(ranks) => {
                if !self.ahead.contains(&run.start) {
                    let bits = ranks.bits();
                    let near = (run.start + 1..bits.len().min(run.start + LINEAR_ROWS)).find(|&row| bits.value(row));
                    let found = near.or_else(|| ranks.select(ranks.rank(run.start)));
                    self.ahead = run.start..found.unwrap_or(bits.len());
                }
                self.ahead.end
            }
        };
        (row < run.end).then_some(row)
    }

    /// The last counted row of `run`.
    #[inline]
    pub(crate) fn last(&mut self, run: Range<usize>) -> Option<usize> {
        let last = run.end.checked_sub(1).filter(|last| run.start <= *last)?;
        let row = match self.included {
            MaskIndex::All => last,
            MaskIndex::Ranked(ranks) if ranks.bits().value(last) => {
                self.behind = run.end..run.end;
                last
            }
            MaskIndex::Ranked(ranks) => {
                if self.behind.end == last {
                    self.behind.end = run.end;
                } else if !self.behind.contains(&last) {
                    let found = ranks.rank(run.end).checked_sub(1).and_then(|k| ranks.select(k));
                    self.behind = found.map_or(0, |row| row + 1)..run.end;
                }
                self.behind.start.checked_sub(1)?
            }
        };
        (row >= run.start).then_some(row)
    }

    /// The numbers of counted rows before `run` and before its end.
    #[inline]
    pub(crate) fn before(&mut self, run: &Range<usize>) -> (usize, usize) {
        let [begin, end] = &mut self.counts;
        (begin.advance_to(run.start, self.included), end.advance_to(run.end, self.included))
    }

    /// The `k`-th counted row, from 0.
    #[inline]
    pub(crate) fn row(&mut self, k: usize) -> Option<usize> {
        let MaskIndex::Ranked(ranks) = self.included else { return Some(k) };
        let row = match self.found {
            Some((last, row)) if k == last => row,
            Some((last, row)) if k == last + 1 => {
                let bits = ranks.bits();
                let near = (row + 1..bits.len().min(row + 1 + LINEAR_ROWS)).find(|&row| bits.value(row));
                near.or_else(|| ranks.select(k))?
            }
            _ => ranks.select(k)?,
        };
        self.found = Some((k, row));
        Some(row)
    }
}
