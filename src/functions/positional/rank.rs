//! `row_number`, `rank`, `dense_rank`, `percent_rank`, `cume_dist`, `ntile`: ranks within the partition.
//!
//! ```text
//!   key           7    7    8    9    9    9
//!   row_number    1    2    3    4    5    6
//!   rank          1    1    3    4    4    4      rows before the peers plus one
//!   dense_rank    1    1    2    3    3    3      peer groups up to the row's
//!   percent_rank  0    0    2/5  3/5  3/5  3/5    (rank - 1) / (rows - 1)
//!   cume_dist     2/6  2/6  3/6  6/6  6/6  6/6    rows up to the last peer / rows
//!   ntile(4)      1    1    2    2    3    4      the first buckets are one row larger
//! ```
//!
//! Cost: O(1) per row; memory: counters over the boundaries, 4 bytes per 64 rows. A block costs its own rows only,
//! wherever it lies in its partition. The naive strategy walks the partition for each row. The first three functions
//! carry the last row's ranks; the others also need the number of rows after a section, or the whole partition.

use std::hint::select_unpredictable;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, UInt64Array};

use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluator, FRAMES_PER_BLOCK};
use crate::model::carry::Carry;
use crate::model::section::Section;
use crate::util::bitmap::WORD_BITS;
use crate::util::cancel::Cancel;
use crate::util::run_index::RunIndex;

/// Which rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankKind {
    /// `row_number()`: the row's number, from 1.
    RowNumber,
    /// `rank()`: the number of the row's first peer.
    Rank,
    /// `dense_rank()`: the number of the row's peer group.
    DenseRank,
    /// `percent_rank()`: (rank - 1) / (rows - 1), 0 for one row.
    PercentRank,
    /// `cume_dist()`: the fraction of the rows up to the row's last peer.
    CumeDist,
    /// `ntile(n)`: the row's bucket of n of equal size, the first ones one row larger.
    Ntile(u64),
}

/// A ranking function: Int32, or Float64 for `percent_rank` and `cume_dist`, and never NULL.
#[derive(Debug)]
pub struct Rank {
    which: RankKind,
    partitions: RunIndex,
    peers: RunIndex,
    /// The end of the rows to evaluate.
    own_end: usize,
    /// The beginning of the last row's partition.
    last_partition_begin: usize,
    open: bool,
    naive: bool,
}

impl Rank {
    /// The ranking function `which` over the section's partitions and peers. `naive` counts row by row.
    ///
    /// # Errors
    /// Zero buckets.
    pub fn new(section: &Section, which: RankKind, naive: bool) -> Result<Self> {
        if which == RankKind::Ntile(0) {
            return Err(Error::spec("ntile needs at least one bucket; got 0"));
        }
        Ok(Self {
            which,
            partitions: RunIndex::new(&section.partitions),
            peers: RunIndex::new(&section.peers),
            own_end: section.own.end,
            last_partition_begin: section.last_partition_begin(),
            open: section.open,
            naive,
        })
    }
}

/// The ranks of the last row that a carry covers; all zero if it covers none.
#[derive(Debug, Clone, Copy, Default)]
struct RankState {
    rows: u64,
    rank: u64,
    dense_rank: u64,
}

impl RankState {
    const NAMES: [&str; 3] = ["rows", "rank", "dense_rank"];

    fn load(state: &RecordBatch) -> Result<Self> {
        let value = |name| {
            let column = state.column_by_name(name).and_then(|column| column.as_primitive_opt::<UInt64Type>());
            column.and_then(|column| column.values().first().copied())
        };
        match Self::NAMES.map(value) {
            [Some(rows), Some(rank), Some(dense_rank)] => Ok(Self { rows, rank, dense_rank }),
            _ => Err(Error::internal("the carry of a ranking function holds rows, rank and dense_rank")),
        }
    }

    fn save(self) -> Result<RecordBatch> {
        let values = [self.rows, self.rank, self.dense_rank].map(|value| Arc::new(UInt64Array::from(vec![value])) as _);
        Ok(RecordBatch::try_from_iter(Self::NAMES.into_iter().zip::<[ArrayRef; 3]>(values))?)
    }
}

/// The carried states before and after the section.
fn carried_ends(carry: &Carry) -> Result<[Option<RankState>; 2]> {
    let load = |state: &Option<RecordBatch>| state.as_ref().map(RankState::load).transpose();
    Ok([load(&carry.state)?, load(&carry.after)?])
}

/// A partition in the section: the beginning of the rows that `covered` does not cover, its end, and the number of its
/// rows after the section.
#[derive(Debug, Clone, Copy)]
struct RankPartition {
    covered: RankState,
    begin: usize,
    end: usize,
    after: u64,
}

impl RankPartition {
    /// The number of the partition's rows before `row`.
    fn before(&self, row: usize) -> u64 {
        (self.covered.rows + row as u64).saturating_sub(self.begin as u64)
    }

    /// The number of the partition's rows.
    fn total(&self) -> u64 {
        self.before(self.end) + self.after
    }
}

/// Rows of one partition (peers, if they share ranks) with the numbers from which all ranks are computed.
struct Ranks {
    rows: Range<usize>,
    /// The number of the partition's rows before the first of `rows`.
    before: u64,
    /// The number of the rows' first peer.
    rank: u64,
    /// The number of the rows' peer group.
    dense_rank: u64,
    /// The number of the partition's rows up to the rows' last peer.
    through: u64,
    /// The number of the partition's rows.
    total: u64,
}

impl Rank {
    /// Whether peers have the same rank.
    fn peers_share(&self) -> bool {
        !matches!(self.which, RankKind::RowNumber | RankKind::Ntile(_))
    }

    /// Whether ranks depend on the number of the partition's rows.
    fn needs_end(&self) -> bool {
        matches!(self.which, RankKind::PercentRank | RankKind::CumeDist | RankKind::Ntile(_))
    }

    /// The rank and dense rank of the peer group that begins at `group` in the section.
    fn ranks(&self, partition: &RankPartition, group: usize) -> (u64, u64) {
        let RankPartition { covered, begin, .. } = *partition;
        if covered.rows == 0 {
            // The partition's first row begins a group even if its bit is not set.
            let groups = self.peers.count_before(group + 1) - self.peers.count_before(begin + 1);
            return ((group - begin) as u64 + 1, groups as u64 + 1);
        }
        if group < begin || !self.peers.bit(group) {
            return (covered.rank, covered.dense_rank);
        }
        let groups = self.peers.count_before(group + 1) - self.peers.count_before(begin);
        (partition.before(group) + 1, covered.dense_rank + groups as u64)
    }

    /// The partition whose rows in the section are `run`, with the carried states before and after.
    fn partition(&self, run: &Range<usize>, [covered, after]: [Option<RankState>; 2], base: usize) -> RankPartition {
        let (covered, begin) = match covered {
            Some(covered) if run.start == 0 => (covered, base),
            _ => (RankState::default(), run.start),
        };
        let after = after.filter(|_| run.start == self.last_partition_begin).map_or(0, |after| after.rows);
        RankPartition { covered, begin, end: run.end, after }
    }

    /// Calls `f` with each partition that contains some of `rows`, and with those, in order.
    fn each_partition(
        &self,
        rows: Range<usize>,
        carry: &Carry,
        cancel: &Cancel,
        mut f: impl FnMut(&RankPartition, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let ends = carried_ends(carry)?;
        let mut block = rows.start..rows.start;
        while block.end < rows.end {
            cancel.check()?;
            block = block.end..rows.end.min(block.end + FRAMES_PER_BLOCK);
            self.partitions
                .try_for_each_run(block.clone(), |run, rows| f(&self.partition(&run, ends, carry.base), rows))?;
        }
        Ok(())
    }

    /// Calls `f` with all of `rows`, in order.
    fn each(
        &self,
        rows: Range<usize>,
        carry: &Carry,
        cancel: &Cancel,
        mut f: impl FnMut(&Ranks) -> Result<()>,
    ) -> Result<()> {
        self.each_partition(rows, carry, cancel, |partition, rows| {
            if self.naive {
                return rows.into_iter().try_for_each(|row| f(&self.ranks_naively(partition, row)));
            }
            let before = partition.before(rows.start);
            let total = partition.total();
            if !self.peers_share() {
                return f(&Ranks { rows, before, rank: 0, dense_rank: 0, through: 0, total });
            }
            let mut last = None;
            self.peers.try_for_each_run(rows, |group, rows| {
                let before = partition.before(rows.start);
                let (rank, dense_rank) = match last {
                    Some(dense_rank) => (before + 1, dense_rank + 1),
                    None => self.first_ranks(partition, group.start),
                };
                last = Some(dense_rank);
                f(&Ranks { rows, before, rank, dense_rank, through: partition.before(group.end), total })
            })
        })
    }

    /// The ranks of the peer group that begins at `group`, which may lie partly outside the section.
    fn first_ranks(&self, partition: &RankPartition, group: usize) -> (u64, u64) {
        match partition.covered.rows {
            0 if group <= partition.begin => (1, 1),
            _ => self.ranks(partition, group),
        }
    }

    /// The ranks of `rows` for functions that depend only on the rows up to each, from the bits of 64 rows at a time:
    /// partition and peer boundaries are unpredictable, so there is no branch per row.
    fn ranks_by_words(&self, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<Vec<i32>> {
        let mut places = Vec::with_capacity(rows.len());
        if rows.is_empty() {
            return Ok(places);
        }
        // The end of the run does not matter.
        let run = self.partitions.run_start(rows.start)..rows.end;
        let partition = self.partition(&run, carried_ends(carry)?, carry.base);
        let (rank, dense_rank) = self.first_ranks(&partition, self.peers.run_start(rows.start));
        // Rows before the section are numbered as if they were in it: their numbers are negative.
        let mut begin = partition.begin as i64 - partition.covered.rows as i64;
        let mut group = if self.peers_share() { begin + rank as i64 - 1 } else { rows.start as i64 };
        let mut groups = dense_rank as i64;
        let dense = self.which == RankKind::DenseRank;
        // The ranks at the first row are known.
        let mut unknown = !1;
        for first in rows.clone().step_by(WORD_BITS) {
            if (first - rows.start).is_multiple_of(FRAMES_PER_BLOCK) {
                cancel.check()?;
            }
            let new_partitions = self.partitions.word(first);
            let new_groups = if self.peers_share() { self.peers.word(first) | new_partitions } else { u64::MAX };
            let (new_partitions, new_groups) = (new_partitions & unknown, new_groups & unknown);
            unknown = u64::MAX;
            let count = WORD_BITS.min(rows.end - first);
            let mut word = [0; WORD_BITS];
            let mut most = 0;
            if new_partitions == 0 && new_groups == u64::MAX {
                let before = if dense { groups } else { first as i64 - begin };
                (0..).zip(&mut word).for_each(|(by, place)| *place = (before as i32).wrapping_add(by + 1));
                most = before + count as i64;
                (group, groups) = ((first + WORD_BITS - 1) as i64, groups + WORD_BITS as i64);
            } else {
                for (bit, place) in word[..count].iter_mut().enumerate() {
                    let row = (first + bit) as i64;
                    let (new_partition, new_group) = ((new_partitions >> bit) & 1 != 0, (new_groups >> bit) & 1 != 0);
                    begin = select_unpredictable(new_partition, row, begin);
                    group = select_unpredictable(new_group, row, group);
                    groups = select_unpredictable(new_partition, 1, groups + i64::from(new_group));
                    let found = if dense { groups } else { group - begin + 1 };
                    most = most.max(found);
                    *place = found as i32;
                }
            }
            self.int(most as u64)?;
            places.extend_from_slice(&word[..count]);
        }
        Ok(places)
    }

    /// The ranks of one row, by definition: row by row.
    fn ranks_naively(&self, partition: &RankPartition, row: usize) -> Ranks {
        let RankPartition { covered, begin, end, .. } = *partition;
        let starts = |row: &usize| self.peers.bit(*row) || (covered.rows == 0 && *row == begin);
        let first_peer = (begin..=row).rev().find(starts);
        let groups = (begin..=row).filter(starts).count() as u64;
        let next = (row + 1..end).find(|row| self.peers.bit(*row)).unwrap_or(end);
        Ranks {
            rows: row..row + 1,
            before: covered.rows + (begin..row).count() as u64,
            rank: first_peer.map_or(covered.rank, |first| covered.rows + (begin..first).count() as u64 + 1),
            dense_rank: covered.dense_rank + groups,
            through: covered.rows + (begin..next).count() as u64,
            total: covered.rows + (begin..end).count() as u64 + partition.after,
        }
    }

    /// A rank as SQL's INT.
    fn int(&self, place: u64) -> Result<i32> {
        i32::try_from(place).map_err(|_| {
            let function = match self.which {
                RankKind::RowNumber => "row_number",
                RankKind::Rank => "rank",
                RankKind::DenseRank => "dense_rank",
                _ => "ntile",
            };
            Error::overflow(format!(
                "{function} is an INT, and a partition has more than {} rows; add to PARTITION BY",
                i32::MAX
            ))
        })
    }

    /// Appends the integers of `places`.
    fn integers(&self, places: &Ranks, out: &mut Vec<i32>) -> Result<()> {
        let count = places.rows.len();
        let shared = match self.which {
            RankKind::Rank => self.int(places.rank)?,
            RankKind::DenseRank => self.int(places.dense_rank)?,
            RankKind::Ntile(buckets) => {
                let buckets = Buckets::new(places.total, buckets);
                for before in places.before..places.before + count as u64 {
                    out.push(self.int(buckets.of(before))?);
                }
                return Ok(());
            }
            _ => {
                self.int(places.before + count as u64)?;
                out.extend((places.before..places.before + count as u64).map(|before| before as i32 + 1));
                return Ok(());
            }
        };
        out.resize(out.len() + count, shared);
        Ok(())
    }

    /// The fraction that all of `places` share.
    fn fraction(&self, places: &Ranks) -> f64 {
        match (self.which, places.total) {
            (RankKind::CumeDist, total) => places.through as f64 / total as f64,
            (_, ..=1) => 0.0,
            (_, total) => (places.rank - 1) as f64 / (total - 1) as f64,
        }
    }
}

/// How `ntile` assigns rows to buckets: the first buckets are one row larger.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buckets {
    /// The number of rows of a small bucket.
    small: u64,
    /// The number of larger buckets.
    larger: u64,
}

impl Buckets {
    pub(crate) fn new(rows: u64, buckets: u64) -> Self {
        Self { small: rows / buckets, larger: rows % buckets }
    }

    /// The bucket, from 1, of the row after `before` rows.
    #[inline]
    pub(crate) fn of(self, before: u64) -> u64 {
        let Self { small, larger } = self;
        match before.checked_sub(larger * (small + 1)) {
            None => before / (small + 1) + 1,
            // Small buckets are empty if there are fewer rows than buckets.
            Some(after) => larger + after / small.max(1) + 1,
        }
    }
}

impl Evaluator for Rank {
    fn evaluate(&self, _: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        if matches!(self.which, RankKind::PercentRank | RankKind::CumeDist) {
            let mut out = Vec::with_capacity(rows.len());
            self.each(rows, carry, cancel, |places| {
                out.resize(out.len() + places.rows.len(), self.fraction(places));
                Ok(())
            })?;
            return Ok(Arc::new(Float64Array::from(out)));
        }
        if !self.naive && !self.needs_end() {
            return Ok(Arc::new(Int32Array::from(self.ranks_by_words(rows, carry, cancel)?)));
        }
        let mut out = Vec::with_capacity(rows.len());
        self.each(rows, carry, cancel, |places| self.integers(places, &mut out))?;
        Ok(Arc::new(Int32Array::from(out)))
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        let covered = state.map(RankState::load).transpose()?.unwrap_or_default();
        let Some(last) = rows.end.checked_sub(1).filter(|last| rows.start <= *last) else {
            return covered.save();
        };
        let partition = RankPartition { covered, begin: rows.start, end: rows.end, after: 0 };
        let group = self.peers.run_start(last);
        let group = if covered.rows == 0 { group.max(rows.start) } else { group };
        let (rank, dense_rank) = self.ranks(&partition, group);
        RankState { rows: partition.before(rows.end), rank, dense_rank }.save()
    }

    fn merge_states(&self, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        let (left, right) = (RankState::load(left)?, RankState::load(right)?);
        if right.rows == 0 {
            return left.save();
        }
        let (rows, rank) = (left.rows + right.rows, left.rows + right.rank);
        RankState { rows, rank, dense_rank: left.dense_rank + right.dense_rank }.save()
    }

    /// All rows if the rows before suffice; otherwise those of closed partitions.
    fn first_unsettled(&self, _: &Frames) -> usize {
        match self.partitions.len().checked_sub(1) {
            Some(last) if self.open && self.needs_end() => self.partitions.run_start(last).min(self.own_end),
            _ => self.own_end,
        }
    }

    /// No evaluated row is needed: the carry replaces them, or their partition is closed.
    fn first_needed(&self, _: &Frames, answered: usize) -> usize {
        answered
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{Float64Type, Int32Type};
    use arrow_buffer::BooleanBuffer;

    use super::*;
    use crate::bounds::resolve::FramePlan;
    use crate::spec::frame::Frame;
    use crate::util::boundaries::Boundaries;

    fn answers(section: &Section, which: RankKind) -> ArrayRef {
        answers_of(section, which, 0..section.rows)
    }

    fn answers_of(section: &Section, which: RankKind, rows: Range<usize>) -> ArrayRef {
        let plan = FramePlan::resolve(Some(&Frame::entire()), &[], &|name| Err(Error::spec(name)), "UTC").unwrap();
        let frames = Frames::new(&plan, section, 0).unwrap();
        let [fast, naive] = [false, true].map(|naive| {
            let rank = Rank::new(section, which, naive).unwrap();
            rank.evaluate(&frames, rows.clone(), &Carry::default(), &Cancel::default()).unwrap()
        });
        assert_eq!(&fast, &naive);
        fast
    }

    /// Row 0 begins a partition, as do rows of 2; rows of 1 begin a peer group.
    fn section(starts: &[u8]) -> Section {
        let bits = |least| Boundaries::new(BooleanBuffer::collect_bool(starts.len(), |row| starts[row] >= least));
        Section::whole(bits(2), bits(1), vec![]).unwrap()
    }

    #[test]
    fn ranks_match_the_documented_table() {
        let section = section(&[2, 0, 1, 1, 0, 0, 2]);
        let integers = |which| answers(&section, which).as_primitive::<Int32Type>().values().to_vec();
        let fractions = |which| answers(&section, which).as_primitive::<Float64Type>().values().to_vec();
        assert_eq!(integers(RankKind::RowNumber), [1, 2, 3, 4, 5, 6, 1]);
        assert_eq!(integers(RankKind::Rank), [1, 1, 3, 4, 4, 4, 1]);
        assert_eq!(integers(RankKind::DenseRank), [1, 1, 2, 3, 3, 3, 1]);
        assert_eq!(integers(RankKind::Ntile(4)), [1, 1, 2, 2, 3, 4, 1]);
        assert_eq!(fractions(RankKind::PercentRank), [0.0, 0.0, 0.4, 0.6, 0.6, 0.6, 0.0]);
        assert_eq!(fractions(RankKind::CumeDist), [2.0 / 6.0, 2.0 / 6.0, 0.5, 1.0, 1.0, 1.0, 1.0]);
    }

    /// Rows of which none, each or some begin a peer group or a partition, evaluated from any row on.
    #[test]
    fn ranks_of_some_rows_match_ranks_of_all() {
        let scattered = |row: u32| [0, 0, 0, 1, 1, 2][(row.wrapping_mul(2_654_435_761) >> 8) as usize % 6];
        let start = |row| if row < 600 { [0, 1, 2, 1][row as usize / 150] } else { scattered(row) };
        let section = section(&(0..1000).map(start).collect::<Vec<u8>>());
        for which in [RankKind::RowNumber, RankKind::Rank, RankKind::DenseRank] {
            let all = answers(&section, which);
            for begin in [1, 64, 100, 149, 150, 299, 301, 450, 640, 999, 1000] {
                let some = answers_of(&section, which, begin..1000);
                assert_eq!(&some, &all.slice(begin, 1000 - begin), "{which:?} from {begin}");
            }
        }
    }

    #[test]
    fn ntile_matches_spark() {
        let mut starts = [1; 10];
        starts[0] = 2;
        let buckets = |n| answers(&section(&starts), RankKind::Ntile(n)).as_primitive::<Int32Type>().values().to_vec();
        assert_eq!(buckets(1), [1; 10]);
        assert_eq!(buckets(4), [1, 1, 1, 2, 2, 2, 3, 3, 4, 4]);
        assert_eq!(buckets(12), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(buckets(u64::MAX), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert!(Rank::new(&section(&[2]), RankKind::Ntile(0), false).is_err());
    }
}
