//! Scan: one loop for growing frames, one for shrinking ones.
//!
//! ```text
//!   growing      [=======]==>            append the rows that enter
//!   shrinking           <==[=======]     states of suffixes, built backwards once per partition
//! ```
//!
//! A shrinking frame's states are suffixes of the partition. Rather than one per row, the cursor keeps one per
//! 64 rows and opens one chunk at a time. Cost: O(1) per row (growing: one update; shrinking: two updates
//! and one merge); memory one state growing, 1/64 of a state per row of the partition shrinking.

use std::ops::Range;

use super::fold::Fold;
use crate::aggregate::Aggregate;
use crate::bitmap::Edges;
use crate::error::Result;
use crate::section::Section;

/// Rows between two kept suffixes: the opened chunk's states stay in the first-level cache.
const CHUNK: usize = 64;

/// Scans forwards from a frame's begin, or backwards from its partition's end.
#[derive(Debug)]
pub struct Scan {
    partitions: Edges,
}

impl Scan {
    /// A scan of the section's partitions.
    #[must_use]
    pub fn new(section: &Section) -> Self {
        Self { partitions: section.partitions.clone() }
    }
}

/// What a scan has read so far.
#[derive(Debug)]
pub enum Cursor<S> {
    /// The state of `run`; the next frame is expected to begin where it does.
    Forwards {
        /// The rows read.
        run: Range<usize>,
        /// What they came to.
        state: S,
    },
    /// States of `row..run.end`; the next frame is expected to end where this one does.
    Backwards(Suffixes<S>),
}

/// States of the suffixes of a run.
#[derive(Debug)]
pub struct Suffixes<S> {
    run: Range<usize>,
    /// `kept[k]` is the state of `((run.start / CHUNK) + 1 + k) * CHUNK..run.end`, first chunk's end first.
    kept: Vec<S>,
    /// The rows of the opened chunk that lie in the run.
    open: Range<usize>,
    /// `states[k]` is the state of `open.end - 1 - k..run.end`.
    states: Vec<S>,
}

impl<S: Clone> Suffixes<S> {
    fn new<A: Aggregate<State = S>>(aggregate: &A, run: Range<usize>) -> Result<Self> {
        let first = run.start / CHUNK + 1;
        let mut kept = Vec::new();
        let mut end = run.end;
        let mut later: Option<S> = None;
        for edge in (first..=run.end / CHUNK).rev() {
            let mut state = aggregate.init();
            if edge * CHUNK < end {
                aggregate.update(&mut state, edge * CHUNK..end)?;
            }
            if let Some(later) = &later {
                aggregate.merge(&mut state, later)?;
            }
            kept.push(state.clone());
            later = Some(state);
            end = edge * CHUNK;
        }
        kept.reverse();
        Ok(Self { open: run.end..run.end, run, kept, states: Vec::new() })
    }

    fn state<A: Aggregate<State = S>>(&mut self, aggregate: &A, row: usize) -> Result<S> {
        if !self.open.contains(&row) {
            let chunk = row / CHUNK;
            self.open = self.run.start.max(chunk * CHUNK)..self.run.end.min((chunk + 1) * CHUNK);
            self.states.clear();
            let mut later = self.kept.get(chunk - self.run.start / CHUNK).cloned();
            for row in self.open.clone().rev() {
                let mut state = aggregate.init();
                aggregate.update(&mut state, row..row + 1)?;
                if let Some(later) = &later {
                    aggregate.merge(&mut state, later)?;
                }
                self.states.push(state.clone());
                later = Some(state);
            }
        }
        Ok(self.states[self.open.end - 1 - row].clone())
    }
}

impl<A: Aggregate> Fold<A> for Scan {
    type Cursor = Cursor<A::State>;

    fn cursor(&self, aggregate: &A) -> Self::Cursor {
        Cursor::Forwards { run: 0..0, state: aggregate.init() }
    }

    fn state(&self, aggregate: &A, cursor: &mut Self::Cursor, run: Range<usize>) -> Result<A::State> {
        match cursor {
            Cursor::Forwards { run: known, state } if known.start == run.start && known.end <= run.end => {
                if known.end < run.end {
                    aggregate.update(state, known.end..run.end)?;
                    known.end = run.end;
                }
                return Ok(state.clone());
            }
            Cursor::Backwards(suffixes) if suffixes.run.end == run.end && suffixes.run.start <= run.start => {
                return suffixes.state(aggregate, run.start);
            }
            _ => {}
        }
        // A new partition, or a new lane: a frame that ends with its partition will shrink, any other will grow.
        // A frame that is its partition's only row may do either; forwards is the cheaper guess.
        if run.len() > 1 && run.end == self.partitions.end(run.start) {
            let mut suffixes = Suffixes::new(aggregate, run.clone())?;
            let state = suffixes.state(aggregate, run.start);
            *cursor = Cursor::Backwards(suffixes);
            return state;
        }
        let mut state = aggregate.init();
        aggregate.update(&mut state, run.clone())?;
        *cursor = Cursor::Forwards { run, state: state.clone() };
        Ok(state)
    }
}
