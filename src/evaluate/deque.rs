//! Monotonic deque: the rows that may still become the choice, best first.
//!
//! ```text
//!   values   5 3 8 4 6 9        min over the frame [ 3 8 4 6 ]
//!   queue      3 . 4 6          8 can never be chosen again: 4 came later and is smaller
//! ```
//!
//! A row enters at the back after throwing out every row it beats, and leaves at the front when the frame passes
//! it; the front is the answer. Cost: O(1) amortised per row for frames that never go back; memory O(W) at worst,
//! for a frame that is already sorted. Wins for min, max and kin over moving frames of any width.
//! Source: Tangwongsan, Hirzel, Schneider, "In-order sliding-window aggregation in worst-case constant time"
//! (VLDB Journal 2021) gives the history; the folklore name is the ascending-minima algorithm.

use std::collections::VecDeque;
use std::ops::Range;

use super::fold::Fold;
use crate::aggregate::Selective;
use crate::error::Result;

/// Keeps the rows that may still be chosen.
#[derive(Debug, Clone, Copy)]
pub struct Deque;

/// The queue, and the run that it is of.
#[derive(Debug, Default)]
pub struct Queue {
    run: Range<usize>,
    rows: VecDeque<u32>,
}

impl<A: Selective> Fold<A> for Deque {
    type Cursor = Queue;

    fn cursor(&self, _: &A) -> Queue {
        Queue::default()
    }

    fn state(&self, aggregate: &A, queue: &mut Queue, run: Range<usize>) -> Result<A::State> {
        let Queue { run: known, rows } = queue;
        if run.start < known.start || run.end < known.end || run.start >= known.end {
            rows.clear();
            *known = run.start..run.start;
        }
        for row in known.end..run.end {
            if aggregate.includes(row) {
                while rows.back().is_some_and(|&old| !aggregate.keeps(old as usize, row)) {
                    rows.pop_back();
                }
                rows.push_back(row as u32);
            }
        }
        while rows.front().is_some_and(|&old| (old as usize) < run.start) {
            rows.pop_front();
        }
        *known = run;
        let mut state = aggregate.init();
        if let Some(&row) = rows.front() {
            aggregate.update(&mut state, row as usize..row as usize + 1)?;
        }
        Ok(state)
    }
}
