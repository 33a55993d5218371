//! `fill_forward`, `fill_backward`: a NULL is replaced by the nearest value before or after it in the partition.
//!
//! With a longest gap, a gap between two values is filled whole or not at all (`max_gap.rs`), so the value on the other
//! side is needed too; then a row without a key is not filled, and its value fills no other. Values are gathered by row
//! number, so any type works. Cost: a rank and a select per NULL; the naive strategy walks from each row. A stream waits
//! for the end of the partition.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use super::max_gap::MaxGap;
use super::whole_partitions::WholePartitions;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::positional::gather_plan::{GatherPlan, RowSource};
use crate::evaluate::positional::index::{MaskIndex, MaskWalk};
use crate::model::carry::Carry;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::util::cancel::Cancel;

/// `fill_forward` or `fill_backward`.
#[derive(Debug)]
pub(crate) struct FillCarry {
    column: ArrayRef,
    /// The rows with a value that fills others, and those with any.
    known: MaskIndex,
    valued: RowMask,
    max_gap: Option<MaxGap>,
    forward: bool,
    partitions: WholePartitions,
    naive: bool,
}

impl FillCarry {
    /// The values of `column`, and in other rows the last value before, or the first after if not `forward`.
    pub(crate) fn new(
        section: &Section,
        column: ArrayRef,
        valued: RowMask,
        max_gap: Option<(MaxGap, RowMask)>,
        forward: bool,
        naive: bool,
    ) -> Self {
        let (max_gap, known) = match max_gap {
            Some((gap, known)) => (Some(gap), known),
            None => (None, valued.clone()),
        };
        Self {
            column,
            known: MaskIndex::new(known),
            valued,
            max_gap,
            forward,
            partitions: WholePartitions::new(section),
            naive,
        }
    }

    /// The row whose value fills `row`.
    fn source(&self, run: &Range<usize>, row: usize, walk: &mut MaskWalk) -> Option<usize> {
        if let Some(gap) = &self.max_gap
            && !(gap.is_placed(row) && gap.is_short(&self.known, run, row, self.naive))
        {
            return None;
        }
        let known = |row: &usize| self.known.includes(*row);
        match (self.naive, self.forward) {
            (true, true) => (run.start..row).rev().find(known),
            (true, false) => (row + 1..run.end).find(known),
            (false, true) => walk.last(run.start..row),
            (false, false) => walk.first(row + 1..run.end),
        }
    }
}

impl Evaluator for FillCarry {
    fn evaluate(&self, _: &Frames, rows: Range<usize>, _: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let mut walk = MaskWalk::new(&self.known);
        let mut picks = GatherPlan::with_capacity(rows.len());
        self.partitions.visit(rows, cancel, |run, rows| {
            for row in rows {
                let source = if self.valued.includes(row) { Some(row) } else { self.source(&run, row, &mut walk) };
                picks.push(source.map_or(RowSource::Null, RowSource::Row));
            }
        })?;
        picks.gather(&self.column, None, None)
    }

    fn save_state(&self, _: Option<&RecordBatch>, _: Range<usize>) -> Result<RecordBatch> {
        Err(Error::internal("a fill reads whole partitions, and leaves no carry"))
    }

    fn first_unsettled(&self, _: &Frames) -> usize {
        self.partitions.first_unsettled()
    }

    fn first_needed(&self, _: &Frames, answered: usize) -> usize {
        self.partitions.first_needed(answered)
    }
}
