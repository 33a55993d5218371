//! The settings of a computation.

use super::strategy::Strategy;
use crate::util::threads::Threads;

/// Settings of a computation.
///
/// ```
/// use windrow::{Options, Strategy};
/// let options = Options::default().threads(2).timezone("Europe/Paris").strategy(Strategy::SegmentTree);
/// assert!(options.ansi);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Threads to use; 0: as many as the machine has.
    pub threads: usize,
    /// Overflow and unreadable values are errors (Spark's ANSI mode); otherwise sums wrap and values are NULL.
    pub ansi: bool,
    /// The zone in which days and months of a timestamp without one of its own are counted.
    pub timezone: String,
    /// Forces the strategy of every call.
    pub strategy: Option<Strategy>,
    /// Keeps other threads off the processor of the caller's while they work for it and nobody else runs on the machine: a
    /// virtual machine's system may leave both on one for milliseconds.
    pub spread_threads: bool,
    /// Lists are list views: those of overlapping frames share their values.
    pub list_views: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 0,
            ansi: true,
            timezone: "UTC".into(),
            strategy: None,
            spread_threads: false,
            list_views: false,
        }
    }
}

impl Options {
    /// How many threads a computation of many rows uses: those asked for, or as many as the machine runs at once for this
    /// process.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        Threads::count(self.threads)
    }

    /// Sets the number of threads; 0: as many as the machine has.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets whether overflow and unreadable values are errors.
    #[must_use]
    pub fn ansi(self, ansi: bool) -> Self {
        Self { ansi, ..self }
    }

    /// Sets the zone of timestamps without one of their own.
    #[must_use]
    pub fn timezone(self, timezone: impl Into<String>) -> Self {
        Self { timezone: timezone.into(), ..self }
    }

    /// Forces the strategy of every call; `None` leaves it to the plan.
    #[must_use]
    pub fn strategy(self, strategy: impl Into<Option<Strategy>>) -> Self {
        Self { strategy: strategy.into(), ..self }
    }

    /// Sets whether lists are list views.
    #[must_use]
    pub fn list_views(self, list_views: bool) -> Self {
        Self { list_views, ..self }
    }
}
