//! Spill files: batches in an unnamed file, which may hold several runs one after another.
//!
//! ```text
//!   file     [ run 0 ][ run 1 ][ run 2 ]         one descriptor for any number of runs
//!   run      [ checksum, bytes ][ checksum, bytes ] ...        blocks of equal length, except for the last
//! ```
//!
//! The file is unlinked when it is created, so the system frees it with its last handle: on success, on failure, on
//! cancellation, and if the process is killed. The format is Arrow's IPC stream, written once and read once,
//! sequentially. No byte is parsed before the checksum of its block is verified. The checksum covers the bytes, their
//! position and a random number of the file: damaged, truncated and foreign files are rejected.
//!
//! Cost: a write and a read of the rows' bytes, and a checksum pass each way. Memory: one batch each way, and a buffer.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::take::take;
use crc32fast::Hasher;

use crate::error::{Error, Remedy, Result};
use crate::util::data_types::children;
use crate::util::slice_memory::compact;

/// The size of the write buffer.
const WRITE_BUFFER_BYTES: usize = 256 << 10;

/// The size of a block including its checksum. Files are read block by block; it is small because many runs are read at
/// once.
const BLOCK_BYTES: usize = 32 << 10;

/// The size of a block's checksum, at its start.
const CHECKSUM_BYTES: usize = size_of::<u32>();

/// The directory for spill files.
#[derive(Debug, Clone)]
pub(crate) struct SpillDirectory {
    directory: PathBuf,
}

impl SpillDirectory {
    /// Files in this directory, or in the system's temporary directory.
    pub(crate) fn new(directory: Option<&Path>) -> Self {
        Self { directory: directory.map_or_else(std::env::temp_dir, Path::to_path_buf) }
    }

    /// Creates a file for runs.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(crate) fn file(&self) -> Result<SpillFile> {
        let file = tempfile::tempfile_in(&self.directory).map_err(|error| self.failed(&error))?;
        let key = RandomState::new().hash_one(()) as u32;
        Ok(SpillFile { shared: Arc::new(Mutex::new(SharedFile { file, end: 0, key })), disk: self.clone() })
    }

    fn failed(&self, error: &dyn std::error::Error) -> Error {
        Error::spill(format!(
            "rows that memory has no room for could not be spilled to {}: {error}; make room there",
            self.directory.display()
        ))
        .with_remedy(Remedy::SpillDirectory)
    }

    fn not_written(&self, error: ArrowError) -> Error {
        match error {
            ArrowError::IoError(_, error) => self.failed(&error),
            other => self.failed(&other),
        }
    }

    fn not_read(&self, error: &ArrowError) -> Error {
        let error: &dyn std::error::Error = match error {
            ArrowError::IoError(_, error) => error,
            other => other,
        };
        Error::spill(format!(
            "rows that were spilled to {} could not be read back: {error}; ask again, and if it comes back name a directory \
             on another disk as spill_dir",
            self.directory.display()
        ))
    }
}

/// A file of runs; the system frees it when the file and all of its runs are dropped.
#[derive(Debug)]
pub(crate) struct SpillFile {
    shared: Arc<Mutex<SharedFile>>,
    disk: SpillDirectory,
}

/// The file and its length.
#[derive(Debug)]
struct SharedFile {
    file: File,
    end: u64,
    /// A random number of this file, included in its checksums.
    key: u32,
}

impl SpillFile {
    /// A writer that appends a run of batches of `schema`. Only one run may be written at a time.
    ///
    /// # Errors
    /// The disk is full or fails.
    pub(crate) fn writer(&self, schema: &SchemaRef) -> Result<SpillWriter> {
        let part = FileRange { shared: self.shared.clone(), at: lock(&self.shared).end, end: u64::MAX };
        let writer = StreamWriter::try_new(BlockWriter::new(part), schema);
        Ok(SpillWriter { writer: writer.map_err(|error| self.disk.not_written(error))?, disk: self.disk.clone() })
    }
}

fn lock(shared: &Mutex<SharedFile>) -> MutexGuard<'_, SharedFile> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A range of a file with a position of its own, so that ranges can be read alternately.
#[derive(Debug)]
struct FileRange {
    shared: Arc<Mutex<SharedFile>>,
    /// The start of the range, or of its unread part.
    at: u64,
    end: u64,
}

impl FileRange {
    /// The checksum of a block's bytes at position `at` of the file.
    fn checksum(&self, at: u64, bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
        let mut hasher = Hasher::new_with_initial(lock(&self.shared).key);
        hasher.update(&at.to_le_bytes());
        hasher.update(bytes);
        hasher.finalize().to_le_bytes()
    }

    /// Reads the next bytes, filling the buffer.
    fn fill(&mut self, mut bytes: &mut [u8]) -> io::Result<()> {
        let mut shared = lock(&self.shared);
        shared.file.seek(SeekFrom::Start(self.at))?;
        while !bytes.is_empty() {
            let read = match shared.file.read(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                // An error, because Arrow would treat an unexpected end as the end of the rows.
                let error = format!("the file, which has no name, ends at byte {}, before what was written", self.at);
                return Err(io::Error::new(ErrorKind::InvalidData, error));
            }
            self.at += read as u64;
            bytes = &mut bytes[read..];
        }
        Ok(())
    }

    /// Appends to the file.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut shared = lock(&self.shared);
        let end = shared.end;
        shared.file.seek(SeekFrom::Start(end))?;
        shared.file.write_all(bytes)?;
        shared.end += bytes.len() as u64;
        Ok(())
    }
}

/// Divides the output into blocks.
struct BlockWriter {
    part: FileRange,
    /// Complete blocks, then the current one.
    buffer: Vec<u8>,
    /// The start of the current block.
    begin: usize,
}

impl BlockWriter {
    fn new(part: FileRange) -> Self {
        let mut buffer = Vec::with_capacity(WRITE_BUFFER_BYTES);
        buffer.resize(CHECKSUM_BYTES, 0);
        Self { part, buffer, begin: 0 }
    }

    /// Completes the current block and begins the next.
    fn seal(&mut self) -> io::Result<()> {
        let bytes = self.begin + CHECKSUM_BYTES;
        let at = lock(&self.part.shared).end + self.begin as u64;
        let checksum = self.part.checksum(at, &self.buffer[bytes..]);
        self.buffer[self.begin..bytes].copy_from_slice(&checksum);
        if self.buffer.len() + BLOCK_BYTES > WRITE_BUFFER_BYTES {
            self.part.append(&self.buffer)?;
            self.buffer.clear();
        }
        self.begin = self.buffer.len();
        self.buffer.resize(self.begin + CHECKSUM_BYTES, 0);
        Ok(())
    }

    /// Writes the remaining bytes and returns the range to read.
    fn finish(mut self) -> io::Result<FileRange> {
        if self.buffer.len() > self.begin + CHECKSUM_BYTES {
            self.seal()?;
        }
        self.part.append(&self.buffer[..self.begin])?;
        let end = lock(&self.part.shared).end;
        Ok(FileRange { end, ..self.part })
    }
}

impl Write for BlockWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.begin + BLOCK_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == self.begin + BLOCK_BYTES {
            self.seal()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // `finish` writes the rest: only the last block may be partial
    }
}

/// Reads blocks and returns the bytes of those whose checksum is correct.
struct BlockReader {
    part: FileRange,
    block: Vec<u8>,
    /// The number of the block's bytes already returned.
    given: usize,
}

impl BlockReader {
    fn new(part: FileRange) -> Self {
        Self { part, block: Vec::new(), given: 0 }
    }

    /// Reads the next block, which must exist.
    fn next(&mut self) -> io::Result<()> {
        let at = self.part.at;
        let length = usize::try_from(self.part.end - at).unwrap_or(usize::MAX).min(BLOCK_BYTES);
        self.block.resize(length, 0);
        self.given = length;
        self.part.fill(&mut self.block)?;
        let found = self.block.split_at_checked(CHECKSUM_BYTES);
        if found.is_none_or(|(checksum, bytes)| self.part.checksum(at, bytes) != checksum) {
            let error =
                format!("the file, which has no name, is not what was written at bytes {at} to {}", self.part.at);
            return Err(io::Error::new(ErrorKind::InvalidData, error));
        }
        self.given = CHECKSUM_BYTES;
        Ok(())
    }
}

impl Read for BlockReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.given == self.block.len() {
            if self.part.at == self.part.end || bytes.is_empty() {
                return Ok(0);
            }
            self.next()?;
        }
        let rest = &self.block[self.given..];
        let read = rest.len().min(bytes.len());
        bytes[..read].copy_from_slice(&rest[..read]);
        self.given += read;
        Ok(read)
    }
}

/// A run being written.
pub(crate) struct SpillWriter {
    writer: StreamWriter<BlockWriter>,
    disk: SpillDirectory,
}

impl SpillWriter {
    /// Appends a batch.
    ///
    /// # Errors
    /// The disk is full, or gone.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(&compact_batch(batch)?).map_err(|error| self.disk.not_written(error))
    }

    /// Ends the run and returns it for reading.
    ///
    /// # Errors
    /// As for `write`.
    pub(crate) fn finish(mut self) -> Result<SpilledRun> {
        let blocks = self.writer.finish().and_then(|()| self.writer.into_inner());
        let blocks = blocks.map_err(|error| self.disk.not_written(error))?;
        let part = blocks.finish().map_err(|error| self.disk.failed(&error))?;
        Ok(SpilledRun { part, disk: self.disk })
    }
}

/// A run in a file.
#[derive(Debug)]
pub(crate) struct SpilledRun {
    part: FileRange,
    disk: SpillDirectory,
}

impl SpilledRun {
    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.part.end - self.part.at
    }

    /// Begins to read the run.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(self) -> Result<SpillReader> {
        let reader = StreamReader::try_new(BlockReader::new(self.part), None);
        Ok(SpillReader { reader: reader.map_err(|error| self.disk.not_read(&error))?, disk: self.disk })
    }
}

/// A run being read.
pub(crate) struct SpillReader {
    reader: StreamReader<BlockReader>,
    disk: SpillDirectory,
}

impl SpillReader {
    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.reader.next().transpose().map_err(|error| self.disk.not_read(&error))
    }
}

/// The batch without data that it does not refer to: view types would write all buffers of the batches they come from,
/// and for unions in lists Arrow's writer writes wrong rows of a slice.
fn compact_batch(batch: &RecordBatch) -> Result<RecordBatch> {
    let column = |column: &ArrayRef| {
        if has_union_in_list(column.data_type(), false) {
            return Ok(take(column, &UInt64Array::from_iter_values(0..column.len() as u64), None)?);
        }
        compact(column)
    };
    let columns = batch.columns().iter().map(column).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options).map_err(Error::from)
}

fn has_union_in_list(data_type: &DataType, in_list: bool) -> bool {
    let in_children = |in_list| children(data_type).into_iter().any(|child| has_union_in_list(child, in_list));
    match data_type {
        DataType::Union(..) => in_list || in_children(false),
        DataType::Struct(_) => in_children(in_list),
        _ => in_children(true),
    }
}
