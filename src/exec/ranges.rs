//! The rows of a section in ranges for threads.

use std::ops::Range;

use crate::catalog::algebra::Algebra;
use crate::plan::planned::PlannedCall;
use crate::spec::strategy::Strategy;
use crate::util::threads::Threads;

/// Rows of a block: some 256 KiB a column. Neither threads nor calls change it, nor so the last digits of float sums.
pub(crate) const ROWS_PER_BLOCK: usize = 32 * 1024;

/// The rows of a section in pieces, for the threads that are to answer a call. A user's code is called from the
/// caller's own thread.
pub(crate) fn ranges(call: &PlannedCall, own: &Range<usize>, threads: &Threads) -> Vec<Range<usize>> {
    if call.user.is_some() {
        return vec![own.clone()];
    }
    let shares = threads.ranges(own);
    let frame = call.frame.frame();
    let begins_anywhere = match call.strategy {
        Strategy::Index => true,
        // A row of each partition, where partitions could not be numbered.
        Strategy::Grouped => call.signature.algebra == Algebra::Positional,
        // The first frame's rows are folded once a piece.
        Strategy::Prefix | Strategy::TwoStacks | Strategy::Deque | Strategy::Naive => {
            frame.width().is_some_and(|width| width <= ROWS_PER_BLOCK as i128 / 8)
        }
        _ => false,
    };
    if shares.len() == 1 || !begins_anywhere {
        return shares;
    }
    // Answers are still in the cache when they are written to the column.
    own.clone().step_by(ROWS_PER_BLOCK).map(|begin| begin..own.end.min(begin + ROWS_PER_BLOCK)).collect()
}
