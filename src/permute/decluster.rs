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
//! for each that comes or goes.
//!
//! Source: Manegold, Boncz, Nes, Kersten, "Cache-Conscious Radix-Decluster Projections", VLDB 2004; here runs are found by
//! a counting sort of each tile.

use std::ops::Range;

use crate::error::Result;
use crate::util::reserve;
use crate::util::slices::split_at_ranges;
use crate::util::threads::Threads;
use crate::util::unrolled::{count_by_bucket, scatter_by_bucket};

/// The most positions of a tile: their numbers within it take two bytes, and longs a quarter of a megabyte.
const MAX_TILE_POSITIONS: usize = 1 << 15;

/// The rows of a strip: longs take an eighth of a megabyte. Of more rows than so many a tile would have runs of few, and their
/// strips have as many rows as two bytes can number.
const STRIP_ROWS: usize = 1 << 14;
const LONG_STRIP_MIN_ROWS: usize = 1 << 24;
const LONG_STRIP_ROWS: usize = 1 << 16;

/// Columns that take so many bytes together are beyond the caches.
const MIN_COLUMN_BYTES: usize = 24 << 20;

/// The most rows: with more, runs have few.
const MAX_ROWS: usize = 1 << 28;

/// How many tiles are looked at for whether their rows are far apart, and how many positions of each.
const SAMPLED_TILES: usize = 16;
const SAMPLED_POSITIONS: usize = 128;

/// Tiles whose rows are of no more strips than this stay in the cache.
const LOCAL_STRIPS: usize = 8;

/// The way of rows to their order.
#[derive(Debug)]
pub(crate) struct DeclusterPlan {
    /// Where each tile begins, and the last ends.
    tiles: Vec<usize>,
    /// Of all that is dealt its position within the tile, then of all its row within the strip. In one piece, it fits what the
    /// sort of as many rows has let go of.
    numbers: Vec<u16>,
    /// The rows of a strip, how many strips there are, and for each tile where its runs begin within it and the last ends.
    strip: usize,
    strips: usize,
    runs: Vec<u32>,
}

impl DeclusterPlan {
    /// The route to the row numbers `order`, if columns of so many bytes, all together, are the faster for it; for whoever
    /// asks for the positions of one of the `blocks` after the other.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn if_faster(
        order: &[u32],
        blocks: &[Range<usize>],
        bytes: usize,
        threads: &Threads,
    ) -> Result<Option<Self>> {
        let worth = bytes > MIN_COLUMN_BYTES && order.len() <= MAX_ROWS && is_scattered(order);
        worth.then(|| Self::new(order, blocks, threads)).transpose()
    }

    /// The route to the row numbers `order`, each of which is there once. The blocks have all positions, in order.
    pub(crate) fn new(order: &[u32], blocks: &[Range<usize>], threads: &Threads) -> Result<Self> {
        let tiles: Vec<_> =
            blocks.iter().flat_map(|block| block.clone().step_by(MAX_TILE_POSITIONS)).chain([order.len()]).collect();
        let strip = if order.len() > LONG_STRIP_MIN_ROWS { LONG_STRIP_ROWS } else { STRIP_ROWS };
        let strips = order.len().div_ceil(strip);
        // A power of two: a row is divided by a shift.
        let (strip_bits, within) = (strip.ilog2(), strip - 1);
        let mut numbers = reserve::repeated(0, 2 * order.len())?;
        let (positions, rows) = numbers.split_at_mut(order.len());
        let mut runs = vec![0_u32; (tiles.len() - 1) * (strips + 1)];
        let ranges = || tiles.windows(2).map(|ends| ends[0]..ends[1]);
        let dealt =
            split_at_ranges(positions, ranges()).zip(split_at_ranges(rows, ranges())).zip(runs.chunks_mut(strips + 1));
        threads.map(dealt.zip(ranges()).collect(), |(((positions, rows), runs), tile)| {
            threads.cancel().check()?;
            let order = &order[tile];
            let strip_of = |row: u32| row as usize >> strip_bits;
            count_by_bucket(order, &mut runs[1..], strip_of);
            for number in 0..strips {
                runs[number + 1] += runs[number];
            }
            let mut ends = runs.to_vec();
            let mut position = 0_usize;
            scatter_by_bucket(
                order,
                &mut ends,
                strip_of,
                #[inline(always)]
                |at, row| {
                    positions[at] = position as u16;
                    rows[at] = (row as usize & within) as u16;
                    position += 1;
                },
            );
            Ok(())
        })?;
        Ok(Self { tiles, numbers, strip, strips, runs })
    }

    /// The rows of a strip, of which the last may have fewer.
    pub(crate) fn strip_rows(&self) -> usize {
        self.strip
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() / 2
    }

    /// Where each tile begins.
    pub(crate) fn tile_starts(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.tiles[..self.tiles.len() - 1].iter().copied()
    }

    /// The tiles that have some of the positions `wanted`: each one's number, its positions, and where within it what is dealt
    /// comes from, one by one.
    pub(crate) fn tiles(&self, wanted: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>, &[u16])> {
        let first = self.tiles.partition_point(|&begin| begin <= wanted.start).saturating_sub(1);
        let tiles = self.tiles[first..].windows(2).take_while(move |ends| ends[0] < wanted.end);
        let numbered = tiles.enumerate();
        numbered.map(move |(at, ends)| (first + at, ends[0]..ends[1], &self.numbers[ends[0]..ends[1]]))
    }

    /// All runs of all that is dealt: of each tile one for each strip.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let tiles = self.runs.chunks(self.strips + 1).zip(&self.tiles);
        tiles.flat_map(|(runs, begin)| {
            runs.windows(2).map(move |ends| begin + ends[0] as usize..begin + ends[1] as usize)
        })
    }

    /// Of each tile the run of a strip, as a range of what is dealt there, and its rows within the strip.
    pub(crate) fn strip_runs(&self, strip: usize) -> impl Iterator<Item = (Range<usize>, &[u16])> {
        let rows = &self.numbers[self.len()..];
        self.runs.chunks(self.strips + 1).zip(&self.tiles).map(move |(runs, begin)| {
            let run = runs[strip] as usize..runs[strip + 1] as usize;
            (run.clone(), &rows[begin + run.start..begin + run.end])
        })
    }
}

/// Whether the rows of most tiles are of many strips. Some tiles are looked at, and some positions of each.
fn is_scattered(order: &[u32]) -> bool {
    let tiles = order.len().div_ceil(MAX_TILE_POSITIONS);
    let sampled = || order.chunks(MAX_TILE_POSITIONS).step_by(tiles.div_ceil(SAMPLED_TILES).max(1));
    let far = sampled().filter(|tile| {
        let mut strips: Vec<_> = tile
            .iter()
            .step_by(MAX_TILE_POSITIONS / SAMPLED_POSITIONS)
            .map(|&row| row as usize / LONG_STRIP_ROWS)
            .collect();
        strips.sort_unstable();
        strips.dedup();
        strips.len() > LOCAL_STRIPS
    });
    2 * far.count() > sampled().count()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Row numbers in an order that looks like none: multiples of a number that shares no factor with the rows'.
    pub(crate) fn order(rows: usize) -> Vec<u32> {
        (0..rows).map(|position| (position * 48_271 % rows) as u32).collect()
    }

    #[test]
    fn scattered_orders_are_detected() {
        let rows = 40 * LONG_STRIP_ROWS + 3;
        assert!(is_scattered(&order(rows)));
        assert!(!is_scattered(&(0..rows as u32).collect::<Vec<_>>()));
        assert!(!is_scattered(&[]));
        // A hundred partitions, whose rows come in turns, and partitions whose rows are near each other.
        let turns: Vec<_> = (0..100_u32).flat_map(|first| (first..rows as u32).step_by(100)).collect();
        assert!(is_scattered(&turns));
        let mut near: Vec<_> = (0..rows as u32).collect();
        near.chunks_mut(10_000).for_each(<[u32]>::reverse);
        assert!(!is_scattered(&near));
    }
}
