//! GROUPS: bounds at a number of peer groups from the row's own, clamped to the partition.
//!
//! One pass over the peer groups of the block: the bound advances by one group whenever the row does, so a group costs
//! two steps of a bit iterator for any offset. If a block begins within a partition, rank and select over the peer
//! bitmap find the first bound in O(log n).

use crate::util::run_index::RunIndex;
use std::ops::Range;

/// Up to this many groups the bound is found by stepping, beyond by select. Both give the same row.
const MAX_STEPPED_GROUPS: i64 = 8;

/// For each of `rows`, all of partition `run`, writes the first row of the group `delta` groups after the row's own.
pub(super) fn shift(peers: &RunIndex, run: &Range<usize>, rows: Range<usize>, delta: i64, out: &mut [u32]) {
    let number = if rows.start == run.start { None } else { Some(peers.run_number(rows.start)) };
    // The number of the bound's group within the partition; not above 0 while the bound is clamped to the first.
    let mut ahead = delta + number.map_or(0, |number| (number - peers.run_number(run.start)) as i64);
    let (mut edge, skip) = if ahead <= 0 {
        (run.start, 0)
    } else if number.is_none() && delta <= MAX_STEPPED_GROUPS {
        (run.start, delta)
    } else {
        let own = number.unwrap_or_else(|| peers.run_number(run.start)) as i64;
        (peers.run_start_of((own + delta) as usize).min(run.end), 0)
    };
    let mut starts = peers.starts_within(edge + 1..run.end);
    for _ in 0..skip {
        edge = starts.next().unwrap_or(run.end);
    }
    let first = rows.start;
    peers.for_each_run_between(run, rows, |_, piece| {
        out[piece.start - first..piece.end - first].fill(edge as u32);
        ahead += 1;
        if ahead > 0 {
            edge = starts.next().unwrap_or(run.end);
        }
    });
}

/// As [`shift`], for one row with its own offset.
pub(super) fn shift_one(peers: &RunIndex, run: &Range<usize>, row: usize, delta: i64) -> u32 {
    let (own, first) = (peers.run_number(row) as i64, peers.run_number(run.start) as i64);
    let group = (own + delta).max(first) as usize;
    peers.run_start_of(group).clamp(run.start, run.end) as u32
}
