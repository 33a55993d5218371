//! Prefix differences compared with folding each frame anew.

use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch};
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

/// Frames whose ends move by no row, by one and by many, over many blocks, across partitions and jumps.
#[test]
fn prefix_matches_naive() {
    let mut key = 0;
    let keys = (0..6000_i64).map(|row| {
        key += (row * row % 7) * i64::from(row / 1500 % 2 == 0) + 40 * i64::from(row % 1100 == 0);
        key
    });
    let values = |row: i64| row * 31 % 1000 - 300;
    let columns: [(&str, ArrayRef); 5] = [
        ("p", Arc::new((0..6000).map(|row| Some(row / 2500)).collect::<Int64Array>())),
        ("k", Arc::new(keys.map(Some).collect::<Int64Array>())),
        ("v", Arc::new((0..6000).map(|row| (row % 5 > 0).then_some(values(row))).collect::<Int64Array>())),
        ("w", Arc::new((0..6000).map(values).collect::<Int64Array>())),
        ("m", Arc::new((0..6000).map(|row| (row % 3 > 0).then_some(i128::from(row))).collect::<Decimal128Array>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    // Both ends move by one row, one end does, neither does; then by any number of rows.
    let rows = [(-1000, 1000), (-400, -200), (200, 400), (-3, 0), (0, 900), (-2600, 10), (-10, 2600), (-2000, 2400)];
    let range = [(-9, 9), (-30, -3), (3, 30), (0, 200), (-2, 0)];
    let frames = rows.map(|frame| (Frame::rows as fn(Bound, Bound) -> Frame, frame));
    for (frame, ends) in frames.into_iter().chain(range.map(|ends| (Frame::range as _, ends))) {
        let bound = |rows: i64| if rows < 0 { Bound::preceding(-rows) } else { Bound::following(rows) };
        let frame = frame(bound(ends.0), bound(ends.1));
        let sums = |strategy| {
            let call = |name: &str, column| Call::new(name, [Arg::column(column)]).over(frame.clone());
            let calls = [("sum", "v"), ("avg", "v"), ("count", "v"), ("sum", "w"), ("sum", "m"), ("max", "v")];
            let spec = WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("k")]);
            let spec = calls.into_iter().fold(spec, |spec, (name, column)| spec.call(call(name, column)));
            let options = Options::default().strategy(strategy).threads(1);
            Plan::new(batch.schema(), &[spec], options).unwrap().compute(&batch).unwrap()
        };
        assert_eq!(sums(None), sums(Some(Strategy::Naive)), "{ends:?}");
    }
}
