//! Threads: work cut into pieces, each answered on its own.

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};

/// Fewer rows than this per thread are answered in less time than it takes to start one (some 50 µs).
const MIN_ROWS: usize = 32 * 1024;

/// The threads of one computation, started when they are first needed. They live no longer than it does, so none is
/// ever there before a fork.
#[derive(Debug)]
pub struct Threads {
    count: usize,
    pool: OnceLock<std::result::Result<ThreadPool, String>>,
}

/// The caller's own thread.
static ALONE: Threads = Threads { count: 1, pool: OnceLock::new() };

impl Threads {
    /// As many as `asked`, or as the machine has when 0.
    #[must_use]
    pub fn new(asked: usize) -> Self {
        let count = match asked {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            asked => asked,
        };
        Self { count, pool: OnceLock::new() }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// These threads, or the caller's own where so few rows are not worth the start of another.
    pub(crate) fn for_rows(&self, rows: usize) -> &Self {
        if rows < 2 * MIN_ROWS { &ALONE } else { self }
    }

    /// `rows` cut into pieces of about the same length, one for each thread that is worth its start.
    #[must_use]
    pub(crate) fn ranges(&self, rows: &Range<usize>) -> Vec<Range<usize>> {
        let pieces = self.count.min(rows.len() / MIN_ROWS).max(1);
        let at = |piece: usize| rows.start + rows.len() * piece / pieces;
        (0..pieces).map(|piece| at(piece)..at(piece + 1)).collect()
    }

    /// How many of `rows` rows a thread takes where each has a slice of its own to write; at least one.
    #[must_use]
    pub(crate) fn share(&self, rows: usize) -> usize {
        rows.div_ceil(self.ranges(&(0..rows)).len()).max(1)
    }

    /// `work` on each item; results in the items' order.
    ///
    /// # Errors
    /// The first item's error that there is; the system has no threads left.
    pub(crate) fn map<I: Send, T: Send>(
        &self,
        items: Vec<I>,
        work: impl Fn(I) -> Result<T> + Send + Sync,
    ) -> Result<Vec<T>> {
        if self.count <= 1 || items.len() <= 1 {
            return items.into_iter().map(work).collect();
        }
        let start = || {
            let pool =
                ThreadPoolBuilder::new().num_threads(self.count).thread_name(|number| format!("windrow-{number}"));
            pool.build().map_err(|error| error.to_string())
        };
        let pool = self.pool.get_or_init(start).as_ref();
        let pool =
            pool.map_err(|error| Error::internal(format!("no threads could be started: {error}; set threads=1")))?;
        let results: Vec<Result<T>> = pool.install(|| items.into_par_iter().map(work).collect());
        results.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn threads_start_for_many_rows_only() {
        let threads = Threads::new(2);
        let places = |rows: usize| {
            let threads = threads.for_rows(rows);
            threads.map(vec![0, 1], |_| Ok(std::thread::current().id())).unwrap()
        };
        let own = std::thread::current().id();
        assert_eq!(places(2 * MIN_ROWS - 1), [own, own]);
        assert!(threads.pool.get().is_none());
        assert!(places(2 * MIN_ROWS).iter().all(|place| *place != own));
        assert_eq!(threads.ranges(&(0..2 * MIN_ROWS)).len(), 2);
    }
}
