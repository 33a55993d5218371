//! RANGE: ends at a distance of the order key.
//!
//! The key column is made ordered numbers once per section ([`super::range_key`]); the end of a row's frame is then the
//! first row whose key is not below the row's target. Where one distance holds for all rows, the edges of several are
//! found together ([`super::range_search_simd`]); else each is searched for from where the row before has its own
//! ([`super::range_search`]), to either side, as per-row offsets may send it back. Nothing is carried from block to block.
//!
//! ```text
//!   keys     ∅ ∅ 1 3 3 4 7 9        nulls lie at one side of each partition
//!   row                * (key 4)    RANGE BETWEEN 1 PRECEDING AND 3 FOLLOWING: targets 3 and 7
//!   frame          [ ------- )      a null row's frame is the null peers
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::calendar::{CalendarAdder, CalendarStep};
use super::range_key::{KeyPlan, RangeKeys, SectionKey};
use super::range_offset::{FrameSide, RangeOffset, Target, by_calendar, double, huge, single, whole, wide};
use super::range_search::{Successor, seek};
use super::range_search_simd;
use crate::error::{Error, Result};
use crate::util::reserve;
use crate::util::run_index::RunIndex;
use crate::util::simd::with_widest_vectors;

/// Writes, for each of `rows`, the frame's begin or end at `offset` from the row's key.
pub(super) fn shift(
    plan: &KeyPlan,
    key: &SectionKey,
    offset: &RangeOffset,
    side: FrameSide,
    partitions: &RunIndex,
    rows: Range<usize>,
    out: &mut [u32],
) {
    let descending = plan.options.descending;
    // What is behind an end at a key is not before a start at the next key; and no float is the last of the numbers.
    let behind = i64::from(side == FrameSide::End);
    match (&key.keys, offset) {
        // One loop for each kind, so that what is the same for all rows is decided outside it.
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
                    _ => search_each(keys, filled, rows, side, |key| whole(key, *by), out),
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
                search_each(keys, filled, rows, side, |key| wide(key, *by), out);
            });
        }
        (RangeKeys::Huge(keys), RangeOffset::Huge(by)) => {
            for_each_filled(key, side, partitions, rows, out, |filled, rows, out| {
                search_each(keys, filled, rows, side, |key| huge(key, *by), out);
            });
        }
        // An offset is made for its key's type, so no other pair exists, but for the calendar's: see `positions`.
        _ => {}
    }
}

/// As [`shift`], for one row with an offset of its own; the search starts at row `hint`.
pub(super) fn shift_one(
    plan: &KeyPlan,
    key: &SectionKey,
    offset: &RangeOffset,
    side: FrameSide,
    run: &Range<usize>,
    row: usize,
    hint: usize,
) -> u32 {
    let filled = key.non_null_rows(run);
    if !filled.contains(&row) {
        return null_bound(&filled, side, run);
    }
    let hint = hint.clamp(filled.start, filled.end);
    let at = match (&key.keys, offset) {
        (RangeKeys::Small(keys), by) => seek(keys, &filled, hint, side, by.small(plan, keys[row])),
        (RangeKeys::Wide(keys), RangeOffset::Wide(by)) => seek(keys, &filled, hint, side, wide(keys[row], *by)),
        (RangeKeys::Huge(keys), RangeOffset::Huge(by)) => seek(keys, &filled, hint, side, huge(keys[row], *by)),
        (RangeKeys::Wide(_) | RangeKeys::Huge(_), _) => row,
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
    key: &SectionKey,
    step: CalendarStep,
    side: FrameSide,
    partitions: &RunIndex,
    rows: usize,
) -> Result<Arc<[u32]>> {
    let (Some(calendar), RangeKeys::Small(keys)) = (&plan.calendar, &key.keys) else {
        return Err(Error::internal(format!("order key {:?} has no calendar", plan.name)));
    };
    // One for all partitions: they may well be of the same days.
    let mut mover = CalendarAdder::new(calendar);
    let mut out = reserve::repeated(0, rows)?;
    // It is copied to where several may share it.
    reserve::probe(rows * size_of::<u32>())?;
    for_each_filled(key, side, partitions, 0..rows, &mut out, |filled, rows, out| {
        search_each(keys, filled, rows, side, |key| by_calendar(&mut mover, key, step, plan.options.descending), out);
    });
    // No edge of a partition lies behind one of the next.
    let mut furthest = 0;
    for edge in &mut out {
        furthest = furthest.max(*edge);
        *edge = furthest;
    }
    Ok(out.into())
}

/// Calls `search_each` with the rows of each partition that have a key, those of them among `rows`, and where their edges go;
/// writes the null rows itself.
///
/// What `search_each` writes behind its rows is written again.
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

/// As [`for_each_filled`], with the search of several rows at once for keys whose frames begin at `first` of them.
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

/// The frame edge of a null row: its peers'.
fn null_bound(filled: &Range<usize>, side: FrameSide, run: &Range<usize>) -> u32 {
    // The nulls are what `filled` leaves of the partition, on one side.
    let nulls = if filled.start > run.start { run.start..filled.start } else { filled.end..run.end };
    (if side == FrameSide::Start { nulls.start } else { nulls.end }) as u32
}

/// Writes the edge of each of `rows`, which all lie in `filled`.
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
    // An edge lies nearer to its row than to the partition's ends.
    let mut at = rows.start;
    for (slot, key) in out.iter_mut().zip(&keys[rows]) {
        at = seek(keys, filled, at, side, target(*key));
        *slot = at as u32;
    }
}

/// Whether no key of `keys`, which ascend, leaves its type by so much.
#[inline(always)]
fn cannot_overflow(keys: &[i64], distance: i64) -> bool {
    let furthest = if distance < 0 { keys.first() } else { keys.last() };
    furthest.is_none_or(|key| key.checked_add(distance).is_some())
}
