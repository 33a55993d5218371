//! The order of the rows.
//!
//! 1. Rows already in order are found in one pass that stops at the first descent. Rows in the order of the last keys
//!    alone, such as readings in time order to be partitioned by device, are sorted by the first keys only.
//! 2. Keys become fields of a word (`codes.rs`), most significant first, as many as fit, beside the row number; words are
//!    radix sorted (`radix.rs`). The word is 64 bits wide if that is enough, else 128.
//! 3. Where the word holds the beginning of the keys only (long texts, many wide columns), each run of rows with equal
//!    words is sorted again by what is left. Nothing but the run's own values counts then, so texts get on by their
//!    common prefix at least.
//!
//! Cost: O(rows * bits) time; 16 or 32 bytes per row beside the order's 4. Stable: ties keep input order.

use std::cmp::Ordering;
use std::ops::Range;

use arrow_array::{Array, ArrayRef};

use super::edges::first_descent_of_all;
use super::keys::{self, Comparator};
use super::layout::Layout;
use super::neighbours::Neighbours;
use super::radix::Keys;
use crate::error::{Error, Result};
use crate::evaluate::Cancel;
use crate::parallel;

/// Fewer rows than this are sorted by comparison: cheaper than setting up words.
const COMPARED_ROWS: usize = 64;

/// Runs of equal words within runs of equal words, so deep, are sorted by comparison: each level is a stack frame.
const DEPTH: usize = 32;

/// A column to sort by.
#[derive(Debug, Clone)]
pub struct SortColumn {
    /// The values.
    pub values: ArrayRef,
    /// Greatest first.
    pub descending: bool,
    /// Nulls before all values, whatever the direction.
    pub nulls_first: bool,
}

impl SortColumn {
    /// Ascending, nulls first: how partition keys are sorted.
    #[must_use]
    pub fn ascending(values: ArrayRef) -> Self {
        Self { values, descending: false, nulls_first: true }
    }

    pub(super) fn neighbours(&self) -> Result<Neighbours> {
        Neighbours::directed(&self.values, self.descending, self.nulls_first)
    }

    fn comparator(&self) -> Result<Comparator> {
        keys::comparator(&keys::normalise(&self.values)?, self.descending, self.nulls_first)
    }
}

/// The row numbers in the order of `columns`, ties in input order; `None` if the rows are in that order already.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{Int64Array, StringArray};
/// # use windrow::rows::{SortColumn, sort};
/// let device = SortColumn::ascending(Arc::new(StringArray::from(vec!["b", "a", "b", "a"])));
/// let time = SortColumn { values: Arc::new(Int64Array::from(vec![1, 2, 3, 4])), descending: true, nulls_first: false };
/// let order = sort(&[device, time], 1, &Default::default())?;
/// assert_eq!(order, Some(vec![3, 1, 2, 0]));
/// # Ok::<(), windrow::Error>(())
/// ```
///
/// # Errors
/// A type without an order, columns of different lengths, more than `u32::MAX` rows, cancellation.
pub fn sort(columns: &[SortColumn], threads: usize, cancel: &Cancel) -> Result<Option<Vec<u32>>> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    if columns.iter().any(|column| column.values.len() != rows) {
        return Err(Error::internal("sort keys of different lengths"));
    }
    check_rows(rows)?;
    sort_at_depth(columns, rows, threads, cancel, 0)
}

/// Row numbers are stored in 32 bits.
pub(super) fn check_rows(rows: usize) -> Result<()> {
    if u32::try_from(rows).is_err() {
        return Err(Error::unsupported(format!(
            "{rows} rows to sort at once; windrow takes up to {}: pass a RecordBatchReader, or partition the input",
            u32::MAX
        )));
    }
    Ok(())
}

fn sort_at_depth(
    columns: &[SortColumn],
    rows: usize,
    threads: usize,
    cancel: &Cancel,
    depth: usize,
) -> Result<Option<Vec<u32>>> {
    let neighbours = columns.iter().map(SortColumn::neighbours).collect::<Result<Vec<_>>>()?;
    // Sorting is stable: if the rows are in the order of the keys from `sorted` on, the keys before are enough.
    let sorted = (0..columns.len()).find(|&first| first_descent_of_all(&neighbours[first..], rows).is_none());
    let columns = &columns[..sorted.unwrap_or(columns.len())];
    if columns.is_empty() {
        return Ok(None);
    }
    cancel.check()?;
    if rows < COMPARED_ROWS || depth == DEPTH {
        let mut order: Vec<u32> = (0..rows as u32).collect();
        compare(columns)?.sort(&mut order);
        return Ok(Some(order));
    }
    let layout = Layout::new(columns, rows, cancel)?;
    let keys =
        Keys { fields: &layout.fields, rows, bits: layout.bits, runs: layout.unsure.map(|unsure| unsure.behind) };
    let order = if layout.is_narrow(rows) { Keys::order::<u64> } else { Keys::order::<u128> };
    let (mut order, runs) = order(&keys, threads, cancel)?;
    if let (Some(unsure), false) = (layout.unsure, runs.is_empty()) {
        let columns = &columns[unsure.column..];
        let comparators = compare(columns)?;
        parallel::map(threads, pieces(&mut order, runs), |run| {
            cancel.check()?;
            // The words have put rows that are equal in the unsure column in order.
            if unsure.complete && comparators.are_equal(run, 0) {
                return Ok(());
            }
            if run.len() < COMPARED_ROWS {
                comparators.sort(run);
                return Ok(());
            }
            run.sort_unstable();
            let columns = select(columns, run, cancel)?;
            if let Some(order) = sort_at_depth(&columns, run.len(), 1, cancel, depth + 1)? {
                let rows = run.to_vec();
                for (place, row) in run.iter_mut().zip(order) {
                    *place = rows[row as usize];
                }
            }
            Ok(())
        })?;
    }
    Ok(Some(order))
}

/// The runs as slices of the order.
fn pieces(mut order: &mut [u32], runs: Vec<Range<usize>>) -> Vec<&mut [u32]> {
    let mut at = 0;
    let mut pieces = Vec::with_capacity(runs.len());
    for run in runs {
        let (piece, rest) = std::mem::take(&mut order)[run.start - at..].split_at_mut(run.len());
        (order, at) = (rest, run.end);
        pieces.push(piece);
    }
    pieces
}

/// The rows of the run alone.
fn select(columns: &[SortColumn], run: &[u32], cancel: &Cancel) -> Result<Vec<SortColumn>> {
    let values: Vec<_> = columns.iter().map(|column| column.values.clone()).collect();
    let values = super::gather(&values, run, 1, cancel)?;
    Ok(columns.iter().zip(values).map(|(column, values)| SortColumn { values, ..*column }).collect())
}

/// A comparison by several columns.
pub(crate) struct Comparators(Vec<Comparator>);

/// The comparison of rows by `columns`.
pub(crate) fn compare(columns: &[SortColumn]) -> Result<Comparators> {
    Ok(Comparators(columns.iter().map(SortColumn::comparator).collect::<Result<_>>()?))
}

impl Comparators {
    /// How one row stands to another.
    pub(crate) fn compare(&self, left: usize, right: usize) -> Ordering {
        let mut orders = self.0.iter().map(|compare| compare(left, right));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Whether the rows are equal in this column.
    fn are_equal(&self, rows: &[u32], column: usize) -> bool {
        let (Some(compare), Some((&first, others))) = (self.0.get(column), rows.split_first()) else { return true };
        others.iter().all(|&row| compare(first as usize, row as usize).is_eq())
    }

    /// Puts the rows in order, ties by their numbers.
    pub(crate) fn sort(&self, rows: &mut [u32]) {
        // Looking at each row once shows which columns need not be compared again and again.
        let equal = (0..self.0.len()).take_while(|&column| self.are_equal(rows, column)).count();
        let comparators = &self.0[equal..];
        rows.sort_unstable_by(|&left, &right| {
            let mut orders = comparators.iter().map(|compare| compare(left as usize, right as usize));
            orders.find(|order| order.is_ne()).unwrap_or_else(|| left.cmp(&right))
        });
    }
}
