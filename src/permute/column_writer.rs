//! Writes results back in the order of the rows: the inverse of [`gather`](super::gather::gather()).
//!
//! ```text
//!   order     2 0 1            out[order[i]] = in[i]     c a b -> a b c
//! ```
//!
//! Each block of results is written to its rows while it is in the cache. Cost: a random write per row. With a
//! [`DeclusterPlan`] values are first written to tiles (`decluster_tiles.rs`), and from there to the column once all
//! are present. Results of sorted rows are copied to their place (`ordered_buffer.rs`). Strings, binary and nested
//! values are kept and gathered at the end. Memory: the column itself, and once more for values that are kept or in
//! tiles.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, OnceLock, PoisonError};

use arrow_array::{Array, ArrayRef};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_schema::DataType;
use arrow_select::concat::concat;

use super::decluster::DeclusterPlan;
use super::decluster_tiles::Tiles;
use super::fixed_width::{fixed_width_column, fixed_width_values};
use super::gather::gather_on;
use super::ordered_buffer::OrderedBuffer;
use super::scatter::{self, ScatterBuffer};
use crate::error::{Error, Result};
use crate::util::bitmap::{WORD_BITS, word};
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::streaming_store::StoreMode;
use crate::util::threads::Threads;

/// A column in the order of the row numbers `order`, back in the order of the rows.
///
/// # Errors
/// The length of the order differs from that of the column.
pub fn restore(column: &ArrayRef, order: &[u32]) -> Result<ArrayRef> {
    let threads = Threads::new(1, &Cancel::default());
    let restored = ColumnWriter::new(column.data_type(), order.len(), Some(order), None, &threads)?;
    restored.write(0, column.clone())?;
    restored.finish(&threads)
}

/// A column assembled from chunks that several threads write.
pub(crate) struct ColumnWriter<'a> {
    data_type: DataType,
    rows: usize,
    /// The row numbers of the order; `None` if results come in row order.
    order: Option<&'a [u32]>,
    destination: Destination<'a>,
    /// The validity bits of values of fixed width, allocated at the first null.
    validity: OnceLock<Vec<AtomicU64>>,
    /// Chunks of values without fixed width, or a single chunk that is the whole column; each with its first position.
    deferred: Mutex<Vec<(usize, ArrayRef)>>,
    /// The number of rows written so far.
    received: AtomicUsize,
}

/// Where values are written.
enum Destination<'a> {
    /// Fixed width, unsorted: each value directly to its row.
    Scattered(Box<dyn ScatterBuffer>),
    /// Fixed width, unsorted: to tiles, until all values are present.
    Tiles(&'a DeclusterPlan, Tiles),
    /// Fixed width, in row order, in several chunks: side by side.
    Ordered(OnceLock<OrderedBuffer>),
    /// All others: chunks are kept until the end.
    Deferred,
}

impl<'a> ColumnWriter<'a> {
    /// Allocates the destination for `rows` rows, initialised by all threads.
    ///
    /// # Errors
    /// The memory is not available; no thread could be started.
    pub(crate) fn new(
        data_type: &DataType,
        rows: usize,
        order: Option<&'a [u32]>,
        decluster: Option<&'a DeclusterPlan>,
        threads: &Threads,
    ) -> Result<Self> {
        let destination = match (data_type.primitive_width(), order, decluster) {
            (None, ..) => Destination::Deferred,
            (Some(_), None, _) => Destination::Ordered(OnceLock::new()),
            (Some(width), Some(_), None) => Destination::Scattered(scatter::allocate(width, rows, threads)?),
            (Some(width), Some(_), Some(decluster)) => {
                Destination::Tiles(decluster, Tiles::allocate(width, decluster)?)
            }
        };
        Ok(Self {
            data_type: data_type.clone(),
            rows,
            order,
            destination,
            validity: OnceLock::new(),
            deferred: Mutex::default(),
            received: AtomicUsize::new(0),
        })
    }

    /// Allocates the buffer for results in row order before several threads write them. `bytes` is the total size,
    /// including other columns. Otherwise the first writer would allocate while the others wait, and a thread that is
    /// woken may have to share a processor.
    ///
    /// # Errors
    /// The memory is not available.
    pub(crate) fn expect_chunks(&self, bytes: usize) -> Result<()> {
        if let (Destination::Ordered(pieces), Some(width)) = (&self.destination, self.data_type.primitive_width())
            && pieces.get().is_none()
        {
            // If another thread has set it meanwhile, this buffer is dropped.
            let _ = pieces.set(OrderedBuffer::new(self.rows * width, StoreMode::for_bytes(bytes))?);
        }
        Ok(())
    }

    /// Writes the values of the positions from `begin` on. Each position may be written once.
    pub(crate) fn write(&self, begin: usize, piece: ArrayRef) -> Result<()> {
        let rows = begin..begin + piece.len();
        if rows.end > self.rows || *piece.data_type() != self.data_type {
            return Err(Error::internal(format!(
                "a result of rows {rows:?} of {} for {} rows of {}",
                piece.data_type(),
                self.rows,
                self.data_type
            )));
        }
        self.received.fetch_add(rows.len(), Relaxed);
        let width = self.data_type.primitive_width().unwrap_or(0);
        match &self.destination {
            Destination::Scattered(cells) => {
                cells.store(&fixed_width_values(&piece, width), self.order.map_or(&[], |order| &order[rows]));
            }
            Destination::Tiles(decluster, tiles) => tiles.write(&fixed_width_values(&piece, width), begin, decluster),
            Destination::Ordered(pieces) if rows.len() < self.rows => {
                self.expect_chunks(self.rows * width)?;
                let pieces = pieces.get().ok_or_else(|| Error::internal("no room for pieces"))?;
                pieces.write(begin * width, &fixed_width_values(&piece, width))?;
            }
            Destination::Ordered(_) | Destination::Deferred => {
                self.deferred.lock().unwrap_or_else(PoisonError::into_inner).push((begin, piece));
                return Ok(());
            }
        }
        self.write_nulls(begin, piece.nulls());
        Ok(())
    }

    /// Clears the validity bits of the null values from position `begin` on.
    fn write_nulls(&self, begin: usize, nulls: Option<&NullBuffer>) {
        let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else { return };
        let all_valid = || (0..self.rows.div_ceil(WORD_BITS)).map(|_| AtomicU64::new(u64::MAX)).collect();
        let validity = self.validity.get_or_init(all_valid);
        if let Some(order) = self.order {
            for position in (!nulls.inner()).set_indices() {
                let row = order[begin + position] as usize;
                validity[row / WORD_BITS].fetch_and(!(1 << (row % WORD_BITS)), Relaxed);
            }
            return;
        }
        let mut row = begin;
        while row < begin + nulls.len() {
            let at = row % WORD_BITS;
            let bits = (WORD_BITS - at).min(begin + nulls.len() - row);
            let null = !word(nulls.inner(), row - begin) & (u64::MAX >> (WORD_BITS - bits));
            if null != 0 {
                // Atomic, because another thread may write rows of the same word.
                validity[row / WORD_BITS].fetch_and(!(null << at), Relaxed);
            }
            row += bits;
        }
    }

    /// The finished column.
    ///
    /// # Errors
    /// Rows are missing; cancellation.
    pub(crate) fn finish(self, threads: &Threads) -> Result<ArrayRef> {
        let Self { data_type, rows, order, destination, validity, deferred, received } = self;
        let received = received.into_inner();
        if received != rows {
            return Err(Error::internal(format!("a result of {received} rows for {rows} rows")));
        }
        let values = match destination {
            Destination::Scattered(cells) => Some(cells.into_buffer()),
            Destination::Tiles(decluster, tiles) => Some(tiles.write_back(decluster, threads)?),
            Destination::Ordered(pieces) => pieces.into_inner().map(OrderedBuffer::finish).transpose()?,
            Destination::Deferred => None,
        };
        if let Some(values) = values {
            let validity = validity.into_inner().map(|words| words.into_iter().map(AtomicU64::into_inner).collect());
            let nulls = validity.map(|words: Vec<u64>| NullBuffer::new(BooleanBuffer::new(words.into(), 0, rows)));
            return fixed_width_column(&data_type, rows, values, nulls);
        }
        let mut pieces = deferred.into_inner().unwrap_or_else(PoisonError::into_inner);
        pieces.sort_unstable_by_key(|(begin, _)| *begin);
        let pieces: Vec<_> = pieces.into_iter().map(|(_, piece)| piece).collect();
        let column = match pieces.as_slice() {
            [] => arrow_array::new_empty_array(&data_type),
            [only] => only.clone(),
            several => {
                let several: Vec<_> = several.iter().map(AsRef::as_ref).collect();
                reserve::probe_concat(&several)?;
                concat(&several)?
            }
        };
        drop(pieces);
        let Some(order) = order else { return Ok(column) };
        let inverse = scatter::allocate(size_of::<u32>(), rows, threads)?;
        threads.map(threads.ranges(&(0..rows)), |share| {
            let mut positions = reserve::with_capacity(share.len())?;
            positions.extend(share.start as u32..share.end as u32);
            inverse.store(&Buffer::from_vec(positions), &order[share]);
            Ok(())
        })?;
        let gathered = gather_on(&[column], inverse.into_buffer().typed_data(), threads)?;
        gathered.into_iter().next().ok_or_else(|| Error::internal("a column was not gathered"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::Int32Array;

    use super::*;

    /// Chunks that begin and end within a word of the bitmap, with their own offsets.
    #[test]
    fn ordered_chunks_make_the_column() {
        for nulls in [2, 3, 64, 1000] {
            let column: ArrayRef =
                Arc::new((0..900).map(|row| (row % nulls != nulls - 1).then_some(row)).collect::<Int32Array>());
            let threads = Threads::new(1, &Cancel::default());
            let restored = ColumnWriter::new(column.data_type(), 900, None, None, &threads).unwrap();
            let mut begin = 0;
            for rows in [1, 63, 64, 65, 7, 300, 128, 200, 72] {
                restored.write(begin, column.slice(begin, rows)).unwrap();
                begin += rows;
            }
            assert_eq!(&restored.finish(&threads).unwrap(), &column);
        }
    }
}
