//! The total length of results of variable width, computed before any result: they may not fit their type or the
//! available memory.
//!
//! ```text
//!   frames                    [---)  [-----)  [-------)        5 + 7 + 9 values: the lengths follow from the bounds
//!   distinct values           a b    a b       a b c          counted where the bounds do not suffice
//! ```
//!
//! Cost: resolving the frames once more, O(1) per row; for distinct values also the changes from frame to frame, but
//! only where as many values as the frames have rows would not fit.

use std::ops::Range;

use crate::error::Result;
use crate::util::threads::Threads;

/// The length of results that consist of values at positions, in the unit that limits them: values or bytes.
pub(crate) trait ResultLength: Send + Sync {
    /// The length that the values at the positions of `run` add to a result, each with its separator.
    fn length(&self, run: Range<usize>) -> usize;

    /// The length of a separator.
    fn separator(&self) -> usize;

    /// Whether results of a single run, and results equal to the previous one, share their values and add no length.
    fn can_share(&self) -> bool;

    /// Checks that results of this total length fit their type and the available memory.
    ///
    /// # Errors
    /// They do not.
    fn check(&self, length: usize) -> Result<()>;
}

/// The total length of results.
#[derive(Debug, Default)]
pub(crate) struct TotalLength(usize);

impl TotalLength {
    /// Adds the result of these runs of positions; a single run may be shared.
    #[inline]
    pub(crate) fn add(&mut self, of: &dyn ResultLength, runs: impl Iterator<Item = Range<usize>> + Clone) {
        if !of.can_share() || runs.clone().filter(|run| !run.is_empty()).count() > 1 {
            self.add_all(of, runs);
        }
    }

    /// Adds the result of all values of these runs.
    #[inline]
    pub(crate) fn add_all(&mut self, of: &dyn ResultLength, runs: impl Iterator<Item = Range<usize>>) {
        let lengths = runs.filter(|run| !run.is_empty()).map(|run| of.length(run));
        self.add_values(of, lengths.fold(0, usize::saturating_add));
    }

    /// Adds the result whose values have this length together, separators included.
    pub(super) fn add_values(&mut self, of: &dyn ResultLength, values: usize) {
        self.0 = self.0.saturating_add(values.saturating_sub(of.separator()));
    }

    /// The total.
    pub(crate) fn length(self) -> usize {
        self.0
    }
}

/// The sum of `length` over all pieces of `rows`.
///
/// # Errors
/// The first error of `length`.
pub(crate) fn of_all(
    rows: &Range<usize>,
    threads: &Threads,
    length: impl Fn(Range<usize>) -> Result<usize> + Send + Sync,
) -> Result<usize> {
    Ok(threads.map(threads.ranges(rows), length)?.into_iter().fold(0, usize::saturating_add))
}
