//! Searches sorted keys for the bound of one row, starting from a hint.
//!
//! Exponential (galloping) search: O(log d) for a bound d rows away, so consecutive rows cost amortised O(1).
//!
//! Source: J. L. Bentley, A. C. Yao, "An almost optimal algorithm for unbounded searching", 1976.

use std::ops::Range;

use arrow_buffer::i256;

use super::range_offset::{FrameSide, Target};

/// Keys with a successor.
pub(super) trait Successor: Copy + Ord {
    /// The next greater key; `None` for the maximum.
    fn next(self) -> Option<Self>;
}

impl Successor for i64 {
    #[inline]
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
}

impl Successor for i128 {
    #[inline]
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }
}

impl Successor for i256 {
    #[inline]
    fn next(self) -> Option<Self> {
        self.checked_add(Self::ONE)
    }
}

/// The first row of `filled` inside a start at `target`, or after an end there; searched from `hint`.
#[inline(always)]
pub(super) fn seek<K: Successor>(
    keys: &[K],
    filled: &Range<usize>,
    hint: usize,
    side: FrameSide,
    target: Target<K>,
) -> usize {
    let first = match target {
        Target::Before => return filled.start,
        Target::After => return filled.end,
        Target::At(target) if side == FrameSide::Start => target,
        // A row is after an end at a key if its key is at least the successor.
        Target::At(target) => match target.next() {
            Some(next) => next,
            None => return filled.end,
        },
    };
    gallop(keys, filled, hint, first)
}

/// This many keys are counted without a branch before the exponential search: a bound is rarely farther from the
/// previous row's, and the distance is unpredictable.
const LINEAR_SEARCH_KEYS: usize = 8;

/// The first row of `filled` whose key is not below `first`, searched from `hint` in both directions.
#[inline(always)]
fn gallop<K: Copy + Ord>(keys: &[K], filled: &Range<usize>, hint: usize, first: K) -> usize {
    if hint == filled.start || keys[hint - 1] < first {
        gallop_forward(keys, filled, hint, first)
    } else {
        gallop_far(keys, filled, hint, first)
    }
}

/// As [`gallop`], if the result is not before `hint`.
#[inline(always)]
fn gallop_forward<K: Copy + Ord>(keys: &[K], filled: &Range<usize>, hint: usize, first: K) -> usize {
    match keys.get(hint..filled.end).and_then(|keys| keys.first_chunk::<LINEAR_SEARCH_KEYS>()) {
        Some(near) => match near.iter().map(|&key| usize::from(key < first)).sum::<usize>() {
            LINEAR_SEARCH_KEYS => gallop_far(keys, filled, hint + LINEAR_SEARCH_KEYS, first),
            passed => hint + passed,
        },
        None => gallop_far(keys, filled, hint, first),
    }
}

/// As [`gallop`], not inlined, to keep the loop over rows small.
#[inline(never)]
pub(super) fn gallop_far<K: Copy + Ord>(keys: &[K], filled: &Range<usize>, hint: usize, first: K) -> usize {
    let below = |key: K| key < first;
    // Invariant: the result lies in low..=high.
    let (mut low, mut high);
    if hint < filled.end && below(keys[hint]) {
        let mut step = 1;
        low = hint + 1;
        loop {
            let probe = hint + step;
            if probe >= filled.end {
                high = filled.end;
                break;
            }
            if !below(keys[probe]) {
                high = probe;
                break;
            }
            low = probe + 1;
            step *= 2;
        }
    } else {
        if hint == filled.start || below(keys[hint - 1]) {
            return hint;
        }
        let mut step = 2;
        high = hint - 1;
        loop {
            if hint - filled.start < step {
                low = filled.start;
                break;
            }
            if below(keys[hint - step]) {
                low = hint - step + 1;
                break;
            }
            high = hint - step;
            step *= 2;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if below(keys[middle]) { low = middle + 1 } else { high = middle }
    }
    low
}
