//! `Sorter`: sorts batches, more than fit in memory. `Spilled`: batches on disk.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use arrow_array::Int64Array;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3_arrow::{PyArray, PyRecordBatch, PySchema};
use windrow::{ExternalSort, SortKey, SortedBatches, SpilledBatches};

use crate::detached::{Signals, run_detached};
use crate::error::raise;
use crate::list_offsets::to_python_batch;

/// The numbers of `rows` rows, from `first` on.
#[pyfunction]
pub(crate) fn row_numbers(first: i64, rows: usize) -> PyArray {
    PyArray::from_array_ref(Arc::new(Int64Array::from_iter_values((first..).take(rows))))
}

/// An external sort.
#[pyclass(module = "windrow._windrow", name = "Sorter", frozen)]
pub(crate) struct PySorter {
    state: Mutex<State>,
    signals: Signals,
}

enum State {
    Taking(ExternalSort),
    Giving(SortedBatches),
    Failed,
}

impl PySorter {
    pub(crate) fn new(
        schema: SchemaRef,
        keys: Vec<SortKey>,
        limit: usize,
        directory: Option<&Path>,
        threads: usize,
    ) -> Self {
        let signals = Signals::new();
        let sort = ExternalSort::new(schema, keys, limit, directory, threads, &signals.cancel);
        Self { state: Mutex::new(State::Taking(sort)), signals }
    }

    fn step<T: Send>(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&mut State) -> Option<windrow::Result<T>> + Send,
    ) -> PyResult<T> {
        let refused =
            || raise(py, "InternalError", "the sorter is in use by another thread, has failed, or gives rows");
        let mut state = self.state.try_lock().map_err(|_| refused())?;
        let state = &mut *state;
        let answer = self.signals.during(py, move || Ok(step(state)))?;
        answer.ok_or_else(refused)?.map_err(|error| crate::error::to_python(py, &error))
    }
}

#[pymethods]
impl PySorter {
    /// Adds a batch.
    fn push(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        self.step(py, move |state| match state {
            State::Taking(sort) => Some(sort.push(batch)),
            _ => None,
        })
    }

    /// Ends the input; returns the number of bytes spilled.
    fn finish(&self, py: Python<'_>) -> PyResult<u64> {
        self.step(py, |state| match std::mem::replace(state, State::Failed) {
            State::Taking(sort) => Some(sort.finish().map(|rows| {
                let spilled = rows.spilled_bytes();
                *state = State::Giving(rows);
                spilled
            })),
            other => {
                *state = other;
                None
            }
        })
    }

    /// Returns the next batch in order; `None` at the end.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<PyRecordBatch>> {
        self.step(py, |state| match state {
            State::Giving(rows) => Some(rows.next_batch().and_then(|batch| batch.map(to_python_batch).transpose())),
            _ => None,
        })
    }
}

/// Batches on disk, which are read once.
#[pyclass(module = "windrow._windrow", name = "Spilled", frozen)]
pub(crate) struct PySpilled(Mutex<SpilledBatches>);

impl PySpilled {
    fn step<T: Send>(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&mut SpilledBatches) -> windrow::Result<T> + Send,
    ) -> PyResult<T> {
        let in_use = |_| raise(py, "InternalError", "the spilled batches are in use by another thread, or have failed");
        let mut batches = self.0.try_lock().map_err(in_use)?;
        let batches = &mut *batches;
        run_detached(py, move || step(batches))
    }
}

#[pymethods]
impl PySpilled {
    #[new]
    #[pyo3(signature = (schema, directory = None))]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over")]
    fn new(py: Python<'_>, schema: PySchema, directory: Option<PathBuf>) -> PyResult<Self> {
        let schema = schema.into_inner();
        run_detached(py, || SpilledBatches::new(&schema, directory.as_deref())).map(|batches| Self(Mutex::new(batches)))
    }

    /// Appends a batch.
    fn push(&self, py: Python<'_>, batch: PyRecordBatch) -> PyResult<()> {
        let batch = batch.into_inner();
        self.step(py, move |batches| batches.push(&batch))
    }

    /// Ends the writing; returns the number of bytes written.
    fn finish(&self, py: Python<'_>) -> PyResult<u64> {
        self.step(py, SpilledBatches::finish)
    }

    /// Returns the next batch; `None` at the end.
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<PyRecordBatch>> {
        self.step(py, |rows| rows.next_batch()?.map(to_python_batch).transpose())
    }
}
