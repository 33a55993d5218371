//! Gives Python states and values the semantics of values: they are copied before they may be changed.
//!
//! Immutable objects are never copied. Lists, dicts, sets and plain objects of immutable items are copied here, which
//! is fast; everything else by `copy.deepcopy`, which is general and slow.

use pyo3::PyTypeInfo;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple, PyType,
};

/// Copies Python objects.
#[derive(Debug)]
pub(crate) struct Copier {
    deepcopy: Py<PyAny>,
    /// Immutable types, in addition to the built-in ones that are checked first.
    constant: Py<PyFrozenSet>,
    /// Types whose `copy()` suffices if their items are immutable.
    shallow: Py<PyFrozenSet>,
    /// `windrow._execute.user_functions.attributes`: the attributes of a class's instances.
    attributes: Py<PyAny>,
    /// Its results for the classes seen so far.
    layouts: Py<PyDict>,
}

impl Copier {
    /// A copier for the types in `function.constant` and `function.shallow`.
    pub(crate) fn new(function: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = function.py();
        let types = |name: &str| -> PyResult<Py<PyFrozenSet>> {
            Ok(function.getattr(name)?.cast_into::<PyFrozenSet>()?.unbind())
        };
        Ok(Self {
            deepcopy: py.import("copy")?.getattr("deepcopy")?.unbind(),
            constant: types("constant")?,
            shallow: types("shallow")?,
            attributes: function.getattr("attributes")?.unbind(),
            layouts: PyDict::new(py).unbind(),
        })
    }

    /// An equal object that is independent of changes to `value`, and vice versa.
    pub(crate) fn copy<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if self.is_constant(value)? {
            return Ok(value.clone());
        }
        let mut seen = Vec::new();
        match self.quick(value, &mut seen)? {
            Some(copy) => Ok(copy),
            None => self.deepcopy.bind(value.py()).call1((value,)),
        }
    }

    /// Whether the value is immutable: numbers, strings, timestamps, and tuples of these.
    pub(crate) fn is_constant(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let plain = value.is_none()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyBool>()
            || value.is_exact_instance_of::<PyBytes>()
            || value.is_exact_instance_of::<PyComplex>();
        if plain {
            return Ok(true);
        }
        if let Ok(items) = value.cast::<PyTuple>() {
            // A subclass may have attributes besides its items; a named tuple has none.
            if !value.is_exact_instance_of::<PyTuple>() && holds_more(&value.get_type())? {
                return Ok(false);
            }
            return all(items.iter().map(|item| self.is_constant(&item)));
        }
        if let Ok(items) = value.cast_exact::<PyFrozenSet>() {
            return all(items.iter().map(|item| self.is_constant(&item)));
        }
        self.constant.bind(value.py()).contains(value.get_type())
    }

    /// A copy of a container; `None` if an object occurs twice in it or has a type not handled here.
    fn quick<'py>(&self, value: &Bound<'py, PyAny>, seen: &mut Vec<usize>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = value.py();
        // Deep structures, and those with shared objects, are left to deepcopy, which preserves sharing.
        let id = value.as_ptr() as usize;
        if seen.contains(&id) || seen.len() == 64 {
            return Ok(None);
        }
        seen.push(id);
        if let Ok(list) = value.cast_exact::<PyList>() {
            let copy = list.get_slice(0, list.len());
            for (index, item) in list.iter().enumerate() {
                if !self.is_constant(&item)? {
                    let Some(item) = self.quick(&item, seen)? else { return Ok(None) };
                    copy.set_item(index, item)?;
                }
            }
            return Ok(Some(copy.into_any()));
        }
        if let Ok(dict) = value.cast_exact::<PyDict>() {
            let copy = dict.copy()?;
            for (key, item) in dict.iter() {
                if !self.is_constant(&key)? {
                    return Ok(None);
                }
                if !self.is_constant(&item)? {
                    let Some(item) = self.quick(&item, seen)? else { return Ok(None) };
                    copy.set_item(key, item)?;
                }
            }
            return Ok(Some(copy.into_any()));
        }
        if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            let mut items = Vec::with_capacity(tuple.len());
            for item in tuple.iter() {
                if self.is_constant(&item)? {
                    items.push(item);
                } else {
                    let Some(item) = self.quick(&item, seen)? else { return Ok(None) };
                    items.push(item);
                }
            }
            return Ok(Some(PyTuple::new(py, items)?.into_any()));
        }
        if value.is_exact_instance_of::<PySet>() || self.shallow.bind(py).contains(value.get_type())? {
            for item in value.try_iter()? {
                let item = item?;
                let held = match value.cast::<PyDict>() {
                    Ok(dict) => dict.get_item(&item)?,
                    Err(_) => None,
                };
                if !self.is_constant(&item)? || !held.map_or(Ok(true), |held| self.is_constant(&held))? {
                    return Ok(None);
                }
            }
            return value.call_method0(intern!(py, "copy")).map(Some);
        }
        self.quick_object(value, seen)
    }

    /// A copy of an object that consists of its attributes only.
    fn quick_object<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        seen: &mut Vec<usize>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = value.py();
        let class = value.get_type();
        let layouts = self.layouts.bind(py);
        let layout = if let Some(layout) = layouts.get_item(&class)? {
            layout
        } else {
            let layout = self.attributes.bind(py).call1((&class,))?;
            layouts.set_item(&class, &layout)?;
            layout
        };
        let Ok(layout) = layout.cast::<PyTuple>() else { return Ok(None) };
        let object = PyAny::type_object(py);
        let copy = object.call_method1(intern!(py, "__new__"), (&class,))?;
        for name in layout.iter() {
            let name = name.cast_into::<PyString>()?;
            // A slot may be unset.
            let Some(held) = value.getattr_opt(&name)? else { continue };
            let held = if self.is_constant(&held)? {
                held
            } else {
                let Some(held) = self.quick(&held, seen)? else { return Ok(None) };
                held
            };
            // The class may forbid setting attributes, as frozen dataclasses do.
            object.call_method1(intern!(py, "__setattr__"), (&copy, name, held))?;
        }
        Ok(Some(copy))
    }
}

/// Whether a tuple subclass stores more than its items, or defines how it is copied.
fn holds_more(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    Ok(class.getattr(intern!(py, "__dictoffset__"))?.extract::<isize>()? != 0
        || class.hasattr(intern!(py, "__deepcopy__"))?)
}

fn all(mut answers: impl Iterator<Item = PyResult<bool>>) -> PyResult<bool> {
    answers.try_fold(true, |all, answer| Ok(all && answer?))
}
