//! Sections: where rows may be cut, what is rejected, and what is carried across many sections. That results are those
//! of the whole input is tested for every function in `evaluate/strategies.rs`.
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, Int64Array, RecordBatch};
use proptest::prelude::*;
use windrow::{
    Arg, Bound, Call, Cancel, ErrorKind, Exclude, Frame, Neighbourhood, Options, OrderKey, Plan, Summary, WindowSpec,
};

use crate::fuzz::cases;

fn rows(keys: &[i64]) -> RecordBatch {
    table(keys.iter().copied().collect(), Arc::new((0..keys.len() as i64).collect::<Int64Array>()))
}

fn table(keys: Int64Array, values: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([("t", Arc::new(keys) as ArrayRef), ("v", values)]).unwrap()
}

fn plan(specs: &[WindowSpec]) -> Plan {
    Plan::new(rows(&[]).schema(), specs, Options::default().threads(1)).unwrap()
}

fn by_t(call: Call) -> WindowSpec {
    WindowSpec::new().order_by([OrderKey::asc("t")]).call(call)
}

fn v() -> [Arg; 1] {
    [Arg::column("v")]
}

/// Compares the results in sections of `length` rows with those of the whole; returns the surroundings of each section.
fn check_sections(plan: &Plan, all: &RecordBatch, length: usize) -> Vec<Neighbourhood> {
    let whole = plan.compute(all).unwrap();
    let begins = (0..all.num_rows()).step_by(length);
    let sections: Vec<_> = begins.map(|at| all.slice(at, length.min(all.num_rows() - at))).collect();
    let summaries: Vec<_> = sections.iter().map(|rows| plan.summarise(rows).unwrap()).collect();
    let arounds = plan.scan(&summaries).unwrap();
    for (number, (rows, around)) in sections.iter().zip(&arounds).enumerate() {
        let found = plan.evaluate_section(rows, around, &Cancel::default()).unwrap();
        assert_eq!(found, whole.slice(number * length, rows.num_rows()), "section {number} of {length} rows");
    }
    arounds
}

#[test]
fn sections_begin_with_a_peer_group_of_every_order() {
    let two = WindowSpec::new().order_by([OrderKey::asc("t"), OrderKey::asc("v")]).call(Call::new("row_number", []));
    let plans = [plan(std::slice::from_ref(&two)), plan(&[two, by_t(Call::new("rank", []))])];
    let cuts = |keys: &[i64]| plans.each_ref().map(|plan| plan.last_section_boundary(&rows(keys)).unwrap());
    assert_eq!(cuts(&[1, 1, 2, 2]), [Some(3), Some(2)]);
    assert_eq!(cuts(&[2, 2, 2]), [Some(2), None]);
    assert_eq!(cuts(&[2]), [None, None]);
    assert_eq!(cuts(&[]), [None, None]);
    let anywhere = plan(&[WindowSpec::new().call(Call::new("sum", v()))]);
    assert_eq!(anywhere.last_section_boundary(&rows(&[7, 7, 7])).unwrap(), Some(2));
}

#[test]
fn unsupported_sections_give_a_reason() {
    let median = plan(&[by_t(Call::new("median", v()))]);
    let refused = median.refuses_sections().unwrap();
    assert!(refused.starts_with("median(v)") && refused.contains("all rows of its partition"), "{refused}");
    let others = Frame { exclude: Exclude::Ties, ..Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow) };
    let peers = plan(&[WindowSpec::new().call(Call::new("count", []).over(others))]);
    assert!(peers.refuses_sections().unwrap().contains("are peers"));
    let orders =
        [by_t(Call::new("rank", [])), WindowSpec::new().order_by([OrderKey::asc("v")]).call(Call::new("rank", []))];
    assert!(plan(&orders).refuses_sections().unwrap().contains("more than one order"));
    for fine in ["sum", "max", "count", "avg", "first_value"] {
        assert_eq!(plan(&[by_t(Call::new(fine, v()))]).refuses_sections(), None);
        assert_eq!(plan(&[by_t(Call::new(fine, v()).over(Frame::entire()))]).refuses_sections(), None);
    }
}

/// Some plans can be summarised in any order; that their results are correct is tested in `evaluate/strategies.rs`.
#[test]
fn order_insensitive_plans_are_known() {
    let moving = Frame::rows(Bound::preceding(2), Bound::CurrentRow);
    let cases = [
        (by_t(Call::new("sum", v())), true),
        (by_t(Call::new("row_number", [])), true),
        (by_t(Call::new("max", v()).over(Frame::rows(Bound::CurrentRow, Bound::UnboundedFollowing))), true),
        (by_t(Call::new("sum", v()).over(moving)), false),
        (by_t(Call::new("count", v()).over(Frame::range(Bound::UnboundedPreceding, Bound::preceding(2)))), false),
        (by_t(Call::new("count", v()).over(Frame::rows(Bound::following(1), Bound::UnboundedFollowing))), false),
        (by_t(Call::new("rank", [])), false),
        (by_t(Call::new("first_value", v())), false),
        (by_t(Call::new("max_by", [Arg::column("v"), Arg::column("t")])), false),
        (by_t(Call::new("lag", v())), false),
        (by_t(Call::new("sum", v())).partition_by(["v"]), false),
    ];
    for (spec, any) in cases {
        assert_eq!(plan(std::slice::from_ref(&spec)).is_order_insensitive(), any, "{spec:?}");
    }
}

/// A frame may span many sections, each smaller than it.
#[test]
fn frames_reach_over_many_sections() {
    let keys: Vec<_> = (0..300).map(|row| row / 3).collect();
    let all = rows(&keys);
    let far = Frame::range(Bound::preceding(40), Bound::following(25));
    let plan = plan(&[
        by_t(Call::new("sum", v()).over(far.clone())),
        by_t(Call::new("count", v()).over(Frame::rows(Bound::preceding(70), Bound::following(55)))),
        by_t(Call::new("max", v()).over(Frame { exclude: Exclude::Group, ..far })),
        by_t(Call::new("sum", v()).over(Frame::range(Bound::following(20), Bound::UnboundedFollowing))),
        by_t(Call::new("dense_rank", [])),
        by_t(Call::new("count", []).over(Frame::groups(Bound::preceding(31), Bound::following(9)))),
    ]);
    for length in [3, 6, 30, 150, 300] {
        for around in check_sections(&plan, &all, length) {
            assert!(around.behind.num_rows() <= 150, "no more than frames reach, or twice that");
        }
    }
}

/// Sums are narrow where all values of a section are small, but those of other sections need not be: more than 64 bits
/// for bigints, more than 128 for decimals.
#[test]
fn large_terms_cancel_exactly() {
    let bigints = [1, 2, 3].into_iter().chain([i64::MAX - 1; 5]).chain([4, 5, 6]).collect::<Int64Array>();
    let digits = 34;
    let decimals = [7].repeat(5000).into_iter().chain([10_i128.pow(digits) - 1].repeat(20_000));
    let decimals = decimals.collect::<Decimal128Array>().with_precision_and_scale(digits as u8, 0).unwrap();
    let onward = Frame::rows(Bound::CurrentRow, Bound::UnboundedFollowing);
    let around = Frame::rows(Bound::preceding(1), Bound::UnboundedFollowing);
    let frames = [onward, around, Frame::rows(Bound::UnboundedPreceding, Bound::following(1)), Frame::entire()];
    let columns: [(ArrayRef, &[usize]); 2] = [(Arc::new(bigints), &[1, 2, 3]), (Arc::new(decimals), &[5000])];
    for (values, lengths) in columns {
        let all = table((0..values.len() as i64).collect(), values);
        let calls = frames.clone().map(|frame| by_t(Call::new("avg", v()).over(frame)));
        let plan = Plan::new(all.schema(), &calls, Options::default().threads(1)).unwrap();
        for &length in lengths {
            check_sections(&plan, &all, length);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(200), failure_persistence: None, ..ProptestConfig::default() })]

    /// Sections of any lengths, with partitions that begin and end anywhere, over values of which few sums fit 64 bits.
    #[test]
    fn sums_of_any_width(
        values in prop::collection::vec(prop_oneof![Just(i64::MAX), Just(i64::MIN), -3..4_i64], 2..40),
        new in prop::collection::vec(prop::bool::weighted(0.1), 40),
        lengths in prop::collection::vec(1..5_usize, 40),
        decimals in any::<bool>(),
    ) {
        let partitions: Int64Array = values.iter().zip(&new).scan(0, |p, (_, &new)| { *p += i64::from(new); Some(*p) }).collect();
        let times: Int64Array = (0..values.len() as i64).collect();
        let column: ArrayRef = if decimals {
            let wide = values.iter().map(|&value| i128::from(value) * 10_i128.pow(15));
            Arc::new(wide.collect::<Decimal128Array>().with_precision_and_scale(34, 0).unwrap())
        } else {
            Arc::new(values.iter().copied().collect::<Int64Array>())
        };
        let columns = [("p", Arc::new(partitions) as ArrayRef), ("t", Arc::new(times)), ("v", column)];
        let all = RecordBatch::try_from_iter(columns).unwrap();
        let frames = [
            Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow),
            Frame::rows(Bound::UnboundedPreceding, Bound::following(1)),
            Frame::rows(Bound::preceding(1), Bound::UnboundedFollowing),
            Frame::entire(),
        ];
        let names = ["avg", "try_sum"];
        let calls = names.iter().flat_map(|name| frames.iter().map(|frame| Call::new(*name, v()).over(frame.clone())));
        let spec = calls.fold(WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("t")]), WindowSpec::call);
        let plan = Plan::new(all.schema(), &[spec], Options::default().threads(1)).unwrap();
        let whole = plan.compute(&all).unwrap();
        let (mut sections, mut begin, mut lengths) = (Vec::new(), 0, lengths.into_iter());
        while begin < all.num_rows() {
            let length = lengths.next().unwrap().min(all.num_rows() - begin);
            sections.push((begin, all.slice(begin, length)));
            begin += length;
        }
        let summaries: Vec<_> = sections.iter().map(|(_, rows)| plan.summarise(rows).unwrap()).collect();
        for ((begin, rows), around) in sections.iter().zip(plan.scan(&summaries).unwrap()) {
            let found = plan.evaluate_section(rows, &around, &Cancel::default()).unwrap();
            prop_assert_eq!(found, whole.slice(*begin, rows.num_rows()));
        }
    }
}

#[test]
fn summaries_round_trip_as_bytes() {
    let plan = plan(&[by_t(Call::new("sum", v()))]);
    let bytes = plan.summarise(&rows(&[1, 2, 3])).unwrap().to_bytes(&plan).unwrap();
    let again = Summary::from_bytes(&[bytes], &plan).unwrap().remove(0);
    assert_eq!((again.rows, again.single, again.head.num_rows()), (3, true, 1));
    assert_eq!(again.before.rows.column(0).as_primitive::<Int64Type>().values(), &[3]);
    assert!(plan.summarise(&rows(&[])).is_err());
}

/// A query of two columns, such that any two queries differ in their summaries or in the meaning of them.
fn question() -> impl Strategy<Value = WindowSpec> {
    let frames = [
        Frame::entire(),
        Frame::rows(Bound::preceding(2), Bound::CurrentRow),
        Frame::range(Bound::UnboundedPreceding, Bound::CurrentRow),
        Frame::rows(Bound::CurrentRow, Bound::UnboundedFollowing),
    ];
    let call = prop_oneof![Just("sum"), Just("max"), Just("avg"), Just("count")];
    let column = || prop_oneof![Just("t"), Just("v")];
    let parts = (call, column(), 0..frames.len(), column(), any::<bool>(), prop::option::of(column()), any::<bool>());
    parts.prop_map(move |(name, argument, frame, key, descending, partition, filtered)| {
        let call = Call::new(name, [Arg::column(argument)]).over(frames[frame].clone());
        let call = if filtered { call.filter("f") } else { call };
        let key = if descending { OrderKey::desc(key) } else { OrderKey::asc(key) };
        let spec = WindowSpec::new().order_by([key]).call(call);
        if let Some(partition) = partition { spec.partition_by([partition]) } else { spec }
    })
}

fn three_columns(keys: &[i64]) -> RecordBatch {
    let column = |values: Vec<i64>| Arc::new(Int64Array::from(values)) as ArrayRef;
    let flags = keys.iter().map(|key| Some(key % 2 == 0)).collect::<BooleanArray>();
    let values = keys.iter().map(|key| key * 3 % 7).collect();
    let columns = [("t", column(keys.to_vec())), ("v", column(values)), ("f", Arc::new(flags) as ArrayRef)];
    RecordBatch::try_from_iter(columns).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(48), failure_persistence: None, ..ProptestConfig::default() })]

    /// A summary with changed bits or bytes, cut short, with bytes appended, or of another query is rejected.
    #[test]
    fn damaged_and_foreign_summaries_are_refused(
        spec in question(),
        other in question(),
        keys in prop::collection::vec(0..50_i64, 1..30),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8, 0..8_usize, 0..5_u8), 40),
    ) {
        let rows = three_columns(&keys);
        let options = || Options::default().threads(1);
        let [plan, foreign] = [&spec, &other].map(|spec| {
            Plan::new(rows.schema(), std::slice::from_ref(spec), options()).unwrap()
        });
        let bytes = plan.summarise(&rows).unwrap().to_bytes(&plan).unwrap();
        prop_assert!(Summary::from_bytes(&[&bytes], &plan).is_ok());
        let mut tried = 0;
        let mut refused = |bytes: &[u8], plan: &Plan| {
            tried += 1;
            let error = Summary::from_bytes(&[bytes], plan).unwrap_err();
            prop_assert_eq!(error.kind(), ErrorKind::Data, "{}", error);
            prop_assert!(error.message().contains("summary"), "{}", error);
            Ok(())
        };
        if format!("{spec:?}") != format!("{other:?}") {
            refused(&bytes, &foreign)?;
        }
        for (place, change, length, kind) in damage {
            let (at, mut changed) = (place.index(bytes.len()), bytes.clone());
            match kind {
                0 => changed[at] ^= 1 << (change % 8),
                1 => changed[at..(at + length + 1).min(bytes.len())].iter_mut().for_each(|byte| *byte ^= change),
                2 => changed.truncate(at),
                3 => changed.extend(vec![change; length + 1]),
                _ => drop(changed.drain(at..(at + length + 1).min(bytes.len()))),
            }
            refused(&changed, &plan)?;
        }
        prop_assert!(tried >= 40);
    }
}
