//! A run being read, with some of its rows in memory.

use std::collections::VecDeque;

use arrow_array::RecordBatch;

use super::spill_file::{SpillReader, SpilledRun};
use crate::error::Result;

/// The rows of a run that are not taken yet.
pub(super) struct RunCursor {
    /// `None` when read to its end.
    reader: Option<SpillReader>,
    /// The buffered batches.
    batches: VecDeque<RecordBatch>,
    /// The number of buffered rows.
    pub(super) rows: usize,
}

impl RunCursor {
    /// Begins to read a run.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn new(run: SpilledRun) -> Result<Self> {
        Ok(Self { reader: Some(run.read()?), batches: VecDeque::new(), rows: 0 })
    }

    /// Reads until `rows` rows are buffered or the run ends.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn read_ahead(&mut self, rows: usize) -> Result<()> {
        while self.rows < rows
            && let Some(reader) = &mut self.reader
        {
            match reader.next()? {
                Some(batch) => {
                    self.rows += batch.num_rows();
                    self.batches.push_back(batch);
                }
                None => self.reader = None,
            }
        }
        Ok(())
    }

    /// The first buffered batch.
    pub(super) fn front(&self) -> Option<&RecordBatch> {
        self.batches.front()
    }

    /// The last buffered batch; `None` if the run has no rows behind it.
    pub(super) fn last_before_unread(&self) -> Option<&RecordBatch> {
        self.reader.as_ref().and(self.batches.back())
    }

    /// Moves the first `rows` buffered rows, or all, to `pieces`.
    pub(super) fn take(&mut self, mut rows: usize, pieces: &mut Vec<RecordBatch>) {
        while rows > 0
            && let Some(batch) = self.batches.pop_front()
        {
            let taken = rows.min(batch.num_rows());
            if taken < batch.num_rows() {
                self.batches.push_front(batch.slice(taken, batch.num_rows() - taken));
            }
            pieces.push(batch.slice(0, taken));
            self.rows -= taken;
            rows -= taken;
        }
    }
}
