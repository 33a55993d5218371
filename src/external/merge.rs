//! Merges sorted runs, some rows of each at a time.
//!
//! ```text
//!   run 0   1 3 4 7 | 9 ...        buffered | not yet read
//!   run 1   2 5 8 8 | 8 ...
//!   run 2   1 6 6 9 | 9 ...        the minimum of the last buffered rows is run 0's 7: all rows up to it are buffered
//!   round   1 3 4 7 2 5 1 6 6  ->  sorted as any rows
//! ```
//!
//! Each round buffers the same number of rows of each run, so that few are left over, and sorts the selected rows at
//! once instead of merging by comparison: a radix sort takes less time than a comparison per row and level of a tree of
//! runs.
//!
//! Cost: a sort per round; comparisons only to find the end of each run's rows. Stable: ties are in the order of the
//! runs.

use std::cmp::Ordering;

use arrow_array::RecordBatch;

use super::run_cursor::RunCursor;
use super::sort_key::SortKey;
use super::sorted_run::SortedRun;
use super::spill_file::SpilledRun;
use crate::error::Result;
use crate::sort::key_order;
use crate::sort::sort_column::SortColumn;
use crate::util::cancel::Cancel;

/// A merge in progress.
pub(crate) struct Merge {
    keys: Vec<SortKey>,
    /// The runs with rows left, in order.
    cursors: Vec<RunCursor>,
    /// The approximate number of rows of all runs to buffer.
    rows: usize,
    threads: usize,
    cancel: Cancel,
    round: SortedRun,
}

impl std::fmt::Debug for Merge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merge").field("runs", &self.cursors.len()).finish_non_exhaustive()
    }
}

impl Merge {
    /// Merges runs by the keys, with about `rows` rows in memory.
    ///
    /// # Errors
    /// A run that cannot be read.
    pub(super) fn new(
        keys: Vec<SortKey>,
        runs: Vec<SpilledRun>,
        rows: usize,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Self> {
        let cursors = runs.into_iter().map(RunCursor::new).collect::<Result<_>>()?;
        Ok(Self { keys, cursors, rows, threads, cancel: cancel.clone(), round: SortedRun::default() })
    }

    /// The next rows, at most `most`; `None` at the end.
    ///
    /// # Errors
    /// A run that cannot be read; cancellation.
    pub(super) fn next_batch(&mut self, most: usize) -> Result<Option<RecordBatch>> {
        self.cancel.check()?;
        loop {
            if let Some(batch) = self.round.next_batch(most)? {
                return Ok(Some(batch));
            }
            // Frees the rows of the last round before others are read.
            self.round = SortedRun::default();
            let pieces = self.next_round()?;
            if pieces.is_empty() {
                return Ok(None);
            }
            self.round = SortedRun::new(pieces, &self.keys, self.threads, &self.cancel)?;
        }
    }

    /// The rows of the next round: from each run those that precede all unread rows.
    fn next_round(&mut self) -> Result<Vec<RecordBatch>> {
        let share = (self.rows / self.cursors.len().max(1)).max(1);
        for cursor in &mut self.cursors {
            cursor.read_ahead(share)?;
        }
        self.cursors.retain(|cursor| cursor.rows > 0);
        let bound = self.bound()?;
        let mut pieces = Vec::new();
        for (number, cursor) in self.cursors.iter_mut().enumerate() {
            let bound = bound.as_ref().filter(|bound| bound.run != number);
            take_until(cursor, &self.keys, bound, number, &mut pieces)?;
        }
        Ok(pieces)
    }

    /// The minimum of the last buffered rows of runs that are not read to their end; for ties, that of the earliest
    /// run. `None` if all runs are read.
    fn bound(&self) -> Result<Option<MergeBound>> {
        let mut least: Option<MergeBound> = None;
        for (run, cursor) in self.cursors.iter().enumerate() {
            let Some(end) = last_key(cursor, &self.keys)? else { continue };
            let is_less = match &least {
                Some(least) => row_comparator(&end, &least.row)?(0).is_lt(),
                None => true,
            };
            if is_less {
                least = Some(MergeBound { run, row: end });
            }
        }
        Ok(least)
    }
}

/// Where a round ends.
struct MergeBound {
    run: usize,
    /// The keys of the last buffered row of `run`.
    row: Vec<SortColumn>,
}

impl MergeBound {
    /// The number of rows of a batch that precede all unread rows of the bound's run.
    fn rows_before(&self, keys: &[SortKey], batch: &RecordBatch, run: usize) -> Result<usize> {
        let compare = row_comparator(&key_columns(keys, batch)?, &self.row)?;
        let (mut low, mut high) = (0, batch.num_rows());
        while low < high {
            let middle = low.midpoint(high);
            let order = compare(middle);
            // Rows equal to the bound: those of later runs must come after equal rows that the bound's run may still
            // have.
            if order.is_lt() || (order.is_eq() && run < self.run) { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

/// The keys of the last buffered row of a run; `None` if the run has no further rows.
fn last_key(cursor: &RunCursor, keys: &[SortKey]) -> Result<Option<Vec<SortColumn>>> {
    let last = cursor.last_before_unread();
    last.map(|batch| key_columns(keys, &batch.slice(batch.num_rows() - 1, 1))).transpose()
}

/// Moves the rows of a run before the bound, or all buffered ones, to `pieces`.
fn take_until(
    cursor: &mut RunCursor,
    keys: &[SortKey],
    bound: Option<&MergeBound>,
    run: usize,
    pieces: &mut Vec<RecordBatch>,
) -> Result<()> {
    let Some(bound) = bound else {
        cursor.take(cursor.rows, pieces);
        return Ok(());
    };
    while let Some(batch) = cursor.front() {
        let (rows, all) = (bound.rows_before(keys, batch, run)?, batch.num_rows());
        cursor.take(rows, pieces);
        if rows < all {
            break;
        }
    }
    Ok(())
}

/// A batch's keys, normalised for comparison.
fn key_columns(keys: &[SortKey], batch: &RecordBatch) -> Result<Vec<SortColumn>> {
    let column = |&SortKey { column, options }: &SortKey| {
        Ok(SortColumn { values: key_order::normalise(batch.column(column))?, options })
    };
    keys.iter().map(column).collect()
}

/// Compares rows of `columns` with the single row of `row`.
fn row_comparator(columns: &[SortColumn], row: &[SortColumn]) -> Result<impl Fn(usize) -> Ordering + use<>> {
    let comparator =
        |(column, row): (&SortColumn, &SortColumn)| key_order::comparator(&column.values, &row.values, column.options);
    let comparators = columns.iter().zip(row).map(comparator).collect::<Result<Vec<_>>>()?;
    Ok(move |number| {
        let mut orders = comparators.iter().map(|compare| compare(number, 0));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    })
}
