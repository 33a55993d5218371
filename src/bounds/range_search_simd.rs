//! Searches the bounds of eight rows at once among sorted 64-bit keys: RANGE with one distance for all rows.
//!
//! The first keys of the frames of sorted rows ascend, so their bounds ascend too. From the last bound of the previous
//! eight rows on, each key is compared with the first keys of all eight frames. The number of keys below a first key is
//! the distance of its bound. This needs one branch per eight keys and does not wait for the bound of another row.
//!
//! ```text
//!   keys from the previous bound  3  5  6  9 | 12 ..        eight at a time, until one is not below the last first key
//!   first keys of the frames      4  4  7  9  9 11 ..
//!   keys below each               1  1  3  3  3  4 ..       added to the previous bound: the bounds
//! ```
//!
//! Cost: amortised O(1) per row; a key is compared once per group of eight rows whose bounds it lies between.
//! Measurements: docs/performance.md.

use std::ops::Range;

use super::range_search::gallop_far;

/// The rows searched at once, and the keys between two branches: two AVX2 vectors.
const SEARCH_LANES: usize = 8;

/// Writes the bound of each of `rows`, all of which lie in `filled`: the first row whose key is not below `first` of
/// the row's key. Output after these rows may be overwritten.
///
/// `first` must accept any number and must not descend where keys ascend.
#[inline(always)]
pub(super) fn search(
    keys: &[i64],
    filled: &Range<usize>,
    rows: Range<usize>,
    first: impl Fn(i64) -> i64 + Copy,
    out: &mut [u32],
) {
    if filled.len() <= SEARCH_LANES {
        // Small partitions, of which there are usually many.
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

/// `SEARCH_LANES` keys from `at` on, if there are as many.
#[inline(always)]
fn lanes(keys: &[i64], at: usize) -> Option<&[i64; SEARCH_LANES]> {
    keys.get(at..).and_then(|keys| keys.first_chunk())
}

/// The keys from `at` on, padded with the maximum.
#[inline(always)]
fn lanes_from(keys: &[i64], at: usize) -> [i64; SEARCH_LANES] {
    lanes(keys, at).copied().unwrap_or_else(|| padded(keys, at, keys.len()))
}

/// The keys in `at..end`, padded with the maximum, which is below no key.
#[inline(always)]
fn padded(keys: &[i64], at: usize, end: usize) -> [i64; SEARCH_LANES] {
    let left = end - at;
    match lanes(keys, at) {
        Some(keys) => std::array::from_fn(|lane| if lane < left { keys[lane] } else { i64::MAX }),
        None => std::array::from_fn(|lane| if lane < left { keys[at + lane] } else { i64::MAX }),
    }
}

/// Adds to `below` how many of `near` are below each of `firsts`.
#[inline(always)]
fn count(near: &[i64; SEARCH_LANES], firsts: &[i64; SEARCH_LANES], below: &mut [i64; SEARCH_LANES]) {
    for key in near {
        for (below, first) in below.iter_mut().zip(firsts) {
            *below += i64::from(key < first);
        }
    }
}

/// Writes `edge + below`, as far as `out` reaches.
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

        /// Compared with the definition row by row, for any surrounding rows and partitions.
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
