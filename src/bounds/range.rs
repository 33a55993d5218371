//! RANGE: ends at a distance of the order key.
//!
//! The key column is made ordered numbers once per section ([`super::key`]); the end of a row's frame is then the
//! first row whose key is not below the row's target. The search starts from where it ended for the row before and
//! gallops (J. L. Bentley, A. C. Yao, "An almost optimal algorithm for unbounded searching", 1976), so consecutive
//! rows cost O(1) amortised, and a fresh block O(log d) for frames d rows wide: nothing is carried from block to
//! block. Per-row offsets may send the end back; galloping goes both ways.
//!
//! ```text
//!   keys     ∅ ∅ 1 3 3 4 7 9        nulls lie at one side of each partition
//!   row                * (key 4)    RANGE BETWEEN 1 PRECEDING AND 3 FOLLOWING: targets 3 and 7
//!   frame          [ ------- )      a null row's frame is the null peers
//! ```

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::i256;

use super::calendar::{Mover, Step};
use super::key::{Key, KeyPlan, Keys};
use super::offset::{Offset, Side, Target, by_calendar, double, huge, single, whole, wide};
use super::runs::Runs;
use crate::error::{Error, Result};

/// Writes, for each of `rows` of partition `run`, the frame's begin or end at `offset` from the row's key.
pub(super) fn shift(
    plan: &KeyPlan,
    key: &Key,
    offset: &Offset,
    side: Side,
    run: &Range<usize>,
    rows: Range<usize>,
    out: &mut [u32],
) {
    let filled = key.filled(run);
    let out = nulls(&filled, side, run, &rows, out);
    let rows = rows.start.max(filled.start)..rows.end.min(filled.end);
    let descending = plan.descending;
    match (&key.keys, offset) {
        // One loop for each kind, so that what is the same for all rows is decided outside it.
        (Keys::Small(keys), Offset::Whole(by)) => match distance(i64::try_from(*by).ok(), side) {
            Some(by) => search_onwards(keys, &filled, rows, by, out),
            None => search(keys, &filled, rows, side, |key| whole(key, *by), out),
        },
        (Keys::Small(keys), Offset::Double(by)) => {
            search(keys, &filled, rows, side, |key| double(key, *by, descending), out);
        }
        (Keys::Small(keys), Offset::Single(by)) => {
            search(keys, &filled, rows, side, |key| single(key, *by, descending), out);
        }
        (Keys::Wide(keys), Offset::Wide(by)) => match distance(Some(*by), side) {
            Some(by) => search_onwards(keys, &filled, rows, by, out),
            None => search(keys, &filled, rows, side, |key| wide(key, *by), out),
        },
        (Keys::Huge(keys), Offset::Huge(by)) => match distance(Some(*by), side) {
            Some(by) => search_onwards(keys, &filled, rows, by, out),
            None => search(keys, &filled, rows, side, |key| huge(key, *by), out),
        },
        // An offset is made for its key's type, so no other pair exists, but for the calendar's: see `positions`.
        _ => {}
    }
}

/// As [`shift`], for one row with an offset of its own; the search starts at row `hint`.
pub(super) fn shift_one(
    plan: &KeyPlan,
    key: &Key,
    offset: &Offset,
    side: Side,
    run: &Range<usize>,
    row: usize,
    hint: usize,
) -> u32 {
    let filled = key.filled(run);
    if !filled.contains(&row) {
        return null_edge(&filled, side, run);
    }
    let hint = hint.clamp(filled.start, filled.end);
    let at = match (&key.keys, offset) {
        (Keys::Small(keys), by) => seek(keys, &filled, hint, side, by.small(plan, keys[row])),
        (Keys::Wide(keys), Offset::Wide(by)) => seek(keys, &filled, hint, side, wide(keys[row], *by)),
        (Keys::Huge(keys), Offset::Huge(by)) => seek(keys, &filled, hint, side, huge(keys[row], *by)),
        (Keys::Wide(_) | Keys::Huge(_), _) => row,
    };
    at as u32
}

/// The frame edges of all rows of a section at a distance by the calendar, found once: a conversion costs more
/// than four bytes.
///
/// Where a zone's clock is put back or forward, a later key may have the earlier target. As in Spark, whose frames
/// come from cursors that never go back, an edge then stays where the rows of its partition before have put it.
pub(super) fn positions(
    plan: &KeyPlan,
    key: &Key,
    step: Step,
    side: Side,
    partitions: &Runs,
    rows: usize,
) -> Result<Arc<[u32]>> {
    let (Some(calendar), Keys::Small(keys)) = (&plan.calendar, &key.keys) else {
        return Err(Error::internal(format!("order key {:?} has no calendar", plan.name)));
    };
    // One for all partitions: they may well be of the same days.
    let mut mover = Mover::new(calendar);
    let mut out = vec![0; rows];
    partitions.each(0..rows, |run, piece| {
        let (filled, out) = (key.filled(&run), &mut out[piece.clone()]);
        let values = nulls(&filled, side, &run, &piece, out);
        let target = |key| by_calendar(&mut mover, key, step, plan.descending);
        search(keys, &filled, filled.clone(), side, target, values);
        let mut furthest = 0;
        for edge in out {
            furthest = furthest.max(*edge);
            *edge = furthest;
        }
    });
    Ok(out.into())
}

/// The frame edge of a null row: its peers'.
fn null_edge(filled: &Range<usize>, side: Side, run: &Range<usize>) -> u32 {
    // The nulls are what `filled` leaves of the partition, on one side.
    let nulls = if filled.start > run.start { run.start..filled.start } else { filled.end..run.end };
    (if side == Side::Start { nulls.start } else { nulls.end }) as u32
}

/// Writes the null rows among `rows`, and returns where the others go.
fn nulls<'a>(
    filled: &Range<usize>,
    side: Side,
    run: &Range<usize>,
    rows: &Range<usize>,
    out: &'a mut [u32],
) -> &'a mut [u32] {
    let before = filled.start.clamp(rows.start, rows.end) - rows.start;
    let behind = filled.end.clamp(rows.start, rows.end) - rows.start;
    let (first, rest) = out.split_at_mut(before);
    let (middle, last) = rest.split_at_mut(behind.max(before) - before);
    first.fill(null_edge(filled, side, run));
    last.fill(null_edge(filled, side, run));
    middle
}

/// Writes the edge of each of `rows`, which all lie in `filled`.
#[inline]
fn search<K: Successor>(
    keys: &[K],
    filled: &Range<usize>,
    rows: Range<usize>,
    side: Side,
    mut target: impl FnMut(K) -> Target<K>,
    out: &mut [u32],
) {
    if rows.is_empty() {
        return;
    }
    // An edge lies nearer to its row than to the partition's ends.
    let mut at = rows.start;
    for (slot, key) in out.iter_mut().zip(&keys[rows]) {
        at = seek(keys, filled, at, side, target(*key));
        *slot = at as u32;
    }
}

/// As [`search`], of keys that count something and `by` that is the same for all: the edge is the first row whose key is
/// not below its row's and `by`, and none lies before that of the row before.
#[inline]
fn search_onwards<K: Successor>(keys: &[K], filled: &Range<usize>, rows: Range<usize>, by: K, out: &mut [u32]) {
    if rows.is_empty() {
        return;
    }
    let beyond = if by > K::default() { filled.end } else { filled.start };
    let begin = |row: usize| keys[row].plus(by).map_or(beyond, |first| gallop(keys, filled, row, first));
    let step = |at: usize, key: K| key.plus(by).map_or(beyond, |first| onwards(keys, filled, at, first));
    // Two searches at once: one alone waits for each row's edge before it can look for the next.
    let half = if rows.len() < SHORT { 0 } else { rows.len() / 2 };
    let (left, right) = out.split_at_mut(half);
    let (keys_left, keys_right) = keys[rows.clone()].split_at(half);
    let mut other = begin(rows.start + half);
    let mut one = if half == 0 { other } else { begin(rows.start) };
    let (mut left, mut right) = (left.iter_mut().zip(keys_left), right.iter_mut().zip(keys_right));
    for ((slot, &key), (other_slot, &other_key)) in left.by_ref().zip(right.by_ref()) {
        one = step(one, key);
        other = step(other, other_key);
        (*slot, *other_slot) = (one as u32, other as u32);
    }
    for (slot, &key) in right {
        other = step(other, key);
        *slot = other as u32;
    }
}

/// The distance of the first key of a frame, or of the first behind it; `None` if that is no key.
fn distance<K: Successor>(by: Option<K>, side: Side) -> Option<K> {
    // What is behind an end at a key is not before a start at the next key.
    if side == Side::Start { by } else { by?.next() }
}

/// The first row of `filled` that is not before a start at `target`, or is behind an end there.
#[inline(always)]
pub(super) fn seek<K: Successor>(
    keys: &[K],
    filled: &Range<usize>,
    hint: usize,
    side: Side,
    target: Target<K>,
) -> usize {
    let first = match target {
        Target::Before => return filled.start,
        Target::After => return filled.end,
        Target::At(target) if side == Side::Start => target,
        // What is behind an end at a key is not before a start at the next key.
        Target::At(target) => match target.next() {
            Some(next) => next,
            None => return filled.end,
        },
    };
    gallop(keys, filled, hint, first)
}

/// Keys with a next one.
pub(super) trait Successor: Copy + Ord + Default {
    /// The least key above this one; `None` of the greatest.
    fn next(self) -> Option<Self>;

    /// The key so far from this one, if there is one.
    fn plus(self, by: Self) -> Option<Self>;
}

impl Successor for i64 {
    #[inline]
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }

    #[inline]
    fn plus(self, by: Self) -> Option<Self> {
        self.checked_add(by)
    }
}

impl Successor for i128 {
    #[inline]
    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }

    #[inline]
    fn plus(self, by: Self) -> Option<Self> {
        self.checked_add(by)
    }
}

impl Successor for i256 {
    #[inline]
    fn next(self) -> Option<Self> {
        self.checked_add(Self::ONE)
    }

    #[inline]
    fn plus(self, by: Self) -> Option<Self> {
        self.checked_add(by)
    }
}

/// Fewer rows are not worth two searches.
const SHORT: usize = 64;

/// So many keys are counted, without a branch on any, before the search gallops: an edge is rarely farther from that of
/// the row before, and how far is what no branch predictor knows.
const NEAR: usize = 8;

/// The first row of `filled` whose key is not below `first`, searched from `hint` outwards.
#[inline(always)]
fn gallop<K: Copy + Ord>(keys: &[K], filled: &Range<usize>, hint: usize, first: K) -> usize {
    if hint == filled.start || keys[hint - 1] < first {
        onwards(keys, filled, hint, first)
    } else {
        gallop_far(keys, filled, hint, first)
    }
}

/// As [`gallop`], where no row before `hint` is the answer.
#[inline(always)]
fn onwards<K: Copy + Ord>(keys: &[K], filled: &Range<usize>, hint: usize, first: K) -> usize {
    match keys.get(hint..filled.end).and_then(|keys| keys.first_chunk::<NEAR>()) {
        Some(near) => match near.iter().map(|&key| usize::from(key < first)).sum::<usize>() {
            NEAR => gallop_far(keys, filled, hint + NEAR, first),
            passed => hint + passed,
        },
        None => gallop_far(keys, filled, hint, first),
    }
}

/// As [`gallop`], kept out of the loop over rows.
#[inline(never)]
fn gallop_far<K: Copy + Ord>(keys: &[K], filled: &Range<usize>, hint: usize, first: K) -> usize {
    let below = |key: K| key < first;
    // The answer lies in low..=high throughout.
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
