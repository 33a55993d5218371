//! One accumulator, several answers: the sum and the average of a column are read off the same state,
//! those of one pass by [`super::shared_state`].
//!
//! [`Accumulator`] is the algebra over a state, [`Readout`] what a state says in the end, and [`Accumulated`] the
//! [`Aggregate`] the two make. No cost of its own: both halves are inlined.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray, RecordBatch};

use crate::error::Result;
use crate::functions::results::{Results, in_slot};
use crate::model::aggregate::{Aggregate, Retractable};
use crate::model::group_ids::Groups;

/// The half of an [`Aggregate`] that turns rows into a state. Nothing in it can fail before a result is asked for.
pub trait Accumulator: Send + Sync {
    /// What a run of rows came to.
    type State: Clone + Send + Sync;

    /// The state of no rows.
    fn init(&self) -> Self::State;

    /// Appends `rows` to the right of what `state` stands for.
    fn update(&self, state: &mut Self::State, rows: Range<usize>);

    /// Appends one row to the right.
    #[inline]
    fn append(&self, state: &mut Self::State, row: usize) {
        self.update(state, row..row + 1);
    }

    /// Appends each of `rows` to the state of its group. As [`Aggregate::append_each`].
    #[inline(always)]
    fn append_each(&self, states: &mut [Self::State], first: usize, groups: &Groups, rows: Range<usize>) {
        groups.each_row(rows, |group, row| self.append(&mut states[group - first], row));
    }

    /// Appends `rows` one by one, and writes the state after each of them to `out`. As [`Aggregate::accumulate`].
    fn accumulate(
        &self,
        state: &mut Self::State,
        rows: Range<usize>,
        kept: impl Iterator<Item = u64>,
        out: &mut [Self::State],
    ) {
        for ((row, kept), out) in rows.zip(kept).zip(out) {
            if kept == 0 {
                *state = self.init();
            }
            self.append(state, row);
            out.clone_from(state);
        }
    }

    /// Puts one row to the left of what `state` stands for.
    #[inline]
    fn prepend(&self, state: &mut Self::State, row: usize) {
        let mut first = self.init();
        self.append(&mut first, row);
        self.merge(&mut first, state);
        *state = first;
    }

    /// Puts `rows` to the left one by one, from the last to the first, and writes the state after each of them to `out`. As
    /// [`Aggregate::prepend_all`].
    fn prepend_all(
        &self,
        state: &mut Self::State,
        rows: Range<usize>,
        kept: impl Iterator<Item = u64>,
        out: &mut [Self::State],
    ) {
        for ((row, kept), out) in rows.rev().zip(kept).zip(out.iter_mut().rev()) {
            if kept == 0 {
                *state = self.init();
            }
            self.prepend(state, row);
            out.clone_from(state);
        }
    }

    /// Appends `right`'s rows to the right of `left`'s.
    fn merge(&self, left: &mut Self::State, right: &Self::State);

    /// The state of `left`'s rows and `right`'s, to be read and not to be added to.
    #[inline(always)]
    fn merged(&self, left: &Self::State, right: &Self::State) -> Self::State {
        let mut state = left.clone();
        self.merge(&mut state, right);
        state
    }

    /// The state as one row of Arrow data.
    ///
    /// # Errors
    /// The state does not make an array.
    fn save(&self, state: &Self::State) -> Result<RecordBatch>;

    /// The state that `save` wrote.
    ///
    /// # Errors
    /// The data is not what `save` writes.
    fn load(&self, saved: &RecordBatch) -> Result<Self::State>;
}

/// An [`Accumulator`] with an exact inverse.
pub trait RetractableAccumulator: Accumulator {
    /// Takes the rows of `gone`, a prefix of `state`'s, out of `state` again.
    fn retract(&self, state: &mut Self::State, gone: &Self::State);

    /// Moves a frame row by row, and writes the state after each step to `out`. As [`Retractable::slide`].
    #[inline(always)]
    fn slide(&self, state: &mut Self::State, entering: Range<usize>, leaving: Range<usize>, out: &mut [Self::State]) {
        for ((entering, leaving), out) in entering.zip(leaving).zip(out) {
            let mut gone = self.init();
            self.append(&mut gone, leaving);
            self.append(state, entering);
            self.retract(state, &gone);
            out.clone_from(state);
        }
    }
}

/// The half of an [`Aggregate`] that turns states into a column.
pub trait Readout<S>: Send + Sync {
    /// Where results gather.
    type Builder;

    /// An empty builder for `capacity` results.
    fn builder(&self, capacity: usize) -> Self::Builder;

    /// Appends what `state` says to `out`.
    ///
    /// # Errors
    /// The result does not fit its type.
    fn evaluate(&self, state: &S, out: &mut Self::Builder) -> Result<()>;

    /// Appends what each of `states` says to `out`.
    ///
    /// # Errors
    /// As for `evaluate`, and the first error among the states.
    #[inline]
    fn evaluate_all(
        &self,
        mut states: impl ExactSizeIterator<Item = Result<S>>,
        out: &mut Self::Builder,
    ) -> Result<()> {
        states.try_for_each(|state| self.evaluate(&state?, out))
    }

    /// Appends what `state` says so many times to `out`.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn repeat(&self, state: &S, times: usize, out: &mut Self::Builder) -> Result<()> {
        (0..times).try_for_each(|_| self.evaluate(state, out))
    }

    /// The results as a column.
    ///
    /// # Errors
    /// The results do not make an array.
    fn finish(&self, out: Self::Builder) -> Result<ArrayRef>;
}

/// A [`Readout`] of one native a state, or NULL.
pub trait NativeReadout<S>: Send + Sync {
    /// What results gather as.
    type Type: ArrowPrimitiveType;

    /// What `state` says.
    ///
    /// # Errors
    /// The result does not fit its type.
    fn read(&self, state: &S) -> Result<Option<<Self::Type as ArrowPrimitiveType>::Native>>;

    /// Appends what each of `states` says to `out`.
    ///
    /// # Errors
    /// As for `read`, and the first error among the states.
    #[inline(always)]
    fn read_all(&self, states: impl ExactSizeIterator<Item = Result<S>>, out: &mut Results<Self::Type>) -> Result<()> {
        out.extend(states.map(|state| Ok(in_slot(self.read(&state?)?))))
    }

    /// The results under the call's type, where that is another.
    ///
    /// # Errors
    /// They cannot be labelled so.
    fn label(&self, results: PrimitiveArray<Self::Type>) -> Result<ArrayRef> {
        Ok(Arc::new(results))
    }
}

/// A readout of nothing but one native.
#[derive(Debug, Clone)]
pub struct Only<R>(pub R);

impl<S, R: NativeReadout<S>> Readout<S> for Only<R> {
    type Builder = Results<R::Type>;

    fn builder(&self, capacity: usize) -> Self::Builder {
        Results::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &S, out: &mut Self::Builder) -> Result<()> {
        self.repeat(state, 1, out)
    }

    #[inline(always)]
    fn evaluate_all(&self, states: impl ExactSizeIterator<Item = Result<S>>, out: &mut Self::Builder) -> Result<()> {
        self.0.read_all(states, out)
    }

    #[inline]
    fn repeat(&self, state: &S, times: usize, out: &mut Self::Builder) -> Result<()> {
        out.repeat(self.0.read(state)?, times);
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        self.0.label(out.finish()?)
    }
}

/// An accumulator and the answer read off it.
#[derive(Debug, Clone)]
pub struct Accumulated<F, R> {
    pub(crate) accumulator: F,
    pub(crate) readout: R,
}

impl<F: Accumulator, R: NativeReadout<F::State>> Accumulated<F, Only<R>> {
    /// The natives that `readout` reads off the states of `accumulator`.
    pub fn new(accumulator: F, readout: R) -> Self {
        Self { accumulator, readout: Only(readout) }
    }
}

impl<F: Accumulator, R: Readout<F::State>> Aggregate for Accumulated<F, R> {
    type State = F::State;
    type Builder = R::Builder;

    #[inline]
    fn init(&self) -> F::State {
        self.accumulator.init()
    }

    #[inline]
    fn update(&self, state: &mut F::State, rows: Range<usize>) -> Result<()> {
        self.accumulator.update(state, rows);
        Ok(())
    }

    #[inline]
    fn append(&self, state: &mut F::State, row: usize) -> Result<()> {
        self.accumulator.append(state, row);
        Ok(())
    }

    #[inline(always)]
    fn append_each(&self, states: &mut [F::State], first: usize, groups: &Groups, rows: Range<usize>) -> Result<()> {
        self.accumulator.append_each(states, first, groups, rows);
        Ok(())
    }

    fn accumulate(
        &self,
        state: &mut F::State,
        rows: Range<usize>,
        kept: impl Iterator<Item = u64>,
        out: &mut [F::State],
    ) -> Result<()> {
        self.accumulator.accumulate(state, rows, kept, out);
        Ok(())
    }

    #[inline]
    fn prepend(&self, state: &mut F::State, row: usize) -> Result<()> {
        self.accumulator.prepend(state, row);
        Ok(())
    }

    fn prepend_all(
        &self,
        state: &mut F::State,
        rows: Range<usize>,
        kept: impl Iterator<Item = u64>,
        out: &mut [F::State],
    ) -> Result<()> {
        self.accumulator.prepend_all(state, rows, kept, out);
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut F::State, right: &F::State) -> Result<()> {
        self.accumulator.merge(left, right);
        Ok(())
    }

    #[inline(always)]
    fn merged(&self, left: &F::State, right: &F::State) -> Result<F::State> {
        Ok(self.accumulator.merged(left, right))
    }

    fn builder(&self, capacity: usize) -> R::Builder {
        self.readout.builder(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &F::State, out: &mut R::Builder) -> Result<()> {
        self.readout.evaluate(state, out)
    }

    #[inline(always)]
    fn evaluate_all(
        &self,
        states: impl ExactSizeIterator<Item = Result<F::State>>,
        out: &mut R::Builder,
    ) -> Result<()> {
        self.readout.evaluate_all(states, out)
    }

    fn repeat(&self, state: &F::State, times: usize, out: &mut R::Builder) -> Result<()> {
        self.readout.repeat(state, times, out)
    }

    fn finish(&self, out: R::Builder) -> Result<ArrayRef> {
        self.readout.finish(out)
    }

    fn save(&self, state: &F::State) -> Result<RecordBatch> {
        self.accumulator.save(state)
    }

    fn load(&self, saved: &RecordBatch) -> Result<F::State> {
        self.accumulator.load(saved)
    }
}

impl<F: RetractableAccumulator, R: Readout<F::State>> Retractable for Accumulated<F, R> {
    #[inline(always)]
    fn retract(&self, state: &mut F::State, gone: &F::State) {
        self.accumulator.retract(state, gone);
    }

    #[inline(always)]
    fn slide(
        &self,
        state: &mut F::State,
        entering: Range<usize>,
        leaving: Range<usize>,
        out: &mut [F::State],
    ) -> Result<()> {
        self.accumulator.slide(state, entering, leaving, out);
        Ok(())
    }
}

/// The result of each run of rows, for the tests of the families.
#[cfg(test)]
pub(super) fn results<A: Aggregate>(aggregate: &A, runs: &[Range<usize>]) -> Result<ArrayRef> {
    let mut out = aggregate.builder(runs.len());
    for run in runs {
        let mut state = aggregate.init();
        aggregate.update(&mut state, run.clone())?;
        aggregate.evaluate(&state, &mut out)?;
    }
    aggregate.finish(out)
}
