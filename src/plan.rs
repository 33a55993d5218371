//! The plan: everything that can be decided before the first row.
//!
//! Columns are looked up, types checked, default frames made explicit, and for each call the strategy, the reach
//! and the output field chosen. Errors of the question are all raised here. Calls with the same partition and
//! order keys share one order, and so one sort.

pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod choose;
pub mod explain;
pub(crate) mod passes;
pub(crate) mod planned;
pub(crate) mod resolve;
pub(crate) mod stream_order;

pub(crate) use self::planned::PlannedCall;

use arrow_schema::SchemaRef;

use crate::model::order_column::OrderColumn;
use crate::spec::options::Options;

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
    /// One field per call.
    pub(crate) output: SchemaRef,
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

    /// The schema's numbers of the columns that a section of the call of this number holds, in their order.
    #[must_use]
    pub fn section_columns(&self, call: usize) -> &[usize] {
        self.calls.get(call).map_or(&[], |call| &self.orders[call.order].columns)
    }

    /// The call that says how a pass is answered.
    pub(crate) fn leader(&self, pass: &[usize]) -> &PlannedCall {
        &self.calls[pass[0]]
    }
}

impl Order {
    /// Whether rows are partitioned or ordered by the column at this place.
    pub(crate) fn is_key(&self, place: usize) -> bool {
        self.partition_by.contains(&place) || self.order_by.iter().any(|key| key.number == place)
    }
}
