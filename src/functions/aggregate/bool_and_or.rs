//! `bool_and`, `bool_or`: from how many values are true and how many false, so that rows can be taken out again.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::BooleanBuilder;
use arrow_array::{ArrayRef, BooleanArray, RecordBatch};

use super::accumulator::Accumulated;
use crate::error::Result;
use crate::functions::native::count_rows;
use crate::functions::saved_state::{Saved, saved, saved_value};
use crate::model::aggregate::{Accumulator, Readout, Retractable};
use crate::model::row_mask::Inclusion;

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
    fn update(&self, state: &mut Votes, rows: Range<usize>) -> Result<()> {
        let ayes = count_rows(&self.ayes, rows.clone());
        state.ayes += ayes;
        state.noes += count_rows(&self.all, rows) - ayes;
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut Votes, right: &Votes) -> Result<()> {
        left.ayes += right.ayes;
        left.noes += right.noes;
        Ok(())
    }

    fn save(&self, state: &Votes) -> Result<RecordBatch> {
        saved([("true", state.ayes.write()?), ("false", state.noes.write()?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Votes> {
        Ok(Votes { ayes: saved_value(saved, "true")?, noes: saved_value(saved, "false")? })
    }
}

impl Retractable for Ballot {
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
    type Builder = BooleanBuilder;

    fn builder(&self, capacity: usize) -> Self::Builder {
        BooleanBuilder::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Votes, out: &mut Self::Builder) -> Result<()> {
        out.append_option((state.ayes + state.noes > 0).then_some(match self {
            Self::And => state.noes == 0,
            Self::Or => state.ayes > 0,
        }));
        Ok(())
    }

    fn finish(&self, mut out: Self::Builder) -> Result<ArrayRef> {
        Ok(Arc::new(out.finish()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::cast::AsArray;

    use super::*;
    use crate::functions::aggregate::accumulator::results;

    #[test]
    fn nulls_do_not_vote() {
        let column: ArrayRef = Arc::new(BooleanArray::from(vec![None, Some(true), None, Some(false)]));
        let inclusion = Inclusion::new(std::slice::from_ref(&column), None);
        let answers = |logic: Logic| -> Vec<_> {
            let runs = [0..0, 0..1, 0..2, 3..4, 0..4];
            let answers = results(&logic.over(column.as_boolean(), inclusion.clone()), &runs).unwrap();
            answers.as_boolean().iter().collect()
        };
        assert_eq!(answers(Logic::And), [None, None, Some(true), Some(false), Some(false)]);
        assert_eq!(answers(Logic::Or), [None, None, Some(true), Some(false), Some(true)]);
    }
}
