//! The plan: everything that can be decided before the first row.
//!
//! Columns are looked up, types checked, default frames made explicit, and for each call the strategy, the reach
//! and the output field chosen. Errors of the question are all raised here. Calls with the same partition and
//! order keys share one order, and so one sort.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::can_cast_types;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use crate::bounds::{FramePlan, OrderColumn};
use crate::carry::Reach;
use crate::error::{Error, Result};
use crate::evaluate::{Cancel, Strategy};
use crate::explain::{self, Explanation};
use crate::frame::{Bound, Frame, Shape, Units};
use crate::functions::registry::{self, Algebra, Family, Function, Kernel};
use crate::functions::signature::{self, Signature};
use crate::literal;
use crate::spec::{Arg, Call, Literal, OrderKey, WindowSpec};

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
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 0, ansi: true, timezone: "UTC".into(), strategy: None }
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

/// A call with all that has been decided about it. Columns are places in its order's `columns`.
#[derive(Debug, Clone)]
pub(crate) struct PlannedCall {
    pub(crate) order: usize,
    pub(crate) function: &'static Function,
    pub(crate) signature: Signature,
    pub(crate) args: Vec<PlannedArg>,
    pub(crate) filter: Option<usize>,
    pub(crate) ignore_nulls: bool,
    pub(crate) min_rows: Option<u64>,
    pub(crate) frame: FramePlan,
    pub(crate) strategy: Strategy,
    pub(crate) reason: &'static str,
    pub(crate) before: Reach,
    pub(crate) after: Reach,
    pub(crate) display: String,
}

/// An argument: a column's place, or one row to repeat.
#[derive(Debug, Clone)]
pub(crate) enum PlannedArg {
    Column(usize),
    Literal(ArrayRef),
}

impl Plan {
    /// Checks `specs` against `schema` and decides how to answer them.
    ///
    /// # Errors
    /// Unknown columns or functions, types a function does not take, frames SQL does not allow: the message names
    /// the call, the column, its type and what to do instead.
    pub fn new(schema: SchemaRef, specs: &[WindowSpec], options: Options) -> Result<Self> {
        let mut plan =
            Self { output: Arc::new(Schema::empty()), schema, orders: Vec::new(), calls: Vec::new(), options };
        let mut fields = Vec::new();
        for spec in specs {
            for call in &spec.calls {
                let display = explain::display(spec, call);
                let planned = plan.call(spec, call, &display).map_err(|error| error.of_call(&display))?;
                fields.push(Field::new(&call.name, planned.signature.output.clone(), planned.signature.nullable));
                plan.calls.push(planned);
            }
        }
        plan.output = Arc::new(Schema::new(fields));
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

    fn call(&mut self, spec: &WindowSpec, call: &Call, display: &str) -> Result<PlannedCall> {
        let function = registry::find(&call.function).ok_or_else(|| unknown_function(&call.function))?;
        check_modifiers(function, call)?;
        let order = self.order(spec)?;
        let (args, types) = self.arguments(order, function, call)?;
        let filter = call.filter.as_ref().map(|filter| self.filter(order, filter)).transpose()?;
        let mut signature = signature::signature(function, &types, self.options.ansi)?;
        if function.family == Family::Offset {
            signature.nullable = self.offset_nullable(order, call, &args);
        }
        signature.nullable |= call.min_rows.is_some();
        let frame = self.frame(order, function, call, spec)?;
        let (strategy, reason) = self.strategy(function, &signature, &frame)?;
        let (before, after) = reach(function, call, &frame, &args);
        Ok(PlannedCall {
            order,
            function,
            signature,
            args,
            filter,
            ignore_nulls: call.ignore_nulls,
            min_rows: call.min_rows,
            frame,
            strategy,
            reason,
            before,
            after,
            display: display.to_string(),
        })
    }

    /// The number of the spec's order, made if it is new. Partition keys are a set, kept as they were first written:
    /// rows that come sorted are likely sorted so.
    fn order(&mut self, spec: &WindowSpec) -> Result<usize> {
        let mut partition = Vec::new();
        for name in &spec.partition_by {
            let (number, field) = lookup(&self.schema, name)?;
            check_key(field, "PARTITION BY")?;
            if !partition.contains(&number) {
                partition.push(number);
            }
        }
        let mut keys = Vec::new();
        for key in &spec.order_by {
            let (number, field) = lookup(&self.schema, &key.column)?;
            check_key(field, "ORDER BY")?;
            keys.push((number, key));
        }
        let same = |order: &Order| {
            order.partition_by.len() == partition.len()
                && order.partition_by.iter().all(|&place| partition.contains(&order.columns[place]))
                && order.order_by.len() == keys.len()
                && order.order_by.iter().zip(&keys).all(|(known, (number, key))| {
                    order.columns[known.number] == *number
                        && known.descending == key.descending
                        && known.nulls_first == key.nulls_first
                })
        };
        if let Some(known) = self.orders.iter().position(same) {
            return Ok(known);
        }
        let mut order = Order { partition_by: Vec::new(), order_by: Vec::new(), columns: Vec::new() };
        order.partition_by = partition.iter().map(|&number| order.place(number)).collect();
        for (number, OrderKey { column, descending, nulls_first }) in keys {
            let place = order.place(number);
            order.order_by.push(OrderColumn {
                number: place,
                data_type: self.schema.field(number).data_type().clone(),
                descending: *descending,
                nulls_first: *nulls_first,
                name: column.clone(),
            });
        }
        self.orders.push(order);
        Ok(self.orders.len() - 1)
    }

    /// The place of the schema's column of this name among the order's columns, and its field.
    fn column(&mut self, order: usize, name: &str) -> Result<(usize, Field)> {
        let (number, field) = lookup(&self.schema, name)?;
        let field = field.clone();
        Ok((self.orders[order].place(number), field))
    }

    fn filter(&mut self, order: usize, name: &str) -> Result<usize> {
        let (place, field) = self.column(order, name)?;
        match field.data_type() {
            DataType::Boolean => Ok(place),
            other => Err(Error::spec(format!("FILTER needs a boolean column, and {name:?} is {other}"))),
        }
    }

    fn arguments(
        &mut self,
        order: usize,
        function: &Function,
        call: &Call,
    ) -> Result<(Vec<PlannedArg>, Vec<DataType>)> {
        let (least, most) = function.arguments;
        if call.args.len() < least || call.args.len() > most {
            let takes = match (least, most) {
                (0, 0) => "no argument".into(),
                (least, usize::MAX) => format!("at least {least} arguments"),
                (least, most) if least == most => format!("{least} argument{}", if least == 1 { "" } else { "s" }),
                (least, most) => format!("{least} to {most} arguments"),
            };
            return Err(Error::spec(format!("{} takes {takes}, and got {}", function.name, call.args.len())));
        }
        let (mut args, mut types) = (Vec::new(), Vec::new());
        for (index, arg) in call.args.iter().enumerate() {
            let (arg, data_type) = match arg {
                Arg::Column(name) => {
                    let (place, field) = self.column(order, name)?;
                    (PlannedArg::Column(place), field.data_type().clone())
                }
                Arg::Literal(value) => {
                    // The default of lag and lead takes the type of what it stands in for.
                    let array = match (function.family, index, types.first()) {
                        (Family::Offset, 2, Some(target)) => {
                            check_default(literal::natural(value)?.data_type(), target)?;
                            literal::one_row_as(value, target)?
                        }
                        _ => literal::natural(value)?,
                    };
                    let data_type = array.data_type().clone();
                    (PlannedArg::Literal(array), data_type)
                }
            };
            args.push(arg);
            types.push(data_type);
        }
        check_constants(function, call)?;
        if let (Family::Offset, [value, _, default]) = (function.family, types.as_slice()) {
            check_default(default, value)?;
        }
        Ok((args, types))
    }

    /// lag and lead are never NULL where neither the column nor the default is.
    fn offset_nullable(&self, order: usize, call: &Call, args: &[PlannedArg]) -> bool {
        let nullable = |arg: &PlannedArg| match arg {
            PlannedArg::Column(place) => self.schema.field(self.orders[order].columns[*place]).is_nullable(),
            PlannedArg::Literal(value) => value.logical_null_count() > 0,
        };
        // A default in another type is cast, and a cast may fail to NULL outside ANSI mode.
        let casts = match (call.args.first(), call.args.get(2)) {
            (Some(Arg::Column(value)), Some(Arg::Column(default))) => {
                lookup(&self.schema, value).map(|(_, field)| field.data_type().clone()).ok()
                    != lookup(&self.schema, default).map(|(_, field)| field.data_type().clone()).ok()
            }
            _ => false,
        };
        args.len() < 3 || casts || nullable(&args[0]) || nullable(&args[2])
    }

    fn frame(&mut self, order: usize, function: &Function, call: &Call, spec: &WindowSpec) -> Result<FramePlan> {
        let ordered = !spec.order_by.is_empty();
        if !ordered && (matches!(function.family, Family::Ranking | Family::Offset) || function.kernel == Kernel::Nth) {
            return Err(Error::spec(format!(
                "{} depends on the order of rows, and the window has none; add an ORDER BY",
                function.name
            )));
        }
        let own = Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow);
        let asked = match function.family {
            Family::Aggregate | Family::Value => call.frame.as_ref(),
            Family::Ranking => {
                let required = if function.kernel == Kernel::CumeDist {
                    Frame::range(Bound::UnboundedPreceding, Bound::CurrentRow)
                } else {
                    own.clone()
                };
                if call.frame.as_ref().is_some_and(|frame| *frame != required) {
                    return Err(Error::spec(format!(
                        "{} has a frame of its own, {}; leave the frame out",
                        function.name,
                        explain::frame(&required)
                    )));
                }
                Some(&own)
            }
            Family::Offset => {
                if call.frame.is_some() {
                    return Err(Error::spec(format!(
                        "{} looks at one row of the partition and takes no frame; leave the frame out",
                        function.name
                    )));
                }
                Some(&own)
            }
        };
        let Self { schema, orders, options, .. } = self;
        // Offsets by column add columns to the order, which the resolver sees as numbers behind its last.
        let keys = orders[order].order_by.clone();
        let places = std::cell::RefCell::new(&mut orders[order]);
        let column = |name: &str| {
            let (number, field) = lookup(schema, name)?;
            Ok((places.borrow_mut().place(number), field.data_type().clone()))
        };
        FramePlan::resolve(asked, &keys, &column, &options.timezone)
    }

    fn strategy(
        &self,
        function: &Function,
        signature: &Signature,
        frame: &FramePlan,
    ) -> Result<(Strategy, &'static str)> {
        let able = signature.algebra.strategies();
        match self.options.strategy {
            None => Ok(choose(signature.algebra, frame)),
            Some(forced) if able.contains(&forced) => Ok((forced, "asked for by the strategy option")),
            Some(forced) => {
                let names: Vec<_> = able.iter().map(|strategy| strategy.name()).collect();
                Err(Error::spec(format!(
                    "the strategy option asks for {forced}, and {} over {} can be computed by {}",
                    function.name,
                    signature.input,
                    names.join(", ")
                )))
            }
        }
    }
}

impl Order {
    /// The place of the schema's column `number`, added if it is new.
    fn place(&mut self, number: usize) -> usize {
        self.columns.iter().position(|&known| known == number).unwrap_or_else(|| {
            self.columns.push(number);
            self.columns.len() - 1
        })
    }
}

/// Frames of a fixed number of rows up to this many are folded anew: two updates cost less than a queue
/// (`benches/evaluate.rs`).
const TINY_FRAME: i128 = 4;

/// The strategy that costs least, and why.
fn choose(algebra: Algebra, frame: &FramePlan) -> (Strategy, &'static str) {
    use crate::frame::Exclude;
    let excludes = frame.frame().exclude != Exclude::NoOthers;
    let tiny = frame.width().is_some_and(|width| width <= TINY_FRAME);
    match (algebra, frame.shape()) {
        (Algebra::Positional, _) => (Strategy::Index, "the answer follows from row numbers"),
        (_, Shape::Entire) if !excludes => (Strategy::Whole, "every row of a partition has the same frame"),
        (_, Shape::Growing) if !excludes && frame.monotone() => (Strategy::Scan, "rows only enter the frame"),
        _ if !frame.monotone() => (Strategy::SegmentTree, "frames may jump"),
        _ if tiny => (Strategy::Naive, "the frame is a few rows"),
        (Algebra::Retractable, _) => (Strategy::Prefix, "what leaves the frame can be subtracted exactly"),
        (_, Shape::Entire) => (Strategy::Scan, "what EXCLUDE leaves grows on one side and shrinks on the other"),
        (_, Shape::Shrinking) if !excludes => (Strategy::Scan, "rows only leave the frame"),
        (Algebra::Selective, _) => (Strategy::Deque, "only rows that may still be chosen are kept"),
        _ => (Strategy::TwoStacks, "states merge and cannot be subtracted"),
    }
}

/// How far the call looks.
fn reach(function: &Function, call: &Call, frame: &FramePlan, args: &[PlannedArg]) -> (Reach, Reach) {
    match (function.family, function.kernel) {
        (Family::Aggregate | Family::Value, _) => frame.reach(),
        (_, Kernel::PercentRank | Kernel::CumeDist | Kernel::Ntile) => (Reach::Nothing, Reach::Everything),
        (Family::Ranking, _) => (Reach::State, Reach::Nothing),
        (Family::Offset, kernel) => {
            let offset = offset_of(kernel, args);
            match (call.ignore_nulls, offset) {
                (_, 0) => (Reach::Nothing, Reach::Nothing),
                (true, ..0) => (Reach::State, Reach::Nothing),
                (true, 1..) => (Reach::Nothing, Reach::Everything),
                (false, ..0) => (Reach::Rows(offset.unsigned_abs()), Reach::Nothing),
                (false, 1..) => (Reach::Nothing, Reach::Rows(offset.unsigned_abs())),
            }
        }
    }
}

/// How many rows after its row lag or lead looks; negative: before.
pub(crate) fn offset_of(kernel: Kernel, args: &[PlannedArg]) -> i64 {
    let offset = match args.get(1) {
        Some(PlannedArg::Literal(value)) => integer(value).unwrap_or(1),
        _ => 1,
    };
    if kernel == Kernel::Lag { offset.saturating_neg() } else { offset }
}

/// The whole number that a one-row array holds.
pub(crate) fn integer(value: &ArrayRef) -> Option<i64> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    let value = arrow_cast::cast(value, &DataType::Int64).ok()?;
    (!value.is_null(0)).then(|| value.as_primitive::<Int64Type>().value(0))
}

fn check_modifiers(function: &Function, call: &Call) -> Result<()> {
    let refuse = |what: &str| Err(Error::spec(format!("{} does not take {what}; leave it out", function.name)));
    if call.distinct {
        return Err(Error::unsupported("DISTINCT is not computed yet; remove it, or deduplicate the rows before"));
    }
    if !call.argument_order.is_empty() {
        return Err(Error::unsupported(
            "an ORDER BY inside the argument is not computed yet; order the window instead",
        ));
    }
    if call.filter.is_some() && !function.takes_filter() {
        return refuse("FILTER");
    }
    if call.ignore_nulls && !function.takes_ignore_nulls() {
        return refuse("IGNORE NULLS");
    }
    if call.min_rows.is_some() && !function.takes_frame() {
        return refuse("min_rows");
    }
    Ok(())
}

/// Offsets, positions and bucket counts are constants; columns of them have no one answer per plan.
fn check_constants(function: &Function, call: &Call) -> Result<()> {
    let (index, what, least) = match function.kernel {
        Kernel::Lag | Kernel::Lead => (1, "offset", i64::MIN),
        Kernel::Nth => (1, "position", 1),
        Kernel::Ntile => (0, "number of buckets", 1),
        _ => return Ok(()),
    };
    let limit = if function.kernel == Kernel::Ntile { i64::from(i32::MAX) } else { i64::MAX };
    match call.args.get(index) {
        None => Ok(()),
        Some(Arg::Literal(Literal::Int(value))) if (least..=limit).contains(value) => Ok(()),
        Some(Arg::Literal(value)) => Err(Error::spec(format!(
            "the {what} of {} is a whole number{}, not {}",
            function.name,
            if least == 1 { " from 1" } else { "" },
            literal::show(value)
        ))),
        Some(Arg::Column(name)) => {
            Err(Error::spec(format!("the {what} of {} is a constant, not the column {name:?}", function.name)))
        }
    }
}

/// Defaults are cast to the value's type as Spark does unasked: among numbers and text, and text to what it can hold.
fn check_default(default: &DataType, value: &DataType) -> Result<()> {
    let (from, to) = (signature::values(default), signature::values(value));
    let plain = |data_type: &DataType| data_type.is_numeric() || data_type.is_string();
    let alone = |data_type: &DataType| data_type.is_numeric() || *data_type == DataType::Boolean;
    let castable = (plain(from) && plain(to))
        || (from.is_string() && can_cast_types(default, value))
        || (!alone(from) && !alone(to) && from.is_temporal() == to.is_temporal() && can_cast_types(default, value));
    if default == value || from == to || from.is_null() || castable {
        return Ok(());
    }
    Err(Error::spec(format!("the default is {default}, and the value is {value}; cast one of them")))
}

fn check_key(field: &Field, clause: &str) -> Result<()> {
    if signature::orderable(field.data_type()) {
        return Ok(());
    }
    Err(Error::spec(format!(
        "{clause} {}: values of {} have no order; use a part of it as the key, or its text",
        field.name(),
        field.data_type()
    )))
}

/// The schema's column of this name.
fn lookup<'a>(schema: &'a Schema, name: &str) -> Result<(usize, &'a Field)> {
    let mut found = schema.fields().iter().enumerate().filter(|(_, field)| field.name() == name);
    match (found.next(), found.next()) {
        (Some((number, field)), None) => Ok((number, field)),
        (Some(_), Some(_)) => {
            Err(Error::spec(format!("the column {name:?} exists more than once; rename one of them")))
        }
        _ => {
            let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            Err(Error::spec(format!("there is no column {name:?}; {}", near(name, "columns", &names))))
        }
    }
}

fn unknown_function(name: &str) -> Error {
    let names: Vec<_> = registry::FUNCTIONS
        .iter()
        .flat_map(|function| std::iter::once(&function.name).chain(function.aliases))
        .copied()
        .collect();
    Error::spec(format!("there is no window function {name:?}; {}", near(name, "functions", &names)))
}

/// `did you mean "x"?` where a known name is close, else the names there are.
fn near(name: &str, what: &str, known: &[&str]) -> String {
    const SHOWN: usize = 40;
    let closest = known.iter().map(|known| (explain::distance(name, known), known)).min();
    match closest {
        Some((distance, known)) if distance <= 1 + name.chars().count() / 4 => format!("did you mean {known:?}?"),
        _ => {
            let more = if known.len() > SHOWN { ", ..." } else { "" };
            format!("{what} are {}{more}", known[..known.len().min(SHOWN)].join(", "))
        }
    }
}

impl FramePlan {
    /// How many rows the frame holds, where that is one number for all rows far from a partition's edge.
    fn width(&self) -> Option<i128> {
        let distance = |bound: &Bound| match bound {
            Bound::CurrentRow => Some(0),
            Bound::Preceding(Arg::Literal(Literal::Int(n))) => Some(-i128::from(*n)),
            Bound::Following(Arg::Literal(Literal::Int(n))) => Some(i128::from(*n)),
            _ => None,
        };
        let frame = self.frame();
        if frame.units != Units::Rows {
            return None;
        }
        Some(distance(&frame.end)? - distance(&frame.start)? + 1)
    }
}
