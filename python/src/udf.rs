//! User-defined functions in Python: aggregates, functions of frames and of partitions.
//!
//! The GIL is taken once for all calls over a section, and released from time to time, so that other Python threads run
//! and signals are handled.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use arrow_array::{Array, ArrayRef, Int64Array};
use arrow_schema::{DataType, Field};
use arrow_select::concat::concat;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use pyo3_arrow::{PyArray, PyDataType};
use windrow::{
    BoundAggregate, Error, Result, UserAggregate, UserFrames, UserFunction, UserPartitions, UserResults, UserState,
};

use crate::copy_state::Copier;

/// The number of calls between checks for signals and other threads.
const CALLS_PER_CHECK: usize = 16 * 1024;

/// The number of results that are converted to Arrow together.
const RESULTS_PER_BATCH: usize = 64 * 1024;

/// Converts a function prepared by `windrow._execute.user_functions`.
pub(crate) fn user_function(function: &Bound<'_, PyAny>) -> PyResult<UserFunction> {
    let output: PyDataType = function.getattr("returns")?.extract()?;
    let output = output.into_inner();
    let kind: String = function.getattr("kind")?.extract()?;
    let function = function.clone();
    Ok(match kind.as_str() {
        "aggregate" => {
            UserFunction::Aggregate(Arc::new(PyAggregate(Arc::new(AggregateMethods::new(&function, output)?))))
        }
        "frames" => UserFunction::Frames(Arc::new(PyFunction { function: function.unbind(), output })),
        _ => UserFunction::Partitions(Arc::new(PyFunction { function: function.unbind(), output })),
    })
}

/// The error for an exception raised by user code or by the conversion of its result.
fn failed(py: Python<'_>, what: &str, error: PyErr) -> Error {
    let ours = py.import("windrow.exceptions").and_then(|module| module.getattr("UserError"));
    if ours.is_ok_and(|class| error.matches(py, class).unwrap_or(false)) {
        let cause = error.cause(py).map(|cause| Arc::new(cause) as Arc<dyn std::error::Error + Send + Sync>);
        return Error::user(error.value(py).to_string(), cause);
    }
    let class = error.get_type(py).name().map_or_else(|_| "an exception".into(), |name| name.to_string());
    let text = error.value(py).to_string();
    let colon = if text.is_empty() { "" } else { ": " };
    Error::user(format!("{what} raised {class}{colon}{text}"), Some(Arc::new(error)))
}

/// The exception that caused an error.
pub(crate) fn cause(py: Python<'_>, error: &Error) -> Option<PyErr> {
    std::error::Error::source(error)?.downcast_ref::<PyErr>().map(|error| error.clone_ref(py))
}

/// Whether an exception is passed on unchanged: `KeyboardInterrupt`, `SystemExit`.
pub(crate) fn passes(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py)
}

fn to_pyarrow<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let field = Field::new("", array.data_type().clone(), true);
    let array = PyArray::try_new(array.clone(), Arc::new(field));
    let array = array.map_err(|error| PyException::new_err(error.to_string()))?;
    py.import(intern!(py, "pyarrow"))?.getattr(intern!(py, "array"))?.call1((array.into_pyobject(py)?,))
}

fn from_pyarrow(array: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    Ok(array.extract::<PyArray>()?.into_inner().0)
}

/// The methods of a user-defined aggregate.
#[derive(Debug)]
struct AggregateMethods {
    /// The object of `windrow._execute.user_functions` that converts values, results and states.
    function: Py<PyAny>,
    name: String,
    output: DataType,
    initialize: Py<PyAny>,
    update: Py<PyAny>,
    merge: Option<Py<PyAny>>,
    retract: Option<Py<PyAny>>,
    evaluate: Option<Py<PyAny>>,
    copier: Copier,
}

impl AggregateMethods {
    fn new(function: &Bound<'_, PyAny>, output: DataType) -> PyResult<Self> {
        let instance = function.getattr("instance")?;
        let method = |name: &str| instance.getattr_opt(name).map(|method| method.map(Bound::unbind));
        Ok(Self {
            name: function.getattr("name")?.extract()?,
            initialize: instance.getattr("initialize")?.unbind(),
            update: instance.getattr("update")?.unbind(),
            merge: method("merge")?,
            retract: method("retract")?,
            evaluate: method("evaluate")?,
            copier: Copier::new(function)?,
            function: function.clone().unbind(),
            output,
        })
    }

    fn failed(&self, py: Python<'_>, method: &str, error: PyErr) -> Error {
        failed(py, &format!("{}.{method}()", self.name), error)
    }

    fn not_copied(&self, py: Python<'_>, error: PyErr) -> Error {
        failed(py, &format!("{}: windrow copies states that two rows share, and copy.deepcopy", self.name), error)
    }

    /// The state, to be passed to a method that may change it: a copy if it is shared.
    fn take<'py>(&self, py: Python<'py>, state: &mut UserState) -> PyResult<Bound<'py, PyAny>> {
        if let Some(held) = Arc::get_mut(state).and_then(|state| state.downcast_mut::<Py<PyAny>>()) {
            return Ok(std::mem::replace(held, py.None()).into_bound(py));
        }
        self.copier.copy(object(state)?.bind(py))
    }

    /// Checks the result `made` of a method that was given the state `given`.
    fn check_state(&self, method: &str, given: &Bound<'_, PyAny>, made: &Bound<'_, PyAny>) -> PyResult<()> {
        // A method that changes its state in place and returns nothing would lose it silently.
        if made.is_none() && !given.is_none() && !self.copier.is_constant(given)? {
            let user = given.py().import("windrow.exceptions")?.getattr("UserError")?;
            let class = given.get_type().name()?;
            let message = format!("{}.{method}() returned None and not its state, a {class}: return it", self.name);
            return Err(PyErr::from_value(user.call1((message,))?));
        }
        Ok(())
    }
}

/// Stores the result of a method as the state.
fn store_state(state: &mut UserState, made: Bound<'_, PyAny>) {
    match Arc::get_mut(state).and_then(|state| state.downcast_mut::<Py<PyAny>>()) {
        Some(held) => *held = made.unbind(),
        None => *state = Arc::new(made.unbind()),
    }
}

fn object(state: &UserState) -> PyResult<&Py<PyAny>> {
    state.downcast_ref().ok_or_else(|| PyException::new_err("the state is none of Python's"))
}

#[derive(Debug)]
struct PyAggregate(Arc<AggregateMethods>);

impl UserAggregate for PyAggregate {
    fn output(&self) -> &DataType {
        &self.0.output
    }

    fn merges(&self) -> bool {
        self.0.merge.is_some()
    }

    fn retracts(&self) -> bool {
        self.0.retract.is_some()
    }

    fn bind(&self, args: &[ArrayRef]) -> Result<Box<dyn BoundAggregate>> {
        let methods = self.0.clone();
        Python::attach(|py| {
            let initial =
                methods.initialize.bind(py).call0().map_err(|error| methods.failed(py, "initialize", error))?;
            // The user's code may keep the object it returned, so states begin as copies.
            let initial = methods.copier.copy(&initial).map_err(|error| methods.not_copied(py, error))?;
            let values = args.iter().map(|array| {
                let values = methods.function.bind(py).call_method1("values", (to_pyarrow(py, array)?,))?;
                Ok((values.cast_into::<PyList>()?.unbind(), array.data_type().is_nested()))
            });
            let values = values.collect::<PyResult<_>>().map_err(|error| failed(py, "reading the values", error))?;
            Ok(Box::new(PyBound {
                initial: Arc::new(initial.unbind()),
                values,
                calls: AtomicUsize::new(0),
                began: Instant::now(),
                paused: AtomicU64::new(0),
                methods,
            }) as _)
        })
    }

    fn within(&self, work: &mut dyn FnMut()) {
        Python::attach(|_| work());
    }
}

/// The interval at which other threads may run. A waiting thread requests the GIL after 5 ms: if it were released
/// sooner, it would be taken back each time before that thread wakes up.
const PAUSE_MILLIS: u64 = 10;

/// A user-defined aggregate bound to the columns of a section.
struct PyBound {
    methods: Arc<AggregateMethods>,
    initial: UserState,
    /// For each argument its values as a list, and whether they are mutable.
    values: Vec<(Py<PyList>, bool)>,
    calls: AtomicUsize,
    began: Instant,
    /// When other threads were last allowed to run, in milliseconds since `began`.
    paused: AtomicU64,
}

impl PyBound {
    /// Calls `method` with the state and the values of each of `rows`.
    fn each(&self, name: &str, method: &Py<PyAny>, state: &mut UserState, rows: Range<usize>) -> Result<()> {
        Python::attach(|py| {
            self.answer_others(py, rows.len())?;
            let methods = &self.methods;
            let method = method.bind(py);
            let mut now = methods.take(py, state).map_err(|error| methods.not_copied(py, error))?;
            for row in rows {
                let made = match self.values.as_slice() {
                    [(values, false)] => values.bind(py).get_item(row).and_then(|value| method.call1((&now, value))),
                    _ => self.arguments(py, &now, row).and_then(|arguments| method.call1(arguments)),
                };
                let made = made.and_then(|made| methods.check_state(name, &now, &made).map(|()| made));
                now = made.map_err(|error| methods.failed(py, name, error))?;
            }
            store_state(state, now);
            Ok(())
        })
    }

    fn arguments<'py>(&self, py: Python<'py>, state: &Bound<'py, PyAny>, row: usize) -> PyResult<Bound<'py, PyTuple>> {
        let mut arguments = Vec::with_capacity(self.values.len() + 1);
        arguments.push(state.clone());
        for (values, nested) in &self.values {
            let value = values.bind(py).get_item(row)?;
            arguments.push(if *nested { self.methods.copier.copy(&value)? } else { value });
        }
        PyTuple::new(py, arguments)
    }

    /// Handles signals and lets other threads run, at intervals.
    fn answer_others(&self, py: Python<'_>, calls: usize) -> Result<()> {
        if self.calls.fetch_add(calls, Ordering::Relaxed) + calls > CALLS_PER_CHECK {
            self.calls.store(0, Ordering::Relaxed);
            let now = self.began.elapsed().as_millis() as u64;
            if now < self.paused.load(Ordering::Relaxed) + PAUSE_MILLIS {
                return Ok(());
            }
            self.paused.store(now, Ordering::Relaxed);
            py.detach(|| {});
            py.check_signals().map_err(|error| failed(py, "a signal's handler", error))?;
        }
        Ok(())
    }

    fn missing(&self, method: &str) -> Error {
        Error::internal(format!("{} has no {method}, and the plan asks for it", self.methods.name))
    }
}

impl BoundAggregate for PyBound {
    fn initial(&self) -> UserState {
        self.initial.clone()
    }

    fn update(&self, state: &mut UserState, rows: Range<usize>) -> Result<()> {
        self.each("update", &self.methods.update, state, rows)
    }

    fn merge(&self, left: &mut UserState, right: &UserState) -> Result<()> {
        let methods = &self.methods;
        let merge = methods.merge.as_ref().ok_or_else(|| self.missing("merge"))?;
        Python::attach(|py| {
            self.answer_others(py, 1)?;
            let copied = |error| methods.not_copied(py, error);
            let given = methods.take(py, left).map_err(copied)?;
            // `right` remains in use, so the method gets a copy that it may keep or change.
            let right = object(right).and_then(|right| methods.copier.copy(right.bind(py))).map_err(copied)?;
            let made = merge.bind(py).call1((&given, right));
            let made = made.and_then(|made| methods.check_state("merge", &given, &made).map(|()| made));
            store_state(left, made.map_err(|error| methods.failed(py, "merge", error))?);
            Ok(())
        })
    }

    fn retract(&self, state: &mut UserState, rows: Range<usize>) -> Result<()> {
        let retract = self.methods.retract.as_ref().ok_or_else(|| self.missing("retract"))?;
        self.each("retract", retract, state, rows)
    }

    fn results(&self, capacity: usize) -> Box<dyn UserResults> {
        let pending = Vec::with_capacity(capacity.min(RESULTS_PER_BATCH));
        Box::new(PyResults { methods: self.methods.clone(), pending, done: Vec::new() })
    }

    fn save(&self, state: &UserState) -> Result<Vec<u8>> {
        Python::attach(|py| {
            let bytes = || {
                let bytes = self.methods.function.bind(py).call_method1("dumps", (object(state)?,))?;
                Ok(bytes.cast_into::<PyBytes>()?.as_bytes().to_vec())
            };
            bytes().map_err(|error| failed(py, "pickling the state", error))
        })
    }

    fn load(&self, bytes: &[u8]) -> Result<UserState> {
        Python::attach(|py| {
            let state = self.methods.function.bind(py).call_method1("loads", (PyBytes::new(py, bytes),));
            let state = state.map_err(|error| failed(py, "unpickling the state", error))?;
            Ok(Arc::new(state.unbind()) as UserState)
        })
    }
}

/// Results that are being converted to Arrow.
struct PyResults {
    methods: Arc<AggregateMethods>,
    pending: Vec<Py<PyAny>>,
    done: Vec<ArrayRef>,
}

impl PyResults {
    fn convert(&mut self, py: Python<'_>) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let array = PyList::new(py, pending)
            .and_then(|results| self.methods.function.bind(py).call_method1("convert", (results,)))
            .and_then(|array| from_pyarrow(&array));
        self.done.push(array.map_err(|error| failed(py, "reading the results", error))?);
        Ok(())
    }
}

impl UserResults for PyResults {
    fn push(&mut self, state: &UserState) -> Result<()> {
        Python::attach(|py| {
            let methods = &self.methods;
            let value = object(state).and_then(|state| match &methods.evaluate {
                Some(evaluate) => evaluate.bind(py).call1((state,)),
                None => Ok(state.bind(py).clone()),
            });
            // The result may be the state or a part of it, which will change later.
            let value = value.and_then(|value| methods.copier.copy(&value));
            self.pending.push(value.map_err(|error| methods.failed(py, "evaluate", error))?.unbind());
            if self.pending.len() == RESULTS_PER_BATCH { self.convert(py) } else { Ok(()) }
        })
    }

    fn finish(mut self: Box<Self>) -> Result<ArrayRef> {
        Python::attach(|py| {
            if self.done.is_empty() || !self.pending.is_empty() {
                self.convert(py)?;
            }
            match self.done.as_slice() {
                [array] => Ok(array.clone()),
                arrays => Ok(concat(&arrays.iter().map(AsRef::as_ref).collect::<Vec<_>>())?),
            }
        })
    }
}

/// A user-defined function over columns.
#[derive(Debug)]
struct PyFunction {
    function: Py<PyAny>,
    output: DataType,
}

impl PyFunction {
    /// Calls the function through `windrow._execute.user_functions`, with `args` and two further arguments.
    fn call<'py>(
        &self,
        py: Python<'py>,
        args: &[ArrayRef],
        more: impl FnOnce() -> PyResult<[Bound<'py, PyAny>; 2]>,
    ) -> Result<ArrayRef> {
        let call = || {
            let args = args.iter().map(|array| to_pyarrow(py, array)).collect::<PyResult<Vec<_>>>()?;
            let [begin, end] = more()?;
            from_pyarrow(&self.function.bind(py).call_method1(intern!(py, "answer"), (args, begin, end))?)
        };
        call().map_err(|error| failed(py, "the function", error))
    }
}

impl UserFrames for PyFunction {
    fn output(&self) -> &DataType {
        &self.output
    }

    fn evaluate(&self, args: &[ArrayRef], begin: Int64Array, end: Int64Array) -> Result<ArrayRef> {
        let (begin, end): (ArrayRef, ArrayRef) = (Arc::new(begin), Arc::new(end));
        Python::attach(|py| self.call(py, args, || Ok([to_pyarrow(py, &begin)?, to_pyarrow(py, &end)?])))
    }
}

impl UserPartitions for PyFunction {
    fn output(&self) -> &DataType {
        &self.output
    }

    fn evaluate(&self, args: &[ArrayRef], partitions: &[Range<usize>]) -> Result<ArrayRef> {
        Python::attach(|py| {
            let edges =
                |edge: fn(&Range<usize>) -> usize| PyList::new(py, partitions.iter().map(edge)).map(Bound::into_any);
            self.call(py, args, || Ok([edges(|run| run.start)?, edges(|run| run.end)?]))
        })
    }
}
