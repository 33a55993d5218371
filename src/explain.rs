//! Plans and calls as people read them.

use std::fmt::Write as _;

use arrow_schema::DataType;

use crate::carry::Reach;
use crate::evaluate::Strategy;
use crate::frame::{Bound, Exclude, Frame, Shape, Units};
use crate::literal;
use crate::plan::Plan;
use crate::spec::{Arg, Call, Nulls, OrderKey, WindowSpec};

/// How one call will be answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The result column.
    pub name: String,
    /// The call as the user wrote it.
    pub call: String,
    /// The partition keys.
    pub partition_by: Vec<String>,
    /// The order keys, as SQL.
    pub order_by: Vec<String>,
    /// The frame in force, as SQL; `None` for functions that have none.
    pub frame: Option<String>,
    /// Its shape.
    pub shape: Option<Shape>,
    /// The strategy chosen.
    pub strategy: Strategy,
    /// Why.
    pub reason: String,
    /// What the answer for a row needs of the rows before its section.
    pub reach_before: String,
    /// What it needs of the rows after.
    pub reach_after: String,
    /// Which of the shared orders it runs over, from 0.
    pub sort: usize,
    /// The result's type.
    pub data_type: DataType,
}

impl Plan {
    /// How each call will be answered.
    #[must_use]
    pub fn explain(&self) -> Vec<Explanation> {
        explain(self)
    }
}

/// How each call of `plan` will be answered.
fn explain(plan: &Plan) -> Vec<Explanation> {
    let columns = plan.output_schema().fields().iter().zip(&plan.calls).enumerate();
    columns
        .map(|(number, (field, call))| {
            let leader = plan.passes.iter().find(|pass| pass[1..].contains(&number)).map(|pass| plan.leader(pass));
            let order = &plan.orders[call.order];
            let name_of = |place: usize| plan.schema.field(order.columns[place]).name().clone();
            let framed = call.function.takes_frame(!call.argument_order.is_empty());
            Explanation {
                name: field.name().clone(),
                call: call.display.clone(),
                partition_by: order.partition_by.iter().map(|&place| name_of(place)).collect(),
                order_by: order
                    .order_by
                    .iter()
                    .map(|key| order_key(&key.name, key.descending, key.nulls_first))
                    .collect(),
                frame: framed.then(|| frame(call.frame.frame())),
                shape: framed.then(|| call.frame.shape()),
                strategy: leader.unwrap_or(call).strategy,
                reason: leader.map_or_else(
                    || call.reason.to_string(),
                    |leader| format!("read off the states of {}", leader.display),
                ),
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

/// The call as SQL: what the user wrote where that is known.
pub(crate) fn display(spec: &WindowSpec, call: &Call) -> String {
    if !call.display.is_empty() {
        return call.display.clone();
    }
    let args: Vec<_> = call.args.iter().map(arg).collect();
    let args = if call.function == "count" && args.is_empty() { "*".into() } else { args.join(", ") };
    let mut text = format!("{}({}{args}", call.function, if call.distinct { "DISTINCT " } else { "" });
    if !call.argument_order.is_empty() {
        let space = if args.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}ORDER BY {}", order_keys(&call.argument_order));
    }
    text.push(')');
    if let Some(filter) = &call.filter {
        let _ = write!(text, " FILTER (WHERE {filter})");
    }
    match call.nulls {
        Nulls::Default => {}
        Nulls::Ignore => text += " IGNORE NULLS",
        Nulls::Respect => text += " RESPECT NULLS",
    }
    let mut window = Vec::new();
    if !spec.partition_by.is_empty() {
        window.push(format!("PARTITION BY {}", spec.partition_by.join(", ")));
    }
    if !spec.order_by.is_empty() {
        window.push(format!("ORDER BY {}", order_keys(&spec.order_by)));
    }
    if let Some(asked) = &call.frame {
        window.push(frame(asked));
    }
    let _ = write!(text, " OVER ({})", window.join(" "));
    text
}

fn arg(arg: &Arg) -> String {
    match arg {
        Arg::Column(name) => name.clone(),
        Arg::Literal(value) => literal::show(value),
    }
}

fn order_keys(keys: &[OrderKey]) -> String {
    let keys =
        keys.iter().map(|OrderKey { column, descending, nulls_first }| order_key(column, *descending, *nulls_first));
    keys.collect::<Vec<_>>().join(", ")
}

pub(super) fn order_key(column: &str, descending: bool, nulls_first: bool) -> String {
    let direction = if descending { " DESC" } else { "" };
    match (descending, nulls_first) {
        (false, false) => format!("{column} NULLS LAST"),
        (true, true) => format!("{column} DESC NULLS FIRST"),
        _ => format!("{column}{direction}"),
    }
}

/// The frame as SQL.
#[must_use]
pub fn frame(frame: &Frame) -> String {
    let units = match frame.units {
        Units::Rows => "ROWS",
        Units::Range => "RANGE",
        Units::Groups => "GROUPS",
    };
    let exclude = match frame.exclude {
        Exclude::NoOthers => "",
        Exclude::CurrentRow => " EXCLUDE CURRENT ROW",
        Exclude::Group => " EXCLUDE GROUP",
        Exclude::Ties => " EXCLUDE TIES",
    };
    format!("{units} BETWEEN {} AND {}{exclude}", bound(&frame.start), bound(&frame.end))
}

fn bound(bound: &Bound) -> String {
    match bound {
        Bound::UnboundedPreceding => "UNBOUNDED PRECEDING".into(),
        Bound::Preceding(offset) => format!("{} PRECEDING", arg(offset)),
        Bound::CurrentRow => "CURRENT ROW".into(),
        Bound::Following(offset) => format!("{} FOLLOWING", arg(offset)),
        Bound::UnboundedFollowing => "UNBOUNDED FOLLOWING".into(),
    }
}

/// How many letters must change to make one name of the other (Levenshtein), for "did you mean".
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, left) in left.chars().flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (place, &right) in right.iter().enumerate() {
            let change = diagonal + usize::from(left != right);
            diagonal = row[place + 1];
            row[place + 1] = change.min(row[place] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
