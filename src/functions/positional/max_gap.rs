//! The longest gap that is filled: the distance of the two known neighbours of a row by the order key.
//!
//! ```text
//!   key     0   1   2       9  10  11
//!   x       .   5   .   .   .   8   .       a gap of 9 between the 5 and the 8: filled whole, or not at all
//! ```
//!
//! At the ends of a partition, where one neighbour is known, a gap reaches to the partition's first or last row that
//! has a key. Cost: a rank and up to two selects per row.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use arrow_buffer::BooleanBuffer;

use crate::bounds::distance::KeyDistances;
use crate::evaluate::positional::index::MaskIndex;
use crate::model::row_mask::RowMask;

/// The longest gap.
#[derive(Debug)]
pub(crate) struct MaxGap {
    keys: KeyDistances,
    /// The rows with a key; within a partition the others lie at its ends.
    placed: MaskIndex,
}

impl MaxGap {
    /// Gaps of `keys` between rows that are `placed`.
    pub(crate) fn new(keys: KeyDistances, placed: BooleanBuffer) -> Self {
        Self { keys, placed: MaskIndex::new(RowMask::Mask(placed)) }
    }

    /// Gaps of `keys` between rows whose `key` is not NULL.
    pub(crate) fn of(keys: KeyDistances, key: &ArrayRef) -> Self {
        let placed =
            key.logical_nulls().map_or_else(|| BooleanBuffer::new_set(key.len()), |nulls| nulls.inner().clone());
        Self::new(keys, placed)
    }

    /// Whether the row has a key.
    pub(crate) fn is_placed(&self, row: usize) -> bool {
        self.placed.includes(row)
    }

    /// Whether the gap that holds `row` of the partition `run` is short enough; `known` are the rows with a value.
    /// `naive` walks from the row.
    pub(crate) fn is_short(&self, known: &MaskIndex, run: &Range<usize>, row: usize, naive: bool) -> bool {
        let [low, high] = if naive {
            let is_known = |row: &usize| known.includes(*row);
            let (low, high) = ((run.start..row).rev().find(is_known), (row + 1..run.end).find(is_known));
            [
                low.or_else(|| run.clone().find(|&row| self.is_placed(row))),
                high.or_else(|| run.clone().rev().find(|&row| self.is_placed(row))),
            ]
        } else {
            let (first, before, behind) = (known.before(run.start), known.before(row), known.before(run.end));
            let (begin, end) = (self.placed.before(run.start), self.placed.before(run.end));
            let ends = if begin < end { [self.placed.row(begin), self.placed.row(end - 1)] } else { [None, None] };
            [
                if before > first { known.row(before - 1) } else { ends[0] },
                if before < behind { known.row(before) } else { ends[1] },
            ]
        };
        let Some((low, high)) = low.zip(high) else { return false };
        match (self.keys.reach(low), self.keys.key(high)) {
            (Some(reach), Some(key)) => key <= reach,
            _ => false,
        }
    }
}
