//! The native module of the Python package: moves Arrow pointers and plain specs, holds no window logic.

mod bytes;
mod catalog;
mod copy_state;
mod detached;
mod error;
mod external_sort;
mod from_python;
mod plan;
mod sectioned;
mod stream;
mod udf;

use pyo3::prelude::*;
use windrow::Options;
use windrow_allocator::HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// How many threads the machine runs at once for this process.
#[pyfunction]
fn cores() -> usize {
    Options::default().thread_count()
}

/// Keeps no more than so many bytes of memory for the next allocations, from now on.
#[pyfunction]
fn keep_at_most(bytes: usize) {
    HugePages::keep_at_most(bytes);
}

#[pymodule(gil_used = false)]
fn _windrow(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<plan::PyPlan>()?;
    module.add_class::<sectioned::PyNeighbourhood>()?;
    module.add_class::<sectioned::PySections>()?;
    module.add_class::<external_sort::PySorter>()?;
    module.add_class::<external_sort::PySpilled>()?;
    module.add_class::<stream::PyStream>()?;
    module.add_function(wrap_pyfunction!(bytes::broken_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::without_hidden_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(cores, module)?)?;
    module.add_function(wrap_pyfunction!(catalog::functions, module)?)?;
    module.add_function(wrap_pyfunction!(catalog::strategies, module)?)?;
    module.add_function(wrap_pyfunction!(keep_at_most, module)?)?;
    module.add_function(wrap_pyfunction!(external_sort::numbered, module)?)?;
    Ok(())
}
