//! Calls that share a pass give the results of each call alone, over all rows and in a stream.
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_select::concat::concat_batches;
use proptest::prelude::*;
use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, Stream, WindowSpec};

use crate::support::{Row, batch, check, frame, row, units};

const COLUMNS: [&str; 8] = ["i32", "i64", "u64", "finite", "dec128", "dec256", "duration", "utf8"];

/// The calls over one column, in an order in which passes are not adjacent.
const ASKED: [&str; 12] = [
    "count",
    "avg",
    "stddev_samp",
    "sum",
    "max",
    "try_sum",
    "var_pop",
    "skewness",
    "try_avg",
    "var_samp",
    "kurtosis",
    "stddev_pop",
];

/// The calls over two columns.
const PAIRED: [&str; 11] = [
    "regr_slope",
    "corr",
    "regr_avgx",
    "covar_pop",
    "regr_r2",
    "regr_count",
    "covar_samp",
    "regr_sxx",
    "regr_syy",
    "regr_sxy",
    "regr_intercept",
];

/// All calls that the plan accepts for the frame, some of them filtered.
fn calls(batch: &RecordBatch, frame: &Frame) -> Vec<Call> {
    let mut calls = Vec::new();
    for filtered in [false, true] {
        let one =
            COLUMNS.iter().flat_map(|&column| ASKED.iter().map(move |name| Call::new(*name, [Arg::column(column)])));
        let two = PAIRED.iter().map(|name| Call::new(*name, [Arg::column("finite"), Arg::column("i32")]));
        for call in one.chain(two) {
            let mut call = call.over(frame.clone());
            call.name = format!("{} {}", call.function, calls.len());
            call.filter = filtered.then(|| "flag".into());
            if Plan::new(batch.schema(), &[spec([call.clone()])], options(1)).is_ok() {
                calls.push(call);
            }
        }
    }
    calls
}

fn spec(calls: impl IntoIterator<Item = Call>) -> WindowSpec {
    let spec = WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("k")]);
    calls.into_iter().fold(spec, WindowSpec::call)
}

fn options(threads: usize) -> Options {
    Options::default().threads(threads)
}

fn streamed(batch: &RecordBatch, plan: Plan, cut: usize) -> Vec<ArrayRef> {
    let width = batch.num_columns();
    let mut stream = Stream::new(Arc::new(plan)).unwrap();
    let mut out = Vec::new();
    for at in (0..batch.num_rows()).step_by(cut) {
        out.extend(stream.push(batch.slice(at, cut.min(batch.num_rows() - at))).unwrap());
    }
    out.extend(stream.finish().unwrap());
    concat_batches(stream.schema(), &out).unwrap().columns()[width..].to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::fuzz::cases(48), max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shared_pass_matches_single_calls(
        rows in prop::collection::vec(row(), 0..40),
        frame in frame(units()),
        cut in 1..20_usize,
    ) {
        let mut rows: Vec<Row> = rows;
        rows.sort_by_key(|row| (row.partition, row.key));
        let batch = batch(&rows);
        let calls = calls(&batch, &frame);
        prop_assume!(!calls.is_empty());
        let together = Plan::new(batch.schema(), &[spec(calls.clone())], options(2)).unwrap();
        let explained = together.explain();
        prop_assert!(explained.iter().filter(|call| call.reason.starts_with("read off")).count() > calls.len() / 2);
        let answers = together.compute(&batch).unwrap();
        let parts = streamed(&batch, together, cut);
        for (number, call) in calls.iter().enumerate() {
            let alone = Plan::new(batch.schema(), &[spec([call.clone()])], options(1)).unwrap();
            let expected = alone.compute(&batch).unwrap();
            let (expected_schema, schema) = (expected.schema(), answers.schema());
            prop_assert_eq!(expected_schema.field(0), schema.field(number));
            for found in [answers.column(number), &parts[number]] {
                check(expected.column(0), found, 1e-7).map_err(|why| TestCaseError::fail(format!("{call:?}: {why}")))?;
            }
        }
    }
}

/// An overflow is reported for the call that caused it, whichever other calls share its states.
#[test]
fn error_names_the_failing_call() {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX, 1]));
    let batch = RecordBatch::try_from_iter([("p", column.clone()), ("k", column.clone()), ("v", column)]).unwrap();
    for frame in [Frame::entire(), Frame::rows(Bound::preceding(3), Bound::following(3))] {
        let call = |name: &str| Call::new(name, [Arg::column("v")]).over(frame.clone());
        let spec = [call("avg"), call("count"), call("sum")].into_iter().fold(WindowSpec::new(), WindowSpec::call);
        let spec = spec.order_by([OrderKey::asc("k")]);
        let error = Plan::new(batch.schema(), &[spec], options(1)).unwrap().compute(&batch).unwrap_err();
        assert!(error.message().starts_with("sum(v) OVER"), "{error}");
    }
}
