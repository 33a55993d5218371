//! A buffer of fixed-width values that several threads write at once, in any row order, each row by one thread.
//!
//! Values are written by relaxed atomic stores, which are plain stores on all common processors. No two threads write
//! the same row, because the order is a permutation, but the compiler cannot know that.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use arrow_buffer::Buffer;

use crate::error::Result;
use crate::util::parallel_fill::zeros;
use crate::util::threads::Threads;

/// A buffer of one value per row.
pub(crate) trait ScatterBuffer: Send + Sync {
    /// Writes `values[i]` to row `rows[i]`.
    fn store(&self, values: &Buffer, rows: &[u32]);

    /// The values of all rows.
    fn into_buffer(self: Box<Self>) -> Buffer;
}

macro_rules! of_width {
    ($width:expr, $function:ident($($argument:expr),*)) => {
        match $width {
            1 => $function::<AtomicU8>($($argument),*),
            2 => $function::<AtomicU16>($($argument),*),
            4 => $function::<AtomicU32>($($argument),*),
            8 => $function::<AtomicU64>($($argument),*),
            16 => $function::<[AtomicU64; 2]>($($argument),*),
            _ => $function::<[AtomicU64; 4]>($($argument),*),
        }
    };
}

/// A zeroed buffer for `rows` values of `width` bytes, one of the widths of Arrow's types, initialised by all threads.
///
/// # Errors
/// The memory is not available; no thread could be started.
pub(crate) fn allocate(width: usize, rows: usize, threads: &Threads) -> Result<Box<dyn ScatterBuffer>> {
    of_width!(width, allocate_cells(rows, threads))
}

fn allocate_cells<C: AtomicCell + 'static>(rows: usize, threads: &Threads) -> Result<Box<dyn ScatterBuffer>> {
    let zeros: Vec<C::Value> = zeros(rows, threads)?;
    // Collects in place: no value is moved.
    Ok(Box::new(zeros.into_iter().map(C::new).collect::<Vec<_>>()))
}

/// A slot for one value.
trait AtomicCell: Send + Sync {
    type Value: Copy + Default + Send + Sync;

    fn new(value: Self::Value) -> Self;

    fn store(&self, value: Self::Value);

    fn into_inner(self) -> Self::Value;

    /// A buffer as a slice of values.
    fn values(buffer: &Buffer) -> &[Self::Value];

    /// A vector of values as a buffer.
    fn buffer(values: Vec<Self::Value>) -> Buffer;
}

macro_rules! cell {
    ($($atomic:ty, $value:ty;)*) => {$(
        impl AtomicCell for $atomic {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self::new(value)
            }

            #[inline]
            fn store(&self, value: $value) {
                self.store(value, Relaxed);
            }

            fn into_inner(self) -> $value {
                self.into_inner()
            }

            fn values(buffer: &Buffer) -> &[$value] {
                buffer.typed_data()
            }

            fn buffer(values: Vec<$value>) -> Buffer {
                Buffer::from_vec(values)
            }
        }
    )*};
}

cell! { AtomicU8, u8; AtomicU16, u16; AtomicU32, u32; AtomicU64, u64; }

impl<const N: usize> AtomicCell for [AtomicU64; N]
where
    [u64; N]: Default,
{
    type Value = [u64; N];

    fn new(value: [u64; N]) -> Self {
        value.map(AtomicU64::new)
    }

    #[inline]
    fn store(&self, value: [u64; N]) {
        self.iter().zip(value).for_each(|(cell, long)| cell.store(long, Relaxed));
    }

    fn into_inner(self) -> [u64; N] {
        self.map(AtomicU64::into_inner)
    }

    fn values(buffer: &Buffer) -> &[[u64; N]] {
        buffer.typed_data().as_chunks().0
    }

    fn buffer(values: Vec<[u64; N]>) -> Buffer {
        Buffer::from_vec(values.into_flattened())
    }
}

impl<C: AtomicCell> ScatterBuffer for Vec<C> {
    fn store(&self, values: &Buffer, rows: &[u32]) {
        C::values(values).iter().zip(rows).for_each(|(&value, &row)| self[row as usize].store(value));
    }

    fn into_buffer(self: Box<Self>) -> Buffer {
        C::buffer(self.into_iter().map(C::into_inner).collect())
    }
}
