//! Prefix difference: the state of a frame is the state before its end minus the state before its begin.
//!
//! ```text
//!   |------- before end -------|
//!   |- before begin -|
//!                    [ frame   ]
//! ```
//!
//! Instead of prefixes of the whole partition, those of a block of frames are stored: of the rows that enter in the
//! block and of those that leave, counted from its first frame. The number of rows that enter or leave per frame then
//! causes no branch. Where one row enters and one leaves with each frame, the common case, a single prefix suffices: of
//! the change per step. Where frames move far, as from one large partition to the next, and for states that are not a
//! difference of two, the cursor moves from frame to frame: rows that enter are added to its state, rows that leave are
//! retracted from it. Cost: O(1) amortised per row for frames that never move back; memory for one block. Used for
//! states with exact retraction (counts, integer and decimal sums in wide accumulators; floats would accumulate errors)
//! and for the `retract` of user-defined aggregates.

use std::ops::Range;

use super::evaluator::FRAMES_PER_BLOCK;
use super::fold::{CancelBudget, Fold, in_registers, states};
use super::state_buffer::MAX_FRAMES;
use crate::bounds::block::FrameRuns;
use crate::bounds::motion::Motion;
use crate::error::{Error, Result};
use crate::model::aggregate::{Accumulator, Aggregate, Removable, ResultReader, keep_all};
use crate::util::simd::with_avx2_only;

/// Keeps the difference of two prefixes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prefix;

/// The maximum number of rows that may enter or leave in a block for which prefixes are stored.
const MAX_PREFIX_ROWS: usize = 8 * FRAMES_PER_BLOCK;

/// What one lane keeps: the last frame and its state.
#[derive(Debug)]
pub(crate) struct PrefixWindow<S> {
    run: Range<usize>,
    state: S,
    prefixes: Prefixes<S>,
    /// Buffers for the states of frames, or for the prefixes at their ends where these are not contiguous.
    buffer: [Vec<S>; 2],
}

/// Prefixes of the rows that enter, and of those that leave, in a block of frames.
#[derive(Debug)]
struct Prefixes<S> {
    /// The first rows that can leave and enter.
    begin: usize,
    end: usize,
    /// `entered[k]` is the state of `begin..end + k`.
    entered: Vec<S>,
    /// `left[k]` is the state of `begin..begin + k`.
    left: Vec<S>,
}

impl<S: Clone> Prefixes<S> {
    /// The state of a frame whose ends both lie within the stored prefixes.
    #[inline(always)]
    fn state<A: Removable<State = S>>(&self, accumulator: &A, run: &Range<usize>) -> Option<S> {
        let entered = self.entered.get(run.end.wrapping_sub(self.end))?;
        accumulator.subtract(entered, self.left.get(run.start.wrapping_sub(self.begin))?)
    }
}

/// The prefixes at `ends`, where `prefixes[0]` belongs to row `from`: a slice if all ends move by one row, one value
/// repeated if none moves, else each looked up; `None` if one is not stored.
#[inline(always)]
fn prefixes_at<'a, S: Clone>(
    prefixes: &'a [S],
    from: usize,
    ends: &[u32],
    moves: Option<bool>,
    buffer: &'a mut Vec<S>,
) -> Option<&'a [S]> {
    let place = |end: &u32| (*end as usize).wrapping_sub(from);
    let first = place(ends.first()?);
    if moves == Some(true) {
        return prefixes.get(first..)?.get(..ends.len());
    }
    buffer.clear();
    if moves == Some(false) {
        buffer.resize(ends.len(), prefixes.get(first)?.clone());
    } else {
        let prefixes = prefixes.get(..=ends.iter().map(place).max()?)?;
        buffer.extend(ends.iter().map(|end| prefixes[place(end)].clone()));
    }
    Some(buffer)
}

impl<S: Clone> PrefixWindow<S> {
    /// Moves to `run`, which is not empty.
    #[inline(always)]
    fn move_to<A: Removable<State = S>>(&mut self, accumulator: &A, run: Range<usize>) -> Result<()> {
        let Self { run: known, state, .. } = self;
        if run.start < known.start || run.end < known.end || run.start >= known.end {
            *known = run.start..run.start;
            *state = accumulator.init();
        }
        if run.end > known.end {
            in_registers(state, |state| accumulator.update(state, known.end..run.end))?;
        }
        if run.start > known.start {
            in_registers(state, |state| accumulator.retract_rows(state, known.start..run.start))?;
        }
        *known = run;
        Ok(())
    }

    /// Evaluates the frames, if both ends of each move by one row.
    #[inline(always)]
    fn evaluate_by_steps<A: Aggregate<State = S, Accumulator: Removable>>(
        &mut self,
        aggregate: &A,
        runs: FrameRuns,
        out: &mut A::Builder,
    ) -> Result<bool> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let Some((first, Motion { begin: true, end: true })) = runs.sliding() else { return Ok(false) };
        self.move_to(accumulator, first.clone())?;
        let Self { run, state, buffer: [states, _], .. } = self;
        let more = runs.iter().len() - 1;
        *run = first.start + more..first.end + more;
        states.resize_with(more + 1, || accumulator.init());
        states[0] = state.clone();
        Removable::slide(accumulator, state, first.end..run.end, first.start..run.start, &mut states[1..])?;
        reader.evaluate_block(states.iter().map(|state| Ok(state.clone())), out)?;
        Ok(true)
    }

    /// Evaluates a block of frames by prefixes, unless they move far.
    #[inline(always)]
    fn evaluate_by_prefixes<A: Aggregate<State = S, Accumulator: Removable>>(
        &mut self,
        aggregate: &A,
        runs: FrameRuns,
        carried: Option<&S>,
        out: &mut A::Builder,
    ) -> Result<bool> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let mut non_empty = runs.iter().filter(|run| !run.is_empty());
        let Some(first) = non_empty.next() else { return Ok(false) };
        let last = non_empty.next_back().unwrap_or_else(|| first.clone());
        let (begins, ends) = (first.start..last.start, first.end..last.end);
        if begins.start > begins.end || ends.start > ends.end || begins.len().max(ends.len()) > MAX_PREFIX_ROWS {
            return Ok(false);
        }
        self.move_to(accumulator, first.clone())?;
        let Self { run, state, prefixes, buffer: [entered, left] } = self;
        (prefixes.begin, prefixes.end) = (begins.start, ends.start);
        let moved = [(&mut prefixes.entered, state.clone(), ends), (&mut prefixes.left, accumulator.init(), begins)];
        for (prefixes, mut state, rows) in moved {
            prefixes.resize_with(rows.len() + 1, || accumulator.init());
            prefixes[0] = state.clone();
            accumulator.append_scan(&mut state, rows, keep_all(), &mut prefixes[1..])?;
        }
        // Frames may move arbitrarily if the strategy was set explicitly.
        let anew = |run| {
            let mut state = accumulator.init();
            accumulator.update(&mut state, run)?;
            Ok(state)
        };
        let look = |run| prefixes.state(accumulator, &run).map_or_else(|| anew(run), Ok);
        let mut runs = runs;
        while !runs.is_empty() {
            let (some, others) = runs.split(MAX_FRAMES);
            let moves = some.sliding().map(|(_, moves)| moves);
            let ended = prefixes_at(&prefixes.entered, prefixes.end, some.end, moves.map(|moves| moves.end), entered);
            let has_started =
                prefixes_at(&prefixes.left, prefixes.begin, some.begin, moves.map(|moves| moves.begin), left);
            match ended.zip(has_started).filter(|_| carried.is_none()) {
                Some((entered, left)) => {
                    let frames = entered.iter().zip(left).map(|(entered, left)| {
                        let state = accumulator.subtract(entered, left);
                        state.ok_or_else(|| Error::internal("states that cannot be subtracted"))
                    });
                    reader.evaluate_block(frames, out)?;
                }
                None => reader.evaluate_block(states(accumulator, some.iter(), carried, look), out)?,
            }
            runs = others;
        }
        *state = look(last.clone())?;
        *run = last;
        Ok(true)
    }
}

impl<A: Aggregate<Accumulator: Removable>> Fold<A> for Prefix {
    type Cursor = PrefixWindow<A::State>;

    fn cursor(&self, accumulator: &A::Accumulator) -> Self::Cursor {
        let prefixes = Prefixes { begin: 0, end: 0, entered: Vec::new(), left: Vec::new() };
        PrefixWindow { run: 0..0, state: accumulator.init(), prefixes, buffer: [Vec::new(), Vec::new()] }
    }

    fn state(&self, accumulator: &A::Accumulator, window: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        window.move_to(accumulator, run)?;
        Ok(window.state.clone())
    }

    fn fold_block(
        &self,
        aggregate: &A,
        window: &mut Self::Cursor,
        mut runs: FrameRuns,
        carried: Option<&A::State>,
        _: &mut CancelBudget,
        out: &mut A::Builder,
    ) -> Result<()> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let nothing = accumulator.init();
        if accumulator.subtract(&nothing, &nothing).is_some() {
            let answered = with_avx2_only(
                #[inline(always)]
                || {
                    while !runs.is_empty() {
                        let (some, others) = runs.split(MAX_FRAMES);
                        if carried.is_some() || !window.evaluate_by_steps(aggregate, some, out)? {
                            return window.evaluate_by_prefixes(aggregate, runs, carried, out);
                        }
                        runs = others;
                    }
                    Ok(true)
                },
            );
            if answered.transpose()? == Some(true) {
                return Ok(());
            }
        }
        reader.evaluate_block(
            states(accumulator, runs.iter(), carried, |run| Fold::<A>::state(self, accumulator, window, run)),
            out,
        )
    }
}
