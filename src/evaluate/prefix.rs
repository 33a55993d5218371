//! Prefix difference: the state of a frame is what lies before its end less what lies before its begin.
//!
//! ```text
//!   |------- before end -------|
//!   |- before begin -|
//!                    [ frame   ]
//! ```
//!
//! Both prefixes move forward with the frame, so instead of an array of them the cursor keeps their difference:
//! rows that enter are updated into it, rows that leave are folded into a state of their own and retracted. Many frames
//! that step by one row, as ROWS frames do, are the aggregate's to answer at once ([`Slide`]); only where frames move
//! unevenly, as RANGE frames do, the prefixes of a block of frames are written down.
//! Cost: O(1) amortised per row for frames that never go back, no memory but a block's. Only for states whose retract is exact
//! (counts, integer and decimal sums in wide accumulators): a float would drift.

use std::ops::Range;

use super::fold::{BLOCK, Fold, Work, aside, behind, states};
use crate::aggregate::{Removable, Retract, Slide};
use crate::error::Result;

/// Keeps the difference of two prefixes.
#[derive(Debug, Clone, Copy)]
pub struct Prefix;

/// Fewer rows are taken in, or let go, one by one and without a call.
const NEAR: usize = 16;

/// So many frames that step by one row are worth a loop of their own.
const LEAST: usize = 128;

/// Where one frame in so many moves by several rows, as RANGE frames do, prefixes are written down for the next block:
/// how many rows come and go is then no branch that the processor guesses wrong.
const UNEVEN: usize = 8;

/// The most rows that may enter or leave in a block for that.
const FAR: usize = 8 * BLOCK;

/// Whether an end moves by several rows.
#[inline]
fn steps(known: &Range<usize>, run: &Range<usize>) -> bool {
    run.start > known.start + 1 || run.end > known.end + 1
}

/// The frame last seen and its state.
#[derive(Debug, Clone)]
pub struct Difference<S> {
    run: Range<usize>,
    state: S,
    /// How often an end moved by several rows.
    uneven: usize,
}

impl<S: Clone> Difference<S> {
    /// How many of `runs` follow by the same step, which is a row or none at each end, and none of them empty; and the rows
    /// that enter and leave by it.
    fn steady(&self, runs: impl Iterator<Item = Range<usize>> + Clone) -> Option<(usize, Range<usize>, Range<usize>)> {
        let known = &self.run;
        let first = runs.clone().next()?;
        let steps = [first.start.wrapping_sub(known.start), first.end.wrapping_sub(known.end)];
        if known.is_empty() || steps.iter().any(|step| *step > 1) {
            return None;
        }
        let mut next = known.clone();
        let follows = |run: &Range<usize>| {
            next = next.start + steps[0]..next.end + steps[1];
            *run == next && !run.is_empty()
        };
        let frames = runs.take_while(follows).count();
        let moved = |end: usize, step: usize| end..end + step * frames;
        Some((frames, moved(known.end, steps[1]), moved(known.start, steps[0])))
    }

    /// Moves both ends to `run`'s. One row at each is the common step.
    #[inline(always)]
    fn move_to<A: Removable<State = S>>(&mut self, aggregate: &A, run: Range<usize>) -> Result<S> {
        let Self { run: known, state, uneven } = self;
        if run.start == known.start + 1 && run.end == known.end + 1 && run.start < known.end {
            aggregate.append(state, known.end)?;
            aggregate.remove(state, known.start..known.start + 1)?;
            *known = run;
        } else if run.start < known.end
            && (known.start..known.start + NEAR).contains(&run.start)
            && (known.end..known.end + NEAR).contains(&run.end)
        {
            *uneven += usize::from(steps(known, &run));
            for row in known.end..run.end {
                aggregate.append(state, row)?;
            }
            for row in known.start..run.start {
                aggregate.remove(state, row..row + 1)?;
            }
            *known = run;
        } else if run != *known {
            aside(self, |difference| difference.jump_to(aggregate, run))?;
        }
        Ok(self.state.clone())
    }

    #[inline(never)]
    fn jump_to<A: Removable<State = S>>(&mut self, aggregate: &A, run: Range<usize>) -> Result<()> {
        let Self { run: known, state, .. } = self;
        if run.start < known.start || run.end < known.end || run.start >= known.end {
            *known = run.start..run.start;
            *state = aggregate.init();
        }
        if run.end > known.end {
            aggregate.update(state, known.end..run.end)?;
        }
        if run.start > known.start {
            aggregate.remove(state, known.start..run.start)?;
        }
        *known = run;
        Ok(())
    }
}

/// What one lane remembers.
#[derive(Debug)]
pub struct Window<S> {
    difference: Difference<S>,
    prefixes: Prefixes<S>,
    /// The states of frames that step by one row.
    slid: Vec<S>,
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
    /// Makes the prefixes for a block of frames, if it moves forward and not far; returns the last frame with rows.
    fn fill<A: Removable<State = S>>(
        &mut self,
        aggregate: &A,
        difference: &mut Difference<S>,
        runs: impl Iterator<Item = Range<usize>>,
    ) -> Result<Option<Range<usize>>> {
        let (mut moved, mut last) = (None, 0..0);
        difference.uneven = 0;
        for run in runs.filter(|run| !run.is_empty()) {
            difference.uneven += usize::from(steps(&last, &run));
            let (begins, ends) = moved.get_or_insert((run.start..run.start, run.end..run.end));
            *begins = begins.start.min(run.start)..begins.end.max(run.start);
            *ends = ends.start.min(run.end)..ends.end.max(run.end);
            last = run;
        }
        let Some((begins, ends)) = moved else { return Ok(None) };
        if begins.start >= ends.start || begins.len().max(ends.len()) > FAR {
            return Ok(None);
        }
        (self.begin, self.end) = (begins.start, ends.start);
        let base = difference.move_to(aggregate, begins.start..ends.start)?;
        for (prefixes, first, rows) in [(&mut self.entered, base, ends), (&mut self.left, aggregate.init(), begins)] {
            prefixes.clear();
            if let Some(slide) = A::SLIDE {
                prefixes.resize(rows.len() + 1, first);
                if let [first, rest @ ..] = &mut prefixes[..] {
                    slide(aggregate, first, rows, 0..0, rest);
                }
                continue;
            }
            prefixes.reserve(rows.len() + 1);
            let mut state = first;
            for row in rows {
                prefixes.push(state.clone());
                aggregate.append(&mut state, row)?;
            }
            prefixes.push(state);
        }
        Ok(Some(last))
    }

    /// The state of one of the frames.
    #[inline(always)]
    fn state<A: Removable<State = S>>(&self, aggregate: &A, retract: Retract<A>, run: &Range<usize>) -> S {
        let mut state = self.entered[run.end - self.end].clone();
        retract(aggregate, &mut state, &self.left[run.start - self.begin]);
        state
    }
}

impl<S: Clone> Window<S> {
    /// Answers the first of the frames, if many step by one row; says how many.
    #[inline(never)]
    fn slide<A: Removable<State = S>>(
        &mut self,
        aggregate: &A,
        slide: Slide<A>,
        runs: impl Iterator<Item = Range<usize>> + Clone,
        carried: Option<&S>,
        out: &mut A::Builder,
    ) -> Result<usize> {
        let Self { difference, slid, .. } = self;
        let Some((frames, entering, leaving)) = difference.steady(runs).filter(|steady| steady.0 >= LEAST) else {
            return Ok(0);
        };
        if entering.is_empty() && leaving.is_empty() {
            aggregate.repeat(&behind(aggregate, carried, difference.state.clone())?, frames, out)?;
            return Ok(frames);
        }
        slid.resize(frames, aggregate.init());
        difference.run = leaving.end..entering.end;
        slide(aggregate, &difference.state, entering, leaving, slid);
        if let Some(last) = slid.last() {
            difference.state.clone_from(last);
        }
        aggregate.evaluate_all(slid.iter().map(|state| behind(aggregate, carried, state.clone())), out)?;
        Ok(frames)
    }

    /// Answers a block of frames by prefixes, if it can be.
    #[inline(never)]
    fn by_prefixes<A: Removable<State = S>>(
        &mut self,
        aggregate: &A,
        runs: impl ExactSizeIterator<Item = Range<usize>> + Clone,
        carried: Option<&S>,
        out: &mut A::Builder,
    ) -> Result<bool> {
        let Self { difference, prefixes, .. } = self;
        let Some(retract) = A::RETRACT else { return Ok(false) };
        let Some(last) = prefixes.fill(aggregate, difference, runs.clone())? else { return Ok(false) };
        let state = |run| Ok(prefixes.state(aggregate, retract, &run));
        aggregate.evaluate_all(states(aggregate, runs, carried, state), out)?;
        difference.state = prefixes.state(aggregate, retract, &last);
        difference.run = last;
        Ok(true)
    }
}

impl<A: Removable> Fold<A> for Prefix {
    type Cursor = Window<A::State>;

    fn cursor(&self, aggregate: &A) -> Self::Cursor {
        Window {
            difference: Difference { run: 0..0, state: aggregate.init(), uneven: 0 },
            prefixes: Prefixes { begin: 0, end: 0, entered: Vec::new(), left: Vec::new() },
            slid: Vec::new(),
        }
    }

    fn state(&self, aggregate: &A, window: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        window.difference.move_to(aggregate, run)
    }

    fn block(
        &self,
        aggregate: &A,
        window: &mut Self::Cursor,
        runs: impl ExactSizeIterator<Item = Range<usize>> + Clone,
        carried: Option<&A::State>,
        _: &mut Work,
        out: &mut A::Builder,
    ) -> Result<()> {
        // One block decides for the next: both ways give the same answers.
        let uneven = std::mem::take(&mut window.difference.uneven) > runs.len() / UNEVEN;
        if uneven && window.by_prefixes(aggregate, runs.clone(), carried, out)? {
            return Ok(());
        }
        let mut left = runs;
        // So many are answered one by one before it is looked again whether frames step.
        let some = if A::SLIDE.is_some() { LEAST } else { BLOCK };
        while left.len() > 0 {
            let mut answered = match A::SLIDE {
                Some(slide) => window.slide(aggregate, slide, left.clone(), carried, out)?,
                None => 0,
            };
            if answered == 0 {
                answered = left.len().min(some);
                let mut difference = window.difference.clone();
                let state = |run| difference.move_to(aggregate, run);
                aggregate.evaluate_all(states(aggregate, left.clone().take(answered), carried, state), out)?;
                window.difference = difference;
            }
            left.nth(answered - 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch};

    use crate::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

    /// Frames whose ends move by no row, by one and by many, block after block, across partitions and jumps.
    #[test]
    fn frames_are_answered_as_they_are_alone() {
        let mut key = 0;
        let keys = (0..6000_i64).map(|row| {
            key += (row * row % 7) * i64::from(row / 1500 % 2 == 0) + 40 * i64::from(row % 1100 == 0);
            key
        });
        let values = |row: i64| row * 31 % 1000 - 300;
        let columns: [(&str, ArrayRef); 5] = [
            ("p", Arc::new((0..6000).map(|row| Some(row / 2500)).collect::<Int64Array>())),
            ("k", Arc::new(keys.map(Some).collect::<Int64Array>())),
            ("v", Arc::new((0..6000).map(|row| (row % 5 > 0).then_some(values(row))).collect::<Int64Array>())),
            ("w", Arc::new((0..6000).map(values).collect::<Int64Array>())),
            ("m", Arc::new((0..6000).map(|row| (row % 3 > 0).then_some(i128::from(row))).collect::<Decimal128Array>())),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        // Both ends step by a row, one does, neither; then by any number of rows.
        let rows =
            [(-1000, 1000), (-400, -200), (200, 400), (-3, 0), (0, 900), (-2600, 10), (-10, 2600), (-2000, 2400)];
        let range = [(-9, 9), (-30, -3), (3, 30), (0, 200), (-2, 0)];
        let frames = rows.map(|frame| (Frame::rows as fn(Bound, Bound) -> Frame, frame));
        for (frame, ends) in frames.into_iter().chain(range.map(|ends| (Frame::range as _, ends))) {
            let bound = |rows: i64| if rows < 0 { Bound::preceding(-rows) } else { Bound::following(rows) };
            let frame = frame(bound(ends.0), bound(ends.1));
            let sums = |strategy| {
                let call = |name: &str, column| Call::new(name, [Arg::column(column)]).over(frame.clone());
                let calls = [("sum", "v"), ("avg", "v"), ("count", "v"), ("sum", "w"), ("sum", "m"), ("max", "v")];
                let spec = WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("k")]);
                let spec = calls.into_iter().fold(spec, |spec, (name, column)| spec.call(call(name, column)));
                let options = Options { strategy, threads: 1, ..Options::default() };
                Plan::new(batch.schema(), &[spec], options).unwrap().compute(&batch).unwrap()
            };
            assert_eq!(sums(None), sums(Some(Strategy::Naive)), "{ends:?}");
        }
    }
}
