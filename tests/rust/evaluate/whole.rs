//! Whole partitions compared with folding each frame anew.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use windrow::{Arg, Call, Options, Plan, Strategy, WindowSpec};

/// Partitions of several rows each, sorted, in runs of three and unsorted, some without a value: the same results as
/// for each frame alone.
#[test]
fn whole_matches_naive() {
    let rows = 150_000_i64;
    let orders: [fn(i64) -> i64; 3] = [|row| row / 5, |row| row / 3 * 7919 % 30_011, |row| row * 7919 % 30_011];
    for (order, key) in orders.into_iter().enumerate() {
        let value = |row: i64| row * row % 1009 - 300;
        let some = |row: i64| (row % 7 > 2 && key(row) % 11 > 0).then_some(value(row));
        let columns: [(&str, ArrayRef); 6] = [
            ("p", Arc::new((0..rows).map(|row| Some(key(row))).collect::<Int64Array>())),
            ("v", Arc::new((0..rows).map(some).collect::<Int64Array>())),
            ("w", Arc::new((0..rows).map(|row| Some(value(row))).collect::<Int64Array>())),
            ("d", Arc::new((0..rows).map(|row| some(row).map(|value| value as f64)).collect::<Float64Array>())),
            ("e", Arc::new((0..rows).map(|row| Some(value(row) as f64)).collect::<Float64Array>())),
            ("b", Arc::new((0..rows).map(|row| some(row).map(|value| value > 600)).collect::<BooleanArray>())),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let answers = |strategy, threads| {
            let names = ["sum", "avg", "count", "max", "var_pop"].into_iter();
            let calls = names.flat_map(|name| ["v", "w", "d", "e"].map(|column| (name, column)));
            let spec =
                calls.chain([("bool_or", "b")]).fold(WindowSpec::new().partition_by(["p"]), |spec, (name, column)| {
                    spec.call(Call::new(name, [Arg::column(column)]))
                });
            let options = Options::default().threads(threads).strategy(strategy);
            Plan::new(batch.schema(), &[spec], options).unwrap().compute(&batch).unwrap()
        };
        let expected = answers(Some(Strategy::Naive), 1);
        for threads in [1, 2] {
            let found = answers(None, threads);
            let fields = found.schema();
            for ((field, found), expected) in fields.fields().iter().zip(found.columns()).zip(expected.columns()) {
                if field.name().starts_with("var_pop") {
                    // The pivot, and with it the rounding, depends on the strategy.
                    let [found, expected] = [found, expected].map(AsArray::as_primitive::<Float64Type>);
                    let near = |(found, expected): (Option<f64>, Option<f64>)| match (found, expected) {
                        (Some(found), Some(expected)) => (found - expected).abs() <= 1e-12 * expected.abs(),
                        (found, expected) => found == expected,
                    };
                    assert!(found.iter().zip(expected).all(near), "order {order}: {}", field.name());
                } else {
                    assert_eq!(found.to_data(), expected.to_data(), "order {order}: {}", field.name());
                }
            }
        }
    }
}
