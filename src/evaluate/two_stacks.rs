//! Two stacks: a queue of states without subtraction.
//!
//! ```text
//!   frame    [ a b c d | e f g ]
//!   front      states of abcd, bcd, cd, d      a row leaves: pop
//!   back                 state of efg          a row enters: update
//! ```
//!
//! The frame's state is the top of the front merged with the back. When the front is empty, the rows of the frame are
//! folded backwards into a new front. Each row is prepended to the front once and appended to the back once, and each
//! result takes one merge: O(1) amortised per row for frames that never move back; memory: one state per row of the
//! frame. Best for float sums, moments and every other mergeable state that cannot be retracted, or not exactly.
//! Source: the functional queue of Okasaki (1995) as used for windows by Tangwongsan et al., "General incremental
//! sliding-window aggregation" (PVLDB 8, 2015).
//!
//! Narrow frames are evaluated by `two_stacks_fixed.rs`. Where both ends of the frames move by one row, or one end does
//! and the other stays, the back's states of a number of frames are stored and then merged with the front's: these
//! merges depend neither on each other nor on the rows (`benches/kernels.rs`).

use std::mem::needs_drop;
use std::ops::Range;

use super::fold::{CancelBudget, Fold, in_registers, states};
use super::state_buffer;
use super::two_stacks_fixed::{self, FixedWidthStates};
use crate::bounds::block::FrameRuns;
use crate::error::Result;
use crate::model::aggregate::{Accumulator, Aggregate, ResultReader, keep_all};
use crate::util::simd::with_avx2_only;

/// The minimum number of rows for filling a front in one call to pay.
const MIN_FRONT_ROWS: usize = 16;

/// The minimum number of rows of a frame, after as many of which its stacks are refilled, for evaluating frames
/// together to pay.
const MIN_FRAME_ROWS: usize = 64;

/// Keeps the two stacks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TwoStacks;

/// The stacks of one lane. The front contains states of the last rows before the middle, that of all of them first.
#[derive(Debug)]
pub(crate) struct StackStates<S> {
    front: Vec<S>,
    back: BackStack<S>,
    beside: BlockStates<S>,
    narrow: FixedWidthStates<S>,
}

/// The states of frames' rows before the middle (one, if all have the same) and of those from the middle on.
#[derive(Debug)]
struct BlockStates<S> {
    fronts: Vec<S>,
    backs: Vec<S>,
}

/// What changes with every row.
#[derive(Debug, Clone)]
struct BackStack<S> {
    run: Range<usize>,
    middle: usize,
    /// The state of the rows from the middle on.
    state: S,
}

impl<S: Clone> BackStack<S> {
    fn new<A: Accumulator<State = S>>(accumulator: &A) -> Self {
        Self { run: 0..0, middle: 0, state: accumulator.init() }
    }

    /// The state of `run`. One more row at the end is the common step.
    #[inline(always)]
    fn move_to<A: Accumulator<State = S>>(
        &mut self,
        accumulator: &A,
        front: &mut Vec<S>,
        run: Range<usize>,
    ) -> Result<S> {
        if run.start < self.run.start || run.end < self.run.end || run.start > self.middle {
            in_registers(self, |back| back.flip(accumulator, front, &run))?;
        }
        let known = self.run.end;
        if run.end == known + 1 {
            accumulator.append(&mut self.state, known)?;
        } else if run.end > known {
            in_registers(&mut self.state, |state| accumulator.update(state, known..run.end))?;
        }
        // Front states of more rows than this include rows that have left.
        let rows = self.middle - run.start;
        self.run = run;
        match front.get(front.len().wrapping_sub(rows)) {
            Some(state) => accumulator.merged(state, &self.state),
            None => Ok(self.state.clone()),
        }
    }

    /// Evaluates the leading frames if they move by one row, until the front is empty. Returns how many.
    #[inline(always)]
    fn evaluate_block<A: Aggregate<State = S>>(
        &mut self,
        aggregate: &A,
        StackStates { front, beside: BlockStates { fronts, backs }, .. }: &mut StackStates<S>,
        runs: FrameRuns,
        out: &mut A::Builder,
    ) -> Result<usize> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let Some((first, moves)) = runs.sliding() else { return Ok(0) };
        self.move_to(accumulator, front, first.clone())?;
        // When the front is empty, the rows are folded into a new one.
        let left = self.middle - first.start;
        let most = runs.iter().len();
        let count = if moves.begin { most.min(left.max(1)) } else { most };
        let last = count - 1;
        backs.resize_with(count, || accumulator.init());
        if moves.end {
            backs[0] = self.state.clone();
            accumulator.append_scan(&mut self.state, first.end..first.end + last, keep_all(), &mut backs[1..])?;
        } else {
            backs.fill(self.state.clone());
        }
        let fronts = if moves.begin && left > 0 {
            &front[front.len() - left..][..count]
        } else {
            let same = front.get(front.len() - left).cloned();
            fronts.clear();
            fronts.resize(count, same.unwrap_or_else(|| accumulator.init()));
            &fronts[..]
        };
        let merged = fronts.iter().zip(&*backs).map(|(front, back)| accumulator.merged(front, back));
        reader.evaluate_block(merged, out)?;
        self.run = first.start + usize::from(moves.begin) * last..first.end + usize::from(moves.end) * last;
        Ok(count)
    }

    /// Fills a front from the known rows that lie in `run`, if it continues from them.
    #[inline(never)]
    fn flip<A: Accumulator<State = S>>(
        &mut self,
        accumulator: &A,
        front: &mut Vec<S>,
        run: &Range<usize>,
    ) -> Result<()> {
        self.state = accumulator.init();
        if run.start < self.run.start || run.end < self.run.end || run.start >= self.run.end {
            (self.run, self.middle) = (run.start..run.start, run.start);
            return Ok(());
        }
        self.middle = self.run.end;
        let (mut later, rows) = (accumulator.init(), run.start..self.middle);
        front.resize_with(rows.len(), || accumulator.init());
        if rows.len() >= MIN_FRONT_ROWS {
            return accumulator.prepend_scan(&mut later, rows, keep_all(), front);
        }
        for (row, front) in rows.zip(front).rev() {
            accumulator.prepend(&mut later, row)?;
            front.clone_from(&later);
        }
        Ok(())
    }
}

impl<A: Aggregate> Fold<A> for TwoStacks {
    type Cursor = StackStates<A::State>;

    fn cursor(&self, accumulator: &A::Accumulator) -> Self::Cursor {
        StackStates {
            front: Vec::new(),
            back: BackStack::new(accumulator),
            beside: BlockStates { fronts: Vec::new(), backs: Vec::new() },
            narrow: FixedWidthStates::new(),
        }
    }

    fn state(&self, accumulator: &A::Accumulator, stacks: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        stacks.back.move_to(accumulator, &mut stacks.front, run)
    }

    fn fold_block(
        &self,
        aggregate: &A,
        stacks: &mut Self::Cursor,
        mut runs: FrameRuns,
        carried: Option<&A::State>,
        _: &mut CancelBudget,
        out: &mut A::Builder,
    ) -> Result<()> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let mut back = std::mem::replace(&mut stacks.back, BackStack::new(accumulator));
        while !runs.is_empty() {
            let wide = runs.iter().next().is_some_and(|first| first.len() >= MIN_FRAME_ROWS);
            let together = carried.is_none() && !needs_drop::<A::State>();
            let (some, others) = runs.split(match (together, wide) {
                (false, _) => usize::MAX,
                (true, true) => state_buffer::MAX_FRAMES,
                (true, false) => two_stacks_fixed::FRAMES_PER_BATCH,
            });
            if together {
                let answered = with_avx2_only(
                    #[inline(always)]
                    || {
                        if wide {
                            back.evaluate_block(aggregate, stacks, some, out)
                        } else {
                            stacks.narrow.evaluate_block(aggregate, some, out)
                        }
                    },
                );
                if let Some(answered @ 1..) = answered.transpose()? {
                    (_, runs) = runs.split(answered);
                    continue;
                }
            }
            let state = |run| back.move_to(accumulator, &mut stacks.front, run);
            reader.evaluate_block(states(accumulator, some.iter(), carried, state), out)?;
            runs = others;
        }
        stacks.back = back;
        Ok(())
    }
}
