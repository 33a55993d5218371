//! Shared by the property tests: random columns of every type, frames, and comparison.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, DictionaryArray,
    DurationMicrosecondArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    IntervalYearMonthArray, LargeStringArray, RecordBatch, StringArray, StringViewArray, StructArray,
    Time64MicrosecondArray, TimestampMicrosecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field};
use proptest::prelude::*;
use windrow::{Bound, Exclude, Frame, OpenBounds, Units};

/// One row, from which all columns are generated: a partition, an order key, and a value; small numbers, so that ties
/// are common.
#[derive(Debug, Clone)]
pub struct Row {
    pub partition: Option<i32>,
    pub key: Option<i32>,
    pub value: Option<i32>,
    pub flag: Option<bool>,
}

pub fn row() -> impl Strategy<Value = Row> {
    let small = || prop_oneof![1 => Just(None), 6 => (-4..5_i32).prop_map(Some)];
    (prop_oneof![1 => Just(None), 4 => (0..3_i32).prop_map(Some)], small(), small(), any::<Option<bool>>())
        .prop_map(|(partition, key, value, flag)| Row { partition, key, value, flag })
}

/// The small number as a float: some are NaN, infinite, or -0.0.
fn float(value: i32) -> f64 {
    match value {
        4 => f64::NAN,
        3 => f64::INFINITY,
        -3 => f64::NEG_INFINITY,
        0 => -0.0,
        1 => 0.0,
        2 => 1e16,
        -2 => -1e16,
        other => f64::from(other) / 3.0,
    }
}

/// A finite float.
fn finite(value: i32) -> f64 {
    f64::from(value) * 0.7
}

/// The columns p, k (int), kf (float), kd (date), flag, off, and one value column per type.
pub fn batch(rows: &[Row]) -> RecordBatch {
    let values = || rows.iter().map(|row| row.value);
    let text = |value: Option<i32>| value.map(|value| ["1", "0", "10", "-2", " 3 "][value.unsigned_abs() as usize % 5]);
    let texts: Vec<Option<&str>> = values().map(text).collect();
    let int = |value: i32| i64::from(value);
    let numbers: Vec<Option<i64>> = values().map(|value| value.map(int)).collect();
    let mut lists = ListBuilder::new(Int32Builder::new());
    for value in values() {
        match value {
            None => lists.append(false),
            Some(value) => {
                (0..value.rem_euclid(3)).for_each(|item| lists.values().append_value(item * value));
                lists.append(true);
            }
        }
    }
    let dictionary: DictionaryArray<Int32Type> = texts.iter().copied().collect();
    let ints: Int32Array = values().collect();
    let structs = StructArray::from(vec![
        (Arc::new(Field::new("x", DataType::Int32, true)), Arc::new(ints.clone()) as ArrayRef),
        (
            Arc::new(Field::new("y", DataType::Float64, true)),
            Arc::new(values().map(|value| value.map(float)).collect::<Float64Array>()),
        ),
    ]);
    let unsigned = || values().map(|value| value.map(i32::unsigned_abs));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("p", Arc::new(rows.iter().map(|row| row.partition).collect::<Int32Array>())),
        ("k", Arc::new(rows.iter().map(|row| row.key).collect::<Int32Array>())),
        ("kf", Arc::new(rows.iter().map(|row| row.key.map(float)).collect::<Float64Array>())),
        ("kd", Arc::new(rows.iter().map(|row| row.key.map(|key| key * 20)).collect::<Date32Array>())),
        ("flag", Arc::new(rows.iter().map(|row| row.flag).collect::<BooleanArray>())),
        // Offsets, some of them negative, that make frames jump.
        ("off", Arc::new(values().map(|value| (value.unwrap_or(7) * 3).rem_euclid(7) - 2).collect::<Int32Array>())),
        ("i8", Arc::new(values().map(|value| value.map(|value| value as i8)).collect::<Int8Array>())),
        ("i16", Arc::new(values().map(|value| value.map(|value| value as i16)).collect::<Int16Array>())),
        ("i32", Arc::new(ints)),
        ("i64", Arc::new(Int64Array::from(numbers.clone()))),
        ("u8", Arc::new(unsigned().map(|value| value.map(|value| value as u8)).collect::<UInt8Array>())),
        ("u16", Arc::new(unsigned().map(|value| value.map(|value| value as u16)).collect::<UInt16Array>())),
        ("u32", Arc::new(unsigned().collect::<UInt32Array>())),
        ("u64", Arc::new(unsigned().map(|value| value.map(u64::from)).collect::<UInt64Array>())),
        ("f32", Arc::new(values().map(|value| value.map(|value| float(value) as f32)).collect::<Float32Array>())),
        ("f64", Arc::new(values().map(|value| value.map(float)).collect::<Float64Array>())),
        ("finite", Arc::new(values().map(|value| value.map(finite)).collect::<Float64Array>())),
        (
            "dec128",
            Arc::new(
                values()
                    .map(|value| value.map(|value| i128::from(value) * 12_345))
                    .collect::<Decimal128Array>()
                    .with_precision_and_scale(20, 3)
                    .unwrap(),
            ),
        ),
        (
            "dec256",
            Arc::new(
                values()
                    .map(|value| value.map(|value| i256::from_i128(i128::from(value) * 77)))
                    .collect::<Decimal256Array>()
                    .with_precision_and_scale(50, 2)
                    .unwrap(),
            ),
        ),
        ("bool", Arc::new(values().map(|value| value.map(|value| value > 0)).collect::<BooleanArray>())),
        ("utf8", Arc::new(StringArray::from(texts.clone()))),
        ("large", Arc::new(LargeStringArray::from(texts.clone()))),
        ("view", Arc::new(StringViewArray::from(texts.clone()))),
        ("binary", Arc::new(texts.iter().map(|text| text.map(str::as_bytes)).collect::<BinaryArray>())),
        ("dictionary", Arc::new(dictionary)),
        ("date", Arc::new(values().collect::<Date32Array>())),
        ("timestamp", Arc::new(TimestampMicrosecondArray::from(numbers.clone()).with_timezone("Europe/Berlin"))),
        ("time", Arc::new(unsigned().map(|value| value.map(i64::from)).collect::<Time64MicrosecondArray>())),
        ("duration", Arc::new(DurationMicrosecondArray::from(numbers))),
        ("months", Arc::new(values().collect::<IntervalYearMonthArray>())),
        ("struct", Arc::new(structs)),
        ("list", Arc::new(lists.finish())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

/// The value columns of [`batch`].
pub const VALUES: &[&str] = &[
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f32",
    "f64",
    "finite",
    "dec128",
    "dec256",
    "bool",
    "utf8",
    "large",
    "view",
    "binary",
    "dictionary",
    "date",
    "timestamp",
    "time",
    "duration",
    "months",
    "struct",
    "list",
];

pub fn exclude() -> impl Strategy<Value = Exclude> {
    prop_oneof![
        3 => Just(Exclude::NoOthers),
        1 => Just(Exclude::CurrentRow),
        1 => Just(Exclude::Group),
        1 => Just(Exclude::Ties),
    ]
}

/// A frame of any shape, with small and rarely huge offsets; those that SQL rejects are left out.
pub fn frame(units: impl Strategy<Value = Units>) -> impl Strategy<Value = Frame> {
    let offset = || prop_oneof![12 => -3..4_i64, 1 => Just(i64::MAX), 1 => Just(-i64::MAX)];
    let start = prop_oneof![
        2 => Just(Bound::UnboundedPreceding),
        1 => Just(Bound::CurrentRow),
        3 => offset().prop_map(Bound::preceding),
        1 => offset().prop_map(Bound::following),
    ];
    let end = prop_oneof![
        2 => Just(Bound::UnboundedFollowing),
        1 => Just(Bound::CurrentRow),
        1 => offset().prop_map(Bound::preceding),
        3 => offset().prop_map(Bound::following),
    ];
    (units, start, end, exclude()).prop_map(|(units, start, end, exclude)| Frame {
        units,
        start,
        end,
        exclude,
        open: OpenBounds::default(),
        elapsed: false,
    })
}

pub fn units() -> impl Strategy<Value = Units> {
    prop_oneof![Just(Units::Rows), Just(Units::Range), Just(Units::Groups)]
}

/// Whether two columns are equal: floats nearly, or within `slack`, everything else exactly.
pub fn check(expected: &ArrayRef, found: &ArrayRef, slack: f64) -> Result<(), String> {
    let close = |expected, found| close(expected, found, slack);
    if expected.data_type() != found.data_type() {
        return Err(format!("{} is not {}", found.data_type(), expected.data_type()));
    }
    if expected.len() != found.len() {
        return Err(format!("{} rows are not {}", found.len(), expected.len()));
    }
    let equal = |row: usize| match expected.data_type() {
        _ if expected.is_null(row) || found.is_null(row) => expected.is_null(row) == found.is_null(row),
        DataType::Float64 => {
            close(expected.as_primitive::<Float64Type>().value(row), found.as_primitive::<Float64Type>().value(row))
        }
        DataType::Float32 => close(
            f64::from(expected.as_primitive::<Float32Type>().value(row)),
            f64::from(found.as_primitive::<Float32Type>().value(row)),
        ),
        _ => expected.slice(row, 1).to_data() == found.slice(row, 1).to_data(),
    };
    match (0..expected.len()).find(|&row| !equal(row)) {
        None => Ok(()),
        Some(row) => Err(format!("row {row}: expected {:?}, found {:?}", expected.slice(row, 1), found.slice(row, 1))),
    }
}

fn close(expected: f64, found: f64, slack: f64) -> bool {
    expected == found
        || (expected.is_nan() && found.is_nan())
        || (expected - found).abs() <= (1e-9 * expected.abs().max(1e-9)).max(slack)
}
