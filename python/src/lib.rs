//! The native module of the Python package: moves Arrow pointers and plain specs, holds no window logic.

mod bytes;
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
use pyo3::types::{PyDict, PyList};
use windrow::catalog::functions::{ArgumentOrder, Distinct, FUNCTIONS, Family};
use windrow_allocator::HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// The functions there are, one dict each.
#[pyfunction]
fn functions(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for function in FUNCTIONS {
        let entry = PyDict::new(py);
        entry.set_item("name", function.name)?;
        entry.set_item("aliases", function.aliases)?;
        let family = match function.family {
            Family::Aggregate => "aggregate",
            Family::Value => "value",
            Family::Offset => "offset",
            Family::Ranking => "ranking",
            Family::Running => "running",
        };
        entry.set_item("family", family)?;
        let (least, most) = function.arguments;
        entry.set_item("min_arguments", least)?;
        entry.set_item("max_arguments", (most != usize::MAX).then_some(most))?;
        entry.set_item("frames", function.takes_frame(false))?;
        entry.set_item("filter", function.takes_filter())?;
        entry.set_item("ignore_nulls", function.takes_ignore_nulls())?;
        entry.set_item("distinct", function.distinct() != Distinct::Refused)?;
        entry.set_item("argument_order", function.argument_order() != ArgumentOrder::Refused)?;
        entry.set_item("doc", function.doc)?;
        list.append(entry)?;
    }
    Ok(list)
}

/// How many threads the machine runs at once for this process.
#[pyfunction]
fn cores() -> usize {
    windrow::Threads::count(0)
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
    module.add_class::<sectioned::PyAround>()?;
    module.add_class::<sectioned::PySections>()?;
    module.add_class::<external_sort::PySorter>()?;
    module.add_class::<external_sort::PySpilled>()?;
    module.add_class::<stream::PyStream>()?;
    module.add_function(wrap_pyfunction!(bytes::broken_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(bytes::without_hidden_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(cores, module)?)?;
    module.add_function(wrap_pyfunction!(functions, module)?)?;
    module.add_function(wrap_pyfunction!(keep_at_most, module)?)?;
    module.add_function(wrap_pyfunction!(external_sort::numbered, module)?)?;
    Ok(())
}
