//! External sort: sorts more rows than fit in memory.
//!
//! ```text
//!   batches -> buffered -> sorted, spilled as a run ->
//!              buffered -> sorted, spilled as a run -> merged (`merge.rs`) -> sorted batches
//!
//!   level 0    r r r r ... r     as soon as there are FAN_IN runs, they are merged to one of the next level
//!   level 1    R R               older than those of the level below
//! ```
//!
//! Buffered batches are sorted by [`sort_to_indices`](crate::sort::sort_to_indices) and gathered batch by batch on
//! output. A run is written in small batches, because a merge reads some of each run at a time.
//!
//! Cost: O(n log n) time, a write and a read of each row per level of the merge; one level up to 64 runs. Memory: the
//! limit, and what a batch needs. Each level has one file that holds all its runs, so the number of open files does not
//! grow with the rows. Stable: runs and rows keep the order of arrival.
//!
//! Source: D. E. Knuth, The Art of Computer Programming, vol. 3, 5.4 (external sorting).

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::merge::Merge;
use super::sort_key::SortKey;
use super::sorted_run::SortedRun;
use super::spill_file::{SpillDirectory, SpillFile, SpilledRun};
use crate::error::Result;
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::slice_memory::batch_size;

/// The number of runs that are merged at once.
const FAN_IN: usize = 64;

/// If the rows take at most `1 / OUTPUT_FRACTION` of the limit, they are returned from memory; the consumer may use the
/// rest.
const OUTPUT_FRACTION: usize = 2;

/// `1 / MERGE_FRACTION` of the limit is for the rows of all runs being merged; the output needs memory too.
const MERGE_FRACTION: usize = 4;

/// The number of batches that a merge of `FAN_IN` runs buffers per run, so that all runs advance evenly.
const BATCHES_PER_RUN: usize = 4;

/// The maximum number of rows of a batch, in the output and in a run.
const BATCH_ROWS: usize = 8192;

/// The memory per row that sorting takes besides the rows: concatenated keys, two words, the order.
const SORT_BYTES_PER_ROW: usize = 48;

/// Takes rows in any order and returns them sorted by the keys. Uses about `limit` bytes of memory while rows are
/// pushed, and half of that while they are returned.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
/// use arrow_schema::SortOptions;
/// use windrow::SortKey;
/// use windrow::ExternalSort;
///
/// let batch = |t: Vec<i64>| RecordBatch::try_from_iter([("t", Arc::new(Int64Array::from(t)) as ArrayRef)]);
/// let key = SortKey { column: 0, options: SortOptions::default() };
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
    disk: SpillDirectory,
    threads: usize,
    cancel: Cancel,
    buffered: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
    /// Runs by the number of merges; those of a higher level are earlier than those of a lower one.
    levels: Vec<MergeLevel>,
    /// The bytes per row including sorting, of the run with the widest rows.
    row: usize,
    spilled: u64,
}

/// Runs in order of arrival, and their file.
#[derive(Default)]
struct MergeLevel {
    runs: Vec<SpilledRun>,
    file: Option<SpillFile>,
}

impl ExternalSort {
    /// Sorts rows of `schema`. Temporary files, without names, are created in `directory`, or in the system's temporary
    /// directory.
    #[must_use]
    pub fn new(
        schema: SchemaRef,
        keys: Vec<SortKey>,
        limit: usize,
        directory: Option<&Path>,
        threads: usize,
        cancel: &Cancel,
    ) -> Self {
        let disk = SpillDirectory::new(directory);
        Self {
            schema,
            keys,
            limit,
            disk,
            threads,
            cancel: cancel.clone(),
            buffered: Vec::new(),
            rows: 0,
            bytes: 0,
            levels: Vec::new(),
            row: 1,
            spilled: 0,
        }
    }

    /// Adds a batch.
    ///
    /// # Errors
    /// A key without an order; a full or failing disk; cancellation.
    pub fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.cancel.check()?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.rows += batch.num_rows();
        self.bytes += batch_size(&batch) + batch.num_rows() * SORT_BYTES_PER_ROW;
        self.buffered.push(batch);
        if self.bytes > self.limit { self.spill() } else { Ok(()) }
    }

    /// Ends the input and returns the rows in order.
    ///
    /// # Errors
    /// As for `push`.
    pub fn finish(mut self) -> Result<SortedBatches> {
        if self.levels.is_empty() && self.bytes - self.rows * SORT_BYTES_PER_ROW <= self.limit / OUTPUT_FRACTION {
            return Ok(SortedBatches { source: SortedSource::InMemory(self.sort_buffered()?), spilled: 0 });
        }
        self.spill()?;
        let mut runs: Vec<_> =
            std::mem::take(&mut self.levels).into_iter().rev().flat_map(|level| level.runs).collect();
        while runs.len() > FAN_IN {
            // Only adjacent runs are merged, so that ties keep the order of arrival; the last runs are the shortest.
            let last = runs.split_off(runs.len() - FAN_IN.min(runs.len() - FAN_IN + 1));
            let mut merge = self.merge(last)?;
            runs.push(self.write(&self.disk.file()?, || merge.next_batch(BATCH_ROWS))?);
        }
        Ok(SortedBatches { source: SortedSource::Merged(self.merge(runs)?), spilled: self.spilled })
    }

    fn merge(&self, runs: Vec<SpilledRun>) -> Result<Merge> {
        Merge::new(self.keys.clone(), runs, self.merged_rows(), self.threads, &self.cancel)
    }

    /// The number of rows of all runs that may be buffered during a merge.
    fn merged_rows(&self) -> usize {
        self.limit / MERGE_FRACTION / self.row
    }

    /// Sorts the buffered rows and writes them as a run.
    fn spill(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.row = self.row.max(self.bytes / self.rows);
        let mut buffered = self.sort_buffered()?;
        self.add(0, || buffered.next_batch(BATCH_ROWS))?;
        drop(buffered);
        let mut level = 0;
        while self.levels[level].runs.len() == FAN_IN {
            let MergeLevel { runs, file } = std::mem::take(&mut self.levels[level]);
            drop(file);
            level += 1;
            let mut merge = self.merge(runs)?;
            self.add(level, || merge.next_batch(BATCH_ROWS))?;
        }
        Ok(())
    }

    /// Writes sorted rows as the next run of a level.
    fn add(&mut self, level: usize, next: impl FnMut() -> Result<Option<RecordBatch>>) -> Result<()> {
        if level == self.levels.len() {
            self.levels.push(MergeLevel::default());
        }
        let file = match self.levels[level].file.take() {
            Some(file) => file,
            None => self.disk.file()?,
        };
        let run = self.write(&file, next)?;
        self.levels[level].runs.push(run);
        self.levels[level].file = Some(file);
        Ok(())
    }

    /// Writes sorted rows as a run.
    fn write(&mut self, file: &SpillFile, mut next: impl FnMut() -> Result<Option<RecordBatch>>) -> Result<SpilledRun> {
        let most = (self.merged_rows() / FAN_IN / BATCHES_PER_RUN).clamp(16, BATCH_ROWS);
        let mut writer = file.writer(&self.schema)?;
        while let Some(batch) = next()? {
            self.cancel.check()?;
            for begin in (0..batch.num_rows()).step_by(most) {
                writer.write(&batch.slice(begin, most.min(batch.num_rows() - begin)))?;
            }
        }
        let run = writer.finish()?;
        self.spilled += run.bytes();
        Ok(run)
    }

    /// The buffered rows in order; the buffer is empty afterwards.
    fn sort_buffered(&mut self) -> Result<SortedRun> {
        reserve::probe_start(self.rows)?;
        self.bytes = 0;
        self.rows = 0;
        SortedRun::new(std::mem::take(&mut self.buffered), &self.keys, self.threads, &self.cancel)
    }
}

/// Sorted rows, batch by batch.
#[derive(Debug)]
pub struct SortedBatches {
    source: SortedSource,
    spilled: u64,
}

#[derive(Debug)]
enum SortedSource {
    InMemory(SortedRun),
    Merged(Merge),
}

impl SortedBatches {
    /// The number of bytes written to files.
    #[must_use]
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled
    }

    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// A file that cannot be read; cancellation.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        match &mut self.source {
            SortedSource::InMemory(buffered) => buffered.next_batch(BATCH_ROWS),
            SortedSource::Merged(merge) => merge.next_batch(BATCH_ROWS),
        }
    }
}
