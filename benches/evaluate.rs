//! Medians of moving frames; aggregates and value functions are in `benches/kernels.rs`.
//!
//! The result is checked on sampled rows, by definition, before timing.
#![allow(missing_docs, clippy::unwrap_used, clippy::pedantic)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

const ROWS: usize = 1_000_000;

/// Row numbers and pseudorandom floats.
fn input(rows: usize) -> RecordBatch {
    let scrambled = |row: usize| (row as i64).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 44;
    let floats: Float64Array = (0..rows).map(|row| Some(scrambled(row) as f64 / 3.0)).collect();
    let order = Int64Array::from_iter_values(0..rows as i64);
    RecordBatch::try_from_iter([("t", Arc::new(order) as ArrayRef), ("d", Arc::new(floats) as ArrayRef)]).unwrap()
}

/// Medians of moving frames: 100 partitions of 10,000 rows, 1000 rows before and after.
fn medians(criterion: &mut Criterion) {
    const PARTITION: usize = 10_000;
    const BESIDE: usize = 1000;
    let batch = input(ROWS);
    let groups = Int64Array::from_iter_values((0..ROWS).map(|row| (row / PARTITION) as i64));
    let columns = [("g", Arc::new(groups) as ArrayRef), ("t", batch.column(0).clone()), ("d", batch.column(1).clone())];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let frame = Frame::rows(Bound::preceding(BESIDE as i64), Bound::following(BESIDE as i64));
    let call = Call::new("median", [Arg::column("d")]).over(frame);
    let spec = WindowSpec::new().partition_by(["g"]).order_by([OrderKey::asc("t")]).call(call);
    let mut group = criterion.benchmark_group("medians");
    group.sample_size(10).throughput(Throughput::Elements(ROWS as u64));
    for strategy in [Strategy::Codes, Strategy::Wavelet] {
        let options = Options::default().threads(1).strategy(strategy);
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

criterion_group!(benches, medians);
criterion_main!(benches);
