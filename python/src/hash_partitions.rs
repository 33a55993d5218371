//! `HashPartitions`: rows divided by a hash of their keys, more than fit in memory.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3_arrow::{PyRecordBatch, PySchema};
use windrow::HashPartitions;

use crate::detached::Signals;
use crate::error::{raise, to_python};
use crate::list_offsets::to_python_batch;

/// Rows divided by a hash of their keys, and their results in the order of the rows.
#[pyclass(module = "windrow._windrow", name = "HashPartitions", frozen)]
pub(crate) struct PyHashPartitions {
    rows: Mutex<HashPartitions>,
    signals: Signals,
}

impl PyHashPartitions {
    fn step<T: Send>(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&mut HashPartitions) -> windrow::Result<T> + Send,
    ) -> PyResult<T> {
        let in_use = |_| raise(py, "InternalError", "the divided rows are in use by another thread, or have failed");
        let mut rows = self.rows.try_lock().map_err(in_use)?;
        let rows = &mut *rows;
        self.signals.during(py, move || Ok(step(rows)))?.map_err(|error| to_python(py, &error))
    }
}

#[pymethods]
impl PyHashPartitions {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over")]
    fn new(
        py: Python<'_>,
        schema: PySchema,
        keys: Vec<usize>,
        read: Vec<usize>,
        passed: Vec<usize>,
        limit: usize,
        directory: Option<PathBuf>,
    ) -> PyResult<Self> {
        let (schema, signals) = (schema.into_inner(), Signals::new());
        let rows = HashPartitions::new(&schema, &keys, read, passed, limit, directory.as_deref(), &signals.cancel)
            .map_err(|error| to_python(py, &error))?;
        Ok(Self { rows: Mutex::new(rows), signals })
    }

    /// The number of parts.
    #[classattr]
    const COUNT: usize = HashPartitions::COUNT;

    /// Adds a batch.
    fn push(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        self.step(py, move |rows| rows.push(&batch))
    }

    /// Ends the input; returns the number of bytes written.
    fn finish(&self, py: Python<'_>) -> PyResult<u64> {
        self.step(py, HashPartitions::finish)
    }

    /// Returns the next batch of a part's rows; `None` at the end.
    fn next_of_part(&self, py: Python<'_>, part: usize) -> PyResult<Option<PyRecordBatch>> {
        self.step(py, move |rows| rows.next_of_part(part)?.map(to_python_batch).transpose())
    }

    /// Adds results of the part whose turn it is.
    fn push_results(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        self.step(py, move |rows| rows.push_results(&batch))
    }

    /// Ends the results of a part; returns the number of bytes written.
    fn end_part(&self, py: Python<'_>) -> PyResult<u64> {
        self.step(py, HashPartitions::end_part)
    }

    /// Returns the next rows with their results; `None` at the end.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<PyRecordBatch>> {
        self.step(py, |rows| rows.next_batch()?.map(to_python_batch).transpose())
    }
}
