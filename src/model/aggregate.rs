//! The algebra of an aggregate: what every strategy is built from.
//!
//! A state stands for a run of rows. Strategies fold rows into states and merge states; they never look inside.
//! The vocabulary is the field's: init, update, merge, retract, evaluate.

use std::iter::repeat_with;
use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use super::group_ids::RowGroups;
use crate::error::{Error, Result};

/// What [`Accumulator::append_scan`] and [`Accumulator::prepend_scan`] keep where no state begins anew.
///
/// A closure that knows nothing is a constant to compilers, where `repeat` is a field that is read.
pub(crate) fn keep_all() -> impl Iterator<Item = u64> {
    repeat_with(|| u64::MAX)
}

/// The half of an aggregate that turns rows into states, bound to its argument columns in one section. Rows are section row
/// numbers.
///
/// Laws, held by `tests/rust/functions/laws.rs`: `merge` is associative and `init` its neutral element, left comes
/// before right and they need not commute; `update` over `a..c` equals `update` over `a..b`, then `b..c`;
/// `append_scan` writes the states that `append` makes, `prepend_scan` those of `prepend`; `merged` reads as `merge` does.
pub trait Accumulator: Send + Sync {
    /// What a run of rows came to.
    type State: Clone + Send + Sync;

    /// The state of no rows.
    fn init(&self) -> Self::State;

    /// Appends `rows` to the right of what `state` stands for.
    ///
    /// # Errors
    /// A value that cannot be read, or a user's own error.
    fn update(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()>;

    /// Appends one row to the right.
    ///
    /// # Errors
    /// As for `update`.
    #[inline]
    fn append(&self, state: &mut Self::State, row: usize) -> Result<()> {
        self.update(state, row..row + 1)
    }

    /// Appends each of `rows` to the state of its group. The first of `states` is that of group `first`.
    ///
    /// # Errors
    /// As for `update`.
    #[inline(always)]
    fn append_grouped(
        &self,
        states: &mut [Self::State],
        first: usize,
        groups: &RowGroups,
        rows: Range<usize>,
    ) -> Result<()> {
        groups.try_for_each_row(rows, |group, row| self.append(&mut states[group - first], row))
    }

    /// Appends `rows` one by one, and writes the state after each of them to its place in `out`. `kept` has all bits set for
    /// each of them, or none where the state begins anew: what is kept of a number is then no branch.
    ///
    /// # Errors
    /// As for `update`.
    fn append_scan(
        &self,
        state: &mut Self::State,
        rows: Range<usize>,
        kept: impl Iterator<Item = u64>,
        out: &mut [Self::State],
    ) -> Result<()> {
        for ((row, kept), out) in rows.zip(kept).zip(out) {
            if kept == 0 {
                *state = self.init();
            }
            self.append(state, row)?;
            out.clone_from(state);
        }
        Ok(())
    }

    /// Puts one row to the left of what `state` stands for. Where sides make no difference, as cheap as `append`.
    ///
    /// # Errors
    /// As for `update`.
    #[inline]
    fn prepend(&self, state: &mut Self::State, row: usize) -> Result<()> {
        let mut first = self.init();
        self.append(&mut first, row)?;
        self.merge(&mut first, state)?;
        *state = first;
        Ok(())
    }

    /// Puts `rows` to the left one by one, from the last to the first, and writes the state after each of them to its place
    /// in `out`, which is in the rows' order. `kept`, from the last row on, is as in [`Accumulator::append_scan`].
    ///
    /// # Errors
    /// As for `update`.
    fn prepend_scan(
        &self,
        state: &mut Self::State,
        rows: Range<usize>,
        kept: impl Iterator<Item = u64>,
        out: &mut [Self::State],
    ) -> Result<()> {
        for ((row, kept), out) in rows.rev().zip(kept).zip(out.iter_mut().rev()) {
            if kept == 0 {
                *state = self.init();
            }
            self.prepend(state, row)?;
            out.clone_from(state);
        }
        Ok(())
    }

    /// Appends `right`'s rows to the right of `left`'s.
    ///
    /// # Errors
    /// As for `update`.
    fn merge(&self, left: &mut Self::State, right: &Self::State) -> Result<()>;

    /// The state of `left`'s rows and `right`'s, to be read and not to be added to.
    ///
    /// # Errors
    /// As for `update`.
    #[inline(always)]
    fn merged(&self, left: &Self::State, right: &Self::State) -> Result<Self::State> {
        let mut state = left.clone();
        self.merge(&mut state, right)?;
        Ok(state)
    }

    /// The state as one row of Arrow data, so that it can cross a section's edge.
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

/// The half of an aggregate that turns states into a column. It leaves states as they were.
pub trait ResultReader<S>: Send + Sync {
    /// Where results gather.
    type Builder;

    /// An empty builder for `capacity` results.
    fn builder(&self, capacity: usize) -> Self::Builder;

    /// Appends the result of `state` to `out`; NULL is a result.
    ///
    /// # Errors
    /// The result does not fit its type.
    fn evaluate(&self, state: &S, out: &mut Self::Builder) -> Result<()>;

    /// Appends the result of each of `states` to `out`, a block at a time.
    ///
    /// # Errors
    /// As for `evaluate`, and the first error among the states.
    #[inline]
    fn evaluate_block(
        &self,
        mut states: impl ExactSizeIterator<Item = Result<S>>,
        out: &mut Self::Builder,
    ) -> Result<()> {
        states.try_for_each(|state| self.evaluate(&state?, out))
    }

    /// Appends the result of `state` so many times to `out`.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn repeat(&self, state: &S, times: usize, out: &mut Self::Builder) -> Result<()> {
        (0..times).try_for_each(|_| self.evaluate(state, out))
    }

    /// The results as a column of the call's type.
    ///
    /// # Errors
    /// The results do not make an array.
    fn finish(&self, out: Self::Builder) -> Result<ArrayRef>;
}

/// What strategies fold and answer: an [`Accumulator`] and a [`Readout`] of its states. A type that is both is one.
pub trait Aggregate: Send + Sync {
    /// What a run of rows came to.
    type State: Clone + Send + Sync;
    /// Where results gather.
    type Builder;
    /// What makes the states.
    type Accumulator: Accumulator<State = Self::State>;
    /// What reads them.
    type Reader: ResultReader<Self::State, Builder = Self::Builder>;

    /// What makes the states.
    fn accumulator(&self) -> &Self::Accumulator;

    /// What reads them.
    fn reader(&self) -> &Self::Reader;
}

impl<A: Accumulator + ResultReader<<A as Accumulator>::State>> Aggregate for A {
    type State = <A as Accumulator>::State;
    type Builder = <A as ResultReader<<A as Accumulator>::State>>::Builder;
    type Accumulator = A;
    type Reader = A;

    #[inline]
    fn accumulator(&self) -> &A {
        self
    }

    #[inline]
    fn reader(&self) -> &A {
        self
    }
}

/// An aggregate whose `update` has an exact inverse: integers, decimals, counts; never floats.
///
/// Laws, held as those of [`Accumulator`] are: `retract` undoes `update`; `slide` writes the states that `update` makes of each
/// frame.
pub trait Retractable: Accumulator {
    /// Takes the rows of `gone`, a prefix of `state`'s, out of `state` again.
    fn retract(&self, state: &mut Self::State, gone: &Self::State);

    /// Moves a frame row by row: one of `entering` enters at its end, and one of `leaving`, as many, leaves at its begin.
    /// Writes the state after each step to its place in `out`.
    ///
    /// # Errors
    /// As for [`Accumulator::update`].
    #[inline(always)]
    fn slide(
        &self,
        state: &mut Self::State,
        entering: Range<usize>,
        leaving: Range<usize>,
        out: &mut [Self::State],
    ) -> Result<()> {
        for ((entering, leaving), out) in entering.zip(leaving).zip(out) {
            let mut gone = self.init();
            self.append(&mut gone, leaving)?;
            self.append(state, entering)?;
            self.retract(state, &gone);
            out.clone_from(state);
        }
        Ok(())
    }
}

/// An aggregate that can let go of the rows that leave a frame, all at once or one by one.
pub(crate) trait Removable: Accumulator {
    /// States that are merged are those of all their rows to the last digit, however these were shared out.
    const MERGE_IS_EXACT: bool = false;

    /// `state` without the rows of `gone`, which are its first; always `None` where states cannot be subtracted.
    #[inline]
    fn subtract(&self, _state: &Self::State, _gone: &Self::State) -> Option<Self::State> {
        None
    }

    /// Takes `rows`, the first of those `state` stands for, out of it.
    ///
    /// # Errors
    /// As for `update`.
    fn retract_rows(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()>;

    /// As [`Retractable::slide`].
    ///
    /// # Errors
    /// As for `update`, or states cannot be subtracted.
    #[inline(always)]
    fn slide(
        &self,
        _state: &mut Self::State,
        _entering: Range<usize>,
        _leaving: Range<usize>,
        _out: &mut [Self::State],
    ) -> Result<()> {
        Err(Error::internal("states that cannot be subtracted"))
    }
}

impl<A: Retractable> Removable for A {
    const MERGE_IS_EXACT: bool = true;

    #[inline(always)]
    fn subtract(&self, state: &A::State, gone: &A::State) -> Option<A::State> {
        let mut state = state.clone();
        self.retract(&mut state, gone);
        Some(state)
    }

    #[inline]
    fn retract_rows(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()> {
        let mut gone = self.init();
        if rows.len() == 1 {
            self.append(&mut gone, rows.start)?;
        } else {
            self.update(&mut gone, rows)?;
        }
        self.retract(state, &gone);
        Ok(())
    }

    #[inline(always)]
    fn slide(
        &self,
        state: &mut Self::State,
        entering: Range<usize>,
        leaving: Range<usize>,
        out: &mut [Self::State],
    ) -> Result<()> {
        Retractable::slide(self, state, entering, leaving, out)
    }
}

/// An aggregate that picks one row of the frame by a total preorder: min, max and kin.
pub trait Selective: Accumulator {
    /// Whether `row` takes part at all.
    fn includes(&self, row: usize) -> bool;

    /// Whether `old` is still the choice when `new`, a later row, has come; of ties, the one that `update` keeps.
    fn prefers_old(&self, old: usize, new: usize) -> bool;
}
