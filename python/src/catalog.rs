//! The catalog for Python: functions and strategies.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use windrow::Strategy;
use windrow::catalog::{
    Argument, ArgumentOrder, Constant, Distinct, FUNCTIONS, Family, Function, OrderSensitivity, Presence, WithinGroup,
};

/// The functions of the catalog, one dict each.
#[pyfunction]
pub(crate) fn functions(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for function in FUNCTIONS {
        list.append(row(py, function)?)?;
    }
    Ok(list)
}

/// The strategies' names.
#[pyfunction]
pub(crate) fn strategies() -> Vec<&'static str> {
    Strategy::ALL.iter().map(|strategy| strategy.name()).collect()
}

fn row<'py>(py: Python<'py>, function: &Function) -> PyResult<Bound<'py, PyDict>> {
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
    let (least, most) = function.argument_count();
    entry.set_item("min_arguments", least)?;
    entry.set_item("max_arguments", (most != usize::MAX).then_some(most))?;
    let arguments = function.arguments.iter().map(|each| argument(py, each)).collect::<PyResult<Vec<_>>>()?;
    entry.set_item("arguments", arguments)?;
    entry.set_item("star", function.star)?;
    entry.set_item("frames", function.takes_frame(false))?;
    entry.set_item("filter", function.filter)?;
    entry.set_item("ignore_nulls", function.takes_ignore_nulls())?;
    entry.set_item("ignore_nulls_index", function.ignore_nulls_index())?;
    entry.set_item("distinct", function.distinct != Distinct::Refused)?;
    entry.set_item("argument_order", function.argument_order != ArgumentOrder::Refused)?;
    let within_group = match function.within_group {
        WithinGroup::Refused => None,
        WithinGroup::Key => Some("key"),
        WithinGroup::Rows => Some("rows"),
    };
    entry.set_item("within_group", within_group)?;
    entry.set_item("keeps_type", function.keeps_type)?;
    let sensitivity = match function.order_sensitivity {
        OrderSensitivity::Rows => "rows",
        OrderSensitivity::Peers => "peers",
        OrderSensitivity::Values => "values",
        OrderSensitivity::Rounding => "rounding",
        OrderSensitivity::EqualValues => "equal_values",
        OrderSensitivity::None => "none",
    };
    entry.set_item("order_sensitivity", sensitivity)?;
    entry.set_item("doc", function.doc)?;
    Ok(entry)
}

fn argument<'py>(py: Python<'py>, argument: &Argument) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", argument.name)?;
    entry.set_item("role", argument.role.name())?;
    entry.set_item("setting", argument.role.is_setting())?;
    entry.set_item("required", argument.presence == Presence::Required)?;
    entry.set_item("repeated", argument.presence == Presence::Repeated)?;
    if let Presence::Default(constant) = argument.presence {
        let value = match constant {
            Constant::Null => py.None().into_bound(py),
            Constant::Boolean(value) => value.into_bound_py_any(py)?,
            Constant::Int(value) => value.into_bound_py_any(py)?,
            Constant::Float(value) => value.into_bound_py_any(py)?,
        };
        entry.set_item("default", value)?;
    }
    Ok(entry)
}
