//! Sections of sorted rows: summaries as bytes, the context of a section, its results.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;
use windrow::{Neighbourhood, Plan, Summary};

use crate::detached::{Signals, run_detached};
use crate::list_offsets::to_python_batch;

/// The context of a section: what it needs from other sections.
#[pyclass(module = "windrow._windrow", name = "Neighbourhood", frozen)]
pub(crate) struct PyNeighbourhood(Neighbourhood);

/// A plan's calls over sorted rows, section by section.
#[pyclass(module = "windrow._windrow", name = "Sections", frozen)]
pub(crate) struct PySections(pub(crate) Arc<Plan>);

#[pymethods]
impl PySections {
    /// Why the calls cannot be evaluated in sections; None if they can.
    #[getter]
    fn refusal(&self) -> Option<String> {
        self.0.refuses_sections()
    }

    /// Whether a call reads all rows after its row, for which a stream must wait and a section need not.
    #[getter]
    fn looks_ahead(&self) -> bool {
        self.0.looks_ahead()
    }

    /// Whether rows may be summarised in any order.
    #[getter]
    fn sums_up_any_order(&self) -> bool {
        self.0.is_order_insensitive()
    }

    /// The last row of a sorted batch at which a section may begin.
    fn last_cut(&self, py: Python<'_>, rows: PyRecordBatch) -> PyResult<Option<usize>> {
        let (plan, rows) = (&self.0, rows.into_inner());
        run_detached(py, || plan.last_section_boundary(&rows))
    }

    /// Concatenates batches, without data that views do not refer to; dictionaries are merged.
    #[staticmethod]
    fn joined(py: Python<'_>, batches: Vec<PyRecordBatch>) -> PyResult<PyRecordBatch> {
        let batches: Vec<_> = batches.into_iter().map(PyRecordBatch::into_inner).collect();
        run_detached(py, || to_python_batch(windrow::concat_compact(&batches)?))
    }

    /// The summary of a section that other sections need.
    fn summarise<'py>(&self, py: Python<'py>, rows: PyRecordBatch) -> PyResult<Bound<'py, PyBytes>> {
        let (plan, rows) = (&self.0, rows.into_inner());
        let summary = || plan.summarise(&rows)?.to_bytes(plan);
        Ok(PyBytes::new(py, &run_detached(py, summary)?))
    }

    /// The contexts of the sections whose summaries these are, in order.
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over")]
    fn scan(&self, py: Python<'_>, summaries: Vec<Vec<u8>>) -> PyResult<Vec<PyNeighbourhood>> {
        let plan = &self.0;
        let arounds = run_detached(py, || plan.scan(&Summary::from_bytes(&summaries, plan)?))?;
        Ok(arounds.into_iter().map(PyNeighbourhood).collect())
    }

    /// The result columns for a section's rows.
    fn answer(&self, py: Python<'_>, rows: PyRecordBatch, around: &PyNeighbourhood) -> PyResult<PyRecordBatch> {
        let (plan, rows, signals) = (&self.0, rows.into_inner(), Signals::new());
        signals.during(py, || to_python_batch(plan.evaluate_section(&rows, &around.0, &signals.cancel)?))
    }
}
