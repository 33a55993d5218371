//! Resolves the calls of a query against the schema.

use std::sync::Arc;

use arrow_array::Array;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::planned::{Plan, PlannedArg, PlannedCall, PlannedOrder};
use super::shared_passes::passes;
use super::{choose, validate};
use crate::bounds::distance::OrderDistance;
use crate::bounds::resolve::FramePlan;
use crate::catalog::argument::{Presence, Role};
use crate::catalog::function::{ArgumentOrder, Distinct, Frames, Function, OwnFrame, RowsNeeded, WindowOrder};
use crate::catalog::functions;
use crate::catalog::signature::{self, Modifiers};
use crate::error::{Error, Result};
use crate::model::order_column::OrderColumn;
use crate::spec::argument::Arg;
use crate::spec::call::{Call, Nulls};
use crate::spec::frame::{Bound, Frame};
use crate::spec::literal::Literal;
use crate::spec::literal_array;
use crate::spec::options::Options;
use crate::spec::order_key::OrderKey;
use crate::spec::sql_text::{self, display};
use crate::spec::strategy::Strategy;
use crate::spec::window::WindowSpec;

impl Plan {
    /// Checks `specs` against `schema` and chooses how to evaluate them.
    ///
    /// # Errors
    /// Unknown columns or functions, types that a function does not accept, frames that SQL does not allow: the message
    /// names the call, the column, its type and what to do instead.
    pub fn new(schema: SchemaRef, specs: &[WindowSpec], options: Options) -> Result<Self> {
        for field in schema.fields() {
            validate::column(field)?;
        }
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
                let star = call.user.is_none() && functions::find(&call.function).is_some_and(|function| function.star);
                let display = display(spec, call, star);
                let planned = plan.resolve(spec, call, &display).map_err(|error| error.of_call(&display))?;
                validate::result(&planned.signature.output).map_err(|error| error.of_call(&display))?;
                fields.push(Field::new(&call.name, planned.signature.output.clone(), planned.signature.nullable));
                plan.calls.push(planned);
            }
        }
        plan.output = Arc::new(Schema::new(fields));
        plan.passes = passes(&plan);
        plan.share_sorts();
        Ok(plan)
    }

    /// Plans one call, adding its order and columns to the plan.
    pub(super) fn resolve(&mut self, spec: &WindowSpec, call: &Call, display: &str) -> Result<PlannedCall> {
        let function = match &call.user {
            Some(user) => functions::of_user(user),
            None => functions::find(&call.function).ok_or_else(|| validate::unknown_function(&call.function))?,
        };
        validate::modifiers(function, call)?;
        if let Some(held) = held_at_distance(function, call)? {
            return Ok(PlannedCall { held: true, ..self.resolve(spec, &held, display)? });
        }
        let order = self.order(spec)?;
        let (args, types) = self.arguments(order, function, call)?;
        let filter = call.filter.as_ref().map(|filter| self.filter(order, filter)).transpose()?;
        let argument_order = self.argument_order(order, function, call)?;
        let modifiers = Modifiers {
            ansi: self.options.ansi,
            distinct: call.distinct,
            argument_order: !argument_order.is_empty(),
            respect_nulls: call.nulls == Nulls::Respect,
            list_views: self.options.list_views,
            fractional: validate::is_fractional(function, call),
        };
        let nullable = function.index_of(Role::Default).map(|_| self.is_nullable_with_default(order, &args, &types));
        let mut signature = match &call.user {
            Some(user) => signature::of_user(user, types, modifiers),
            None => function.signature(&types, modifiers)?,
        };
        signature.nullable = nullable.unwrap_or(signature.nullable) || call.min_rows.is_some();
        let frame = self.frame(order, function, call, spec)?;
        validate::exclude(function, &frame)?;
        validate::linear_order(function, &self.orders[order].order_by)?;
        validate::ranked_keys(function, call, spec)?;
        validate::half_life_key(function, call, &self.orders[order].order_by)?;
        let (before, after) = choose::reach(function, call, signature.algebra, &frame, &args);
        let mut planned = PlannedCall {
            order,
            function,
            user: call.user.clone(),
            signature,
            args,
            filter,
            distinct: call.distinct && function.distinct == Distinct::Counts,
            argument_order,
            nulls: call.nulls,
            min_rows: call.min_rows,
            held: false,
            frame,
            strategy: Strategy::Naive,
            reason: "it was not chosen yet",
            grouped: None,
            before,
            after,
            display: display.to_string(),
        };
        self.choose_strategy(&mut planned)?;
        Ok(planned)
    }

    /// The index of the spec's order, added if it is new. Partition keys are compared as a set but kept as they were
    /// first written: sorted input is probably sorted in that sequence.
    fn order(&mut self, spec: &WindowSpec) -> Result<usize> {
        let mut partition = Vec::new();
        for name in &spec.partition_by {
            let (number, field) = validate::lookup(&self.schema, name)?;
            validate::key(field, "PARTITION BY")?;
            if !partition.contains(&number) {
                partition.push(number);
            }
        }
        let keys = self.keys(&spec.order_by)?;
        let same = |order: &PlannedOrder| {
            order.partition_by.len() == partition.len()
                && order.partition_by.iter().all(|&place| partition.contains(&order.columns[place]))
                && order.order_by.len() == keys.len()
                && order.order_by.iter().zip(&keys).all(|(known, (number, key))| {
                    order.columns[known.number] == *number && known.options == key.options
                })
        };
        if let Some(known) = self.orders.iter().position(same) {
            return Ok(known);
        }
        let mut order = PlannedOrder { partition_by: Vec::new(), order_by: Vec::new(), columns: Vec::new() };
        order.partition_by = partition.iter().map(|&number| order.place(number)).collect();
        let order_by = keys.into_iter().map(|(number, key)| order.order_column(&self.schema, number, key)).collect();
        order.order_by = order_by;
        self.orders.push(order);
        Ok(self.orders.len() - 1)
    }

    /// The columns of the order keys.
    fn keys<'a>(&self, keys: &'a [OrderKey]) -> Result<Vec<(usize, &'a OrderKey)>> {
        let key = |key: &'a OrderKey| {
            let (number, field) = validate::lookup(&self.schema, &key.column)?;
            validate::key(field, "ORDER BY")?;
            Ok((number, key))
        };
        keys.iter().map(key).collect()
    }

    /// The order in which a call reads its frames' rows, where it affects the result.
    fn argument_order(&mut self, order: usize, function: &Function, call: &Call) -> Result<Vec<OrderColumn>> {
        let keys = self.keys(&call.argument_order)?;
        match function.argument_order {
            ArgumentOrder::Refused | ArgumentOrder::NoEffect => Ok(Vec::new()),
            ArgumentOrder::Values | ArgumentOrder::Rows => {
                validate::within_group(function, call)?;
                let Self { schema, orders, .. } = self;
                Ok(keys.into_iter().map(|(number, key)| orders[order].order_column(schema, number, key)).collect())
            }
        }
    }

    /// The index of the named column among the order's columns, added if new, and its field.
    fn column(&mut self, order: usize, name: &str) -> Result<(usize, Field)> {
        let (number, field) = validate::lookup(&self.schema, name)?;
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
        function.check_count(call.args.len())?;
        let (mut args, mut types) = (Vec::new(), Vec::new());
        let default = function.index_of(Role::Default);
        for (index, arg) in call.args.iter().enumerate() {
            let (arg, data_type) = match arg {
                Arg::Column(name) => {
                    let (place, field) = self.column(order, name)?;
                    (PlannedArg::Column(place), field.data_type().clone())
                }
                Arg::Literal(value) => {
                    let argument = function.argument(index);
                    let name = argument.map_or("", |argument| argument.name);
                    let role = argument.map(|argument| argument.role).filter(|_| *value != Literal::Null);
                    // The default of lag and lead is converted to the type of the value that it replaces.
                    let array = match types.first() {
                        Some(target) if default == Some(index) => {
                            validate::default(literal_array::natural(value)?.data_type(), target)?;
                            literal_array::to_one_row_as(value, target)?
                        }
                        _ if role == Some(Role::Amount) => validate::amount(function, name, value, &types)?,
                        _ => literal_array::natural(value)?,
                    };
                    let data_type = array.data_type().clone();
                    if role == Some(Role::Distance) {
                        let (keys, zone) = (&self.orders[order].order_by, &self.options.timezone);
                        let distance = OrderDistance::new(keys, value, name, zone)?;
                        (PlannedArg::Distance(Arc::new(distance)), data_type)
                    } else {
                        (PlannedArg::Literal(array), data_type)
                    }
                }
            };
            args.push(arg);
            types.push(data_type);
        }
        validate::settings(function, call, &types)?;
        if let Some(default) = default.and_then(|index| types.get(index)) {
            validate::default(default, &types[0])?;
        }
        // Omitted parameters are NULL.
        for argument in function.arguments.iter().skip(args.len()) {
            match argument.presence {
                Presence::Default(constant) if argument.role.is_setting() => {
                    let value = constant.into();
                    args.push(PlannedArg::Literal(match argument.role {
                        Role::Amount if value != Literal::Null => {
                            validate::amount(function, argument.name, &value, &types)?
                        }
                        _ => literal_array::natural(&value)?,
                    }));
                }
                _ => break,
            }
        }
        Ok((args, types))
    }

    /// The results of lag and lead are never NULL if neither the column nor the default can be.
    fn is_nullable_with_default(&self, order: usize, args: &[PlannedArg], types: &[DataType]) -> bool {
        let nullable = |arg: &PlannedArg| match arg {
            PlannedArg::Column(place) => self.schema.field(self.orders[order].columns[*place]).is_nullable(),
            PlannedArg::Literal(value) => value.logical_null_count() > 0,
            PlannedArg::Distance(_) => false,
        };
        let [value, _, default] = types else { return true };
        // A default of another type is cast, and outside ANSI mode a failed cast gives NULL.
        value != default || args.iter().any(nullable)
    }

    fn frame(&mut self, order: usize, function: &Function, call: &Call, spec: &WindowSpec) -> Result<FramePlan> {
        let ordered = !spec.order_by.is_empty() || !call.argument_order.is_empty();
        if !ordered && function.window_order != WindowOrder::Any {
            return Err(Error::spec(format!(
                "{} depends on the order of rows, and the window has none; add an ORDER BY",
                function.name
            )));
        }
        let own = match function.frames {
            Frames::Own(OwnFrame::Partition) => OwnFrame::Partition.frame(),
            _ => OwnFrame::UpToRow.frame(),
        };
        let asked = match function.frames {
            _ if function.takes_frame(!call.argument_order.is_empty()) => call.frame.as_ref(),
            Frames::Own(required) if call.frame.as_ref().is_some_and(|frame| *frame != required.frame()) => {
                return Err(Error::spec(format!(
                    "{} has a frame of its own, {}; leave the frame out",
                    function.name,
                    sql_text::frame(&required.frame())
                )));
            }
            Frames::None if call.frame.is_some() => {
                return Err(Error::spec(format!(
                    "{} looks at one row of the partition and takes no frame; leave the frame out",
                    function.name
                )));
            }
            _ => Some(&own),
        };
        let Self { schema, orders, options, .. } = self;
        // Frame offsets given by columns add columns to the order; the resolver numbers them after the existing ones.
        let keys = orders[order].order_by.clone();
        let places = std::cell::RefCell::new(&mut orders[order]);
        let column = |name: &str| {
            let (number, field) = validate::lookup(schema, name)?;
            Ok((places.borrow_mut().place(number), field.data_type().clone()))
        };
        FramePlan::resolve(asked, &keys, &column, &options.timezone)
    }

    /// Chooses the call's strategy, or sets the one that the options ask for.
    fn choose_strategy(&self, call: &mut PlannedCall) -> Result<()> {
        let order = &self.orders[call.order];
        choose::choose(order, call);
        let Some(forced) = self.options.strategy else { return Ok(()) };
        let applicable = choose::applicable(order, call);
        if !applicable.contains(&forced) {
            let names: Vec<_> = applicable.iter().map(|strategy| strategy.name()).collect();
            return Err(Error::spec(format!(
                "the strategy option asks for {forced}, and {} over {} with this frame can be computed by {}",
                call.function.name,
                call.signature.inputs.first().unwrap_or(&DataType::Null),
                names.join(", ")
            )));
        }
        let reason = "asked for by the strategy option";
        if forced == Strategy::Grouped {
            call.grouped = Some(reason);
        } else {
            (call.strategy, call.reason, call.grouped) = (forced, reason, None);
        }
        Ok(())
    }
}

/// `lag(x, INTERVAL 1 HOUR)` and `lead` as what they mean: the last value up to that distance before or after the row.
fn held_at_distance(function: &Function, call: &Call) -> Result<Option<Call>> {
    let RowsNeeded::Distance { before } = function.rows_needed else { return Ok(None) };
    let Some(Arg::Literal(distance @ Literal::Interval { months, days, .. })) = call.args.get(1) else {
        return Ok(None);
    };
    if call.args.get(2).is_some_and(|default| *default != Arg::Literal(Literal::Null)) {
        return Err(Error::spec(format!(
            "{} by an interval gives the value that held then, and takes no default; use coalesce around it",
            function.name
        )));
    }
    if call.frame.is_some() {
        return Err(Error::spec(format!(
            "{} looks at one row of the partition and takes no frame; leave the frame out",
            function.name
        )));
    }
    let distance = Arg::Literal(distance.clone());
    let end = if before { Bound::Preceding(distance) } else { Bound::Following(distance) };
    let frame = Frame::range(Bound::UnboundedPreceding, end).elapsed(*months == 0 && *days == 0);
    let args = vec![call.args[0].clone()];
    Ok(Some(Call { function: "last_value".into(), args, frame: Some(frame), ..call.clone() }))
}

impl PlannedOrder {
    /// The schema's column `number` as an order key, added if it is new.
    fn order_column(&mut self, schema: &Schema, number: usize, key: &OrderKey) -> OrderColumn {
        OrderColumn {
            number: self.place(number),
            data_type: schema.field(number).data_type().clone(),
            options: key.options,
            name: key.column.clone(),
        }
    }

    /// The index in the order's columns of the schema's column `number`, added if it is new.
    fn place(&mut self, number: usize) -> usize {
        self.columns.iter().position(|&known| known == number).unwrap_or_else(|| {
            self.columns.push(number);
            self.columns.len() - 1
        })
    }
}
