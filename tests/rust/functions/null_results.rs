//! NULL where the frame has no value, or fewer rows than `min_rows`: the same for every layout of a column as for a
//! plain one.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, UnionArray};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, UnionFields};
use proptest::prelude::*;
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, WindowSpec};

use crate::fuzz::cases;

/// The values as strings, which do not depend on the layout.
fn shown(column: &ArrayRef) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let formatter = ArrayFormatter::try_new(column, &options).unwrap();
    (0..column.len()).map(|row| formatter.value(row).to_string()).collect()
}

fn run_ends(values: &ArrayRef) -> ArrayRef {
    let ends = Arc::new(Field::new("run_ends", DataType::Int32, false));
    let kind = DataType::RunEndEncoded(ends, Arc::new(Field::new("values", DataType::Int64, true)));
    cast(values, &kind).unwrap()
}

/// A union of one type, which has no validity bitmap of its own.
fn union(values: &ArrayRef) -> ArrayRef {
    let fields = UnionFields::try_new([0], [Field::new("v", DataType::Int64, true)]).unwrap();
    let ids = vec![0_i8; values.len()];
    Arc::new(UnionArray::try_new(fields, ids.into(), None, vec![values.clone()]).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn are_those_of_plain_columns(
        rows in prop::collection::vec((0..3_i32, prop::option::weighted(0.8, 0..3_i64), any::<bool>()), 1..30),
        (before, length) in (-2..3_i64, 0..3_i64),
        min_rows in prop::option::of(1..4_u64),
        entire in any::<bool>(),
        filtered in any::<bool>(),
    ) {
        let values: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<Int64Array>());
        let mut partitions: Vec<_> = rows.iter().map(|row| row.0).collect();
        partitions.sort_unstable();
        let batch = |column: ArrayRef| {
            let times = (0..rows.len() as i64).collect::<Int64Array>();
            RecordBatch::try_from_iter([
                ("p", Arc::new(Int32Array::from(partitions.clone())) as ArrayRef),
                ("t", Arc::new(times)),
                ("f", Arc::new(rows.iter().map(|row| Some(row.2)).collect::<BooleanArray>())),
                ("v", column),
            ])
            .unwrap()
        };
        let at = |rows: i64| if rows < 0 { Bound::preceding(-rows) } else { Bound::following(rows) };
        let frame = if entire { Frame::entire() } else { Frame::rows(at(before), at(before + length)) };
        let (v, t) = (Arg::column("v"), Arg::column("t"));
        let any_type = [
            Call::new("first_value", [v.clone()]),
            Call::new("last_value", [v.clone()]),
            Call::new("any_value", [v.clone()]),
            Call::new("nth_value", [v.clone(), Arg::from(2)]),
            Call::new("max_by", [v.clone(), t.clone()]),
            Call::new("min_by", [v.clone(), t]),
        ];
        let ordered = ["min", "max", "mode"].map(|name| Call::new(name, [v.clone()]));
        let answers = |column: ArrayRef, calls: &[Call]| {
            let batch = batch(column);
            let call = |call: &Call| {
                let call = call.clone().over(frame.clone());
                let call = if filtered && call.function != "nth_value" { call.filter("f") } else { call };
                min_rows.iter().fold(call, |call, &rows| call.min_rows(rows))
            };
            let calls = calls.iter().enumerate().map(|(number, c)| call(c).alias(format!("c{number}")));
            let spec = calls.fold(WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("t")]), WindowSpec::call);
            let plan = Plan::new(batch.schema(), &[spec], Options::default()).unwrap();
            plan.compute(&batch).unwrap().columns().iter().map(shown).collect::<Vec<_>>()
        };
        let all: Vec<_> = any_type.iter().chain(&ordered).cloned().collect();
        let plain = answers(values.clone(), &all);
        prop_assert_eq!(plain.len(), 9);
        prop_assert_eq!(&answers(run_ends(&values), &all), &plain);
        let of_union = answers(union(&values), &any_type);
        let unwrapped: Vec<Vec<_>> = of_union
            .iter()
            .map(|column| column.iter().map(|text| text.trim_start_matches("{v=").trim_end_matches('}').to_string()).collect())
            .collect();
        prop_assert_eq!(&unwrapped[..], &plain[..6]);
    }
}
