//! Errors and panics as Python exceptions.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyType;
use windrow::{Error, ErrorKind, Remedy};

use crate::udf;

/// The exception class of `windrow.exceptions` for a kind of error.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Spec => "SpecError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::Overflow => "ArithmeticOverflowError",
        ErrorKind::Order => "OrderError",
        ErrorKind::Data => "DataError",
        ErrorKind::User => "UserError",
        ErrorKind::MemoryLimit => "MemoryLimitError",
        ErrorKind::Spill => "SpillError",
        _ => "InternalError",
    }
}

/// The Python setting that avoids an error, for messages.
fn in_python(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::AnsiOff => "set ansi=False",
        Remedy::SortInput => "ask for the input to be sorted (sort=True)",
        Remedy::MoreMemory => "give memory_limit more",
        Remedy::Spill => "set memory_limit, so that rows go by way of the disk",
        Remedy::SpillDirectory => "name another directory as spill_dir",
        Remedy::OneThread => "set threads=1",
        Remedy::Stream => "pass a RecordBatchReader",
        _ => "see the settings of wr.config",
    }
}

/// Converts `error` to an exception of its kind.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    if error.kind() == ErrorKind::Cancelled {
        return PyKeyboardInterrupt::new_err(());
    }
    let cause = udf::cause(py, error);
    if let Some(cause) = cause.as_ref().filter(|cause| udf::passes(py, cause)) {
        return cause.clone_ref(py);
    }
    let message = match error.remedy() {
        Some(remedy) => format!("{}, or {}", error.message(), in_python(remedy)),
        None => error.message().to_owned(),
    };
    let raised = raise(py, class(error.kind()), &message);
    if cause.is_some() {
        raised.set_cause(py, cause);
    }
    raised
}

/// An exception of the given class name with this message.
pub(crate) fn raise(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let class = py.import("windrow.exceptions").and_then(|module| Ok(module.getattr(class)?.cast_into::<PyType>()?));
    match class {
        Ok(class) => PyErr::from_type(class, (message.to_owned(),)),
        Err(error) => error,
    }
}
