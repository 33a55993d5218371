//! Checks that string and binary columns are valid, which Arrow's C interface assumes.
//!
//! Offsets ascend, views lie within their buffers, strings are UTF-8. Contiguous text is checked as a whole: if it is
//! UTF-8, each value is too, provided that no offset splits a character.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, GenericBinaryArray, LargeBinaryArray, OffsetSizeTrait,
};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use pyo3_arrow::error::PyArrowResult;

use crate::error::raise;

/// A fault: the row (`None` if only null values are affected), and what is wrong.
type Fault = (Option<usize>, &'static str);

const OFFSETS: &str = "its offsets go back";
const VIEW: &str = "its view lies outside of the buffers";
const UTF8: &str = "its bytes are not UTF-8";

/// The maximum length of a value stored within the view.
const INLINE: u32 = 12;

/// The first invalid value of a binary column, if there is one; with `text`, values must be UTF-8.
///
/// The column's first and last offset must lie within its buffer.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over")]
pub(crate) fn broken_bytes(py: Python<'_>, column: PyArray, text: bool) -> PyResult<Option<Fault>> {
    let array = column.array();
    py.detach(|| match array.data_type() {
        DataType::Binary => Ok(offsets_fault(array.as_binary::<i32>(), text)),
        DataType::LargeBinary => Ok(offsets_fault(array.as_binary::<i64>(), text)),
        DataType::BinaryView => Ok(views_fault(array.as_binary_view(), text)),
        other => Err(other.clone()),
    })
    .map_err(|other| no_bytes(py, &other))
}

/// The same binary column with empty values where it is null.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over")]
pub(crate) fn without_hidden_bytes(py: Python<'_>, column: PyArray) -> PyArrowResult<PyArray> {
    let array = column.array();
    let made: ArrayRef = match array.data_type() {
        DataType::Binary => Arc::new(array.as_binary::<i32>().iter().collect::<BinaryArray>()),
        DataType::LargeBinary => Arc::new(array.as_binary::<i64>().iter().collect::<LargeBinaryArray>()),
        DataType::BinaryView => Arc::new(array.as_binary_view().iter().collect::<BinaryViewArray>()),
        other => return Err(no_bytes(py, other).into()),
    };
    let field = Field::new("", made.data_type().clone(), true);
    Ok(PyArray::try_new(made, Arc::new(field))?)
}

fn no_bytes(py: Python<'_>, found: &DataType) -> PyErr {
    raise(py, "InternalError", &format!("{found} is no column of bytes"))
}

fn offsets_fault<O: OffsetSizeTrait>(array: &GenericBinaryArray<O>, text: bool) -> Option<Fault> {
    if array.is_empty() {
        return None; // its only offset may be that of a slice whose bytes were not transferred
    }
    let offsets: &[O] = array.value_offsets();
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else { return None };
    // A pass without a branch; only if it finds a fault, a second one finds the row.
    if offsets.windows(2).filter(|pair| pair[1] < pair[0]).count() > 0 {
        return Some((offsets.windows(2).position(|pair| pair[1] < pair[0]), OFFSETS));
    }
    if !text {
        return None;
    }
    let bytes = &array.value_data()[first.as_usize()..last.as_usize()];
    if bytes.is_ascii() {
        return None;
    }
    let begins_character = |offset: &O| {
        let place = offset.as_usize() - first.as_usize();
        bytes.get(place).is_none_or(|&byte| !is_continuation(byte))
    };
    if simdutf8::basic::from_utf8(bytes).is_ok() && offsets.iter().all(begins_character) {
        return None;
    }
    let value = |row: usize| &array.value_data()[offsets[row].as_usize()..offsets[row + 1].as_usize()];
    first_fault(array, |row| (!is_utf8(value(row))).then_some(UTF8))
}

fn views_fault(array: &BinaryViewArray, text: bool) -> Option<Fault> {
    let (views, buffers) = (array.views(), array.data_buffers());
    // If whole buffers are ASCII, views into them need no check of their own.
    let shown = views.iter().map(|&view| view as u32 as usize).sum::<usize>();
    let ascii = buffers.iter().map(Buffer::len).sum::<usize>() <= shown && buffers.iter().all(|b| b.is_ascii());
    let sound = |&view: &u128| {
        let text = text && !(ascii && view as u32 > INLINE);
        view_fault(view, buffers, text).is_none()
    };
    if views.iter().all(sound) {
        return None;
    }
    first_fault(array, |row| view_fault(views[row], buffers, text))
}

/// What is wrong with one view. The padding after a short value, which should be 0, is not checked, because nothing
/// reads it.
#[inline]
fn view_fault(view: u128, buffers: &[Buffer], text: bool) -> Option<&'static str> {
    let length = view as u32;
    if length <= INLINE {
        let shown = view >> 32;
        let ascii = shown & 0x8080_8080_8080_8080_8080_8080 == 0;
        return (text && !ascii && !is_utf8(&shown.to_le_bytes()[..length as usize])).then_some(UTF8);
    }
    let (prefix, buffer, offset) = ((view >> 32) as u32, (view >> 64) as u32, (view >> 96) as u32);
    let range: Range<usize> = offset as usize..offset as usize + length as usize;
    // Arrow's numbers are signed; negative ones exceed all buffers when read as unsigned.
    let Some(bytes) = buffers.get(buffer as usize).and_then(|buffer| buffer.as_slice().get(range)) else {
        return Some(VIEW);
    };
    if bytes[..4] != prefix.to_le_bytes() {
        return Some("its view has another prefix than its bytes");
    }
    (text && !is_utf8(bytes)).then_some(UTF8)
}

/// The first fault of a non-null row, else a fault of a null row.
fn first_fault(array: &dyn Array, fault: impl Fn(usize) -> Option<&'static str>) -> Option<Fault> {
    let mut rows = 0..array.len();
    let mut shown = rows.clone().filter(|&row| array.is_valid(row));
    let first = shown.find_map(|row| Some((Some(row), fault(row)?)));
    first.or_else(|| rows.find_map(|row| Some((None, fault(row)?))))
}

#[inline]
fn is_utf8(bytes: &[u8]) -> bool {
    bytes.is_ascii() || simdutf8::basic::from_utf8(bytes).is_ok()
}

/// Whether a byte is a UTF-8 continuation byte.
#[inline]
fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}
