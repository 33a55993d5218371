//! Batches in a spill file, written once and then read once in the same order.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::spill_file::{SpillDirectory, SpillReader, SpillWriter};
use crate::error::{Error, Result};

/// Batches on disk, in an unnamed file.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use windrow::SpilledBatches;
///
/// let batch = RecordBatch::try_from_iter([("t", Arc::new(Int64Array::from(vec![3, 1])) as ArrayRef)])?;
/// let mut spilled = SpilledBatches::new(&batch.schema(), None)?;
/// spilled.push(&batch)?;
/// assert!(spilled.finish()? > 0);
/// assert_eq!(spilled.next_batch()?, Some(batch));
/// assert_eq!(spilled.next_batch()?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SpilledBatches {
    state: State,
}

enum State {
    Written(SpillWriter),
    Read(SpillReader),
    Failed,
}

impl std::fmt::Debug for SpilledBatches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpilledBatches").finish_non_exhaustive()
    }
}

impl SpilledBatches {
    /// Creates a file for batches of `schema` in `directory`, or in the system's temporary directory.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn new(schema: &SchemaRef, directory: Option<&Path>) -> Result<Self> {
        let writer = SpillDirectory::new(directory).file()?.writer(schema)?;
        Ok(Self { state: State::Written(writer) })
    }

    /// Appends a batch.
    ///
    /// # Errors
    /// The disk is full or fails; `finish` was called.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.state {
            State::Written(writer) => writer.write(batch),
            _ => Err(Error::internal("these spilled batches have been read, or have failed")),
        }
    }

    /// Ends the writing and returns the number of bytes written.
    ///
    /// # Errors
    /// As for `push`.
    pub fn finish(&mut self) -> Result<u64> {
        let State::Written(writer) = std::mem::replace(&mut self.state, State::Failed) else {
            return Err(Error::internal("these spilled batches have been read, or have failed"));
        };
        let spilled = writer.finish()?;
        let bytes = spilled.bytes();
        self.state = State::Read(spilled.read()?);
        Ok(bytes)
    }

    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// A file that cannot be read or is damaged; `finish` was not called.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        match &mut self.state {
            State::Read(reader) => reader.next(),
            _ => Err(Error::internal("these spilled batches are not written to their end")),
        }
    }
}
