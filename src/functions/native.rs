//! Columns as native values, and loops over their counted values.
//!
//! Functions are compiled for six native types. A logical type (date, timestamp, decimal, ...) is relabelled to its
//! native type without copying, a narrower number is widened once, and results are relabelled at the end.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, make_array};
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::DataType;

use crate::error::{Error, Result};
use crate::model::group_ids::RowGroups;
use crate::model::physical_type::PhysicalType;
use crate::model::row_mask::RowMask;
use crate::sort::key_order::normalise;
use crate::util::bitmap::{WORD_BITS, word};
use crate::util::data_types::children;

/// Whether an array of `from` can be relabelled as `to`: the same native type in the same bytes.
fn same_layout(from: &DataType, to: &DataType) -> bool {
    PhysicalType::of(from).is_some()
        && PhysicalType::of(from) == PhysicalType::of(to)
        && from.primitive_width() == to.primitive_width()
}

/// `array` as values of `T`: relabelled if the layouts agree, else cast.
pub(crate) fn to_primitive<T: ArrowPrimitiveType>(array: &dyn Array) -> Result<PrimitiveArray<T>> {
    let array = with_type(array, &T::DATA_TYPE)?;
    array
        .as_primitive_opt::<T>()
        .cloned()
        .ok_or_else(|| Error::internal(format!("{} values asked of a {} column", T::DATA_TYPE, array.data_type())))
}

/// `array` in the type `to`: relabelled if the layouts agree, else cast.
pub(crate) fn with_type(array: &dyn Array, to: &DataType) -> Result<ArrayRef> {
    if array.data_type() == to {
        return Ok(array.slice(0, array.len()));
    }
    if same_layout(array.data_type(), to) {
        return Ok(make_array(array.to_data().into_builder().data_type(to.clone()).build()?));
    }
    Ok(cast_with_options(array, to, &CastOptions { safe: false, ..CastOptions::default() })?)
}

/// `array` with -0.0 replaced by 0.0 and every NaN by a single one, so that equal values have equal bits.
pub(crate) fn canonical(array: &ArrayRef) -> Result<ArrayRef> {
    if !has_floats(array.data_type()) {
        return Ok(array.clone());
    }
    let canonical = normalise(array)?;
    if canonical.data_type() == array.data_type() { Ok(canonical) } else { Ok(cast(&canonical, array.data_type())?) }
}

fn has_floats(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => true,
        // They have no normal form.
        DataType::Map(..) | DataType::Union(..) => false,
        _ => children(data_type).into_iter().any(has_floats),
    }
}

/// Calls `f` with the value of each counted row of `rows`, in row order.
///
/// Without a mask the loop runs over a slice, so that LLVM removes the bounds checks.
#[inline]
pub(crate) fn for_each_value<N: Copy>(values: &[N], inclusion: &RowMask, rows: Range<usize>, mut f: impl FnMut(N)) {
    match inclusion {
        RowMask::All => values[rows].iter().for_each(|&value| f(value)),
        RowMask::Mask(_) => inclusion.for_each(rows, |row| f(values[row])),
    }
}

/// Calls `f` with the value of each of `rows` and whether it is counted, in row order: for steps without a branch.
#[inline]
pub(crate) fn for_each_slot<N: Copy>(
    values: &[N],
    inclusion: &RowMask,
    rows: Range<usize>,
    mut f: impl FnMut(N, bool),
) {
    match inclusion {
        RowMask::All => values[rows].iter().for_each(|&value| f(value, true)),
        RowMask::Mask(bits) => {
            let first = rows.start;
            for (number, values) in values[rows].chunks(WORD_BITS).enumerate() {
                let word = word(bits, first + WORD_BITS * number);
                // Only for whole words: whether a shorter piece is without NULLs is unpredictable.
                if word == u64::MAX && values.len() == WORD_BITS {
                    for &value in values {
                        f(value, true);
                    }
                } else {
                    for (at, &value) in values.iter().enumerate() {
                        f(value, (word >> at) & 1 != 0);
                    }
                }
            }
        }
    }
}

/// Writes to `out`, one element per slot, the state after each slot: `f` of the slot and of the state before, `state`
/// for the first. Returns the last state.
#[inline]
pub(crate) fn scan_slots<N: Copy, T: Copy>(
    values: &[N],
    inclusion: &RowMask,
    rows: Range<usize>,
    mut state: T,
    out: &mut [T],
    mut f: impl FnMut(T, N, bool) -> T,
) -> T {
    match inclusion {
        RowMask::All => {
            for (&value, out) in values[rows].iter().zip(out) {
                state = f(state, value, true);
                *out = state;
            }
        }
        RowMask::Mask(bits) => {
            let words = rows.clone().step_by(WORD_BITS).map(|at| word(bits, at));
            for ((values, out), word) in values[rows].chunks(WORD_BITS).zip(out.chunks_mut(WORD_BITS)).zip(words) {
                for ((at, &value), out) in values.iter().enumerate().zip(out) {
                    state = f(state, value, (word >> at) & 1 != 0);
                    *out = state;
                }
            }
        }
    }
    state
}

/// As [`scan_slots`], from the last slot to the first; each state is written at its slot's index.
#[inline]
pub(crate) fn scan_slots_back<N: Copy, T: Copy>(
    values: &[N],
    inclusion: &RowMask,
    rows: Range<usize>,
    mut state: T,
    out: &mut [T],
    mut f: impl FnMut(T, N, bool) -> T,
) -> T {
    match inclusion {
        RowMask::All => {
            for (&value, out) in values[rows].iter().zip(out).rev() {
                state = f(state, value, true);
                *out = state;
            }
        }
        RowMask::Mask(bits) => {
            let words = rows.clone().step_by(WORD_BITS).map(|at| word(bits, at));
            for ((values, out), word) in values[rows].chunks(WORD_BITS).zip(out.chunks_mut(WORD_BITS)).zip(words).rev()
            {
                for ((at, &value), out) in values.iter().enumerate().zip(out).rev() {
                    state = f(state, value, (word >> at) & 1 != 0);
                    *out = state;
                }
            }
        }
    }
    state
}

/// As [`for_each_slot`], for one row.
#[inline]
pub(crate) fn visit_slot<N: Copy>(values: &[N], inclusion: &RowMask, row: usize, f: impl FnOnce(N, bool)) {
    f(values[row], inclusion.includes(row));
}

/// As [`for_each_slot`], with the group of each row.
#[inline(always)]
pub(crate) fn for_each_grouped_slot<N: Copy>(
    values: &[N],
    inclusion: &RowMask,
    groups: &RowGroups,
    rows: Range<usize>,
    mut f: impl FnMut(usize, N, bool),
) {
    match inclusion {
        RowMask::All => groups.for_each_row(rows, |group, row| f(group, values[row], true)),
        RowMask::Mask(bits) => groups.for_each_row(rows, |group, row| f(group, values[row], bits.value(row))),
    }
}

/// `value` if it is present, else `other`; without a branch.
///
/// By bits, since a masked value may be NaN. In two halves of 32 bits, since compilers see through a single mask, and
/// select floats by a branch on x86-64 without AVX-512 (`benches/kernels.rs`).
#[inline]
pub(crate) fn select_present(value: f64, other: f64, present: bool) -> f64 {
    let out = u32::from(!present) * 32;
    f64::from_bits(other.to_bits() ^ ((value.to_bits() ^ other.to_bits()) << out << out))
}

/// `value` if all bits of `keep` are set, 0.0 if none is; without a branch, as long as compilers do not see how the
/// bits were computed.
#[inline(always)]
pub(crate) fn masked(value: f64, keep: u64) -> f64 {
    f64::from_bits(value.to_bits() & keep)
}

/// The number of counted rows of `rows`.
///
/// A single row is the common step of a scan; counting words would cost more.
#[inline]
pub(crate) fn count_rows(inclusion: &RowMask, rows: Range<usize>) -> u64 {
    if rows.len() == 1 { u64::from(inclusion.includes(rows.start)) } else { inclusion.count(rows) as u64 }
}
