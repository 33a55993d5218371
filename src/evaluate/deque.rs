//! Monotonic deque: the rows that can still become the selected one, best first.
//!
//! ```text
//!   values   5 3 8 4 6 9        min over the frame [ 3 8 4 6 ]
//!   queue      3 . 4 6          8 can never be selected again: 4 came later and is smaller
//! ```
//!
//! A row enters at the back, after every row that it beats is removed, and leaves at the front once the frame has
//! passed it; the front is the result. Cost: O(1) amortised per row for frames that never move back; memory O(W) in the
//! worst case, a frame that is already sorted. Best for min, max and similar aggregates over moving frames of any
//! width. Source: Tangwongsan, Hirzel, Schneider, "In-order sliding-window aggregation in worst-case constant time"
//! (VLDB Journal 2021) gives the history; also known as the ascending minima algorithm.

use std::ops::Range;

use super::fold::Fold;
use crate::error::Result;
use crate::model::aggregate::{Accumulator, Aggregate, Selective};

/// Keeps the rows that can still be selected.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deque;

/// Rows that have left are removed from memory once there are this many of them and they are more than half of the
/// queue.
const COMPACT_AFTER_ROWS: usize = 1024;

/// The queue and the run of rows that it covers.
#[derive(Debug, Default)]
pub(crate) struct MonotonicQueue {
    run: Range<usize>,
    /// The queue is `rows[gone..]`; rows that have left the front are removed later, so no ring buffer is needed.
    rows: Vec<u32>,
    gone: usize,
}

/// Removes the rows that `row` beats from the end of the queue.
#[inline(always)]
fn pop_beaten<A: Selective>(accumulator: &A, rows: &mut Vec<u32>, gone: usize, row: usize) {
    while rows[gone..].last().is_some_and(|&old| !accumulator.prefers_old(old as usize, row)) {
        rows.pop();
    }
}

impl<A: Aggregate<Accumulator: Selective>> Fold<A> for Deque {
    type Cursor = MonotonicQueue;

    fn cursor(&self, _: &A::Accumulator) -> MonotonicQueue {
        MonotonicQueue::default()
    }

    // Without this attribute compilers emit a call once other code (or `pop_beaten`) grows, and the queue's length then
    // goes through memory twice per row (`benches/kernels.rs`).
    #[inline(always)]
    fn state(&self, accumulator: &A::Accumulator, queue: &mut MonotonicQueue, run: Range<usize>) -> Result<A::State> {
        let MonotonicQueue { run: known, rows, gone } = queue;
        if run.start < known.start || run.end < known.end || run.start >= known.end {
            rows.clear();
            *gone = 0;
            *known = run.start..run.start;
        }
        for row in known.end..run.end {
            if accumulator.includes(row) {
                pop_beaten(accumulator, rows, *gone, row);
                rows.push(row as u32);
            }
        }
        // Where a frame moves by one row, at most one row leaves, unpredictably: the first check has no branch. The
        // condition is written out twice because sharing it in a closure is slower.
        if let Some(&old) = rows.get(*gone) {
            *gone += usize::from((old as usize) < run.start);
        }
        while rows.get(*gone).is_some_and(|&old| (old as usize) < run.start) {
            *gone += 1;
        }
        if *gone >= COMPACT_AFTER_ROWS.max(rows.len() / 2) {
            rows.drain(..*gone);
            *gone = 0;
        }
        *known = run;
        let mut state = accumulator.init();
        if let Some(&row) = rows.get(*gone) {
            accumulator.append(&mut state, row as usize)?;
        }
        Ok(state)
    }
}
