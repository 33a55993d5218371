//! Long computations without the GIL; Ctrl-C is handled, panics become exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use windrow::{Cancel, Error};

use crate::error::{raise, to_python};

/// Checks for signals while Rust works on the caller's thread, the only one on which Python handles them.
///
/// All computations begin on the caller's thread, and user code is called only there, so that it finds its thread-local
/// state (its context, a debugger, Spark's task).
pub(crate) struct Signals {
    /// Stops the work once a signal handler has raised an exception.
    pub(crate) cancel: Cancel,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Signals {
    pub(crate) fn new() -> Self {
        let raised = Arc::<Mutex<Option<PyErr>>>::default();
        let found = raised.clone();
        let cancel = Cancel::with_poll(move || {
            Python::attach(|py| {
                let Err(signal) = py.check_signals() else { return false };
                *found.lock().unwrap_or_else(PoisonError::into_inner) = Some(signal);
                true
            })
        });
        Self { cancel, raised }
    }

    /// Runs `work`, which `cancel` stops, without the GIL.
    ///
    /// # Errors
    /// The exception of a signal handler, or as for [`run_detached`].
    pub(crate) fn during<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> windrow::Result<T> + Send,
    ) -> PyResult<T> {
        let result = run_detached(py, work);
        match self.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(signal) => Err(signal),
            None => result,
        }
    }
}

/// Runs `work` without the GIL.
///
/// # Errors
/// The error of `work`, or `InternalError` for a panic.
pub(crate) fn run_detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> windrow::Result<T> + Send) -> PyResult<T> {
    match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(to_python(py, &error)),
        Err(panic) => Err(panicked(py, panic.as_ref())),
    }
}

fn panicked(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let message = panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into());
    let error = Error::internal(format!("windrow failed: {message}; please report it with the call that led here"));
    raise(py, "InternalError", error.message())
}
