//! Converts plain dicts from Python to window specifications.

use arrow_buffer::i256;
use arrow_schema::SortOptions;
use pyo3::PyTypeInfo;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDate, PyDateTime, PyDelta, PyDict, PyFloat, PyInt, PyList, PyString, PyTime, PyTuple,
};
use windrow::{
    Arg, Bound as FrameBound, Call, Exclude, Frame, Literal, Nulls, OpenBounds, Options, OrderKey, Units, WindowSpec,
};

use crate::error::{raise, to_python};
use crate::udf::user_function;

/// The value of a required key.
fn get<'py>(dict: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    dict.get_item(key)?.ok_or_else(|| PyTypeError::new_err(format!("the call has no {key:?}")))
}

/// The value of a key; `None` if it is missing or None.
fn get_some<'py>(dict: &Bound<'py, PyDict>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(dict.get_item(key)?.filter(|value| !value.is_none()))
}

/// A window specification with one call.
pub(crate) fn window_spec(dict: &Bound<'_, PyDict>) -> PyResult<WindowSpec> {
    let args = get(dict, "args")?.try_iter()?.map(|item| arg(&item?)).collect::<PyResult<Vec<_>>>()?;
    let mut call = Call::new(get(dict, "function")?.extract::<String>()?, args);
    call.user = get_some(dict, "user")?.map(|function| user_function(&function)).transpose()?;
    call.name = get(dict, "name")?.extract()?;
    call.display = get_some(dict, "display")?.map(|text| text.extract()).transpose()?.unwrap_or_default();
    call.frame = get_some(dict, "frame")?.map(|dict| frame(dict.cast::<PyDict>()?)).transpose()?;
    call.filter = get_some(dict, "filter")?.map(|column| column.extract()).transpose()?;
    call.distinct = get_some(dict, "distinct")?.is_some_and(|flag| flag.is_truthy().unwrap_or(false));
    call.nulls = match get_some(dict, "ignore_nulls")?.map(|flag| flag.is_truthy()).transpose()? {
        None => Nulls::Default,
        Some(true) => Nulls::Ignore,
        Some(false) => Nulls::Respect,
    };
    call.min_rows = get_some(dict, "min_rows")?.map(|rows| rows.extract()).transpose()?;
    if let Some(keys) = get_some(dict, "argument_order")? {
        call.argument_order = order_by(&keys)?;
    }
    Ok(WindowSpec::new()
        .partition_by(get(dict, "partition_by")?.extract::<Vec<String>>()?)
        .order_by(order_by(&get(dict, "order_by")?)?)
        .call(call))
}

fn order_by(keys: &Bound<'_, PyAny>) -> PyResult<Vec<OrderKey>> {
    let key = |item: PyResult<Bound<'_, PyAny>>| {
        let item = item?;
        let dict = item.cast::<PyDict>()?;
        Ok(OrderKey {
            column: get(dict, "column")?.extract()?,
            options: SortOptions::new(get(dict, "descending")?.extract()?, get(dict, "nulls_first")?.extract()?),
        })
    };
    keys.try_iter()?.map(key).collect()
}

fn frame(dict: &Bound<'_, PyDict>) -> PyResult<Frame> {
    let units = match get(dict, "units")?.extract::<String>()?.as_str() {
        "rows" => Units::Rows,
        "range" => Units::Range,
        "groups" => Units::Groups,
        other => return Err(PyTypeError::new_err(format!("a frame has rows, range or groups, not {other:?}"))),
    };
    let exclude = match get_some(dict, "exclude")?.map(|text| text.extract::<String>()).transpose()?.as_deref() {
        None | Some("no_others") => Exclude::NoOthers,
        Some("current_row") => Exclude::CurrentRow,
        Some("group") => Exclude::Group,
        Some("ties") => Exclude::Ties,
        Some(other) => return Err(PyTypeError::new_err(format!("unknown exclude {other:?}"))),
    };
    let (start, end): (bool, bool) = get(dict, "open")?.extract()?;
    Ok(Frame {
        units,
        start: bound(&get(dict, "start")?)?,
        end: bound(&get(dict, "end")?)?,
        exclude,
        open: OpenBounds { start, end },
        elapsed: get(dict, "elapsed")?.extract()?,
    })
}

fn bound(item: &Bound<'_, PyAny>) -> PyResult<FrameBound> {
    let item = item.cast::<PyTuple>()?;
    let offset = || arg(&item.get_item(1)?);
    Ok(match item.get_item(0)?.extract::<String>()?.as_str() {
        "unbounded_preceding" => FrameBound::UnboundedPreceding,
        "preceding" => FrameBound::Preceding(offset()?),
        "current_row" => FrameBound::CurrentRow,
        "following" => FrameBound::Following(offset()?),
        "unbounded_following" => FrameBound::UnboundedFollowing,
        other => return Err(PyTypeError::new_err(format!("unknown bound {other:?}"))),
    })
}

fn arg(item: &Bound<'_, PyAny>) -> PyResult<Arg> {
    let dict = item.cast::<PyDict>()?;
    match get_some(dict, "column")? {
        Some(name) => Ok(Arg::Column(name.extract()?)),
        None => Ok(Arg::Literal(literal(&get(dict, "literal")?)?)),
    }
}

/// Converts a Python scalar. The order of the checks matters: bool is a subclass of int, datetime of date.
fn literal(value: &Bound<'_, PyAny>) -> PyResult<Literal> {
    let py = value.py();
    if value.is_none() {
        return Ok(Literal::Null);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Literal::Boolean(value.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return value.extract::<i64>().map(Literal::Int).or_else(|_| decimal(&value.str()?.to_string(), 0, value));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Literal::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Literal::Utf8(value.extract()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| literal(&item?));
        return Ok(Literal::List(items.collect::<PyResult<_>>()?));
    }
    if let Ok(value) = value.cast::<PyBytes>() {
        return Ok(Literal::Binary(value.as_bytes().to_vec()));
    }
    let part = |name: &str| value.getattr(name)?.extract::<i64>();
    if value.is_instance_of::<PyDateTime>() {
        let zoned = !value.call_method0("utcoffset")?.is_none();
        let datetime = py.import("datetime")?;
        let zone = if zoned { Some(datetime.getattr("timezone")?.getattr("utc")?) } else { None };
        let epoch = PyDateTime::type_object(py).call1((1970, 1, 1, 0, 0, 0, 0, zone))?;
        let micros = micros_of(&value.sub(epoch)?)?;
        return Ok(Literal::Timestamp { micros, zoned });
    }
    if value.is_instance_of::<PyDate>() {
        let days = value.call_method0("toordinal")?.extract::<i32>()? - ORDINAL_1970;
        return Ok(Literal::Date(days));
    }
    if value.is_instance_of::<PyTime>() {
        let seconds = (part("hour")? * 60 + part("minute")?) * 60 + part("second")?;
        return Ok(Literal::Time(seconds * 1_000_000 + part("microsecond")?));
    }
    if value.is_instance_of::<PyDelta>() {
        let days = i32::try_from(part("days")?).map_err(|_| out_of_range(value))?;
        let micros = part("seconds")? * 1_000_000 + part("microseconds")?;
        return Ok(Literal::Interval { months: 0, days, micros });
    }
    if value.hasattr("months")? {
        let narrow = |name: &str| i32::try_from(part(name)?).map_err(|_| out_of_range(value));
        return Ok(Literal::Interval {
            months: narrow("months")?,
            days: narrow("days")?,
            micros: part("microseconds")?,
        });
    }
    if value.hasattr("as_tuple")? {
        return decimal_of(value);
    }
    Err(PyTypeError::new_err(format!("{} is no value windrow knows: {}", value.get_type().name()?, value.repr()?)))
}

/// `datetime.date(1970, 1, 1).toordinal()`
const ORDINAL_1970: i32 = 719_163;

fn micros_of(delta: &Bound<'_, PyAny>) -> PyResult<i64> {
    let part = |name: &str| delta.getattr(name)?.extract::<i64>();
    Ok(part("days")? * 86_400_000_000 + part("seconds")? * 1_000_000 + part("microseconds")?)
}

/// Converts a `decimal.Decimal`.
fn decimal_of(value: &Bound<'_, PyAny>) -> PyResult<Literal> {
    let parts = value.call_method0("as_tuple")?;
    let (sign, digits, exponent) = parts.extract::<(u8, Vec<u8>, Bound<'_, PyAny>)>()?;
    // The exponent of NaN and the infinities is a letter.
    let exponent = exponent.extract::<i64>().map_err(|_| out_of_range(value))?;
    let mut text: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    if exponent > 0 {
        text.extend(std::iter::repeat_n('0', usize::try_from(exponent.min(100)).unwrap_or(100)));
    }
    if sign == 1 {
        text.insert(0, '-');
    }
    decimal(&text, (-exponent).max(0), value)
}

fn decimal(digits: &str, scale: i64, value: &Bound<'_, PyAny>) -> PyResult<Literal> {
    match (i256::from_string(digits), i8::try_from(scale)) {
        (Some(unscaled), Ok(scale)) => Ok(Literal::Decimal { unscaled, scale }),
        _ => Err(out_of_range(value)),
    }
}

fn out_of_range(value: &Bound<'_, PyAny>) -> PyErr {
    let text = value.repr().map(|text| text.to_string()).unwrap_or_default();
    raise(value.py(), "SpecError", &format!("{text} is out of range"))
}

/// The options in effect.
pub(crate) fn options(dict: &Bound<'_, PyDict>) -> PyResult<Options> {
    let mut options = Options::default();
    if let Some(threads) = get_some(dict, "threads")? {
        options.threads = threads.extract()?;
    }
    if let Some(ansi) = get_some(dict, "ansi")? {
        options.ansi = ansi.extract()?;
    }
    if let Some(timezone) = get_some(dict, "timezone")? {
        options.timezone = timezone.extract()?;
    }
    if let Some(list_views) = get_some(dict, "list_views")? {
        options.list_views = list_views.extract()?;
    }
    if let Some(strategy) = get_some(dict, "strategy")? {
        let parsed = strategy.extract::<String>()?.parse();
        options.strategy = Some(parsed.map_err(|error| to_python(dict.py(), &error))?);
    }
    Ok(options)
}
