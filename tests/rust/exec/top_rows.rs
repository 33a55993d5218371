//! The rows that a limit on a row number or rank can keep: all of these, and few others.
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, StringArray, UInt32Array};
use arrow_select::take::take_record_batch;
use windrow::{Call, Cancel, Counted, Options, OrderKey, Plan, WindowSpec};

use crate::batch::noise;
use crate::fuzz::cases;

const KEYS: [&str; 3] = ["long", "double", "text"];
const FUNCTIONS: [(&str, Counted); 3] =
    [("row_number", Counted::Rows), ("rank", Counted::Peers), ("dense_rank", Counted::Values)];

/// A generator of pseudorandom numbers below a bound.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut next = noise(seed);
    move |bound| next() as usize % bound
}

/// Rows of few partitions; keys with nulls, ties, NaN and -0.0, and texts that differ after the bytes of a word.
fn batch(below: &mut impl FnMut(usize) -> usize) -> RecordBatch {
    let rows = 200 + below(20_000);
    let partitions = 1 + below(9);
    let different = 1 + below(rows);
    let mut values = || -> Vec<_> { (0..rows).map(|_| (below(20) > 0).then(|| below(different) as i64)).collect() };
    let long: PrimitiveArray<Int64Type> = values().into_iter().collect();
    let odd = |x: i64| match x % 50 {
        0 => f64::NAN,
        1 => -0.0,
        2 => 0.0,
        _ => x as f64 - 30.0,
    };
    let double: PrimitiveArray<Float64Type> = values().into_iter().map(|x| x.map(odd)).collect();
    let text: StringArray = values().into_iter().map(|x| x.map(|x| format!("the same beginning {x}"))).collect();
    let k: PrimitiveArray<Int32Type> = (0..rows).map(|_| Some(below(partitions) as i32)).collect();
    let columns: [(&str, ArrayRef); 4] =
        [("k", Arc::new(k)), ("long", Arc::new(long)), ("double", Arc::new(double)), ("text", Arc::new(text))];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// The results of a plan's one call, and the row numbers of those that are at most `most`.
fn kept(plan: &Plan, batch: &RecordBatch, most: usize) -> Vec<(u32, i64)> {
    let results = plan.compute(batch).unwrap();
    let results = arrow_cast::cast(results.column(0), &arrow_schema::DataType::Int64).unwrap();
    let numbers = results.as_primitive::<Int64Type>().values().iter().copied();
    (0..).zip(numbers).filter(|&(_, number)| number <= most as i64).collect()
}

#[test]
fn the_rows_found_give_the_same_first_rows() {
    let (mut found_rows, mut compared) = (0, 0);
    for seed in 0..cases(60) {
        let mut below = random(u64::from(seed));
        let batch = batch(&mut below);
        for (function, counted) in FUNCTIONS {
            let mut keys: Vec<_> = KEYS.into_iter().filter(|_| below(2) == 0).collect();
            if keys.is_empty() {
                keys.push(KEYS[below(KEYS.len())]);
            }
            let keys: Vec<_> = keys
                .into_iter()
                .map(|key| {
                    let key = if below(2) == 0 { OrderKey::asc(key) } else { OrderKey::desc(key) };
                    key.nulls_first(below(2) == 0)
                })
                .collect();
            let spec = WindowSpec::new().partition_by(["k"]).order_by(keys).call(Call::new(function, []).alias("n"));
            let most = 1 + below(6);
            for threads in [1, 3] {
                let plan = Plan::new(batch.schema(), std::slice::from_ref(&spec), Options::default().threads(threads))
                    .unwrap();
                let cancel = Cancel::default();
                let Some(rows) = plan.top_rows(&batch, most, counted, &cancel).unwrap() else { continue };
                assert!(rows.is_sorted_by(|a, b| a < b), "{function}, seed {seed}");
                let rows = UInt32Array::from(rows);
                let few = take_record_batch(&batch, &rows).unwrap();
                let of_all = kept(&plan, &batch, most);
                let of_few: Vec<_> = kept(&plan, &few, most)
                    .into_iter()
                    .map(|(row, number)| (rows.values()[row as usize], number))
                    .collect();
                assert_eq!(of_few, of_all, "{function} <= {most}, {threads} threads, seed {seed}");
                found_rows += rows.len();
                compared += batch.num_rows();
            }
        }
    }
    assert!(compared > 10_000 * cases(60) as usize, "{compared} rows");
    assert!(found_rows < compared, "{found_rows} of {compared} rows");
}

#[test]
fn many_rows_a_partition_are_left_to_sorting() {
    let batch = batch(&mut random(1));
    let spec = WindowSpec::new().partition_by(["k"]).order_by(["long"]).call(Call::new("row_number", []).alias("n"));
    let plan = Plan::new(batch.schema(), &[spec], Options::default()).unwrap();
    for most in [0, batch.num_rows(), usize::MAX] {
        assert_eq!(plan.top_rows(&batch, most, Counted::Rows, &Cancel::default()).unwrap(), None);
    }
}
