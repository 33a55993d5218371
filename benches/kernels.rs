//! The evaluators alone: one call over a section of sorted rows, bounds included, one thread. For comparison, in the
//! same run, a copy of the same bytes into memory never touched before and into memory just released.
//!
//! Time per row must not grow with a frame's width for whole, scan, prefix, deque, two stacks and index, and only with
//! its logarithm for the segment tree. Each case checks its result on sampled rows, by definition, before timing.
#![allow(missing_docs, clippy::unwrap_used, clippy::pedantic)]

use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_buffer::BooleanBuffer;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use windrow::internals::{Boundaries, Carry, Section};
use windrow::{Arg, Bound, Call, Cancel, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

const ROWS: usize = 1_000_000;
const WIDTHS: [usize; 4] = [10, 1000, 100_000, 2_000_000];

/// More bytes than any allocator caches.
const FRESH: usize = 64 << 20;

/// A pseudorandom number, so that no code or branch predictor profits from a pattern: the finaliser of `SplitMix64`.
fn scrambled(row: usize) -> i64 {
    let mut bits = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (bits ^ (bits >> 31)) as i64 >> 40
}

/// Row numbers, integers and floats, a fifth of both NULL if requested.
fn input(nulls: bool) -> RecordBatch {
    let there = |row: usize| !nulls || !(scrambled(row + 77) as u64 >> 3).is_multiple_of(5);
    let ints: Int64Array = (0..ROWS).map(|row| there(row).then(|| scrambled(row))).collect();
    let floats: Float64Array = (0..ROWS).map(|row| there(row).then(|| scrambled(row) as f64 / 3.0)).collect();
    let order = Int64Array::from_iter_values(0..ROWS as i64);
    RecordBatch::try_from_iter([
        ("t", Arc::new(order) as ArrayRef),
        ("v", Arc::new(ints) as ArrayRef),
        ("d", Arc::new(floats) as ArrayRef),
    ])
    .unwrap()
}

/// A call over partitions of a given length.
struct Case<'a> {
    function: &'a str,
    column: &'a str,
    frame: Option<Frame>,
    strategy: Option<Strategy>,
    partition: usize,
}

impl<'a> Case<'a> {
    fn new(function: &'a str, column: &'a str, frame: Frame) -> Self {
        Self { function, column, frame: Some(frame), strategy: None, partition: ROWS }
    }

    /// The result for a row whose frame is `begin..end`, by definition.
    fn definition(&self, column: &Float64Array, begin: usize, end: usize) -> Option<f64> {
        let values: Vec<f64> = (begin..end).filter(|&row| column.is_valid(row)).map(|row| column.value(row)).collect();
        let sum = || values.iter().sum::<f64>();
        let count = values.len() as f64;
        match self.function {
            "count" => Some(count),
            "first_value" | "lag" => (begin < end && column.is_valid(begin)).then(|| column.value(begin)),
            _ if values.is_empty() => None,
            "sum" => Some(sum()),
            "avg" => Some(sum() / count),
            "min" => values.iter().copied().reduce(f64::min),
            "stddev" => {
                let mean = sum() / count;
                let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
                (count > 1.0).then(|| (squares / (count - 1.0)).sqrt())
            }
            other => unreachable!("{other}"),
        }
    }

    /// Checks the case, then times it.
    fn run(
        &self,
        group: &mut BenchmarkGroup<WallTime>,
        name: &str,
        batch: &RecordBatch,
        frame_of: impl Fn(usize) -> (usize, usize),
    ) {
        let call = Call::new(self.function, [Arg::column(self.column)]);
        let call = match &self.frame {
            Some(frame) => call.over(frame.clone()),
            None => call,
        };
        let spec = WindowSpec::new().order_by([OrderKey::asc("t")]).call(call);
        let options = Options::default().threads(1).strategy(self.strategy);
        let plan = Plan::new(batch.schema(), &[spec], options).unwrap();
        let columns = plan.section_columns(0).iter().map(|&number| batch.column(number).clone()).collect();
        let partitions = Boundaries::new(BooleanBuffer::collect_bool(ROWS, |row| row % self.partition == 0));
        let section = Section::whole(partitions, Boundaries::new(BooleanBuffer::new_set(ROWS)), columns).unwrap();
        let (evaluator, frames) = plan.evaluator(0, &section).unwrap();
        let (carry, cancel) = (Carry::default(), Cancel::default());
        let answer = || evaluator.evaluate(&frames, 0..ROWS, &carry, &cancel).unwrap();

        let double = |array: &ArrayRef| {
            arrow_cast::cast(array, &arrow_schema::DataType::Float64).unwrap().as_primitive::<Float64Type>().clone()
        };
        let (found, column) = (double(&answer()), double(batch.column_by_name(self.column).unwrap()));
        for row in [0, 1, 7, ROWS / 3, ROWS / 2, ROWS - 2, ROWS - 1] {
            let (begin, end) = frame_of(row);
            let expected = self.definition(&column, begin, end);
            let found = found.is_valid(row).then(|| found.value(row));
            let same = match (found, expected) {
                (Some(found), Some(expected)) => (found - expected).abs() <= 1e-9 * expected.abs().max(1e6),
                (found, expected) => found == expected,
            };
            assert!(same, "{name} row {row}: {found:?} not {expected:?}");
        }
        group.throughput(Throughput::Elements(ROWS as u64));
        group.bench_function(name, |bencher| bencher.iter(answer));
    }
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).measurement_time(Duration::from_millis(600)).warm_up_time(Duration::from_millis(200));
    group
}

fn inputs() -> [(&'static str, RecordBatch); 2] {
    [("", input(false)), (", a fifth NULL", input(true))]
}

/// The reference for any evaluator that writes eight bytes per row.
fn copies(criterion: &mut Criterion) {
    let mut group = group(criterion, "copy");
    let source: Vec<i64> = (0..ROWS).map(scrambled).collect();
    group.throughput(Throughput::Elements(ROWS as u64));
    group.bench_function("into fresh memory", |bencher| {
        bencher.iter(|| {
            let mut copy: Vec<i64> = Vec::with_capacity(FRESH / 8);
            copy.extend_from_slice(&source);
            copy
        });
    });
    group.bench_function("into memory let go of", |bencher| bencher.iter(|| source.clone()));
    group.finish();
}

/// Frames of a fixed number of rows around the row.
fn moving(criterion: &mut Criterion) {
    let mut group = group(criterion, "moving");
    let two_stacks = Some(Strategy::TwoStacks);
    let cases = [
        ("sum", "v", None),
        ("avg", "v", None),
        ("count", "v", None),
        ("sum", "d", None),
        ("avg", "d", None),
        ("stddev", "d", None),
        ("min", "v", None),
        ("min", "d", None),
        ("min", "v", Some(Strategy::Deque)),
        ("sum", "v", two_stacks),
        ("min", "v", Some(Strategy::SegmentTree)),
        ("avg", "d", Some(Strategy::SegmentTree)),
        ("first_value", "v", None),
    ];
    for (nulls, batch) in inputs() {
        for (function, column, strategy) in cases {
            for width in WIDTHS {
                let before = width / 2;
                let frame = Frame::rows(Bound::preceding(before as i64), Bound::following((width - before - 1) as i64));
                let case = Case { strategy, ..Case::new(function, column, frame) };
                let forced = strategy.map(|strategy| format!(" by {strategy}")).unwrap_or_default();
                let name = format!("{function} {column}{forced}{nulls}, {width} rows");
                case.run(&mut group, &name, &batch, |row| {
                    (row.saturating_sub(before), (row + width - before).min(ROWS))
                });
            }
        }
    }
    group.finish();
}

/// Frames of a few rows: up to which width folding anew is fastest.
fn tiny(criterion: &mut Criterion) {
    let mut group = group(criterion, "tiny");
    let batch = input(false);
    for (function, column, other) in
        [("sum", "v", Strategy::Prefix), ("min", "v", Strategy::TwoStacks), ("avg", "d", Strategy::TwoStacks)]
    {
        for width in [1, 2, 4, 8, 16] {
            for strategy in [Strategy::Naive, other] {
                let frame = Frame::rows(Bound::preceding(width as i64 - 1), Bound::CurrentRow);
                let case = Case { strategy: Some(strategy), ..Case::new(function, column, frame) };
                let name = format!("{function} {column} by {strategy}, {width} rows");
                case.run(&mut group, &name, &batch, |row| ((row + 1).saturating_sub(width), row + 1));
            }
        }
    }
    group.finish();
}

/// Frames that begin or end with their partition, or span it: one partition, and 200,000 of them.
fn one_sided(criterion: &mut Criterion) {
    let mut group = group(criterion, "one_sided");
    for (nulls, batch) in inputs() {
        for partition in [ROWS, 5] {
            let begin = move |row: usize| row / partition * partition;
            let of = if partition == ROWS { "" } else { ", partitions of 5" };
            for (function, column) in [("sum", "v"), ("count", "v"), ("avg", "d"), ("min", "v")] {
                let case = |frame| Case { partition, ..Case::new(function, column, frame) };
                let name = |shape: &str| format!("{shape} {function} {column}{nulls}{of}");
                let growing = Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow);
                case(growing).run(&mut group, &name("growing"), &batch, |row| (begin(row), row + 1));
                let shrinking = Frame::rows(Bound::CurrentRow, Bound::UnboundedFollowing);
                case(shrinking).run(&mut group, &name("shrinking"), &batch, |row| (row, begin(row) + partition));
                let whole = |row| (begin(row), begin(row) + partition);
                case(Frame::entire()).run(&mut group, &name("entire"), &batch, whole);
            }
            let case = Case { frame: None, partition, ..Case::new("lag", "v", Frame::entire()) };
            let before = |row| if row == begin(row) { (row, row) } else { (row - 1, row) };
            case.run(&mut group, &format!("lag v{nulls}{of}"), &batch, before);
        }
    }
    group.finish();
}

criterion_group!(benches, copies, moving, tiny, one_sided);
criterion_main!(benches);
