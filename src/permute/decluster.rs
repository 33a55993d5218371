//! Moves values between row order and a sorted order in two steps, each of which stays within the cache.
//!
//! ```text
//!   order     7 2 5 | 0 6 1 | 4 3 8      row numbers by position, in tiles of three positions
//!   tiles     2 5 7 | 0 1 6 | 4 3 8      each tile grouped by the strips of its rows: runs
//!   strips    a b c | a a c | b b c      a: rows 0 to 2, b: 3 to 5, c: 6 to 8
//! ```
//!
//! Reading or writing values of a column that exceeds the cache in random order costs a cache miss per value. Here an
//! intermediate layout avoids this. Positions are divided into tiles, rows into strips. Within a tile, values are
//! grouped into runs, one per strip. One step moves values between the positions of a tile and its runs, the other
//! between all runs of a strip and its rows. Each step accesses one tile or strip in random order, which fits the
//! cache, and the rest sequentially.
//!
//! Cost: two sequential passes per column, and a counting sort of each tile, once for all columns of an order. Memory:
//! 4 bytes per row, and a copy of each column that is read or written.
//!
//! Source: Manegold, Boncz, Nes, Kersten, "Cache-Conscious Radix-Decluster Projections", VLDB 2004; here the runs are
//! computed by a counting sort of each tile.

use std::ops::Range;

use crate::error::Result;
use crate::util::reserve;
use crate::util::slices::split_at_ranges;
use crate::util::threads::Threads;
use crate::util::unrolled::{count_by_bucket, scatter_by_bucket};

/// The maximum number of positions per tile: a position within a tile takes two bytes, and 8-byte values of a tile 256
/// KiB.
const MAX_TILE_POSITIONS: usize = 1 << 15;

/// The rows per strip: 8-byte values take 128 KiB. From `LONG_STRIP_MIN_ROWS` rows on strips are longer, as long as a
/// 16-bit row number allows, because the runs of a tile would become too short.
const STRIP_ROWS: usize = 1 << 14;
const LONG_STRIP_MIN_ROWS: usize = 1 << 24;
const LONG_STRIP_ROWS: usize = 1 << 16;

/// Columns of this total size exceed the caches.
const MIN_COLUMN_BYTES: usize = 24 << 20;

/// The maximum number of rows: with more, runs become too short.
const MAX_ROWS: usize = 1 << 28;

/// The number of tiles sampled to decide whether the order is scattered, and of positions per tile.
const SAMPLED_TILES: usize = 16;
const SAMPLED_POSITIONS: usize = 128;

/// A tile whose rows lie in at most this many strips is local: it stays within the cache without a plan.
const LOCAL_STRIPS: usize = 8;

/// The runs of an order.
#[derive(Debug)]
pub(crate) struct DeclusterPlan {
    /// The first position of each tile, then the number of rows.
    tiles: Vec<usize>,
    /// For each value in tile order its position within the tile; then for each its row within the strip. One
    /// allocation, of the size that the sort has just released.
    numbers: Vec<u16>,
    /// The rows per strip, the number of strips, and per tile the start of each run within it, followed by the tile's
    /// length.
    strip: usize,
    strips: usize,
    runs: Vec<u32>,
}

impl DeclusterPlan {
    /// The plan for the row numbers `order`, if it makes moving columns of `bytes` bytes in total faster. Positions are
    /// later requested block by block, as in `blocks`.
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

    /// The plan for the row numbers `order`, a permutation. `blocks` cover all positions, in order.
    pub(crate) fn new(order: &[u32], blocks: &[Range<usize>], threads: &Threads) -> Result<Self> {
        let tiles: Vec<_> =
            blocks.iter().flat_map(|block| block.clone().step_by(MAX_TILE_POSITIONS)).chain([order.len()]).collect();
        let strip = if order.len() > LONG_STRIP_MIN_ROWS { LONG_STRIP_ROWS } else { STRIP_ROWS };
        let strips = order.len().div_ceil(strip);
        // The strip length is a power of two, so that division is a shift.
        let (strip_bits, within) = (strip.ilog2(), strip - 1);
        let mut numbers = reserve::repeated(0, 2 * order.len())?;
        let (positions, rows) = numbers.split_at_mut(order.len());
        let mut runs = vec![0_u32; (tiles.len() - 1) * (strips + 1)];
        let ranges = || tiles.windows(2).map(|ends| ends[0]..ends[1]);
        let outputs =
            split_at_ranges(positions, ranges()).zip(split_at_ranges(rows, ranges())).zip(runs.chunks_mut(strips + 1));
        threads.map(outputs.zip(ranges()).collect(), |(((positions, rows), runs), tile)| {
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

    /// The rows per strip; the last strip may have fewer.
    pub(crate) fn strip_rows(&self) -> usize {
        self.strip
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() / 2
    }

    /// The first position of each tile.
    pub(crate) fn tile_starts(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.tiles[..self.tiles.len() - 1].iter().copied()
    }

    /// The tiles that intersect the positions `wanted`: number, positions, and for each value in the tile its position
    /// within it.
    pub(crate) fn tiles(&self, wanted: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>, &[u16])> {
        let first = self.tiles.partition_point(|&begin| begin <= wanted.start).saturating_sub(1);
        let tiles = self.tiles[first..].windows(2).take_while(move |ends| ends[0] < wanted.end);
        let numbered = tiles.enumerate();
        numbered.map(move |(at, ends)| (first + at, ends[0]..ends[1], &self.numbers[ends[0]..ends[1]]))
    }

    /// All runs as ranges of values in tile order: for each tile one per strip.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let tiles = self.runs.chunks(self.strips + 1).zip(&self.tiles);
        tiles.flat_map(|(runs, begin)| {
            runs.windows(2).map(move |ends| begin + ends[0] as usize..begin + ends[1] as usize)
        })
    }

    /// For each tile its run of `strip`, as a range within the tile, and the run's rows within the strip.
    pub(crate) fn strip_runs(&self, strip: usize) -> impl Iterator<Item = (Range<usize>, &[u16])> {
        let rows = &self.numbers[self.len()..];
        self.runs.chunks(self.strips + 1).zip(&self.tiles).map(move |(runs, begin)| {
            let run = runs[strip] as usize..runs[strip + 1] as usize;
            (run.clone(), &rows[begin + run.start..begin + run.end])
        })
    }
}

/// Whether the rows of most tiles lie in many strips, judged by samples.
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

    /// A pseudo-random permutation: multiples of a number that is coprime to the number of rows.
    pub(crate) fn order(rows: usize) -> Vec<u32> {
        (0..rows).map(|position| (position * 48_271 % rows) as u32).collect()
    }

    #[test]
    fn scattered_orders_are_detected() {
        let rows = 40 * LONG_STRIP_ROWS + 3;
        assert!(is_scattered(&order(rows)));
        assert!(!is_scattered(&(0..rows as u32).collect::<Vec<_>>()));
        assert!(!is_scattered(&[]));
        // A hundred interleaved partitions are scattered; partitions of neighbouring rows are not.
        let strided: Vec<_> = (0..100_u32).flat_map(|first| (first..rows as u32).step_by(100)).collect();
        assert!(is_scattered(&strided));
        let mut near: Vec<_> = (0..rows as u32).collect();
        near.chunks_mut(10_000).for_each(<[u32]>::reverse);
        assert!(!is_scattered(&near));
    }
}
