//! The golden tables of `tests/cases`, against which Python and Spark are tested as well; here with every strategy.
//! `tests/cases/README.md` describes the format.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Int64Array, ListArray, RecordBatch, StringArray};
use arrow_buffer::{OffsetBuffer, i256};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SortOptions, TimeUnit};
use serde_json::Value;
use windrow::{
    Arg, Bound, Call, ErrorKind, Exclude, Frame, Literal, Nulls, OpenBounds, Options, OrderKey, Plan, Strategy, Units,
    WindowSpec,
};

fn cases() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

fn data_type(text: &str) -> DataType {
    if let Some(element) = text.strip_prefix("list(").and_then(|element| element.strip_suffix(')')) {
        let (element, nullable) = element.strip_suffix('?').map_or((element, false), |element| (element, true));
        return DataType::List(Arc::new(Field::new("element", data_type(element), nullable)));
    }
    let (name, arguments) = text.trim_end_matches(')').split_once('(').unwrap_or((text, ""));
    let mut arguments = arguments.split(',');
    let first = arguments.next().unwrap();
    let second = arguments.next();
    match name {
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float32" => DataType::Float32,
        "float64" => DataType::Float64,
        "bool" => DataType::Boolean,
        "string" => DataType::Utf8,
        "binary" => DataType::Binary,
        "date32" => DataType::Date32,
        "decimal" => DataType::Decimal128(first.parse().unwrap(), second.unwrap().parse().unwrap()),
        "duration" => DataType::Duration(TimeUnit::Microsecond),
        "timestamp" => DataType::Timestamp(TimeUnit::Microsecond, second.map(Into::into)),
        other => panic!("the type {other} of a case"),
    }
}

/// The JSON values as a column; every type but durations is parsed from its string form.
fn column(values: &Value, data_type: &DataType) -> ArrayRef {
    let values = values.as_array().unwrap();
    if let DataType::List(field) = data_type {
        let lists = || values.iter().filter_map(Value::as_array);
        let items: Vec<_> = lists().flatten().cloned().collect();
        let items = column(&items.into(), field.data_type());
        assert_eq!(lists().count(), values.len(), "lists are never null");
        return Arc::new(ListArray::new(field.clone(), OffsetBuffer::from_lengths(lists().map(Vec::len)), items, None));
    }
    if matches!(data_type, DataType::Duration(_)) {
        let numbers: Int64Array = values.iter().map(Value::as_i64).collect();
        return cast(&numbers, data_type).unwrap();
    }
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let texts: StringArray = values.iter().map(text).collect();
    let column = cast(&texts, data_type).unwrap();
    assert_eq!(column.null_count(), texts.null_count(), "{values:?} as {data_type}");
    column
}

fn arg(value: &Value) -> Arg {
    match value.get("column") {
        Some(name) => Arg::column(name.as_str().unwrap()),
        None => Arg::Literal(literal(&value["literal"])),
    }
}

fn literal(value: &Value) -> Literal {
    match value {
        Value::Null => Literal::Null,
        Value::Bool(value) => Literal::Boolean(*value),
        Value::String(text) => Literal::Utf8(text.clone()),
        Value::Number(number) => number.as_i64().map_or_else(|| Literal::Float(number.as_f64().unwrap()), Literal::Int),
        Value::Object(parts) => match parts.get("decimal") {
            Some(text) => {
                let text = text.as_str().unwrap();
                let scale = text.split_once('.').map_or(0, |(_, digits)| digits.len());
                Literal::Decimal {
                    unscaled: i256::from_string(&text.replace('.', "")).unwrap(),
                    scale: i8::try_from(scale).unwrap(),
                }
            }
            None => {
                let part = |name: &str| parts.get(name).map_or(0, |part| part.as_i64().unwrap());
                Literal::Interval {
                    months: i32::try_from(part("months")).unwrap(),
                    days: i32::try_from(part("days")).unwrap(),
                    micros: part("microseconds"),
                }
            }
        },
        Value::Array(_) => panic!("a list is no literal: {value}"),
    }
}

fn bound(value: &Value) -> Bound {
    match value[0].as_str().unwrap() {
        "unbounded_preceding" => Bound::UnboundedPreceding,
        "preceding" => Bound::Preceding(arg(&value[1])),
        "current_row" => Bound::CurrentRow,
        "following" => Bound::Following(arg(&value[1])),
        "unbounded_following" => Bound::UnboundedFollowing,
        other => panic!("the bound {other} of a case"),
    }
}

fn frame(value: &Value) -> Frame {
    let units = match value["units"].as_str().unwrap() {
        "rows" => Units::Rows,
        "range" => Units::Range,
        "groups" => Units::Groups,
        other => panic!("the units {other} of a case"),
    };
    let exclude = match value["exclude"].as_str().unwrap_or("no_others") {
        "no_others" => Exclude::NoOthers,
        "current_row" => Exclude::CurrentRow,
        "group" => Exclude::Group,
        "ties" => Exclude::Ties,
        other => panic!("the exclusion {other} of a case"),
    };
    Frame {
        units,
        start: bound(&value["start"]),
        end: bound(&value["end"]),
        exclude,
        open: OpenBounds::default(),
        elapsed: false,
    }
}

fn spec(value: &Value) -> WindowSpec {
    let keys = |clause: &str| {
        let keys = value[clause].as_array().into_iter().flatten().map(|key| OrderKey {
            column: key["column"].as_str().unwrap().into(),
            options: SortOptions::new(key["descending"].as_bool().unwrap(), key["nulls_first"].as_bool().unwrap()),
        });
        keys.collect::<Vec<_>>()
    };
    let mut call = Call::new(value["function"].as_str().unwrap(), value["args"].as_array().unwrap().iter().map(arg));
    call.frame = Some(&value["frame"]).filter(|frame| !frame.is_null()).map(frame);
    call.filter = value["filter"].as_str().map(Into::into);
    call.distinct = value["distinct"].as_bool().unwrap_or(false);
    if let Some(ignore) = value["ignore_nulls"].as_bool() {
        call.nulls = if ignore { Nulls::Ignore } else { Nulls::Respect };
    }
    call.argument_order = keys("argument_order");
    call.min_rows = value["min_rows"].as_u64();
    let partition = value["partition_by"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    WindowSpec::new().partition_by(partition).order_by(keys("order_by")).call(call)
}

fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Spec => "SpecError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::Overflow => "ArithmeticOverflowError",
        ErrorKind::Data => "DataError",
        ErrorKind::Order => "OrderError",
        _ => "InternalError",
    }
}

/// Floats agree to 1 part in 10^14 and in the sign of zero, everything else exactly.
fn same(expected: &ArrayRef, found: &ArrayRef, row: usize) -> bool {
    if expected.is_null(row) || found.is_null(row) {
        return expected.is_null(row) == found.is_null(row);
    }
    if !expected.data_type().is_floating() {
        return expected.slice(row, 1).to_data() == found.slice(row, 1).to_data();
    }
    let value = |column: &ArrayRef| cast(column, &DataType::Float64).unwrap().as_primitive::<Float64Type>().value(row);
    let (expected, found) = (value(expected), value(found));
    (expected.is_nan() && found.is_nan())
        || (expected == found && expected.is_sign_negative() == found.is_sign_negative())
        || (expected - found).abs() <= 1e-14 * expected.abs()
}

#[test]
fn golden_tables() {
    let mut calls = 0;
    for path in cases() {
        let case: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for described in case["columns"].as_array().unwrap() {
            let data_type = data_type(described["type"].as_str().unwrap());
            columns.push(column(&described["values"], &data_type));
            let name = described["name"].as_str().unwrap();
            fields.push(Field::new(name, data_type, described["nullable"].as_bool().unwrap()));
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        for described in case["calls"].as_array().unwrap().iter().filter(|call| call.get("call").is_some()) {
            calls += 1;
            let what = format!("{}: {}", path.file_stem().unwrap().display(), described["sql"]);
            let spec = spec(&described["call"]);
            for strategy in Strategy::ALL.into_iter().map(Some).chain([None]) {
                let options = Options::default()
                    .threads(1)
                    .ansi(case["options"]["ansi"].as_bool().unwrap_or(true))
                    .timezone(case["options"]["timezone"].as_str().unwrap_or("UTC"))
                    .strategy(strategy);
                let answer = Plan::new(batch.schema(), std::slice::from_ref(&spec), options)
                    .and_then(|plan| plan.compute(&batch).map(|answer| (plan.output_schema().clone(), answer)));
                let (schema, answer) = match answer {
                    Err(error) if strategy.is_some() && error.message().contains("strategy option") => continue,
                    Err(error) => {
                        assert_eq!(Some(class(error.kind())), described["error"].as_str(), "{what}: {error}");
                        continue;
                    }
                    Ok(answer) => answer,
                };
                assert!(described.get("error").is_none(), "{what} by {strategy:?}: no error");
                let expected_type = data_type(described["type"].as_str().unwrap());
                assert_eq!(schema.field(0).data_type(), &expected_type, "{what}");
                assert_eq!(Some(schema.field(0).is_nullable()), described["nullable"].as_bool(), "{what}");
                let expected = column(&described["expected"], &expected_type);
                assert_eq!(expected.len(), answer.num_rows(), "{what}");
                for row in 0..expected.len() {
                    assert!(
                        same(&expected, answer.column(0), row),
                        "{what} by {strategy:?}, row {row}: expected {:?}, found {:?}",
                        expected.slice(row, 1),
                        answer.column(0).slice(row, 1)
                    );
                }
            }
        }
    }
    assert!(calls > 100, "only {calls} calls were found");
}
