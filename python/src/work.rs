//! Long work beside Python: the GIL is released, Ctrl-C is answered, a panic is an exception.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::prelude::*;
use windrow::{Cancel, Error};

use crate::error::{raise, to_python};

/// How often signals are looked for while Rust works.
const SIGNALS: Duration = Duration::from_millis(50);

/// Runs `work` on a thread of its own and waits, looking for signals; `cancel` is what stops it.
///
/// With `here` it runs on the caller's thread: code of the user's that `work` calls finds what it left there (its
/// context, a debugger, Spark's task) and Python interrupts it itself.
///
/// # Errors
/// What `work` failed with, what a signal handler raised, or `InternalError` for a panic.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    cancel: &Cancel,
    here: bool,
    work: impl FnOnce() -> windrow::Result<T> + Send,
) -> PyResult<T> {
    if here {
        return guarded(py, work);
    }
    let (done, finished) = sync_channel::<()>(1);
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            let _ = done.send(());
            result
        });
        let mut interrupt = None;
        // Receivers cannot be shared with the closure below unless they move, and it runs more than once.
        let mut finished = Some(finished);
        while let Some(receiver) = finished.take() {
            let (receiver, waited) = py.detach(move || {
                let waited = receiver.recv_timeout(SIGNALS);
                (receiver, waited)
            });
            if !matches!(waited, Err(RecvTimeoutError::Timeout)) {
                break;
            }
            if interrupt.is_none()
                && let Err(signal) = py.check_signals()
            {
                cancel.cancel();
                interrupt = Some(signal);
            }
            finished = Some(receiver);
        }
        let result = py.detach(|| worker.join());
        match (interrupt, result) {
            (Some(signal), _) => Err(signal),
            (None, Ok(Ok(Ok(value)))) => Ok(value),
            (None, Ok(Ok(Err(error)))) => Err(to_python(py, &error)),
            (None, Ok(Err(panic)) | Err(panic)) => Err(panicked(py, panic.as_ref())),
        }
    })
}

/// Runs short `work` without the GIL; a panic is an exception.
///
/// # Errors
/// As for [`interruptible`], but for signals.
pub(crate) fn guarded<T: Send>(py: Python<'_>, work: impl FnOnce() -> windrow::Result<T> + Send) -> PyResult<T> {
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
