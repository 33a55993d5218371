//! Wavelet tree: selects the k-th row of a frame in an order, and counts the rows before another.
//!
//! ```text
//!   position         0 1 2 3 4 5 6 7      counted rows of one partition, in the window's order
//!   rank             5 2 7 0 3 6 1 4      their indices in the other order: a permutation
//!   bit 2            1 0 1 0 0 1 0 1      4 or more?
//!                    2 0 3 1 . 5 7 6 4    ranks below 4 go left, the others right; each side keeps its order
//!   bit 1            1 0 1 0 . 0 1 1 0
//!                    0 1 . 2 3 . 5 4 . 7 6
//!   bit 0            0 1 . 0 1 . 1 0 . 1 0
//! ```
//!
//! The frame 1..5 contains the ranks 2 7 0 3. To select the third smallest: one of the four has bit 2 set, so it is
//! among the three on the left, at 0..3 there (2 0 3). The range of a run in the next level follows from the number of
//! ones before its two ends. One step per level leads to a single rank, the result. Counting smaller ranks descends in
//! the same way and sums the ranks that it leaves on the left. Up to three ranges that EXCLUDE leaves descend together.
//!
//! Cost: O(log m) per query, m rows in the partition, for any frames in any order; two rank operations per level, each
//! a single load. Memory: two bits per row and level; nothing per partition. A partition's bits are stored at its own
//! positions in each level, so the bits of 10,000 rows stay in the first-level cache. Symbols are ranks, not values:
//! all are distinct, so ties need no special case, every node but a partition's last is full, and the beginning of a
//! node and the number of ones before it are computed arithmetically, where a tree of values would need two more rank
//! operations per level.
//!
//! Compared with a merge sort tree (A. Vogelsgesang et al., "Efficient Evaluation of Arbitrarily-Framed Holistic SQL
//! Aggregates and Window Functions", SIGMOD 2022): the same queries in O(log m) without fractional cascading, with two
//! bits per row and level instead of two words, built by stable partitioning instead of merging.
//!
//! R. Grossi, A. Gupta, J. Vitter, "High-order Entropy-compressed Text Indexes", SODA 2003. F. Claude, G. Navarro,
//! "The Wavelet Matrix", SPIRE 2012.

use std::ops::Range;

use crate::error::Result;
use crate::util::boundaries::Boundaries;
use crate::util::cancel::Cancel;
use crate::util::reserve;

/// The maximum number of bits of a rank.
const MAX_RANK_BITS: usize = 32;

/// Bits per word of a level; with the counter beside them a word has 64 bits.
const LEVEL_WORD_BITS: usize = 32;

/// One bit of each rank, in the order that results from partitioning by the higher bits.
#[derive(Debug, Clone)]
struct BitLevel {
    /// The low half contains bits, the high half the number of set bits before them.
    words: Vec<u64>,
}

impl BitLevel {
    fn new(ranks: &[u32], bit: usize) -> Result<Self> {
        let mut words = reserve::with_capacity(ranks.len() / LEVEL_WORD_BITS + 1)?;
        let mut before = 0_u64;
        for chunk in ranks.chunks(LEVEL_WORD_BITS) {
            let bits = chunk.iter().rev().fold(0, |bits, rank| (bits << 1) | ((rank >> bit) & 1));
            words.push((before << LEVEL_WORD_BITS) | u64::from(bits));
            before += u64::from(bits.count_ones());
        }
        if ranks.len().is_multiple_of(LEVEL_WORD_BITS) {
            words.push(before << LEVEL_WORD_BITS);
        }
        Ok(Self { words })
    }

    /// The number of set bits before `at`.
    #[inline]
    fn rank(&self, at: u32) -> u32 {
        let word = self.words[at as usize / LEVEL_WORD_BITS];
        let below = word as u32 & ((1 << (at as usize % LEVEL_WORD_BITS)) - 1);
        (word >> LEVEL_WORD_BITS) as u32 + below.count_ones()
    }
}

/// The bits of all partitions' ranks.
#[derive(Debug, Clone)]
pub(crate) struct Wavelet {
    /// From the lowest bit to the highest.
    levels: Vec<BitLevel>,
}

impl Wavelet {
    /// The tree of an order: `sorted` are the positions in that order within each partition.
    ///
    /// # Errors
    /// Cancellation; there is no memory for it.
    pub(crate) fn new(partitions: &Boundaries, sorted: &[u32], cancel: &Cancel) -> Result<Self> {
        let mut ranks = reserve::repeated(0_u32, sorted.len())?;
        let mut largest = 0;
        partitions.for_each_run(|partition| {
            largest = largest.max(partition.len());
            for (rank, &place) in sorted[partition].iter().enumerate() {
                ranks[place as usize] = rank as u32;
            }
        });
        let depth = rank_bits(largest);
        let mut levels = Vec::with_capacity(depth);
        let mut next = reserve::repeated(0, ranks.len())?;
        for bit in (0..depth).rev() {
            cancel.check()?;
            levels.push(BitLevel::new(&ranks, bit)?);
            if bit > 0 {
                partitions.for_each_run(|partition| split_by_bit(&ranks, &mut next, partition, bit));
                std::mem::swap(&mut ranks, &mut next);
            }
        }
        levels.reverse();
        Ok(Self { levels })
    }
}

/// Partitions each of the partition's nodes by `bit`, stably: ranks without the bit first.
fn split_by_bit(ranks: &[u32], next: &mut [u32], partition: Range<usize>, bit: usize) {
    let half = 1 << bit;
    if partition.len() <= half {
        next[partition.clone()].copy_from_slice(&ranks[partition]);
        return;
    }
    for begin in partition.clone().step_by(2 * half) {
        let mut to = [begin, begin + half];
        for &rank in &ranks[begin..partition.end.min(begin + 2 * half)] {
            let side = &mut to[(rank >> bit) as usize & 1];
            next[*side] = rank;
            *side += 1;
        }
    }
}

/// The number of bits of the ranks of this many positions.
fn rank_bits(places: usize) -> usize {
    (usize::BITS - places.saturating_sub(1).leading_zeros()) as usize
}

/// A run of positions: its begin and its end.
pub(crate) type PositionRange = [u32; 2];

/// Queries on frames, one partition at a time.
#[derive(Debug)]
pub(crate) struct WaveletCursor<'a> {
    levels: &'a [BitLevel],
    /// The partition's first position.
    begin: u32,
    /// The number of the partition's ranks.
    size: u32,
    /// The number of ones before the partition, by level.
    ones: [u32; MAX_RANK_BITS],
}

/// The state of a query.
#[derive(Debug, Clone, Copy)]
struct Node<const N: usize> {
    /// The number of levels below.
    level: usize,
    /// The first position of the node.
    begin: u32,
    /// The frame's positions in the node.
    runs: [PositionRange; N],
}

/// The children of a node.
struct Sides<const N: usize> {
    /// The number of the frame's positions in the left child.
    zeros: u32,
    zero: Node<N>,
    one: Node<N>,
}

impl<'a> WaveletCursor<'a> {
    pub(crate) fn new(wavelet: &'a Wavelet) -> Self {
        Self { levels: &wavelet.levels, begin: 0, size: 0, ones: [0; MAX_RANK_BITS] }
    }

    /// Sets the partition for the following queries.
    pub(crate) fn set_partition(&mut self, partition: &Range<usize>) {
        self.begin = partition.start as u32;
        self.size = partition.len() as u32;
        for (ones, level) in self.ones.iter_mut().zip(&self.levels[..rank_bits(partition.len())]) {
            *ones = level.rank(self.begin);
        }
    }

    fn root<const N: usize>(&self, runs: [PositionRange; N]) -> Node<N> {
        Node { level: rank_bits(self.size as usize), begin: self.begin, runs }
    }

    #[inline]
    fn sides<const N: usize>(&self, node: &Node<N>) -> Sides<N> {
        let level = node.level - 1;
        let bits = &self.levels[level];
        let half = 1 << level;
        // All nodes of the partition before this one are full, so half of their ranks have the bit set.
        let before = self.ones[level] + (node.begin - self.begin) / 2;
        let (mut zeros, mut zero, mut one) = (0, node.runs, node.runs);
        for ((&[begin, end], zero), one) in node.runs.iter().zip(&mut zero).zip(&mut one) {
            let ones = [bits.rank(begin), bits.rank(end)];
            zeros += (end - begin) - (ones[1] - ones[0]);
            *zero = [begin + before - ones[0], end + before - ones[1]];
            *one = [node.begin + half + ones[0] - before, node.begin + half + ones[1] - before];
        }
        Sides {
            zeros,
            zero: Node { level, begin: node.begin, runs: zero },
            one: Node { level, begin: node.begin + half, runs: one },
        }
    }

    /// For each of `ks`, which are ascending, the k-th of the positions in `runs`, from 0, as an index in the sorted
    /// order.
    #[inline]
    pub(crate) fn select<const N: usize>(&self, runs: [PositionRange; N], ks: &[u32], out: &mut [u32]) {
        self.select_from(self.root(runs), ks, 0, out);
    }

    /// As `select` from a node on, after `passed` positions before the node.
    fn select_from<const N: usize>(&self, mut node: Node<N>, mut ks: &[u32], mut passed: u32, mut out: &mut [u32]) {
        let &[first, ..] = ks else { return };
        let mut first = first;
        let last = ks[ks.len() - 1];
        while node.level > 0 {
            let Sides { zeros, zero, one } = self.sides(&node);
            let ahead = passed + zeros;
            if last < ahead {
                node = zero;
                continue;
            }
            if first < ahead {
                // The queries split between the two children.
                let left = ks.partition_point(|&k| k < ahead);
                let (here, there) = std::mem::take(&mut out).split_at_mut(left);
                self.select_from(zero, &ks[..left], passed, here);
                (ks, out) = (&ks[left..], there);
                first = ks[0];
            }
            passed = ahead;
            node = one;
        }
        out.fill(node.begin);
    }

    /// The number of positions in `runs` with a rank below `rank`, which is relative to the partition.
    pub(crate) fn count_below<const N: usize>(&self, runs: [PositionRange; N], rank: u32) -> u32 {
        if rank >= self.size {
            return runs.iter().map(|[begin, end]| end - begin).sum();
        }
        let mut node = self.root(runs);
        let mut below = 0;
        while node.level > 0 && node.runs.iter().any(|[begin, end]| begin < end) {
            let Sides { zeros, zero, one } = self.sides(&node);
            if (rank >> zero.level) & 1 == 0 {
                node = zero;
            } else {
                below += zeros;
                node = one;
            }
        }
        below
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A pseudorandom permutation within each partition.
    fn sorted(sizes: &[usize]) -> (Boundaries, Vec<u32>) {
        let (mut bits, mut sorted) = (Vec::new(), Vec::new());
        for &size in sizes {
            let begin = bits.len();
            bits.extend((0..size).map(|at| at == 0));
            let mut places: Vec<u32> = (begin..begin + size).map(|place| place as u32).collect();
            places.sort_by_key(|&place| (u64::from(place) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40);
            sorted.extend(places);
        }
        (Boundaries::new(bits.into_iter().collect()), sorted)
    }

    /// The ranks of the positions in `runs`, ascending.
    fn ranks(sorted: &[u32], runs: &[PositionRange]) -> Vec<u32> {
        let inside = |place: &u32| runs.iter().any(|[begin, end]| (begin..end).contains(&place));
        (0..sorted.len() as u32).filter(|&at| inside(&sorted[at as usize])).collect()
    }

    #[test]
    fn select_and_rank_match_sorting() {
        let sizes = [1, 2, 3, 40, 64, 1, 33, 7, 100];
        let (boundaries, sorted) = sorted(&sizes);
        let wavelet = Wavelet::new(&boundaries, &sorted, &Cancel::default()).unwrap();
        let mut cursor = WaveletCursor::new(&wavelet);
        let mut begin = 0;
        for size in sizes {
            cursor.set_partition(&(begin..begin + size));
            let at = |share: usize| (begin + size * share / 5) as u32;
            for cuts in
                [[0, 5, 5, 5, 5, 5], [0, 1, 1, 3, 4, 5], [1, 2, 3, 3, 4, 4], [2, 2, 2, 2, 2, 2], [0, 2, 2, 2, 3, 5]]
            {
                let runs = [[at(cuts[0]), at(cuts[1])], [at(cuts[2]), at(cuts[3])], [at(cuts[4]), at(cuts[5])]];
                let expected = ranks(&sorted, &runs);
                let ks: Vec<u32> = (0..expected.len() as u32).collect();
                let mut found = vec![0; ks.len()];
                cursor.select(runs, &ks, &mut found);
                assert_eq!(found, expected, "{runs:?}");
                for &k in &ks {
                    let mut pair = [0; 3];
                    cursor.select(runs, &[k, k, k], &mut pair);
                    assert_eq!(pair, [expected[k as usize]; 3]);
                }
                for rank in 0..=size as u32 {
                    let below = expected.iter().filter(|&&at| at < begin as u32 + rank).count();
                    assert_eq!(cursor.count_below(runs, rank), below as u32, "{runs:?} below {rank}");
                }
            }
            begin += size;
        }
    }

    #[test]
    fn empty_wavelet() {
        let wavelet = Wavelet::new(&Boundaries::single(0), &[], &Cancel::default()).unwrap();
        let mut cursor = WaveletCursor::new(&wavelet);
        cursor.set_partition(&(0..0));
        assert_eq!(cursor.count_below([[0, 0]], 0), 0);
        cursor.select([[0, 0]], &[], &mut []);
    }
}
