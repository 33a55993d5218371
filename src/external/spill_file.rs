//! Spilled rows: batches in a file without a name, several runs of them one after another in a file.
//!
//! ```text
//!   file     [ run 0 ][ run 1 ][ run 2 ]         one descriptor, however many runs there are
//!   parts    [at ---- end)                       each reader has a place of its own
//! ```
//!
//! The file is unlinked as it is made, so the system takes it back with its last handle: after success, failure and
//! cancellation, and after a process was killed. The format is Arrow's IPC stream, written and read once, in order.
//!
//! Cost: a write and a read of the rows' bytes; in memory one batch each way, and a buffer of the file.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

use crate::error::{Error, Result};

/// Bytes that a file is written in.
const WRITTEN: usize = 256 << 10;

/// Bytes that a file is read in, but for longer columns: many files are read at once.
const READ: usize = 32 << 10;

/// Where rows are spilled to.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    directory: PathBuf,
}

impl Disk {
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
        Ok(SpillFile { shared: Arc::new(Mutex::new(Shared { file, end: 0 })), disk: self.clone() })
    }

    fn failed(&self, error: &dyn std::error::Error) -> Error {
        Error::spill(format!(
            "rows that memory_limit does not leave room for could not be spilled to {}: {error}; make room there, or name \
             another directory as spill_dir",
            self.directory.display()
        ))
    }

    fn failed_in_arrow(&self, error: ArrowError) -> Error {
        match error {
            ArrowError::IoError(_, error) => self.failed(&error),
            other => self.failed(&other),
        }
    }
}

/// A file of runs; the system takes it back when it and all of its runs are dropped.
#[derive(Debug)]
pub(crate) struct SpillFile {
    shared: Arc<Mutex<Shared>>,
    disk: Disk,
}

/// The file, and where what is written begins.
#[derive(Debug)]
struct Shared {
    file: File,
    end: u64,
}

impl SpillFile {
    /// A run of batches of `schema`, behind those that are in the file; one is written at a time.
    ///
    /// # Errors
    /// The disk is full, or gone.
    pub(crate) fn writer(&self, schema: &SchemaRef) -> Result<SpillWriter> {
        let part = Part { shared: self.shared.clone(), at: lock(&self.shared).end, end: u64::MAX };
        let writer = StreamWriter::try_new(BufWriter::with_capacity(WRITTEN, part), schema);
        Ok(SpillWriter { writer: writer.map_err(|error| self.disk.failed_in_arrow(error))?, disk: self.disk.clone() })
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of a file, with a place of its own: others read other parts meanwhile.
#[derive(Debug)]
struct Part {
    shared: Arc<Mutex<Shared>>,
    /// Where it begins, or what is not read yet does.
    at: u64,
    end: u64,
}

impl Read for Part {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(bytes.len());
        let mut shared = lock(&self.shared);
        shared.file.seek(SeekFrom::Start(self.at))?;
        let read = shared.file.read(&mut bytes[..most])?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Write for Part {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut shared = lock(&self.shared);
        let end = shared.end;
        shared.file.seek(SeekFrom::Start(end))?;
        let written = shared.file.write(bytes)?;
        shared.end += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        lock(&self.shared).file.flush()
    }
}

/// A run being written.
pub(crate) struct SpillWriter {
    writer: StreamWriter<BufWriter<Part>>,
    disk: Disk,
}

impl SpillWriter {
    /// Appends a batch.
    ///
    /// # Errors
    /// The disk is full, or gone.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(|error| self.disk.failed_in_arrow(error))
    }

    /// The rows written, to be read from the first on.
    ///
    /// # Errors
    /// As for `write`.
    pub(crate) fn finish(mut self) -> Result<Spilled> {
        let part = self.writer.finish().and_then(|()| self.writer.into_inner());
        let part = part.map_err(|error| self.disk.failed_in_arrow(error))?;
        let part = part.into_inner().map_err(|error| self.disk.failed(error.error()))?;
        let end = lock(&part.shared).end;
        Ok(Spilled { part: Part { end, ..part }, disk: self.disk })
    }
}

/// A run in a file.
#[derive(Debug)]
pub(crate) struct Spilled {
    part: Part,
    disk: Disk,
}

impl Spilled {
    /// How many bytes of the file it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.part.end - self.part.at
    }

    /// The rows, batch by batch.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(self) -> Result<SpillReader> {
        let reader = StreamReader::try_new(BufReader::with_capacity(READ, self.part), None);
        Ok(SpillReader { reader: reader.map_err(|error| self.disk.failed_in_arrow(error))?, disk: self.disk })
    }
}

/// A run being read.
pub(crate) struct SpillReader {
    reader: StreamReader<BufReader<Part>>,
    disk: Disk,
}

impl SpillReader {
    /// The next batch.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>> {
        self.reader.next().transpose().map_err(|error| self.disk.failed_in_arrow(error))
    }
}
