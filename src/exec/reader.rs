//! A `RecordBatchReader` that appends results to the batches of another.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::columns::check_schema;
use super::stream::Stream;
use crate::error::Result;
use crate::plan::planned::Plan;

/// Reads the rows of another reader, in their order, with one more column for each of a plan's calls.
///
/// The input must be sorted, as for [`Stream`]; only rows that later frames need are held. After an error the reader
/// ends.
///
/// ```
/// use std::sync::Arc;
/// use windrow::arrow_array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader};
/// use windrow::{Options, Plan, WindowReader, WindowSpec, calls::lag};
///
/// let batch = |t: Vec<i64>| RecordBatch::try_from_iter([("t", Arc::new(Int64Array::from(t)) as ArrayRef)]);
/// let batches = [batch(vec![1, 2])?, batch(vec![3])?];
/// let schema = batches[0].schema();
/// let spec = WindowSpec::new().order_by(["t"]).call(lag("t", 1).alias("before"));
/// let plan = Plan::new(schema.clone(), &[spec], Options::default())?;
/// let reader = WindowReader::new(plan, RecordBatchIterator::new(batches.map(Ok), schema))?;
/// assert_eq!(reader.schema().field(1).name(), "before");
/// let rows: usize = reader.map(|batch| batch.map(|batch| batch.num_rows())).sum::<Result<_, _>>()?;
/// assert_eq!(rows, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WindowReader<R> {
    /// `None` at the end of the input, and after an error.
    input: Option<R>,
    stream: Stream,
    ready: VecDeque<RecordBatch>,
}

impl<R: RecordBatchReader> WindowReader<R> {
    /// Reads `input` with the results of the calls of `plan`.
    ///
    /// # Errors
    /// Calls that do not share one order, as for [`Stream::new`]; an input of another schema than the plan's.
    pub fn new(plan: impl Into<Arc<Plan>>, input: R) -> Result<Self> {
        let plan = plan.into();
        check_schema(&plan, &input.schema())?;
        Ok(Self::of_stream(Stream::new(plan)?, input))
    }

    /// Reads `input` through `stream`, which may have a memory limit and a cancellation token.
    pub fn of_stream(stream: Stream, input: R) -> Self {
        Self { input: Some(input), stream, ready: VecDeque::new() }
    }

    /// Reads input until results are available or the input ends.
    fn advance(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        while self.ready.is_empty()
            && let Some(input) = &mut self.input
        {
            let answered = if let Some(batch) = input.next() {
                self.stream.push(batch?)?
            } else {
                self.input = None;
                self.stream.finish()?
            };
            self.ready.extend(answered);
        }
        Ok(self.ready.pop_front())
    }
}

impl<R> fmt::Debug for WindowReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowReader").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl<R: RecordBatchReader> Iterator for WindowReader<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if next.is_err() {
            self.input = None;
        }
        next.transpose()
    }
}

impl<R: RecordBatchReader> RecordBatchReader for WindowReader<R> {
    fn schema(&self) -> SchemaRef {
        self.stream.schema().clone()
    }
}
