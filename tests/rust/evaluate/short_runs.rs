//! Short partitions compared with folding each frame anew.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

/// Partitions of one row, of few and of many, within and across blocks, with NULLs, NaNs and infinities: the same
/// results as for each frame alone, also on two threads, which may split a partition.
#[test]
fn short_partitions_match_naive() {
    let (rows, mut partition) = (70_000_i64, 0);
    let keys = (0..rows).map(|row| {
        let length = [1, 2, 5, 9, 40, 300][(row / 700 % 6) as usize];
        partition += i64::from(row * 7919 % 1009 * length < 1009);
        partition
    });
    let value = |row: i64| row * row % 1009 - 300;
    let some = |row: i64| (row % 7 > 1).then_some(value(row));
    let strange = |row: i64| match row % 50 {
        17 => f64::NAN,
        30 => f64::INFINITY,
        31 => -0.0,
        _ => value(row) as f64,
    };
    let text = |row| some(row).map(|value| value.to_string());
    let columns: [(&str, ArrayRef); 6] = [
        ("p", Arc::new(keys.map(Some).collect::<Int64Array>())),
        ("k", Arc::new((0..rows).map(Some).collect::<Int64Array>())),
        ("v", Arc::new((0..rows).map(some).collect::<Int64Array>())),
        ("w", Arc::new((0..rows).map(|row| Some(value(row))).collect::<Int64Array>())),
        ("d", Arc::new((0..rows).map(|row| some(row).map(|_| strange(row))).collect::<Float64Array>())),
        ("t", Arc::new((0..rows).map(text).collect::<StringArray>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let frames = [
        (Bound::UnboundedPreceding, Bound::CurrentRow),
        (Bound::CurrentRow, Bound::UnboundedFollowing),
        (Bound::UnboundedPreceding, Bound::UnboundedFollowing),
        (Bound::preceding(9), Bound::following(9)),
    ];
    for (begin, end) in frames {
        let frame = Frame::rows(begin, end);
        let answers = |strategy, threads| {
            let names = ["min", "max", "sum", "count", "avg"].into_iter();
            let calls = names.flat_map(|name| ["v", "w", "d"].map(|column| (name, column)));
            let calls = calls.chain([("min", "t"), ("max", "t"), ("count", "t")]);
            let spec = WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("k")]);
            let spec = calls.fold(spec, |spec, (name, column)| {
                spec.call(Call::new(name, [Arg::column(column)]).over(frame.clone()))
            });
            let options = Options::default().threads(threads).strategy(strategy);
            Plan::new(batch.schema(), &[spec], options).unwrap().compute(&batch).unwrap()
        };
        let expected = answers(Some(Strategy::Naive), 1);
        for threads in [1, 2] {
            let found = answers(None, threads);
            for (found, expected) in found.columns().iter().zip(expected.columns()) {
                // Sums of these values are exact; compared as data, since a NaN does not equal itself.
                assert_eq!(found.to_data(), expected.to_data(), "{frame:?} on {threads}");
            }
        }
    }
}
