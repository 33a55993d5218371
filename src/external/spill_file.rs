//! Spilled rows: batches in a file without a name.
//!
//! The file is unlinked as it is made, so the system takes it back with its last handle: after success, failure and
//! cancellation, and after a process was killed. The format is Arrow's IPC stream, written and read once, in order.
//!
//! Cost: a write and a read of the rows' bytes; in memory one batch each way, and a buffer of the file.

use std::fs::File;
use std::io::{BufReader, BufWriter, Seek};
use std::path::{Path, PathBuf};

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

    /// A file for batches of `schema`.
    ///
    /// # Errors
    /// The directory takes no file.
    pub(crate) fn writer(&self, schema: &SchemaRef) -> Result<SpillWriter> {
        let file = tempfile::tempfile_in(&self.directory).map_err(|error| self.failed(&error))?;
        let writer = StreamWriter::try_new(BufWriter::with_capacity(WRITTEN, file), schema);
        Ok(SpillWriter { writer: writer.map_err(|error| self.failed_in_arrow(error))?, disk: self.clone(), bytes: 0 })
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

/// A file being written.
pub(crate) struct SpillWriter {
    writer: StreamWriter<BufWriter<File>>,
    disk: Disk,
    bytes: u64,
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
        let file = self.writer.finish().and_then(|()| self.writer.into_inner());
        let file = file.map_err(|error| self.disk.failed_in_arrow(error))?;
        let file = file.into_inner().map_err(|error| self.disk.failed(error.error()))?;
        self.bytes = file.metadata().map_or(0, |metadata| metadata.len());
        Ok(Spilled { file, disk: self.disk, bytes: self.bytes })
    }
}

/// Rows in a file.
#[derive(Debug)]
pub(crate) struct Spilled {
    file: File,
    disk: Disk,
    bytes: u64,
}

impl Spilled {
    /// The file's size.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The rows, batch by batch.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(mut self) -> Result<SpillReader> {
        self.file.rewind().map_err(|error| self.disk.failed(&error))?;
        let reader = StreamReader::try_new(BufReader::with_capacity(READ, self.file), None);
        Ok(SpillReader { reader: reader.map_err(|error| self.disk.failed_in_arrow(error))?, disk: self.disk })
    }
}

/// A file being read.
pub(crate) struct SpillReader {
    reader: StreamReader<BufReader<File>>,
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
