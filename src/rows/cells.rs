//! Room for values of fixed width that several threads write at once to rows in any order, each row by one.
//!
//! Values are written through atomic cells, plain stores on every machine there is: a row is nobody else's, which the
//! order promises and the compiler cannot know.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use arrow_buffer::Buffer;

use super::room::{in_chunks, zeros};
use super::route::Route;
use crate::error::Result;
use crate::parallel::Threads;

/// Where values go.
#[derive(Clone, Copy)]
pub(crate) enum Places<'a> {
    /// To these rows.
    Rows(&'a [u32]),
    /// Where they are dealt to.
    Dealt(&'a Route),
}

/// Room for the values of some rows.
pub(crate) trait Cells: Send + Sync {
    /// The width of a value in bytes.
    fn width(&self) -> usize;

    /// Writes the values of the positions from `begin` on.
    fn store(&self, values: &Buffer, begin: usize, to: Places);

    /// The values at these positions, dealt by the route.
    fn pick_up(&self, route: &Route, positions: Range<usize>, threads: &Threads) -> Result<Buffer>;

    /// The values, dealt by the route, each at its row.
    fn deliver(&self, route: &Route, threads: &Threads) -> Result<Buffer>;

    /// The values.
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

/// Room for values of one of the widths that Arrow's have, in bytes.
pub(super) fn room(width: usize, rows: usize) -> Box<dyn Cells> {
    of_width!(width, room_of(rows))
}

/// As [`room`], made by all threads.
pub(super) fn room_on(width: usize, rows: usize, threads: &Threads) -> Result<Box<dyn Cells>> {
    of_width!(width, room_of_on(rows, threads))
}

/// Values of such a width, dealt by the route.
pub(super) fn deal(width: usize, values: &Buffer, route: &Route, threads: &Threads) -> Result<Box<dyn Cells>> {
    of_width!(width, deal_of(values, route, threads))
}

fn room_of<C: Cell + 'static>(rows: usize) -> Box<dyn Cells> {
    Box::new((0..rows).map(|_| C::new(C::Value::default())).collect::<Vec<_>>())
}

fn room_of_on<C: Cell + 'static>(rows: usize, threads: &Threads) -> Result<Box<dyn Cells>> {
    Ok(cells::<C>(zeros(rows, threads)?))
}

fn deal_of<C: Cell + 'static>(values: &Buffer, route: &Route, threads: &Threads) -> Result<Box<dyn Cells>> {
    Ok(cells::<C>(route.deal(C::values(values), threads)?))
}

/// Room that has these values.
fn cells<C: Cell + 'static>(values: Vec<C::Value>) -> Box<dyn Cells> {
    // Collected in place: nothing moves.
    Box::new(values.into_iter().map(C::new).collect::<Vec<_>>())
}

/// Room for one value.
trait Cell: Send + Sync {
    type Value: Copy + Default + Send + Sync;

    fn new(value: Self::Value) -> Self;

    fn load(&self) -> Self::Value;

    fn store(&self, value: Self::Value);

    fn into_inner(self) -> Self::Value;

    /// The values of a buffer.
    fn values(buffer: &Buffer) -> &[Self::Value];

    /// The buffer of values.
    fn buffer(values: Vec<Self::Value>) -> Buffer;
}

macro_rules! cell {
    ($($atomic:ty, $value:ty;)*) => {$(
        impl Cell for $atomic {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self::new(value)
            }

            #[inline]
            fn load(&self) -> $value {
                self.load(Relaxed)
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

impl<const N: usize> Cell for [AtomicU64; N]
where
    [u64; N]: Default,
{
    type Value = [u64; N];

    fn new(value: [u64; N]) -> Self {
        value.map(AtomicU64::new)
    }

    #[inline]
    fn load(&self) -> [u64; N] {
        self.each_ref().map(|cell| cell.load(Relaxed))
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

impl<C: Cell> Cells for Vec<C> {
    fn width(&self) -> usize {
        size_of::<C::Value>()
    }

    fn store(&self, values: &Buffer, begin: usize, to: Places) {
        let values = C::values(values);
        match to {
            Places::Rows(rows) => values.iter().zip(rows).for_each(|(&value, &row)| self[row as usize].store(value)),
            Places::Dealt(route) => {
                for (first, positions) in route.tiles(begin..begin + values.len()) {
                    for (&position, cell) in positions.iter().zip(&self[first..]) {
                        // The first tile and the last may have others as well.
                        if let Some(&value) = values.get((first + usize::from(position)).wrapping_sub(begin)) {
                            cell.store(value);
                        }
                    }
                }
            }
        }
    }

    fn pick_up(&self, route: &Route, positions: Range<usize>, threads: &Threads) -> Result<Buffer> {
        let share = threads.share(positions.len());
        let values = in_chunks(positions.len(), share, threads, |number, values| {
            route.pick_up(self, C::load, positions.start + number * share, values);
            Ok(())
        });
        values.map(C::buffer)
    }

    fn deliver(&self, route: &Route, threads: &Threads) -> Result<Buffer> {
        Ok(C::buffer(route.deliver(self, C::load, threads)?))
    }

    fn into_buffer(self: Box<Self>) -> Buffer {
        C::buffer(self.into_iter().map(C::into_inner).collect())
    }
}
