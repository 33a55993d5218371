//! Monotonic queues compared with folding each frame anew.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

/// Queues that hold a whole frame, almost nothing, and sizes between; with enough rows that removed rows are released
/// from memory several times.
#[test]
fn deque_matches_naive() {
    let rows = 12_000_i64;
    let values = |row: i64| match row / 2000 % 3 {
        0 => row,
        1 => -row,
        _ => row * 7919 % 1009,
    };
    let values = (0..rows).map(|row| (row % 11 > 0).then_some(values(row)));
    let columns: [(&str, ArrayRef); 4] = [
        ("p", Arc::new((0..rows).map(|row| Some(row / 7000)).collect::<Int64Array>())),
        ("t", Arc::new((0..rows).map(Some).collect::<Int64Array>())),
        ("v", Arc::new(values.clone().collect::<Int64Array>())),
        ("s", Arc::new(values.map(|value| value.map(|value| format!("{value:+06}"))).collect::<StringArray>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for (before, after) in [(1500, 500), (3, 0), (900, -300), (0, 1200)] {
        let after = if after < 0 { Bound::preceding(-after) } else { Bound::following(after) };
        let frame = Frame::rows(Bound::preceding(before), after);
        let chosen = |strategy| {
            let call = |(name, column): (&str, &str)| Call::new(name, [Arg::column(column)]).over(frame.clone());
            let calls = [("min", "v"), ("max", "v"), ("min", "s"), ("max", "s")].map(call);
            let spec = WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("t")]);
            let spec = calls.into_iter().fold(spec, WindowSpec::call);
            let options = Options::default().strategy(strategy).threads(1);
            Plan::new(batch.schema(), &[spec], options).unwrap().compute(&batch).unwrap()
        };
        assert_eq!(chosen(Strategy::Deque), chosen(Strategy::Naive), "{before} {frame:?}");
    }
}
