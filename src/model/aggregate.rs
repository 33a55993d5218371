//! The traits of an aggregate, on which every evaluation strategy is built.
//!
//! A state represents a range of rows. Strategies fold rows into states and merge states without looking inside. The
//! operations have their usual names: init, update, merge, retract, evaluate.

use std::iter::repeat_with;
use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use super::group_ids::RowGroups;
use crate::error::{Error, Result};

/// The `keep` masks of [`Accumulator::append_scan`] and [`Accumulator::prepend_scan`] where no state is reset.
///
/// A closure without captures compiles to a constant; `repeat` would load its field for each row.
pub(crate) fn keep_all() -> impl Iterator<Item = u64> {
    repeat_with(|| u64::MAX)
}

/// The half of an aggregate that turns rows into states, bound to its argument columns in one section. Rows are row
/// numbers of the section.
///
/// Laws, tested in `tests/rust/functions/laws.rs`: `merge` is associative, with `init` as its neutral element, and need
/// not be commutative (left rows come before right rows); `update` over `a..c` equals `update` over `a..b`, then
/// `b..c`; `append_scan` writes the states of `append`, `prepend_scan` those of `prepend`; `merged` gives the same
/// result as `merge`.
pub trait Accumulator: Send + Sync {
    /// The state of a range of rows.
    type State: Clone + Send + Sync;

    /// The state of no rows.
    fn init(&self) -> Self::State;

    /// Adds `rows`, which follow those of `state`.
    ///
    /// # Errors
    /// A value that cannot be read; an error of a user-defined function.
    fn update(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()>;

    /// Adds one row, which follows those of `state`.
    ///
    /// # Errors
    /// As for `update`.
    #[inline]
    fn append(&self, state: &mut Self::State, row: usize) -> Result<()> {
        self.update(state, row..row + 1)
    }

    /// Adds each of `rows` to the state of its group. `states[0]` belongs to group `first`.
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

    /// Adds `rows` one by one, and writes the state after each row to its slot in `out`. `keep` gives a mask per row:
    /// all bits set, or 0 if the state is reset before the row. As a mask it can be applied to numbers without a
    /// branch.
    ///
    /// # Errors
    /// As for `update`.
    fn append_scan(
        &self,
        state: &mut Self::State,
        rows: Range<usize>,
        keep: impl Iterator<Item = u64>,
        out: &mut [Self::State],
    ) -> Result<()> {
        for ((row, keep), out) in rows.zip(keep).zip(out) {
            if keep == 0 {
                *state = self.init();
            }
            self.append(state, row)?;
            out.clone_from(state);
        }
        Ok(())
    }

    /// Adds one row, which precedes those of `state`. If the order does not matter, implementations make it as cheap as
    /// `append`.
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

    /// Adds `rows`, which precede those of `state`, one by one from the last to the first, and writes the state after
    /// each row to its slot in `out` (in row order). `keep`, from the last row on, is as in
    /// [`Accumulator::append_scan`].
    ///
    /// # Errors
    /// As for `update`.
    fn prepend_scan(
        &self,
        state: &mut Self::State,
        rows: Range<usize>,
        keep: impl Iterator<Item = u64>,
        out: &mut [Self::State],
    ) -> Result<()> {
        for ((row, keep), out) in rows.rev().zip(keep).zip(out.iter_mut().rev()) {
            if keep == 0 {
                *state = self.init();
            }
            self.prepend(state, row)?;
            out.clone_from(state);
        }
        Ok(())
    }

    /// Adds the rows of `right`, which follow those of `left`.
    ///
    /// # Errors
    /// As for `update`.
    fn merge(&self, left: &mut Self::State, right: &Self::State) -> Result<()>;

    /// The state of `left`'s rows followed by `right`'s, for reading only: nothing may be added to it.
    ///
    /// # Errors
    /// As for `update`.
    #[inline(always)]
    fn merged(&self, left: &Self::State, right: &Self::State) -> Result<Self::State> {
        let mut state = left.clone();
        self.merge(&mut state, right)?;
        Ok(state)
    }

    /// The state as one row of Arrow data, to be carried to another section.
    ///
    /// # Errors
    /// The state cannot be converted to an array.
    fn save(&self, state: &Self::State) -> Result<RecordBatch>;

    /// Restores a state from what `save` wrote.
    ///
    /// # Errors
    /// The data does not have the form that `save` writes.
    fn load(&self, saved: &RecordBatch) -> Result<Self::State>;
}

/// The half of an aggregate that turns states into a result column. It does not change states.
pub trait ResultReader<S>: Send + Sync {
    /// The builder of the result column.
    type Builder;

    /// An empty builder for `capacity` results.
    fn builder(&self, capacity: usize) -> Self::Builder;

    /// Appends the result of `state`, which may be NULL, to `out`.
    ///
    /// # Errors
    /// The result does not fit its type.
    fn evaluate(&self, state: &S, out: &mut Self::Builder) -> Result<()>;

    /// Appends the result of each of `states` to `out`.
    ///
    /// # Errors
    /// As for `evaluate`; the first error among the states.
    #[inline]
    fn evaluate_block(
        &self,
        mut states: impl ExactSizeIterator<Item = Result<S>>,
        out: &mut Self::Builder,
    ) -> Result<()> {
        states.try_for_each(|state| self.evaluate(&state?, out))
    }

    /// Appends the result of `state` to `out` `times` times.
    ///
    /// # Errors
    /// As for `evaluate`.
    fn repeat(&self, state: &S, times: usize, out: &mut Self::Builder) -> Result<()> {
        (0..times).try_for_each(|_| self.evaluate(state, out))
    }

    /// The results as a column of the call's type.
    ///
    /// # Errors
    /// The results cannot be converted to an array.
    fn finish(&self, out: Self::Builder) -> Result<ArrayRef>;
}

/// What strategies evaluate: an [`Accumulator`] and a [`ResultReader`] of its states. A type that implements both is an
/// `Aggregate`.
pub trait Aggregate: Send + Sync {
    /// The state of a range of rows.
    type State: Clone + Send + Sync;
    /// The builder of the result column.
    type Builder;
    /// Computes states.
    type Accumulator: Accumulator<State = Self::State>;
    /// Reads results from states.
    type Reader: ResultReader<Self::State, Builder = Self::Builder>;

    /// The part that computes states.
    fn accumulator(&self) -> &Self::Accumulator;

    /// The part that reads results from states.
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
/// Laws, tested with those of [`Accumulator`]: `retract` undoes `update`; `slide` writes the states that `update` gives
/// for each frame.
pub trait Retractable: Accumulator {
    /// Removes the rows of `gone`, which are the first rows of `state`.
    fn retract(&self, state: &mut Self::State, gone: &Self::State);

    /// Moves a frame row by row: each step adds a row of `entering` at the end and removes one of `leaving`, which has
    /// the same length, at the start. Writes the state after each step to its slot in `out`.
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

/// An aggregate that can remove the first rows of a frame from its state, all at once or one by one.
pub(crate) trait Removable: Accumulator {
    /// Whether merged states equal the state of all their rows exactly, however the rows are split.
    const MERGE_IS_EXACT: bool = false;

    /// `state` without the rows of `gone`, which are its first rows; always `None` if states cannot be subtracted.
    #[inline]
    fn subtract(&self, _state: &Self::State, _gone: &Self::State) -> Option<Self::State> {
        None
    }

    /// Removes `rows`, which are the first rows of `state`.
    ///
    /// # Errors
    /// As for `update`.
    fn retract_rows(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()>;

    /// As [`Retractable::slide`].
    ///
    /// # Errors
    /// As for `update`; states cannot be subtracted.
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

/// An aggregate that selects one row of the frame by a total preorder, such as min and max.
pub trait Selective: Accumulator {
    /// Whether `row` can be selected at all.
    fn includes(&self, row: usize) -> bool;

    /// Whether `old` remains selected when the later row `new` is added. On ties it keeps the row that `update` keeps.
    fn prefers_old(&self, old: usize, new: usize) -> bool;
}
