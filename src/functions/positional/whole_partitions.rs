//! The partitions of a section, for functions that read them from the first row to the last.

use std::ops::Range;

use crate::error::Result;
use crate::evaluate::evaluator::FRAMES_PER_BLOCK;
use crate::model::section::Section;
use crate::util::cancel::Cancel;
use crate::util::run_index::RunIndex;

/// Where partitions begin, and which of them are complete.
#[derive(Debug)]
pub(crate) struct WholePartitions {
    runs: RunIndex,
    own_end: usize,
    open: bool,
}

impl WholePartitions {
    pub(crate) fn new(section: &Section) -> Self {
        Self { runs: RunIndex::new(&section.partitions), own_end: section.own.end, open: section.open }
    }

    /// Calls `visit` with each partition that `rows` touch, and with those of the rows that are in it, in pieces.
    ///
    /// # Errors
    /// The computation was cancelled.
    #[inline]
    pub(crate) fn visit(
        &self,
        rows: Range<usize>,
        cancel: &Cancel,
        mut visit: impl FnMut(Range<usize>, Range<usize>),
    ) -> Result<()> {
        let mut block = rows.start..rows.start;
        while block.end < rows.end {
            cancel.check()?;
            block = block.end..rows.end.min(block.end + FRAMES_PER_BLOCK);
            self.runs.for_each_run(block.clone(), &mut visit);
        }
        Ok(())
    }

    /// The first row whose result later rows may change: the start of a partition that is not complete.
    pub(crate) fn first_unsettled(&self) -> usize {
        match self.runs.len().checked_sub(1).filter(|_| self.open) {
            Some(last) => self.runs.run_start(last).min(self.own_end),
            None => self.own_end,
        }
    }

    /// The first row that is read for rows from `answered` on.
    pub(crate) fn first_needed(&self, answered: usize) -> usize {
        if answered < self.runs.len() { self.runs.run_start(answered) } else { answered }
    }
}
