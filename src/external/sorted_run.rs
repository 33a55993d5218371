//! Sorted batches in memory.
//!
//! The rows of all batches are numbered consecutively and sorted at once; output rows are gathered from the batches on
//! demand, so the rows are not copied as a whole.
//!
//! Cost: that of [`sort_to_indices`](crate::sort::sort_to_indices), 4 bytes per row afterwards, and a gather per output
//! batch.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_select::concat::{concat, concat_batches};
use arrow_select::interleave::interleave_record_batch;

use super::sort_key::SortKey;
use crate::error::Result;
use crate::sort::sort_column::SortColumn;
use crate::sort::sort_to_indices::sort_with_boundaries;
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::threads::Threads;

/// Rows are located through pages of 2^`PAGE_BITS` rows: smaller than most batches, and few enough to stay in the
/// cache.
const PAGE_BITS: u32 = 10;

/// Sorted rows in memory.
#[derive(Debug, Default)]
pub(crate) struct SortedRun {
    batches: Vec<RecordBatch>,
    /// The row numbers in order; `None` if the rows are already sorted.
    order: Option<Vec<u32>>,
    /// The number of each batch's first row, then the total.
    begins: Vec<u32>,
    /// The batch of each page's first row.
    pages: Vec<u32>,
    /// The number of rows returned; without `order`, of the batch `first`.
    at: usize,
    /// Without `order`: the first batch that is not yet returned completely.
    first: usize,
}

impl SortedRun {
    /// Sorts the rows of the batches by the keys; ties keep input order. No batch may be empty.
    ///
    /// # Errors
    /// A key without an order; more than `u32::MAX` rows; cancellation.
    pub(super) fn new(batches: Vec<RecordBatch>, keys: &[SortKey], threads: usize, cancel: &Cancel) -> Result<Self> {
        let order = order(&batches, keys, threads, cancel)?;
        let (mut begins, mut pages) = (vec![0], Vec::new());
        if order.is_some() {
            let mut end = 0;
            for (number, batch) in (0..).zip(&batches) {
                end += batch.num_rows() as u32;
                begins.push(end);
                pages.resize(end.div_ceil(1 << PAGE_BITS) as usize, number);
            }
        }
        Ok(Self { batches, order, begins, pages, at: 0, first: 0 })
    }

    /// The next rows, at most `most`; `None` at the end.
    pub(super) fn next_batch(&mut self, most: usize) -> Result<Option<RecordBatch>> {
        let Some(order) = &self.order else { return self.next_in_input_order(most) };
        let end = order.len().min(self.at + most);
        if self.at == end {
            return Ok(None);
        }
        let places: Vec<_> = order[self.at..end].iter().map(|&row| self.locate(row)).collect();
        self.at = end;
        let batches: Vec<_> = self.batches.iter().collect();
        Ok(Some(interleave_record_batch(&batches, &places)?))
    }

    /// The batch of a row, and the row's number within it.
    #[inline]
    fn locate(&self, row: u32) -> (usize, usize) {
        let mut batch = self.pages[(row >> PAGE_BITS) as usize] as usize;
        while self.begins[batch + 1] <= row {
            batch += 1;
        }
        (batch, (row - self.begins[batch]) as usize)
    }

    /// Slices of the batches; small ones are concatenated.
    fn next_in_input_order(&mut self, most: usize) -> Result<Option<RecordBatch>> {
        let (mut pieces, mut room) = (Vec::new(), most);
        while let Some(batch) = self.batches.get(self.first) {
            let rows = batch.num_rows() - self.at;
            if rows > room && !pieces.is_empty() {
                break;
            }
            pieces.push(batch.slice(self.at, rows.min(room)));
            if rows > room {
                self.at += room;
                break;
            }
            let schema = Arc::clone(batch.schema_ref());
            self.batches[self.first] = RecordBatch::new_empty(schema);
            (self.first, self.at, room) = (self.first + 1, 0, room - rows);
        }
        Ok(match pieces.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            [first, ..] => Some(concat_batches(first.schema_ref(), &pieces)?),
        })
    }
}

/// The order of the rows of all batches, numbered consecutively; `None` if they are already sorted.
fn order(batches: &[RecordBatch], keys: &[SortKey], threads: usize, cancel: &Cancel) -> Result<Option<Vec<u32>>> {
    if batches.is_empty() || keys.is_empty() {
        return Ok(None);
    }
    let column = |key: &SortKey| {
        let parts: Vec<_> = batches.iter().map(|batch| batch.column(key.column).as_ref()).collect();
        let values = match parts.as_slice() {
            [only] => only.slice(0, only.len()),
            parts => {
                reserve::probe_concat(parts)?;
                concat(parts)?
            }
        };
        Ok(SortColumn { values, options: key.options })
    };
    let columns = keys.iter().map(column).collect::<Result<Vec<_>>>()?;
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    Ok(sort_with_boundaries(&columns, &[], &Threads::new(threads, cancel).limited_to_rows(rows))?.order)
}
