//! `Appender`: rows that continue the partitions of earlier runs, whose state is bytes.

use std::sync::Mutex;

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;
use windrow::Appender;

use crate::detached::Signals;
use crate::error::raise;
use crate::list_offsets::to_python_batch;

/// A computation over rows that continue earlier ones.
#[pyclass(module = "windrow._windrow", name = "Appender", frozen)]
pub(crate) struct PyAppender {
    appender: Mutex<Appender>,
    signals: Signals,
}

impl PyAppender {
    pub(crate) fn new(appender: Appender) -> Self {
        let signals = Signals::new();
        Self { appender: Mutex::new(appender.with_cancel(&signals.cancel)), signals }
    }

    fn step<T: Send>(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&mut Appender) -> windrow::Result<T> + Send,
    ) -> PyResult<T> {
        // Fails if another thread uses the appender, or if it has panicked.
        let appender = self.appender.try_lock();
        let mut appender = appender.map_err(|_| raise(py, "InternalError", "the operator's run has failed"))?;
        let appender = &mut *appender;
        self.signals.during(py, move || step(appender))
    }
}

fn to_python(batches: Vec<RecordBatch>) -> windrow::Result<Vec<PyRecordBatch>> {
    batches.into_iter().map(to_python_batch).collect()
}

#[pymethods]
impl PyAppender {
    /// Adds a batch; returns batches with results.
    fn push(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<Vec<PyRecordBatch>> {
        let batch = batch.into_inner();
        self.step(py, move |appender| appender.push(batch).and_then(to_python))
    }

    /// Ends the rows of this run; returns the remaining batches.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<PyRecordBatch>> {
        self.step(py, |appender| appender.finish().and_then(to_python))
    }

    /// What a later run goes on from.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.step(py, |appender| appender.to_bytes())?))
    }
}
