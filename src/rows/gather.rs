//! Rows in a new order, and results back in the old one.
//!
//! ```text
//!   order     2 0 1            gather:   out[i] = in[order[i]]     a b c -> c a b
//!                              restore:  out[order[i]] = in[i]     c a b -> a b c
//! ```
//!
//! Cost: a random read, or a random write, per row and column, about 1 ns while the column fits the cache and 5 to 15 ns
//! beyond; on several threads each works on its share of the rows. Text, bytes and nested columns go through arrow's take.
//!
//! Results are written back through atomic cells, plain stores on every machine there is: a row is nobody else's, which
//! the order promises and the compiler cannot know.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, UInt32Array, downcast_primitive};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, NullBufferBuilder, ScalarBuffer};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::neighbours::WORD;
use crate::error::{Error, Result};
use crate::evaluate::Cancel;
use crate::parallel::Threads;

/// Each column with its rows in the order of the row numbers `order`.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{ArrayRef, StringArray};
/// # use windrow::rows::{gather, restore};
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
    gather_on(columns, order, &Threads::new(threads), cancel)
}

/// As [`gather`], on threads that may be there already.
pub(crate) fn gather_on(
    columns: &[ArrayRef],
    order: &[u32],
    threads: &Threads,
    cancel: &Cancel,
) -> Result<Vec<ArrayRef>> {
    let mut gathered = Vec::with_capacity(columns.len());
    let mut others = Vec::new();
    for column in columns {
        cancel.check()?;
        let fixed = gather_fixed(column, order, threads)?;
        if fixed.is_none() {
            others.push((gathered.len(), column));
        }
        gathered.push(fixed.unwrap_or_else(|| column.slice(0, 0)));
    }
    if !others.is_empty() {
        let indices = UInt32Array::from(order.to_vec());
        let taken = threads.map(others, |(place, column)| {
            cancel.check()?;
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
    let valid = column.nulls().filter(|nulls| nulls.null_count() > 0).map(NullBuffer::inner);
    let mut gathered = vec![T::Native::default(); order.len()];
    let mut validity = vec![0_u64; if valid.is_some() { order.len().div_ceil(WORD) } else { 0 }];
    // Shares begin where a word of the bitmap does.
    let share = threads.share(order.len()).next_multiple_of(WORD);
    let bitmaps = validity.chunks_mut(share / WORD).map(Some).chain(std::iter::repeat_with(|| None));
    let shares = gathered.chunks_mut(share).zip(order.chunks(share)).zip(bitmaps).collect();
    threads.map(shares, |((gathered, order), bitmap)| {
        for (place, &row) in gathered.iter_mut().zip(order) {
            *place = values[row as usize];
        }
        if let (Some(valid), Some(bitmap)) = (valid, bitmap) {
            for (word, rows) in bitmap.iter_mut().zip(order.chunks(WORD)) {
                for (bit, &row) in rows.iter().enumerate() {
                    *word |= u64::from(valid.value(row as usize)) << bit;
                }
            }
        }
        Ok(())
    })?;
    let nulls = valid.map(|_| NullBuffer::new(BooleanBuffer::new(validity.into(), 0, order.len())));
    let gathered = PrimitiveArray::<T>::new(gathered.into(), nulls);
    Ok(Arc::new(gathered.with_data_type(column.data_type().clone())))
}

/// A column in pieces, in one.
pub(crate) fn join(pieces: Vec<(usize, ArrayRef)>, threads: &Threads) -> Result<ArrayRef> {
    match <[_; 1]>::try_from(pieces) {
        Ok([(_, piece)]) => Ok(piece),
        Err(pieces) => {
            let first = pieces.first().ok_or_else(|| Error::internal("a result in no pieces"))?.1.clone();
            macro_rules! join {
                ($type:ty) => {
                    join_primitive::<$type>(pieces, first.data_type(), threads)
                };
            }
            downcast_primitive! {
                first.data_type() => (join),
                _ => Ok(concat(&pieces.iter().map(|(_, piece)| piece.as_ref()).collect::<Vec<_>>())?),
            }
        }
    }
}

fn join_primitive<T: ArrowPrimitiveType>(
    pieces: Vec<(usize, ArrayRef)>,
    data_type: &DataType,
    threads: &Threads,
) -> Result<ArrayRef> {
    let nulls: Vec<_> = pieces.iter().map(|(_, piece)| (piece.len(), piece.nulls().cloned())).collect();
    let nulls = nulls.iter().any(|(_, nulls)| nulls.is_some()).then(|| {
        let mut joined = NullBufferBuilder::new(nulls.iter().map(|(rows, _)| rows).sum());
        for (rows, nulls) in nulls {
            match nulls {
                Some(nulls) => joined.append_buffer(&nulls),
                None => joined.append_n_non_nulls(rows),
            }
        }
        joined.finish()
    });
    let mut values = vec![T::Native::default(); pieces.iter().map(|(_, piece)| piece.len()).sum()];
    let mut rest = &mut values[..];
    let mut shares = Vec::with_capacity(pieces.len());
    for (_, piece) in pieces {
        let (share, behind) = rest.split_at_mut(piece.len());
        shares.push((share, piece));
        rest = behind;
    }
    threads.map(shares, |(share, piece)| {
        share.copy_from_slice(piece.as_primitive::<T>().values());
        Ok(())
    })?;
    let joined = PrimitiveArray::<T>::new(values.into(), nulls.flatten());
    Ok(Arc::new(joined.with_data_type(data_type.clone())))
}

/// A column in the order of the row numbers `order`, back in the order of the rows: the inverse of [`gather`].
///
/// # Errors
/// An order of another length than the column.
pub fn restore(column: &ArrayRef, order: &[u32]) -> Result<ArrayRef> {
    restore_on(&[(0, column.clone())], order, &Threads::new(1))
}

/// As [`restore`], for a column in pieces, each with the position of its first value.
pub(crate) fn restore_on(pieces: &[(usize, ArrayRef)], order: &[u32], threads: &Threads) -> Result<ArrayRef> {
    let Some((_, first)) = pieces.first() else {
        return Err(Error::internal("a result in no pieces"));
    };
    let rows: usize = pieces.iter().map(|(_, piece)| piece.len()).sum();
    if rows != order.len() {
        return Err(Error::internal(format!("a result of {rows} rows for {} rows", order.len())));
    }
    macro_rules! scatter {
        ($type:ty) => {
            return scatter::<$type>(pieces, first.data_type(), order, threads)
        };
    }
    downcast_primitive! {
        first.data_type() => (scatter),
        _ => {}
    }
    // Text and nested values: gathered from where they are.
    let inverse = Cells::new(size_of::<u32>(), rows);
    let shares = threads.ranges(&(0..rows));
    threads.map(shares, |share| {
        let positions: Vec<u32> = (share.start as u32..share.end as u32).collect();
        inverse.store(&Buffer::from_vec(positions), &order[share]);
        Ok(())
    })?;
    let pieces: Vec<_> = pieces.iter().map(|(_, piece)| piece.as_ref()).collect();
    let gathered = gather_on(&[concat(&pieces)?], inverse.into_buffer().typed_data(), threads, &Cancel::default())?;
    gathered.into_iter().next().ok_or_else(|| Error::internal("a column was not gathered"))
}

fn scatter<T: ArrowPrimitiveType>(
    pieces: &[(usize, ArrayRef)],
    data_type: &DataType,
    order: &[u32],
    threads: &Threads,
) -> Result<ArrayRef> {
    let valid = |piece: &ArrayRef| piece.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
    let some_null = pieces.iter().any(|(_, piece)| valid(piece).is_some());
    let validity: Vec<_> =
        (0..if some_null { order.len().div_ceil(WORD) } else { 0 }).map(|_| AtomicU64::new(u64::MAX)).collect();
    // One piece is cut for all threads; of several each is one's.
    let cuts = |(begin, piece): &(usize, ArrayRef)| {
        let alone = Threads::new(1);
        let ranges = if pieces.len() > 1 { &alone } else { threads }.ranges(&(0..piece.len()));
        let (begin, piece) = (*begin, piece.clone());
        ranges.into_iter().map(move |range| (begin + range.start, piece.slice(range.start, range.len())))
    };
    let shares: Vec<_> = pieces.iter().flat_map(cuts).collect();
    let cells = Cells::new(size_of::<T::Native>(), order.len());
    threads.map(shares, |(begin, piece)| {
        let order = &order[begin..begin + piece.len()];
        cells.store(piece.as_primitive::<T>().values().inner(), order);
        if let Some(nulls) = valid(&piece) {
            for position in (!nulls.inner()).set_indices() {
                let row = order[position] as usize;
                validity[row / WORD].fetch_and(!(1 << (row % WORD)), Relaxed);
            }
        }
        Ok(())
    })?;
    let validity: Vec<u64> = validity.into_iter().map(AtomicU64::into_inner).collect();
    let nulls = some_null.then(|| NullBuffer::new(BooleanBuffer::new(validity.into(), 0, order.len())));
    let mut values = cells.into_buffer();
    if values.as_ptr().align_offset(align_of::<T::Native>()) > 0 {
        values = Buffer::from(values.as_slice()); // which arrow aligns for all types
    }
    let values = ScalarBuffer::new(values, 0, order.len());
    Ok(Arc::new(PrimitiveArray::<T>::new(values, nulls).with_data_type(data_type.clone())))
}

/// Room for values of one width, to be written by several threads at once, each row by one.
enum Cells {
    Bytes(Vec<AtomicU8>),
    Halves(Vec<AtomicU16>),
    Words(Vec<AtomicU32>),
    Longs(Vec<AtomicU64>),
    /// Several longs a row.
    Wide(Vec<AtomicU64>, usize),
}

impl Cells {
    fn new(width: usize, rows: usize) -> Self {
        match width {
            1 => Self::Bytes(vec![0; rows].into_iter().map(AtomicU8::new).collect()),
            2 => Self::Halves(vec![0; rows].into_iter().map(AtomicU16::new).collect()),
            4 => Self::Words(vec![0; rows].into_iter().map(AtomicU32::new).collect()),
            8 => Self::Longs(vec![0; rows].into_iter().map(AtomicU64::new).collect()),
            _ => {
                let longs = width.div_ceil(size_of::<u64>());
                Self::Wide(vec![0; rows * longs].into_iter().map(AtomicU64::new).collect(), longs)
            }
        }
    }

    /// Writes the values, one for each of `rows`.
    fn store(&self, values: &Buffer, rows: &[u32]) {
        macro_rules! store {
            ($cells:expr, $type:ty) => {
                for (&value, &row) in values.typed_data::<$type>().iter().zip(rows) {
                    $cells[row as usize].store(value, Relaxed);
                }
            };
        }
        match self {
            Self::Bytes(cells) => store!(cells, u8),
            Self::Halves(cells) => store!(cells, u16),
            Self::Words(cells) => store!(cells, u32),
            Self::Longs(cells) => store!(cells, u64),
            Self::Wide(cells, longs) => {
                for (value, &row) in values.typed_data::<u64>().chunks_exact(*longs).zip(rows) {
                    let begin = row as usize * longs;
                    for (cell, &long) in cells[begin..begin + longs].iter().zip(value) {
                        cell.store(long, Relaxed);
                    }
                }
            }
        }
    }

    /// The values. Collected in place: nothing moves.
    fn into_buffer(self) -> Buffer {
        match self {
            Self::Bytes(cells) => Buffer::from_vec(cells.into_iter().map(AtomicU8::into_inner).collect::<Vec<_>>()),
            Self::Halves(cells) => Buffer::from_vec(cells.into_iter().map(AtomicU16::into_inner).collect::<Vec<_>>()),
            Self::Words(cells) => Buffer::from_vec(cells.into_iter().map(AtomicU32::into_inner).collect::<Vec<_>>()),
            Self::Longs(cells) | Self::Wide(cells, _) => {
                Buffer::from_vec(cells.into_iter().map(AtomicU64::into_inner).collect::<Vec<_>>())
            }
        }
    }
}
