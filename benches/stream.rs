//! Streams of a moving sum in batches of 100 to 100 K rows, and the same rows as one batch on one thread and on two.
//!
//! Each case checks its result before timing.
#![allow(missing_docs, clippy::unwrap_used, clippy::pedantic)]

use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Stream, WindowSpec};

const ROWS: usize = 1_000_000;

/// A thousand partitions of a thousand rows; the value is the row's number, so the sums are known.
fn input() -> RecordBatch {
    let column =
        |value: fn(i64) -> i64| Arc::new(Int64Array::from_iter_values((0..ROWS as i64).map(value))) as ArrayRef;
    RecordBatch::try_from_iter([
        ("k", column(|row| row / 1000)),
        ("t", column(|row| row % 1000)),
        ("v", column(|row| row)),
    ])
    .unwrap()
}

fn plan(batch: &RecordBatch, threads: usize) -> Plan {
    let call = Call::new("sum", [Arg::column("v")]).over(Frame::rows(Bound::preceding(100), Bound::following(100)));
    let spec = WindowSpec::new().partition_by(["k"]).order_by([OrderKey::asc("t")]).call(call);
    Plan::new(batch.schema(), &[spec], Options::default().threads(threads)).unwrap()
}

fn expected(row: usize) -> i64 {
    let (first, last) = (row / 1000 * 1000, row / 1000 * 1000 + 999);
    (row.saturating_sub(100).max(first)..=(row + 100).min(last)).map(|row| row as i64).sum()
}

fn stream(plan: &Arc<Plan>, batch: &RecordBatch, rows: usize) -> Vec<RecordBatch> {
    let mut stream = Stream::new(plan.clone()).unwrap();
    let mut out = Vec::new();
    for begin in (0..ROWS).step_by(rows) {
        out.extend(stream.push(batch.slice(begin, rows.min(ROWS - begin))).unwrap());
    }
    out.extend(stream.finish().unwrap());
    out
}

fn streaming(criterion: &mut Criterion) {
    let batch = input();
    let shared = Arc::new(plan(&batch, 1));
    let mut group = criterion.benchmark_group("stream");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).throughput(Throughput::Elements(ROWS as u64));
    for rows in [100, 10_000, 100_000] {
        let out = stream(&shared, &batch, rows);
        let sums = out.iter().flat_map(|batch| batch.column(3).as_primitive::<Int64Type>().values());
        assert!(sums.enumerate().step_by(997).all(|(row, sum)| *sum == expected(row)), "batches of {rows} rows");
        group.bench_with_input(BenchmarkId::new("batches of", rows), &rows, |bencher, &rows| {
            bencher.iter(|| stream(&shared, &batch, rows));
        });
    }
    for threads in [1, 2] {
        let plan = plan(&batch, threads);
        let sums = plan.compute(&batch).unwrap();
        let sums = sums.column(0).as_primitive::<Int64Type>().values();
        assert!(sums.iter().enumerate().step_by(997).all(|(row, sum)| *sum == expected(row)), "{threads} threads");
        group.bench_with_input(BenchmarkId::new("at once, threads", threads), &plan, |bencher, plan| {
            bencher.iter(|| plan.compute(&batch).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, streaming);
criterion_main!(benches);
