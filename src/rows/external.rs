//! External sort: more rows than memory holds, in order.
//!
//! ```text
//!   batches -> held -> sorted, spilled as a run -> next batch of each run -> merged -> batches in order
//!              held -> sorted, spilled as a run ->
//! ```
//!
//! What is held is sorted like any rows ([`mod@super::sort`]) and written in small batches. A round of the merge takes one
//! batch of each run, and of it the rows up to the least of their last ones: later batches hold nothing before that.
//! These few sorted pieces are sorted once more, all at once, instead of being compared row by row.
//!
//! Cost: O(n log n) time, a write and a read of each row per level of the merge, one level up to 64 runs. Memory: the
//! limit, and what a batch needs. Stable: runs and rows keep the order in which they came.
//! Source: D. E. Knuth, The Art of Computer Programming, vol. 3, 5.4 (external sorting).

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::{concat, concat_batches};
use arrow_select::interleave::interleave_record_batch;

use super::keys::{self, Comparator};
use super::sort::{SortColumn, arrange};
use super::spill::{Disk, SpillReader, Spilled};
use crate::error::{Error, Result};
use crate::evaluate::Cancel;
use crate::parallel::Threads;

/// Runs that are merged at once.
const FAN_IN: usize = 64;

/// The share of the limit that a batch of each run may take, all together.
const MERGED: usize = 4;

/// Rows of a batch that is handed on, and of one in a run, at most.
const BATCH: usize = 8192;

/// What sorting takes beside the rows and their keys: words twice, the order, each row's batch.
const SORT_BYTES: usize = 48;

/// A column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SortKey {
    /// Its number in the schema.
    pub column: usize,
    /// Greatest first.
    pub descending: bool,
    /// Nulls before all values, whatever the direction.
    pub nulls_first: bool,
}

impl SortKey {
    fn over(self, batch: &RecordBatch) -> SortColumn {
        let Self { column, descending, nulls_first } = self;
        SortColumn { values: batch.column(column).clone(), descending, nulls_first }
    }
}

/// Takes rows in any order, and gives them in that of the keys, holding not much more than `limit` bytes of them.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
/// use windrow::rows::{ExternalSort, SortKey};
///
/// let batch = |t: Vec<i64>| RecordBatch::try_from_iter([("t", Arc::new(Int64Array::from(t)) as ArrayRef)]);
/// let key = SortKey { column: 0, descending: false, nulls_first: true };
/// let mut sort = ExternalSort::new(batch(vec![])?.schema(), vec![key], 1 << 20, None, 1, &Default::default());
/// sort.push(batch(vec![3, 1])?)?;
/// sort.push(batch(vec![2])?)?;
/// let mut rows = sort.finish()?;
/// let first = rows.next_batch()?.unwrap();
/// assert_eq!(first.column(0).as_primitive::<Int64Type>().values(), &[1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ExternalSort {
    schema: SchemaRef,
    keys: Vec<SortKey>,
    limit: usize,
    disk: Disk,
    threads: usize,
    cancel: Cancel,
    held: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
    runs: Vec<Spilled>,
    spilled: u64,
}

impl ExternalSort {
    /// A sort of rows of `schema`. Files are made in `directory`, or in the system's for such, and have no names.
    #[must_use]
    pub fn new(
        schema: SchemaRef,
        keys: Vec<SortKey>,
        limit: usize,
        directory: Option<&Path>,
        threads: usize,
        cancel: &Cancel,
    ) -> Self {
        let disk = Disk::new(directory);
        Self {
            schema,
            keys,
            limit,
            disk,
            threads,
            cancel: cancel.clone(),
            held: Vec::new(),
            rows: 0,
            bytes: 0,
            runs: Vec::new(),
            spilled: 0,
        }
    }

    /// Takes a batch in.
    ///
    /// # Errors
    /// A key without an order, a disk that takes no more, cancellation.
    pub fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.cancel.check()?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.rows += batch.num_rows();
        self.bytes += size(&batch)? + batch.num_rows() * SORT_BYTES;
        self.held.push(batch);
        if self.bytes > self.limit { self.spill() } else { Ok(()) }
    }

    /// The rows in order; nothing more will come.
    ///
    /// # Errors
    /// As for `push`.
    pub fn finish(mut self) -> Result<InOrder> {
        if self.runs.is_empty() {
            return Ok(InOrder { source: Source::Held(self.sort_held()?), spilled: 0 });
        }
        self.spill()?;
        while self.runs.len() > FAN_IN {
            // Neighbours are merged, so that ties stay in the order in which they came.
            let mut fewer = Vec::new();
            let mut runs = std::mem::take(&mut self.runs).into_iter();
            loop {
                let some: Vec<_> = runs.by_ref().take(FAN_IN).collect();
                if some.is_empty() {
                    break;
                }
                let mut merge = Merge::new(&self.schema, &self.keys, some, &self.cancel)?;
                fewer.push(self.write(|| merge.next())?);
            }
            self.runs = fewer;
        }
        let merge = Merge::new(&self.schema, &self.keys, self.runs, &self.cancel)?;
        Ok(InOrder { source: Source::Merged(merge), spilled: self.spilled })
    }

    /// Sorts what is held, and writes it as a run.
    fn spill(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        // A batch of each run is held when they are merged.
        let row = (self.bytes / self.rows).max(1);
        let rows = (self.limit / MERGED / FAN_IN / row).clamp(16, BATCH);
        let mut held = self.sort_held()?;
        let run = self.write(|| held.next(rows))?;
        self.runs.push(run);
        Ok(())
    }

    fn write(&mut self, mut next: impl FnMut() -> Result<Option<RecordBatch>>) -> Result<Spilled> {
        let mut writer = self.disk.writer(&self.schema)?;
        while let Some(batch) = next()? {
            self.cancel.check()?;
            writer.write(&compact(&batch)?)?;
        }
        let run = writer.finish()?;
        self.spilled += run.bytes();
        Ok(run)
    }

    /// Lets go of what is held, in order.
    fn sort_held(&mut self) -> Result<Held> {
        let batches = std::mem::take(&mut self.held);
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let order = sorted(&self.keys, &batches, self.threads, &self.cancel)?;
        Ok(Held { places: order.map(|order| places(&batches, &order)), batches, rows, at: 0 })
    }
}

/// Rows in order, batch by batch.
#[derive(Debug)]
pub struct InOrder {
    source: Source,
    spilled: u64,
}

#[derive(Debug)]
enum Source {
    Held(Held),
    Merged(Merge),
}

impl InOrder {
    /// Bytes that were written to files.
    #[must_use]
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled
    }

    /// The next rows; `None`: there are no more.
    ///
    /// # Errors
    /// A file that cannot be read, cancellation.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        match &mut self.source {
            Source::Held(held) => held.next(BATCH),
            Source::Merged(merge) => merge.next(),
        }
    }
}

/// Rows in memory, in order.
#[derive(Debug)]
struct Held {
    batches: Vec<RecordBatch>,
    /// The batch and the row of each, in order; `None` if they came so.
    places: Option<Vec<(u32, u32)>>,
    rows: usize,
    at: usize,
}

impl Held {
    /// The next rows, so many at most.
    fn next(&mut self, most: usize) -> Result<Option<RecordBatch>> {
        let Some(places) = &self.places else {
            // As they came, in slices.
            let Some(first) = self.batches.first() else { return Ok(None) };
            let rows = (first.num_rows() - self.at).min(most);
            let slice = first.slice(self.at, rows);
            self.at += rows;
            if self.at == first.num_rows() {
                self.batches.remove(0);
                self.at = 0;
            }
            return Ok(Some(slice));
        };
        if self.at == self.rows {
            return Ok(None);
        }
        let end = self.rows.min(self.at + most);
        let places: Vec<_> = places[self.at..end].iter().map(|&(batch, row)| (batch as usize, row as usize)).collect();
        self.at = end;
        let batches: Vec<_> = self.batches.iter().collect();
        Ok(Some(interleave_record_batch(&batches, &places)?))
    }
}

/// Runs being merged.
struct Merge {
    schema: SchemaRef,
    keys: Vec<SortKey>,
    /// Those that have rows left, in the order of the runs.
    cursors: Vec<Cursor>,
    cancel: Cancel,
}

impl std::fmt::Debug for Merge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merge").field("runs", &self.cursors.len()).finish_non_exhaustive()
    }
}

/// A run being read: the batch at hand, its keys, and how many of its rows have been taken.
struct Cursor {
    reader: SpillReader,
    batch: RecordBatch,
    keys: Vec<SortColumn>,
    at: usize,
}

impl Cursor {
    /// Has a batch with rows at hand, unless there are no more.
    fn load(&mut self, keys: &[SortKey]) -> Result<bool> {
        while self.at == self.batch.num_rows() {
            let Some(batch) = self.reader.next()? else { return Ok(false) };
            self.keys = keys
                .iter()
                .map(|key| {
                    let column = key.over(&batch);
                    Ok(SortColumn { values: keys::normalise(&column.values)?, ..column })
                })
                .collect::<Result<_>>()?;
            (self.batch, self.at) = (batch, 0);
        }
        Ok(true)
    }

    fn last(&self) -> usize {
        self.batch.num_rows() - 1
    }

    /// Compares this cursor's rows with another's.
    fn comparators(&self, other: &Self) -> Result<Vec<Comparator>> {
        let pairs = self.keys.iter().zip(&other.keys);
        pairs
            .map(|(left, right)| keys::comparator(&left.values, &right.values, left.descending, left.nulls_first))
            .collect()
    }
}

fn compare(comparators: &[Comparator], left: usize, right: usize) -> Ordering {
    let unequal = comparators.iter().map(|compare| compare(left, right)).find(|order| order.is_ne());
    unequal.unwrap_or(Ordering::Equal)
}

impl Merge {
    fn new(schema: &SchemaRef, keys: &[SortKey], runs: Vec<Spilled>, cancel: &Cancel) -> Result<Self> {
        let cursor = |run: Spilled| {
            let batch = RecordBatch::new_empty(schema.clone());
            Ok(Cursor { reader: run.read()?, batch, keys: Vec::new(), at: 0 })
        };
        let cursors = runs.into_iter().map(cursor).collect::<Result<_>>()?;
        Ok(Self { schema: schema.clone(), keys: keys.to_vec(), cursors, cancel: cancel.clone() })
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.cancel.check()?;
        for mut cursor in std::mem::take(&mut self.cursors) {
            if cursor.load(&self.keys)? {
                self.cursors.push(cursor);
            }
        }
        let Some(first) = self.first()? else { return Ok(None) };
        let mut pieces = Vec::with_capacity(self.cursors.len());
        let cuts = self.cuts(first)?;
        for (cursor, cut) in self.cursors.iter_mut().zip(cuts) {
            if cut > cursor.at {
                pieces.push(cursor.batch.slice(cursor.at, cut - cursor.at));
                cursor.at = cut;
            }
        }
        if let [only] = pieces.as_slice() {
            return Ok(Some(only.clone()));
        }
        Ok(Some(match sorted(&self.keys, &pieces, 1, &self.cancel)? {
            None => concat_batches(&self.schema, &pieces)?,
            Some(order) => {
                let places = places(&pieces, &order).into_iter().map(|(piece, row)| (piece as usize, row as usize));
                interleave_record_batch(&pieces.iter().collect::<Vec<_>>(), &places.collect::<Vec<_>>())?
            }
        }))
    }

    /// The cursor whose batch ends first; of ties, that of the earliest run.
    fn first(&self) -> Result<Option<usize>> {
        let mut first = 0;
        for (number, cursor) in self.cursors.iter().enumerate().skip(1) {
            let comparators = cursor.comparators(&self.cursors[first])?;
            if compare(&comparators, cursor.last(), self.cursors[first].last()).is_lt() {
                first = number;
            }
        }
        Ok((!self.cursors.is_empty()).then_some(first))
    }

    /// Up to which row each cursor's batch comes before whatever `first`'s run has next. Rows equal to its last one do
    /// so in earlier runs alone: in later ones they come after equal rows that it may still have.
    fn cuts(&self, first: usize) -> Result<Vec<usize>> {
        let bound = &self.cursors[first];
        let cut = |(number, cursor): (usize, &Cursor)| {
            if number == first {
                return Ok(cursor.batch.num_rows());
            }
            let comparators = cursor.comparators(bound)?;
            let (mut low, mut high) = (cursor.at, cursor.batch.num_rows());
            while low < high {
                let middle = low.midpoint(high);
                let order = compare(&comparators, middle, bound.last());
                if order.is_lt() || (order.is_eq() && number < first) { low = middle + 1 } else { high = middle }
            }
            Ok(low)
        };
        self.cursors.iter().enumerate().map(cut).collect()
    }
}

/// The order of the rows of all batches, one after another; `None` if they come in order.
fn sorted(keys: &[SortKey], batches: &[RecordBatch], threads: usize, cancel: &Cancel) -> Result<Option<Vec<u32>>> {
    let column = |key: &SortKey| {
        let parts: Vec<_> = batches.iter().map(|batch| batch.column(key.column).as_ref()).collect();
        let values = match parts.as_slice() {
            [only] => only.slice(0, only.len()),
            parts => concat(parts)?,
        };
        Ok(SortColumn { values, descending: key.descending, nulls_first: key.nulls_first })
    };
    if batches.is_empty() || keys.is_empty() {
        return Ok(None);
    }
    let columns = keys.iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(arrange(&columns, &[], &Threads::new(threads), cancel)?.order)
}

/// The batch and the row in it of each row of `order`.
fn places(batches: &[RecordBatch], order: &[u32]) -> Vec<(u32, u32)> {
    let mut of_row = Vec::with_capacity(order.len());
    for (number, batch) in (0..).zip(batches) {
        of_row.extend((0..batch.num_rows() as u32).map(|row| (number, row)));
    }
    order.iter().map(|&row| of_row[row as usize]).collect()
}

/// The bytes of a batch's own rows.
fn size(batch: &RecordBatch) -> Result<usize> {
    batch.columns().iter().map(|column| Ok(column.to_data().get_slice_memory_size()?)).sum()
}

/// The batch without texts that it does not show: views keep alive, and write, all of the batches they were taken from.
fn compact(batch: &RecordBatch) -> Result<RecordBatch> {
    let column = |column: &ArrayRef| -> ArrayRef {
        match column.data_type() {
            DataType::Utf8View => Arc::new(column.as_string_view().gc()),
            DataType::BinaryView => Arc::new(column.as_binary_view().gc()),
            _ => column.clone(),
        }
    };
    let columns = batch.columns().iter().map(column).collect();
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options).map_err(Error::from)
}
