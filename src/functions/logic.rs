//! bool_and, bool_or: from how many values are true and how many false, so that rows can be taken out again.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};

use super::native::{Saved, saved, saved_value};
use super::readout::{Accumulated, Accumulator, Readout, RetractableAccumulator};
use crate::error::Result;
use crate::inclusion::Inclusion;

/// How many values of a run are true, and how many false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Votes {
    /// True values.
    pub ayes: u64,
    /// False values.
    pub noes: u64,
}

/// Counts the votes of a column.
#[derive(Debug, Clone)]
pub struct Ballot {
    ayes: Inclusion,
    all: Inclusion,
}

impl Accumulator for Ballot {
    type State = Votes;

    #[inline]
    fn init(&self) -> Votes {
        Votes::default()
    }

    #[inline]
    fn update(&self, state: &mut Votes, rows: Range<usize>) {
        let ayes = self.ayes.count(rows.clone()) as u64;
        state.ayes += ayes;
        state.noes += self.all.count(rows) as u64 - ayes;
    }

    #[inline]
    fn merge(&self, left: &mut Votes, right: &Votes) {
        left.ayes += right.ayes;
        left.noes += right.noes;
    }

    fn save(&self, state: &Votes) -> Result<RecordBatch> {
        saved([("true", state.ayes.write()?), ("false", state.noes.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Votes> {
        Ok(Votes { ayes: saved_value(saved, "true")?, noes: saved_value(saved, "false")? })
    }
}

impl RetractableAccumulator for Ballot {
    #[inline]
    fn retract(&self, state: &mut Votes, gone: &Votes) {
        state.ayes -= gone.ayes;
        state.noes -= gone.noes;
    }
}

/// Which question is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logic {
    /// Are all true?
    And,
    /// Is any true?
    Or,
}

impl Logic {
    /// The answer over a column, of the rows that `inclusion` (its nulls left out) has.
    #[must_use]
    pub fn over(self, values: &BooleanArray, inclusion: Inclusion) -> Accumulated<Ballot, Self> {
        let ayes = match &inclusion {
            Inclusion::All => values.values().clone(),
            Inclusion::Mask(mask) => values.values() & mask,
        };
        Accumulated { accumulator: Ballot { ayes: Inclusion::Mask(ayes), all: inclusion }, readout: self }
    }
}

impl Readout<Votes> for Logic {
    type Builder = Vec<Option<bool>>;

    fn builder(&self, capacity: usize) -> Self::Builder {
        Vec::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Votes, out: &mut Self::Builder) -> Result<()> {
        out.push((state.ayes + state.noes > 0).then_some(match self {
            Self::And => state.noes == 0,
            Self::Or => state.ayes > 0,
        }));
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        Ok(Arc::new(BooleanArray::from(out)))
    }
}
