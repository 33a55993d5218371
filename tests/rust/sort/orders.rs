//! Row order, grouping, boundaries and gathering compared with a naive comparison of values, for every orderable type.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{BooleanBuffer, IntervalDayTime, IntervalMonthDayNano, NullBuffer, OffsetBuffer, i256};
use arrow_schema::{DataType, Field, Fields, IntervalUnit, SortOptions, TimeUnit};
use arrow_select::take::take;
use proptest::prelude::*;
use windrow::Cancel;
use windrow::internals::{Boundaries, SortColumn, cluster, find_boundaries, first_descent, gather, restore, sort};

/// A value in the form that the naive comparison uses.
#[derive(Debug, Clone)]
enum Value {
    Null,
    Number(i256),
    Float(f64),
    Bytes(Vec<u8>),
    Numbers(Vec<i64>),
    Several(Vec<Value>),
}

/// Spark's order, with nulls smallest.
fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Number(left), Value::Number(right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => {
            left.partial_cmp(right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
        }
        (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
        (Value::Numbers(left), Value::Numbers(right)) => left.cmp(right),
        (Value::Several(left), Value::Several(right)) => {
            let unequal = left.iter().zip(right).map(|(left, right)| compare(left, right)).find(|order| order.is_ne());
            unequal.unwrap_or_else(|| left.len().cmp(&right.len()))
        }
        _ => panic!("values of two types"),
    }
}

fn compare_directed(left: &Value, right: &Value, descending: bool, nulls_first: bool) -> Ordering {
    let null = |value: &Value| matches!(value, Value::Null);
    match (null(left), null(right)) {
        (true, true) => Ordering::Equal,
        (true, false) if nulls_first => Ordering::Less,
        (true, false) => Ordering::Greater,
        (false, true) if nulls_first => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ if descending => compare(left, right).reverse(),
        _ => compare(left, right),
    }
}

fn values(column: &ArrayRef) -> Vec<Value> {
    (0..column.len()).map(|row| value(column, row)).collect()
}

fn value(column: &ArrayRef, row: usize) -> Value {
    if column.logical_nulls().is_some_and(|nulls| nulls.is_null(row)) {
        return Value::Null;
    }
    macro_rules! number {
        ($type:ty) => {
            Value::Number(i256::from_i128(column.as_primitive::<$type>().value(row).into()))
        };
    }
    let several = |values: ArrayRef| Value::Several(self::values(&values));
    match column.data_type() {
        DataType::Boolean => Value::Number(i256::from_i128(column.as_boolean().value(row).into())),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Decimal32(..) => number!(Decimal32Type),
        DataType::Decimal64(..) => number!(Decimal64Type),
        DataType::Decimal128(..) => number!(Decimal128Type),
        DataType::Decimal256(..) => Value::Number(column.as_primitive::<Decimal256Type>().value(row)),
        DataType::Date32 => number!(Date32Type),
        DataType::Date64 => number!(Date64Type),
        DataType::Time32(TimeUnit::Second) => number!(Time32SecondType),
        DataType::Time32(_) => number!(Time32MillisecondType),
        DataType::Time64(TimeUnit::Microsecond) => number!(Time64MicrosecondType),
        DataType::Time64(_) => number!(Time64NanosecondType),
        DataType::Timestamp(TimeUnit::Second, _) => number!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => number!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => number!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => number!(TimestampNanosecondType),
        DataType::Duration(TimeUnit::Second) => number!(DurationSecondType),
        DataType::Duration(TimeUnit::Millisecond) => number!(DurationMillisecondType),
        DataType::Duration(TimeUnit::Microsecond) => number!(DurationMicrosecondType),
        DataType::Duration(TimeUnit::Nanosecond) => number!(DurationNanosecondType),
        DataType::Interval(IntervalUnit::YearMonth) => number!(IntervalYearMonthType),
        DataType::Interval(IntervalUnit::DayTime) => {
            let value = column.as_primitive::<IntervalDayTimeType>().value(row);
            Value::Numbers(vec![value.days.into(), value.milliseconds.into()])
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let value = column.as_primitive::<IntervalMonthDayNanoType>().value(row);
            Value::Numbers(vec![value.months.into(), value.days.into(), value.nanoseconds])
        }
        DataType::Float16 => Value::Float(column.as_primitive::<Float16Type>().value(row).to_f64()),
        DataType::Float32 => Value::Float(column.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => Value::Float(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Value::Bytes(column.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => Value::Bytes(column.as_string::<i64>().value(row).into()),
        DataType::Utf8View => Value::Bytes(column.as_string_view().value(row).into()),
        DataType::Binary => Value::Bytes(column.as_binary::<i32>().value(row).into()),
        DataType::LargeBinary => Value::Bytes(column.as_binary::<i64>().value(row).into()),
        DataType::BinaryView => Value::Bytes(column.as_binary_view().value(row).into()),
        DataType::FixedSizeBinary(_) => Value::Bytes(column.as_fixed_size_binary().value(row).into()),
        DataType::List(_) => several(column.as_list::<i32>().value(row)),
        DataType::LargeList(_) => several(column.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => several(column.as_fixed_size_list().value(row)),
        DataType::Struct(_) => {
            Value::Several(column.as_struct().columns().iter().map(|column| value(column, row)).collect())
        }
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            value(dictionary.values(), dictionary.normalized_keys()[row])
        }
        DataType::RunEndEncoded(..) => {
            let runs = column.as_run::<Int32Type>();
            value(runs.values(), runs.get_physical_index(row))
        }
        other => panic!("no values of {other}"),
    }
}

/// Pseudorandom numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Mostly few small numbers, sometimes any number, sometimes the extremes.
    fn number(&mut self, spread: Spread) -> i128 {
        let wide = || i128::MIN;
        match (spread, self.below(8)) {
            (Spread::Few, _) | (Spread::Mixed, 0..5) => self.below(6) as i128 - 2,
            (Spread::Mixed, 5) => [wide(), i128::MAX, i64::MIN.into(), i64::MAX.into(), -1, 0][self.below(6)],
            (Spread::Mixed, _) => (i128::from(self.next()) << 64) | i128::from(self.next()),
            (Spread::Dense, _) => self.below(1 << 20).try_into().unwrap(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Spread {
    /// Six distinct values.
    Few,
    /// Few distinct values, and the extremes of the type.
    Mixed,
    /// A million distinct values.
    Dense,
}

fn types() -> Vec<DataType> {
    use DataType::*;
    let element = |data_type| Arc::new(Field::new("element", data_type, true));
    let pair = |left, right| Struct(Fields::from(vec![Field::new("a", left, true), Field::new("b", right, true)]));
    let mut types = vec![
        Null,
        Boolean,
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Decimal32(9, 2),
        Decimal64(18, 2),
        Decimal128(38, 2),
        Decimal256(76, 2),
        Date32,
        Date64,
        Time32(TimeUnit::Second),
        Time32(TimeUnit::Millisecond),
        Time64(TimeUnit::Microsecond),
        Time64(TimeUnit::Nanosecond),
        Interval(IntervalUnit::YearMonth),
        Interval(IntervalUnit::DayTime),
        Interval(IntervalUnit::MonthDayNano),
        Utf8,
        LargeUtf8,
        Utf8View,
        Binary,
        LargeBinary,
        BinaryView,
        FixedSizeBinary(3),
        FixedSizeBinary(30),
        Dictionary(Box::new(Int8), Box::new(Utf8)),
        Dictionary(Box::new(UInt32), Box::new(Float64)),
        RunEndEncoded(Arc::new(Field::new("run_ends", Int32, false)), Arc::new(Field::new("values", Float32, true))),
        List(element(Int32)),
        List(element(Float64)),
        LargeList(element(Utf8)),
        List(element(List(element(Float32)))),
        FixedSizeList(element(Float64), 2),
        FixedSizeList(element(Int16), 3),
        List(element(Dictionary(Box::new(Int16), Box::new(Float32)))),
        pair(Float64, Utf8),
        pair(Int8, pair(Boolean, Float32)),
        pair(List(element(Float64)), FixedSizeList(element(Utf8), 2)),
        List(element(pair(Float16, Int64))),
    ];
    for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
        types.push(Timestamp(unit, None));
        types.push(Timestamp(unit, Some("Europe/Berlin".into())));
        types.push(Duration(unit));
    }
    types
}

/// A column of `rows` random values.
fn column(data_type: &DataType, rows: usize, spread: Spread, null_percent: usize, random: &mut Random) -> ArrayRef {
    let nulls = |random: &mut Random| -> Option<NullBuffer> {
        (null_percent > 0).then(|| (0..rows).map(|_| random.below(100) >= null_percent).collect())
    };
    macro_rules! number {
        ($type:ty) => {{
            let values = (0..rows).map(|_| random.number(spread) as <$type as ArrowPrimitiveType>::Native);
            let values: Vec<_> = values.collect();
            Arc::new(PrimitiveArray::<$type>::new(values.into(), nulls(random)).with_data_type(data_type.clone()))
        }};
    }
    macro_rules! float {
        ($type:ty, $native:expr) => {{
            let values: Vec<_> = (0..rows)
                .map(|_| match (spread, random.below(10)) {
                    (Spread::Mixed, 0) => f64::NAN,
                    (Spread::Mixed, 1) => -f64::NAN,
                    (Spread::Mixed, 2) => f64::from_bits(0x7FF8_0000_0000_0000 | random.next() >> 13),
                    (Spread::Mixed, 3) => f64::INFINITY,
                    (Spread::Mixed, 4) => f64::NEG_INFINITY,
                    (Spread::Few | Spread::Mixed, 5) => -0.0,
                    (Spread::Dense, _) => random.next() as f64 / 1e18 - 9.0,
                    _ => random.below(4) as f64 / 2.0 - 0.5,
                })
                .map($native)
                .collect();
            Arc::new(PrimitiveArray::<$type>::new(values.into(), nulls(random)))
        }};
    }
    let text = |random: &mut Random| -> String {
        match spread {
            Spread::Few => ["", "a", "a\0", "ab", "é", "b"][random.below(6)].into(),
            Spread::Mixed => {
                let alphabet = ["a", "b", "\0", "é", "\u{FFFF}", "😀", "long common beginning of a text, "];
                (0..random.below(5)).map(|_| alphabet[random.below(alphabet.len())]).collect()
            }
            Spread::Dense => format!("device_{}", random.below(5000)),
        }
    };
    match data_type {
        DataType::Null => Arc::new(NullArray::new(rows)),
        DataType::Boolean => {
            let values: BooleanBuffer = (0..rows).map(|_| random.below(2) == 1).collect();
            Arc::new(BooleanArray::new(values, nulls(random)))
        }
        DataType::Float16 => float!(Float16Type, <Float16Type as ArrowPrimitiveType>::Native::from_f64),
        DataType::Float32 => float!(Float32Type, |x: f64| x as f32),
        DataType::Float64 => float!(Float64Type, |x: f64| x),
        DataType::Decimal256(..) => {
            let values = (0..rows).map(|_| {
                let number = i256::from_i128(random.number(spread));
                if matches!(spread, Spread::Mixed) { number << (random.below(3) * 40) as u8 } else { number }
            });
            let values: Vec<_> = values.collect();
            let column = PrimitiveArray::<Decimal256Type>::new(values.into(), nulls(random));
            Arc::new(column.with_data_type(data_type.clone()))
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let values = (0..rows)
                .map(|_| IntervalDayTime::new(random.number(spread) as i32, random.number(spread) as i32))
                .collect::<Vec<_>>();
            Arc::new(IntervalDayTimeArray::new(values.into(), nulls(random)))
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let mut number = || random.number(spread);
            let values = (0..rows)
                .map(|_| IntervalMonthDayNano::new(number() as i32, number() as i32, number() as i64))
                .collect::<Vec<_>>();
            Arc::new(IntervalMonthDayNanoArray::new(values.into(), nulls(random)))
        }
        DataType::FixedSizeBinary(size) => {
            let values: Vec<u8> = (0..rows * *size as usize).map(|_| b"ab"[random.below(2)]).collect();
            Arc::new(FixedSizeBinaryArray::new(*size, values.into(), nulls(random)))
        }
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => {
            let texts = (0..rows).map(|_| (random.below(100) >= null_percent).then(|| text(random)));
            let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
            arrow_cast::cast(&texts, data_type).unwrap()
        }
        DataType::Dictionary(keys, of) => {
            let size = 1 + random.below(20);
            let dictionary = column(of, size, spread, null_percent, random);
            let indices = (0..rows).map(|_| random.below(size) as u32).collect::<Vec<_>>();
            let indices: ArrayRef = Arc::new(UInt32Array::new(indices.into(), nulls(random)));
            macro_rules! dictionary {
                ($type:ty) => {{
                    let keys = arrow_cast::cast(&indices, keys).unwrap();
                    Arc::new(DictionaryArray::<$type>::new(keys.as_primitive::<$type>().clone(), dictionary))
                }};
            }
            match **keys {
                DataType::Int8 => dictionary!(Int8Type),
                DataType::Int16 => dictionary!(Int16Type),
                _ => dictionary!(UInt32Type),
            }
        }
        DataType::RunEndEncoded(_, values) => {
            let runs = rows.div_ceil(3);
            let values = column(values.data_type(), runs, spread, null_percent, random);
            let ends: Int32Array = (1..=runs).map(|run| (run * 3).min(rows) as i32).collect();
            Arc::new(RunArray::<Int32Type>::try_new(&ends, values.as_ref()).unwrap())
        }
        DataType::List(field) => {
            let (offsets, values) = lists(field, rows, spread, null_percent, random);
            Arc::new(ListArray::new(field.clone(), OffsetBuffer::from_lengths(offsets), values, nulls(random)))
        }
        DataType::LargeList(field) => {
            let (offsets, values) = lists(field, rows, spread, null_percent, random);
            Arc::new(LargeListArray::new(field.clone(), OffsetBuffer::from_lengths(offsets), values, nulls(random)))
        }
        DataType::FixedSizeList(field, size) => {
            let values = column(field.data_type(), rows * *size as usize, spread, null_percent, random);
            Arc::new(FixedSizeListArray::new(field.clone(), *size, values, nulls(random)))
        }
        DataType::Struct(fields) => {
            let children =
                fields.iter().map(|field| column(field.data_type(), rows, spread, null_percent, random)).collect();
            Arc::new(StructArray::new(fields.clone(), children, nulls(random)))
        }
        _ => arrow_array::downcast_integer! {
            data_type => (number),
            DataType::Decimal32(..) => number!(Decimal32Type),
            DataType::Decimal64(..) => number!(Decimal64Type),
            DataType::Decimal128(..) => number!(Decimal128Type),
            DataType::Date32 => number!(Date32Type),
            DataType::Date64 => number!(Date64Type),
            DataType::Time32(TimeUnit::Second) => number!(Time32SecondType),
            DataType::Time32(_) => number!(Time32MillisecondType),
            DataType::Time64(TimeUnit::Microsecond) => number!(Time64MicrosecondType),
            DataType::Time64(_) => number!(Time64NanosecondType),
            DataType::Timestamp(TimeUnit::Second, _) => number!(TimestampSecondType),
            DataType::Timestamp(TimeUnit::Millisecond, _) => number!(TimestampMillisecondType),
            DataType::Timestamp(TimeUnit::Microsecond, _) => number!(TimestampMicrosecondType),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => number!(TimestampNanosecondType),
            DataType::Duration(TimeUnit::Second) => number!(DurationSecondType),
            DataType::Duration(TimeUnit::Millisecond) => number!(DurationMillisecondType),
            DataType::Duration(TimeUnit::Microsecond) => number!(DurationMicrosecondType),
            DataType::Duration(TimeUnit::Nanosecond) => number!(DurationNanosecondType),
            DataType::Interval(IntervalUnit::YearMonth) => number!(IntervalYearMonthType),
            other => panic!("no columns of {other}"),
        },
    }
}

fn lists(
    field: &Field,
    rows: usize,
    spread: Spread,
    null_percent: usize,
    random: &mut Random,
) -> (Vec<usize>, ArrayRef) {
    let lengths: Vec<usize> = (0..rows).map(|_| random.below(4)).collect();
    let values = column(field.data_type(), lengths.iter().sum(), spread, null_percent, random);
    (lengths, values)
}

/// The order of a stable sort by the naive comparison.
fn expected(columns: &[SortColumn]) -> Vec<u32> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    let values: Vec<_> = columns.iter().map(|column| values(&column.values)).collect();
    let mut order: Vec<u32> = (0..rows as u32).collect();
    order.sort_by(|&left, &right| compare_rows(columns, &values, left as usize, right as usize));
    order
}

fn compare_rows(columns: &[SortColumn], values: &[Vec<Value>], left: usize, right: usize) -> Ordering {
    let mut orders = columns.iter().zip(values).map(|(column, values)| {
        compare_directed(&values[left], &values[right], column.options.descending, column.options.nulls_first)
    });
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn check_sort(columns: &[SortColumn], threads: usize) {
    let order = sort(columns, threads, &Cancel::default()).unwrap();
    let expected = expected(columns);
    let in_order = expected.iter().enumerate().all(|(position, &row)| position == row as usize);
    assert_eq!(order.is_none(), in_order, "sorted rows are found, and only they");
    if let Some(order) = order {
        assert!(order == expected, "{:?}", columns.iter().map(|column| column.values.data_type()).collect::<Vec<_>>());
    }
}

fn check_edges(columns: &[SortColumn]) {
    let rows = columns[0].values.len();
    let arrays: Vec<_> = columns.iter().map(|column| column.values.clone()).collect();
    let values: Vec<_> = arrays.iter().map(values).collect();
    let found = find_boundaries(&arrays, rows, None).unwrap();
    let naive = |row: usize| row == 0 || compare_rows(columns, &values, row - 1, row).is_ne();
    assert_eq!(found, BooleanBuffer::collect_bool(rows, naive));

    let cut = rows / 2;
    let (before, after): (Vec<_>, Vec<_>) =
        arrays.iter().map(|array| (array.slice(0, cut), array.slice(cut, rows - cut))).unzip();
    let found = find_boundaries(&after, rows - cut, Some(&before)).unwrap();
    assert_eq!(found, BooleanBuffer::collect_bool(rows - cut, |row| naive(cut + row)));

    let partitions = Boundaries::new(BooleanBuffer::collect_bool(rows, |row| row % 7 == 0));
    let found = first_descent(columns, &partitions).unwrap();
    let naive = (1..rows).find(|&row| row % 7 != 0 && compare_rows(columns, &values, row - 1, row).is_gt());
    assert_eq!(found, naive);
}

fn check_group(columns: &[SortColumn]) {
    let arrays: Vec<_> = columns.iter().map(|column| column.values.clone()).collect();
    let values: Vec<_> = arrays.iter().map(values).collect();
    let rows = arrays[0].len();
    let order = cluster(&arrays, 1, &Cancel::default()).unwrap().unwrap_or_else(|| (0..rows as u32).collect());
    let mut seen = vec![false; rows];
    let mut finished: Vec<usize> = Vec::new();
    for (position, &row) in order.iter().enumerate() {
        let row = row as usize;
        assert!(!std::mem::replace(&mut seen[row], true), "each row once");
        let Some(before) = position.checked_sub(1).map(|before| order[before] as usize) else {
            continue;
        };
        if compare_rows(columns, &values, before, row).is_eq() {
            assert!(before < row, "input order within a group");
        } else {
            finished.push(before);
            assert!(finished.iter().all(|&other| compare_rows(columns, &values, other, row).is_ne()), "a group once");
        }
    }
    assert_eq!(order.len(), rows);
}

fn check_gather(columns: &[SortColumn], random: &mut Random) {
    let arrays: Vec<_> = columns.iter().map(|column| column.values.clone()).collect();
    let mut order: Vec<u32> = (0..arrays[0].len() as u32).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place + 1));
    }
    for threads in [1, 2] {
        let gathered = gather(&arrays, &order, threads, &Cancel::default()).unwrap();
        for (array, gathered) in arrays.iter().zip(&gathered) {
            let expected = take(array.as_ref(), &UInt32Array::from(order.clone()), None).unwrap();
            assert_eq!(gathered.to_data(), expected.to_data());
            let restored = restore(gathered, &order).unwrap();
            assert_eq!(restored.data_type(), array.data_type());
            let same = values(&restored).iter().zip(&values(array)).all(|(left, right)| compare(left, right).is_eq());
            assert!(same, "restore undoes gather for {}", array.data_type());
        }
    }
}

fn sort_column(data_type: &DataType, rows: usize, seed: u64) -> SortColumn {
    let random = &mut Random(seed);
    let spread = [Spread::Few, Spread::Mixed, Spread::Dense][random.below(3)];
    let null_percent = [0, 20, 20, 90, 100][random.below(5)];
    let before = random.below(70);
    let values = column(data_type, before + rows + random.below(9), spread, null_percent, random).slice(before, rows);
    SortColumn { values, options: SortOptions::new(random.below(2) == 1, random.below(2) == 1) }
}

fn sort_columns() -> impl Strategy<Value = (Vec<SortColumn>, u64)> {
    let rows = prop_oneof![Just(0_usize), Just(1), 2..70_usize, 60..400_usize, 400..3000_usize];
    (rows, prop::collection::vec((0..types().len(), any::<u64>()), 1..5), any::<u64>()).prop_map(
        |(rows, columns, seed)| {
            let columns = columns.into_iter().map(|(number, seed)| sort_column(&types()[number], rows, seed));
            (columns.collect(), seed)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::fuzz::cases(400), ..ProptestConfig::default() })]

    #[test]
    fn rows_sort_by_several_columns((columns, _) in sort_columns()) {
        check_sort(&columns, 1);
        check_sort(&columns, 2);
    }

    #[test]
    fn boundaries_are_where_values_differ((columns, _) in sort_columns()) {
        check_edges(&columns);
    }

    #[test]
    fn clustering_makes_equal_rows_adjacent((mut columns, _) in sort_columns()) {
        for column in &mut columns {
            column.values = column.values.slice(0, column.values.len().min(500));
        }
        check_group(&columns);
    }

    #[test]
    fn restore_undoes_gather((columns, seed) in sort_columns()) {
        check_gather(&columns, &mut Random(seed));
    }
}

#[test]
fn every_type_sorts_in_both_directions_with_nulls_at_both_ends() {
    for (number, data_type) in types().iter().enumerate() {
        for spread in [Spread::Few, Spread::Mixed, Spread::Dense] {
            for (null_percent, rows) in [(0, 300), (30, 300), (30, 40), (100, 100)] {
                let random = &mut Random(number as u64 + 1);
                let values = column(data_type, rows + 5, spread, null_percent, random).slice(3, rows);
                for (descending, nulls_first) in [(false, true), (false, false), (true, true), (true, false)] {
                    let columns =
                        [SortColumn { values: values.clone(), options: SortOptions::new(descending, nulls_first) }];
                    check_sort(&columns, 1);
                    check_edges(&columns);
                }
                check_group(&[SortColumn::ascending(values.clone())]);
            }
        }
    }
}

/// An order known by construction, for too many rows to compare naively.
fn check_large(rows: usize, threads: usize, values: impl Fn(usize, &mut Random) -> i64, shift: u32) {
    let random = &mut Random(7);
    let keys: Vec<i64> = (0..rows).map(|row| values(row, random)).collect();
    let minor: Vec<i64> = (0..rows).map(|_| (random.next() >> shift) as i64).collect();
    let mut expected: Vec<u32> = (0..rows as u32).collect();
    expected.sort_by_key(|&row| (keys[row as usize], std::cmp::Reverse(minor[row as usize])));
    let columns = [
        SortColumn::ascending(Arc::new(Int64Array::from(keys))),
        SortColumn { values: Arc::new(Int64Array::from(minor)), options: SortOptions::new(true, false) },
    ];
    let order = sort(&columns, threads, &Cancel::default()).unwrap().unwrap();
    assert!(order == expected);
}

#[test]
fn many_rows_sort_on_one_thread_and_on_several() {
    for threads in [1, 2, 3] {
        check_large(300_000, threads, |_, random| random.below(100) as i64, 44);
        check_large(300_000, threads, |_, random| random.next() as i64, 0);
        check_large(300_000, threads, |_, _| 5, 0);
        // Skewed: nearly all rows in one bucket.
        check_large(
            200_000,
            threads,
            |row, _| {
                if row % 1000 == 0 { i64::MAX } else { row as i64 % 3 }
            },
            50,
        );
        // Key and row number need more than 64 bits together, so the row number's top bits do not fit the word.
        check_large(200_000, threads, |_, random| random.below(1 << 26) as i64, 40);
    }
}

#[test]
fn long_texts_with_a_common_prefix_sort() {
    let random = &mut Random(3);
    let beginning = "x".repeat(100);
    let texts: StringArray = (0..5000)
        .map(|_| {
            let (places, end) = (random.below(40), random.below(50));
            Some(format!("{beginning}{}{end}", "ab".repeat(places)))
        })
        .collect();
    let numbers: Int32Array = (0..5000).map(|_| Some(random.below(3) as i32)).collect();
    let texts = SortColumn { values: Arc::new(texts), options: SortOptions::new(true, false) };
    check_sort(&[texts.clone(), SortColumn::ascending(Arc::new(numbers.clone()))], 2);
    check_sort(&[SortColumn::ascending(Arc::new(numbers)), texts], 1);
    // Each string is a prefix of all longer ones: equal prefixes within equal prefixes.
    let nested: StringArray = (0..3000).map(|row| Some("a".repeat((row * 7) % 1500))).collect();
    check_sort(&[SortColumn::ascending(Arc::new(nested))], 1);
}

/// A word holds the prefix of one string only: keys packed after it are dropped when a second string is added.
#[test]
fn long_texts_between_short_keys_sort() {
    let random = &mut Random(11);
    let rows = 4000;
    let long = |random: &mut Random| -> ArrayRef {
        let texts = (0..rows).map(|_| {
            let filling = ["0123456789", "abcdefghij"][random.below(2)].repeat(3);
            Some(format!("{}{filling}{}", random.below(3), random.below(3)))
        });
        Arc::new(texts.collect::<StringArray>())
    };
    let (first, second) = (long(random), long(random));
    let short: ArrayRef = Arc::new((0..rows).map(|_| Some(random.below(2) == 1)).collect::<BooleanArray>());
    for descending in [false, true] {
        let key =
            |values: &ArrayRef| SortColumn { values: values.clone(), options: SortOptions::new(descending, false) };
        check_sort(&[key(&short), key(&first), key(&short), key(&second)], 1);
        check_sort(&[key(&first), key(&short), key(&second), key(&short)], 2);
        check_sort(&[key(&first), key(&short), key(&short)], 1);
    }
}

#[test]
fn rows_sorted_by_the_last_keys_sort_by_the_first() {
    let random = &mut Random(5);
    let device: Int32Array = (0..10_000).map(|_| Some(random.below(50) as i32)).collect();
    let time: Int64Array = (0..10_000).map(|row| Some(row / 3)).collect();
    check_sort(&[SortColumn::ascending(Arc::new(device)), SortColumn::ascending(Arc::new(time))], 1);
}

#[test]
fn clustered_rows_are_not_moved() {
    let keys: ArrayRef = Arc::new(Int32Array::from(vec![5, 5, 5, 1, 1, 1, 1, 3, 3, 3]));
    assert_eq!(cluster(&[keys], 1, &Cancel::default()).unwrap(), None);
    let keys: ArrayRef = Arc::new(Int32Array::from(vec![5, 5, 5, 5, 1, 1, 1, 1, 1, 5]));
    assert!(cluster(&[keys], 1, &Cancel::default()).unwrap().is_some());
}

#[test]
fn no_columns_count_as_sorted() {
    assert_eq!(sort(&[], 1, &Cancel::default()).unwrap(), None);
    assert_eq!(cluster(&[], 1, &Cancel::default()).unwrap(), None);
    assert_eq!(find_boundaries(&[], 3, None).unwrap(), BooleanBuffer::from(vec![true, false, false]));
    assert_eq!(find_boundaries(&[], 3, Some(&[])).unwrap(), BooleanBuffer::from(vec![false, false, false]));
}

#[test]
fn maps_are_refused_and_cancellation_stops_the_sort() {
    let mut builder = builder::MapBuilder::new(None, builder::StringBuilder::new(), builder::Int32Builder::new());
    for _ in 0..3 {
        builder.append(true).unwrap();
    }
    let maps: ArrayRef = Arc::new(builder.finish());
    let error = sort(&[SortColumn::ascending(maps)], 1, &Cancel::default()).unwrap_err();
    assert!(error.to_string().contains("cannot be partitioned or ordered by"), "{error}");
    let cancel = Cancel::default();
    cancel.cancel();
    let column = SortColumn::ascending(Arc::new(Int32Array::from(vec![2, 1])));
    assert_eq!(sort(&[column], 1, &cancel).unwrap_err().kind(), windrow::ErrorKind::Cancelled);
}
