//! Errors and panics as Python's exceptions.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyType;
use windrow::{Error, ErrorKind};

use crate::udf;

/// The exception of `windrow.exceptions` for this kind of error.
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

/// `error` as an exception of its kind.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    if error.kind() == ErrorKind::Cancelled {
        return PyKeyboardInterrupt::new_err(());
    }
    let cause = udf::cause(py, error);
    if let Some(cause) = cause.as_ref().filter(|cause| udf::passes(py, cause)) {
        return cause.clone_ref(py);
    }
    let raised = raise(py, class(error.kind()), error.message());
    if cause.is_some() {
        raised.set_cause(py, cause);
    }
    raised
}

/// The exception of this name with this message.
pub(crate) fn raise(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let class = py.import("windrow.exceptions").and_then(|module| Ok(module.getattr(class)?.cast_into::<PyType>()?));
    match class {
        Ok(class) => PyErr::from_type(class, (message.to_owned(),)),
        Err(error) => error,
    }
}
