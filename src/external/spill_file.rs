//! Spilled rows: batches in a file without a name, several runs of them one after another in a file.
//!
//! ```text
//!   file     [ run 0 ][ run 1 ][ run 2 ]         one descriptor, however many runs there are
//!   run      [ checksum, bytes ][ checksum, bytes ] ...        blocks of one length, but for the last
//! ```
//!
//! The file is unlinked as it is made, so the system takes it back with its last handle: after success, failure and
//! cancellation, and after a process was killed. The format is Arrow's IPC stream, written and read once, in order. No
//! byte of it is read as Arrow before the checksum of its block is found right, which is that of the bytes, of their place
//! and of a number that each file draws: a damaged file, a shorter one and one of another sort are refused.
//!
//! Cost: a write and a read of the rows' bytes, and a look at them for the checksum each way; in memory one batch each way,
//! and a buffer of the file.

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
use crate::util::shown::compact;

/// Bytes that a file is written in.
const WRITE_BUFFER_BYTES: usize = 256 << 10;

/// Bytes of a block with its checksum, which a file is read in: many runs are read at once.
const BLOCK_BYTES: usize = 32 << 10;

/// Bytes of a block's checksum, which come first.
const CHECKSUM_BYTES: usize = size_of::<u32>();

/// Where rows are spilled to.
#[derive(Debug, Clone)]
pub(crate) struct SpillDirectory {
    directory: PathBuf,
}

impl SpillDirectory {
    /// Files in this directory, or in the system's own for such.
    pub(crate) fn new(directory: Option<&Path>) -> Self {
        Self { directory: directory.map_or_else(std::env::temp_dir, Path::to_path_buf) }
    }

    /// A file for runs.
    ///
    /// # Errors
    /// The directory takes no file.
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

/// A file of runs; the system takes it back when it and all of its runs are dropped.
#[derive(Debug)]
pub(crate) struct SpillFile {
    shared: Arc<Mutex<SharedFile>>,
    disk: SpillDirectory,
}

/// The file, and where what is written begins.
#[derive(Debug)]
struct SharedFile {
    file: File,
    end: u64,
    /// A number of this file's own, which its checksums begin with.
    key: u32,
}

impl SpillFile {
    /// A run of batches of `schema`, behind those that are in the file; one is written at a time.
    ///
    /// # Errors
    /// The disk is full, or gone.
    pub(crate) fn writer(&self, schema: &SchemaRef) -> Result<SpillWriter> {
        let part = FileRange { shared: self.shared.clone(), at: lock(&self.shared).end, end: u64::MAX };
        let writer = StreamWriter::try_new(BlockWriter::new(part), schema);
        Ok(SpillWriter { writer: writer.map_err(|error| self.disk.not_written(error))?, disk: self.disk.clone() })
    }
}

fn lock(shared: &Mutex<SharedFile>) -> MutexGuard<'_, SharedFile> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of a file, with a place of its own: others read other parts meanwhile.
#[derive(Debug)]
struct FileRange {
    shared: Arc<Mutex<SharedFile>>,
    /// Where it begins, or what is not read yet does.
    at: u64,
    end: u64,
}

impl FileRange {
    /// The checksum of a block's bytes that stand at a place of the file.
    fn checksum(&self, at: u64, bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
        let mut hasher = Hasher::new_with_initial(lock(&self.shared).key);
        hasher.update(&at.to_le_bytes());
        hasher.update(bytes);
        hasher.finalize().to_le_bytes()
    }

    /// Reads the next bytes, all that have room.
    fn fill(&mut self, mut bytes: &mut [u8]) -> io::Result<()> {
        let mut shared = lock(&self.shared);
        shared.file.seek(SeekFrom::Start(self.at))?;
        while !bytes.is_empty() {
            let read = match shared.file.read(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                // Arrow takes an unexpected end for that of the rows.
                let error = format!("the file, which has no name, ends at byte {}, before what was written", self.at);
                return Err(io::Error::new(ErrorKind::InvalidData, error));
            }
            self.at += read as u64;
            bytes = &mut bytes[read..];
        }
        Ok(())
    }

    /// Writes behind all that the file has.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut shared = lock(&self.shared);
        let end = shared.end;
        shared.file.seek(SeekFrom::Start(end))?;
        shared.file.write_all(bytes)?;
        shared.end += bytes.len() as u64;
        Ok(())
    }
}

/// Cuts what is written into blocks.
struct BlockWriter {
    part: FileRange,
    /// Whole blocks, and the one being filled.
    buffer: Vec<u8>,
    /// Where that one begins.
    begin: usize,
}

impl BlockWriter {
    fn new(part: FileRange) -> Self {
        let mut buffer = Vec::with_capacity(WRITE_BUFFER_BYTES);
        buffer.resize(CHECKSUM_BYTES, 0);
        Self { part, buffer, begin: 0 }
    }

    /// Ends the block being filled, and begins another.
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

    /// Writes what is left, and gives the part as what there is to read.
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
        Ok(()) // by `finish`: a block that is not full is the last
    }
}

/// Reads blocks, and gives the bytes of those that are right.
struct BlockReader {
    part: FileRange,
    block: Vec<u8>,
    /// How many of the block's bytes have been given.
    given: usize,
}

impl BlockReader {
    fn new(part: FileRange) -> Self {
        Self { part, block: Vec::new(), given: 0 }
    }

    /// Reads the next block; there is one.
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

    /// The rows written, to be read from the first on.
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
    /// How many bytes of the file it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.part.end - self.part.at
    }

    /// The rows, batch by batch.
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
    /// The next batch.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.reader.next().transpose().map_err(|error| self.disk.not_read(&error))
    }
}

/// The batch without what it does not show: views keep alive, and write, all of the batches they were taken from, and of
/// unions in lists Arrow writes those of the first rows of all.
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
    match data_type {
        DataType::Union(fields, _) => {
            in_list || fields.iter().any(|(_, field)| has_union_in_list(field.data_type(), false))
        }
        DataType::Struct(fields) => fields.iter().any(|field| has_union_in_list(field.data_type(), in_list)),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => has_union_in_list(field.data_type(), true),
        _ => false,
    }
}
