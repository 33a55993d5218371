//! Scan: one loop for growing frames, one for shrinking ones.
//!
//! ```text
//!   growing      [=======]==>            append the rows that enter
//!   shrinking           <==[=======]     states of suffixes, built backwards once per partition
//! ```
//!
//! The states of shrinking frames are those of suffixes of the partition. Instead of one per row, the cursor keeps one
//! per 64 rows and expands one chunk at a time. Cost: O(1) per row (growing: one update; shrinking: two updates and one
//! merge); memory: one state when growing, 1/64 of a state per row of the partition when shrinking.

use std::mem::needs_drop;
use std::ops::Range;

use super::fold::{CancelBudget, Fold, in_registers, states, with_prefix};
use super::state_buffer::{MAX_FRAMES, StateBuffer};
use crate::bounds::block::FrameRuns;
use crate::error::Result;
use crate::model::aggregate::{Accumulator, Aggregate, ResultReader, keep_all};
use crate::model::section::Section;
use crate::util::boundaries::Boundaries;
use crate::util::simd::with_avx2_only;

/// Rows between two stored suffixes: the states of an expanded chunk stay in the first-level cache.
const SUFFIX_INTERVAL: usize = 64;

/// The minimum number of frames for evaluating them together to pay.
const MIN_FRAMES: usize = 16;

/// Scans forwards from a frame's begin, or backwards from its partition's end.
#[derive(Debug)]
pub(crate) struct Scan {
    partitions: Boundaries,
}

impl Scan {
    /// A scan of the section's partitions.
    #[must_use]
    pub(crate) fn new(section: &Section) -> Self {
        Self { partitions: section.partitions.clone() }
    }
}

/// The progress of a scan.
#[derive(Debug)]
pub(crate) struct ScanState<S> {
    forwards: ForwardState<S>,
    /// The states of frames that are evaluated together.
    together: StateBuffer<S>,
    /// States of `row..run.end`; the next frame is expected to have the same end.
    backwards: Option<SuffixCache<S>>,
}

/// The state of `run`; the next frame is expected to have the same begin.
#[derive(Debug, Clone)]
struct ForwardState<S> {
    run: Range<usize>,
    state: S,
}

/// States of the suffixes of a run.
#[derive(Debug)]
pub(crate) struct SuffixCache<S> {
    run: Range<usize>,
    /// `saved[k]` is the state of `((run.start / SUFFIX_INTERVAL) + 1 + k) * SUFFIX_INTERVAL..run.end`.
    saved: Vec<S>,
    /// The rows of the expanded chunk that lie in the run.
    open: Range<usize>,
    /// `states[k]` is the state of `open.start + k..run.end`.
    states: Vec<S>,
}

impl<S: Clone> SuffixCache<S> {
    /// The suffixes of `run`, reusing the memory of the previous ones: most partitions may have few rows.
    fn new<A: Accumulator<State = S>>(accumulator: &A, run: Range<usize>, before: Option<Self>) -> Result<Self> {
        let (mut saved, states) = before.map_or_else(Default::default, |before| (before.saved, before.states));
        saved.clear();
        let first = run.start / SUFFIX_INTERVAL + 1;
        let mut end = run.end;
        let mut later: Option<S> = None;
        for edge in (first..=run.end / SUFFIX_INTERVAL).rev() {
            let mut state = accumulator.init();
            if edge * SUFFIX_INTERVAL < end {
                accumulator.update(&mut state, edge * SUFFIX_INTERVAL..end)?;
            }
            if let Some(later) = &later {
                accumulator.merge(&mut state, later)?;
            }
            saved.push(state.clone());
            later = Some(state);
            end = edge * SUFFIX_INTERVAL;
        }
        saved.reverse();
        Ok(Self { open: run.end..run.end, run, saved, states })
    }

    /// Whether `run` is one of the suffixes.
    #[inline]
    fn contains(&self, run: &Range<usize>) -> bool {
        self.run.end == run.end && self.run.start <= run.start
    }

    #[inline]
    fn state<A: Accumulator<State = S>>(&mut self, accumulator: &A, row: usize) -> Result<S> {
        self.expand(accumulator, row)?;
        Ok(self.states[row - self.open.start].clone())
    }

    /// Expands the chunk of `row`.
    #[inline]
    fn expand<A: Accumulator<State = S>>(&mut self, accumulator: &A, row: usize) -> Result<()> {
        if self.open.contains(&row) {
            return Ok(());
        }
        let chunk = row / SUFFIX_INTERVAL;
        self.open = self.run.start.max(chunk * SUFFIX_INTERVAL)..self.run.end.min((chunk + 1) * SUFFIX_INTERVAL);
        self.states.resize_with(self.open.len(), || accumulator.init());
        let mut later =
            self.saved.get(chunk - self.run.start / SUFFIX_INTERVAL).cloned().unwrap_or_else(|| accumulator.init());
        accumulator.prepend_scan(&mut later, self.open.clone(), keep_all(), &mut self.states)
    }

    /// The states of as many leading `runs` as are suffixes, each one row shorter than the one before, up to the end of
    /// the chunk.
    fn shrinking_states<A: Accumulator<State = S>>(
        &mut self,
        accumulator: &A,
        mut runs: impl Iterator<Item = Range<usize>>,
    ) -> Result<impl ExactSizeIterator<Item = &S>> {
        let Some(first) = runs.next().filter(|run| self.contains(run) && !run.is_empty()).map(|run| run.start) else {
            return Ok(self.states[..0].iter());
        };
        self.expand(accumulator, first)?;
        let falls = |(row, run): &(usize, Range<usize>)| run.start == *row && run.end == self.run.end;
        let behind = first + 1 + (first + 1..self.open.end).zip(runs).take_while(falls).count();
        Ok(self.states[first - self.open.start..behind - self.open.start].iter())
    }
}

impl<S: Clone> ForwardState<S> {
    fn new<A: Accumulator<State = S>>(accumulator: &A) -> Self {
        Self { run: 0..0, state: accumulator.init() }
    }

    /// The state of `run`. One more row at the end is the common step.
    #[inline(always)]
    fn move_to<A: Accumulator<State = S>>(
        &mut self,
        accumulator: &A,
        scan: &Scan,
        backwards: &mut Option<SuffixCache<S>>,
        run: Range<usize>,
    ) -> Result<S> {
        if run.start == self.run.start && run.end == self.run.end + 1 {
            accumulator.append(&mut self.state, self.run.end)?;
            self.run.end = run.end;
        } else if run != self.run {
            if let Some(suffixes) = backwards.as_mut().filter(|suffixes| suffixes.contains(&run)) {
                return suffixes.state(accumulator, run.start);
            }
            let suffix = in_registers(self, |forwards| forwards.jump_to(accumulator, scan, backwards, run))?;
            if let Some(state) = suffix {
                return Ok(state);
            }
        }
        Ok(self.state.clone())
    }

    /// Evaluates the frames, if they grow by one row each, continuing or starting anew, or shrink by one row each.
    #[inline(always)]
    fn evaluate_block<A: Aggregate<State = S>>(
        &mut self,
        aggregate: &A,
        buffer: &mut StateBuffer<S>,
        runs: FrameRuns,
        out: &mut A::Builder,
    ) -> Result<bool> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let mut each = runs.iter();
        let Some(first) = each.next() else { return Ok(false) };
        let last = each.next_back().unwrap_or_else(|| first.clone());
        let goes_on = first.start == self.run.start && first.end == self.run.end + 1;
        let rows = first.end.wrapping_sub(1)..last.end;
        buffer.states.resize_with(runs.iter().len(), || accumulator.init());
        if goes_on && runs.sliding().is_some_and(|(_, moves)| moves.end && !moves.begin) {
            accumulator.append_scan(&mut self.state, rows, keep_all(), &mut buffer.states)?;
        } else if (goes_on || first.len() == 1) && runs.are_growing() {
            buffer.mark_long_runs(runs);
            accumulator.append_scan(&mut self.state, rows, buffer.keep_masks.iter().copied(), &mut buffer.states)?;
        } else {
            return evaluate_shrinking(aggregate, buffer, runs, out);
        }
        self.run = last;
        reader.evaluate_block(buffer.states.iter().map(|state| Ok(state.clone())), out)?;
        Ok(true)
    }

    /// Continues to `run` or starts anew; returns the state of `run` if it is a suffix.
    #[inline(never)]
    fn jump_to<A: Accumulator<State = S>>(
        &mut self,
        accumulator: &A,
        scan: &Scan,
        backwards: &mut Option<SuffixCache<S>>,
        run: Range<usize>,
    ) -> Result<Option<S>> {
        if run.start != self.run.start || run.end < self.run.end {
            // A new partition or lane: a frame that ends with its partition will shrink, any other will grow. A frame
            // that is its partition's only row may do either; scanning forwards is the cheaper guess.
            if run.len() > 1 && run.end == scan.partitions.run_end(run.start) {
                let before = backwards.take();
                let suffixes = backwards.insert(SuffixCache::new(accumulator, run.clone(), before)?);
                return Ok(Some(suffixes.state(accumulator, run.start)?));
            }
            *self = Self { run: run.start..run.start, state: accumulator.init() };
        }
        accumulator.update(&mut self.state, self.run.end..run.end)?;
        self.run = run;
        Ok(None)
    }
}

/// Evaluates the frames, if they shrink by one row each, and the last has at most a few rows.
#[inline(always)]
fn evaluate_shrinking<A: Aggregate>(
    aggregate: &A,
    buffer: &mut StateBuffer<A::State>,
    runs: FrameRuns,
    out: &mut A::Builder,
) -> Result<bool> {
    let mut each = runs.iter();
    let Some(last) = each.next_back().filter(|last| (1..SUFFIX_INTERVAL).contains(&last.len()) && runs.are_shrinking())
    else {
        return Ok(false);
    };
    let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
    let mut state = accumulator.init();
    for row in (last.start + 1..last.end).rev() {
        accumulator.prepend(&mut state, row)?;
    }
    let rows = each.next().map_or(last.start, |first| first.start)..last.start + 1;
    buffer.mark_long_runs(runs);
    if let Some(last) = buffer.keep_masks.last_mut() {
        // The rows after its first row are already in the state.
        *last = u64::MAX;
    }
    buffer.states.resize_with(rows.len(), || accumulator.init());
    accumulator.prepend_scan(&mut state, rows, buffer.keep_masks.iter().rev().copied(), &mut buffer.states)?;
    reader.evaluate_block(buffer.states.iter().map(|state| Ok(state.clone())), out)?;
    Ok(true)
}

impl<A: Aggregate> Fold<A> for Scan {
    type Cursor = ScanState<A::State>;

    fn cursor(&self, accumulator: &A::Accumulator) -> Self::Cursor {
        ScanState { forwards: ForwardState::new(accumulator), together: StateBuffer::new(), backwards: None }
    }

    fn state(&self, accumulator: &A::Accumulator, cursor: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        cursor.forwards.move_to(accumulator, self, &mut cursor.backwards, run)
    }

    fn fold_block(
        &self,
        aggregate: &A,
        cursor: &mut Self::Cursor,
        mut runs: FrameRuns,
        carried: Option<&A::State>,
        _: &mut CancelBudget,
        out: &mut A::Builder,
    ) -> Result<()> {
        let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
        let mut forwards = std::mem::replace(&mut cursor.forwards, ForwardState::new(accumulator));
        while !runs.is_empty() {
            // Frames that shrink or grow row by row are evaluated together.
            if let Some(suffixes) = &mut cursor.backwards {
                let shrinking_states = suffixes.shrinking_states(accumulator, runs.iter())?;
                let many = shrinking_states.len();
                let answered = (many >= MIN_FRAMES).then(|| {
                    with_avx2_only(
                        #[inline(always)]
                        || {
                            reader.evaluate_block(
                                shrinking_states.map(|state| with_prefix(accumulator, carried, state.clone())),
                                out,
                            )
                        },
                    )
                });
                if answered.flatten().transpose()?.is_some() {
                    (_, runs) = runs.split(many);
                    continue;
                }
            }
            let (some, others) = runs.split(MAX_FRAMES);
            let together = carried.is_none()
                && !needs_drop::<A::State>()
                && with_avx2_only(
                    #[inline(always)]
                    || forwards.evaluate_block(aggregate, &mut cursor.together, some, out),
                )
                .transpose()?
                    == Some(true);
            if together {
                runs = others;
                continue;
            }
            let (some, others) = runs.split(SUFFIX_INTERVAL);
            let state = |run| forwards.move_to(accumulator, self, &mut cursor.backwards, run);
            reader.evaluate_block(states(accumulator, some.iter(), carried, state), out)?;
            runs = others;
        }
        cursor.forwards = forwards;
        Ok(())
    }
}
