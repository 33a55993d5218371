//! Gathers rows in a new order.
//!
//! ```text
//!   order     2 0 1            out[i] = in[order[i]]     a b c -> c a b
//! ```
//!
//! Cost: a random read per row and column; each thread gathers a share of the rows. Columns that exceed the caches are
//! read by a `DeclusterPlan` where that pays (`decluster.rs`). Strings, binary and nested columns are gathered by
//! Arrow's `take`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, UInt32Array, downcast_primitive};
use arrow_buffer::NullBuffer;
use arrow_select::take::take;

use super::gather_bits::gather_bits;
use crate::error::Result;
use crate::util::cancel::Cancel;
use crate::util::parallel_fill::fill_chunks;
use crate::util::reserve;
use crate::util::threads::Threads;

/// Each column with its rows in the order of the row numbers `order`.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{Array, ArrayRef, StringArray};
/// # use windrow::internals::gather;
/// # use windrow::internals::restore;
/// let column: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
/// let sorted = gather(&[column.clone()], &[2, 0, 1], 1, &Default::default())?;
/// assert_eq!(sorted[0].as_ref(), &StringArray::from(vec!["c", "a", "b"]));
/// assert_eq!(&restore(&sorted[0], &[2, 0, 1])?, &column);
/// # Ok::<(), windrow::Error>(())
/// ```
///
/// # Errors
/// Strings or binary values that exceed their offsets; cancellation.
pub fn gather(columns: &[ArrayRef], order: &[u32], threads: usize, cancel: &Cancel) -> Result<Vec<ArrayRef>> {
    gather_on(columns, order, &Threads::new(threads, cancel).limited_to_rows(order.len()))
}

/// As [`gather`], on given threads.
pub(crate) fn gather_on(columns: &[ArrayRef], order: &[u32], threads: &Threads) -> Result<Vec<ArrayRef>> {
    let mut gathered = Vec::with_capacity(columns.len());
    let mut others = Vec::new();
    for column in columns {
        threads.cancel().check()?;
        let fixed = gather_fixed(column, order, threads)?;
        if fixed.is_none() {
            others.push((gathered.len(), column));
        }
        gathered.push(fixed.unwrap_or_else(|| column.slice(0, 0)));
    }
    if !others.is_empty() {
        let indices = UInt32Array::from(reserve::collect(order.iter().copied())?);
        others.iter().try_for_each(|(_, column)| reserve::probe_rows(column, order.len()))?;
        let taken = threads.map(others, |(place, column)| {
            threads.cancel().check()?;
            Ok((place, take(column.as_ref(), &indices, None)?))
        })?;
        for (place, column) in taken {
            gathered[place] = column;
        }
    }
    Ok(gathered)
}

/// Gathers a column of fixed width; `None` for other columns.
fn gather_fixed(column: &ArrayRef, order: &[u32], threads: &Threads) -> Result<Option<ArrayRef>> {
    macro_rules! gather {
        ($type:ty) => {
            gather_primitive(column.as_primitive::<$type>(), order, threads).map(Some)
        };
    }
    downcast_primitive! {
        column.data_type() => (gather),
        _ => Ok(None),
    }
}

fn gather_primitive<T: ArrowPrimitiveType>(
    column: &PrimitiveArray<T>,
    order: &[u32],
    threads: &Threads,
) -> Result<ArrayRef> {
    let values = &column.values()[..];
    let share = threads.chunk_rows(order.len());
    let gathered = fill_chunks(order.len(), share, threads, |number, gathered| {
        let end = order.len().min((number + 1) * share);
        gathered.append(&order[number * share..end], |&row| values[row as usize]);
        Ok(())
    })?;
    let gathered = PrimitiveArray::<T>::new(gathered.into(), gather_nulls(column, order, threads)?);
    Ok(Arc::new(gathered.with_data_type(column.data_type().clone())))
}

/// Gathers a column's null buffer; `None` if the column has no null.
pub(crate) fn gather_nulls(column: &dyn Array, order: &[u32], threads: &Threads) -> Result<Option<NullBuffer>> {
    let Some(nulls) = column.nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(None) };
    Ok(Some(NullBuffer::new(gather_bits(nulls.inner(), order, threads)?)))
}
