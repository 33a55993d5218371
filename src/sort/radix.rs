//! Radix sort of (key, row) words.
//!
//! A word holds a row's key above its row number. So words are distinct, any sort of them is stable, and moving a row
//! is one store. Two steps:
//!
//! ```text
//!   1. rows are distributed to buckets by the key's top bits, chunk by chunk     word = (the key's other bits, row)
//!   2. each bucket's pieces, one per chunk, are concatenated and sorted          digit by digit from the lowest (LSD)
//! ```
//!
//! The top bits are implied by the bucket and removed from the word: what remains of 75 bits of key and row still fits
//! in 64. A chunk's keys and words stay in the cache while they are scattered, and so does a bucket; memory is written
//! once and read once, sequentially. With several threads each distributes its own share of the rows. In a bucket,
//! passes over low digits are skipped if the higher digits already distinguish almost all words; an insertion sort then
//! finishes.
//!
//! Cost: O(rows * bits) time. Memory: a word per row (three where most rows fall into one bucket), the row numbers, and
//! a MiB per thread. Faster than comparison sorts from some hundred rows on.
//!
//! Sources: "Engineering Radix Sort", Computing Systems 6(1), 1993; Polychroniou and Ross, "A Comprehensive Study of
//! Main-Memory Partitioning", SIGMOD 2014.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use arrow_buffer::BooleanBuffer;

use super::normalized_key::{self, Field, KEYS_PER_BLOCK, SortWord};
use crate::error::Result;
use crate::util::bitmap::WORD_BITS;
use crate::util::parallel_fill::fill_sized_chunks;
use crate::util::reserve;
use crate::util::threads::Threads;
use crate::util::unrolled::{count_by_bucket, for_each_unrolled, scatter_by_bucket};

/// The bytes of keys that are distributed at a time: they and their words fit the second-level cache. Smaller chunks
/// make the pieces of a bucket too short.
const CHUNK_BYTES: usize = 512 * 1024;

/// The rows of the buckets that a thread takes at a time: fetching single buckets costs more, and the scratch buffer is
/// reused within a task.
const ROWS_PER_TASK: usize = 16 * 1024;

/// The maximum number of bits of a digit: 2048 counters and as many write positions.
pub(crate) const MAX_DIGIT_BITS: u32 = 11;

/// Buckets have about 2^`BUCKET_BITS` rows, which fit the first two cache levels together with a scratch buffer. The
/// exact value hardly matters.
const BUCKET_BITS: u32 = 10;

/// Up to this many words a comparison sort is faster than counting.
const COMPARISON_SORT_WORDS: usize = 64;

/// The digit width of LSD passes: counters and write positions fit the first-level cache together with a bucket. Chosen
/// with `benches/sort.rs`.
const LSD_DIGIT_BITS: u32 = 10;

/// If more passes are needed, distributing into smaller buckets first is cheaper.
const MAX_LSD_PASSES: u32 = 3;

/// If evenly distributed words are sorted by this many more bits than their count has, at most one in 32 is out of
/// order.
const INSERTION_SORT_BITS: u32 = 5;

/// The keys to sort by.
pub(crate) struct RadixKeys<'a> {
    pub(crate) fields: &'a [Field],
    pub(crate) rows: usize,
    /// The total number of bits.
    pub(crate) bits: u32,
    /// If set, the runs of rows that are equal except in this many lowest bits are returned.
    pub(crate) runs: Option<u32>,
    /// For each entry, the rows that differ from the previous row in bits other than this many lowest ones are
    /// returned.
    pub(crate) bits_after: &'a [u32],
}

/// The sorted rows.
pub(crate) struct RadixSorted {
    /// The row numbers, ties in row order.
    pub(crate) order: Vec<u32>,
    /// The requested runs of two or more rows.
    pub(crate) runs: Vec<Range<usize>>,
    /// For each of [`RadixKeys::bits_after`], a bitmap of the rows that differ from the previous row; includes row 0.
    pub(crate) starts: Vec<BooleanBuffer>,
}

/// A bucket's position among the sorted rows.
struct Bucket {
    begin: usize,
    rows: usize,
    number: usize,
    /// The last non-empty bucket before it.
    before: Option<usize>,
}

/// Marks rows that differ from the previous row in the upper bits of their keys. The words are atomic because buckets
/// of several threads may share a word of the bitmap.
struct BoundaryMarks {
    /// The number of low bits of the word that are ignored.
    low: u32,
    /// The number of low bits of the bucket number that are ignored.
    low_of_bucket: u32,
    starts: Vec<AtomicU64>,
}

impl BoundaryMarks {
    fn new(bits_after: u32, row_bits: u32, keys: &RadixKeys, top: u32) -> Self {
        let starts = (0..keys.rows.div_ceil(WORD_BITS)).map(|_| AtomicU64::new(0)).collect();
        Self { low: row_bits + bits_after, low_of_bucket: (bits_after + top).saturating_sub(keys.bits), starts }
    }

    /// Marks the rows of one bucket, given its sorted words.
    fn bucket<W: SortWord>(&self, words: &[W], place: &Bucket) {
        let first = place.before.is_none_or(|before| (before ^ place.number) >> self.low_of_bucket != 0);
        let mut bits = u64::from(first) << (place.begin % WORD_BITS);
        let mut at = place.begin;
        for pair in words.windows(2) {
            at += 1;
            if at.is_multiple_of(WORD_BITS) {
                self.starts[at / WORD_BITS - 1].fetch_or(bits, Relaxed);
                bits = 0;
            }
            // The bits removed from the word are those of the bucket number, equal within the bucket.
            let differ = self.low < W::BITS && (pair[0] ^ pair[1]) >> self.low != W::default();
            bits |= u64::from(differ) << (at % WORD_BITS);
        }
        self.starts[at / WORD_BITS].fetch_or(bits, Relaxed);
    }

    fn finish(self, rows: usize) -> BooleanBuffer {
        let words: Vec<u64> = self.starts.into_iter().map(AtomicU64::into_inner).collect();
        BooleanBuffer::new(words.into(), 0, rows)
    }
}

/// The number of bits of row numbers below `rows`.
pub(crate) fn row_bits(rows: usize) -> u32 {
    usize::BITS - rows.saturating_sub(1).leading_zeros()
}

/// The words of a share of the rows, chunk by chunk in buckets by their keys' top bits.
struct Partitioned<W> {
    words: Vec<W>,
    /// The number of rows per chunk; the last may have fewer.
    chunk: usize,
    /// The end of each bucket within its chunk, chunk by chunk.
    ends: Vec<u32>,
    buckets: usize,
}

impl<W> Partitioned<W> {
    /// A bucket's pieces, in row order.
    fn bucket(&self, number: usize) -> impl Iterator<Item = &[W]> {
        self.words.chunks(self.chunk).zip(self.ends.chunks(self.buckets)).map(move |(words, ends)| {
            let begin = number.checked_sub(1).map_or(0, |before| ends[before]);
            &words[begin as usize..ends[number] as usize]
        })
    }
}

impl RadixKeys<'_> {
    /// Sorts the rows by their keys. The key must fit in `W`; key and row number together may exceed it by at most
    /// [`MAX_DIGIT_BITS`] bits.
    pub(crate) fn order<W: SortWord>(&self, threads: &Threads) -> Result<RadixSorted> {
        let row_bits = row_bits(self.rows);
        let surplus = (self.bits + row_bits).saturating_sub(W::BITS);
        // A run must lie within one bucket.
        let most = MAX_DIGIT_BITS.min(self.bits - self.runs.unwrap_or(0));
        let top = surplus.max(row_bits.saturating_sub(BUCKET_BITS)).min(most);
        let shares = threads.ranges(&(0..self.rows));
        let shares = threads.map(shares, |rows| self.partition::<W>(rows, top, row_bits, threads))?;
        let marks: Vec<_> =
            self.bits_after.iter().map(|&bits_after| BoundaryMarks::new(bits_after, row_bits, self, top)).collect();
        let (mut begin, mut before) = (0, None);
        let mut groups: Vec<(usize, Vec<_>)> = Vec::new();
        for bucket in 0..1 << top {
            let rows: usize = shares.iter().flat_map(|share| share.bucket(bucket)).map(<[W]>::len).sum();
            if rows > 0 {
                let place = Bucket { begin, rows, number: bucket, before };
                match groups.last_mut() {
                    Some((all, group)) if *all + rows <= ROWS_PER_TASK => {
                        *all += rows;
                        group.push(place);
                    }
                    _ => groups.push((rows, vec![place])),
                }
                (begin, before) = (begin + rows, Some(bucket));
            }
        }
        let (order, runs) = fill_sized_chunks(groups, threads, |group, order| {
            threads.cancel().check()?;
            let (mut words, mut scratch, mut runs) = (Vec::new(), Vec::new(), Vec::new());
            for place in group {
                words.clear();
                reserve::reserve(&mut words, place.rows)?;
                // The shares are in row order.
                for piece in shares.iter().flat_map(|share| share.bucket(place.number)) {
                    words.extend_from_slice(piece);
                }
                if scratch.len() < words.len() {
                    scratch = reserve::repeated(W::default(), words.len())?;
                }
                sort_words(&mut words, &mut scratch[..place.rows], row_bits);
                order.append(&words, |word| word.row(row_bits));
                for mark in &marks {
                    mark.bucket(&words, &place);
                }
                if let Some(bits_after) = self.runs {
                    runs.extend(equal_runs(&words, row_bits + bits_after, place.begin));
                }
            }
            Ok(runs)
        })?;
        let starts = marks.into_iter().map(|mark| mark.finish(self.rows)).collect();
        Ok(RadixSorted { order, runs: runs.into_iter().flatten().collect(), starts })
    }

    /// Distributes `rows` to buckets by the keys' `top` bits, stably.
    fn partition<W: SortWord>(
        &self,
        rows: Range<usize>,
        top: u32,
        row_bits: u32,
        threads: &Threads,
    ) -> Result<Partitioned<W>> {
        let (shift, buckets) = (self.bits - top, 1 << top);
        let bucket = |key: W| key.digit(shift, buckets);
        let chunk = (CHUNK_BYTES / size_of::<W>()).min(rows.len()).max(1);
        let (mut keys, mut scattered) = (vec![W::default(); chunk], vec![W::default(); chunk]);
        let mut words = reserve::with_capacity(rows.len())?;
        let mut ends = Vec::with_capacity(rows.len().div_ceil(chunk) * buckets);
        for begin in rows.clone().step_by(chunk) {
            threads.cancel().check()?;
            let keys = &mut keys[..chunk.min(rows.end - begin)];
            let mut next = vec![0_u32; buckets];
            for (block, keys) in keys.chunks_mut(KEYS_PER_BLOCK).enumerate() {
                normalized_key::write_words(self.fields, begin + block * KEYS_PER_BLOCK, keys);
                count_by_bucket(keys, &mut next, bucket);
            }
            counts_to_starts(&mut next);
            let scattered = &mut scattered[..keys.len()];
            let mut row = begin;
            scatter_by_bucket(
                keys,
                &mut next,
                bucket,
                #[inline(always)]
                |at, key| {
                    // The bits shifted out are those of the bucket number.
                    scattered[at] = (key << row_bits) | W::from_row(row);
                    row += 1;
                },
            );
            words.extend_from_slice(scattered);
            ends.extend_from_slice(&next);
        }
        Ok(Partitioned { words, chunk, ends, buckets })
    }
}

/// Converts the counts per bucket into start positions.
fn counts_to_starts(counts: &mut [u32]) {
    let mut end = 0;
    for count in counts {
        end += std::mem::replace(count, end);
    }
}

/// Sorts words by the bits from `low` on. They must be sorted by the bits below.
fn sort_words<W: SortWord>(words: &mut [W], scratch: &mut [W], low: u32) {
    if words.len() <= COMPARISON_SORT_WORDS {
        // All words are distinct, so this is the stable order.
        words.sort_unstable();
        return;
    }
    // Skips low and high bits in which no two words differ.
    let first = words[0];
    let differing = words.iter().fold(W::default(), |differing, &word| differing | (word ^ first)) >> low;
    if differing == W::default() {
        return;
    }
    let (low, high) = (low + differing.trailing_zeros(), low + W::BITS - differing.leading_zeros());
    let passes = (high - low).div_ceil(LSD_DIGIT_BITS);
    let enough = (words.len().ilog2() + INSERTION_SORT_BITS).div_ceil(LSD_DIGIT_BITS);
    if enough < passes && enough <= MAX_LSD_PASSES {
        lsd_passes(words, scratch, high - enough * LSD_DIGIT_BITS, LSD_DIGIT_BITS, enough);
        if insertion_sort(words) {
            return;
        }
    }
    if passes <= MAX_LSD_PASSES {
        lsd_passes(words, scratch, low, (high - low).div_ceil(passes), passes);
        return;
    }
    let digit = (words.len().ilog2() - 2).min(MAX_DIGIT_BITS);
    let ends = lsd_pass(words, scratch, high - digit, digit);
    words.copy_from_slice(scratch);
    let mut begin = 0;
    for end in ends {
        let end = end as usize;
        sort_words(&mut words[begin..end], &mut scratch[begin..end], low);
        begin = end;
    }
}

/// Sorts words by `passes` digits, at most [`MAX_LSD_PASSES`], the lowest at bit `low`.
fn lsd_passes<W: SortWord>(words: &mut [W], scratch: &mut [W], low: u32, digit: u32, passes: u32) {
    match passes {
        1 => lsd_digits::<W, 1>(words, scratch, low, digit),
        2 => lsd_digits::<W, 2>(words, scratch, low, digit),
        _ => lsd_digits::<W, 3>(words, scratch, low, digit),
    }
}

/// Sorts words by `N` digits, which are counted in one pass.
fn lsd_digits<W: SortWord, const N: usize>(words: &mut [W], scratch: &mut [W], low: u32, digit: u32) {
    // The mask lets the compiler remove the bounds checks; no digit is wider.
    let place = |word: W, pass: usize| word.digit(low + pass as u32 * digit, 1 << digit) & ((1 << LSD_DIGIT_BITS) - 1);
    let mut counts = [[0_u32; 1 << LSD_DIGIT_BITS]; N];
    for_each_unrolled(
        words,
        #[inline(always)]
        |word| {
            for (pass, counts) in counts.iter_mut().enumerate() {
                counts[place(word, pass)] += 1;
            }
        },
    );
    // Alternates between the two buffers.
    let (mut from, mut to) = (&mut *words, &mut *scratch);
    for (pass, next) in counts.iter_mut().enumerate() {
        counts_to_starts(&mut next[..1 << digit]);
        scatter_by_bucket(
            from,
            next,
            |word| place(word, pass),
            #[inline(always)]
            |at, word| to[at] = word,
        );
        std::mem::swap(&mut from, &mut to);
    }
    if N % 2 == 1 {
        words.copy_from_slice(scratch);
    }
}

/// Writes `words` into `sorted` by one digit, stably; returns the end of each digit's words.
fn lsd_pass<W: SortWord>(words: &[W], sorted: &mut [W], shift: u32, digit: u32) -> Vec<u32> {
    let place = |word: W| word.digit(shift, 1 << digit);
    let mut next = vec![0_u32; 1 << digit];
    count_by_bucket(words, &mut next, place);
    counts_to_starts(&mut next);
    scatter_by_bucket(
        words,
        &mut next,
        place,
        #[inline(always)]
        |at, word| sorted[at] = word,
    );
    next
}

/// Insertion sort for words of which few are out of order. Gives up and returns `false` after as many moves as there
/// are words.
fn insertion_sort<W: SortWord>(words: &mut [W]) -> bool {
    let mut moves = words.len();
    for place in 1..words.len() {
        let word = words[place];
        if words[place - 1] > word {
            let mut at = place;
            while at > 0 && words[at - 1] > word {
                words[at] = words[at - 1];
                at -= 1;
            }
            words[at] = word;
            moves = moves.saturating_sub(place - at);
            if moves == 0 {
                return false;
            }
        }
    }
    true
}

/// The runs of two or more words with equal bits from `low` on, as row positions; the first word is at position
/// `begin`.
fn equal_runs<W: SortWord>(words: &[W], low: u32, begin: usize) -> Vec<Range<usize>> {
    let mut at = begin;
    let runs = words.chunk_by(|left, right| (*left ^ *right) >> low == W::default());
    let ranges = runs.map(|run| {
        at += run.len();
        at - run.len()..at
    });
    ranges.filter(|run| run.len() > 1).collect()
}
