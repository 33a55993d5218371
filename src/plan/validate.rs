//! What a call may say: modifiers, constants, defaults, keys and names, each refused with what to write instead.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_cast::can_cast_types;
use arrow_schema::{DataType, Field, Schema};

use crate::bounds::resolve::FramePlan;
use crate::catalog::function_id::Kernel;
use crate::catalog::functions::{self, ArgumentOrder, Distinct, Function};
use crate::catalog::signature;
use crate::error::{Error, Result};
use crate::model::order_column::OrderColumn;
use crate::spec::argument::Arg;
use crate::spec::call::{Call, Nulls};
use crate::spec::frame::Exclude;
use crate::spec::literal::Literal;
use crate::spec::{literal_array, sql_text};
use crate::util::suggest::near;

/// How deep a column's types may be nested: pyarrow takes 64 from others, with a batch and a list around it.
const DEEPEST: usize = 60;

/// A column that Arrow's kernels can move.
pub(super) fn column(field: &Field) -> Result<()> {
    let name = field.name();
    if depth(field.data_type()) > DEEPEST {
        return Err(Error::unsupported(format!(
            "column {name:?} nests more than {DEEPEST} types within each other; leave it out, or read a part of it"
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
    if depth(kind) > DEEPEST + 1 {
        return Err(Error::unsupported(format!("its result nests more than {} types within each other", DEEPEST + 1)));
    }
    Ok(())
}

/// How many types are nested within each other, as far as it matters.
fn depth(kind: &DataType) -> usize {
    let (mut deepest, mut left) = (0, vec![(kind, 1)]);
    while let Some((kind, depth)) = left.pop() {
        deepest = deepest.max(depth);
        if depth <= DEEPEST + 1 {
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
    if call.distinct && function.distinct() == Distinct::Refused {
        return refuse("DISTINCT");
    }
    if call.distinct && call.args.is_empty() {
        return Err(Error::spec(format!(
            "{} with DISTINCT needs the arguments that are to differ; name them",
            function.name
        )));
    }
    if call.distinct && function.kernel == Kernel::Percentile && call.args.len() > 2 {
        return Err(Error::spec(
            "percentile with DISTINCT counts each value once, and a frequency counts it more often; leave one of them out",
        ));
    }
    if !call.argument_order.is_empty() && function.argument_order() == ArgumentOrder::Refused {
        return refuse("an ORDER BY inside its parentheses");
    }
    if call.filter.is_some() && !function.takes_filter() {
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
    if function.kernel != Kernel::UserFrames || frame.frame().exclude == Exclude::NoOthers {
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
    let values = function.argument_order() == ArgumentOrder::Values;
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

/// Offsets and positions are whole numbers, each row's own where they are columns; other parameters are constants.
pub(super) fn constants(function: &Function, call: &Call, types: &[DataType]) -> Result<()> {
    match (function.kernel, call.args.get(1)) {
        (Kernel::Mode, Some(arg)) if !matches!(arg, Arg::Literal(Literal::Boolean(_))) => {
            return Err(Error::spec("the second argument of mode says whether ties are broken: true or false"));
        }
        (Kernel::Listagg, Some(Arg::Column(name))) => {
            return Err(Error::spec(format!("the delimiter of listagg is a constant, not the column {name:?}")));
        }
        (Kernel::ApproxCountDistinct, Some(arg)) if !deviation(arg) => {
            return Err(Error::spec(format!(
                "the second argument of {} is the relative standard deviation it may have, a fraction above 0.0 and \
                 up to 0.39; leave it out, as the count is exact",
                function.name
            )));
        }
        (Kernel::EwmMean | Kernel::EwmMeanBy, _) => return weights(function, call, types),
        (Kernel::HistogramNumeric, _) => return bins(function, call),
        _ => {}
    }
    let (index, what, least) = match function.kernel {
        Kernel::Lag | Kernel::Lead => (1, "offset", i64::MIN),
        Kernel::Nth => (1, "position", 1),
        Kernel::Ntile => (0, "number of buckets", 1),
        Kernel::Percentile | Kernel::PercentileDisc | Kernel::PercentileApprox => {
            return quantile(function, call, types);
        }
        Kernel::MinBy | Kernel::MaxBy => return within(function, call, 2, "number of values", MOST_VALUES),
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
            sql_text::show(value)
        ))),
        Some(Arg::Column(_)) if function.kernel != Kernel::Ntile && types[index].is_integer() => Ok(()),
        Some(Arg::Column(name)) if function.kernel != Kernel::Ntile => Err(Error::spec(format!(
            "the {what} of {} is a whole number, and the column {name:?} is {}; cast it",
            function.name, types[index]
        ))),
        Some(Arg::Column(name)) => {
            Err(Error::spec(format!("the {what} of {} is a constant, not the column {name:?}", function.name)))
        }
    }
}

/// Whether the constant is a relative standard deviation that a sketch of at least 16 registers has.
fn deviation(arg: &Arg) -> bool {
    let value = match arg {
        Arg::Literal(Literal::Float(value)) => Some(*value),
        Arg::Literal(literal @ Literal::Decimal { .. }) => sql_text::show(literal).parse().ok(),
        _ => None,
    };
    value.is_some_and(|value| value > 0.0 && value < 0.392)
}

/// `min_by` and `max_by` list so many values at most, as in Spark.
const MOST_VALUES: i64 = 100_000;

/// The shares of a quantile are 0 to 1; the frequencies of `percentile` are whole numbers.
fn quantile(function: &Function, call: &Call, types: &[DataType]) -> Result<()> {
    let shares = match call.args.get(1) {
        Some(Arg::Literal(Literal::List(shares))) => shares.as_slice(),
        Some(Arg::Literal(share)) => std::slice::from_ref(share),
        Some(Arg::Column(name)) => {
            return Err(Error::spec(format!("the share of {} is a constant, not the column {name:?}", function.name)));
        }
        None => &[],
    };
    for share in shares {
        let value = literal_array::one_row_as(share, &DataType::Float64)?;
        let value = value.as_primitive::<Float64Type>();
        if value.is_null(0) || !(0.0..=1.0).contains(&value.value(0)) {
            return Err(Error::spec(format!(
                "the share of {} is a number from 0 to 1, not {}",
                function.name,
                sql_text::show(share)
            )));
        }
    }
    match (function.kernel, types.get(2)) {
        (Kernel::PercentileApprox, _) => within(function, call, 2, "accuracy", i64::from(i32::MAX)),
        (_, Some(frequency)) if !frequency.is_integer() => {
            Err(Error::spec(format!("the frequency of {} is a whole number, not {frequency}; cast it", function.name)))
        }
        _ => Ok(()),
    }
}

/// The argument of this index, if it is there, is a constant from 1 to `most`.
fn within(function: &Function, call: &Call, index: usize, what: &str, most: i64) -> Result<()> {
    let refuse = |given: String| {
        Err(Error::spec(format!("the {what} of {} is a whole number from 1 to {most}, not {given}", function.name)))
    };
    match call.args.get(index) {
        None => Ok(()),
        Some(Arg::Literal(Literal::Int(value))) if (1..=most).contains(value) => Ok(()),
        Some(Arg::Literal(value)) => refuse(sql_text::show(value)),
        Some(Arg::Column(name)) => refuse(format!("the column {name:?}")),
    }
}

/// How fast the weights of `ewm_mean` and `ewm_mean_by` fall.
fn weights(function: &Function, call: &Call, types: &[DataType]) -> Result<()> {
    let refuse = |index: usize, wanted: String| {
        let found = match &call.args[index] {
            Arg::Column(name) => format!("the column {name:?}"),
            Arg::Literal(value) => sql_text::show(value),
        };
        Err(Error::spec(format!("{} is {wanted}, not {found}", function.name)))
    };
    let number = |index: usize| {
        matches!(call.args[index], Arg::Literal(Literal::Int(_) | Literal::Float(_) | Literal::Decimal { .. }))
    };
    let value = |index: usize| match &call.args[index] {
        Arg::Literal(value) => literal_array::number(&literal_array::natural(value)?),
        Arg::Column(_) => Ok(f64::NAN),
    };
    if function.kernel == Kernel::EwmMean {
        let fits = number(1) && value(1)? > 0.0 && value(1)? <= 1.0;
        if !fits {
            return refuse(1, "given the constant alpha, above 0 and up to 1".into());
        }
        return match call.args.get(2) {
            None | Some(Arg::Literal(Literal::Boolean(_))) => Ok(()),
            Some(_) => refuse(2, "told by TRUE or FALSE whether to divide by the sum of the weights".into()),
        };
    }
    let times = signature::values(&types[1]);
    let duration = matches!(call.args.get(2), Some(Arg::Literal(Literal::Interval { months: 0, .. })));
    let fits = if signature::is_moment(times) { duration } else { number(2) } && value(2)? > 0.0;
    if !fits {
        let kind = if signature::is_moment(times) { "an interval of days or less" } else { "a number" };
        return refuse(2, format!("given a constant half-life above 0, which is {kind} where the times are {times}"));
    }
    Ok(())
}

/// How many bins.
fn bins(function: &Function, call: &Call) -> Result<()> {
    let found = match call.args.get(1) {
        Some(Arg::Literal(Literal::Int(2..=MOST_BINS))) => return Ok(()),
        Some(Arg::Literal(value)) => sql_text::show(value),
        Some(Arg::Column(name)) => format!("the column {name:?}"),
        None => "none".into(),
    };
    Err(Error::spec(format!("{} is given a constant number of bins from 2 to {MOST_BINS}, not {found}", function.name)))
}

/// Spark's limit.
const MOST_BINS: i64 = i32::MAX as i64;

/// `fill` draws its lines over one key.
pub(super) fn line(function: &Function, order_by: &[OrderColumn]) -> Result<()> {
    let linear = |data_type: &DataType| signature::is_number(data_type) || signature::is_moment(data_type);
    match order_by {
        _ if function.kernel != Kernel::Fill => Ok(()),
        [key] if linear(signature::values(&key.data_type)) => Ok(()),
        [key] => Err(Error::spec(format!(
            "fill draws lines over the order key, and {:?} is {}; order by a number or a moment",
            key.name, key.data_type
        ))),
        keys => Err(Error::spec(format!(
            "fill draws lines over one order key, and the window has {}; order by a number or a moment",
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
            Err(Error::spec(format!("there is no column {name:?}; {}", near(name, "columns", &names))))
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
    Error::spec(format!("there is no window function {name:?}; {}", near(name, "functions", &names)))
}
