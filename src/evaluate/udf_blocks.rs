//! Blocks: user-defined functions that evaluate many frames, or many partitions, in one call.
//!
//! Cost: that of the function, and 16 bytes per row of a block for the frames' bounds. Best for functions that operate
//! on whole columns, whose cost per call amortises over the frames.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_select::concat::concat;

use super::evaluator::Evaluator;
use crate::bounds::block::Bounds;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::multiset::rank_codes::IncludedRows;
use crate::model::carry::Carry;
use crate::spec::udf::{UserFrames, UserPartitions};
use crate::util::cancel::Cancel;

/// Rows per block: enough to amortise the cost of a call, few enough to react to cancellation.
const UDF_ROWS_PER_CALL: usize = 1 << 20;

/// A user-defined function of frames over the columns of a section.
pub(crate) struct FrameBlocks {
    function: Arc<dyn UserFrames>,
    places: IncludedRows,
    args: Vec<ArrayRef>,
}

impl FrameBlocks {
    /// The evaluator over the counted rows of `args`.
    ///
    /// # Errors
    /// Strings that exceed their offset type.
    pub(crate) fn new(function: Arc<dyn UserFrames>, places: IncludedRows, args: &[ArrayRef]) -> Result<Self> {
        let args = args.iter().map(|arg| places.take(arg)).collect::<Result<_>>()?;
        Ok(Self { function, places, args })
    }
}

impl Evaluator for FrameBlocks {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, _: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let mut bounds = Bounds::default();
        evaluate_blocks(rows, cancel, |block| {
            frames.fill(block.clone(), &mut bounds)?;
            let (begin, end): (Vec<_>, Vec<_>) = block
                .map(|row| self.places.of(bounds.frame(row)))
                .map(|run| (run.start as i64, run.end as i64))
                .unzip();
            self.function.evaluate(&self.args, begin.into(), Int64Array::from(end))
        })
    }

    fn save_state(&self, _: Option<&RecordBatch>, _: Range<usize>) -> Result<RecordBatch> {
        Err(Error::internal("no state stands for the rows of a function of frames"))
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        frames.first_needed_without_carry(answered)
    }
}

/// A user-defined function of partitions over the columns of a section. Frames are the partitions.
pub(crate) struct PartitionBlocks {
    function: Arc<dyn UserPartitions>,
    args: Vec<ArrayRef>,
}

impl PartitionBlocks {
    pub(crate) fn new(function: Arc<dyn UserPartitions>, args: Vec<ArrayRef>) -> Self {
        Self { function, args }
    }
}

impl Evaluator for PartitionBlocks {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, _: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let mut bounds = Bounds::default();
        let mut partitions: Vec<Range<usize>> = Vec::new();
        let mut block = rows.start..rows.start;
        while block.end < rows.end {
            cancel.check()?;
            block = block.end..rows.end.min(block.end + UDF_ROWS_PER_CALL);
            frames.fill(block.clone(), &mut bounds)?;
            for row in block.clone() {
                if partitions.last().is_none_or(|partition| partition.end <= row) {
                    partitions.push(bounds.frame(row));
                }
            }
        }
        let results = self.function.evaluate(&self.args, &partitions)?;
        let first = partitions.first().map_or(rows.start, |partition| partition.start);
        Ok(results.slice(rows.start - first, rows.len()))
    }

    fn save_state(&self, _: Option<&RecordBatch>, _: Range<usize>) -> Result<RecordBatch> {
        Err(Error::internal("no state stands for the rows of a function of partitions"))
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        frames.first_needed_without_carry(answered)
    }
}

/// The results of `f` for each block of `rows`, in sequence.
fn evaluate_blocks(
    rows: Range<usize>,
    cancel: &Cancel,
    mut f: impl FnMut(Range<usize>) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let mut pieces = Vec::with_capacity(rows.len() / UDF_ROWS_PER_CALL + 1);
    let mut block = rows.start..rows.start;
    loop {
        cancel.check()?;
        block = block.end..rows.end.min(block.end + UDF_ROWS_PER_CALL);
        pieces.push(f(block.clone())?);
        if block.end == rows.end {
            break;
        }
    }
    match pieces.as_slice() {
        [piece] => Ok(piece.clone()),
        pieces => Ok(concat(&pieces.iter().map(AsRef::as_ref).collect::<Vec<_>>())?),
    }
}
