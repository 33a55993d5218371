//! The plan: everything that can be decided before the first row.
//!
//! Columns are looked up, types checked, default frames made explicit, and for each call the strategy, the reach
//! and the output field chosen. Errors of the question are all raised here. Calls with the same partition and
//! order keys share one order, and so one sort.

mod call;
mod check;
mod choose;
mod passes;
mod resolve;

pub(crate) use call::{Digits, PlannedArg, PlannedCall, integer, offset_of};

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};

use crate::bounds::{Frames, OrderColumn};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::evaluate::{Evaluator, Strategy};
use crate::explain::{self, Explanation};
use crate::parallel::Threads;
use crate::rows::{Dealt, Restored};
use crate::section::Section;
use crate::spec::WindowSpec;

/// Settings of a computation.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads to use; 0: as many as the machine has.
    pub threads: usize,
    /// Overflow and unreadable values are errors (Spark's ANSI mode); otherwise sums wrap and values are NULL.
    pub ansi: bool,
    /// The zone in which days and months of a timestamp without one of its own are counted.
    pub timezone: String,
    /// Forces the strategy of every call.
    pub strategy: Option<Strategy>,
    /// Lists are list views: those of overlapping frames share their values.
    pub list_views: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 0, ansi: true, timezone: "UTC".into(), strategy: None, list_views: false }
    }
}

/// A question that has been checked against a schema, with how it will be answered.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
/// use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, WindowSpec};
///
/// let batch = RecordBatch::try_from_iter([
///     ("device", Arc::new(Int64Array::from(vec![5, 0, 5, 0])) as ArrayRef),
///     ("id", Arc::new(Int64Array::from(vec![2, 1, 5, 0])) as ArrayRef),
///     ("level", Arc::new(Int64Array::from(vec![2, 1, 3, 1])) as ArrayRef),
/// ])?;
/// let frame = Frame::rows(Bound::preceding(1), Bound::CurrentRow);
/// let spec = WindowSpec::new()
///     .partition_by(["device"])
///     .order_by([OrderKey::asc("id")])
///     .call(Call::new("sum", [Arg::column("level")]).over(frame));
/// let plan = Plan::new(batch.schema(), &[spec], Options::default())?;
/// let sums = plan.compute(&batch)?;
/// assert_eq!(sums.column(0).as_primitive::<Int64Type>().values(), &[2, 2, 5, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) schema: SchemaRef,
    pub(crate) orders: Vec<Order>,
    pub(crate) calls: Vec<PlannedCall>,
    /// The numbers of the calls, those together that one evaluation answers.
    pub(crate) passes: Vec<Vec<usize>>,
    pub(crate) options: Options,
    output: SchemaRef,
}

/// One way to partition and order the rows, and the columns that the calls over it read.
#[expect(clippy::struct_field_names, reason = "PARTITION BY and ORDER BY are SQL's names")]
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// The partition keys' places in `columns`.
    pub(crate) partition_by: Vec<usize>,
    /// The order keys.
    pub(crate) order_by: Vec<OrderColumn>,
    /// The schema's numbers of the columns to read.
    pub(crate) columns: Vec<usize>,
}

impl Plan {
    /// Checks `specs` against `schema` and decides how to answer them.
    ///
    /// # Errors
    /// Unknown columns or functions, types a function does not take, frames SQL does not allow: the message names
    /// the call, the column, its type and what to do instead.
    pub fn new(schema: SchemaRef, specs: &[WindowSpec], options: Options) -> Result<Self> {
        let mut plan = Self {
            output: Arc::new(Schema::empty()),
            schema,
            orders: Vec::new(),
            calls: Vec::new(),
            passes: Vec::new(),
            options,
        };
        let mut fields = Vec::new();
        for spec in specs {
            for call in &spec.calls {
                let display = explain::display(spec, call);
                let planned = plan.resolve(spec, call, &display).map_err(|error| error.of_call(&display))?;
                fields.push(Field::new(&call.name, planned.signature.output.clone(), planned.signature.nullable));
                plan.calls.push(planned);
            }
        }
        plan.output = Arc::new(Schema::new(fields));
        plan.passes = passes::passes(&plan);
        Ok(plan)
    }

    /// The schema that the rows must have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// One field per call, in the order of the calls.
    #[must_use]
    pub fn output_schema(&self) -> &SchemaRef {
        &self.output
    }

    /// The settings in force.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The schema's numbers of the columns that any call reads, ascending.
    #[must_use]
    pub fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<_> = self.orders.iter().flat_map(|order| order.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// How each call will be answered.
    #[must_use]
    pub fn explain(&self) -> Vec<Explanation> {
        explain::explain(self)
    }

    /// The calls' columns for all rows of `batch`, which keep their order.
    ///
    /// Cost: one sort per distinct order that the rows do not have already, then what each call's strategy costs.
    ///
    /// # Errors
    /// Results that do not fit their type, values that cannot be read, a batch of another schema.
    pub fn compute(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        self.compute_until(batch, &Cancel::default())
    }

    /// As [`Plan::compute`], stopping early once `cancel` says so.
    ///
    /// # Errors
    /// As for `compute`, and [`crate::ErrorKind::Cancelled`].
    pub fn compute_until(&self, batch: &RecordBatch, cancel: &Cancel) -> Result<RecordBatch> {
        crate::compute::compute(self, batch, cancel)
    }

    /// The schema's numbers of the columns that a section of the call of this number holds, in their order.
    #[must_use]
    pub fn section_columns(&self, call: usize) -> &[usize] {
        self.calls.get(call).map_or(&[], |call| &self.orders[call.order].columns)
    }

    /// The evaluator of the call of this number over a section, whose rows are in the order of its window, and its
    /// frames: for those who sort and cut by themselves.
    ///
    /// # Errors
    /// No such call, a section that lacks columns, values that cannot be read.
    pub fn evaluator(&self, call: usize, section: &Section) -> Result<(Box<dyn Evaluator>, Frames)> {
        if call >= self.calls.len() {
            return Err(Error::spec(format!("the plan has no call {call}")));
        }
        let threads = Threads::new(self.options.threads, &Cancel::default());
        self.pass(&[call], section, 0, &threads)
    }

    /// The evaluator of a pass over a section, and its frames; rows before `base` have been let go of.
    pub(crate) fn pass(
        &self,
        pass: &[usize],
        section: &Section,
        base: usize,
        threads: &Threads,
    ) -> Result<(Box<dyn Evaluator>, Frames)> {
        let frames = Frames::new(&self.leader(pass).frame, section, base)?;
        Ok((crate::dispatch::evaluator(self, pass, section, false, threads)?, frames))
    }

    /// Room for the column of the call of this number: so many rows, in their order or the one of these row numbers.
    ///
    /// # Errors
    /// The system has no threads left.
    pub(crate) fn column_of<'a>(
        &self,
        call: usize,
        rows: usize,
        order: Option<&'a [u32]>,
        dealt: Option<Dealt<'a>>,
        threads: &Threads,
    ) -> Result<Restored<'a>> {
        Restored::new(&self.calls[call].signature.output, rows, order, dealt, threads)
    }

    /// The call that says how a pass is answered.
    pub(crate) fn leader(&self, pass: &[usize]) -> &PlannedCall {
        &self.calls[pass[0]]
    }

    /// The plan for partitions that no frame ends within: its frames reach to the partition's ends instead of a number of
    /// rows, and cost less. `None` if there are none of these, or a strategy is asked for.
    pub(crate) fn widened(&self) -> Option<Self> {
        if self.options.strategy.is_some() {
            return None;
        }
        let mut plan = self.clone();
        let mut any = false;
        for call in plan.calls.iter_mut().filter(|call| call.user.is_none()) {
            if let Some((frame, _)) = call.frame.widened() {
                (call.strategy, call.reason) = choose::choose(call.function, &call.signature, &frame);
                (call.frame, any) = (frame, true);
            }
        }
        any.then_some(plan)
    }
}

impl Order {
    /// Whether rows are partitioned or ordered by the column at this place.
    pub(crate) fn is_key(&self, place: usize) -> bool {
        self.partition_by.contains(&place) || self.order_by.iter().any(|key| key.number == place)
    }
}
