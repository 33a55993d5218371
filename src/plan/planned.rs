//! The plan as data: the calls, the orders of rows they share, and how each call is answered.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema, SchemaRef};

use crate::bounds::resolve::FramePlan;
use crate::catalog::algebra::Algebra;
use crate::catalog::function::{Family, Function, OrderSensitivity};
use crate::catalog::signature::Signature;
use crate::evaluate::evaluator::FrameTraits;
use crate::model::order_column::OrderColumn;
use crate::model::reach::Reach;
use crate::spec::call::Nulls;
use crate::spec::frame::{Shape, Units};
use crate::spec::options::Options;
use crate::spec::strategy::Strategy;
use crate::spec::udf::UserFunction;

/// A call with all that has been decided about it. Columns are places in its order's `columns`.
#[derive(Debug, Clone)]
pub(crate) struct PlannedCall {
    pub(crate) order: usize,
    pub(crate) function: &'static Function,
    /// The function itself, where it is a user's.
    pub(crate) user: Option<UserFunction>,
    pub(crate) signature: Signature,
    pub(crate) args: Vec<PlannedArg>,
    pub(crate) filter: Option<usize>,
    /// Equal arguments take part once, and that makes a difference.
    pub(crate) distinct: bool,
    /// The order in which the frame's rows are read, where it is not the window's.
    pub(crate) argument_order: Vec<OrderColumn>,
    pub(crate) nulls: Nulls,
    pub(crate) min_rows: Option<u64>,
    pub(crate) frame: FramePlan,
    pub(crate) strategy: Strategy,
    pub(crate) reason: &'static str,
    pub(crate) before: Reach,
    pub(crate) after: Reach,
    pub(crate) display: String,
}

/// How much of an answer does not depend on the order of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderStability {
    /// All of it.
    Exact,
    /// All but what is rounded: sums of floats.
    UpToRounding,
}

/// An argument: a column's place, or one row to repeat.
#[derive(Debug, Clone)]
pub(crate) enum PlannedArg {
    Column(usize),
    Literal(ArrayRef),
}

impl PlannedCall {
    /// What an evaluator needs to know of its frames.
    pub(crate) fn frame_traits(&self) -> FrameTraits {
        let Self { strategy, frame, .. } = self;
        FrameTraits { strategy: *strategy, monotone: frame.monotone() }
    }

    /// How much of what an aggregate comes to is the same whatever the order of the frame's rows; `None`: nothing.
    pub(crate) fn order_stability(&self) -> Option<OrderStability> {
        use DataType as D;
        let output = &self.signature.output;
        match (self.function.order_sensitivity, self.signature.algebra) {
            (OrderSensitivity::None | OrderSensitivity::Rounding, Algebra::Retractable)
            | (OrderSensitivity::None, Algebra::Mergeable) => Some(OrderStability::Exact),
            (OrderSensitivity::Rounding, Algebra::Mergeable) => Some(OrderStability::UpToRounding),
            (OrderSensitivity::EqualValues, Algebra::Selective) => match output {
                // Both zeros compare equal, and the order says which is met first.
                _ if output.is_floating() => None,
                D::Utf8 | D::LargeUtf8 | D::Utf8View | D::Binary | D::LargeBinary | D::BinaryView => {
                    Some(OrderStability::Exact)
                }
                _ => output.primitive_width().map(|_| OrderStability::Exact),
            },
            _ => None,
        }
    }

    /// Whether rows that are equal by the window's keys may change places: the answers stay what they are, but for the
    /// last digits of floats that are added up.
    pub(crate) fn ignores_ties(&self) -> bool {
        let frame = self.frame.frame();
        match self.function.family {
            Family::Ranking => {
                self.argument_order.is_empty() && self.function.order_sensitivity == OrderSensitivity::Peers
            }
            Family::Aggregate => {
                // Peers are all in a frame, or none of them, but for those that EXCLUDE takes out by the row itself.
                let whole_peers = frame.units != Units::Rows || frame.shape() == Shape::Entire;
                let by_value =
                    matches!(self.signature.algebra, Algebra::Multiset | Algebra::Distinct | Algebra::Quantile)
                        && self.function.order_sensitivity != OrderSensitivity::Rows;
                whole_peers && (by_value || self.order_stability().is_some())
            }
            Family::Value | Family::Offset | Family::Running => false,
        }
    }
}

/// How many rows after its row lag (`before`) or lead looks, negative: before it; `None` where each row has an offset.
pub(crate) fn lag_lead_offset(before: bool, args: &[PlannedArg]) -> Option<i64> {
    let Some(PlannedArg::Literal(value)) = args.get(1) else { return None };
    literal_i64(value).map(|offset| if before { offset.saturating_neg() } else { offset })
}

/// The whole number that a one-row array holds.
pub(crate) fn literal_i64(value: &ArrayRef) -> Option<i64> {
    let value = arrow_cast::cast(value, &DataType::Int64).ok()?;
    (!value.is_null(0)).then(|| value.as_primitive::<Int64Type>().value(0))
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
    pub(crate) orders: Vec<PlannedOrder>,
    pub(crate) calls: Vec<PlannedCall>,
    /// The numbers of the calls, those together that one evaluation answers.
    pub(crate) passes: Vec<Vec<usize>>,
    pub(crate) options: Options,
    /// One field per call.
    pub(crate) output: SchemaRef,
}

/// One way to partition and order the rows, and the columns that the calls over it read.
#[derive(Debug, Clone)]
pub(crate) struct PlannedOrder {
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

    /// The fields of the rows, then one per call: what [`Plan::append`] and streams answer with.
    #[must_use]
    pub fn appended_schema(&self) -> SchemaRef {
        let fields = self.schema.fields().iter().chain(self.output.fields()).cloned().collect::<Vec<_>>();
        Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()))
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
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    #[must_use]
    pub fn section_columns(&self, call: usize) -> &[usize] {
        self.calls.get(call).map_or(&[], |call| &self.orders[call.order].columns)
    }

    /// The call that says how a pass is answered.
    pub(crate) fn first_call(&self, pass: &[usize]) -> &PlannedCall {
        &self.calls[pass[0]]
    }
}

impl PlannedOrder {
    /// Whether rows are partitioned or ordered by the column at this place.
    pub(crate) fn is_key(&self, place: usize) -> bool {
        self.partition_by.contains(&place) || self.order_by.iter().any(|key| key.number == place)
    }
}
