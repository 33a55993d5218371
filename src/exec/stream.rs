//! Streams: evaluates batches as they arrive, holding only the rows that later frames need.
//!
//! ```text
//!   arrived   . . . . h h h | o o o o o o o | x x x      h = halo, kept for later frames
//!             released      ^ answered      ^ settled    o = newly settled: evaluated and returned
//!                                                        x = later rows may still change them
//! ```
//!
//! Rows must arrive grouped by the partition keys and sorted within partitions. Each batch makes a section of the kept
//! and the new rows; every call reports up to which row its results are settled and which rows it still needs, and
//! provides a carry for the rows that are released. Input columns are returned as slices of the batches in which they
//! arrived.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{SchemaRef, SortOptions};
use arrow_select::concat::concat;

use super::columns::check_schema;
use super::halo::{Halo, Pass};
use super::input_order::InputOrderCheck;
use crate::error::{Error, Remedy, Result};
use crate::external::sort_key::SortKey;
use crate::model::carry::Carry;
use crate::model::reach::Reach;
use crate::permute::gather::gather_on;
use crate::plan::planned::{Plan, PlannedCall};
use crate::plan::stream_order::longest_order;
use crate::sort::sort_column::SortColumn;
use crate::sort::sort_to_indices::sort_with_boundaries;
use crate::util::boundaries::Boundaries;
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::slice_memory::{compact, slice_size};
use crate::util::threads::Threads;

/// Above this number of held rows, results are computed only once an eighth as many have arrived or a partition begins:
/// evaluation costs time proportional to the held rows, which small batches must not pay each.
const EAGER_ROWS: usize = 64 * 1024;

/// Evaluates a plan over batches that arrive one after another.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
/// use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Stream, WindowSpec};
///
/// let batch = |t: Vec<i64>| RecordBatch::try_from_iter([("t", Arc::new(Int64Array::from(t)) as ArrayRef)]);
/// let spec = WindowSpec::new()
///     .order_by([OrderKey::asc("t")])
///     .call(Call::new("sum", [Arg::column("t")]).over(Frame::rows(Bound::CurrentRow, Bound::following(1))));
/// let plan = Plan::new(batch(vec![])?.schema(), &[spec], Options::default())?;
/// let mut stream = Stream::new(Arc::new(plan))?;
/// let first = stream.push(batch(vec![1, 2, 3])?)?;
/// assert_eq!(first[0].column(1).as_primitive::<Int64Type>().values(), &[3, 5]); // 3 waits for its next row
/// let last = stream.finish()?;
/// assert_eq!(last[0].column(1).as_primitive::<Int64Type>().values(), &[3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stream {
    plan: Arc<Plan>,
    schema: SchemaRef,
    cancel: Cancel,
    /// The index of the longest order; every other order is a prefix of it.
    longest: usize,
    /// The indices in the schema of the kept columns.
    columns: Vec<usize>,
    /// The kept rows of those columns: the halo, then the rows that are not evaluated yet.
    kept: Vec<ArrayRef>,
    rows: usize,
    /// The number of rows of `kept` that are evaluated.
    answered: usize,
    /// Whether the partition of the first kept row has released rows.
    continues: bool,
    /// The carry of the released rows, per pass.
    carries: Vec<Carry>,
    /// Batches that are not fully returned; `sent` rows of the first have been.
    queue: VecDeque<RecordBatch>,
    sent: usize,
    /// The number of batches at the end of the queue that are not in `kept` yet; they have `pending_rows` rows.
    fresh: usize,
    pending_rows: usize,
    /// Whether a partition begins in the waiting rows.
    begins: bool,
    order_check: Option<InputOrderCheck>,
    /// The maximum number of bytes to hold.
    limit: Option<usize>,
    phase: Phase,
}

/// The state of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It accepts rows.
    Open,
    /// `finish` was called.
    Finished,
    /// A step failed.
    Failed,
}

impl Stream {
    /// A stream that evaluates the plan's calls.
    ///
    /// # Errors
    /// The calls do not share one order: their partition keys differ, or an order is not a prefix of another.
    pub fn new(plan: Arc<Plan>) -> Result<Self> {
        let longest = longest_order(&plan)?;
        let columns = plan.columns();
        let empty = RecordBatch::new_empty(plan.schema().clone());
        let kept = columns.iter().map(|&column| empty.column(column).clone()).collect();
        let order_check = plan.orders.get(longest).map(|order| InputOrderCheck::new(&plan, order)).transpose()?;
        Ok(Self {
            schema: plan.appended_schema(),
            cancel: Cancel::default(),
            longest,
            columns,
            kept,
            rows: 0,
            answered: 0,
            continues: false,
            carries: vec![Carry::default(); plan.passes.len()],
            queue: VecDeque::new(),
            sent: 0,
            fresh: 0,
            pending_rows: 0,
            begins: false,
            order_check,
            limit: None,
            phase: Phase::Open,
            plan,
        })
    }

    /// Sets a limit on the bytes of held rows; exceeding it is an error.
    #[must_use]
    pub fn with_limit(self, bytes: usize) -> Self {
        Self { limit: Some(bytes), ..self }
    }

    /// Makes `push` and `finish` stop if `cancel` is set.
    #[must_use]
    pub fn with_cancel(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// The keys by which to sort unsorted input: the partition keys, ascending, then the order keys.
    ///
    /// # Errors
    /// No single sort serves all calls ([`Plan::sorts`]), as it would change the order of ties in a shorter order.
    pub fn sort_keys(&self) -> Result<Vec<SortKey>> {
        if self.plan.sorts().len() > 1 {
            let calls = self.plan.calls.iter().map(|call| call.display.as_str()).collect::<Vec<_>>().join("; ");
            return Err(Error::spec(format!("these calls need more than one sort, and ask for one: {calls}")));
        }
        let Some(order) = self.plan.orders.get(self.longest) else { return Ok(Vec::new()) };
        let partition_by = order.partition_by.iter().map(|&place| (place, SortOptions::default()));
        let order_by = order.order_by.iter().map(|key| (key.number, key.options));
        let key = |(place, options): (usize, _)| SortKey { column: order.columns[place], options };
        Ok(partition_by.chain(order_by).map(key).collect())
    }

    /// The rows of a batch in the order in which a stream takes them: by [`sort_keys`](Self::sort_keys), ties in the
    /// order of the batch.
    ///
    /// Cost: a sort of the keys and a gather of each column; rows that are sorted already are not copied.
    ///
    /// # Errors
    /// As [`sort_keys`](Self::sort_keys); more than `u32::MAX` rows; cancellation.
    pub fn sort(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        check_schema(&self.plan, batch.schema_ref())?;
        let column = |key: SortKey| SortColumn { values: batch.column(key.column).clone(), options: key.options };
        let columns: Vec<_> = self.sort_keys()?.into_iter().map(column).collect();
        let threads = Threads::new(self.plan.options().threads, &self.cancel).limited_to_rows(batch.num_rows());
        match sort_with_boundaries(&columns, &[], &threads)?.order {
            Some(order) => Ok(RecordBatch::try_new(batch.schema(), gather_on(batch.columns(), &order, &threads)?)?),
            None => Ok(batch.clone()),
        }
    }

    /// The input's fields, then one per call.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of rows held now: those that later frames need, and those not evaluated yet.
    #[must_use]
    pub fn buffered_rows(&self) -> usize {
        self.rows + self.pending_rows
    }

    /// The number of bytes of the rows held now.
    #[must_use]
    pub fn buffered_bytes(&self) -> usize {
        let queued = self.queue.iter().flat_map(RecordBatch::columns);
        self.kept.iter().chain(queued).map(|column| slice_size(column)).sum()
    }

    /// Adds a batch; returns the rows whose results no later row can change: input columns and results, in order.
    ///
    /// # Errors
    /// Rows out of order, identified by their number from 0; results that do not fit their type; a batch of another
    /// schema; more rows to hold than the limit allows. After every error except for a schema mismatch, all further
    /// calls return an error.
    pub fn push(&mut self, batch: RecordBatch) -> Result<Vec<RecordBatch>> {
        check_schema(&self.plan, batch.schema_ref())?;
        self.step(|stream| stream.take_in(batch))
    }

    /// Runs a step that changes the stream. If it fails, rows may be lost, so the stream accepts no further calls.
    fn step<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        match self.phase {
            Phase::Open => {}
            Phase::Finished => return Err(Error::spec("the stream is finished; make a new one for further rows")),
            Phase::Failed => {
                return Err(Error::spec("the stream has failed, and rows that it held are lost; make a new one"));
            }
        }
        step(self).inspect_err(|_| self.phase = Phase::Failed)
    }

    fn take_in(&mut self, batch: RecordBatch) -> Result<Vec<RecordBatch>> {
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        if let Some(order_check) = &mut self.order_check {
            self.begins |= order_check.check(&batch)?;
        }
        self.fresh += 1;
        self.pending_rows += batch.num_rows();
        self.queue.push_back(batch);
        if self.rows > EAGER_ROWS && self.pending_rows * 8 < self.rows && !self.begins {
            self.check_limit()?;
            return Ok(Vec::new());
        }
        let answered = self.answer(true)?;
        self.check_limit()?;
        Ok(answered)
    }

    fn check_limit(&self) -> Result<()> {
        let bytes = self.buffered_bytes();
        let Some(limit) = self.limit.filter(|&limit| bytes > limit) else { return Ok(()) };
        // A stream cannot read ahead, so results that need a state of the rows after their own hold the whole
        // partition.
        let everything = |call: &&PlannedCall| {
            call.before == Reach::Everything || [Reach::Everything, Reach::State].contains(&call.after)
        };
        let rows = self.buffered_rows();
        let held = format!("{rows} rows of one partition, {bytes} bytes, are held where {limit} bytes may be");
        let refused = match self.plan.calls.iter().find(everything) {
            Some(call) => Error::memory_limit(format!(
                "{held}: a row's answer needs all of its partition at once; partition by more columns, ask for a frame that \
                 ends near its row"
            ))
            .of_call(&call.display),
            None => Error::memory_limit(format!(
                "{held}: the frames of {} reach so far; ask for narrower frames",
                self.plan.calls.iter().map(|call| call.display.as_str()).collect::<Vec<_>>().join("; ")
            )),
        };
        Err(refused.with_remedy(Remedy::MoreMemory))
    }

    /// Ends the stream; returns the remaining rows.
    ///
    /// # Errors
    /// As for `push`.
    pub fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        let answered = self.step(|stream| stream.answer(false))?;
        self.phase = Phase::Finished;
        Ok(answered)
    }

    /// Evaluates the settled rows: all rows unless more may arrive (`open`).
    fn answer(&mut self, open: bool) -> Result<Vec<RecordBatch>> {
        self.keep()?;
        if self.rows == self.answered {
            if !open {
                self.clear();
            }
            return Ok(Vec::new());
        }
        let plan = self.plan.clone();
        let own = self.answered..self.rows;
        let (passes, partitions) = plan.passes_over(&self.kept, self.rows, own, open, self.continues, &self.carries)?;
        let settled =
            passes.iter().map(|pass| pass.evaluator.first_unsettled(&pass.frames)).fold(self.rows, usize::min);
        if settled <= self.answered {
            return Ok(Vec::new());
        }
        let results = plan.results(&passes, &self.carries, &(self.answered..settled), &self.cancel)?;
        let out = self.send(settled - self.answered, &results)?;
        if open {
            self.release(&partitions, &passes, settled)?;
        } else {
            self.clear();
        }
        Ok(out)
    }

    /// Appends the batches that have arrived to the kept rows.
    fn keep(&mut self) -> Result<()> {
        let fresh = self.queue.len() - self.fresh..self.queue.len();
        if !fresh.is_empty() {
            for (kept, &column) in self.kept.iter_mut().zip(&self.columns) {
                let arrived = self.queue.range(fresh.clone()).map(|batch| batch.column(column).as_ref());
                let arrays: Vec<_> = (self.rows > 0).then_some(kept.as_ref()).into_iter().chain(arrived).collect();
                *kept = match arrays.as_slice() {
                    [only] => only.slice(0, only.len()),
                    arrays => {
                        reserve::probe_concat(arrays)?;
                        concat(arrays)?
                    }
                };
            }
        }
        self.rows += self.pending_rows;
        (self.fresh, self.pending_rows, self.begins) = (0, 0, false);
        Ok(())
    }

    /// Releases the rows that no call needs any more, and updates the carries.
    fn release(&mut self, partitions: &Boundaries, passes: &[Pass], settled: usize) -> Result<()> {
        let partition = partitions.run_start(settled.min(self.rows - 1));
        let halo = Halo::compute(passes, &self.carries, self.continues, partition, settled)?;
        let length = self.rows - halo.from;
        for kept in &mut self.kept {
            *kept = compact(&kept.slice(halo.from, length))?;
        }
        self.answered = settled - halo.from;
        self.rows = length;
        (self.continues, self.carries) = (halo.continues, halo.carries);
        Ok(())
    }

    fn clear(&mut self) {
        for kept in &mut self.kept {
            *kept = kept.slice(0, 0);
        }
        (self.rows, self.answered, self.continues) = (0, 0, false);
        self.carries.fill(Carry::default());
    }

    /// The next `rows` input rows with their results, as slices of the batches in which they arrived.
    fn send(&mut self, rows: usize, results: &[ArrayRef]) -> Result<Vec<RecordBatch>> {
        let mut out = Vec::new();
        let mut done = 0;
        while done < rows {
            let Some(batch) = self.queue.front() else {
                return Err(Error::internal("more rows were answered than arrived"));
            };
            let take = (batch.num_rows() - self.sent).min(rows - done);
            let mut columns = batch.slice(self.sent, take).columns().to_vec();
            columns.extend(results.iter().map(|result| result.slice(done, take)));
            let options = RecordBatchOptions::new().with_row_count(Some(take));
            out.push(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?);
            done += take;
            self.sent += take;
            if self.sent == batch.num_rows() {
                self.queue.pop_front();
                self.sent = 0;
            }
        }
        Ok(out)
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("rows", &self.rows)
            .field("answered", &self.answered)
            .field("pending_rows", &self.pending_rows)
            .finish_non_exhaustive()
    }
}
