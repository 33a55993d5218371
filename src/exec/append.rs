//! Rows appended to partitions whose earlier rows are gone: what lies before the next row of each partition is kept.
//!
//! ```text
//!   first run     a a a a | b b b        -> before a: last rows, carries     before b: ...
//!   second run    a a | c c c            -> before a (with its rows so far), b (as it was), c
//! ```
//!
//! A partition that goes on is evaluated as a section with what lies before it; those that begin are evaluated together.
//! Nothing may lie behind: a result must not depend on later rows.
//!
//! Cost: each row is read twice, for its result and for the state after it, and each partition costs an evaluator a
//! pass. Memory: the rows and states that a stream would hold, for every partition.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::SchemaRef;
use arrow_select::concat::{concat, concat_batches};
use arrow_select::take::take;

use super::columns::{check_schema, sort_columns};
use super::halo::Halo;
use super::input_order::{InputOrderCheck, show};
use super::sectioned::concat_compact;
use super::sectioned::summary::{Before, Neighbourhood};
use crate::catalog::function::{Family, OrderSensitivity};
use crate::error::{Error, Result};
use crate::model::carry::Carry;
use crate::model::reach::Reach;
use crate::plan::planned::{Plan, PlannedCall};
use crate::plan::stream_order::longest_order;
use crate::sort::boundaries::first_descent;
use crate::sort::key_bytes::KeyBytes;
use crate::spec::frame::Units;
use crate::util::boundaries::Boundaries;
use crate::util::cancel::Cancel;
use crate::util::slice_memory::compact;

/// Rows are evaluated once this many have arrived, as each evaluation reads the rows before it again.
const EAGER_ROWS: usize = 16 * 1024;

/// Evaluates a plan over rows that continue the partitions of earlier runs.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
/// use windrow::{Appender, Arg, Bound, Call, Frame, Options, OrderKey, Plan, WindowSpec};
///
/// let batch = |t: Vec<i64>| RecordBatch::try_from_iter([("t", Arc::new(Int64Array::from(t)) as ArrayRef)]);
/// let spec = WindowSpec::new()
///     .order_by([OrderKey::asc("t")])
///     .call(Call::new("sum", [Arg::column("t")]).over(Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow)));
/// let plan = Arc::new(Plan::new(batch(vec![])?.schema(), &[spec], Options::default())?);
/// let mut monday = Appender::new(plan.clone())?;
/// monday.push(batch(vec![1, 2])?)?;
/// assert_eq!(monday.finish()?[0].column(1).as_primitive::<Int64Type>().values(), &[1, 3]);
/// # #[cfg(feature = "spill")]
/// # {
/// let state = monday.to_bytes()?;
/// let mut tuesday = Appender::new(plan)?.with_bytes(&state)?;
/// tuesday.push(batch(vec![3, 4])?)?;
/// assert_eq!(tuesday.finish()?[0].column(1).as_primitive::<Int64Type>().values(), &[6, 10]);
/// # }
/// # Ok::<(), windrow::Error>(())
/// ```
pub struct Appender {
    plan: Arc<Plan>,
    schema: SchemaRef,
    cancel: Cancel,
    /// The index of the longest order; every other order is a prefix of it.
    longest: usize,
    order_check: Option<InputOrderCheck>,
    /// The rows that are not evaluated yet.
    held: Vec<RecordBatch>,
    held_rows: usize,
    /// The number of held rows from which a part of them is evaluated.
    next_cut: usize,
    /// What lies before the next row of each partition, in the order in which the partitions came.
    partitions: Vec<Before>,
    /// The index in `partitions` by the partition's keys in normal form.
    places: HashMap<Box<[u8]>, usize>,
    key_bytes: KeyBytes,
}

impl Appender {
    /// An appender without earlier rows.
    ///
    /// # Errors
    /// The calls do not share one order, or a call's results depend on later rows.
    pub fn new(plan: Arc<Plan>) -> Result<Self> {
        let longest = longest_order(&plan)?;
        if let Some(refusal) = plan.refuses_appends() {
            return Err(Error::unsupported(refusal));
        }
        let order_check = order_check(&plan, longest)?;
        let keys: Vec<_> = plan.partition_columns();
        let types = keys.iter().map(|&column| plan.schema().field(column).data_type());
        Ok(Self {
            schema: plan.appended_schema(),
            cancel: Cancel::default(),
            longest,
            order_check,
            held: Vec::new(),
            held_rows: 0,
            next_cut: EAGER_ROWS,
            partitions: Vec::new(),
            places: HashMap::new(),
            key_bytes: KeyBytes::new(types)?,
            plan,
        })
    }

    /// Makes `push` and `finish` stop if `cancel` is set.
    #[must_use]
    pub fn with_cancel(self, cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), ..self }
    }

    /// An appender that goes on after what lies before each partition.
    pub(crate) fn with_partitions(self, partitions: Vec<Before>) -> Result<Self> {
        let mut made = self;
        let lasts: Vec<_> = partitions.iter().map(|before| before.rows.slice(before.rows.num_rows() - 1, 1)).collect();
        if !lasts.is_empty() {
            let keys =
                made.keys(&concat_batches(lasts[0].schema_ref(), &lasts)?, &(0..lasts.len() as u32).collect())?;
            made.places = keys.into_iter().zip(0..).collect();
        }
        if made.places.len() != partitions.len() {
            return Err(Error::data("the state has a partition twice"));
        }
        made.partitions = partitions;
        Ok(made)
    }

    /// What lies before the next row of each partition, in the order in which the partitions came.
    pub(crate) fn partitions(&self) -> &[Before] {
        &self.partitions
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Adds a batch; returns rows whose results are final: input columns and results, in order.
    ///
    /// # Errors
    /// Rows out of order, or not after their partition's earlier rows; results that do not fit their type; a batch of
    /// another schema.
    pub fn push(&mut self, batch: RecordBatch) -> Result<Vec<RecordBatch>> {
        check_schema(&self.plan, batch.schema_ref())?;
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        if let Some(order_check) = &mut self.order_check {
            order_check.check(&batch)?;
        }
        self.held_rows += batch.num_rows();
        self.held.push(batch);
        if self.held_rows < self.next_cut {
            return Ok(Vec::new());
        }
        let rows = concat_compact(&std::mem::take(&mut self.held))?;
        let Some(cut) = self.plan.last_section_boundary(&rows)? else {
            self.next_cut = 2 * self.held_rows; // all held rows are peers
            self.held.push(rows);
            return Ok(Vec::new());
        };
        (self.held_rows, self.next_cut) = (rows.num_rows() - cut, EAGER_ROWS);
        self.held.push(rows.slice(cut, rows.num_rows() - cut));
        Ok(vec![self.append(&rows.slice(0, cut))?])
    }

    /// Whether there are rows that are not evaluated yet.
    pub(crate) fn holds_rows(&self) -> bool {
        self.held_rows > 0
    }

    /// Ends the rows of this run; returns the remaining ones. More rows may be pushed as the next run.
    ///
    /// # Errors
    /// As for `push`. After an error there is no way on: the state is that of a part of the rows.
    pub fn finish(&mut self) -> Result<Vec<RecordBatch>> {
        let held = std::mem::take(&mut self.held);
        (self.held_rows, self.order_check) = (0, order_check(&self.plan, self.longest)?);
        if held.is_empty() { Ok(Vec::new()) } else { Ok(vec![self.append(&concat_compact(&held)?)?]) }
    }

    /// Evaluates sorted rows, and advances what lies before the next row of their partitions.
    fn append(&mut self, rows: &RecordBatch) -> Result<RecordBatch> {
        let plan = self.plan.clone();
        let kept = rows.project(&plan.columns())?;
        let boundaries = plan.partitions(kept.columns(), rows.num_rows())?;
        let starts: Vec<u32> = boundaries.starts().set_indices().map(|row| row as u32).collect();
        let keys = self.keys(&kept, &UInt32Array::from(starts))?;
        let mut results = Vec::new();
        // The first row of the partitions that begin here and are not evaluated yet.
        let mut new = 0;
        let mut begin = 0;
        for key in keys {
            self.cancel.check()?;
            let end = boundaries.run_end(begin);
            let own = kept.slice(begin, end - begin);
            let place = self.places.get(&key).copied();
            if let Some(place) = place {
                results.extend(self.evaluate_new(&rows.slice(new, begin - new))?);
                let before = &self.partitions[place];
                plan.check_continues(self.longest, before, &own)?;
                let (columns, next) = plan.continue_partition(before, &own, &self.cancel)?;
                results.push(columns);
                self.partitions[place] = next;
                new = end;
            } else {
                let next = plan.after_new(&own)?;
                self.places.insert(key, self.partitions.len());
                self.partitions.push(next);
            }
            begin = end;
        }
        results.extend(self.evaluate_new(&rows.slice(new, begin - new))?);
        let joined =
            |call: usize| Ok(concat(&results.iter().map(|columns| columns[call].as_ref()).collect::<Vec<_>>())?);
        let made = (0..plan.calls.len()).map(joined).collect::<Result<Vec<_>>>()?;
        let columns: Vec<ArrayRef> = rows.columns().iter().cloned().chain(made).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }

    /// The results of the rows of new partitions, a column per call; `None` without rows.
    fn evaluate_new(&self, rows: &RecordBatch) -> Result<Option<Vec<ArrayRef>>> {
        if rows.num_rows() == 0 {
            return Ok(None);
        }
        let behind = rows.project(&self.plan.columns())?.slice(0, 0);
        let around = Neighbourhood { before: None, behind, after: vec![None; self.plan.passes.len()] };
        Ok(Some(self.plan.evaluate_section(rows, &around, &self.cancel)?.columns().to_vec()))
    }

    /// The keys of the partitions of some of the `kept` rows, in normal form.
    fn keys(&self, kept: &RecordBatch, rows: &UInt32Array) -> Result<Vec<Box<[u8]>>> {
        let read = self.plan.columns();
        let key = |column: usize| {
            let place = read.binary_search(&column).map_err(|_| Error::internal("a partition key was not kept"))?;
            Ok(take(kept.column(place), rows, None)?)
        };
        let keys = self.plan.partition_columns().into_iter().map(key).collect::<Result<Vec<_>>>()?;
        if keys.is_empty() {
            return Ok(vec![Box::default(); rows.len()]);
        }
        let keys = self.key_bytes.of(&keys)?;
        Ok(keys.iter().map(|key| key.as_ref().into()).collect())
    }
}

impl Plan {
    /// Why results of earlier rows could change with later ones, so that rows cannot be appended; `None` if not.
    #[must_use]
    pub fn refuses_appends(&self) -> Option<String> {
        self.calls.iter().find_map(|call| {
            let framed = call.function.takes_frame(!call.argument_order.is_empty());
            if call.user.is_some() {
                return Some(format!(
                    "{}: the state of a user-defined function is not kept; compute it over all rows, by an operator \
                     without state=",
                    call.display
                ));
            }
            let peers = framed && call.frame.needs_peers() && self.orders[call.order].order_by.is_empty();
            if call.after == Reach::Nothing && !peers {
                return None;
            }
            let instead = if framed {
                "a frame that ends at its row is kept as a state, such as ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT \
                 ROW (rows=(None, 0) in wr.window)"
            } else if call.function.family == Family::Running {
                "values are carried forward by last_value(x) IGNORE NULLS over ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT \
                 ROW, which is kept as a state"
            } else {
                "compute it over all rows, by an operator without state="
            };
            Some(format!("{}: results of earlier rows depend on rows that come later; {instead}", call.display))
        })
    }

    /// The columns of the partition keys.
    fn partition_columns(&self) -> Vec<usize> {
        let columns = self.orders.first().map(|order| order.partition_by.iter().map(|&place| order.columns[place]));
        columns.map_or_else(Vec::new, Iterator::collect)
    }

    /// The results of more `rows` of a partition, a column per call, and what then lies before its next row.
    fn continue_partition(
        &self,
        before: &Before,
        rows: &RecordBatch,
        cancel: &Cancel,
    ) -> Result<(Vec<ArrayRef>, Before)> {
        let all = concat_batches(rows.schema_ref(), [&before.rows, rows])?;
        let (begin, end) = (before.rows.num_rows(), all.num_rows());
        let Before { continues, carries, .. } = before;
        let (passes, _) = self.passes_over(all.columns(), end, begin..end, true, *continues, carries)?;
        let results = self.results(&passes, carries, &(begin..end), cancel)?;
        Ok((results, kept(&all, Halo::compute(&passes, carries, *continues, 0, end)?)?))
    }

    /// What lies before the next row of a new partition.
    fn after_new(&self, rows: &RecordBatch) -> Result<Before> {
        let (end, none) = (rows.num_rows(), vec![Carry::default(); self.passes.len()]);
        let (passes, _) = self.passes_over(rows.columns(), end, 0..end, true, false, &none)?;
        kept(rows, Halo::compute(&passes, &none, false, 0, end)?)
    }

    /// Checks that the first of a partition's new rows comes after its last earlier one, in the `longest` order, and in
    /// every order with a call for which peers are one.
    fn check_continues(&self, longest: usize, before: &Before, rows: &RecordBatch) -> Result<()> {
        let last = before.rows.slice(before.rows.num_rows() - 1, 1);
        let two = concat_batches(rows.schema_ref(), [&last, &rows.slice(0, 1)])?;
        for (number, order) in self.orders.iter().enumerate().filter(|(_, order)| !order.order_by.is_empty()) {
            let section = self.section(order, two.columns(), 2)?;
            let descends = number == longest
                && first_descent(&sort_columns(order, &section.columns), &Boundaries::single(2))?.is_some();
            let by_peers = self.calls.iter().find(|call| call.order == number && call.reads_peers());
            let ties = by_peers.filter(|_| !section.peers.starts_at(1));
            if !descends && ties.is_none() {
                continue;
            }
            let values = |row| show(order.order_by.iter().map(|key| &section.columns[key.number]), row);
            let names: Vec<_> = order.order_by.iter().map(|key| key.name.as_str()).collect();
            let partition = match order.partition_by.as_slice() {
                [] => String::new(),
                places => format!(" in the partition ({})", show(places.iter().map(|&p| &section.columns[p]), 0)),
            };
            let (came, reached, names) = (values(1), values(0), names.join(", "));
            return Err(Error::order(match ties {
                Some(call) if !descends => format!(
                    "{}: {names} = ({came}) comes again{partition}, up to which the state has all rows: rows of equal \
                     keys share a result, so they must come in one run",
                    call.display
                ),
                _ => format!(
                    "{names} = ({came}) comes{partition} after the rows up to ({reached}), which the state has: rows \
                     must come after those of earlier runs"
                ),
            }));
        }
        Ok(())
    }
}

/// What checks the order of the rows of one run.
fn order_check(plan: &Plan, longest: usize) -> Result<Option<InputOrderCheck>> {
    plan.orders.get(longest).map(|order| InputOrderCheck::new(plan, order)).transpose()
}

/// The rows of a halo, without the memory of others.
fn kept(rows: &RecordBatch, halo: Halo) -> Result<Before> {
    let before = Before::new(rows, halo);
    let columns = before.rows.columns().iter().map(compact).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(before.rows.num_rows()));
    Ok(Before { rows: RecordBatch::try_new_with_options(before.rows.schema(), columns, &options)?, ..before })
}

impl PlannedCall {
    /// Whether rows with equal order keys have a part in each other's results.
    fn reads_peers(&self) -> bool {
        if self.held {
            return true;
        }
        if self.function.takes_frame(!self.argument_order.is_empty()) {
            return self.frame.frame().units != Units::Rows || self.frame.needs_peers();
        }
        self.function.order_sensitivity == OrderSensitivity::Peers
    }
}

impl std::fmt::Debug for Appender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Appender").field("partitions", &self.partitions.len()).finish_non_exhaustive()
    }
}
