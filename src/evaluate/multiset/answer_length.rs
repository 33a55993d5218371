//! How long answers of no fixed width are together, told before any of them is made: they may not fit their type, or the
//! memory there is.
//!
//! ```text
//!   frames                    [---)  [-----)  [-------)        5 + 7 + 9 places: the lengths follow from the bounds
//!   of different values        a b    a b       a b c          what is in the frames is counted, where the bounds do not do
//! ```
//!
//! Cost: the frames once more, O(1) a row; of different values the changes from frame to frame, only where as many values as
//! the frames have places would not fit.

use std::ops::Range;

use crate::error::Result;
use crate::util::threads::Threads;

/// The length of answers that are made of the values at some places, in whatever unit limits them: values, or bytes.
pub(crate) trait ResultLength: Send + Sync {
    /// How much the values at the places of `run` add to an answer, each with what parts it from the next.
    fn length(&self, run: Range<usize>) -> usize;

    /// How much parts two values.
    fn separator(&self) -> usize;

    /// Whether answers of one run, and answers like the one before, share their values and add nothing.
    fn can_share(&self) -> bool;

    /// Refuses answers of so much in all that do not fit their type, or the memory there is.
    ///
    /// # Errors
    /// Those.
    fn check(&self, length: usize) -> Result<()>;
}

/// How much some answers are together.
#[derive(Debug, Default)]
pub(crate) struct TotalLength(usize);

impl TotalLength {
    /// Adds the answer that is made of these runs of places, which one run may share.
    #[inline]
    pub(crate) fn add(&mut self, of: &dyn ResultLength, runs: impl Iterator<Item = Range<usize>> + Clone) {
        if !of.can_share() || runs.clone().filter(|run| !run.is_empty()).count() > 1 {
            self.add_all(of, runs);
        }
    }

    /// Adds the answer that is made of all values of these runs.
    #[inline]
    pub(crate) fn add_all(&mut self, of: &dyn ResultLength, runs: impl Iterator<Item = Range<usize>>) {
        let lengths = runs.filter(|run| !run.is_empty()).map(|run| of.length(run));
        self.add_values(of, lengths.fold(0, usize::saturating_add));
    }

    /// Adds the answer whose values have this length together, each with what parts it from the next.
    pub(super) fn add_values(&mut self, of: &dyn ResultLength, values: usize) {
        self.0 = self.0.saturating_add(values.saturating_sub(of.separator()));
    }

    /// The sum.
    pub(crate) fn length(self) -> usize {
        self.0
    }
}

/// What `length` says of all pieces of `rows` together.
///
/// # Errors
/// The first of `length`.
pub(crate) fn of_all(
    rows: &Range<usize>,
    threads: &Threads,
    length: impl Fn(Range<usize>) -> Result<usize> + Send + Sync,
) -> Result<usize> {
    Ok(threads.map(threads.ranges(rows), length)?.into_iter().fold(0, usize::saturating_add))
}
