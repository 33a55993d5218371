//! Rows in a new order.
//!
//! ```text
//!   order     2 0 1            out[i] = in[order[i]]     a b c -> c a b
//! ```
//!
//! Cost: a random read per row and column, about 1 ns while the column fits the cache and 5 to 15 ns beyond; on several
//! threads each works on its share of the rows. Columns beyond the caches go by a route (`decluster.rs`) where it pays.
//! Text, bytes and nested columns go through arrow's take.

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
/// Text or bytes that outgrow their offsets; cancellation.
pub fn gather(columns: &[ArrayRef], order: &[u32], threads: usize, cancel: &Cancel) -> Result<Vec<ArrayRef>> {
    gather_on(columns, order, &Threads::new(threads, cancel).limited_to_rows(order.len()))
}

/// As [`gather`], on threads that may be there already.
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

/// A column of fixed width values in a new order; `None` for other columns.
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

/// Which rows of a column are null, in a new order; `None` if none of the column is.
pub(crate) fn gather_nulls(column: &dyn Array, order: &[u32], threads: &Threads) -> Result<Option<NullBuffer>> {
    let Some(nulls) = column.nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(None) };
    Ok(Some(NullBuffer::new(gather_bits(nulls.inner(), order, threads)?)))
}
