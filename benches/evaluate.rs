//! Every strategy over moving frames of 10 rows to a million: time per row must not grow with the frame's width for
//! index, prefix, deque and two stacks, and only with its logarithm for the tree. Growing and shrinking frames, and
//! frames of a few rows, beside them.
//!
//! Each case checks its answer on sampled rows, by definition, before the clock starts.
#![allow(missing_docs, clippy::unwrap_used, clippy::pedantic)]

use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

const ROWS: usize = 1_000_000;
const WIDTHS: [usize; 6] = [10, 100, 1000, 10_000, 100_000, 1_000_000];

/// Row numbers, whole numbers and floats without a pattern that a strategy could profit from.
fn input(rows: usize) -> RecordBatch {
    let scrambled = |row: usize| (row as i64).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 44;
    let ints: Int64Array = (0..rows).map(|row| Some(scrambled(row))).collect();
    let floats: Float64Array = (0..rows).map(|row| Some(scrambled(row) as f64 / 3.0)).collect();
    let order = Int64Array::from_iter_values(0..rows as i64);
    RecordBatch::try_from_iter([
        ("t", Arc::new(order) as ArrayRef),
        ("v", Arc::new(ints) as ArrayRef),
        ("d", Arc::new(floats) as ArrayRef),
    ])
    .unwrap()
}

fn plan(batch: &RecordBatch, function: &str, column: &str, frame: Frame, strategy: Option<Strategy>) -> Plan {
    let call = Call::new(function, [Arg::column(column)]).over(frame);
    let spec = WindowSpec::new().order_by([OrderKey::asc("t")]).call(call);
    Plan::new(batch.schema(), &[spec], Options { threads: 1, strategy, ..Options::default() }).unwrap()
}

/// The answer for `row` over the rows `begin..end`, by definition.
fn definition(batch: &RecordBatch, function: &str, begin: usize, end: usize) -> f64 {
    let ints = &batch.column(1).as_primitive::<Int64Type>().values()[begin..end];
    let floats = &batch.column(2).as_primitive::<Float64Type>().values()[begin..end];
    match function {
        "sum" => ints.iter().sum::<i64>() as f64,
        "min" => ints.iter().copied().min().unwrap() as f64,
        "first_value" => ints[0] as f64,
        _ => floats.iter().sum::<f64>() / floats.len() as f64,
    }
}

fn check(batch: &RecordBatch, plan: &Plan, function: &str, frame_of: impl Fn(usize) -> (usize, usize)) {
    let result = plan.compute(batch).unwrap();
    let result = arrow_cast::cast(result.column(0), &arrow_schema::DataType::Float64).unwrap();
    let found = result.as_primitive::<Float64Type>();
    let rows = batch.num_rows();
    for row in [0, 1, rows / 3, rows / 2, rows - 2, rows - 1] {
        let (begin, end) = frame_of(row);
        let expected = definition(batch, function, begin, end);
        let found = found.value(row);
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
            "{function} row {row}: {found} not {expected}"
        );
    }
}

const CASES: [(Strategy, &str, &str); 7] = [
    (Strategy::Index, "first_value", "v"),
    (Strategy::Prefix, "sum", "v"),
    (Strategy::Deque, "min", "v"),
    (Strategy::TwoStacks, "avg", "d"),
    (Strategy::SegmentTree, "avg", "d"),
    (Strategy::SegmentTree, "min", "v"),
    (Strategy::Naive, "sum", "v"),
];

fn moving(criterion: &mut Criterion) {
    let batch = input(ROWS);
    let mut group = criterion.benchmark_group("moving");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(300));
    for (strategy, function, column) in CASES {
        for width in WIDTHS {
            // Naive costs the width: beyond a hundred rows it has made its point.
            if strategy == Strategy::Naive && width > 100 {
                continue;
            }
            let before = width / 2;
            let frame = Frame::rows(Bound::preceding(before as i64), Bound::following((width - before - 1) as i64));
            let plan = plan(&batch, function, column, frame, Some(strategy));
            check(&batch, &plan, function, |row| (row.saturating_sub(before), (row + width - before).min(ROWS)));
            group.throughput(Throughput::Elements(ROWS as u64));
            group.bench_with_input(
                BenchmarkId::new(format!("{strategy} {function}"), width),
                &plan,
                |bencher, plan| {
                    bencher.iter(|| plan.compute(&batch).unwrap());
                },
            );
        }
    }
    group.finish();
}

/// Where folding anew stops paying: frames of a few rows.
fn tiny(criterion: &mut Criterion) {
    let batch = input(ROWS);
    let mut group = criterion.benchmark_group("tiny");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(300));
    for width in [1, 2, 4, 8, 16] {
        for (strategy, function, column) in [
            (Strategy::Naive, "sum", "v"),
            (Strategy::Prefix, "sum", "v"),
            (Strategy::Naive, "min", "v"),
            (Strategy::Deque, "min", "v"),
            (Strategy::Naive, "avg", "d"),
            (Strategy::TwoStacks, "avg", "d"),
        ] {
            let frame = Frame::rows(Bound::preceding(width - 1), Bound::CurrentRow);
            let plan = plan(&batch, function, column, frame, Some(strategy));
            check(&batch, &plan, function, |row| ((row + 1).saturating_sub(width as usize), row + 1));
            group.throughput(Throughput::Elements(ROWS as u64));
            group.bench_with_input(
                BenchmarkId::new(format!("{strategy} {function}"), width),
                &plan,
                |bencher, plan| {
                    bencher.iter(|| plan.compute(&batch).unwrap());
                },
            );
        }
    }
    group.finish();
}

fn one_sided(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one_sided");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(300));
    for rows in [10_000, 100_000, ROWS] {
        let batch = input(rows);
        for (function, column) in [("sum", "v"), ("avg", "d"), ("min", "v")] {
            let growing =
                plan(&batch, function, column, Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow), None);
            check(&batch, &growing, function, |row| (0, row + 1));
            let shrinking =
                plan(&batch, function, column, Frame::rows(Bound::CurrentRow, Bound::UnboundedFollowing), None);
            check(&batch, &shrinking, function, |row| (row, rows));
            group.throughput(Throughput::Elements(rows as u64));
            for (name, plan) in [("growing", growing), ("shrinking", shrinking)] {
                group.bench_with_input(BenchmarkId::new(format!("{name} {function}"), rows), &plan, |bencher, plan| {
                    bencher.iter(|| plan.compute(&batch).unwrap());
                });
            }
        }
    }
    group.finish();
}

/// Medians of moving frames: 100 partitions of 10,000 rows, 1000 rows on either side.
fn medians(criterion: &mut Criterion) {
    const PARTITION: usize = 10_000;
    const BESIDE: usize = 1000;
    let batch = input(ROWS);
    let groups = Int64Array::from_iter_values((0..ROWS).map(|row| (row / PARTITION) as i64));
    let columns = [("g", Arc::new(groups) as ArrayRef), ("t", batch.column(0).clone()), ("d", batch.column(2).clone())];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let frame = Frame::rows(Bound::preceding(BESIDE as i64), Bound::following(BESIDE as i64));
    let call = Call::new("median", [Arg::column("d")]).over(frame);
    let spec = WindowSpec::new().partition_by(["g"]).order_by([OrderKey::asc("t")]).call(call);
    let mut group = criterion.benchmark_group("medians");
    group.sample_size(10).throughput(Throughput::Elements(ROWS as u64));
    for strategy in [Strategy::Codes, Strategy::Wavelet] {
        let options = Options { threads: 1, strategy: Some(strategy), ..Options::default() };
        let plan = Plan::new(batch.schema(), std::slice::from_ref(&spec), options).unwrap();
        let result = plan.compute(&batch).unwrap();
        let (found, values) =
            (result.column(0).as_primitive::<Float64Type>(), batch.column(2).as_primitive::<Float64Type>());
        for row in [0, 1, ROWS / 3, ROWS / 2, ROWS - PARTITION, ROWS - 1] {
            let begin = row / PARTITION * PARTITION;
            let range = row.saturating_sub(BESIDE).max(begin)..(row + BESIDE + 1).min(begin + PARTITION);
            let mut sorted = values.values()[range].to_vec();
            sorted.sort_by(f64::total_cmp);
            let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
            assert_eq!(found.value(row), low + 0.5 * (high - low), "row {row}");
        }
        group.bench_function(format!("{strategy} median of 2001 rows"), |bencher| {
            bencher.iter(|| plan.compute(&batch).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, moving, tiny, one_sided, medians);
criterion_main!(benches);
