//! How each call of a plan will be evaluated, in readable form.

use arrow_schema::DataType;

use super::planned::{Plan, PlannedCall};
use crate::model::reach::Reach;
use crate::spec::frame::Shape;
use crate::spec::sql_text::{frame, order_key};
use crate::spec::strategy::Strategy;

/// How one call will be evaluated.
///
/// ```
/// use std::sync::Arc;
/// use windrow::arrow_schema::{DataType, Field, Schema};
/// use windrow::{Bound, Frame, Options, Plan, Strategy, WindowSpec, calls::max};
///
/// let schema = Arc::new(Schema::new(vec![Field::new("level", DataType::Int32, true)]));
/// let near = Frame::rows(Bound::preceding(9), Bound::CurrentRow);
/// let spec = WindowSpec::new().order_by(["level"]).call(max("level").over(near));
/// let plan = Plan::new(schema, &[spec], Options::default())?;
/// let call = &plan.explain()[0];
/// assert_eq!((call.strategy, &call.data_type), (Strategy::TwoStacks, &DataType::Int32));
/// # Ok::<(), windrow::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The name of the result column.
    pub name: String,
    /// The call as the user wrote it.
    pub call: String,
    /// The partition keys.
    pub partition_by: Vec<String>,
    /// The order keys, as SQL.
    pub order_by: Vec<String>,
    /// The resolved frame, as SQL; `None` for functions without a frame.
    pub frame: Option<String>,
    /// The frame's shape.
    pub shape: Option<Shape>,
    /// The strategy chosen.
    pub strategy: Strategy,
    /// The reason for the choice.
    pub reason: String,
    /// How the result for a row depends on rows before its section.
    pub reach_before: String,
    /// How it depends on rows after its section.
    pub reach_after: String,
    /// The index of the order it runs over; calls with the same index share a sort.
    pub sort: usize,
    /// The result's type.
    pub data_type: DataType,
}

impl Plan {
    /// How each call will be evaluated over a batch.
    #[must_use]
    pub fn explain(&self) -> Vec<Explanation> {
        explain(self, self.with_entire_frames().as_ref(), PlannedCall::batch_strategy)
    }

    /// How each call will be evaluated over sorted input, such as a stream.
    #[must_use]
    pub fn explain_sorted(&self) -> Vec<Explanation> {
        explain(self, None, |call| (call.strategy, call.reason))
    }
}

/// How each call of `plan` will be evaluated; `wide` is the plan for partitions so short that no frame ends within
/// them, and `chosen` gives a call's strategy and the reason for it.
fn explain(
    plan: &Plan,
    wide: Option<&Plan>,
    chosen: impl Fn(&PlannedCall) -> (Strategy, &'static str),
) -> Vec<Explanation> {
    let columns = plan.output_schema().fields().iter().zip(&plan.calls).enumerate();
    columns
        .map(|(number, (field, call))| {
            let first_call =
                plan.passes.iter().find(|pass| pass[1..].contains(&number)).map(|pass| plan.first_call(pass));
            let order = &plan.orders[call.order];
            let name_of = |place: usize| plan.schema.field(order.columns[place]).name().clone();
            let (strategy, reason) = chosen(first_call.unwrap_or(call));
            let wide_strategy = wide.map(|wide| chosen(&wide.calls[number]).0);
            let framed = call.function.takes_frame(!call.argument_order.is_empty());
            Explanation {
                name: field.name().clone(),
                call: call.display.clone(),
                partition_by: order.partition_by.iter().map(|&place| name_of(place)).collect(),
                order_by: order.order_by.iter().map(|key| order_key(&key.name, key.options)).collect(),
                frame: framed.then(|| frame(call.frame.frame())),
                shape: framed.then(|| call.frame.shape()),
                strategy,
                reason: match (first_call, wide_strategy, call.frame.with_entire_frame()) {
                    (Some(first_call), ..) => format!("read off the states of {}", first_call.display),
                    (None, Some(other), Some((_, most))) if other != strategy => {
                        format!("{reason}; partitions of up to {most} rows by {other}")
                    }
                    _ => reason.to_string(),
                },
                reach_before: reach(call.before),
                reach_after: reach(call.after),
                sort: call.order,
                data_type: field.data_type().clone(),
            }
        })
        .collect()
}

fn reach(reach: Reach) -> String {
    match reach {
        Reach::Nothing => "nothing".into(),
        Reach::Rows(1) => "1 row".into(),
        Reach::Rows(rows) => format!("{rows} rows"),
        Reach::Groups(1) => "1 peer group".into(),
        Reach::Groups(groups) => format!("{groups} peer groups"),
        Reach::Within => "a distance of the order key".into(),
        Reach::State => "one state".into(),
        Reach::Everything => "the whole partition".into(),
    }
}
