//! `Plan`: a validated window computation.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchReader, UInt32Array};
use arrow_select::concat::concat_batches;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use pyo3_arrow::{PyRecordBatchReader, PySchema, PyTable};
use windrow::{Appender, Counted, Error, Plan, Stream};

use crate::append::PyAppender;
use crate::detached::{Signals, run_detached};
use crate::from_python;
use crate::list_offsets::with_lists_from_zero;
use crate::sectioned::PySections;
use crate::stream::PyStream;

/// Calls validated against a schema.
#[pyclass(module = "windrow._windrow", name = "Plan", frozen)]
pub(crate) struct PyPlan(Arc<Plan>);

#[pymethods]
impl PyPlan {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over")]
    fn new(
        py: Python<'_>,
        schema: PySchema,
        calls: Vec<Bound<'_, PyDict>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let specs = calls.iter().map(from_python::window_spec).collect::<PyResult<Vec<_>>>()?;
        let options = from_python::options(options)?;
        let schema = schema.into_inner();
        let plan = run_detached(py, || Plan::new(schema, &specs, options))?;
        Ok(Self(Arc::new(plan)))
    }

    /// One field per call, in the order of the calls.
    #[getter]
    fn output_schema(&self) -> PySchema {
        PySchema::new(self.0.output_schema().clone())
    }

    /// The names of the columns that the calls read.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.columns().into_iter().map(|number| self.0.schema().field(number).name().clone()).collect()
    }

    /// How each call will be evaluated, one dict each; `sorted`: for sorted rows, as those of a stream.
    #[pyo3(signature = (sorted = false))]
    fn explain<'py>(&self, py: Python<'py>, sorted: bool) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for explanation in if sorted { self.0.explain_sorted() } else { self.0.explain() } {
            let entry = PyDict::new(py);
            entry.set_item("name", explanation.name)?;
            entry.set_item("call", explanation.call)?;
            entry.set_item("partition_by", explanation.partition_by)?;
            entry.set_item("order_by", explanation.order_by)?;
            entry.set_item("frame", explanation.frame)?;
            entry.set_item("shape", explanation.shape.map(|shape| shape.to_string()))?;
            entry.set_item("strategy", explanation.strategy.name())?;
            entry.set_item("reason", explanation.reason)?;
            entry.set_item("reach_before", explanation.reach_before)?;
            entry.set_item("reach_after", explanation.reach_after)?;
            entry.set_item("sort", explanation.sort)?;
            entry.set_item("type", explanation.data_type.to_string())?;
            list.append(entry)?;
        }
        Ok(list)
    }

    /// The result columns for all rows of `data`, in its order.
    fn compute(&self, py: Python<'_>, data: PyRecordBatchReader) -> PyResult<PyTable> {
        let reader = data.into_reader()?;
        let plan = &self.0;
        let signals = Signals::new();
        let result = signals
            .during(py, || with_lists_from_zero(plan.compute_until(&one_batch(reader, plan)?, &signals.cancel)?))?;
        let schema = result.schema();
        PyTable::try_new(vec![result], schema)
    }

    /// The numbers of the rows among which are the first `most` of each partition, `counted` as rows, peers or values;
    /// None if sorting costs no more.
    fn top_rows(
        &self,
        py: Python<'_>,
        data: PyRecordBatchReader,
        most: usize,
        counted: &str,
    ) -> PyResult<Option<PyTable>> {
        let counted = match counted {
            "rows" => Counted::Rows,
            "peers" => Counted::Peers,
            _ => Counted::Values,
        };
        let reader = data.into_reader()?;
        let plan = &self.0;
        let signals = Signals::new();
        let found = signals.during(py, || {
            let rows = plan.top_rows(&one_batch(reader, plan)?, most, counted, &signals.cancel)?;
            let table =
                |rows: Vec<u32>| RecordBatch::try_from_iter([("row", Arc::new(UInt32Array::from(rows)) as ArrayRef)]);
            rows.map(table).transpose().map_err(Error::from)
        })?;
        found.map(|rows| PyTable::try_new(vec![rows.clone()], rows.schema())).transpose()
    }

    /// The calls over sorted rows, section by section.
    fn sections(&self) -> PySections {
        PySections(self.0.clone())
    }

    /// The calls over sorted rows that continue those before the `state` that an appender gave as bytes.
    #[pyo3(signature = (state = None))]
    #[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over")]
    fn appender(&self, py: Python<'_>, state: Option<Vec<u8>>) -> PyResult<PyAppender> {
        let plan = self.0.clone();
        let made = run_detached(py, || {
            let appender = Appender::new(plan)?;
            match &state {
                Some(bytes) => appender.with_bytes(bytes),
                None => Ok(appender),
            }
        })?;
        Ok(PyAppender::new(made))
    }

    /// The sorts that the calls need, each as its calls' numbers, of which the first has the order, and whether the row
    /// number must be the last key.
    fn sorts(&self) -> Vec<(Vec<usize>, bool)> {
        self.0.sorts().into_iter().map(|sort| (sort.calls, sort.by_position)).collect()
    }

    /// A stream of the calls over sorted batches, which buffers at most `limit` bytes of rows.
    #[pyo3(signature = (limit = None))]
    fn stream(&self, py: Python<'_>, limit: Option<usize>) -> PyResult<PyStream> {
        let plan = self.0.clone();
        let stream = run_detached(py, || Stream::new(plan))?;
        Ok(PyStream::new(match limit {
            Some(limit) => stream.with_limit(limit),
            None => stream,
        }))
    }
}

/// All rows of a reader.
fn one_batch(reader: Box<dyn RecordBatchReader + Send>, plan: &Plan) -> windrow::Result<RecordBatch> {
    let batches = reader.collect::<Result<Vec<RecordBatch>, _>>().map_err(Error::from)?;
    match batches.as_slice() {
        [batch] => Ok(batch.clone()),
        // Arrow reports an error if 32-bit offsets do not suffice.
        batches => concat_batches(plan.schema(), batches).map_err(|error| {
            Error::data(format!(
                "the rows do not fit one piece of memory: {error}; cast text to large_string, or use a stream"
            ))
        }),
    }
}
