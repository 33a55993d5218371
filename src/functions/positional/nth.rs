//! `first_value`, `last_value`, `any_value`, `nth_value`: one row of the frame, by its ordinal among the counted rows.
//!
//! Values are gathered by row number and never inspected, so any type works and the result has the column's type.
//! RESPECT NULLS without FILTER is `RowMask::All`; IGNORE NULLS and FILTER give a mask. `any_value` is `first_value`,
//! as in Spark.
//!
//! Cost: see [`crate::evaluate::positional::index`]; the naive strategy walks each frame. A state is the first n
//! counted values and the last one.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};

use crate::bounds::block::Bounds;
use crate::bounds::exclude::SubRanges;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluator, for_each_block};
use crate::evaluate::positional::carried::{CarriedNeighbours, CarriedValues, KeptEnds};
use crate::evaluate::positional::gather_plan::{GatherPlan, RowSource};
use crate::evaluate::positional::index::{MaskIndex, MaskWalk};
use crate::evaluate::positional::nearest::Nearest;
use crate::grouping::first_last::first_or_last;
use crate::model::carry::Carry;
use crate::model::group_ids::RowGroups;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::sort::sort_column::SortColumn;
use crate::util::cancel::Cancel;
use crate::util::threads::Threads;

/// Which row of the frame.
#[derive(Debug, Clone, PartialEq)]
pub enum NthRow {
    /// The first counted row: `first_value` and `any_value`.
    First,
    /// The last counted row: `last_value`.
    Last,
    /// The n-th counted row, from 1: `nth_value`.
    Nth(u64),
    /// n per row; NULL if it is NULL or below 1.
    NthPerRow(Int64Array),
}

impl NthRow {
    /// The ordinal for `row`, 0 for none; `None` for the last.
    #[inline]
    pub(crate) fn ordinal(&self, row: usize) -> Option<u64> {
        match self {
            Self::First => Some(1),
            Self::Last => None,
            Self::Nth(n) => Some(*n),
            Self::NthPerRow(n) if n.is_valid(row) => Some(u64::try_from(n.value(row)).unwrap_or(0)),
            Self::NthPerRow(_) => Some(0),
        }
    }
}

/// A value function over any frame.
#[derive(Debug)]
pub struct Nth {
    column: ArrayRef,
    included: MaskIndex,
    which: NthRow,
    naive: bool,
    /// The end of the partition that a carry's `state` belongs to.
    first_partition_end: usize,
    /// The beginning of the partition that a carry's `after` belongs to.
    last_partition_begin: usize,
}

impl Nth {
    /// The value of `column` at the `which` row among those of the frame that `inclusion` contains. `naive` walks each
    /// frame.
    ///
    /// # Errors
    /// An ordinal of zero.
    pub fn new(section: &Section, column: ArrayRef, inclusion: RowMask, which: NthRow, naive: bool) -> Result<Self> {
        if which == NthRow::Nth(0) {
            return Err(Error::spec("nth_value counts rows from 1; got 0"));
        }
        Ok(Self {
            column,
            included: MaskIndex::new(inclusion),
            which,
            naive,
            first_partition_end: section.first_partition_end(),
            last_partition_begin: section.last_partition_begin(),
        })
    }
}

impl Nth {
    /// Picks the first or the last counted row of each frame. Returns `false`, without picks, if another row is
    /// requested, or the frames are not contiguous and near each other.
    fn pick_ends(&self, nearest: &mut Nearest, bounds: &Bounds, picks: &mut GatherPlan) -> bool {
        let last = self.which == NthRow::Last;
        let Some(runs) = bounds.runs().filter(|_| (last || self.which == NthRow::First) && !self.naive) else {
            return false;
        };
        let mut push = |row: usize, found| picks.push(if found { RowSource::Row(row) } else { RowSource::Null });
        match &self.included {
            MaskIndex::All => {
                runs.iter()
                    .for_each(|run| push(if last { run.end.wrapping_sub(1) } else { run.start }, !run.is_empty()));
                true
            }
            MaskIndex::Ranked(ranks) if last => nearest.last_before_each(ranks, &bounds.end, |at, behind| {
                push((behind as usize).wrapping_sub(1), behind > bounds.begin[at]);
            }),
            MaskIndex::Ranked(ranks) => {
                nearest.first_from_each(ranks, &bounds.begin, |at, row| push(row as usize, row < bounds.end[at]))
            }
        }
    }

    /// The numbers of counted rows that a carry adds before and after the section's part of `row`'s frame.
    fn carried_counts(&self, row: usize, around: &CarriedNeighbours) -> (u64, u64) {
        let before = around.before.as_ref().filter(|_| row < self.first_partition_end);
        let after = around.after.as_ref().filter(|_| self.last_partition_begin <= row);
        (before.map_or(0, CarriedValues::total), after.map_or(0, CarriedValues::total))
    }

    /// The row of `frame`'s ranges, carried rows included.
    fn pick(
        &self,
        walk: &mut MaskWalk,
        row: usize,
        around: &CarriedNeighbours,
        mut pieces: SubRanges,
    ) -> Result<RowSource> {
        let (before, after) = self.carried_counts(row, around);
        let row = match self.which.ordinal(row) {
            None if after > 0 => return around.pick_after(after),
            None => match pieces.filter_map(|piece| walk.last(piece)).last() {
                None if before > 0 => return around.pick_before(before),
                row => row,
            },
            Some(0) => None,
            Some(n) if n <= before => return around.pick_before(n),
            Some(1) if after == 0 => pieces.find_map(|piece| walk.first(piece)),
            Some(n) => {
                let mut left = n - before - 1;
                let row = pieces.find_map(|piece| {
                    let (first, behind) = walk.before(&piece);
                    let here = (behind - first) as u64;
                    if left < here {
                        return walk.row(first + left as usize);
                    }
                    left -= here;
                    None
                });
                if row.is_none() && left < after {
                    return around.pick_after(left + 1);
                }
                row
            }
        };
        Ok(row.map_or(RowSource::Null, RowSource::Row))
    }

    /// As [`Nth::pick`], by definition: row by row.
    fn pick_naively(&self, row: usize, around: &CarriedNeighbours, pieces: SubRanges) -> Result<RowSource> {
        let (mut seen, after) = self.carried_counts(row, around);
        let mut last = None;
        let wanted = self.which.ordinal(row).unwrap_or(u64::MAX);
        if wanted == 0 {
            return Ok(RowSource::Null);
        }
        if seen > 0 {
            if wanted <= seen {
                return around.pick_before(wanted);
            }
            last = Some(around.pick_before(seen)?);
        }
        for row in pieces.flatten().filter(|&row| self.included.includes(row)) {
            seen += 1;
            if seen == wanted {
                return Ok(RowSource::Row(row));
            }
            last = Some(RowSource::Row(row));
        }
        if after > 0 {
            if wanted - seen <= after {
                return around.pick_after(wanted - seen);
            }
            last = Some(around.pick_after(after)?);
        }
        Ok(last.filter(|_| self.which == NthRow::Last).unwrap_or(RowSource::Null))
    }

    /// What a carry keeps: always the last value, as its ordinal is the number of covered rows.
    fn kept_ends(&self) -> KeptEnds {
        let head = match self.which {
            NthRow::First => 1,
            NthRow::Last => 0,
            NthRow::Nth(n) => n,
            // Each row may select any ordinal, so the plan keeps the rows.
            NthRow::NthPerRow(_) => u64::MAX,
        };
        KeptEnds { head, tail: 1 }
    }
}

impl Evaluator for Nth {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let around = CarriedNeighbours::load(carry)?;
        let (mut walk, mut nearest) = (MaskWalk::new(&self.included), Nearest::default());
        let mut picks = GatherPlan::with_capacity(rows.len());
        for_each_block(frames, rows, cancel, &mut |bounds| {
            if around.is_empty() && self.pick_ends(&mut nearest, bounds, &mut picks) {
                return Ok(());
            }
            bounds.rows.clone().try_for_each(|row| {
                let pieces = bounds.sub_ranges(row);
                picks.push(if self.naive {
                    self.pick_naively(row, &around, pieces)?
                } else {
                    self.pick(&mut walk, row, &around, pieces)?
                });
                Ok(())
            })
        })?;
        picks.gather(&self.column, None, around.values.as_ref())
    }

    fn evaluate_groups(&self, groups: &RowGroups, order: &[SortColumn], threads: &Threads) -> Result<Option<ArrayRef>> {
        let included = |row| self.included.includes(row);
        let Some(ends) = first_or_last(groups, order, self.which == NthRow::Last, included, threads)? else {
            return Ok(None);
        };
        let mut picks = GatherPlan::with_capacity(ends.len());
        for row in ends {
            picks.push(row.map_or(RowSource::Null, |row| RowSource::Row(row as usize)));
        }
        picks.gather(&self.column, None, None).map(Some)
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        CarriedValues::append_saved(self.kept_ends(), &self.column, &self.included, state, rows)
    }

    fn merge_states(&self, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        CarriedValues::merge_saved(self.kept_ends(), left, right)
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        match self.which {
            NthRow::NthPerRow(_) => frames.first_needed_without_carry(answered),
            _ => frames.first_needed(answered),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;
    use crate::bounds::resolve::FramePlan;
    use crate::spec::frame::{Bound, Frame};
    use crate::util::boundaries::Boundaries;

    #[allow(clippy::needless_pass_by_value)]
    fn answers(frame: &Frame, which: NthRow, ignore_nulls: bool) -> Vec<Option<i64>> {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(10), None, Some(30), None, Some(50)]));
        let inclusion = if ignore_nulls { RowMask::new(std::slice::from_ref(&column), None) } else { RowMask::All };
        let boundaries = Boundaries::single(5);
        let section = Section::whole(boundaries.clone(), boundaries, vec![]).unwrap();
        let plan = FramePlan::resolve(Some(frame), &[], &|name| Err(Error::spec(name)), "UTC").unwrap();
        let frames = Frames::new(&plan, &section, 0).unwrap();
        let [fast, naive] = [false, true].map(|naive| {
            let nth = Nth::new(&section, column.clone(), inclusion.clone(), which.clone(), naive).unwrap();
            let answers = nth.evaluate(&frames, 0..5, &Carry::default(), &Cancel::default()).unwrap();
            answers.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
        });
        assert_eq!(fast, naive);
        fast
    }

    #[test]
    fn nth_value_matches_spark() {
        let (whole, growing) = (Frame::entire(), Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow));
        assert_eq!(answers(&whole, NthRow::Nth(2), false), [None; 5]);
        assert_eq!(answers(&whole, NthRow::Nth(2), true), [Some(30); 5]);
        assert_eq!(answers(&whole, NthRow::Nth(4), true), [None; 5]);
        assert_eq!(answers(&growing, NthRow::Nth(2), true), [None, None, Some(30), Some(30), Some(30)]);
        assert_eq!(answers(&growing, NthRow::First, false), [Some(10); 5]);
        assert_eq!(answers(&growing, NthRow::Last, false), [Some(10), None, Some(30), None, Some(50)]);
        assert_eq!(answers(&growing, NthRow::Last, true), [Some(10), Some(10), Some(30), Some(30), Some(50)]);
        let next = Frame::rows(Bound::following(1), Bound::following(1));
        assert_eq!(answers(&next, NthRow::First, false), [None, Some(30), None, Some(50), None]);
        assert_eq!(answers(&next, NthRow::Last, true), [None, Some(30), None, Some(50), None]);
        let empty = Frame::rows(Bound::following(5), Bound::following(6));
        assert_eq!(answers(&empty, NthRow::First, false), [None; 5]);
    }

    #[test]
    fn nth_zero_is_refused() {
        let section = Section::whole(Boundaries::single(0), Boundaries::single(0), vec![]).unwrap();
        let column: ArrayRef = Arc::new(Int64Array::from(Vec::<i64>::new()));
        assert!(Nth::new(&section, column, RowMask::All, NthRow::Nth(0), false).is_err());
    }
}
