//! Aggregates that share an accumulator: the sum and the average of a column are computed from the same state; calls in
//! one pass share it through [`super::shared_state`].
//!
//! [`Accumulated`] is the [`Aggregate`] that consists of an [`Accumulator`] and a [`ResultReader`] of its states.

#[cfg(test)]
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, ArrowPrimitiveType, PrimitiveArray};

use crate::error::Result;
use crate::functions::results::{PrimitiveResults, in_slot};
use crate::model::aggregate::{Accumulator, Aggregate, ResultReader};

/// A [`ResultReader`] that gives one native value per state, or NULL.
pub trait PrimitiveReader<S>: Send + Sync {
    /// The type in which results are collected.
    type Type: ArrowPrimitiveType;

    /// The result for `state`.
    ///
    /// # Errors
    /// The result does not fit its type.
    fn read(&self, state: &S) -> Result<Option<<Self::Type as ArrowPrimitiveType>::Native>>;

    /// Appends the result for each of `states` to `out`.
    ///
    /// # Errors
    /// As for `read`, and the first error among the states.
    #[inline(always)]
    fn read_block(
        &self,
        states: impl ExactSizeIterator<Item = Result<S>>,
        out: &mut PrimitiveResults<Self::Type>,
    ) -> Result<()> {
        out.extend(states.map(|state| Ok(in_slot(self.read(&state?)?))))
    }

    /// The results in the call's type, where that is another.
    ///
    /// # Errors
    /// The type cannot be changed without a conversion.
    fn with_type(&self, results: PrimitiveArray<Self::Type>) -> Result<ArrayRef> {
        Ok(Arc::new(results))
    }
}

/// A result reader without other fields.
#[derive(Debug, Clone)]
pub struct PrimitiveResult<R>(pub R);

impl<S, R: PrimitiveReader<S>> ResultReader<S> for PrimitiveResult<R> {
    type Builder = PrimitiveResults<R::Type>;

    fn builder(&self, capacity: usize) -> Self::Builder {
        PrimitiveResults::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &S, out: &mut Self::Builder) -> Result<()> {
        self.repeat(state, 1, out)
    }

    #[inline(always)]
    fn evaluate_block(&self, states: impl ExactSizeIterator<Item = Result<S>>, out: &mut Self::Builder) -> Result<()> {
        self.0.read_block(states, out)
    }

    #[inline]
    fn repeat(&self, state: &S, times: usize, out: &mut Self::Builder) -> Result<()> {
        out.repeat(self.0.read(state)?, times);
        Ok(())
    }

    fn finish(&self, out: Self::Builder) -> Result<ArrayRef> {
        self.0.with_type(out.finish()?)
    }
}

/// An accumulator and a result reader of its states.
#[derive(Debug, Clone)]
pub struct Accumulated<F, R> {
    pub(crate) accumulator: F,
    pub(crate) reader: R,
}

impl<F: Accumulator, R: PrimitiveReader<F::State>> Accumulated<F, PrimitiveResult<R>> {
    /// The aggregate of `accumulator` with the native results of `reader`.
    pub fn new(accumulator: F, reader: R) -> Self {
        Self { accumulator, reader: PrimitiveResult(reader) }
    }
}

impl<F: Accumulator, R: ResultReader<F::State>> Aggregate for Accumulated<F, R> {
    type State = F::State;
    type Builder = R::Builder;
    type Accumulator = F;
    type Reader = R;

    #[inline]
    fn accumulator(&self) -> &F {
        &self.accumulator
    }

    #[inline]
    fn reader(&self) -> &R {
        &self.reader
    }
}

/// The result of each run of rows, for the tests of the function families.
#[cfg(test)]
pub(super) fn results<A: Aggregate>(aggregate: &A, runs: &[Range<usize>]) -> Result<ArrayRef> {
    let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
    let mut out = reader.builder(runs.len());
    for run in runs {
        let mut state = accumulator.init();
        accumulator.update(&mut state, run.clone())?;
        reader.evaluate(&state, &mut out)?;
    }
    reader.finish(out)
}
