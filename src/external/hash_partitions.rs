//! Rows divided by a hash of their partition keys, and results put back into the order of the rows.
//!
//! ```text
//!   batches   columns that calls read ->  part 0 | part 1 | ...      one file; a part has whole partitions
//!             other columns, and the number of each row's part  ->   one file, in the order of the rows
//!   parts     computed one after another  ->  results                one file, a run per part
//!   output    each row takes the next result of its part
//! ```
//!
//! A part is a fraction of the rows that is computed in memory, where a sort of all rows would merge runs twice: by the
//! keys, and back by row number. Within a part, rows keep the order of arrival.
//!
//! Cost: O(n) time; a write and a read of the columns that calls read, of the other columns, and of the results.
//! Memory: half of the limit while rows are pushed; a batch per part while they are returned.
//!
//! Source: M. Kitsuregawa, H. Tanaka, T. Moto-oka, Application of Hash to Data Base Machine and Its Architecture, New
//! Generation Computing 1 (1983): the GRACE hash join.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt8Type;
use arrow_array::{ArrayRef, RecordBatch, UInt8Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::interleave::interleave_record_batch;

use super::run_cursor::RunCursor;
use super::spill_file::{SpillDirectory, SpillFile, SpillReader, SpillWriter, SpilledRun};
use super::spilled_batches::SpilledBatches;
use crate::error::{Error, Result};
use crate::sort::key_bytes::KeyBytes;
use crate::util::cancel::Cancel;
use crate::util::slice_memory::batch_size;

/// As many parts as a byte has values.
const PARTS: usize = 256;

/// The rows of all parts that wait to be written take at most `1 / BUFFER_FRACTION` of the limit.
const BUFFER_FRACTION: usize = 2;

/// The results of all parts that wait for their rows take at most `1 / RESULTS_FRACTION` of the limit.
const RESULTS_FRACTION: usize = 8;

/// The maximum number of rows of a batch in a file of parts.
const BATCH_ROWS: usize = 8192;

/// Input is divided in pieces of at most this many rows, which are also the output batches. A part's batches are joined
/// up to it.
const OUTPUT_ROWS: usize = 32768;

/// A batch of a part takes at most about `1 / BATCH_FRACTION` of the limit, however wide its rows are.
const BATCH_FRACTION: usize = 32;

/// The memory per row that waits to be written, besides its columns.
const PLACE_BYTES: usize = size_of::<(usize, usize)>();

/// Divides rows into parts by a hash of their keys, takes the results of each part, and returns rows with results in
/// the order of arrival.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use windrow::HashPartitions;
///
/// let column = |values: Vec<i64>| Arc::new(Int64Array::from(values)) as ArrayRef;
/// let batch = RecordBatch::try_from_iter([("k", column(vec![7, 5, 7])), ("v", column(vec![1, 2, 3]))])?;
/// // v is returned as it came; the parts hold only k
/// let mut rows = HashPartitions::new(&batch.schema(), &[0], vec![0], vec![1], 1 << 20, None, &Default::default())?;
/// rows.push(&batch)?;
/// rows.finish()?;
/// for part in 0..HashPartitions::COUNT {
///     while let Some(batch) = rows.next_of_part(part)? {
///         rows.push_results(&RecordBatch::try_from_iter([("twice", batch.column(0).clone())])?)?;
///     }
///     rows.end_part()?;
/// }
/// let returned = rows.next_batch()?.unwrap();
/// let expected = RecordBatch::try_from_iter([("v", column(vec![1, 2, 3])), ("twice", column(vec![7, 5, 7]))])?;
/// assert_eq!(returned, expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HashPartitions {
    input: Input,
    parts: Vec<Part>,
    /// The columns that are returned as they came, and each row's part.
    in_order: SpilledBatches,
    results: Results,
    limit: usize,
    cancel: Cancel,
    /// Whether rows were lost to an error.
    has_failed: bool,
}

impl std::fmt::Debug for HashPartitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HashPartitions").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// The rows that wait to be written.
struct Input {
    /// The key columns, as indices of the input.
    keys: Vec<usize>,
    read: Vec<usize>,
    passed: Vec<usize>,
    read_schema: SchemaRef,
    in_order_schema: SchemaRef,
    key_bytes: KeyBytes,
    hasher: RandomState,
    /// `None` once all rows are written: the file is freed with the last part that is read.
    file: Option<SpillFile>,
    buffered: Vec<RecordBatch>,
    bytes: usize,
    spilled: u64,
}

/// A part of the rows.
#[derive(Default)]
struct Part {
    /// The buffered rows, each as its batch and its row in that.
    places: Vec<(usize, usize)>,
    /// The written rows that are not read yet.
    runs: VecDeque<SpilledRun>,
    reader: Option<SpillReader>,
}

/// The results of the parts.
struct Results {
    file: SpillFile,
    writer: Option<SpillWriter>,
    /// The results of each part that is complete; `None` for a part without rows.
    runs: Vec<Option<SpilledRun>>,
    /// The runs of all parts, once they are read.
    cursors: Vec<Option<RunCursor>>,
}

impl HashPartitions {
    /// The number of parts.
    pub const COUNT: usize = PARTS;

    /// Divides rows of `schema` by the columns `keys`. Parts have the columns `read`; `passed` are returned with the
    /// results. Temporary files, without names, are created in `directory`, or in the system's temporary directory.
    ///
    /// # Errors
    /// A key without an order; no file can be created.
    pub fn new(
        schema: &SchemaRef,
        keys: &[usize],
        read: Vec<usize>,
        passed: Vec<usize>,
        limit: usize,
        directory: Option<&Path>,
        cancel: &Cancel,
    ) -> Result<Self> {
        let disk = SpillDirectory::new(directory);
        let key_bytes = KeyBytes::new(keys.iter().map(|&key| schema.field(key).data_type()))?;
        let passed_on = schema.project(&passed)?;
        let part = Arc::new(Field::new("part", DataType::UInt8, false));
        let fields: Vec<_> = passed_on.fields().iter().cloned().chain([part]).collect();
        let in_order_schema = Arc::new(Schema::new(fields));
        Ok(Self {
            in_order: SpilledBatches::new(&in_order_schema, directory)?,
            input: Input {
                keys: keys.to_vec(),
                read_schema: Arc::new(schema.project(&read)?),
                read,
                passed,
                in_order_schema,
                key_bytes,
                hasher: RandomState::new(),
                file: Some(disk.file()?),
                buffered: Vec::new(),
                bytes: 0,
                spilled: 0,
            },
            parts: (0..PARTS).map(|_| Part::default()).collect(),
            results: Results { file: disk.file()?, writer: None, runs: Vec::new(), cursors: Vec::new() },
            limit,
            cancel: cancel.clone(),
            has_failed: false,
        })
    }

    /// Adds a batch.
    ///
    /// # Errors
    /// A full or failing disk; cancellation.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        for begin in (0..batch.num_rows()).step_by(OUTPUT_ROWS) {
            self.cancel.check()?;
            self.push_rows(&batch.slice(begin, OUTPUT_ROWS.min(batch.num_rows() - begin)))?;
            if self.input.bytes > self.limit / BUFFER_FRACTION {
                self.spill()?;
            }
        }
        Ok(())
    }

    fn push_rows(&mut self, rows: &RecordBatch) -> Result<()> {
        let input = &mut self.input;
        let keys: Vec<_> = input.keys.iter().map(|&key| rows.column(key).clone()).collect();
        let keys = input.key_bytes.of(&keys)?;
        let parts: Vec<u8> =
            keys.iter().map(|key| (input.hasher.hash_one(key.as_ref()) % PARTS as u64) as u8).collect();
        for (row, &part) in parts.iter().enumerate() {
            self.parts[part as usize].places.push((input.buffered.len(), row));
        }
        let passed = input.passed.iter().map(|&column| rows.column(column).clone());
        let columns = passed.chain([Arc::new(UInt8Array::from(parts)) as ArrayRef]).collect();
        self.in_order.push(&RecordBatch::try_new(input.in_order_schema.clone(), columns)?)?;
        let read = rows.project(&input.read)?.with_schema(input.read_schema.clone())?;
        input.bytes += batch_size(&read) + rows.num_rows() * PLACE_BYTES;
        input.buffered.push(read);
        Ok(())
    }

    /// Writes the buffered rows, part by part.
    fn spill(&mut self) -> Result<()> {
        let input = &mut self.input;
        let (false, Some(file)) = (self.has_failed, &input.file) else {
            return Err(Error::internal("these divided rows are written to their end, or have failed"));
        };
        self.has_failed = true;
        let buffered = std::mem::take(&mut input.buffered);
        let batches: Vec<_> = buffered.iter().collect();
        let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
        let row_bytes = input.bytes / rows.max(1) + 1;
        let batch_rows = (self.limit / BATCH_FRACTION / row_bytes).clamp(16, BATCH_ROWS);
        input.bytes = 0;
        for part in self.parts.iter_mut().filter(|part| !part.places.is_empty()) {
            self.cancel.check()?;
            let mut writer = file.writer(&input.read_schema)?;
            for places in part.places.chunks(batch_rows) {
                writer.write(&interleave_record_batch(&batches, places)?)?;
            }
            part.places.clear();
            let run = writer.finish()?;
            input.spilled += run.bytes();
            part.runs.push_back(run);
        }
        self.has_failed = false;
        Ok(())
    }

    /// Ends the input; returns the number of bytes written.
    ///
    /// # Errors
    /// As for `push`.
    pub fn finish(&mut self) -> Result<u64> {
        self.spill()?;
        for part in &mut self.parts {
            part.places = Vec::new();
        }
        self.input.file = None;
        Ok(self.input.spilled + self.in_order.finish()?)
    }

    /// The next batch of a part's rows, in the order of arrival; `None` at the end.
    ///
    /// # Errors
    /// A file that cannot be read; cancellation.
    pub fn next_of_part(&mut self, part: usize) -> Result<Option<RecordBatch>> {
        self.cancel.check()?;
        let part = self.parts.get_mut(part).ok_or_else(|| Error::internal("there is no such part"))?;
        let (mut batches, mut rows, mut bytes) = (Vec::new(), 0, 0);
        while (batches.is_empty() || rows < OUTPUT_ROWS && bytes < self.limit / BATCH_FRACTION)
            && let Some(batch) = part.next_batch()?
        {
            rows += batch.num_rows();
            bytes += batch_size(&batch);
            batches.push(batch);
        }
        Ok(match batches.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            batches => Some(concat_batches(&self.input.read_schema, batches)?),
        })
    }

    /// Adds results of the part whose turn it is: parts come in order, and a part's results in the order of its rows.
    ///
    /// # Errors
    /// As for `push`.
    pub fn push_results(&mut self, batch: &RecordBatch) -> Result<()> {
        self.cancel.check()?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let writer = match &mut self.results.writer {
            Some(writer) => writer,
            none => none.insert(self.results.file.writer(batch.schema_ref())?),
        };
        let row_bytes = batch_size(batch) / batch.num_rows() + 1;
        let batch_rows = (self.limit / RESULTS_FRACTION / PARTS / row_bytes).clamp(16, BATCH_ROWS);
        for begin in (0..batch.num_rows()).step_by(batch_rows) {
            writer.write(&batch.slice(begin, batch_rows.min(batch.num_rows() - begin)))?;
        }
        Ok(())
    }

    /// Ends the results of a part; returns the number of bytes written.
    ///
    /// # Errors
    /// As for `push`.
    pub fn end_part(&mut self) -> Result<u64> {
        let run = self.results.writer.take().map(SpillWriter::finish).transpose()?;
        let bytes = run.as_ref().map_or(0, SpilledRun::bytes);
        self.results.runs.push(run);
        Ok(bytes)
    }

    /// The next rows in the order of arrival: the passed columns, then the results; `None` at the end.
    ///
    /// # Errors
    /// A file that cannot be read; a part with fewer results than rows; cancellation.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.cancel.check()?;
        let Some(rows) = self.in_order.next_batch()? else { return Ok(None) };
        let last = rows.num_columns() - 1;
        let results = self.results.take(rows.column(last).as_primitive::<UInt8Type>().values())?;
        let fields = rows.schema_ref().fields().iter().take(last).chain(results.schema_ref().fields()).cloned();
        let columns = rows.columns()[..last].iter().chain(results.columns()).cloned().collect();
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Some(RecordBatch::try_new(schema, columns)?))
    }
}

impl Part {
    /// The next batch as it was written; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(reader) = &mut self.reader
                && let Some(batch) = reader.next()?
            {
                return Ok(Some(batch));
            }
            self.reader = self.runs.pop_front().map(SpilledRun::read).transpose()?;
            if self.reader.is_none() {
                return Ok(None);
            }
        }
    }
}

impl Results {
    /// The next result of each row's part.
    fn take(&mut self, parts: &[u8]) -> Result<RecordBatch> {
        if self.cursors.is_empty() {
            let runs = std::mem::take(&mut self.runs).into_iter();
            self.cursors = runs.map(|run| run.map(RunCursor::new).transpose()).collect::<Result<_>>()?;
        }
        let mut counts = [0; PARTS];
        for &part in parts {
            counts[part as usize] += 1;
        }
        // Of each part, where its next result is: its batch among those that rows take from, and its row in that.
        let (mut batches, mut next) = (Vec::new(), [(0, 0); PARTS]);
        for (part, &rows) in counts.iter().enumerate().filter(|of| *of.1 > 0) {
            let missing = || Error::internal("a part has fewer results than rows");
            let cursor = self.cursors.get_mut(part).and_then(Option::as_mut).ok_or_else(missing)?;
            cursor.read_ahead(rows)?;
            if cursor.rows < rows {
                return Err(missing());
            }
            next[part].0 = batches.len();
            cursor.take(rows, &mut batches);
        }
        let mut places = Vec::with_capacity(parts.len());
        for &part in parts {
            let (batch, row) = &mut next[part as usize];
            if *row == batches[*batch].num_rows() {
                (*batch, *row) = (*batch + 1, 0);
            }
            places.push((*batch, *row));
            *row += 1;
        }
        Ok(interleave_record_batch(&batches.iter().collect::<Vec<_>>(), &places)?)
    }
}
