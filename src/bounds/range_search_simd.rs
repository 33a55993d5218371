//! The frame edges of eight rows at once, among sorted 64-bit keys: RANGE by one distance for all rows.
//!
//! The first keys of the frames of rows in order ascend, so their edges do too. From the last edge of the eight rows before
//! on, each key is compared with the first keys of all eight frames, and how many keys are below each of these is how far
//! its edge lies: no branch and no wait for the edge of another row, but for one branch in eight keys.
//!
//! ```text
//!   keys from the edge before     3  5  6  9 | 12 ..        eight at a time, until one is not below the last first key
//!   first keys of the frames      4  4  7  9  9 11 ..
//!   keys below each               1  1  3  3  3  4 ..       added to the edge before: the edges
//! ```
//!
//! O(1) a row, amortised: a key is compared once for each eight rows whose edges it lies between. A million rows, ns for an
//! edge: 2.0 where a search of its own for each row took 3.4, and in partitions of five rows 3.3 and 5.0. Without AVX2
//! it is 4.1 and 6.5.

use std::ops::Range;

use super::range_search::gallop_far;

/// Rows whose edges are looked for at once, and keys between two branches: two vectors of AVX2. With 12 or 16 keys it took
/// 2.5 to 2.9 ns.
const SEARCH_LANES: usize = 8;

/// Writes the edge of each of `rows`, which all lie in `filled`: the first row whose key is not below `first` of the row's.
/// What follows in `out` may be overwritten.
///
/// `first` must be sound for any number, and not descend where keys ascend.
#[inline(always)]
pub(super) fn search(
    keys: &[i64],
    filled: &Range<usize>,
    rows: Range<usize>,
    first: impl Fn(i64) -> i64 + Copy,
    out: &mut [u32],
) {
    if filled.len() <= SEARCH_LANES {
        // As most partitions are where they are many.
        let mut below = [0; SEARCH_LANES];
        count(&padded(keys, filled.start, filled.end), &lanes_from(keys, rows.start).map(first), &mut below);
        return write(filled.start, below, out);
    }
    let mut edge = gallop_far(keys, filled, rows.start, first(keys[rows.start]));
    let last = rows.end - 1;
    for (row, out) in rows.step_by(SEARCH_LANES).zip(out.chunks_mut(SEARCH_LANES)) {
        let firsts = lanes_from(keys, row).map(first);
        let furthest = first(keys[last.min(row + SEARCH_LANES - 1)]);
        let mut below = [0; SEARCH_LANES];
        let mut at = edge;
        while let Some(near) = lanes(&keys[..filled.end], at) {
            count(near, &firsts, &mut below);
            at += SEARCH_LANES;
            if near[SEARCH_LANES - 1] >= furthest {
                break;
            }
        }
        if filled.end - at < SEARCH_LANES {
            count(&padded(keys, at, filled.end), &firsts, &mut below);
        }
        write(edge, below, out);
        edge += below[SEARCH_LANES - 1] as usize;
    }
}

/// So many keys from `at` on, if there are.
#[inline(always)]
fn lanes(keys: &[i64], at: usize) -> Option<&[i64; SEARCH_LANES]> {
    keys.get(at..).and_then(|keys| keys.first_chunk())
}

/// The keys from `at` on, as long as there are any.
#[inline(always)]
fn lanes_from(keys: &[i64], at: usize) -> [i64; SEARCH_LANES] {
    lanes(keys, at).copied().unwrap_or_else(|| padded(keys, at, keys.len()))
}

/// The keys from `at` up to `end`, and then the greatest there is, which is below none.
#[inline(always)]
fn padded(keys: &[i64], at: usize, end: usize) -> [i64; SEARCH_LANES] {
    let left = end - at;
    match lanes(keys, at) {
        Some(keys) => std::array::from_fn(|lane| if lane < left { keys[lane] } else { i64::MAX }),
        None => std::array::from_fn(|lane| if lane < left { keys[at + lane] } else { i64::MAX }),
    }
}

/// Counts, for each of `firsts`, which of `near` are below it.
#[inline(always)]
fn count(near: &[i64; SEARCH_LANES], firsts: &[i64; SEARCH_LANES], below: &mut [i64; SEARCH_LANES]) {
    for key in near {
        for (below, first) in below.iter_mut().zip(firsts) {
            *below += i64::from(key < first);
        }
    }
}

/// Writes `edge` and so many more, as far as there is room.
#[inline(always)]
fn write(edge: usize, below: [i64; SEARCH_LANES], out: &mut [u32]) {
    let edges = below.map(|below| (edge as i64 + below) as u32);
    match out.first_chunk_mut() {
        Some(out) => *out = edges,
        None => out.iter_mut().zip(edges).for_each(|(out, edge)| *out = edge),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::util::simd::portable_and_widest;
    use crate::util::simd::with_widest_vectors;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        /// Against the definition, row by row, whatever lies around the rows and their partition.
        #[test]
        fn finds_first_key_not_below(
            mut keys in prop::collection::vec(prop_oneof![-40i64..40, Just(i64::MAX), Just(i64::MIN)], 1..80),
            cuts in any::<[prop::sample::Index; 4]>(),
            distance in -60i64..60,
        ) {
            let mut cuts = cuts.map(|cut| cut.index(keys.len() + 1));
            cuts.sort_unstable();
            let [start, from, to, end] = cuts;
            prop_assume!(from < to);
            keys[start..end].sort_unstable();
            let first = |key: i64| key.saturating_add(distance);
            let expected: Vec<_> = keys[from..to]
                .iter()
                .map(|key| (start + keys[start..end].partition_point(|other| *other < first(*key))) as u32)
                .collect();
            let found = portable_and_widest(|| {
                let mut out = vec![u32::MAX; keys.len() - from];
                with_widest_vectors(#[inline(always)] || search(&keys, &(start..end), from..to, first, &mut out));
                out.truncate(to - from);
                out
            });
            prop_assert_eq!(&found, &[expected.clone(), expected]);
        }
    }
}
