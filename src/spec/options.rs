//! The options of a computation.

use super::strategy::Strategy;
use crate::util::threads::Threads;

/// Options of a computation.
///
/// ```
/// use windrow::{Options, Strategy};
/// let options = Options::default().threads(2).timezone("Europe/Paris").strategy(Strategy::SegmentTree);
/// assert!(options.ansi);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The number of threads; 0 for as many as the machine has processors.
    pub threads: usize,
    /// Whether overflow and invalid casts are errors (Spark's ANSI mode). Otherwise sums of integers wrap around, and
    /// other results that do not fit, and values that cannot be cast, are NULL.
    pub ansi: bool,
    /// The time zone for days and months of timestamps whose type has an empty time zone.
    pub timezone: String,
    /// The strategy for every call; `None` leaves the choice to the plan.
    pub strategy: Option<Strategy>,
    /// Whether helper threads avoid the caller's processor while no other thread runs on the machine. A virtual
    /// machine's kernel may otherwise leave both on one processor for milliseconds.
    pub spread_threads: bool,
    /// Whether list results are list views, in which overlapping frames share their values.
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
    /// The number of threads for a computation of many rows: the number set, or that of the processors available to the
    /// process.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        Threads::count(self.threads)
    }

    /// Sets the number of threads; 0 for as many as the machine has processors.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets whether overflow and invalid casts are errors.
    #[must_use]
    pub fn ansi(self, ansi: bool) -> Self {
        Self { ansi, ..self }
    }

    /// Sets the time zone of timestamps whose type has an empty time zone.
    #[must_use]
    pub fn timezone(self, timezone: impl Into<String>) -> Self {
        Self { timezone: timezone.into(), ..self }
    }

    /// Sets the strategy for every call; `None` leaves the choice to the plan.
    #[must_use]
    pub fn strategy(self, strategy: impl Into<Option<Strategy>>) -> Self {
        Self { strategy: strategy.into(), ..self }
    }

    /// Sets whether list results are list views.
    #[must_use]
    pub fn list_views(self, list_views: bool) -> Self {
        Self { list_views, ..self }
    }
}
