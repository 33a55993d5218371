//! Sections of sorted rows: summaries as bytes, what lies around a section, its answers.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;
use windrow::{Neighbourhood, Plan, Summary};

use crate::detached::{Signals, run_detached};

/// What lies around a section.
#[pyclass(module = "windrow._windrow", name = "Neighbourhood", frozen)]
pub(crate) struct PyNeighbourhood(Neighbourhood);

/// A plan's calls over rows in order, section by section.
#[pyclass(module = "windrow._windrow", name = "Sections", frozen)]
pub(crate) struct PySections(pub(crate) Arc<Plan>);

#[pymethods]
impl PySections {
    /// Why rows cannot be answered in sections; None: they can.
    #[getter]
    fn refusal(&self) -> Option<String> {
        self.0.refuses_sections()
    }

    /// Whether a call looks at all rows behind its row, for which a stream must wait and a section need not.
    #[getter]
    fn looks_ahead(&self) -> bool {
        self.0.looks_ahead()
    }

    /// Whether rows may be summed up in any order.
    #[getter]
    fn sums_up_any_order(&self) -> bool {
        self.0.is_order_insensitive()
    }

    /// The last row of a batch in order with which a section may begin.
    fn last_cut(&self, py: Python<'_>, rows: PyRecordBatch) -> PyResult<Option<usize>> {
        let (plan, rows) = (&self.0, rows.into_inner());
        run_detached(py, || plan.last_section_boundary(&rows))
    }

    /// Batches as one, without what views do not show; dictionaries are merged.
    #[staticmethod]
    fn joined(py: Python<'_>, batches: Vec<PyRecordBatch>) -> PyResult<PyRecordBatch> {
        let batches: Vec<_> = batches.into_iter().map(PyRecordBatch::into_inner).collect();
        Ok(PyRecordBatch::new(run_detached(py, || windrow::concat_compact(&batches))?))
    }

    /// What other sections may need of this one.
    fn summarise<'py>(&self, py: Python<'py>, rows: PyRecordBatch) -> PyResult<Bound<'py, PyBytes>> {
        let (plan, rows) = (&self.0, rows.into_inner());
        let summary = || plan.summarise(&rows)?.to_bytes(plan);
        Ok(PyBytes::new(py, &run_detached(py, summary)?))
    }

    /// What lies around each of the sections of which these are the summaries, in order.
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over")]
    fn scan(&self, py: Python<'_>, summaries: Vec<Vec<u8>>) -> PyResult<Vec<PyNeighbourhood>> {
        let plan = &self.0;
        let arounds = run_detached(py, || plan.scan(&Summary::from_bytes(&summaries, plan)?))?;
        Ok(arounds.into_iter().map(PyNeighbourhood).collect())
    }

    /// The calls' columns for a section's rows.
    fn answer(&self, py: Python<'_>, rows: PyRecordBatch, around: &PyNeighbourhood) -> PyResult<PyRecordBatch> {
        let (plan, rows, signals) = (&self.0, rows.into_inner(), Signals::new());
        let answer = signals.during(py, || plan.evaluate_section(&rows, &around.0, &signals.cancel))?;
        Ok(PyRecordBatch::new(answer))
    }
}
