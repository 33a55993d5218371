//! One call over unsorted rows, timed by stage, to locate regressions.
//!
//! `cargo bench --bench stages`; `WINDROW_BENCH_ROWS` sets the number of rows, by default a million. The result is
//! first checked against `naive`. One thread.
//! against `naive` first. One thread.

#![allow(missing_docs, clippy::unwrap_used, clippy::pedantic, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use criterion::{BenchmarkId, Criterion, Throughput};
use windrow::internals::{
    Boundaries, Bounds, Carry, Section, SortColumn, StoreMode, find_boundaries, gather, restore, sort,
};
use windrow::{Arg, Bound, Call, Cancel, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};
use windrow_allocator::HugePages;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// Frames per block, as in evaluation.
const BLOCK: usize = 1024;

/// Unsorted keys, a permutation as times, and values.
fn input(rows: usize, keys: usize) -> Vec<ArrayRef> {
    let mut seed = 42_u64;
    let mut below = move |end: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % end
    };
    let mut times: Vec<i64> = (0..rows as i64).collect();
    for place in (1..rows).rev() {
        times.swap(place, below(place + 1));
    }
    let key = Int32Array::from_iter_values((0..rows).map(|_| below(keys) as i32));
    let value = Int64Array::from_iter_values((0..rows).map(|_| below(1000) as i64));
    vec![Arc::new(key), Arc::new(Int64Array::from(times)), Arc::new(value)]
}

fn plan(columns: &[ArrayRef], frame: &Frame, strategy: Option<Strategy>) -> (Plan, RecordBatch) {
    let batch = RecordBatch::try_from_iter(["k", "t", "v"].into_iter().zip(columns.iter().cloned())).unwrap();
    let call = Call::new("sum", [Arg::column("v")]).over(frame.clone());
    let spec = WindowSpec::new().partition_by(["k"]).order_by([OrderKey::asc("t")]).call(call);
    let options = Options::default().threads(1).strategy(strategy);
    (Plan::new(batch.schema(), &[spec], options).unwrap(), batch)
}

fn stages(criterion: &mut Criterion, rows: usize, keys: usize, name: &str, frame: &Frame) {
    let cancel = Cancel::default();
    let columns = input(rows, keys);
    let (plan, batch) = plan(&columns, frame, None);
    let answer = plan.compute(&batch).unwrap();
    let few: Vec<_> = input(rows.min(20_000), keys.min(20));
    let (naive, few_rows) = self::plan(&few, frame, Some(Strategy::Naive));
    let (chosen, _) = self::plan(&few, frame, None);
    assert_eq!(naive.compute(&few_rows).unwrap(), chosen.compute(&few_rows).unwrap());

    let order: Vec<_> = columns[..2].iter().cloned().map(SortColumn::ascending).collect();
    let sorted = sort(&order, 1, &cancel).unwrap().unwrap();
    let in_order = gather(&columns, &sorted, 1, &cancel).unwrap();
    let partitions = find_boundaries(&in_order[..1], rows, None).unwrap();
    let peers = &partitions | &find_boundaries(&in_order[1..2], rows, None).unwrap();
    let read = plan.section_columns(0).iter().map(|&number| in_order[number].clone()).collect();
    let section = Section::whole(Boundaries::new(partitions), Boundaries::new(peers), read).unwrap();
    let (_, frames) = plan.evaluator(0, &section).unwrap();
    let evaluate = || {
        let (evaluator, frames) = plan.evaluator(0, &section).unwrap();
        evaluator.evaluate(&frames, 0..rows, &Carry::default(), &cancel).unwrap()
    };
    let result = evaluate();
    assert_eq!(&restore(&result, &sorted).unwrap(), answer.column(0));

    let mut group = criterion.benchmark_group(format!("stages of {name}, {keys} partitions"));
    group.sample_size(10).throughput(Throughput::Elements(rows as u64));
    group.bench_function("1 sort", |bencher| bencher.iter(|| black_box(sort(&order, 1, &cancel))));
    group.bench_function("2 gather a column", |bencher| {
        bencher.iter(|| black_box(gather(&columns[2..], &sorted, 1, &cancel)));
    });
    group.bench_function("3 edges", |bencher| bencher.iter(|| black_box(find_boundaries(&in_order[..1], rows, None))));
    group.bench_function("4 bounds", |bencher| {
        let mut bounds = Bounds::default();
        bencher.iter(|| {
            for begin in (0..rows).step_by(BLOCK) {
                frames.fill(begin..rows.min(begin + BLOCK), &mut bounds).unwrap();
                black_box(&bounds);
            }
        });
    });
    group.bench_function("5 bounds and evaluation", |bencher| bencher.iter(|| black_box(evaluate())));
    group.bench_function("6 write back", |bencher| bencher.iter(|| black_box(restore(&result, &sorted))));
    group.bench_function("all of it", |bencher| bencher.iter(|| black_box(plan.compute(&batch))));
    group.finish();
}

/// Memory for a column, written once: fresh from the system each time, from the Python package's allocator, and memory
/// that is already mapped, with cached and with non-temporal stores.
fn memory(criterion: &mut Criterion, rows: usize) {
    let layout = Layout::array::<i64>(rows).unwrap();
    let mut group = criterion.benchmark_group("memory for a column");
    group.sample_size(10).throughput(Throughput::Elements(rows as u64));
    let mut bench = |name, allocator: &dyn GlobalAlloc| {
        group.bench_function(BenchmarkId::new("allocate and write", name), |bencher| {
            bencher.iter(|| {
                // SAFETY: the layout is not empty, the memory is written within its size and given back once.
                unsafe {
                    let memory = allocator.alloc(layout);
                    memory.write_bytes(1, layout.size());
                    allocator.dealloc(black_box(memory), layout);
                }
            });
        });
    };
    bench("system", &System);
    bench("huge pages", &HugePages);
    let values: Vec<i64> = (0..BLOCK as i64).collect();
    let mut column: Vec<MaybeUninit<i64>> = vec![MaybeUninit::new(0); rows];
    for (name, writes) in
        [("through the caches", StoreMode::for_bytes(0)), ("past the caches", StoreMode::for_bytes(usize::MAX))]
    {
        let mut write = || {
            for places in black_box(&mut column).chunks_mut(BLOCK) {
                writes.copy(&values[..places.len()], places);
            }
        };
        write();
        group.bench_function(BenchmarkId::new("write", name), |bencher| bencher.iter(&mut write));
        // SAFETY: all elements are initialised since the buffer was made.
        let written =
            |(place, value): (usize, &MaybeUninit<i64>)| unsafe { value.assume_init() } == (place % BLOCK) as i64;
        assert!(column.iter().enumerate().all(written));
        column.fill(MaybeUninit::new(-1));
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let rows = std::env::var("WINDROW_BENCH_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(1_000_000);
    let rows_frame = Frame::rows(Bound::preceding(1000), Bound::following(1000));
    for keys in [1, 100, rows / 5] {
        stages(&mut criterion, rows, keys, "sum(v) over 1000 rows on either side", &rows_frame);
    }
    let range_frame = Frame::range(Bound::preceding(1000), Bound::following(1000));
    stages(&mut criterion, rows, 100, "sum(v) over 1000 units of time on either side", &range_frame);
    memory(&mut criterion, rows);
    criterion.final_summary();
}
