//! One or several results from one state: the sum, the average and the count of a column's frames cost one pass over
//! them.
//!
//! ```text
//!   rows -> states of a block of frames -> sum   -> column 0
//!                                       -> count -> column 1
//! ```
//!
//! Cost: each state is stored and read once more; each further result costs what computing it from a state does.
//! Strategies are compiled for the accumulator alone, whatever results are computed from it, so rare strategies use
//! this form even for a single result.

use std::marker::PhantomData;
use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray};
use arrow_schema::{Field, Fields};

use super::accumulator::PrimitiveReader;
use crate::error::Result;
use crate::functions::results::PrimitiveResults;
use crate::model::aggregate::ResultReader;
use crate::util::simd::with_avx2_only;

/// A builder of results.
pub(crate) trait ResultBuilder<S> {
    /// Appends the result for each of `states`.
    ///
    /// # Errors
    /// A result does not fit its type.
    fn extend(&mut self, states: &[S]) -> Result<()>;

    /// Appends the result for `state`, `times` times.
    ///
    /// # Errors
    /// As for `extend`.
    fn repeat(&mut self, state: &S, times: usize) -> Result<()>;

    /// The results as a column.
    ///
    /// # Errors
    /// They do not form an array.
    fn finish(self: Box<Self>) -> Result<ArrayRef>;
}

/// Computes results of any type from states.
pub(crate) trait StateReader<S>: Send + Sync {
    /// An empty builder for `capacity` results.
    fn builder(self: Arc<Self>, capacity: usize) -> Box<dyn ResultBuilder<S>>;
}

impl<S: Clone + 'static, R: PrimitiveReader<S> + 'static> StateReader<S> for R {
    fn builder(self: Arc<Self>, capacity: usize) -> Box<dyn ResultBuilder<S>> {
        Box::new(PrimitiveBuilder {
            results: PrimitiveResults::<R::Type>::with_capacity(capacity),
            reader: self,
            states: PhantomData,
        })
    }
}

/// Results of native type.
struct PrimitiveBuilder<S, R: PrimitiveReader<S>> {
    reader: Arc<R>,
    results: PrimitiveResults<R::Type>,
    states: PhantomData<fn(&S)>,
}

impl<S: Clone, R: PrimitiveReader<S>> ResultBuilder<S> for PrimitiveBuilder<S, R> {
    fn extend(&mut self, states: &[S]) -> Result<()> {
        let Self { reader, results, .. } = self;
        let read = with_avx2_only(
            #[inline(always)]
            || reader.read_block(states.iter().map(|state| Ok(state.clone())), results),
        );
        read.unwrap_or_else(|| states.iter().try_for_each(|state| self.repeat(state, 1)))
    }

    fn repeat(&mut self, state: &S, times: usize) -> Result<()> {
        self.results.repeat(self.reader.read(state)?, times);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef> {
        self.reader.with_type(self.results.finish()?)
    }
}

/// One of several results: its reader, and the call as displayed in errors.
pub(crate) type Request<S> = (Arc<dyn StateReader<S>>, String);

/// A reader of any number of results: a column of structs, or the column of a single result itself.
pub(crate) struct SharedResults<S> {
    asked: Vec<Request<S>>,
}

impl<S> SharedResults<S> {
    /// Reads the results of all of `asked`.
    #[must_use]
    pub(crate) fn new(asked: Vec<Request<S>>) -> Self {
        Self { asked }
    }

    fn each(
        &self,
        builders: &mut [Box<dyn ResultBuilder<S>>],
        answer: impl Fn(&mut dyn ResultBuilder<S>) -> Result<()>,
    ) -> Result<()> {
        let mut each = builders.iter_mut().zip(&self.asked);
        each.try_for_each(|(builders, (_, call))| answer(builders.as_mut()).map_err(|error| error.of_call(call)))
    }
}

/// The builders of several results.
pub(crate) struct SharedBuilder<S> {
    /// The states of the current block.
    states: Vec<S>,
    builders: Vec<Box<dyn ResultBuilder<S>>>,
}

impl<S: Clone + Send + Sync> ResultReader<S> for SharedResults<S> {
    type Builder = SharedBuilder<S>;

    fn builder(&self, capacity: usize) -> SharedBuilder<S> {
        let builders = self.asked.iter().map(|(read, _)| read.clone().builder(capacity)).collect();
        SharedBuilder { states: Vec::new(), builders }
    }

    fn evaluate(&self, state: &S, out: &mut SharedBuilder<S>) -> Result<()> {
        self.repeat(state, 1, out)
    }

    #[inline(always)]
    fn evaluate_block(
        &self,
        states: impl ExactSizeIterator<Item = Result<S>>,
        out: &mut SharedBuilder<S>,
    ) -> Result<()> {
        let SharedBuilder { states: block, builders } = out;
        block.clear();
        block.reserve(states.len());
        for state in states {
            block.push(state?);
        }
        self.each(builders, |builders| builders.extend(block))
    }

    fn repeat(&self, state: &S, times: usize, out: &mut SharedBuilder<S>) -> Result<()> {
        self.each(&mut out.builders, |builders| builders.repeat(state, times))
    }

    fn finish(&self, out: SharedBuilder<S>) -> Result<ArrayRef> {
        let columns = out.builders.into_iter().map(ResultBuilder::finish).collect::<Result<Vec<_>>>()?;
        if let [only] = &columns[..] {
            return Ok(only.clone());
        }
        let field =
            |(number, column): (usize, &ArrayRef)| Field::new(number.to_string(), column.data_type().clone(), true);
        let fields: Fields = columns.iter().enumerate().map(field).collect();
        Ok(Arc::new(StructArray::try_new(fields, columns, None)?))
    }
}
