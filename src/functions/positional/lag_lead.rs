//! `lag` and `lead`: a row at an offset within the partition, constant or per row.
//!
//! ```text
//!   x            10  .  30  .  50
//!   lag(x, 1, d)  d 10   . 30   .      d: the row's default, where the partition has no such row
//!   IGNORE NULLS  d 10  10 30  30      the n-th counted row before
//! ```
//!
//! A negative offset reverses the direction, and 0 is the row itself, even if it is not counted. Values are gathered by
//! row number and never inspected, so any type works and the result has the column's type.
//!
//! Cost: if all rows are counted and the offset is constant, a shifted copy (`evaluate/positional/shift.rs`); otherwise
//! see [`crate::evaluate::positional::index`]; the naive strategy walks from each row. RESPECT NULLS needs the n rows
//! around a section as its halo; with offsets per row, the whole partition. The state of IGNORE NULLS is the n counted
//! values nearest to the section: for `lag` the last of those before, for `lead` the first of those after.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};

use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluator, FRAMES_PER_BLOCK};
use crate::evaluate::positional::carried::{CarriedNeighbours, CarriedValues, KeptEnds};
use crate::evaluate::positional::gather_plan::{GatherPlan, RowSource};
use crate::evaluate::positional::index::{MaskIndex, MaskWalk};
use crate::evaluate::positional::shift::shift;
use crate::model::carry::Carry;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::util::cancel::Cancel;
use crate::util::run_index::RunIndex;

/// An offset in rows after the row; negative: before it.
#[derive(Debug, Clone)]
pub enum OffsetBy {
    /// The same for all rows.
    Fixed(i64),
    /// Per row; NULL gives NULL.
    PerRow(Int64Array),
}

impl OffsetBy {
    #[inline]
    fn of(&self, row: usize) -> Option<i64> {
        match self {
            Self::Fixed(by) => Some(*by),
            Self::PerRow(by) => by.is_valid(row).then(|| by.value(row)),
        }
    }
}

/// `lag` or `lead`.
#[derive(Debug)]
pub struct LagLead {
    column: ArrayRef,
    included: MaskIndex,
    partitions: RunIndex,
    by: OffsetBy,
    default: Option<ArrayRef>,
    /// The end of the rows to evaluate.
    own_end: usize,
    /// The beginning of the last row's partition.
    last_partition_begin: usize,
    open: bool,
    /// Whether a carry replaces the rows before a section.
    carries: bool,
    naive: bool,
}

impl LagLead {
    /// The value of `column` at the `by`-th counted row after the row (before it, if negative; the row itself, if 0),
    /// or `default` if the partition has no such row. `default` has one value, or one per row of the section. So
    /// `lead(x, n)` is `n`, and `lag(x, n)` is `n.saturating_neg()`.
    ///
    /// # Errors
    /// A default of another type or length.
    pub fn new(
        section: &Section,
        column: ArrayRef,
        inclusion: RowMask,
        by: OffsetBy,
        default: Option<ArrayRef>,
        naive: bool,
    ) -> Result<Self> {
        if let Some(default) = &default
            && (default.data_type() != column.data_type() || ![1, section.rows].contains(&default.len()))
        {
            return Err(Error::internal(format!(
                "a default of {} {} for a column of {} {}",
                default.len(),
                default.data_type(),
                column.len(),
                column.data_type()
            )));
        }
        Ok(Self {
            column,
            included: MaskIndex::new(inclusion),
            partitions: RunIndex::new(&section.partitions),
            by,
            default,
            own_end: section.own.end,
            last_partition_begin: section.last_partition_begin(),
            open: section.open,
            carries: false,
            naive,
        })
    }

    /// Lets a carry replace all rows before a section, where the plan has one (`lag` IGNORE NULLS). Otherwise the rows
    /// since the n-th counted row before are kept, which may be many.
    #[must_use]
    pub fn ignoring_nulls(mut self) -> Self {
        self.carries = true;
        self
    }
}

impl LagLead {
    /// What a state keeps: always the last value, as its ordinal is the number of covered rows.
    fn kept_ends(&self) -> KeptEnds {
        match self.by {
            OffsetBy::Fixed(by @ ..0) => KeptEnds { head: 0, tail: by.unsigned_abs() },
            OffsetBy::Fixed(by) => KeptEnds { head: by.unsigned_abs(), tail: 1 },
            OffsetBy::PerRow(_) => KeptEnds { head: 0, tail: 1 },
        }
    }
}

/// The absolute offset.
fn distance(by: i64) -> usize {
    usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX)
}

/// One partition in the section, and the carried values around it.
struct OffsetPartition<'a> {
    /// The rows that the carry does not cover.
    rows: Range<usize>,
    around: &'a CarriedNeighbours,
    /// The numbers of counted rows before these, and after the section.
    before: u64,
    after: u64,
}

impl LagLead {
    /// The result if the partition has no such row.
    fn absent(&self, row: usize) -> RowSource {
        match &self.default {
            None => RowSource::Null,
            Some(default) if default.len() == 1 => RowSource::Default(0),
            Some(_) => RowSource::Default(row),
        }
    }

    /// The carried row that is `by` counted rows before `row`, which has `here` of them before it in the section.
    fn before_section(&self, partition: &OffsetPartition, here: usize, row: usize, by: i64) -> Result<RowSource> {
        match (partition.before + here as u64).checked_sub(by.unsigned_abs()) {
            Some(before) if partition.before > 0 => partition.around.pick_before(before + 1),
            _ => Ok(self.absent(row)),
        }
    }

    /// The carried row that is `by` counted rows after `row`, which has `here` of them after it in the section.
    fn behind_section(&self, partition: &OffsetPartition, here: usize, row: usize, by: i64) -> Result<RowSource> {
        match by.unsigned_abs() - here as u64 {
            ordinal if ordinal <= partition.after => partition.around.pick_after(ordinal),
            _ => Ok(self.absent(row)),
        }
    }

    /// Appends the picks of `rows`, which lie in `partition`.
    fn pick(
        &self,
        partition: &OffsetPartition,
        rows: Range<usize>,
        walk: &mut MaskWalk,
        picks: &mut GatherPlan,
    ) -> Result<()> {
        let (first, behind) = (self.included.before(partition.rows.start), self.included.before(partition.rows.end));
        let mut before = if rows.start == partition.rows.start { first } else { self.included.before(rows.start) };
        let found = |row: Option<usize>| {
            row.map(RowSource::Row).ok_or_else(|| Error::internal("the rows of a mask are counted wrong"))
        };
        for row in rows {
            let through = before + usize::from(self.included.includes(row));
            let pick = match self.by.of(row) {
                None => RowSource::Null,
                Some(0) => RowSource::Row(row),
                Some(by @ 1..) => match through.checked_add(distance(by) - 1) {
                    Some(target) if target < behind => found(walk.row(target))?,
                    _ => self.behind_section(partition, behind - through, row, by)?,
                },
                Some(by) if before - first >= distance(by) => found(walk.row(before - distance(by)))?,
                Some(by) => self.before_section(partition, before - first, row, by)?,
            };
            picks.push(pick);
            before = through;
        }
        Ok(())
    }

    /// As [`LagLead::pick`], by definition: row by row.
    fn pick_naively(&self, partition: &OffsetPartition, rows: Range<usize>, picks: &mut GatherPlan) -> Result<()> {
        for row in rows {
            let taking_part = |row: &usize| self.included.includes(*row);
            let Some(by) = self.by.of(row) else {
                picks.push(RowSource::Null);
                continue;
            };
            let nth = distance(by).wrapping_sub(1);
            picks.push(match by {
                0 => RowSource::Row(row),
                1.. => {
                    if let Some(target) = (row + 1..partition.rows.end).filter(taking_part).nth(nth) {
                        RowSource::Row(target)
                    } else {
                        let here = (row + 1..partition.rows.end).filter(taking_part).count();
                        self.behind_section(partition, here, row, by)?
                    }
                }
                ..0 => {
                    if let Some(target) = (partition.rows.start..row).rev().filter(taking_part).nth(nth) {
                        RowSource::Row(target)
                    } else {
                        let here = (partition.rows.start..row).filter(taking_part).count();
                        self.before_section(partition, here, row, by)?
                    }
                }
            });
        }
        Ok(())
    }
}

impl Evaluator for LagLead {
    fn evaluate(&self, _: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let around = CarriedNeighbours::load(carry)?;
        if let (OffsetBy::Fixed(by), MaskIndex::All, true, false) =
            (&self.by, &self.included, around.is_empty(), self.naive)
        {
            cancel.check()?;
            if *by == 0 {
                return Ok(self.column.slice(rows.start, rows.len()));
            }
            if let Some(shifted) = shift(&self.column, *by, self.default.as_ref(), &self.partitions, rows.clone())? {
                return Ok(shifted);
            }
        }
        let mut walk = MaskWalk::new(&self.included);
        let mut picks = GatherPlan::with_capacity(rows.len());
        let mut block = rows.start..rows.start;
        while block.end < rows.end {
            cancel.check()?;
            block = block.end..rows.end.min(block.end + FRAMES_PER_BLOCK);
            self.partitions.try_for_each_run(block.clone(), |run, rows| {
                let before = around.before.as_ref().filter(|_| run.start == 0);
                let after = around.after.as_ref().filter(|_| run.start == self.last_partition_begin);
                let begin = if before.is_some() { carry.base } else { run.start };
                let [before, after] = [before, after].map(|carried| carried.map_or(0, CarriedValues::total));
                let partition = OffsetPartition { rows: begin..run.end, around: &around, before, after };
                if self.naive {
                    self.pick_naively(&partition, rows, &mut picks)
                } else {
                    self.pick(&partition, rows, &mut walk, &mut picks)
                }
            })?;
        }
        picks.gather(&self.column, self.default.as_ref(), around.values.as_ref())
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        CarriedValues::append_saved(self.kept_ends(), &self.column, &self.included, state, rows)
    }

    fn merge_states(&self, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        CarriedValues::merge_saved(self.kept_ends(), left, right)
    }

    /// For offsets before the row, all rows; for offsets after it, the rows of closed partitions and those whose target
    /// has arrived.
    fn first_unsettled(&self, _: &Frames) -> usize {
        let rows = self.partitions.len();
        let looks_back = matches!(self.by, OffsetBy::Fixed(..=0));
        if !self.open || looks_back || rows == 0 {
            return self.own_end;
        }
        // The last counted row that still waits for its target is this many rows from the end.
        let waiting = match self.by {
            OffsetBy::Fixed(by) => self.included.before(rows).checked_sub(distance(by)),
            OffsetBy::PerRow(_) => None,
        };
        let first = waiting.and_then(|k| self.included.row(k)).unwrap_or(0);
        first.max(self.partitions.run_start(rows - 1)).min(self.own_end)
    }

    /// Offsets before the row need the last rows, or a carry. Offsets after it need none.
    fn first_needed(&self, _: &Frames, answered: usize) -> usize {
        let rows = self.partitions.len();
        let looks_ahead = matches!(self.by, OffsetBy::Fixed(0..));
        if looks_ahead || self.carries || rows == 0 || (answered == rows && !self.open) {
            return answered;
        }
        let partition = self.partitions.run_start(answered.min(rows - 1));
        let first = match self.by {
            OffsetBy::Fixed(by) => self.included.before(answered).checked_sub(distance(by)),
            OffsetBy::PerRow(_) => None,
        };
        let needed = first.map_or(Some(0), |k| self.included.row(k)).unwrap_or(answered);
        needed.min(answered).max(partition)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;
    use crate::bounds::resolve::FramePlan;
    use crate::spec::frame::Frame;
    use crate::util::boundaries::Boundaries;

    fn values(values: &[Option<i64>]) -> ArrayRef {
        Arc::new(Int64Array::from(values.to_vec()))
    }

    #[allow(clippy::needless_pass_by_value)]
    fn answers(offset: i64, default: Option<ArrayRef>, ignore_nulls: bool) -> Vec<Option<i64>> {
        let column = values(&[Some(10), None, Some(30), None, Some(50)]);
        let inclusion = if ignore_nulls { RowMask::new(std::slice::from_ref(&column), None) } else { RowMask::All };
        let edges = Boundaries::single(5);
        let section = Section::whole(edges.clone(), edges, vec![]).unwrap();
        let plan = FramePlan::resolve(Some(&Frame::entire()), &[], &|name| Err(Error::spec(name)), "UTC").unwrap();
        let frames = Frames::new(&plan, &section, 0).unwrap();
        let [fast, naive] = [false, true].map(|naive| {
            let offset = LagLead::new(
                &section,
                column.clone(),
                inclusion.clone(),
                OffsetBy::Fixed(offset),
                default.clone(),
                naive,
            );
            let answers = offset.unwrap().evaluate(&frames, 0..5, &Carry::default(), &Cancel::default()).unwrap();
            answers.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
        });
        assert_eq!(fast, naive);
        fast
    }

    #[test]
    fn lag_and_lead_match_spark() {
        let ids = || Some(values(&[Some(1), Some(2), Some(3), Some(4), Some(5)]));
        let x = [Some(10), None, Some(30), None, Some(50)];
        assert_eq!(answers(-1, None, false), [None, Some(10), None, Some(30), None]);
        assert_eq!(answers(-1, Some(values(&[Some(-1)])), false), [Some(-1), Some(10), None, Some(30), None]);
        assert_eq!(answers(-2, ids(), false), [Some(1), Some(2), Some(10), None, Some(30)]);
        assert_eq!(answers(1, ids(), false), [None, Some(30), None, Some(50), Some(5)]);
        assert_eq!(answers(0, ids(), false), x);
        assert_eq!(answers(-1, None, true), [None, Some(10), Some(10), Some(30), Some(30)]);
        assert_eq!(answers(-2, None, true), [None, None, None, Some(10), Some(10)]);
        assert_eq!(answers(-2, ids(), true), [Some(1), Some(2), Some(3), Some(10), Some(10)]);
        assert_eq!(answers(0, ids(), true), x);
    }

    #[test]
    fn offsets_beyond_every_partition() {
        for offset in [i64::MIN, i64::MIN + 1, -5, 5, i64::MAX] {
            for ignore_nulls in [false, true] {
                assert_eq!(answers(offset, Some(values(&[Some(7)])), ignore_nulls), [Some(7); 5]);
            }
        }
    }

    #[test]
    fn mismatched_default_is_refused() {
        let section = Section::whole(Boundaries::single(5), Boundaries::single(5), vec![]).unwrap();
        let column = values(&[None; 5]);
        let text: ArrayRef = Arc::new(arrow_array::StringArray::from(vec!["x"]));
        for default in [text, values(&[None; 4])] {
            assert!(
                LagLead::new(&section, column.clone(), RowMask::All, OffsetBy::Fixed(1), Some(default), false).is_err()
            );
        }
    }
}
