//! The settings of a computation.

use super::strategy::Strategy;

/// Settings of a computation.
#[derive(Debug, Clone)]
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
