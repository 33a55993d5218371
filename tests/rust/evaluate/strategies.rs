//! Each strategy agrees with `naive`, and a stream cut anywhere agrees with the whole, for every function, frame
//! shape, EXCLUDE mode and type family.
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, SortOptions};
use arrow_select::concat::concat_batches;
use proptest::prelude::*;
use rayon::prelude::*;
use windrow::catalog::{Distinct, FUNCTIONS, Family, Function};
use windrow::internals::{FunctionId, Modifiers, SortColumn, gather, sort};
use windrow::{
    Arg, Bound, Call, Cancel, Exclude, Frame, Literal, Nulls, Options, OrderKey, Plan, Stream, Summary, WindowSpec,
    catalog,
};

use crate::fuzz::cases;
use crate::support::{Row, VALUES, batch, check, frame, row, units};

/// A window over the columns of [`batch`].
#[derive(Debug, Clone)]
struct Window {
    partitioned: bool,
    key: &'static str,
    descending: bool,
    nulls_first: bool,
    frame: Frame,
    filtered: bool,
    ignore_nulls: bool,
    min_rows: Option<u64>,
    distinct: bool,
    argument_ordered: bool,
}

fn window() -> impl Strategy<Value = Window> {
    let key = prop_oneof![Just("k"), Just("kf"), Just("kd")];
    // Of eight frames one has its begin, one its end, and one both from a column of offsets.
    let frame = (frame(units()), 0..8_u8).prop_map(|(frame, by_column)| {
        let off = || Arg::column("off");
        let start = if by_column % 2 == 1 && by_column < 4 { Bound::Preceding(off()) } else { frame.start };
        let end = if matches!(by_column, 2 | 3) { Bound::Following(off()) } else { frame.end };
        Frame { start, end, ..frame }
    });
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<[bool; 2]>());
    (flags, key, frame, prop_oneof![4 => Just(None), 1 => (0..4_u64).prop_map(Some)]).prop_map(
        |(
            (partitioned, descending, nulls_first, filtered, ignore_nulls, [distinct, argument_ordered]),
            key,
            frame,
            min_rows,
        )| Window {
            distinct,
            argument_ordered,
            partitioned,
            key,
            descending,
            nulls_first,
            frame,
            filtered,
            ignore_nulls,
            min_rows,
        },
    )
}

impl Window {
    fn spec(&self) -> WindowSpec {
        let key = OrderKey { column: self.key.into(), options: SortOptions::new(self.descending, self.nulls_first) };
        let spec = WindowSpec::new().order_by([key]);
        if self.partitioned { spec.partition_by(["p"]) } else { spec }
    }

    /// The calls of `function` for each type that it accepts.
    fn calls(&self, function: &Function, schema: &RecordBatch) -> Vec<Call> {
        let literals = |values: &[i64]| values.iter().map(|&value| Arg::from(value)).collect::<Vec<_>>();
        let calls: Vec<Call> = match (function.family, function.function_id) {
            (Family::Ranking, FunctionId::Ntile) => vec![Call::new(function.name, literals(&[3]))],
            (Family::Ranking, FunctionId::RankWith) => {
                ranks(function.name).into_iter().chain([Call::new(function.name, [text("dense")])]).collect()
            }
            (Family::Ranking, _) => vec![Call::new(function.name, [])],
            _ => VALUES
                .iter()
                .filter(|name| {
                    let data_type = schema.column_by_name(name).unwrap().data_type().clone();
                    let types = [data_type.clone(), DataType::Float64, DataType::Float64];
                    // Strings are accepted as booleans too, but these strings contain numbers.
                    let logic =
                        matches!(function.function_id, FunctionId::BoolAnd | FunctionId::BoolOr | FunctionId::CountIf);
                    (!logic || data_type == DataType::Boolean)
                        && function
                            .signature(&types[..function.argument_count().0.clamp(1, 3)], Modifiers::default())
                            .is_ok()
                })
                .flat_map(|&name| {
                    let column = Arg::column(name);
                    match (function.family, function.function_id) {
                        (_, FunctionId::Nth) => {
                            vec![vec![column.clone(), Arg::from(2)], vec![column, Arg::column("i8")]]
                        }
                        (Family::Offset, _) => vec![
                            vec![column.clone()],
                            vec![column.clone(), Arg::from(-2), Arg::Literal(Literal::Null)],
                            vec![column.clone(), Arg::from(3), column.clone()],
                            vec![column.clone(), Arg::from(0)],
                            vec![column.clone(), Arg::column("i16"), column],
                        ]
                        .into_iter()
                        .chain((self.key == "kd").then(|| vec![Arg::column(name), self.distance(2)]))
                        .collect(),
                        (_, FunctionId::Listagg) => {
                            vec![vec![column.clone()], vec![column, Arg::Literal(Literal::Utf8(", ".into()))]]
                        }
                        (_, function_id) if quantile(function_id) && function.argument_count().0 > 1 => vec![],
                        // As many bins as there are values: then the order of merges does not matter.
                        (_, FunctionId::HistogramNumeric) => vec![vec![column, Arg::from(9)]],
                        (_, FunctionId::EwmMean | FunctionId::EwmVar | FunctionId::EwmStd) => {
                            let alpha = || Arg::Literal(Literal::Float(0.3));
                            let plain = || Arg::Literal(Literal::Boolean(false));
                            let mut calls = vec![vec![column.clone(), alpha()], vec![column.clone(), alpha(), plain()]];
                            if self.key == "kd" {
                                calls.push(vec![column.clone(), self.distance(2)]);
                                calls.push(vec![column, self.distance(2), plain()]);
                            }
                            calls
                        }
                        (_, FunctionId::EwmCov | FunctionId::EwmCorr) => {
                            let alpha = || Arg::Literal(Literal::Float(0.3));
                            let plain = Arg::Literal(Literal::Boolean(false));
                            let second = || Arg::column("finite");
                            vec![vec![column.clone(), second(), alpha()], vec![column, second(), alpha(), plain]]
                        }
                        (_, FunctionId::EwmMeanBy) => {
                            let days = Arg::Literal(Literal::Interval { months: 0, days: 20, micros: 0 });
                            vec![
                                vec![column.clone(), Arg::column("k"), Arg::from(2)],
                                vec![column.clone(), Arg::column("finite"), Arg::Literal(Literal::Float(0.5))],
                                vec![column, Arg::column("kd"), days],
                            ]
                        }
                        (_, FunctionId::BoundedSum) => {
                            let null = || Arg::Literal(Literal::Null);
                            let float = |value: f64| Arg::Literal(Literal::Float(value));
                            // A sum of unsigned values is unsigned.
                            let start = if name.starts_with('u') && name != "utf8" { 0.0 } else { -7.0 };
                            vec![
                                vec![column.clone()],
                                vec![column.clone(), float(-2.0), Arg::from(5), Arg::from(1)],
                                vec![column.clone(), null(), Arg::from(3), float(start)],
                                vec![column, null()],
                            ]
                        }
                        (_, FunctionId::Fill | FunctionId::FillForward | FunctionId::FillBackward) => {
                            vec![vec![column.clone()], vec![column, self.distance(2)]]
                        }
                        // A counter is never negative.
                        (_, FunctionId::CounterDiff) if !name.starts_with('u') || name == "utf8" => vec![],
                        (_, FunctionId::CounterDiff) => {
                            let start = Arg::Literal(Literal::Timestamp { micros: 0, zoned: false });
                            vec![vec![column.clone()], vec![column, start]]
                        }
                        (_, FunctionId::GroupId) => vec![],
                        // The second argument is not a function of the value: ties in one are not ties in the other.
                        (_, FunctionId::MinBy | FunctionId::MaxBy) => {
                            vec![vec![column.clone(), Arg::column("k")], vec![Arg::column("k"), column]]
                        }
                        _ if function.argument_count() == (2, 2) && function.family == Family::Aggregate => {
                            vec![vec![column.clone(), Arg::column("finite")], vec![column, Arg::column("k")]]
                        }
                        _ => vec![vec![column]],
                    }
                })
                .map(|args| Call::new(function.name, args))
                .collect(),
        };
        let calls = calls.into_iter().chain(self.ordered(function, schema));
        let dress = |mut call: Call| {
            let own = call.args.first().filter(|_| call.distinct || function.function_id == FunctionId::Mode);
            let ordered = match function.function_id {
                FunctionId::CollectList | FunctionId::Listagg | FunctionId::Mode => self.argument_ordered,
                FunctionId::DenseRank => self.argument_ordered,
                _ => false,
            };
            if ordered {
                let column = match own {
                    Some(Arg::Column(own)) => own.clone(),
                    _ => "f64".into(),
                };
                call.argument_order =
                    vec![OrderKey { column, options: SortOptions::new(self.distinct, self.filtered) }];
            }
            if function.takes_frame(!call.argument_order.is_empty()) {
                call.frame = Some(self.frame.clone());
                call.min_rows = self.min_rows;
            }
            if function.filter && self.filtered {
                call.filter = Some("flag".into());
            }
            if function.takes_ignore_nulls() && self.ignore_nulls {
                call.nulls = Nulls::Ignore;
            } else if function.function_id == FunctionId::CollectList && self.distinct {
                call.nulls = Nulls::Respect;
            }
            call
        };
        // A frequency is the multiplicity of a value, which is always one with DISTINCT.
        let frequency = |call: &Call| function.function_id == FunctionId::Percentile && call.args.len() > 2;
        let distinct = |call: Call| match function.distinct {
            Distinct::Counts if self.distinct && !call.args.is_empty() && !frequency(&call) => call.distinct(),
            _ => call,
        };
        calls.map(distinct).map(dress).collect()
    }

    /// The calls of `function` with an argument order, or with constants among the arguments.
    fn ordered(&self, function: &Function, schema: &RecordBatch) -> Vec<Call> {
        let takes = |name: &&str| {
            let data_type = schema.column_by_name(name).unwrap().data_type().clone();
            let types = [data_type, DataType::Float64, DataType::Float64];
            function.signature(&types[..function.argument_count().0.clamp(1, 3)], Modifiers::default()).is_ok()
        };
        let columns = || VALUES.iter().copied().filter(takes);
        let key = |column: &str| OrderKey {
            column: column.into(),
            options: SortOptions::new(self.descending, self.partitioned),
        };
        let share = |share: f64| Arg::Literal(Literal::Float(share));
        let shares =
            || Arg::Literal(Literal::List([0.9, 0.0, 0.5, 1.0, 0.07].map(Literal::Float).into_iter().collect()));
        let mut calls = Vec::new();
        match (function.family, function.function_id) {
            (Family::Ranking, FunctionId::DenseRank) => {}
            (Family::Ranking, FunctionId::RankWith) => {
                for call in ranks(function.name) {
                    calls.extend(["f64", "utf8", "flag"].map(|name| call.clone().argument_order([key(name)])));
                }
            }
            (Family::Ranking, function_id) => {
                let args: &[Arg] = if function_id == FunctionId::Ntile { &[Arg::from(3)] } else { &[] };
                for keys in [vec![key("f64")], vec![key("utf8")], vec![key("flag"), key("list")]] {
                    calls.push(Call::new(function.name, args.to_vec()).argument_order(keys));
                }
            }
            (Family::Value, function_id) => {
                let args: &[Arg] = if function_id == FunctionId::Nth { &[Arg::from(2)] } else { &[] };
                for (column, order) in [("i64", "f64"), ("utf8", "kd"), ("struct", "i8"), ("view", "flag")] {
                    let args = std::iter::once(Arg::column(column)).chain(args.iter().cloned());
                    calls.push(Call::new(function.name, args).argument_order([key(order)]));
                }
            }
            (_, FunctionId::MinBy | FunctionId::MaxBy) => {
                for (column, order) in [("utf8", "f64"), ("struct", "i32"), ("i64", "list")] {
                    let args = [Arg::column(column), Arg::column(order), Arg::from(2)];
                    calls.push(Call::new(function.name, args));
                }
            }
            (_, FunctionId::GroupId) => calls.extend(self.groups(function.name)),
            (_, FunctionId::Median) => {
                calls.extend(
                    columns().map(|name| Call::new(function.name, [Arg::column(name)]).argument_order([key(name)])),
                );
            }
            (_, FunctionId::Percentile | FunctionId::PercentileDisc | FunctionId::PercentileApprox) => {
                for name in columns() {
                    let call = |share| Call::new(function.name, [Arg::column(name), share]);
                    calls.extend([call(share(0.3)), call(shares())]);
                    calls.push(call(share(0.75)).argument_order([key(name)]));
                    if function.argument_count().1 > 2 && function.function_id == FunctionId::Percentile {
                        calls.push(Call::new(function.name, [Arg::column(name), shares(), Arg::column("u8")]));
                    }
                }
            }
            _ => {}
        }
        calls
    }
}

impl Window {
    /// A distance of the order key.
    fn distance(&self, days: i32) -> Arg {
        match self.key {
            "kd" => Arg::Literal(Literal::Interval { months: 0, days, micros: 0 }),
            _ => Arg::from(days),
        }
    }

    /// Calls of `group_id` with each limit, and with all of them.
    fn groups(&self, name: &str) -> Vec<Call> {
        let null = || Arg::Literal(Literal::Null);
        let distance = |days| self.distance(days);
        let mut calls = vec![
            vec![distance(0)],
            vec![distance(1)],
            vec![null(), distance(2)],
            vec![null(), null(), Arg::from(2)],
            vec![distance(3), distance(4), Arg::from(3), Arg::column("i16"), Arg::from(5)],
        ];
        for column in ["i8", "i64", "u64", "f32", "f64", "dec128", "dec256", "utf8"] {
            calls.push(vec![null(), null(), null(), Arg::column(column), Arg::from(3)]);
        }
        calls.into_iter().map(|args| Call::new(name, args)).collect()
    }
}

fn plan(batch: &RecordBatch, spec: &WindowSpec, call: &Call, strategy: Option<windrow::Strategy>) -> Plan {
    let options = Options::default().threads(1).strategy(strategy);
    Plan::new(batch.schema(), &[spec.clone().call(call.clone())], options).unwrap()
}

fn text(value: &str) -> Arg {
    Arg::Literal(Literal::Utf8(value.to_string()))
}

/// Calls of `rank_with` by each method that a frame has too, with and without the other arguments.
fn ranks(name: &str) -> Vec<Call> {
    let call = |method: &str, flags: &[bool]| {
        Call::new(name, std::iter::once(text(method)).chain(flags.iter().map(|&flag| Arg::from(flag))))
    };
    let flags: [&[bool]; 3] = [&[], &[true], &[false, true]];
    let methods = ["min", "max", "average", "ordinal"];
    methods
        .iter()
        .zip(flags.iter().cycle())
        .map(|(method, flags)| call(method, flags))
        .chain([call("average", &[true, true]), call("max", &[true, true])])
        .collect()
}

/// Quantiles, whose calls need one or more fractions.
fn quantile(function_id: FunctionId) -> bool {
    use FunctionId::{Mad, Median, Percentile, PercentileApprox, PercentileDisc};
    matches!(function_id, Median | Percentile | PercentileApprox | PercentileDisc | Mad)
}

/// The functions without duplicates: `any_value` is an alias of `first_value`, and `percentile_cont` of `percentile`.
fn functions() -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter().filter(|function| !["any_value", "percentile_cont"].contains(&function.name))
}

/// The tolerance for rounding where the exact result is 0 because products of deviations cancel out.
fn slack(function: &Function, call: &Call) -> f64 {
    use FunctionId as K;
    let large = call.args.iter().any(|arg| matches!(arg, Arg::Column(name) if name == "f64" || name == "f32"));
    match function.function_id {
        K::Skewness | K::Kurtosis | K::Corr | K::RegrR2 => 1e-9,
        K::CovarPop
        | K::CovarSamp
        | K::RegrSxy
        | K::RegrSlope
        | K::RegrIntercept
        | K::EwmMean
        | K::EwmMeanBy
        | K::EwmVar
        | K::EwmStd
        | K::EwmCov
        | K::EwmCorr
        | K::BoundedSum => {
            if large {
                1e7
            } else {
                1e-9
            }
        }
        _ => 0.0,
    }
}

/// The batch with its rows in the window's order.
fn sorted(batch: &RecordBatch, window: &Window) -> RecordBatch {
    let column = |name: &str| batch.column_by_name(name).unwrap().clone();
    let mut keys = Vec::new();
    if window.partitioned {
        keys.push(SortColumn::ascending(column("p")));
    }
    keys.push(SortColumn {
        values: column(window.key),
        options: SortOptions::new(window.descending, window.nulls_first),
    });
    match sort(&keys, 1, &Cancel::default()).unwrap() {
        None => batch.clone(),
        Some(order) => {
            let columns = gather(batch.columns(), &order, 1, &Cancel::default()).unwrap();
            RecordBatch::try_new(batch.schema(), columns).unwrap()
        }
    }
}

/// The results for the call of a stream of the batch, cut at `cuts`.
fn streamed(batch: &RecordBatch, plan: Plan, cuts: &[usize]) -> ArrayRef {
    let mut stream = Stream::new(Arc::new(plan)).unwrap();
    let mut out = Vec::new();
    let mut at = 0;
    for cut in cuts.iter().cycle() {
        let take = (*cut).min(batch.num_rows() - at);
        out.extend(stream.push(batch.slice(at, take)).unwrap());
        at += take;
        if at == batch.num_rows() {
            break;
        }
    }
    out.extend(stream.finish().unwrap());
    let all = concat_batches(stream.schema(), &out).unwrap();
    assert_eq!(all.num_rows(), batch.num_rows());
    for (column, passed) in batch.columns().iter().zip(all.columns()) {
        assert_eq!(column.to_data(), passed.to_data(), "input columns pass through");
    }
    all.columns().last().unwrap().clone()
}

/// The results of sections, each evaluated alone with the summaries of the others.
fn sectioned(batch: &RecordBatch, plan: &Plan, cuts: &[usize]) -> Option<ArrayRef> {
    if plan.refuses_sections().is_some() || batch.num_rows() == 0 {
        return None;
    }
    let cancel = Cancel::default();
    let mut sections = Vec::new();
    let mut at = 0;
    let mut next = cuts.iter().cycle();
    while at < batch.num_rows() {
        let left = batch.num_rows() - at;
        let mut take = left.min(*next.next().unwrap() + 1);
        while take < left {
            match plan.last_section_boundary(&batch.slice(at, take + 1)).unwrap() {
                Some(cut) => {
                    take = cut;
                    break;
                }
                None => take += 1,
            }
        }
        sections.push(batch.slice(at, take));
        at += take;
    }
    let summary = |rows: &RecordBatch| {
        // Any order but the window's, where the plan claims that it makes no difference.
        let backwards: Vec<_> = (0..rows.num_rows() as u32).rev().collect();
        let any = || RecordBatch::try_new(rows.schema(), gather(rows.columns(), &backwards, 1, &cancel).unwrap());
        let rows = &if plan.is_order_insensitive() { any().unwrap() } else { rows.clone() };
        let bytes = plan.summarise(rows).unwrap().to_bytes(plan).unwrap();
        Summary::from_bytes(&[bytes], plan).unwrap().remove(0)
    };
    let arounds = plan.scan(&sections.iter().map(summary).collect::<Vec<_>>()).unwrap();
    let answers: Vec<_> = sections
        .iter()
        .zip(&arounds)
        .map(|(rows, around)| plan.evaluate_section(rows, around, &cancel).unwrap())
        .collect();
    let all = concat_batches(plan.output_schema(), &answers).unwrap();
    Some(all.column(0).clone())
}

/// RANGE offsets are days for dates and exact only for small numbers for floats; both accept the offsets of `frame`,
/// except for the huge ones.
fn answerable(window: &Window) -> bool {
    let spec = window.spec();
    let call = Call::new("count", []).over(window.frame.clone());
    let batch = batch(&[]);
    Plan::new(batch.schema(), &[spec.call(call)], Options::default()).is_ok()
}

fn agree(rows: &[Row], window: &Window, cuts: &[usize]) -> Result<(), TestCaseError> {
    let batch = batch(rows);
    let ordered = sorted(&batch, window);
    let functions: Vec<_> = functions().collect();
    // The cases are one test, so the threads share its functions.
    functions
        .par_iter()
        .enumerate()
        .try_for_each(|(place, function)| agree_on(function, window, &batch, &ordered, cuts, rows.len() + place))
}

/// `turn` selects the strategy with which the first call is evaluated in sections.
fn agree_on(
    function: &Function,
    window: &Window,
    batch: &RecordBatch,
    ordered: &RecordBatch,
    cuts: &[usize],
    mut turn: usize,
) -> Result<(), TestCaseError> {
    let spec = window.spec();
    for call in window.calls(function, batch) {
        let able = plan(batch, &spec, &call, None).strategies(0);
        let naive = plan(batch, &spec, &call, Some(windrow::Strategy::Naive)).compute(batch).unwrap();
        for strategy in able.iter().copied().map(Some).chain([None]) {
            let found = plan(batch, &spec, &call, strategy).compute(batch).unwrap();
            check(naive.column(0), found.column(0), slack(function, &call))
                .map_err(|why| TestCaseError::fail(format!("{call:?} by {strategy:?}: {why}")))?;
        }
        let whole = plan(ordered, &spec, &call, None).compute(ordered).unwrap();
        // Cut sections use each strategy in turn, and always the plan's own choice.
        turn += 1;
        for strategy in [None, Some(able[turn % able.len()])] {
            let found = streamed(ordered, plan(ordered, &spec, &call, strategy), cuts);
            check(whole.column(0), &found, slack(function, &call))
                .map_err(|why| TestCaseError::fail(format!("{call:?} by {strategy:?} streamed in {cuts:?}: {why}")))?;
            if turn % 2 == usize::from(strategy.is_none()) {
                continue;
            }
            if let Some(found) = sectioned(ordered, &plan(ordered, &spec, &call, strategy), cuts) {
                check(whole.column(0), &found, slack(function, &call)).map_err(|why| {
                    TestCaseError::fail(format!("{call:?} by {strategy:?} in sections of {cuts:?}: {why}"))
                })?;
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(96), max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strategies_streams_and_sections_match_naive(
        rows in prop::collection::vec(row(), 0..40),
        window in window().prop_filter("SQL refuses the frame", answerable),
        cuts in prop::collection::vec(0..9_usize, 1..6).prop_filter("no row ever", |cuts| cuts.iter().any(|&cut| cut > 0)),
    ) {
        agree(&rows, &window, &cuts)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(96), max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn list_views_equal_lists(
        rows in prop::collection::vec(row(), 0..40),
        window in window().prop_filter("SQL refuses the frame", answerable),
        cuts in prop::collection::vec(1..9_usize, 1..6),
    ) {
        let batch = batch(&rows);
        let ordered = sorted(&batch, &window);
        for function in ["collect_list", "collect_set"].map(|name| catalog::find(name).unwrap()) {
            for call in window.calls(function, &batch) {
                let plan = |list_views| {
                    let options = Options::default().threads(1).list_views(list_views);
                    Plan::new(batch.schema(), &[window.spec().call(call.clone())], options).unwrap()
                };
                let lists = plan(false).compute(&ordered).unwrap().column(0).as_list::<i32>().clone();
                let views = plan(true).compute(&ordered).unwrap().column(0).clone();
                for views in [views, streamed(&ordered, plan(true), &cuts)] {
                    let views = views.as_list_view::<i32>();
                    for row in 0..lists.len() {
                        prop_assert_eq!(lists.is_null(row), views.is_null(row));
                        if lists.is_valid(row) {
                            check(&lists.value(row), &views.value(row), 0.0).map_err(TestCaseError::fail)?;
                        }
                    }
                }
            }
        }
    }
}

/// As list views, the lists of a growing frame share one child with a single entry per row.
#[test]
fn overlapping_lists_share_their_values() {
    let rows: Vec<_> = (0..40).map(|key| Row { partition: None, key: Some(key), value: Some(1), flag: None }).collect();
    let batch = batch(&rows);
    for frame in [Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow), Frame::entire()] {
        let call = Call::new("collect_list", [Arg::column("i32")]).over(frame);
        let spec = WindowSpec::new().order_by([OrderKey::asc("k")]).call(call);
        let options = Options::default().threads(1).list_views(true);
        let lists = Plan::new(batch.schema(), &[spec], options).unwrap().compute(&batch).unwrap();
        assert_eq!(lists.column(0).as_list_view::<i32>().values().len(), 40);
    }
}

/// Every function of the catalog is tested: one that accepts none of the columns would go unnoticed.
#[test]
fn every_function_has_calls() {
    let window = Window {
        partitioned: true,
        key: "k",
        descending: false,
        nulls_first: true,
        frame: Frame::entire(),
        filtered: false,
        ignore_nulls: false,
        min_rows: None,
        distinct: false,
        argument_ordered: false,
    };
    let batch = batch(&[]);
    for function in functions() {
        assert!(!window.calls(function, &batch).is_empty(), "{}", function.name);
    }
    assert_eq!(catalog::find("ANY").unwrap().name, "bool_or");
}

/// Quantiles and deviations over more rows than a word or two has bits, split between threads: by an incremental set,
/// by wavelet tree, and some by definition.
#[test]
fn quantiles_of_many_rows() {
    let total = cases(70_000).max(2_000) as usize;
    let scrambled = |row: usize| (row as i64).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> 40;
    let value = |row: usize| (!row.is_multiple_of(17)).then(|| (scrambled(row) % 9_000 + row as i64 / 7) as f64);
    let values: Float64Array = (0..total).map(value).collect();
    let partitions = Int64Array::from_iter_values((0..total).map(|row| i64::from(row > 900) + i64::from(row > 1000)));
    let order = Int64Array::from_iter_values((0..total).map(|row| row as i64 / 3));
    let columns =
        [("p", Arc::new(partitions) as ArrayRef), ("t", Arc::new(order)), ("v", Arc::new(values.clone()) as ArrayRef)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let shares = Arg::Literal(Literal::List([0.9, 0.0, 0.5, 1.0, 0.07].map(Literal::Float).into_iter().collect()));
    let column = || Arg::column("v");
    let calls = [
        Call::new("median", [column()]),
        Call::new("percentile_disc", [column(), shares.clone()]),
        Call::new("percentile", [column(), shares]).distinct(),
        Call::new("mad", [column()]),
    ];
    let (before, after) = (|rows: i64| Bound::preceding(rows), |rows: i64| Bound::following(rows));
    let mut frames = vec![
        Frame::rows(before(900), after(1100)),
        Frame::rows(before(3), Bound::CurrentRow),
        Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow),
        Frame::rows(Bound::CurrentRow, Bound::UnboundedFollowing),
        Frame::range(before(40), after(1)),
    ];
    for exclude in [Exclude::CurrentRow, Exclude::Group, Exclude::Ties] {
        frames.push(Frame { exclude, ..Frame::rows(before(70), after(200)) });
    }
    for call in calls {
        for frame in &frames {
            let answers = |strategy, threads| {
                let spec = WindowSpec::new().partition_by(["p"]).order_by([OrderKey::asc("t")]);
                let options = Options::default().threads(threads).strategy(strategy);
                let plan = Plan::new(batch.schema(), &[spec.call(call.clone().over(frame.clone()))], options).unwrap();
                plan.compute(&batch).unwrap().column(0).clone()
            };
            let found = answers(Some(windrow::Strategy::Codes), 2);
            if call.distinct {
                check(&answers(Some(windrow::Strategy::Codes), 1), &found, 0.0).unwrap();
            } else {
                check(&answers(Some(windrow::Strategy::Wavelet), 1), &found, 0.0).unwrap();
            }
            if call.function != "median" || frame != &frames[0] {
                continue;
            }
            let found = found.as_primitive::<Float64Type>();
            for row in [0, 900, 901, 950, 1001, total / 2, total / 2 + 1, total - 1] {
                let (begin, end) =
                    if row > 1000 { (1001, total) } else { [(0, 901), (901, 1001)][usize::from(row > 900)] };
                let rows = row.saturating_sub(900).max(begin)..(row + 1101).min(end);
                let mut sorted: Vec<f64> = rows.filter_map(value).collect();
                sorted.sort_by(f64::total_cmp);
                let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
                assert_eq!(found.value(row), low + 0.5 * (high - low), "row {row}");
            }
        }
    }
}
