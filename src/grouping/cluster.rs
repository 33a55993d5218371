//! Makes rows of equal keys adjacent, where no order is requested.
//!
//! ```text
//!   key    b b b a a a a b c c        four runs; sorted by key: a, b, b, c; b occurs twice, so
//!   order  3 4 5 6 0 1 2 7 8 9        the runs are put in that order; with distinct keys the rows were grouped already
//! ```
//!
//! Rows in runs, as in grouped or nearly grouped input, are handled run by run: only the first row of each run is
//! sorted. Other rows are sorted one by one, which for keys of few bits is two counting passes (`sort/radix.rs`),
//! faster than a hash table. Cost: that of finding the runs and of sorting them. Deterministic; rows of a group keep
//! input order.

use arrow_array::ArrayRef;

use crate::error::{Error, Result};
use crate::permute::gather::gather_on;
use crate::sort::boundaries::find_boundaries;
use crate::sort::sort_column::SortColumn;
use crate::sort::sort_to_indices::{check_rows, sort_with_boundaries};
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::threads::Threads;

/// The row numbers with rows of equal `columns` adjacent, in input order within a group; `None` if they already are.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{ArrayRef, StringArray};
/// let key: ArrayRef = Arc::new(StringArray::from(vec!["b", "b", "a", "a", "a", "b"]));
/// let order = windrow::internals::cluster(&[key], 1, &Default::default())?;
/// assert_eq!(order, Some(vec![2, 3, 4, 0, 1, 5]));
/// # Ok::<(), windrow::Error>(())
/// ```
///
/// # Errors
/// As [`sort`](crate::sort::sort_to_indices::sort()).
pub fn cluster(columns: &[ArrayRef], threads: usize, cancel: &Cancel) -> Result<Option<Vec<u32>>> {
    let rows = columns.first().map_or(0, |column| column.len());
    cluster_on(columns, &Threads::new(threads, cancel).limited_to_rows(rows))
}

/// As [`cluster`], on given threads.
pub(crate) fn cluster_on(columns: &[ArrayRef], threads: &Threads) -> Result<Option<Vec<u32>>> {
    let sort = |columns: &[SortColumn]| Ok::<_, Error>(sort_with_boundaries(columns, &[], threads)?.order);
    let ascending = |columns: &[ArrayRef]| -> Vec<_> { columns.iter().cloned().map(SortColumn::ascending).collect() };
    let rows = columns.first().map_or(0, |column| column.len());
    check_rows(rows)?;
    let run_starts = find_boundaries(columns, rows, None)?;
    let runs = run_starts.count_set_bits();
    if runs > rows / 2 {
        // With runs this short, gathering their first rows costs more than it saves.
        return sort(&ascending(columns));
    }
    let begins: Vec<u32> = run_starts.set_indices().map(|row| row as u32).collect();
    let firsts = gather_on(columns, &begins, threads)?;
    let Some(order) = sort(&ascending(&firsts))? else {
        return Ok(None);
    };
    let sorted = gather_on(&firsts, &order, threads)?;
    if find_boundaries(&sorted, runs, None)?.count_set_bits() == runs {
        return Ok(None);
    }
    let mut grouped = reserve::with_capacity(rows)?;
    for run in order {
        let run = run as usize;
        let end = begins.get(run + 1).map_or(rows as u32, |&end| end);
        grouped.extend(begins[run]..end);
    }
    Ok(Some(grouped))
}
