//! Batches in memory, given in the order of their keys.
//!
//! All batches' rows are numbered one after another and sorted at once; rows are gathered from the batches they came in
//! as they are handed on, so what is held has no second copy.
//!
//! Cost: that of [`sort_to_indices`](crate::sort::sort_to_indices), 4 bytes a row when it is done, and a gather per
//! batch handed on.

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

/// Rows are looked up by pages of 2^this: finer than batches are as a rule, and few enough to stay in the cache.
const PAGE_BITS: u32 = 10;

/// Rows in memory, in order.
#[derive(Debug, Default)]
pub(crate) struct SortedRun {
    batches: Vec<RecordBatch>,
    /// Row numbers in order; `None` if the rows came so.
    order: Option<Vec<u32>>,
    /// The number of each batch's first row, and of all rows.
    begins: Vec<u32>,
    /// The batch of each page's first row.
    pages: Vec<u32>,
    /// How many have been handed on. Where rows came in order: of the batch that is `first`.
    at: usize,
    /// The first batch that is not handed on wholly, where rows came in order.
    first: usize,
}

impl SortedRun {
    /// The rows of the batches in the order of the keys, ties as they came. Batches have rows.
    ///
    /// # Errors
    /// A key without an order, more than `u32::MAX` rows, cancellation.
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

    /// The next rows, so many at most; `None`: there are no more.
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

    /// The batch of a row, and its number there.
    #[inline]
    fn locate(&self, row: u32) -> (usize, usize) {
        let mut batch = self.pages[(row >> PAGE_BITS) as usize] as usize;
        while self.begins[batch + 1] <= row {
            batch += 1;
        }
        (batch, (row - self.begins[batch]) as usize)
    }

    /// Slices of the batches; of small ones several together.
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

/// The order of the rows of all batches, one after another; `None` if they come in order.
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
