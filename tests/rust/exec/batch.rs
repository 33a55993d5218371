//! Many partitions in many blocks give the results of each partition alone. The columns of unsorted rows are
//! declustered, those of a single partition are not.
use std::sync::Arc;

use arrow_array::types::{
    Decimal128Type, Decimal256Type, Float32Type, Int8Type, Int16Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, BooleanArray, Int32Array, PrimitiveArray, RecordBatch, StringArray, UInt32Array};
use arrow_buffer::i256;
use arrow_select::concat::concat;
use arrow_select::take::{take, take_record_batch};
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, WindowSpec};

use crate::fuzz::cases;

/// Sizes of partitions: smaller and larger than a block, and between them `TINY` partitions of three rows.
const LARGE: [usize; 7] = [1, 40_000, 32_768, 150_000, 5, 32_767, 20_000];
const TINY: u32 = 20_000;

/// Pseudorandom integers.
pub fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

/// The rows, and the row numbers of each partition.
fn rows(shuffled: bool) -> (RecordBatch, Vec<Vec<u32>>) {
    let mut next = noise(7);
    let mut keys = Vec::new();
    for size in LARGE.into_iter().chain(std::iter::repeat_n(3, cases(TINY) as usize)).chain(LARGE) {
        let key = keys.last().map_or(0, |last: &i32| last + 1);
        keys.extend(std::iter::repeat_n(key, size));
    }
    let rows = keys.len();
    if shuffled {
        for row in 0..rows {
            keys.swap(row, row + next() as usize % (rows - row));
        }
    }
    let mut partitions = vec![Vec::new(); *keys.iter().max().unwrap() as usize + 1];
    for (row, &key) in keys.iter().enumerate() {
        partitions[key as usize].push(row as u32);
    }
    let mut longs = |null_every: u64| -> Vec<Option<i64>> {
        (0..rows).map(|_| Some(next()).filter(|x| x % null_every > 0).map(|x| (x % 2000) as i64 - 1000)).collect()
    };
    let order: Vec<i64> =
        if shuffled { longs(u64::MAX).into_iter().flatten().collect() } else { (0..).take(rows).collect() };
    let (some, few) = (longs(10), longs(3));
    let columns: [(&str, ArrayRef); 11] = [
        ("k", Arc::new(Int32Array::from(keys))),
        ("t", Arc::new(PrimitiveArray::<Int64Type>::from(order))),
        ("long", Arc::new(PrimitiveArray::<Int64Type>::from(some.clone()))),
        ("byte", Arc::new(few.iter().map(|x| x.map(|x| x as i8)).collect::<PrimitiveArray<Int8Type>>())),
        ("short", Arc::new(some.iter().map(|x| x.map(|x| x as i16)).collect::<PrimitiveArray<Int16Type>>())),
        ("wide", Arc::new(some.iter().map(|x| x.map(i256::from)).collect::<PrimitiveArray<Decimal256Type>>())),
        ("float", Arc::new(some.iter().map(|x| x.map(|x| x as f32)).collect::<PrimitiveArray<Float32Type>>())),
        ("decimal", Arc::new(few.iter().map(|x| x.map(i128::from)).collect::<PrimitiveArray<Decimal128Type>>())),
        (
            "time",
            Arc::new(few.iter().copied().collect::<PrimitiveArray<TimestampMicrosecondType>>().with_timezone("UTC")),
        ),
        ("flag", Arc::new(few.iter().map(|x| x.map(|x| x > 0)).collect::<BooleanArray>())),
        ("text", Arc::new(some.iter().map(|x| x.map(|x| format!("{x}"))).collect::<StringArray>())),
    ];
    (RecordBatch::try_from_iter(columns).unwrap(), partitions)
}

/// Calls with every kind of result type, over every kind of frame.
fn plan(batch: &RecordBatch, threads: usize) -> Plan {
    let near = || Frame::rows(Bound::preceding(50), Bound::following(50));
    let range = || Frame::range(Bound::preceding(20), Bound::CurrentRow);
    let shrinking = || Frame::rows(Bound::CurrentRow, Bound::UnboundedFollowing);
    let columns = ["long", "byte", "short", "wide", "float", "decimal", "time", "flag", "text"];
    let min = |&column: &&str| Call::new("min", [Arg::column(column)]).over(near());
    let lag = |&column: &&str| Call::new("lag", [Arg::column(column)]);
    let calls = columns.iter().map(min).chain(columns.iter().map(lag)).chain([
        Call::new("row_number", []),
        Call::new("rank", []),
        Call::new("sum", [Arg::column("long")]),
        Call::new("sum", [Arg::column("decimal")]).over(range()),
        Call::new("avg", [Arg::column("long")]).over(near()),
        Call::new("count", [Arg::column("text")]).over(near()),
        Call::new("median", [Arg::column("long")]).over(near()),
        Call::new("max", [Arg::column("time")]).over(shrinking()),
        Call::new("last_value", [Arg::column("text")]).over(shrinking()),
    ]);
    let spec = WindowSpec::new().partition_by(["k"]).order_by([OrderKey::asc("t")]);
    let spec = calls.enumerate().fold(spec, |spec, (number, mut call)| {
        call.name = format!("c{number}");
        spec.call(call)
    });
    Plan::new(batch.schema(), &[spec], Options::default().threads(threads)).unwrap()
}

fn check(batch: &RecordBatch, partitions: &[Vec<u32>]) {
    let plan = |threads| plan(batch, threads);
    let own: Vec<_> = partitions
        .iter()
        .map(|rows| plan(1).compute(&take_record_batch(batch, &UInt32Array::from(rows.clone())).unwrap()).unwrap())
        .collect();
    let mut place = vec![0; batch.num_rows()];
    for (at, &row) in partitions.iter().flatten().enumerate() {
        place[row as usize] = at as u32;
    }
    let place = UInt32Array::from(place);
    for threads in [1, 2, 3] {
        let all = plan(threads).compute(batch).unwrap();
        for (number, column) in all.columns().iter().enumerate() {
            let pieces: Vec<_> = own.iter().map(|answer| answer.column(number).as_ref()).collect();
            let expected = take(&concat(&pieces).unwrap(), &place, None).unwrap();
            assert_eq!(column.to_data(), expected.to_data(), "column {number}, {threads} threads");
        }
    }
}

#[test]
fn unsorted_rows_match_partitions_alone() {
    let (batch, partitions) = rows(true);
    check(&batch, &partitions);
}

#[test]
fn sorted_rows_match_partitions_alone() {
    let (batch, partitions) = rows(false);
    check(&batch, &partitions);
}

#[test]
fn sorted_slice_matches_partitions_alone() {
    let (batch, partitions) = rows(false);
    let cut = partitions[0].len() + partitions[1].len();
    let kept: Vec<Vec<_>> =
        partitions[2..].iter().map(|rows| rows.iter().map(|row| row - cut as u32).collect()).collect();
    check(&batch.slice(cut, batch.num_rows() - cut), &kept);
}

#[test]
fn unsorted_slice_matches_partitions_alone() {
    let (batch, partitions) = rows(true);
    let cut = 1001;
    let kept = |rows: &Vec<u32>| rows.iter().filter_map(|row| row.checked_sub(cut)).collect::<Vec<_>>();
    check(
        &batch.slice(cut as usize, batch.num_rows() - cut as usize),
        &partitions.iter().map(kept).collect::<Vec<_>>(),
    );
}
