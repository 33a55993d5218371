//! The laws of [`Accumulator`] and [`ResultReader`], tested for every family over every native type.
//!
//! Exact families must give identical states; floats the same value except for rounding, because the split of a run
//! determines how its sum is rounded.
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Decimal256Type, Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, Decimal256Array, DurationMillisecondArray,
    Float64Array, Int32Array, Int64Array, IntervalYearMonthArray, StringArray, StructArray, UInt64Array,
};
use arrow_buffer::i256;
use arrow_cast::cast;
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use windrow::Cancel;
use windrow::internals::Threads;
use windrow::internals::{
    Accumulated, Accumulator, Aggregate, And, ArgMinMax, BinList, BitwiseResult, BoolAggregate, Count, DecimalAverage,
    DecimalSum, DoubleResult, EwmMean, ExactResult, Extremum, FloatAverage, FloatSum, FourMoments, IntegerSum,
    IntervalAverage, MinMax, MomentAccumulator, OnOverflow, Or, PairAccumulator, PrimitiveKeys, Product, Regression,
    ResultReader, Retractable, RowKeys, RowMask, Selective, SkewnessKurtosis, SumBounds, TieBreak, TimeClock, TotalOrd,
    Variance, Xor, bounded_sum, decimal_accumulator, float_accumulator, integer_accumulator,
};

/// The length of the longest column, which needs several words of a mask.
const ROWS: usize = 150;

/// Rows before the column, so that all loops run with an offset.
const BEFORE: usize = 3;

/// Where a run is cut into three.
type Cuts = (usize, usize);

/// Whether two results are equal.
type Same<'a> = &'a dyn Fn(&ArrayRef, &ArrayRef) -> bool;

fn exact(left: &ArrayRef, right: &ArrayRef) -> bool {
    left.to_data() == right.to_data()
}

/// Doubles within `slack` and a few units in the last place.
fn near(slack: f64) -> impl Fn(&ArrayRef, &ArrayRef) -> bool {
    move |left, right| {
        let (left, right) = (left.as_primitive::<Float64Type>(), right.as_primitive::<Float64Type>());
        left.iter().zip(right).all(|pair| match pair {
            (Some(a), Some(b)) => a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= slack + 1e-15 * a.abs(),
            (a, b) => a == b,
        })
    }
}

/// The result of a state, or its error's kind: a frame may overflow.
fn answer<A: Aggregate>(aggregate: &A, state: &A::State) -> Result<ArrayRef, String> {
    let reader = aggregate.reader();
    let mut out = reader.builder(1);
    reader.evaluate(state, &mut out).map_err(|error| error.to_string())?;
    reader.finish(out).map_err(|error| error.to_string())
}

fn agree<A: Aggregate>(aggregate: &A, left: &A::State, right: &A::State, same: Same<'_>, law: &str) -> TestCaseResult {
    match (answer(aggregate, left), answer(aggregate, right)) {
        (Ok(a), Ok(b)) => prop_assert!(same(&a, &b), "{law}: {a:?} is not {b:?}"),
        (a, b) => prop_assert_eq!(a.err(), b.err(), "{}", law),
    }
    Ok(())
}

/// Tests the laws that hold for all aggregates on `aggregate`, over the first `rows` rows.
fn laws<A: Aggregate>(aggregate: &A, rows: usize, cuts: Cuts, same: Same<'_>) -> TestCaseResult {
    let (accumulator, reader) = (aggregate.accumulator(), aggregate.reader());
    let (first, second) = (cuts.0.min(cuts.1).min(rows), cuts.0.max(cuts.1).min(rows));
    let state = |rows: std::ops::Range<usize>| {
        let mut state = accumulator.init();
        accumulator.update(&mut state, rows).unwrap();
        state
    };
    let merged = |left: &A::State, right: &A::State| {
        let mut left = left.clone();
        accumulator.merge(&mut left, right).unwrap();
        left
    };
    let all = state(0..rows);
    let (x, y, z) = (state(0..first), state(first..second), state(second..rows));

    let mut split = x.clone();
    accumulator.update(&mut split, first..second).unwrap();
    accumulator.update(&mut split, second..rows).unwrap();
    agree(aggregate, &all, &split, same, "update over a..c is update over a..b, then b..c")?;
    let mut stepped = accumulator.init();
    (0..rows).for_each(|row| accumulator.update(&mut stepped, row..row + 1).unwrap());
    agree(aggregate, &all, &stepped, same, "update over a run is update over its rows")?;
    // States that continue, and states that start anew before some rows.
    let patterns: [fn(usize) -> bool; 2] = [|row| row % 3 > 0, |_| true];
    let (mut appended, mut prepended) = (y.clone(), y.clone());
    for kept in patterns {
        let bits = |row| if kept(row) { u64::MAX } else { 0 };
        (appended, prepended) = (y.clone(), y.clone());
        let (mut accumulated, mut after) = (y.clone(), vec![x.clone(); rows - second]);
        accumulator.append_scan(&mut accumulated, second..rows, (second..rows).map(bits), &mut after).unwrap();
        for (row, after) in (second..rows).zip(&after) {
            appended = if kept(row) { appended } else { accumulator.init() };
            accumulator.append(&mut appended, row).unwrap();
            agree(aggregate, &appended, after, same, "accumulate writes the states that append makes")?;
        }
        agree(aggregate, &appended, &accumulated, same, "accumulate is append over its rows")?;
        let (mut preceded, mut before) = (y.clone(), vec![z.clone(); first]);
        accumulator.prepend_scan(&mut preceded, 0..first, (0..first).rev().map(bits), &mut before).unwrap();
        for (row, before) in (0..first).zip(&before).rev() {
            prepended = if kept(row) { prepended } else { accumulator.init() };
            accumulator.prepend(&mut prepended, row).unwrap();
            agree(aggregate, &prepended, before, same, "prepend_all writes the states that prepend makes")?;
        }
        agree(aggregate, &prepended, &preceded, same, "prepend_all is prepend over its rows")?;
    }
    agree(aggregate, &state(first..rows), &appended, same, "append is update over one row")?;
    agree(aggregate, &state(0..second), &prepended, same, "prepend is merge with one row on the left")?;
    if let Ok(one) = answer(aggregate, &x) {
        let mut out = reader.builder(2);
        reader.repeat(&x, 2, &mut out).unwrap();
        let repeated = reader.finish(out).unwrap();
        prop_assert!(
            exact(&one, &repeated.slice(0, 1)) && exact(&one, &repeated.slice(1, 1)),
            "repeat is evaluate twice"
        );
        let mut out = reader.builder(3);
        let states = [&x, &accumulator.init(), &x].map(|state| Ok(state.clone()));
        reader.evaluate_block(states.into_iter(), &mut out).unwrap();
        let all = reader.finish(out).unwrap();
        let nothing = answer(aggregate, &accumulator.init()).unwrap();
        for (at, one) in [&one, &nothing, &one].into_iter().enumerate() {
            prop_assert!(exact(one, &all.slice(at, 1)), "evaluate_all is evaluate of each");
        }
    }

    let left = merged(&merged(&x, &y), &z);
    let right = merged(&x, &merged(&y, &z));
    agree(aggregate, &all, &left, same, "merge of runs is the run")?;
    for (left, right) in [(&x, &y), (&y, &x), (&x, &accumulator.init()), (&accumulator.init(), &x)] {
        let read = accumulator.merged(left, right).unwrap();
        agree(aggregate, &merged(left, right), &read, same, "merged reads as merge does")?;
    }
    agree(aggregate, &left, &right, same, "merge is associative")?;
    for state in [&all, &x, &y] {
        agree(aggregate, state, &merged(&accumulator.init(), state), &exact, "init is neutral on the left")?;
        agree(aggregate, state, &merged(state, &accumulator.init()), &exact, "init is neutral on the right")?;
        agree(aggregate, state, state, &exact, "evaluate leaves the state as it was")?;

        let saved = accumulator.save(state).unwrap();
        prop_assert_eq!(saved.num_rows(), 1);
        let loaded = accumulator.load(&saved).unwrap();
        agree(aggregate, state, &loaded, &exact, "load gives back what save took")?;
        agree(aggregate, &merged(state, &z), &merged(&loaded, &z), &exact, "a loaded state merges like the saved one")?;
        let again = accumulator.save(&loaded).unwrap();
        // Compared as data: a NaN does not equal itself.
        prop_assert!(saved.columns().iter().zip(again.columns()).all(|(a, b)| exact(a, b)), "{saved:?} {again:?}");
    }
    let mut appended = accumulator.load(&accumulator.save(&x).unwrap()).unwrap();
    accumulator.update(&mut appended, first..rows).unwrap();
    agree(aggregate, &all, &appended, same, "a loaded state is updated like the saved one")
}

/// Tests the laws of retraction too.
fn retractable<A: Aggregate<Accumulator: Retractable>>(aggregate: &A, rows: usize, cuts: Cuts) -> TestCaseResult {
    let accumulator = aggregate.accumulator();
    laws(aggregate, rows, cuts, &exact)?;
    let cut = cuts.0.min(rows);
    let (mut state, mut gone, mut left) = (accumulator.init(), accumulator.init(), accumulator.init());
    accumulator.update(&mut state, 0..rows).unwrap();
    accumulator.update(&mut gone, 0..cut).unwrap();
    accumulator.update(&mut left, cut..rows).unwrap();
    accumulator.retract(&mut state, &gone);
    prop_assert_eq!(accumulator.save(&state).unwrap(), accumulator.save(&left).unwrap(), "retract undoes update");
    agree(aggregate, &state, &left, &exact, "retract undoes update")?;
    // A frame of the first rows slides to the last.
    let (steps, mut slid) = (rows - cut, gone.clone());
    let mut out = vec![state; steps];
    Retractable::slide(accumulator, &mut slid, cut..rows, 0..steps, &mut out).unwrap();
    for (step, found) in out.iter().enumerate() {
        let mut frame = accumulator.init();
        accumulator.update(&mut frame, step + 1..step + 1 + cut).unwrap();
        agree(aggregate, &frame, found, &exact, "slide writes the states of the frames it comes to")?;
    }
    let last = out.last().unwrap_or(&gone);
    prop_assert_eq!(accumulator.save(&slid).unwrap(), accumulator.save(last).unwrap(), "slide is at its last frame");
    Ok(())
}

/// Tests the laws of selection too: the row that `prefers_old` leaves is the one that `update` selected.
fn selective<A: Aggregate<Accumulator: Selective>>(aggregate: &A, rows: usize, cuts: Cuts) -> TestCaseResult {
    let accumulator = aggregate.accumulator();
    laws(aggregate, rows, cuts, &exact)?;
    let chosen = (0..rows)
        .filter(|&row| accumulator.includes(row))
        .reduce(|old, new| if accumulator.prefers_old(old, new) { old } else { new });
    let (mut all, mut one) = (accumulator.init(), accumulator.init());
    accumulator.update(&mut all, 0..rows).unwrap();
    if let Some(row) = chosen {
        accumulator.update(&mut one, row..row + 1).unwrap();
    }
    agree(aggregate, &all, &one, &exact, "keeps chooses as update does")
}

fn one_thread() -> Threads {
    Threads::new(1, &Cancel::default())
}

/// The column after [`BEFORE`] rows that do not belong to it, and its mask.
fn sliced(column: ArrayRef, filter: &[bool]) -> (ArrayRef, RowMask) {
    let column = column.slice(BEFORE, column.len() - BEFORE);
    let filter = (filter.len() >= column.len()).then(|| BooleanArray::from(filter[..column.len()].to_vec()));
    let inclusion = RowMask::new(std::slice::from_ref(&column), filter.as_ref());
    (column, inclusion)
}

/// Values with ties, extremes and, unless `dense`, nulls.
fn values() -> impl Strategy<Value = Vec<Option<i64>>> {
    let value = || prop_oneof![8 => -5_i64..5, 2 => any::<i64>(), 1 => Just(i64::MAX), 1 => Just(i64::MIN)];
    prop_oneof![
        vec(weighted(0.7, -5_i64..5), BEFORE..ROWS),
        vec(value().prop_map(Some), BEFORE..ROWS),
        vec(weighted(0.7, value()), BEFORE..ROWS),
        vec(Just(None), BEFORE..10),
    ]
}

fn doubles() -> impl Strategy<Value = Vec<Option<f64>>> {
    let tame = || prop_oneof![-1e3..1e3, -1e-3..1e-3, Just(0.0), Just(-0.0), Just(0.1)];
    let wild = prop_oneof![20 => tame(), 1 => Just(f64::INFINITY), 1 => Just(f64::NEG_INFINITY), 1 => Just(f64::NAN)];
    prop_oneof![
        vec(tame().prop_map(Some), BEFORE..ROWS),
        vec(weighted(0.7, tame()), BEFORE..ROWS),
        vec(weighted(0.7, wild), BEFORE..ROWS),
    ]
}

fn cuts() -> impl Strategy<Value = Cuts> {
    (0..ROWS, 0..ROWS)
}

/// A filter for the longest column, or none.
fn filters() -> impl Strategy<Value = Vec<bool>> {
    prop_oneof![Just(Vec::new()), vec(any::<bool>(), ROWS)]
}

const POLICIES: [OnOverflow; 3] = [OnOverflow::Error, OnOverflow::Null, OnOverflow::Wrap];

proptest! {
    #[test]
    fn counts_and_logic(values in values(), filter in filters(), cuts in cuts()) {
        let column: BooleanArray = values.iter().map(|value| value.map(|value| value > -2)).collect();
        let (column, inclusion) = sliced(Arc::new(column), &filter);
        for inclusion in [RowMask::All, inclusion.clone()] {
            retractable(&Count::new(inclusion), column.len(), cuts)?;
        }
        for logic in [BoolAggregate::And, BoolAggregate::Or] {
            retractable(&logic.over(column.as_boolean(), inclusion.clone()), column.len(), cuts)?;
        }
    }

    #[test]
    fn integer_sums_and_averages(values in values(), filter in filters(), cuts in cuts()) {
        let narrow: Vec<Option<i32>> = values.iter().map(|value| value.map(|value| value as i32)).collect();
        let unsigned: Vec<Option<u64>> = values.iter().map(|value| value.map(i64::cast_unsigned)).collect();
        let columns: [(ArrayRef, DataType); 5] = [
            (Arc::new(Int64Array::from(values.clone())), DataType::Int64),
            (Arc::new(Int32Array::from(narrow.clone())), DataType::Int64),
            (Arc::new(UInt64Array::from(unsigned)), DataType::UInt64),
            (Arc::new(DurationMillisecondArray::from(values)), DataType::Duration(TimeUnit::Millisecond)),
            (Arc::new(IntervalYearMonthArray::from(narrow)), DataType::Interval(IntervalUnit::YearMonth)),
        ];
        for (column, output) in columns {
            let (column, inclusion) = sliced(column, &filter);
            let rows = column.len();
            macro_rules! held {
                ($type:ty) => {{
                    let values = || integer_accumulator::<$type>(&column, inclusion.clone()).unwrap();
                    for policy in POLICIES {
                        if policy != OnOverflow::Wrap || !matches!(output, DataType::Interval(_)) {
                            retractable(&Accumulated::new(values(), IntegerSum::new(output.clone(), policy)), rows, cuts)?;
                        }
                    }
                    retractable(&Accumulated::new(values(), FloatAverage), rows, cuts)?;
                    if values().fits_in::<i64>(true, &one_thread()).unwrap() {
                        let narrow = values().with_width::<i64>();
                        retractable(&Accumulated::new(narrow.clone(), IntegerSum::new(output.clone(), OnOverflow::Error)), rows, cuts)?;
                        retractable(&Accumulated::new(narrow, FloatAverage), rows, cuts)?;
                    }
                    if matches!(output, DataType::Duration(_) | DataType::Interval(_)) {
                        for policy in [OnOverflow::Error, OnOverflow::Null] {
                            retractable(&Accumulated::new(values(), IntervalAverage::new(&output, policy)), rows, cuts)?;
                        }
                    }
                }};
            }
            match column.data_type() {
                DataType::UInt64 => held!(UInt64Type),
                DataType::Int32 | DataType::Interval(_) => held!(Int32Type),
                _ => held!(Int64Type),
            }
        }
    }

    #[test]
    fn decimal_sums_and_averages(values in values(), filter in filters(), cuts in cuts()) {
        // Up to 37 digits, and up to 76: a few of the latter exceed 256 bits.
        let many = i256::from_i128(10_i128.pow(38)).wrapping_mul(i256::from_i128(10_i128.pow(18)));
        let narrow = values.iter().map(|value| value.map(|value| i128::from(value) * 10_i128.pow(18)));
        let wide = values.iter().map(|value| value.map(|value| i256::from_i128(i128::from(value)).wrapping_mul(many)));
        let narrow = narrow.collect::<Decimal128Array>().with_precision_and_scale(38, 10).unwrap();
        let wide = wide.collect::<Decimal256Array>().with_precision_and_scale(76, 10).unwrap();
        macro_rules! held {
            ($type:ty, $column:expr, $sum:expr, $average:expr) => {
                let (column, inclusion) = sliced(Arc::new($column), &filter);
                let values = || decimal_accumulator::<$type>(&column, inclusion.clone()).unwrap();
                for policy in POLICIES {
                    retractable(&Accumulated::new(values(), DecimalSum::<<$type as ArrowPrimitiveType>::Native>::new($sum, policy).unwrap()), column.len(), cuts)?;
                    let average = Accumulated::new(values(), DecimalAverage::<<$type as ArrowPrimitiveType>::Native>::new(10, $average, policy).unwrap());
                    retractable(&average, column.len(), cuts)?;
                }
            };
        }
        let (column, inclusion) = sliced(Arc::new(narrow.clone()), &filter);
        let sums = decimal_accumulator::<Decimal128Type>(&column, inclusion).unwrap();
        if sums.fits_in::<i128>(true, &one_thread()).unwrap() {
            let output = DataType::Decimal128(38, 10);
            retractable(&Accumulated::new(sums.with_width::<i128>(), DecimalSum::<i128>::new(output, OnOverflow::Null).unwrap()), column.len(), cuts)?;
        }
        held!(Decimal128Type, narrow, DataType::Decimal128(38, 10), DataType::Decimal128(38, 14));
        held!(Decimal256Type, wide, DataType::Decimal256(76, 10), DataType::Decimal256(76, 14));
    }

    #[test]
    fn float_sums_averages_and_moments(values in doubles(), filter in filters(), cuts in cuts()) {
        let (column, inclusion) = sliced(Arc::new(Float64Array::from(values)), &filter);
        let rows = column.len();
        let values = || float_accumulator(&column, inclusion.clone()).unwrap();
        // Twice the precision of a double, over at most 150 values below 1000.
        laws(&Accumulated::new(values(), FloatSum), rows, cuts, &near(1e-25))?;
        laws(&Accumulated::new(values(), FloatAverage), rows, cuts, &near(1e-25))?;
        for (sample, root) in [(false, false), (true, false), (false, true), (true, true)] {
            let spread = Accumulated::new(MomentAccumulator::new(&column, inclusion.clone()).unwrap(), Variance { sample, root });
            laws(&spread, rows, cuts, &near(1e-9))?;
        }
        for shape in [SkewnessKurtosis::Skewness, SkewnessKurtosis::Kurtosis] {
            laws(&Accumulated::new(MomentAccumulator::<FourMoments>::new(&column, inclusion.clone()).unwrap(), shape), rows, cuts, &near(1e-6))?;
        }
        let partner = Float64Array::from_iter_values((0..rows).map(|row| (row * 7 % 11) as f64));
        use Regression::{Corr, CovarPop, CovarSamp, Intercept, R2, Slope, Sxx, Sxy, Syy};
        for which in [CovarPop, CovarSamp, Corr, Slope, Intercept, R2, Sxx, Syy, Sxy] {
            let regression = Accumulated::new(PairAccumulator::new(&column, &partner, inclusion.clone()).unwrap(), which);
            laws(&regression, rows, cuts, &near(1e-6))?;
        }
    }

    #[test]
    fn products_and_weighted_means(values in doubles(), filter in filters(), cuts in cuts(), rows_count in any::<bool>()) {
        let (column, inclusion) = sliced(Arc::new(Float64Array::from(values)), &filter);
        let rows = column.len();
        let relative = |left: &ArrayRef, right: &ArrayRef| {
            let value = |array: &ArrayRef| array.is_valid(0).then(|| array.as_primitive::<Float64Type>().value(0));
            match (value(left), value(right)) {
                (Some(a), Some(b)) => a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * a.abs() + 1e-300,
                (a, b) => a == b,
            }
        };
        for which in [Product::Value, Product::Root] {
            laws(&which.over(&column, inclusion.clone()).unwrap(), rows, cuts, &relative)?;
        }
        let counted = if rows_count { RowMask::All } else { inclusion.clone() };
        for alpha in [0.01, 0.5, 0.99] {
            let adjusted = EwmMean::adjusted(&column, inclusion.clone(), counted.clone(), alpha).unwrap();
            laws(&adjusted, rows, cuts, &near(1e-9))?;
            let recursive = EwmMean::recursive(&column, inclusion.clone(), counted.clone(), alpha).unwrap();
            laws(&recursive, rows, cuts, &near(1e-9))?;
        }
        let times = (0..rows as i64).map(|row| row * row % 37).collect();
        let by = TimeClock { times, half_life: 5.0 };
        laws(&EwmMean::timed(&column, inclusion.clone(), by).unwrap(), rows, cuts, &near(1e-9))?;
        // As many bins as rows: then the result is exact.
        let fields = vec![Field::new("x", DataType::Float64, true), Field::new("y", DataType::Float64, true)];
        let output = DataType::List(Arc::new(Field::new("element", DataType::Struct(fields.into()), true)));
        laws(&BinList::over(&column, inclusion, ROWS, output).unwrap(), rows, cuts, &exact)?;
    }

    #[test]
    fn bounded_sums(values in values(), floats in doubles(), filter in filters(), cuts in cuts(), low in -9..3_i64, width in 0..9_i64) {
        let wide = cast(&(Arc::new(Int64Array::from(values)) as ArrayRef), &DataType::Decimal256(76, 0)).unwrap();
        let (column, inclusion) = sliced(wide, &filter);
        let (low, high) = (i256::from(low), i256::from(low + width));
        for (low, high) in [(Some(low), Some(high)), (Some(low), None), (None, Some(high)), (None, None)] {
            let bounds = SumBounds { low, high, start: i256::from(2_i64) };
            let reader = ExactResult::new(bounds.start, DataType::Int64, OnOverflow::Error);
            let sum = bounded_sum::<Decimal256Type, _>(&column, inclusion.clone(), bounds, reader).unwrap();
            laws(&sum, column.len(), cuts, &exact)?;
        }
        let (column, inclusion) = sliced(Arc::new(Float64Array::from(floats)), &filter);
        for (low, high) in [(Some(-1.5), Some(7.0)), (Some(0.0), None), (None, Some(3.0)), (None, None)] {
            let bounds = SumBounds { low, high, start: 0.5 };
            let reader = DoubleResult { start: bounds.start };
            let sum = bounded_sum::<Float64Type, _>(&column, inclusion.clone(), bounds, reader).unwrap();
            laws(&sum, column.len(), cuts, &near(1e-9))?;
        }
    }

    #[test]
    fn bitwise_and_arg_min_max_laws(values in values(), filter in filters(), cuts in cuts()) {
        let column: ArrayRef = Arc::new(Int64Array::from(values));
        let unsigned: ArrayRef = Arc::new(column.as_primitive::<Int64Type>().unary::<_, UInt64Type>(i64::cast_unsigned));
        for column in [column, unsigned] {
            let (column, inclusion) = sliced(column, &filter);
            let rows = column.len();
            laws(&BitwiseResult::over::<And>(&column, inclusion.clone()).unwrap(), rows, cuts, &exact)?;
            laws(&BitwiseResult::over::<Or>(&column, inclusion.clone()).unwrap(), rows, cuts, &exact)?;
            retractable(&BitwiseResult::over::<Xor>(&column, inclusion.clone()).unwrap(), rows, cuts)?;
            for (which, ties) in [(Extremum::Min, TieBreak::Last), (Extremum::Max, TieBreak::Last), (Extremum::Max, TieBreak::First)] {
                let keys = PrimitiveKeys((0..rows as i64).map(|row| row * 7 % 5).collect());
                let choice = ArgMinMax::new(column.clone(), keys, inclusion.clone(), which, ties);
                typed(&choice, &column)?;
                selective(&choice, rows, cuts)?;
            }
        }
    }

    #[test]
    fn float_extrema(values in doubles(), filter in filters(), cuts in cuts()) {
        let column: ArrayRef = Arc::new(Float64Array::from(values));
        for column in [cast(&column, &DataType::Float32).unwrap(), cast(&column, &DataType::Float16).unwrap(), column] {
            natives::<Float64Type>(column.clone(), &filter, cuts)?;
            // Nested floats are compared as bytes, by the same rules.
            let fields = vec![(Arc::new(Field::new("x", column.data_type().clone(), true)), column)];
            bytes(Arc::new(StructArray::from(fields)), &filter, cuts)?;
        }
    }

    #[test]
    fn native_extrema(values in values(), filter in filters(), cuts in cuts()) {
        let column: ArrayRef = Arc::new(Int64Array::from(values.clone()));
        let narrow: ArrayRef = Arc::new(values.iter().map(|value| value.map(|value| value as i32)).collect::<Int32Array>());
        let small: ArrayRef = Arc::new(values.iter().map(|value| value.map(|value| i32::from(value as u8 / 2))).collect::<Int32Array>());
        let to = |column: &ArrayRef, data_type| cast(column, &data_type).unwrap();
        for data_type in [DataType::Int8, DataType::Int16, DataType::UInt8, DataType::UInt16] {
            natives::<Int32Type>(to(&small, data_type), &filter, cuts)?;
        }
        for data_type in [DataType::Int32, DataType::Date32, DataType::Time32(TimeUnit::Second), DataType::Interval(IntervalUnit::YearMonth)] {
            natives::<Int32Type>(to(&narrow, data_type), &filter, cuts)?;
        }
        for data_type in [
            DataType::Int64,
            DataType::Time64(TimeUnit::Nanosecond),
            DataType::Timestamp(TimeUnit::Microsecond, Some("Europe/Berlin".into())),
            DataType::Duration(TimeUnit::Second),
        ] {
            natives::<Int64Type>(to(&column, data_type), &filter, cuts)?;
        }
        natives::<Int64Type>(to(&small, DataType::UInt32), &filter, cuts)?;
        natives::<Int64Type>(to(&small, DataType::Decimal64(12, 3)), &filter, cuts)?;
        natives::<Int32Type>(to(&small, DataType::Decimal32(9, 2)), &filter, cuts)?;
        let unsigned = values.iter().map(|value| value.map(i64::cast_unsigned));
        natives::<UInt64Type>(Arc::new(unsigned.collect::<UInt64Array>()), &filter, cuts)?;
        natives::<Decimal128Type>(to(&column, DataType::Decimal128(38, 7)), &filter, cuts)?;
        natives::<Decimal256Type>(to(&column, DataType::Decimal256(60, 7)), &filter, cuts)?;
    }

    #[test]
    fn other_extrema(values in values(), filter in filters(), cuts in cuts()) {
        let text: StringArray = values.iter().map(|value| value.map(|value| format!("{value}, of so many characters"))).collect();
        let text: ArrayRef = Arc::new(text);
        for data_type in [
            DataType::Utf8,
            DataType::LargeUtf8,
            DataType::Utf8View,
            DataType::Binary,
            DataType::BinaryView,
            DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Utf8)),
            DataType::RunEndEncoded(
                Arc::new(Field::new("run_ends", DataType::Int32, false)),
                Arc::new(Field::new("values", DataType::Utf8, true)),
            ),
        ] {
            bytes(cast(&text, &data_type).unwrap(), &filter, cuts)?;
        }
        let flags: BooleanArray = values.iter().map(|value| value.map(|value| value > 0)).collect();
        bytes(Arc::new(flags), &filter, cuts)?;
        let mut lists = ListBuilder::new(BinaryBuilder::new());
        for value in &values {
            match value {
                None => lists.append_null(),
                Some(value) => {
                    lists.values().append_option((value % 2 == 0).then(|| value.to_be_bytes()));
                    lists.append(true);
                }
            }
        }
        bytes(Arc::new(lists.finish()), &filter, cuts)?;
    }
}

/// Minimum and maximum of `column` as natives of `T`.
fn natives<T: ArrowPrimitiveType<Native: TotalOrd>>(column: ArrayRef, filter: &[bool], cuts: Cuts) -> TestCaseResult {
    let (column, inclusion) = sliced(column, filter);
    let least = MinMax::<T, false>::new(&column, inclusion.clone()).unwrap();
    typed(&least, &column)?;
    selective(&least, column.len(), cuts)?;
    let greatest = MinMax::<T, true>::new(&column, inclusion).unwrap();
    typed(&greatest, &column)?;
    selective(&greatest, column.len(), cuts)
}

/// Minimum and maximum of `column` by byte keys.
fn bytes(column: ArrayRef, filter: &[bool], cuts: Cuts) -> TestCaseResult {
    let (column, inclusion) = sliced(column, filter);
    for which in [Extremum::Min, Extremum::Max] {
        for ties in [TieBreak::First, TieBreak::Last] {
            let keys = RowKeys::new(&column).unwrap();
            let choice = ArgMinMax::new(column.clone(), keys, inclusion.clone(), which, ties);
            typed(&choice, &column)?;
            selective(&choice, column.len(), cuts)?;
        }
    }
    Ok(())
}

/// An extremum has its column's exact type, and is NULL for no rows.
fn typed<A: Aggregate>(aggregate: &A, column: &ArrayRef) -> TestCaseResult {
    let nothing = answer(aggregate, &aggregate.accumulator().init()).unwrap();
    prop_assert_eq!(nothing.data_type(), column.data_type());
    prop_assert_eq!(nothing.logical_null_count(), 1);
    Ok(())
}
