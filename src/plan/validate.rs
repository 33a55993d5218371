//! What a call may say: modifiers, constants, defaults, keys and names, each refused with what to write instead.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_cast::can_cast_types;
use arrow_schema::{DataType, Field, Schema};

use crate::bounds::resolve::FramePlan;
use crate::catalog::argument::{Argument, Role};
use crate::catalog::function::{ArgumentOrder, Distinct, Frames, Function, WindowOrder};
use crate::catalog::{functions, signature};
use crate::error::{Error, Result};
use crate::model::order_column::OrderColumn;
use crate::spec::argument::Arg;
use crate::spec::call::{Call, Nulls};
use crate::spec::frame::Exclude;
use crate::spec::literal::Literal;
use crate::spec::{literal_array, sql_text};
use crate::util::suggest::did_you_mean;

/// How deep a column's types may be nested: pyarrow takes 64 from others, with a batch and a list around it.
const MAX_TYPE_DEPTH: usize = 60;

/// A column that Arrow's kernels can move.
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

/// A result that a host can take.
pub(super) fn result(kind: &DataType) -> Result<()> {
    if depth(kind) > MAX_TYPE_DEPTH + 1 {
        return Err(Error::unsupported(format!(
            "its result nests more than {} types within each other",
            MAX_TYPE_DEPTH + 1
        )));
    }
    Ok(())
}

/// How many types are nested within each other, as far as it matters.
fn depth(kind: &DataType) -> usize {
    let (mut deepest, mut left) = (0, vec![(kind, 1)]);
    while let Some((kind, depth)) = left.pop() {
        deepest = deepest.max(depth);
        if depth <= MAX_TYPE_DEPTH + 1 {
            left.extend(inner_types(kind).into_iter().map(|inner| (inner, depth + 1)));
        }
    }
    deepest
}

/// The first type within this one whose values have no width.
fn no_width(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::FixedSizeBinary(0) | DataType::FixedSizeList(_, 0) => Some(kind),
        _ => inner_types(kind).into_iter().find_map(no_width),
    }
}

/// The types that a type is made of.
fn inner_types(kind: &DataType) -> Vec<&DataType> {
    match kind {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => vec![field.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.data_type()).collect(),
        DataType::Dictionary(_, values) => vec![values],
        _ => Vec::new(),
    }
}

/// What comes with a call is what its function takes.
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

/// A function that is told where each frame begins and ends has no place for a hole in it.
pub(super) fn exclude(function: &Function, frame: &FramePlan) -> Result<()> {
    if function.frames != Frames::OnePiece || frame.frame().exclude == Exclude::NoOthers {
        return Ok(());
    }
    Err(Error::spec(format!(
        "a {} is told one begin and one end per frame, and EXCLUDE may leave up to three pieces of it; \
         write it as an aggregate, with initialize and update, or leave EXCLUDE out",
        function.name
    )))
}

/// WITHIN GROUP orders the values themselves: one key, the first argument. So does the order of different values.
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

/// Offsets and positions are whole numbers, each row's own where they are columns; other settings are constants.
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
                Role::Delimiter => setting.constant()?,
                Role::Deviation => setting.deviation()?,
                Role::Alpha => setting.alpha()?,
                Role::HalfLife => setting.half_life(signature::values(&types[index - 1]))?,
            }
        }
    }
    Ok(())
}

/// An argument that is no column of values, as it is given.
struct Setting<'a> {
    function: &'a Function,
    argument: &'a Argument,
    given: &'a Arg,
    data_type: &'a DataType,
}

impl Setting<'_> {
    /// It must be something else.
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

    /// The number it is, NaN if it is none.
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
            Arg::Literal(Literal::Int(value)) if (least..=most).contains(value) => Ok(()),
            _ => self.refuse(&format!("a constant whole number from {least} to {most}")),
        }
    }

    /// One number or more, from 0 to 1.
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

    fn flag(&self) -> Result<()> {
        match self.given {
            Arg::Literal(Literal::Boolean(_)) => Ok(()),
            _ => self.refuse("TRUE or FALSE"),
        }
    }

    /// What a sketch of at least 16 registers has; the answer is exact.
    fn deviation(&self) -> Result<()> {
        let fits = !matches!(self.given, Arg::Literal(Literal::Int(_))) && self.value()? > 0.0 && self.value()? < 0.392;
        if fits {
            Ok(())
        } else {
            self.refuse("a constant above 0.0 and up to 0.39, and may be left out, as the count is exact")
        }
    }

    fn alpha(&self) -> Result<()> {
        let value = self.value()?;
        if value > 0.0 && value <= 1.0 { Ok(()) } else { self.refuse("a constant above 0 and up to 1") }
    }

    /// A distance of the times.
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

/// A window whose order the function draws lines over has one key that is a number.
pub(super) fn linear_order(function: &Function, order_by: &[OrderColumn]) -> Result<()> {
    let linear = |data_type: &DataType| signature::is_number(data_type) || signature::is_moment(data_type);
    match order_by {
        _ if function.window_order != WindowOrder::Linear => Ok(()),
        [key] if linear(signature::values(&key.data_type)) => Ok(()),
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

/// Defaults are cast to the value's type as Spark does unasked: among numbers and text, and text to what it can hold.
/// Instants and intervals do not become text, which Arrow and Spark write differently.
pub(super) fn default(default: &DataType, value: &DataType) -> Result<()> {
    let (from, to) = (signature::values(default), signature::values(value));
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

/// Keys have an order.
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

/// The schema's column of this name.
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

/// There is no function of this name.
pub(super) fn unknown_function(name: &str) -> Error {
    let names: Vec<_> = functions::FUNCTIONS
        .iter()
        .flat_map(|function| std::iter::once(&function.name).chain(function.aliases))
        .copied()
        .collect();
    Error::spec(format!("there is no window function {name:?}; {}", did_you_mean(name, "functions", &names)))
}
