//! RANGE: bounds at a distance of the order key.
//!
//! The key column is converted to ordered integers once per section ([`super::range_key`]); the start or end of a row's
//! frame is then the first row whose key is not below the row's target. If one distance holds for all rows, the bounds
//! of several rows are searched together ([`super::range_search_simd`]). Otherwise each search begins at the previous
//! row's bound ([`super::range_search`]) and may go in either direction, because offsets per row may move a bound back.
//! Blocks are independent.
//!
//! ```text
//!   keys     ∅ ∅ 1 3 3 4 7 9        nulls lie at one side of each partition
//!   row                * (key 4)    RANGE BETWEEN 1 PRECEDING AND 3 FOLLOWING: targets 3 and 7
//!   frame          [ ------- )      the frame of a null row is its null peers
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::calendar::{CalendarAdder, CalendarStep};
use super::range_key::{KeyPlan, RangeKeys, SectionKey};
use super::range_offset::{Edge, FrameSide, RangeOffset, Target, by_calendar, double, huge, single, whole, wide};
use super::range_search::{Successor, seek};
use super::range_search_simd;
use crate::error::{Error, Result};
use crate::util::reserve;
use crate::util::run_index::RunIndex;
use crate::util::simd::with_widest_vectors;

/// For each of `rows`, writes the frame's start or end at `offset` from the row's key.
pub(super) fn shift(
    plan: &KeyPlan,
    key: &SectionKey,
    offset: &RangeOffset,
    edge: Edge,
    partitions: &RunIndex,
    rows: Range<usize>,
    out: &mut [u32],
) {
    let Edge { side, search } = edge;
    let descending = plan.options.descending;
    // A row is after an end at key k if its key is at least k + 1. Float keys have no overflow here: the code of NaN is
    // not the maximum.
    let behind = i64::from(search == FrameSide::End);
    match (&key.keys, offset) {
        // One loop per kind of key and offset, so that the choice is made outside the loop.
        (RangeKeys::Small(keys), RangeOffset::Whole(by) | RangeOffset::Wide(by)) => {
            let distance = i64::try_from(*by).ok().and_then(|by| by.checked_add(behind));
            for_each_filled(
                key,
                side,
                partitions,
                rows,
                out,
                #[inline(always)]
                |filled, rows, out| match distance {
                    Some(distance) if cannot_overflow(&keys[rows.clone()], distance) => {
                        range_search_simd::search(
                            keys,
                            filled,
                            rows,
                            #[inline(always)]
                            |key| key.wrapping_add(distance),
                            out,
                        );
                    }
                    _ => search_each(keys, filled, rows, search, |key| whole(key, *by), out),
                },
            );
        }
        (RangeKeys::Small(keys), &RangeOffset::Double(by)) => for_each_in_lanes(
            key,
            keys,
            side,
            partitions,
            rows,
            out,
            #[inline(always)]
            |key| double(key, by, descending) + behind,
        ),
        (RangeKeys::Small(keys), &RangeOffset::Single(by)) => for_each_in_lanes(
            key,
            keys,
            side,
            partitions,
            rows,
            out,
            #[inline(always)]
            |key| single(key, by, descending) + behind,
        ),
        (RangeKeys::Wide(keys), RangeOffset::Wide(by)) => {
            for_each_filled(key, side, partitions, rows, out, |filled, rows, out| {
                search_each(keys, filled, rows, search, |key| wide(key, *by), out);
            });
        }
        (RangeKeys::Huge(keys), RangeOffset::Huge(by)) => {
            for_each_filled(key, side, partitions, rows, out, |filled, rows, out| {
                search_each(keys, filled, rows, search, |key| huge(key, *by), out);
            });
        }
        // Offsets have the kind of their key, so no other pair occurs, except calendar offsets: see `positions`.
        _ => {}
    }
}

/// As [`shift`], for one row with its own offset; the search begins at row `hint`.
pub(super) fn shift_one(
    plan: &KeyPlan,
    key: &SectionKey,
    offset: &RangeOffset,
    edge: Edge,
    run: &Range<usize>,
    row: usize,
    hint: usize,
) -> u32 {
    let Edge { side, search } = edge;
    let filled = key.non_null_rows(run);
    if !filled.contains(&row) {
        return null_bound(&filled, side, run);
    }
    let hint = hint.clamp(filled.start, filled.end);
    let at = match (&key.keys, offset) {
        (RangeKeys::Small(keys), by) => seek(keys, &filled, hint, search, by.small(plan, keys[row])),
        (RangeKeys::Wide(keys), RangeOffset::Wide(by)) => seek(keys, &filled, hint, search, wide(keys[row], *by)),
        (RangeKeys::Huge(keys), RangeOffset::Huge(by)) => seek(keys, &filled, hint, search, huge(keys[row], *by)),
        (RangeKeys::Wide(_) | RangeKeys::Huge(_), _) => row,
    };
    at as u32
}

/// The bounds of all rows of a section at a calendar distance, computed once: a conversion costs more than the four
/// bytes stored.
///
/// Where a time zone's clock changes, a later key may have an earlier target. Spark's frames come from cursors that
/// never move back; as there, a bound then stays where the earlier rows of its partition have put it.
pub(super) fn positions(
    plan: &KeyPlan,
    key: &SectionKey,
    step: CalendarStep,
    edge: Edge,
    partitions: &RunIndex,
    rows: usize,
) -> Result<Arc<[u32]>> {
    let Edge { side, search } = edge;
    let (Some(calendar), RangeKeys::Small(keys)) = (&plan.calendar, &key.keys) else {
        return Err(Error::internal(format!("order key {:?} has no calendar", plan.name)));
    };
    // Shared by all partitions, which often have the same days.
    let mut mover = CalendarAdder::new(calendar);
    let mut out = reserve::repeated(0, rows)?;
    // The conversion to `Arc` copies it.
    reserve::probe(rows * size_of::<u32>())?;
    for_each_filled(key, side, partitions, 0..rows, &mut out, |filled, rows, out| {
        search_each(keys, filled, rows, search, |key| by_calendar(&mut mover, key, step, plan.options.descending), out);
    });
    // Bounds of a partition never exceed those of the next, so one running maximum serves all.
    let mut furthest = 0;
    for edge in &mut out {
        furthest = furthest.max(*edge);
        *edge = furthest;
    }
    Ok(out.into())
}

/// For each partition, calls `search` with its rows that have a key, those of them among `rows`, and the output from
/// there on. Writes the bounds of null rows itself.
///
/// `search` may overwrite output after its rows; it is written again.
#[inline]
fn for_each_filled(
    key: &SectionKey,
    side: FrameSide,
    partitions: &RunIndex,
    rows: Range<usize>,
    out: &mut [u32],
    mut search: impl FnMut(&Range<usize>, Range<usize>, &mut [u32]),
) {
    let first = rows.start;
    with_widest_vectors(
        #[inline(always)]
        || {
            partitions.for_each_run(
                rows,
                #[inline(always)]
                |run, piece| {
                    let filled = key.non_null_rows(&run);
                    let begin = filled.start.clamp(piece.start, piece.end);
                    let end = filled.end.clamp(begin, piece.end);
                    if begin < end {
                        search(&filled, begin..end, &mut out[begin - first..]);
                    }
                    if filled != run {
                        let edge = null_bound(&filled, side, &run);
                        out[piece.start - first..begin - first].fill(edge);
                        out[end - first..piece.end - first].fill(edge);
                    }
                },
            );
        },
    );
}

/// As [`for_each_filled`], with the search of several rows at once. `first` maps a row's key to the first key of its
/// frame.
#[inline]
fn for_each_in_lanes(
    key: &SectionKey,
    keys: &[i64],
    side: FrameSide,
    partitions: &RunIndex,
    rows: Range<usize>,
    out: &mut [u32],
    first: impl Fn(i64) -> i64 + Copy,
) {
    for_each_filled(
        key,
        side,
        partitions,
        rows,
        out,
        #[inline(always)]
        |filled, rows, out| range_search_simd::search(keys, filled, rows, first, out),
    );
}

/// The bound of a null row: that of its null peers.
fn null_bound(filled: &Range<usize>, side: FrameSide, run: &Range<usize>) -> u32 {
    // The nulls are the part of the partition outside `filled`, on one side.
    let nulls = if filled.start > run.start { run.start..filled.start } else { filled.end..run.end };
    (if side == FrameSide::Start { nulls.start } else { nulls.end }) as u32
}

/// Writes the bound of each of `rows`, all of which lie in `filled`.
#[inline]
fn search_each<K: Successor>(
    keys: &[K],
    filled: &Range<usize>,
    rows: Range<usize>,
    side: FrameSide,
    mut target: impl FnMut(K) -> Target<K>,
    out: &mut [u32],
) {
    if rows.is_empty() {
        return;
    }
    // A bound is usually near its row.
    let mut at = rows.start;
    for (slot, key) in out.iter_mut().zip(&keys[rows]) {
        at = seek(keys, filled, at, side, target(*key));
        *slot = at as u32;
    }
}

/// Whether adding `distance` to keys, which are ascending, cannot overflow.
#[inline(always)]
fn cannot_overflow(keys: &[i64], distance: i64) -> bool {
    let furthest = if distance < 0 { keys.first() } else { keys.last() };
    furthest.is_none_or(|key| key.checked_add(distance).is_some())
}
