//! One sort serves calls of a shorter order only where ties cannot change their results.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use windrow::{Arg, Bound, Call, Exclude, Frame, Literal, Options, OrderKey, Plan, SharedSort, Stream, WindowSpec};

fn plan(specs: &[WindowSpec]) -> Plan {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    let numbers = ["k", "t", "u", "id", "v"].map(|name| field(name, DataType::Int64));
    let others = [field("x", DataType::Float64), field("s", DataType::Utf8)];
    let schema = Schema::new(numbers.into_iter().chain(others).collect::<Vec<_>>());
    Plan::new(Arc::new(schema), specs, Options::default()).unwrap()
}

fn over(order: &[&str], call: Call) -> WindowSpec {
    WindowSpec::new().partition_by(["k"]).order_by(order.iter().copied().map(OrderKey::asc)).call(call)
}

fn call(function: &str) -> Call {
    let arguments: &[&str] = match function {
        "row_number" | "rank" | "dense_rank" | "percent_rank" | "cume_dist" | "count" => &[],
        "min_by" => &["v", "x"],
        "listagg" => &["s"],
        "avg" | "ewm_mean" | "stddev" => &["x"],
        _ => &["v"],
    };
    let literal = (function == "ewm_mean").then(|| Arg::from(Literal::Float(0.5)));
    Call::new(function, arguments.iter().copied().map(Arg::column).chain(literal))
}

/// The number of sorts for a call of the shorter order together with one of the longer.
fn sorts(shorter: WindowSpec) -> usize {
    let plan = plan(&[shorter, over(&["t", "id"], call("row_number"))]);
    let streams = Stream::new(Arc::new(plan.clone())).is_ok_and(|stream| stream.sort_keys().is_ok());
    assert_eq!(streams, plan.sorts().len() == 1);
    plan.sorts().len()
}

#[test]
fn ties_of_the_shorter_order() {
    let blind = [
        "rank",
        "dense_rank",
        "percent_rank",
        "cume_dist",
        "sum",
        "count",
        "min",
        "max",
        "avg",
        "stddev",
        "median",
        "mode",
        "collect_set",
        "bit_xor",
        "approx_count_distinct",
    ];
    for function in blind {
        assert_eq!(sorts(over(&["t"], call(function))), 1, "{function}");
    }
    for function in
        ["row_number", "lag", "lead", "first_value", "last_value", "collect_list", "listagg", "min_by", "ewm_mean"]
    {
        assert_eq!(sorts(over(&["t"], call(function))), 2, "{function}");
    }
    let rows = || Frame::rows(Bound::preceding(1), Bound::CurrentRow);
    let groups = || Frame::groups(Bound::preceding(1), Bound::CurrentRow);
    assert_eq!(sorts(over(&["t"], call("sum").over(rows()))), 2);
    assert_eq!(sorts(over(&["t"], call("sum").over(groups().exclude(Exclude::CurrentRow)))), 1);
    assert_eq!(sorts(over(&[], call("sum"))), 1);
    assert_eq!(sorts(over(&[], call("collect_list"))), 2);
    assert_eq!(sorts(over(&["id"], call("rank"))), 2);
}

#[test]
fn shorter_orders_come_first_and_ties_need_row_numbers() {
    let sort = |calls: &[usize], by_position| SharedSort { calls: calls.to_vec(), by_position };
    let row_number = |order: &[&str]| over(order, call("row_number"));
    let found = plan(&[row_number(&["t", "id"]), row_number(&["t"]), over(&["t"], call("rank"))]).sorts();
    assert_eq!(found, [sort(&[1, 2], false), sort(&[0], false)]);
    let found = plan(&[row_number(&["t"]), row_number(&["u"]), row_number(&["u", "t"])]).sorts();
    assert_eq!(found, [sort(&[0], false), sort(&[1], true), sort(&[2], false)]);
    // Calls whose results ties cannot change need no row numbers.
    let found = plan(&[row_number(&["t"]), over(&["u"], call("rank"))]).sorts();
    assert_eq!(found, [sort(&[0], false), sort(&[1], false)]);
}
