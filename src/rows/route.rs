//! Values from their rows to the rows' order and back in two steps, none of which leaves the cache.
//!
//! ```text
//!   order     7 2 5 | 0 6 1 | 4 3 8      positions, in tiles of three
//!   dealt     2 5 7 | 0 1 6 | 4 3 8      each tile's by the strip of their rows, of which there are three, in runs:
//!   strips    a b c | a a c | b b c      a: rows 0 to 2, b: 3 to 5, c: 6 to 8
//! ```
//!
//! A column that no cache holds costs a cache line for each value that is read from, or written to, a row of its own: of a
//! million rows 1 to 2 ns, of ten million 5 and of eight columns of a million 3, on two threads. Here values go through an
//! order in between. Within a tile of positions they are dealt to runs, one for each strip of rows; from all runs of a strip
//! they go to its rows. Either step goes to and fro in one tile or strip, which the cache holds, and through what it does
//! not hold one after the other. Cost on two threads: 0.6 ns a value between a tile and its runs and 1 between these and a
//! strip, and 1 a row for the runs themselves, once for all columns of an order. Memory: 4 bytes a row, and a column dealt
//! for each that comes or goes; one that has come is room for one that goes.
//!
//! Source: Manegold, Boncz, Nes, Kersten, "Cache-Conscious Radix-Decluster Projections", VLDB 2004; here runs are found by
//! a counting sort of each tile.

use std::ops::Range;

use super::room::{in_chunks, zeros};
use super::sort::pieces;
use crate::error::Result;
use crate::parallel::Threads;

/// The most positions of a tile, and the rows of a strip: their numbers within it take two bytes, and longs of both a
/// quarter and half a megabyte.
const TILE: usize = 1 << 15;
const STRIP: usize = 1 << 16;

/// Columns that take so many bytes together are beyond the caches.
const BEYOND_CACHES: usize = 24 << 20;

/// The most rows: with more, runs have few.
const MOST: usize = 1 << 28;

/// How many tiles are looked at for whether their rows are far apart, and how many positions of each.
const SAMPLED_TILES: usize = 16;
const SAMPLED_POSITIONS: usize = 128;

/// Tiles whose rows are of no more strips than this stay in the cache.
const NEAR: usize = 8;

/// The way of rows to their order.
#[derive(Debug)]
pub(crate) struct Route {
    /// Where each tile begins, and the last ends.
    tiles: Vec<usize>,
    /// Of all that is dealt its position within the tile, then of all its row within the strip. In one piece, it fits what the
    /// sort of as many rows has let go of.
    numbers: Vec<u16>,
    /// How many strips there are, and for each tile where its runs begin within it and the last ends.
    strips: usize,
    runs: Vec<u32>,
}

impl Route {
    /// The route to the row numbers `order`, if columns of so many bytes, all together, are the faster for it; for whoever
    /// asks for the positions of one of the `blocks` after the other.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn worth(
        order: &[u32],
        blocks: &[Range<usize>],
        bytes: usize,
        threads: &Threads,
    ) -> Result<Option<Self>> {
        let worth = bytes > BEYOND_CACHES && order.len() <= MOST && far_apart(order);
        worth.then(|| Self::new(order, blocks, threads)).transpose()
    }

    /// The route to the row numbers `order`, each of which is there once. The blocks have all positions, in order.
    fn new(order: &[u32], blocks: &[Range<usize>], threads: &Threads) -> Result<Self> {
        let tiles: Vec<_> = blocks.iter().flat_map(|block| block.clone().step_by(TILE)).chain([order.len()]).collect();
        let strips = order.len().div_ceil(STRIP);
        let mut numbers = vec![0; 2 * order.len()];
        let (positions, rows) = numbers.split_at_mut(order.len());
        let mut runs = vec![0_u32; (tiles.len() - 1) * (strips + 1)];
        let ranges = || tiles.windows(2).map(|ends| ends[0]..ends[1]);
        let dealt = pieces(positions, ranges()).zip(pieces(rows, ranges())).zip(runs.chunks_mut(strips + 1));
        threads.map(dealt.zip(ranges()).collect(), |(((positions, rows), runs), tile)| {
            threads.cancel().check()?;
            let order = &order[tile];
            for &row in order {
                runs[row as usize / STRIP + 1] += 1;
            }
            for strip in 0..strips {
                runs[strip + 1] += runs[strip];
            }
            let mut ends = runs.to_vec();
            for (position, &row) in order.iter().enumerate() {
                let end = &mut ends[row as usize / STRIP];
                positions[*end as usize] = position as u16;
                rows[*end as usize] = (row as usize % STRIP) as u16;
                *end += 1;
            }
            Ok(())
        })?;
        Ok(Self { tiles, numbers, strips, runs })
    }

    /// The tiles that have some of the positions `wanted`: where each begins, and the positions within it of what is dealt
    /// from there on.
    pub(super) fn tiles(&self, wanted: Range<usize>) -> impl Iterator<Item = (usize, &[u16])> {
        let first = self.tiles.partition_point(|&begin| begin <= wanted.start).saturating_sub(1);
        let tiles = self.tiles[first..].windows(2).take_while(move |ends| ends[0] < wanted.end);
        tiles.map(|ends| (ends[0], &self.numbers[ends[0]..ends[1]]))
    }

    /// The row within its strip of all that is dealt.
    fn rows(&self) -> &[u16] {
        &self.numbers[self.numbers.len() / 2..]
    }

    /// Where in what is dealt the rows of a strip are, run by run.
    fn runs_of(&self, strip: usize) -> impl Iterator<Item = Range<usize>> {
        let runs = self.runs.chunks(self.strips + 1).zip(&self.tiles);
        runs.map(move |(runs, begin)| begin + runs[strip] as usize..begin + runs[strip + 1] as usize)
    }

    /// The rows' `values`, dealt.
    ///
    /// # Errors
    /// Cancellation.
    pub(super) fn deal<T: Copy + Default + Send + Sync>(&self, values: &[T], threads: &Threads) -> Result<Vec<T>> {
        let mut dealt = zeros(values.len(), threads)?;
        let mut runs: Vec<_> = (0..self.strips).map(|_| Vec::with_capacity(self.tiles.len())).collect();
        let ranges = self.runs.chunks(self.strips + 1).zip(&self.tiles).flat_map(|(runs, begin)| {
            runs.windows(2).map(move |ends| begin + ends[0] as usize..begin + ends[1] as usize)
        });
        for (number, run) in pieces(&mut dealt, ranges).enumerate() {
            runs[number % self.strips].push(run);
        }
        threads.map(runs.into_iter().zip(values.chunks(STRIP)).enumerate().collect(), |(strip, (runs, values))| {
            threads.cancel().check()?;
            // A copy is made from one end to the other, and then is in the cache.
            let values = values.to_vec();
            for (run, places) in runs.into_iter().zip(self.runs_of(strip)) {
                for (value, &row) in run.iter_mut().zip(&self.rows()[places]) {
                    *value = values[usize::from(row)];
                }
            }
            Ok(())
        })?;
        Ok(dealt)
    }

    /// The values of the positions from `begin` on, of which `dealt` has all; `load` takes one out.
    pub(super) fn pick_up<C, T>(&self, dealt: &[C], load: impl Fn(&C) -> T, begin: usize, values: &mut [T]) {
        for (first, positions) in self.tiles(begin..begin + values.len()) {
            for (&position, cell) in positions.iter().zip(&dealt[first..]) {
                // The first tile and the last may have others as well.
                if let Some(place) = values.get_mut((first + usize::from(position)).wrapping_sub(begin)) {
                    *place = load(cell);
                }
            }
        }
    }

    /// The values `dealt`, each at its row; `load` takes one out.
    ///
    /// # Errors
    /// Cancellation.
    pub(super) fn deliver<C: Sync, T: Copy + Default + Send + Sync>(
        &self,
        dealt: &[C],
        load: impl Fn(&C) -> T + Send + Sync,
        threads: &Threads,
    ) -> Result<Vec<T>> {
        in_chunks(dealt.len(), STRIP, threads, |strip, values| {
            threads.cancel().check()?;
            for run in self.runs_of(strip) {
                for (cell, &row) in dealt[run.clone()].iter().zip(&self.rows()[run]) {
                    values[usize::from(row)] = load(cell);
                }
            }
            Ok(())
        })
    }
}

/// Whether the rows of most tiles are of many strips. Some tiles are looked at, and some positions of each.
fn far_apart(order: &[u32]) -> bool {
    let tiles = order.len().div_ceil(TILE);
    let sampled = || order.chunks(TILE).step_by(tiles.div_ceil(SAMPLED_TILES).max(1));
    let far = sampled().filter(|tile| {
        let mut strips: Vec<_> =
            tile.iter().step_by(TILE / SAMPLED_POSITIONS).map(|&row| row as usize / STRIP).collect();
        strips.sort_unstable();
        strips.dedup();
        strips.len() > NEAR
    });
    2 * far.count() > sampled().count()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cancel::Cancel;

    /// Row numbers in an order that looks like none: multiples of a number that shares no factor with the rows'.
    fn order(rows: usize) -> Vec<u32> {
        (0..rows).map(|position| (position * 48_271 % rows) as u32).collect()
    }

    #[test]
    fn values_go_to_their_order_and_back() {
        for threads in [1, 3] {
            let threads = Threads::new(threads, &Cancel::default());
            for rows in [0, 1, 5, STRIP - 1, STRIP, STRIP + 1, 5 * STRIP + 12_346] {
                let order = order(rows);
                let blocks = [0..rows / 7, rows / 7..rows / 2, rows / 2..rows / 2, rows / 2..rows];
                let route = Route::new(&order, &blocks, &threads).unwrap();
                let values: Vec<_> = (0..rows).map(|row| row as u64 * 3).collect();
                let dealt = route.deal(&values, &threads).unwrap();
                for positions in [0..rows, rows / 7..rows / 2, rows / 3..rows / 2, rows / 4..rows, rows..rows] {
                    let mut found = vec![0; positions.len()];
                    route.pick_up(&dealt, |&value| value, positions.start, &mut found);
                    let expected: Vec<_> = order[positions].iter().map(|&row| values[row as usize]).collect();
                    assert!(found == expected, "{rows} rows");
                }
                assert!(route.deliver(&dealt, |&value| value, &threads).unwrap() == values, "{rows} rows");
            }
        }
    }

    #[test]
    fn rows_are_far_apart_or_near() {
        let rows = 40 * STRIP + 3;
        assert!(far_apart(&order(rows)));
        assert!(!far_apart(&(0..rows as u32).collect::<Vec<_>>()));
        assert!(!far_apart(&[]));
        // A hundred partitions, whose rows come in turns, and partitions whose rows are near each other.
        let turns: Vec<_> = (0..100_u32).flat_map(|first| (first..rows as u32).step_by(100)).collect();
        assert!(far_apart(&turns));
        let mut near: Vec<_> = (0..rows as u32).collect();
        near.chunks_mut(10_000).for_each(<[u32]>::reverse);
        assert!(!far_apart(&near));
    }
}
