//! `rank_with`: ranks with a method for ties, also as fractions of the rows, and without the rows whose key is NULL.
//!
//! ```text
//!   key        .    7    7    8          NULL keys kept: they have no rank, and are not counted
//!   min        .    1    1    3          the rank of the first peer
//!   max        .    2    2    3          the rank of the last peer
//!   average    .   1.5  1.5   3          their mean
//!   dense      .    1    1    2          the number of the peer group
//!   ordinal    .    1    2    3          the number of the row
//! ```
//!
//! A fraction is the rank divided by the number of rows, for `dense` by the number of peer groups. Cost: O(1) per row;
//! counters over the boundaries, 4 bytes per 64 rows. A stream waits for the end of the partition.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};

use super::whole_partitions::WholePartitions;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::positional::index::MaskIndex;
use crate::model::carry::Carry;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::util::cancel::Cancel;
use crate::util::run_index::RunIndex;

/// What rows with equal keys get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TieMethod {
    Min,
    Max,
    Average,
    Dense,
    Ordinal,
}

impl TieMethod {
    /// The names, as users write them.
    pub(crate) const NAMES: [&str; 5] = ["min", "max", "average", "dense", "ordinal"];

    /// The method of this name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let all = [Self::Min, Self::Max, Self::Average, Self::Dense, Self::Ordinal];
        Self::NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|index| all[index])
    }
}

/// How ranks are computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankBy {
    pub(crate) method: TieMethod,
    /// Whether ranks are divided by the number of rows.
    pub(crate) fraction: bool,
}

/// Where a row lies among the counted rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// The number of rows before its peers, before it, and up to its last peer.
    pub(crate) before_peers: usize,
    pub(crate) before: usize,
    pub(crate) through: usize,
    /// The number of peer groups before its own.
    pub(crate) groups_before: usize,
    /// The number of rows, and of peer groups.
    pub(crate) rows: usize,
    pub(crate) groups: usize,
}

impl RankBy {
    /// The rank at this place.
    pub(crate) fn rank(self, place: Place) -> f64 {
        let least = place.before_peers + 1;
        // A row that is not in its frame ranks where it would be inserted.
        let most = place.through.max(least);
        let rank = match self.method {
            TieMethod::Min => least as f64,
            TieMethod::Max => most as f64,
            TieMethod::Average => (least + most) as f64 / 2.0,
            TieMethod::Dense => (place.groups_before + 1) as f64,
            TieMethod::Ordinal => (place.before + 1) as f64,
        };
        let of = if self.method == TieMethod::Dense { place.groups } else { place.rows };
        if self.fraction { rank / of.max(1) as f64 } else { rank }
    }

    /// The ranks as a column: integers, but for means and fractions.
    pub(crate) fn finish(self, ranks: Vec<Option<f64>>) -> Result<ArrayRef> {
        if self.fraction || self.method == TieMethod::Average {
            return Ok(Arc::new(Float64Array::from(ranks)));
        }
        if ranks.iter().flatten().any(|rank| *rank > f64::from(i32::MAX)) {
            return Err(Error::overflow(format!(
                "rank_with is an INT, and a partition has more than {} rows; add to PARTITION BY",
                i32::MAX
            )));
        }
        Ok(Arc::new(ranks.into_iter().map(|rank| rank.map(|rank| rank as i32)).collect::<Int32Array>()))
    }
}

/// `rank_with` within the partition.
#[derive(Debug)]
pub(crate) struct RankWith {
    by: RankBy,
    /// The rows that have a rank; within a partition the others lie at one side.
    ranked: MaskIndex,
    partitions: WholePartitions,
    peers: RunIndex,
    naive: bool,
}

impl RankWith {
    /// Ranks of the rows `ranked`.
    pub(crate) fn new(section: &Section, by: RankBy, ranked: RowMask, naive: bool) -> Self {
        Self {
            by,
            ranked: MaskIndex::new(ranked),
            partitions: WholePartitions::new(section),
            peers: RunIndex::new(&section.peers),
            naive,
        }
    }

    /// The place of a ranked `row` of the peers `group` in the partition `run`, whose ranked rows are `rows`.
    fn place(&self, run: &Range<usize>, rows: &Range<usize>, group: &Range<usize>, row: usize) -> Place {
        if self.naive {
            return self.place_naively(run, row);
        }
        let groups = |end: usize| self.peers.count_before(end) - self.peers.count_before(rows.start + 1);
        Place {
            before_peers: group.start - rows.start,
            before: row - rows.start,
            through: group.end - rows.start,
            groups_before: groups(group.start + 1),
            rows: rows.len(),
            groups: groups(rows.end) + 1,
        }
    }

    /// As [`Self::place`], by definition: row by row.
    fn place_naively(&self, run: &Range<usize>, row: usize) -> Place {
        let counted = |rows: Range<usize>| rows.filter(|&row| self.ranked.includes(row)).count();
        let starts = |row: &usize| self.ranked.includes(*row) && (*row == run.start || self.peers.bit(*row));
        let first = (run.start..=row).rev().find(starts).unwrap_or(row);
        let next = (row + 1..run.end).find(|&row| self.peers.bit(row)).unwrap_or(run.end);
        Place {
            before_peers: counted(run.start..first),
            before: counted(run.start..row),
            through: counted(run.start..next),
            groups_before: (run.start..first).filter(starts).count(),
            rows: counted(run.clone()),
            groups: run.clone().filter(starts).count(),
        }
    }
}

impl Evaluator for RankWith {
    fn evaluate(&self, _: &Frames, rows: Range<usize>, _: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let mut out = Vec::with_capacity(rows.len());
        self.partitions.visit(rows, cancel, |run, piece| {
            let counted = self.ranked.before(run.end) - self.ranked.before(run.start);
            let begin = if counted > 0 && self.ranked.includes(run.start) { run.start } else { run.end - counted };
            let ranked = begin..begin + counted;
            self.peers.for_each_run(piece, |group, rows| {
                for row in rows {
                    let has_rank = ranked.contains(&row);
                    out.push(has_rank.then(|| self.by.rank(self.place(&run, &ranked, &group, row))));
                }
            });
        })?;
        self.by.finish(out)
    }

    fn save_state(&self, _: Option<&RecordBatch>, _: Range<usize>) -> Result<RecordBatch> {
        Err(Error::internal("rank_with reads whole partitions, and leaves no carry"))
    }

    fn first_unsettled(&self, _: &Frames) -> usize {
        self.partitions.first_unsettled()
    }

    fn first_needed(&self, _: &Frames, answered: usize) -> usize {
        self.partitions.first_needed(answered)
    }
}
