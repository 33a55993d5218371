//! The plan as data: the calls, the row orders they share, and how each call is evaluated.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Schema, SchemaRef};

use crate::bounds::distance::OrderDistance;
use crate::bounds::resolve::FramePlan;
use crate::catalog::algebra::Algebra;
use crate::catalog::argument::Role;
use crate::catalog::function::{Family, Function, OrderSensitivity};
use crate::catalog::signature::Signature;
use crate::evaluate::multiset::sliding::VisitOrder;
use crate::model::order_column::OrderColumn;
use crate::model::reach::Reach;
use crate::spec::call::Nulls;
use crate::spec::frame::{Shape, Units};
use crate::spec::options::Options;
use crate::spec::strategy::Strategy;
use crate::spec::udf::UserFunction;

/// A planned call. Columns are indices into the `columns` of its order.
#[derive(Debug, Clone)]
pub(crate) struct PlannedCall {
    pub(crate) order: usize,
    pub(crate) function: &'static Function,
    /// The function itself, if it is user-defined.
    pub(crate) user: Option<UserFunction>,
    pub(crate) signature: Signature,
    pub(crate) args: Vec<PlannedArg>,
    pub(crate) filter: Option<usize>,
    /// Duplicate arguments are aggregated once, and that affects the result.
    pub(crate) distinct: bool,
    /// The order in which the frame's rows are read, if it is not the window's.
    pub(crate) argument_order: Vec<OrderColumn>,
    pub(crate) nulls: Nulls,
    pub(crate) min_rows: Option<u64>,
    /// It gives the value that held at a distance of the key: rows whose key is NULL hold none and have none.
    pub(crate) held: bool,
    pub(crate) frame: FramePlan,
    /// The strategy over rows in the window's order, and the reason for it.
    pub(crate) strategy: Strategy,
    pub(crate) reason: &'static str,
    /// The reason to evaluate the call by partition number instead, without sorting, where there is one.
    pub(crate) grouped: Option<&'static str>,
    pub(crate) before: Reach,
    pub(crate) after: Reach,
    pub(crate) display: String,
}

/// How far a result is independent of the order of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderStability {
    /// Entirely.
    Exact,
    /// Except for rounding: sums of floats.
    UpToRounding,
}

/// An argument: the index of a column, an array of one row to repeat, or a distance of the order key.
#[derive(Debug, Clone)]
pub(crate) enum PlannedArg {
    Column(usize),
    Literal(ArrayRef),
    Distance(Arc<OrderDistance>),
}

impl PlannedCall {
    /// The order in which the values of the call's frames are counted.
    pub(crate) fn visit_order(&self) -> VisitOrder {
        match self.strategy {
            Strategy::Naive => VisitOrder::Naive,
            _ if self.frame.monotone() => VisitOrder::RowOrder,
            _ => VisitOrder::Mo,
        }
    }

    /// The strategy over rows in any order, and the reason for it.
    pub(crate) fn batch_strategy(&self) -> (Strategy, &'static str) {
        self.grouped.map_or((self.strategy, self.reason), |reason| (Strategy::Grouped, reason))
    }

    /// Whether it ranks by a method for ties, which reads peers and the keys that are NULL.
    pub(crate) fn ranks_by_method(&self) -> bool {
        self.function.index_of(Role::Method).is_some()
    }

    /// Whether its half-life is a time of the order key.
    pub(crate) fn ages_by_time(&self) -> bool {
        let alpha = self.function.index_of(Role::Alpha).and_then(|index| self.args.get(index));
        matches!(alpha, Some(PlannedArg::Literal(alpha)) if matches!(alpha.data_type(), DataType::Duration(_)))
    }

    /// How far an aggregate's result is independent of the order of the frame's rows; `None`: not at all.
    pub(crate) fn order_stability(&self) -> Option<OrderStability> {
        use DataType as D;
        let output = &self.signature.output;
        match (self.function.order_sensitivity, self.signature.algebra) {
            (OrderSensitivity::None | OrderSensitivity::Rounding, Algebra::Retractable)
            | (OrderSensitivity::None, Algebra::Mergeable) => Some(OrderStability::Exact),
            (OrderSensitivity::Rounding, Algebra::Mergeable) => Some(OrderStability::UpToRounding),
            (OrderSensitivity::EqualValues, Algebra::Selective) => match output {
                // -0.0 and 0.0 compare equal, so the order determines which of them is returned.
                _ if output.is_floating() => None,
                D::Utf8 | D::LargeUtf8 | D::Utf8View | D::Binary | D::LargeBinary | D::BinaryView => {
                    Some(OrderStability::Exact)
                }
                _ => output.primitive_width().map(|_| OrderStability::Exact),
            },
            _ => None,
        }
    }

    /// Whether exchanging rows that tie on the window's keys leaves the results unchanged, except for the rounding of
    /// floating point sums.
    pub(crate) fn ignores_ties(&self) -> bool {
        let frame = self.frame.frame();
        match self.function.family {
            Family::Ranking => {
                self.argument_order.is_empty() && self.function.order_sensitivity == OrderSensitivity::Peers
            }
            Family::Aggregate => {
                // A frame contains all of a peer group or none of it, except where EXCLUDE depends on the current row.
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

/// The offset of lag (`before`) or lead in rows after the current row, negative for rows before it; `None` if each row
/// has its own.
pub(crate) fn lag_lead_offset(before: bool, args: &[PlannedArg]) -> Option<i64> {
    let Some(PlannedArg::Literal(value)) = args.get(1) else { return None };
    literal_i64(value).map(|offset| if before { offset.saturating_neg() } else { offset })
}

/// The integer in a one-row array.
pub(crate) fn literal_i64(value: &ArrayRef) -> Option<i64> {
    let value = arrow_cast::cast(value, &DataType::Int64).ok()?;
    (!value.is_null(0)).then(|| value.as_primitive::<Int64Type>().value(0))
}

/// A query that has been checked against a schema, and how it will be evaluated.
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
    /// The indices of the calls, grouped by the pass that evaluates them together.
    pub(crate) passes: Vec<Vec<usize>>,
    pub(crate) options: Options,
    /// One field per call.
    pub(crate) output: SchemaRef,
}

/// A distinct partitioning and ordering of the rows, and the columns that its calls read.
#[derive(Debug, Clone)]
pub(crate) struct PlannedOrder {
    /// The indices of the partition keys in `columns`.
    pub(crate) partition_by: Vec<usize>,
    /// The order keys.
    pub(crate) order_by: Vec<OrderColumn>,
    /// The indices in the schema of the columns to read.
    pub(crate) columns: Vec<usize>,
}

impl Plan {
    /// The schema that the input must have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The schema of the results: one field per call, in the order of the calls.
    #[must_use]
    pub fn output_schema(&self) -> &SchemaRef {
        &self.output
    }

    /// The input's fields, then one per call: the schema of [`Plan::append`] and of streams.
    #[must_use]
    pub fn appended_schema(&self) -> SchemaRef {
        let fields = self.schema.fields().iter().chain(self.output.fields()).cloned().collect::<Vec<_>>();
        Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()))
    }

    /// The options of the plan.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The indices in the schema of the columns that any call reads, ascending.
    #[must_use]
    pub fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<_> = self.orders.iter().flat_map(|order| order.columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The indices in the schema of the columns in a section of the call at this index, in the section's order.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    #[must_use]
    pub fn section_columns(&self, call: usize) -> &[usize] {
        self.calls.get(call).map_or(&[], |call| &self.orders[call.order].columns)
    }

    /// The call that determines how a pass is evaluated.
    pub(crate) fn first_call(&self, pass: &[usize]) -> &PlannedCall {
        &self.calls[pass[0]]
    }
}

impl PlannedOrder {
    /// Whether the column at this index is a partition or an order key.
    pub(crate) fn is_key(&self, place: usize) -> bool {
        self.partition_by.contains(&place) || self.order_by.iter().any(|key| key.number == place)
    }
}
