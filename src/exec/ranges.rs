//! Splits the rows of a section into ranges for threads.

use std::ops::Range;

use crate::plan::planned::PlannedCall;
use crate::spec::strategy::Strategy;
use crate::util::threads::Threads;

/// Rows per block: 256 KiB of a 64-bit column. Constant, so that float sums are rounded alike for any number of threads
/// or calls.
pub(crate) const ROWS_PER_BLOCK: usize = 32 * 1024;

/// Splits the rows of a section into ranges that threads evaluate. User code runs on the caller's own thread.
pub(crate) fn ranges(call: &PlannedCall, own: &Range<usize>, threads: &Threads) -> Vec<Range<usize>> {
    if call.user.is_some() {
        return vec![own.clone()];
    }
    let shares = threads.ranges(own);
    let frame = call.frame.frame();
    let begins_anywhere = match call.strategy {
        Strategy::Index => true,
        // The first frame of each piece is folded from scratch.
        Strategy::Prefix | Strategy::TwoStacks | Strategy::Deque | Strategy::Naive => {
            frame.width().is_some_and(|width| width <= ROWS_PER_BLOCK as i128 / 8)
        }
        _ => false,
    };
    if shares.len() == 1 || !begins_anywhere {
        return shares;
    }
    // Results are still in the cache when they are written to the column.
    own.clone().step_by(ROWS_PER_BLOCK).map(|begin| begin..own.end.min(begin + ROWS_PER_BLOCK)).collect()
}
