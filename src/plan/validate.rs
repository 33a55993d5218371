//! Validates the parts of a call: modifiers, constants, defaults, keys and names. Every rejection says what to write
//! instead.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_cast::{can_cast_types, cast};
use arrow_schema::{DataType, Field, Schema};

use crate::bounds::resolve::FramePlan;
use crate::catalog::argument::{Argument, Constant, Presence, Role};
use crate::catalog::function::{ArgumentOrder, Distinct, Frames, Function, WindowOrder};
use crate::catalog::{functions, signature};
use crate::error::{Error, Result};
use crate::functions::positional::rank_with::TieMethod;
use crate::model::order_column::OrderColumn;
use crate::spec::argument::Arg;
use crate::spec::call::{Call, Nulls};
use crate::spec::frame::Exclude;
use crate::spec::literal::Literal;
use crate::spec::window::WindowSpec;
use crate::spec::{literal_array, sql_text};
use crate::util::data_types::{children, decoded_type};
use crate::util::suggest::did_you_mean;

/// The maximum nesting depth of a column's type: pyarrow imports at most 64 levels, including a batch and a list around
/// it.
const MAX_TYPE_DEPTH: usize = 60;

/// Checks that Arrow's kernels can gather the column.
pub(super) fn column(field: &Field) -> Result<()> {
    let name = field.name();
    if depth(field.data_type()) > MAX_TYPE_DEPTH {
        return Err(Error::unsupported(format!(
            "column {name:?} nests more than {MAX_TYPE_DEPTH} types within each other; leave it out, or read a part of it"
        )));
    }
    match no_width(field.data_type()) {
        None => Ok(()),
        Some(kind) => Err(Error::unsupported(format!(
            "column {name:?} has {kind}, whose values have no width, and so a column of them no length; leave it out, or \
             cast it to a type of any length"
        ))),
    }
}

/// Checks that a host can receive the result type.
pub(super) fn result(kind: &DataType) -> Result<()> {
    if depth(kind) > MAX_TYPE_DEPTH + 1 {
        return Err(Error::unsupported(format!(
            "its result nests more than {} types within each other",
            MAX_TYPE_DEPTH + 1
        )));
    }
    Ok(())
}

/// The nesting depth of a type, capped just above the maximum.
fn depth(kind: &DataType) -> usize {
    let (mut deepest, mut left) = (0, vec![(kind, 1)]);
    while let Some((kind, depth)) = left.pop() {
        deepest = deepest.max(depth);
        if depth <= MAX_TYPE_DEPTH + 1 {
            left.extend(children(kind).into_iter().map(|inner| (inner, depth + 1)));
        }
    }
    deepest
}

/// The first nested type whose values have width zero.
fn no_width(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::FixedSizeBinary(0) | DataType::FixedSizeList(_, 0) => Some(kind),
        _ => children(kind).into_iter().find_map(no_width),
    }
}

/// Checks that the function accepts the call's modifiers.
pub(super) fn modifiers(function: &Function, call: &Call) -> Result<()> {
    let refuse = |what: &str| Err(Error::spec(format!("{} does not take {what}; leave it out", function.name)));
    if call.distinct && function.distinct == Distinct::Refused {
        return refuse("DISTINCT");
    }
    if call.distinct && call.args.is_empty() {
        return Err(Error::spec(format!(
            "{} with DISTINCT needs the arguments that are to differ; name them",
            function.name
        )));
    }
    if call.distinct && function.index_of(Role::Frequency).is_some_and(|index| index < call.args.len()) {
        return Err(Error::spec(format!(
            "{} with DISTINCT counts each value once, and a frequency counts it more often; leave one of them out",
            function.name
        )));
    }
    if !call.argument_order.is_empty() && function.argument_order == ArgumentOrder::Refused {
        return refuse("an ORDER BY inside its parentheses");
    }
    if call.filter.is_some() && !function.filter {
        return refuse("FILTER");
    }
    if call.nulls == Nulls::Ignore && !function.takes_ignore_nulls() {
        return refuse("IGNORE NULLS");
    }
    if call.min_rows.is_some() && !function.takes_frame(!call.argument_order.is_empty()) {
        return refuse("min_rows");
    }
    Ok(())
}

/// Checks that a function which receives contiguous ranges has no EXCLUDE.
pub(super) fn exclude(function: &Function, frame: &FramePlan) -> Result<()> {
    if function.frames != Frames::OnePiece || frame.frame().exclude == Exclude::NoOthers {
        return Ok(());
    }
    Err(Error::spec(format!(
        "a {} gets one begin and one end per frame, and EXCLUDE may split a frame into three parts; \
         write it as an aggregate, with initialize and update, or leave EXCLUDE out",
        function.name
    )))
}

/// WITHIN GROUP takes exactly one key, the first argument. So does the argument order under DISTINCT.
pub(super) fn within_group(function: &Function, call: &Call) -> Result<()> {
    let values = function.argument_order == ArgumentOrder::Values;
    if !(values || call.distinct) || call.argument_order.is_empty() {
        return Ok(());
    }
    match (call.argument_order.as_slice(), call.args.first()) {
        ([key], Some(Arg::Column(name))) if key.column == *name => Ok(()),
        _ if !values => Err(Error::spec(format!(
            "{} with DISTINCT has one value for many rows; its ORDER BY has one key, its first argument",
            function.name
        ))),
        _ => Err(Error::spec(format!(
            "{} counts its values in their own order; its ORDER BY has one key, its first argument",
            function.name
        ))),
    }
}

/// Checks parameters: offsets and positions are integers, per row if they are columns; others are constants.
pub(super) fn settings(function: &Function, call: &Call, types: &[DataType]) -> Result<()> {
    for (index, given) in call.args.iter().enumerate() {
        if let Some(argument) = function.argument(index) {
            let setting = Setting { function, argument, given, data_type: &types[index] };
            match argument.role {
                Role::Value
                | Role::Ordered
                | Role::Compared
                | Role::Chosen
                | Role::Default
                | Role::Start
                | Role::Ignored => {}
                Role::Frequency => setting.frequency()?,
                Role::Number { least } => setting.number(least)?,
                Role::Count { least, most } => setting.count(least, most)?,
                Role::Share => setting.share()?,
                Role::Flag => setting.flag()?,
                Role::Delimiter | Role::Distance | Role::Amount => setting.constant()?,
                Role::Deviation => setting.deviation()?,
                Role::Alpha => setting.alpha()?,
                Role::HalfLife => setting.half_life(decoded_type(&types[index - 1]))?,
                Role::Method => setting.method()?,
            }
        }
    }
    Ok(())
}

/// A parameter as given.
struct Setting<'a> {
    function: &'a Function,
    argument: &'a Argument,
    given: &'a Arg,
    data_type: &'a DataType,
}

impl Setting<'_> {
    /// An error that says what the parameter must be.
    fn refuse(&self, wanted: &str) -> Result<()> {
        let found = match self.given {
            Arg::Column(name) => format!("the column {name:?}"),
            Arg::Literal(value) => sql_text::literal_sql(value),
        };
        Err(Error::spec(format!("the {} of {} is {wanted}, not {found}", self.argument.name, self.function.name)))
    }

    fn constant(&self) -> Result<()> {
        if matches!(self.given, Arg::Column(_)) { self.refuse("a constant") } else { Ok(()) }
    }

    /// The parameter as a number; NaN if it is not one.
    fn value(&self) -> Result<f64> {
        match self.given {
            Arg::Literal(value @ (Literal::Int(_) | Literal::Float(_) | Literal::Decimal { .. })) => {
                literal_array::number(&literal_array::natural(value)?)
            }
            _ => Ok(f64::NAN),
        }
    }

    fn frequency(&self) -> Result<()> {
        if self.data_type.is_integer() {
            return Ok(());
        }
        let Self { argument, function, data_type, .. } = self;
        Err(Error::spec(format!(
            "the {} of {} is a whole number, not {data_type}; cast it",
            argument.name, function.name
        )))
    }

    fn number(&self, least: i64) -> Result<()> {
        let from = if least > i64::MIN { format!(" from {least}") } else { String::new() };
        match self.given {
            Arg::Literal(Literal::Int(value)) if *value >= least => Ok(()),
            Arg::Literal(_) => self.refuse(&format!("a whole number{from}")),
            Arg::Column(_) if self.data_type.is_integer() => Ok(()),
            Arg::Column(name) => Err(Error::spec(format!(
                "the {} of {} is a whole number, and the column {name:?} is {}; cast it",
                self.argument.name, self.function.name, self.data_type
            ))),
        }
    }

    fn count(&self, least: i64, most: i64) -> Result<()> {
        match self.given {
            Arg::Literal(Literal::Null) if self.argument.presence == Presence::Default(Constant::Null) => Ok(()),
            Arg::Literal(Literal::Int(value)) if (least..=most).contains(value) => Ok(()),
            _ => self.refuse(&format!("a constant whole number from {least} to {most}")),
        }
    }

    /// Checks for one number or a list of numbers, from 0 to 1.
    fn share(&self) -> Result<()> {
        self.constant()?;
        let shares = match self.given {
            Arg::Literal(Literal::List(shares)) => shares.as_slice(),
            Arg::Literal(share) => std::slice::from_ref(share),
            Arg::Column(_) => &[],
        };
        for share in shares {
            let value = literal_array::to_one_row_as(share, &DataType::Float64)?;
            let value = value.as_primitive::<Float64Type>();
            if value.is_null(0) || !(0.0..=1.0).contains(&value.value(0)) {
                let Self { function, argument, data_type, .. } = *self;
                let given = &Arg::Literal(share.clone());
                return Setting { function, argument, given, data_type }.refuse("a number from 0 to 1");
            }
        }
        Ok(())
    }

    fn method(&self) -> Result<()> {
        match self.given {
            Arg::Literal(Literal::Utf8(name)) if TieMethod::find(name).is_some() => Ok(()),
            _ => self.refuse(&format!("one of '{}'", TieMethod::NAMES.join("', '"))),
        }
    }

    fn flag(&self) -> Result<()> {
        match self.given {
            Arg::Literal(Literal::Boolean(_)) => Ok(()),
            _ => self.refuse("TRUE or FALSE"),
        }
    }

    /// Checks the accepted deviation by the range of a sketch of at least 16 registers; the result is exact anyway.
    fn deviation(&self) -> Result<()> {
        let fits = !matches!(self.given, Arg::Literal(Literal::Int(_))) && self.value()? > 0.0 && self.value()? < 0.392;
        if fits {
            Ok(())
        } else {
            self.refuse("a constant above 0.0 and up to 0.39, and may be left out, as the count is exact")
        }
    }

    fn alpha(&self) -> Result<()> {
        if matches!(self.given, Arg::Literal(Literal::Interval { months: 0, days, micros }) if *days >= 0 && *micros >= 0 && days + micros.signum() as i32 > 0)
        {
            return Ok(());
        }
        let value = self.value()?;
        if value > 0.0 && value <= 1.0 {
            return Ok(());
        }
        self.refuse("a constant above 0 and up to 1, or a half-life: an interval of days or less")
    }

    /// Checks for a positive distance of the times' type.
    fn half_life(&self, times: &DataType) -> Result<()> {
        let moments = signature::is_moment(times);
        let fits = match self.given {
            Arg::Literal(value @ Literal::Interval { months: 0, .. }) if moments => {
                literal_array::number(&literal_array::natural(value)?)? > 0.0
            }
            _ => !moments && self.value()? > 0.0,
        };
        if fits {
            return Ok(());
        }
        let kind = if moments { "an interval of days or less" } else { "a number" };
        self.refuse(&format!("a constant above 0, {kind} where the times are {times}"))
    }
}

/// Whether the constants of a rank ask for a mean or a fraction.
pub(super) fn is_fractional(function: &Function, call: &Call) -> bool {
    let average =
        |method: &Arg| matches!(method, Arg::Literal(Literal::Utf8(name)) if name.eq_ignore_ascii_case("average"));
    function.index_of(Role::Method).is_some()
        && (call.args.first().is_some_and(average) || call.args.get(1) == Some(&Arg::from(true)))
}

/// Ranks that leave NULLs out have one key; dense ranks among a frame's rows are `dense_rank`.
pub(super) fn ranked_keys(function: &Function, call: &Call, spec: &WindowSpec) -> Result<()> {
    if function.index_of(Role::Method).is_none() {
        return Ok(());
    }
    let keys = if call.argument_order.is_empty() { &spec.order_by } else { &call.argument_order };
    if call.args.get(2) == Some(&Arg::from(true)) && keys.len() != 1 {
        return Err(Error::spec(format!(
            "{} gives NULL where its key is NULL, and there are {} keys; order by one, or leave the NULLs in",
            function.name,
            keys.len()
        )));
    }
    let dense =
        matches!(call.args.first(), Some(Arg::Literal(Literal::Utf8(name))) if name.eq_ignore_ascii_case("dense"));
    if dense && !call.argument_order.is_empty() {
        return Err(Error::spec(
            "dense ranks among a frame's rows are whole numbers of all rows: use dense_rank(ORDER BY ...)",
        ));
    }
    Ok(())
}

/// The constant `value` as one row of the widest type of the kind of the values before it.
pub(super) fn amount(function: &Function, name: &str, value: &Literal, types: &[DataType]) -> Result<ArrayRef> {
    let values = types.iter().enumerate().rev().find(|(index, _)| !function.is_setting(*index));
    let Some((_, values)) = values else {
        return Err(Error::spec(format!("the {name} of {} limits a column; give the column too", function.name)));
    };
    let kind = signature::exact_or_double(function.name, decoded_type(values))?;
    let number = matches!(value, Literal::Int(_) | Literal::Float(_) | Literal::Decimal { .. });
    let given = literal_array::to_one_row(value)?;
    let found = literal_array::to_one_row_as(value, &kind).ok().filter(|_| number);
    // Without rounding: the amount has as many digits as the values.
    let exact = |found: &ArrayRef| cast(found, given.data_type()).is_ok_and(|back| back.to_data() == given.to_data());
    found.filter(|found| kind.is_floating() || exact(found)).ok_or_else(|| {
        Error::spec(format!(
            "the {name} of {} is a number of the column's type {values}, not {}; give one, or cast the column",
            function.name,
            sql_text::literal_sql(value)
        ))
    })
}

/// A function that interpolates along the window order requires one numeric order key.
pub(super) fn linear_order(function: &Function, order_by: &[OrderColumn]) -> Result<()> {
    let linear = |data_type: &DataType| signature::is_number(data_type) || signature::is_moment(data_type);
    match order_by {
        _ if function.window_order != WindowOrder::Linear => Ok(()),
        [key] if linear(decoded_type(&key.data_type)) => Ok(()),
        [key] => Err(Error::spec(format!(
            "{} draws lines over the order key, and {:?} is {}; order by a number or a moment",
            function.name, key.name, key.data_type
        ))),
        keys => Err(Error::spec(format!(
            "{} draws lines over one order key, and the window has {}; order by a number or a moment",
            function.name,
            keys.len()
        ))),
    }
}

/// A half-life in time is counted along one order key of dates or times.
pub(super) fn half_life_key(function: &Function, call: &Call, order_by: &[OrderColumn]) -> Result<()> {
    let alpha = function.index_of(Role::Alpha).and_then(|index| call.args.get(index));
    match (alpha, order_by) {
        (Some(Arg::Literal(Literal::Interval { .. })), [key]) if signature::is_moment(decoded_type(&key.data_type)) => {
            Ok(())
        }
        (Some(Arg::Literal(Literal::Interval { .. })), keys) => Err(Error::spec(format!(
            "{} by a half-life in time needs one order key of dates or times, and the window has {}; order by one, or \
             give a number of rows",
            function.name,
            match keys {
                [key] => format!("{:?} of {}", key.name, key.data_type),
                keys => format!("{} keys", keys.len()),
            }
        ))),
        _ => Ok(()),
    }
}

/// Checks that a default can be cast to the value's type implicitly as in Spark: among numbers and strings, and strings
/// to other types. Timestamps and intervals are not cast to strings, as Arrow and Spark format them differently.
pub(super) fn default(default: &DataType, value: &DataType) -> Result<()> {
    let (from, to) = (decoded_type(default), decoded_type(value));
    let plain = |data_type: &DataType| data_type.is_numeric() || data_type.is_string();
    let alone = |data_type: &DataType| data_type.is_numeric() || *data_type == DataType::Boolean;
    let castable = (plain(from) && plain(to))
        || (from.is_string() && can_cast_types(default, value))
        || (to.is_string() && matches!(from, DataType::Boolean | DataType::Date32))
        || (!alone(from) && !alone(to) && from.is_temporal() == to.is_temporal() && can_cast_types(default, value));
    if default == value || from == to || from.is_null() || castable {
        return Ok(());
    }
    Err(Error::spec(format!("the default is {default}, and the value is {value}; cast one of them")))
}

/// Checks that keys of the field's type have an order.
pub(super) fn key(field: &Field, clause: &str) -> Result<()> {
    if signature::orderable(field.data_type()) {
        return Ok(());
    }
    Err(Error::spec(format!(
        "{clause} {}: values of {} have no order; use a part of it as the key, or its text",
        field.name(),
        field.data_type()
    )))
}

/// The column of this name and its index.
pub(super) fn lookup<'a>(schema: &'a Schema, name: &str) -> Result<(usize, &'a Field)> {
    let mut found = schema.fields().iter().enumerate().filter(|(_, field)| field.name() == name);
    match (found.next(), found.next()) {
        (Some((number, field)), None) => Ok((number, field)),
        (Some(_), Some(_)) => {
            Err(Error::spec(format!("the column {name:?} exists more than once; rename one of them")))
        }
        _ => {
            let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            Err(Error::spec(format!("there is no column {name:?}; {}", did_you_mean(name, "columns", &names))))
        }
    }
}

/// The error for an unknown function, with similar names.
pub(super) fn unknown_function(name: &str) -> Error {
    let names: Vec<_> = functions::FUNCTIONS
        .iter()
        .flat_map(|function| std::iter::once(&function.name).chain(function.aliases))
        .copied()
        .collect();
    Error::spec(format!("there is no window function {name:?}; {}", did_you_mean(name, "functions", &names)))
}
