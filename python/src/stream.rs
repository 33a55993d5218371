//! `Stream`: takes batches and returns results as soon as they are final.

use std::path::PathBuf;
use std::sync::Mutex;

use arrow_array::RecordBatch;
use arrow_schema::SortOptions;
use pyo3::prelude::*;
use pyo3_arrow::{PyRecordBatch, PySchema};
use windrow::{SortKey, Stream};

use crate::detached::Signals;
use crate::error::{raise, to_python};
use crate::external_sort::PySorter;
use crate::list_offsets::to_python_batch;

/// A computation over sorted batches.
#[pyclass(module = "windrow._windrow", name = "Stream", frozen)]
pub(crate) struct PyStream {
    stream: Mutex<Stream>,
    signals: Signals,
}

impl PyStream {
    pub(crate) fn new(stream: Stream) -> Self {
        let signals = Signals::new();
        Self { stream: Mutex::new(stream.with_cancel(&signals.cancel)), signals }
    }

    fn step(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&mut Stream) -> windrow::Result<Vec<RecordBatch>> + Send,
    ) -> PyResult<Vec<PyRecordBatch>> {
        // Fails if another thread uses the stream, or if it has panicked.
        let mut stream = self.stream.try_lock().map_err(|_| in_use(py))?;
        let stream = &mut *stream;
        self.signals.during(py, move || step(stream)?.into_iter().map(to_python_batch).collect())
    }
}

fn in_use(py: Python<'_>) -> PyErr {
    raise(py, "InternalError", "the stream is in use by another thread, or has failed; make a new one")
}

#[pymethods]
impl PyStream {
    /// Adds a batch; returns the batches that later rows cannot change.
    fn push(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Vec<PyRecordBatch>> {
        let batch = batch.into_inner();
        self.step(py, move |stream| stream.push(batch))
    }

    /// Ends the input; returns the remaining batches.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<PyRecordBatch>> {
        self.step(py, Stream::finish)
    }

    /// The rows of a batch in the order in which the stream takes them.
    fn sort(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<PyRecordBatch> {
        let batch = batch.into_inner();
        let stream = self.stream.try_lock().map_err(|_| in_use(py))?;
        let stream = &*stream;
        self.signals.during(py, move || to_python_batch(stream.sort(&batch)?))
    }

    /// A sorter of rows of `schema` for this stream, which buffers about `limit` bytes and spills the rest. The column
    /// `last`, if given, is the last key.
    #[pyo3(signature = (schema, limit, directory, threads, last = None))]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over")]
    fn sorter(
        &self,
        py: Python<'_>,
        schema: PySchema,
        limit: usize,
        directory: Option<PathBuf>,
        threads: usize,
        last: Option<usize>,
    ) -> PyResult<PySorter> {
        let stream = self.stream.try_lock().map_err(|_| in_use(py))?;
        let mut keys = stream.sort_keys().map_err(|error| to_python(py, &error))?;
        keys.extend(last.map(|column| SortKey { column, options: SortOptions::default() }));
        Ok(PySorter::new(schema.into_inner(), keys, limit, directory.as_deref(), threads))
    }

    /// The number of rows buffered.
    #[getter]
    fn buffered_rows(&self, py: Python<'_>) -> PyResult<usize> {
        let stream = self.stream.try_lock();
        stream.map(|stream| stream.buffered_rows()).map_err(|_| in_use(py))
    }
}
