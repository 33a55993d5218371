//! The native module of the Python package. It passes Arrow data and plain specifications, and has no window logic of
//! its own.

mod append;
mod bytes;
mod catalog;
mod copy_state;
mod detached;
mod error;
mod external_sort;
mod from_python;
mod hash_partitions;
mod list_offsets;
mod plan;
mod sectioned;
mod stream;
mod udf;

use pyo3::prelude::*;
use windrow::Options;
use windrow_allocator::HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// The number of processors available to the process.
#[pyfunction]
fn cores() -> usize {
    Options::default().thread_count()
}

/// Limits the memory that the allocator keeps for later allocations to `bytes`.
#[pyfunction]
fn keep_at_most(bytes: usize) {
    HugePages::keep_at_most(bytes);
}

#[pymodule(gil_used = false)]
fn _windrow(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<append::PyAppender>()?;
    module.add_class::<plan::PyPlan>()?;
    module.add_class::<sectioned::PyNeighbourhood>()?;
    module.add_class::<sectioned::PySections>()?;
    module.add_class::<external_sort::PySorter>()?;
    module.add_class::<external_sort::PySpilled>()?;
    module.add_class::<hash_partitions::PyHashPartitions>()?;
    module.add_class::<stream::PyStream>()?;
    module.add_function(wrap_pyfunction!(bytes::broken_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::without_hidden_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(cores, module)?)?;
    module.add_function(wrap_pyfunction!(catalog::functions, module)?)?;
    module.add_function(wrap_pyfunction!(catalog::strategies, module)?)?;
    module.add_function(wrap_pyfunction!(keep_at_most, module)?)?;
    module.add_function(wrap_pyfunction!(external_sort::row_numbers, module)?)?;
    Ok(())
}
