//! The values of a column in the tiles of a [`DeclusterPlan`].
//!
//! ```text
//!   column -> scatter_to_tiles -> gather_from_tiles -> sorted rows     reading
//!   sorted rows -> write -> tiles -> write_back -> column              writing results
//! ```
//!
//! All tiles are parts of one allocation. A thread that writes a whole tile fills it from start to end, so that it need
//! not be zeroed first and no atomic writes are needed. Cost and source: see `decluster.rs`.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_buffer::Buffer;
use bytes::{Bytes, BytesMut};

use super::decluster::DeclusterPlan;
use crate::error::Result;
use crate::util::parallel_fill::{fill_chunks, fill_zeroed_chunks};
use crate::util::reserve;
use crate::util::slices::split_at_ranges;
use crate::util::threads::Threads;

/// Bytes of values that are collected before they are appended to a tile.
const STAGED_BYTES: usize = 16 << 10;

/// Values of fixed width in tiles, or capacity for them.
#[derive(Debug)]
pub(crate) struct Tiles {
    /// The width of a value in bytes.
    width: usize,
    tiles: Vec<Mutex<BytesMut>>,
}

/// Calls a function that is generic in the width, for the widths of Arrow's types.
macro_rules! of_width {
    ($width:expr, $function:ident($($argument:expr),*)) => {
        match $width {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            4 => $function::<4>($($argument),*),
            8 => $function::<8>($($argument),*),
            16 => $function::<16>($($argument),*),
            _ => $function::<32>($($argument),*),
        }
    };
}

impl Tiles {
    /// Capacity for values of `width` bytes; no value is present yet.
    ///
    /// # Errors
    /// The memory is not available.
    pub(crate) fn allocate(width: usize, decluster: &DeclusterPlan) -> Result<Self> {
        reserve::probe(width * decluster.len())?;
        Ok(Self::split(width, BytesMut::with_capacity(width * decluster.len()), decluster))
    }

    /// The tiles of a column's `values`.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn scatter_to_tiles(
        width: usize,
        values: &[u8],
        decluster: &DeclusterPlan,
        threads: &Threads,
    ) -> Result<Self> {
        let tiles = of_width!(width, scatter_to_tiles(values, decluster, threads))?;
        Ok(Self::split(width, Bytes::from(tiles).into(), decluster))
    }

    fn split(width: usize, mut all: BytesMut, decluster: &DeclusterPlan) -> Self {
        let mut tiles: Vec<_> =
            decluster.tile_starts().rev().map(|begin| Mutex::new(all.split_off(begin * width))).collect();
        tiles.reverse();
        Self { width, tiles }
    }

    /// Writes the values of the positions from `begin` on. Each position may be written once.
    pub(crate) fn write(&self, values: &[u8], begin: usize, decluster: &DeclusterPlan) {
        of_width!(self.width, write(&self.tiles, values, begin, decluster));
    }

    /// The values at `positions`.
    ///
    /// # Errors
    /// The memory is not available; no thread could be started.
    pub(crate) fn gather_from_tiles(
        &self,
        positions: &Range<usize>,
        decluster: &DeclusterPlan,
        threads: &Threads,
    ) -> Result<Buffer> {
        of_width!(self.width, gather_from_tiles(&self.tiles, positions, decluster, threads)).map(Buffer::from_vec)
    }

    /// All values in row order. All must have been written.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn write_back(&self, decluster: &DeclusterPlan, threads: &Threads) -> Result<Buffer> {
        of_width!(self.width, write_back(&self.tiles, decluster, threads)).map(Buffer::from_vec)
    }
}

fn lock(tile: &Mutex<BytesMut>) -> MutexGuard<'_, BytesMut> {
    tile.lock().unwrap_or_else(PoisonError::into_inner)
}

fn scatter_to_tiles<const WIDTH: usize>(
    values: &[u8],
    decluster: &DeclusterPlan,
    threads: &Threads,
) -> Result<Vec<u8>> {
    let values: &[[u8; WIDTH]] = values.as_chunks().0;
    let share = threads.chunk_rows(values.len()) * WIDTH;
    let mut tiles = fill_chunks(values.len() * WIDTH, share, threads, |_, tiles| {
        tiles.repeat(0, tiles.remaining());
        Ok(())
    })?;
    let mut strips: Vec<_> = values.chunks(decluster.strip_rows()).map(|values| (values, Vec::new())).collect();
    for (number, run) in split_at_ranges(tiles.as_chunks_mut().0, decluster.runs()).enumerate() {
        let strip = number % strips.len();
        strips[strip].1.push(run);
    }
    threads.map(strips.into_iter().enumerate().collect(), |(strip, (values, runs))| {
        threads.cancel().check()?;
        // Copying reads the strip sequentially and leaves it in the cache.
        let values = values.to_vec();
        for (run, (_, rows)) in runs.into_iter().zip(decluster.strip_runs(strip)) {
            for (value, &row) in run.iter_mut().zip(rows) {
                *value = values[usize::from(row)];
            }
        }
        Ok(())
    })?;
    Ok(tiles)
}

fn write<const WIDTH: usize>(tiles: &[Mutex<BytesMut>], values: &[u8], begin: usize, decluster: &DeclusterPlan) {
    let values: &[[u8; WIDTH]] = values.as_chunks().0;
    let end = begin + values.len();
    let mut together = [0; STAGED_BYTES];
    let together = together.as_chunks_mut::<WIDTH>().0;
    for (number, tile, positions) in decluster.tiles(begin..end) {
        let mut bytes = lock(&tiles[number]);
        if begin <= tile.start && tile.end <= end {
            let values = &values[tile.start - begin..tile.end - begin];
            bytes.clear();
            for positions in positions.chunks(together.len()) {
                for (value, &position) in together.iter_mut().zip(positions) {
                    *value = values[usize::from(position)];
                }
                bytes.extend_from_slice(together[..positions.len()].as_flattened());
            }
        } else {
            // Other calls write the rest of the tile.
            bytes.resize(tile.len() * WIDTH, 0);
            for (place, &position) in bytes.as_chunks_mut().0.iter_mut().zip(positions) {
                if let Some(&value) = values.get((tile.start + usize::from(position)).wrapping_sub(begin)) {
                    *place = value;
                }
            }
        }
    }
}

fn gather_from_tiles<const WIDTH: usize>(
    tiles: &[Mutex<BytesMut>],
    positions: &Range<usize>,
    decluster: &DeclusterPlan,
    threads: &Threads,
) -> Result<Vec<u8>>
where
    [u8; WIDTH]: Default,
{
    let share = threads.chunk_rows(positions.len());
    let values = fill_zeroed_chunks(positions.len(), share, threads, |chunk, values: &mut [[u8; WIDTH]]| {
        let begin = positions.start + chunk * share;
        for (number, tile, positions) in decluster.tiles(begin..begin + values.len()) {
            for (&value, &position) in lock(&tiles[number]).as_chunks().0.iter().zip(positions) {
                // The first and the last tile may also have other positions.
                if let Some(place) = values.get_mut((tile.start + usize::from(position)).wrapping_sub(begin)) {
                    *place = value;
                }
            }
        }
        Ok(())
    });
    values.map(Vec::into_flattened)
}

fn write_back<const WIDTH: usize>(
    tiles: &[Mutex<BytesMut>],
    decluster: &DeclusterPlan,
    threads: &Threads,
) -> Result<Vec<u8>> {
    let tiles: Vec<_> = tiles.iter().map(lock).collect();
    let tiles: Vec<&[[u8; WIDTH]]> = tiles.iter().map(|tile| tile.as_chunks().0).collect();
    fill_chunks(decluster.len() * WIDTH, decluster.strip_rows() * WIDTH, threads, |strip, column| {
        threads.cancel().check()?;
        // The random writes go to a buffer in the cache, which is then appended to the column sequentially.
        let mut values = vec![[0; WIDTH]; column.remaining() / WIDTH];
        for (tile, (run, rows)) in tiles.iter().zip(decluster.strip_runs(strip)) {
            for (&value, &row) in tile[run].iter().zip(rows) {
                values[usize::from(row)] = value;
            }
        }
        column.extend(values.as_flattened());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::permute::decluster::tests::order;
    use crate::util::cancel::Cancel;

    /// Values of each width, read and written in pieces that end at a tile's end or within a tile.
    #[test]
    fn declustering_round_trips() {
        for (threads, width) in [(1, 1), (3, 2), (1, 4), (3, 8), (1, 16), (3, 32)] {
            let threads = Threads::new(threads, &Cancel::default());
            for rows in [0, 1, 5, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, (5 << 16) + 12_346] {
                let order = order(rows);
                let blocks = [0..rows / 7, rows / 7..rows / 2, rows / 2..rows / 2, rows / 2..rows];
                let decluster = DeclusterPlan::new(&order, &blocks, &threads).unwrap();
                let value = |row: usize| (0..width).map(move |byte| (row * 3 + byte * 7) as u8 ^ (row >> 8) as u8);
                let column: Vec<_> = (0..rows).flat_map(value).collect();
                let tiles = Tiles::scatter_to_tiles(width, &column, &decluster, &threads).unwrap();
                let of = |positions: Range<usize>| -> Vec<u8> {
                    order[positions].iter().flat_map(|&row| value(row as usize)).collect()
                };
                for positions in [0..rows, rows / 7..rows / 2, rows / 3..rows / 2, rows / 4..rows, rows..rows] {
                    let found = tiles.gather_from_tiles(&positions, &decluster, &threads).unwrap();
                    assert!(found.as_slice() == of(positions), "{rows} rows of {width} bytes");
                }
                for bytes in [tiles, Tiles::allocate(width, &decluster).unwrap()] {
                    for ends in [0, rows / 7, rows / 3, rows / 2, rows / 2 + rows / 5, rows].windows(2) {
                        // From the last piece to the first, so that tiles are filled from either end.
                        let (begin, end) = (rows - ends[1], rows - ends[0]);
                        bytes.write(&of(begin..end), begin, &decluster);
                    }
                    let found = bytes.write_back(&decluster, &threads).unwrap();
                    assert!(found.as_slice() == column, "{rows} rows of {width} bytes");
                }
            }
        }
    }
}
