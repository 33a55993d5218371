//! Threads: work cut into row ranges, each answered on its own.
//!
//! A pool lives as long as one computation, so none is ever made before a fork.

use std::ops::Range;

use rayon::prelude::*;

use crate::bitmap::Edges;
use crate::error::{Error, Result};

/// Fewer rows than this per thread are answered in less time than it takes to start one (some 50 µs).
const MIN_ROWS: usize = 32 * 1024;

/// The number of threads to use: `asked`, or as many as the machine has when 0.
#[must_use]
pub(crate) fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        asked => asked,
    }
}

/// `rows` cut into about `threads` ranges. With `anywhere` a range may begin inside a partition.
#[must_use]
pub(crate) fn ranges(rows: &Range<usize>, partitions: &Edges, threads: usize, anywhere: bool) -> Vec<Range<usize>> {
    let pieces = threads.min(rows.len() / MIN_ROWS).max(1);
    let mut ranges = Vec::with_capacity(pieces);
    let mut begin = rows.start;
    for piece in 1..=pieces {
        let mut end = rows.start + rows.len() * piece / pieces;
        if piece < pieces && !anywhere && end > begin {
            end = partitions.end(end - 1).min(rows.end);
        }
        if end > begin {
            ranges.push(begin..end);
            begin = end;
        }
    }
    if ranges.is_empty() {
        ranges.push(rows.clone());
    }
    ranges
}

/// `work` on each item, on up to `threads` threads; results in the items' order.
///
/// # Errors
/// The first item's error that there is.
pub(crate) fn map<I: Send, T: Send>(
    threads: usize,
    items: Vec<I>,
    work: impl Fn(I) -> Result<T> + Send + Sync,
) -> Result<Vec<T>> {
    if threads <= 1 || items.len() <= 1 {
        return items.into_iter().map(work).collect();
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.min(items.len()))
        .thread_name(|number| format!("windrow-{number}"))
        .build()
        .map_err(|error| Error::internal(format!("no threads could be started: {error}; set threads=1")))?;
    let results: Vec<Result<T>> = pool.install(|| items.into_par_iter().map(work).collect());
    results.into_iter().collect()
}
