//! Frames that move by one row, evaluated together, compared with folding each anew.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Strategy, WindowSpec};

/// Narrow and wide frames that move by one row, at one end or both, across partitions, with NULLs, NaNs and infinities:
/// the same results as for each frame alone.
#[test]
fn block_evaluation_matches_naive() {
    let rows = 2000_i64;
    let value = |row: i64| row * row % 1009 - 300;
    let some = |row: i64| (row % 7 > 1).then_some(value(row));
    let double = |value: i64| value as f64;
    // Frames with an infinity, with both, or with a NaN, after frames without any, and zeros of either sign.
    let strange = |row: i64| match row {
        350 | 1700 => f64::INFINITY,
        500 => f64::NEG_INFINITY,
        1300 => f64::NAN,
        _ if row % 3 == 0 => -0.0,
        _ if row < 900 => 0.0,
        _ => double(value(row)),
    };
    let columns: [(&str, ArrayRef); 7] = [
        ("p", Arc::new((0..rows).map(|row| Some(row / 900)).collect::<Int64Array>())),
        ("k", Arc::new((0..rows).map(Some).collect::<Int64Array>())),
        ("v", Arc::new((0..rows).map(some).collect::<Int64Array>())),
        ("w", Arc::new((0..rows).map(|row| Some(value(row))).collect::<Int64Array>())),
        ("d", Arc::new((0..rows).map(|row| Some(double(value(row)))).collect::<Float64Array>())),
        ("e", Arc::new((0..rows).map(|row| some(row).map(double)).collect::<Float64Array>())),
        ("x", Arc::new((0..rows).map(|row| some(row).map(|_| strange(row))).collect::<Float64Array>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let before = [Some(-300), Some(-10), Some(-1), Some(0), None];
    let behind = [Some(-200), Some(0), Some(1), Some(20), Some(300), None];
    let frames = before.into_iter().flat_map(|begin| behind.map(|end| (begin, end)));
    for (begin, end) in frames.filter(|(begin, end)| begin.unwrap_or(-300) <= end.unwrap_or(300)) {
        let bound = |rows: i64| if rows < 0 { Bound::preceding(-rows) } else { Bound::following(rows) };
        let frame =
            Frame::rows(begin.map_or(Bound::UnboundedPreceding, bound), end.map_or(Bound::UnboundedFollowing, bound));
        let answers = |strategy| {
            let columns = ["v", "w", "d", "e", "x"].into_iter();
            let names = ["min", "max", "sum", "count", "stddev_samp"].into_iter();
            let calls = columns.flat_map(|column| names.clone().map(move |name| (name, column)));
            let spec = WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("k")]);
            let spec = calls.fold(spec, |spec, (name, column)| {
                spec.call(Call::new(name, [Arg::column(column)]).over(frame.clone()))
            });
            let options = Options::default().strategy(strategy).threads(1);
            Plan::new(batch.schema(), &[spec], options).unwrap().compute(&batch).unwrap()
        };
        let (found, expected) = (answers(None), answers(Some(Strategy::Naive)));
        for (found, expected) in found.columns().iter().zip(expected.columns()) {
            let Some(floats) = found.as_primitive_opt::<Float64Type>() else {
                assert_eq!(found, expected, "{begin:?} {end:?}");
                continue;
            };
            // Sums of these values are exact, deviations are not.
            for (found, expected) in floats.iter().zip(expected.as_primitive::<Float64Type>()) {
                let alike = found.zip(expected).map(|(found, expected)| {
                    found.to_bits() == expected.to_bits()
                        || found.is_nan() && expected.is_nan()
                        || (found - expected).abs() <= 1e-12 * expected.abs() && expected != 0.0
                });
                assert!(alike.unwrap_or(found == expected), "{begin:?} {end:?}: {found:?} {expected:?}");
            }
        }
    }
}
