//! The cases that Spark publishes for its window functions: FIRST and LAST, with and without IGNORE NULLS, over
//! [-1000, +1000] and over [CURRENT ROW, UNBOUNDED FOLLOWING] at 10 K rows, and the FIRST sweep over shrinking frames.
//!
//! Times the whole call: order check, boundaries, bounds, evaluation. Each case checks its result, by definition,
//! before timing.
#![allow(missing_docs, clippy::unwrap_used, clippy::pedantic)]

use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use windrow::{Arg, Bound, Call, Frame, Nulls, Options, OrderKey, Plan, WindowSpec};

/// One partition; every tenth value is NULL, and the last hundred.
fn input(rows: usize) -> RecordBatch {
    let values: Int64Array =
        (0..rows).map(|row| (row % 10 != 0 && row + 100 < rows).then_some(row as i64 * 7 % 1000)).collect();
    let order = Int64Array::from_iter_values(0..rows as i64);
    RecordBatch::try_from_iter([("id", Arc::new(order) as ArrayRef), ("v", Arc::new(values) as ArrayRef)]).unwrap()
}

fn plan(batch: &RecordBatch, function: &str, ignore_nulls: bool, frame: &Frame) -> Plan {
    let mut call = Call::new(function, [Arg::column("v")]).over(frame.clone());
    call.nulls = if ignore_nulls { Nulls::Ignore } else { Nulls::Default };
    let spec = WindowSpec::new().order_by([OrderKey::asc("id")]).call(call);
    Plan::new(batch.schema(), &[spec], Options::default().threads(1)).unwrap()
}

fn check(
    batch: &RecordBatch,
    plan: &Plan,
    function: &str,
    ignore_nulls: bool,
    frame_of: impl Fn(usize) -> (usize, usize),
) {
    let values = batch.column(1).as_primitive::<Int64Type>();
    let result = plan.compute(batch).unwrap();
    let found = result.column(0).as_primitive::<Int64Type>();
    let rows = batch.num_rows();
    for row in (0..rows).step_by(rows / 97) {
        let (begin, end) = frame_of(row);
        let mut frame = (begin..end).filter(|&row| !ignore_nulls || values.is_valid(row));
        let expected = if function == "first_value" { frame.next() } else { frame.next_back() };
        let expected = expected.filter(|&row| values.is_valid(row)).map(|row| values.value(row));
        assert_eq!(found.is_valid(row).then(|| found.value(row)), expected, "{function} row {row}");
    }
}

fn first_and_last(criterion: &mut Criterion) {
    const ROWS: usize = 10_000;
    let batch = input(ROWS);
    let frames = [
        ("±1000", Frame::rows(Bound::preceding(1000), Bound::following(1000)), 1000),
        ("to the end", Frame::rows(Bound::CurrentRow, Bound::UnboundedFollowing), 0),
    ];
    let mut group = criterion.benchmark_group("first_last_10K");
    group.throughput(Throughput::Elements(ROWS as u64)).measurement_time(Duration::from_secs(2));
    for (name, frame, before) in frames {
        for function in ["first_value", "last_value"] {
            for ignore_nulls in [false, true] {
                let plan = plan(&batch, function, ignore_nulls, &frame);
                let end = |row: usize| if before == 0 { ROWS } else { (row + 1001).min(ROWS) };
                check(&batch, &plan, function, ignore_nulls, |row| (row.saturating_sub(before), end(row)));
                let nulls = if ignore_nulls { " ignore nulls" } else { "" };
                group.bench_function(format!("{function}{nulls} {name}"), |bencher| {
                    bencher.iter(|| plan.compute(&batch).unwrap());
                });
            }
        }
    }
    group.finish();
}

fn shrinking_sweep(criterion: &mut Criterion) {
    let frame = Frame::rows(Bound::CurrentRow, Bound::UnboundedFollowing);
    let mut group = criterion.benchmark_group("first_shrinking");
    group.sample_size(20).measurement_time(Duration::from_secs(2));
    for rows in [5_000, 25_000, 50_000, 100_000, 1_000_000] {
        let batch = input(rows);
        let plan = plan(&batch, "first_value", false, &frame);
        check(&batch, &plan, "first_value", false, |row| (row, rows));
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_with_input(BenchmarkId::from_parameter(rows), &plan, |bencher, plan| {
            bencher.iter(|| plan.compute(&batch).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, first_and_last, shrinking_sweep);
criterion_main!(benches);
