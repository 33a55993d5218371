//! The table of functions. A row contains everything that the plan, `explain`, hosts and tests know about a function,
//! as differences from the defaults of its family. Evaluators are built in `exec/build`.

use super::argument::{Argument, Constant, Role};
use super::function::{
    ArgumentOrder, Distinct, FrameEnd, Frames, Function, NullHandling, OrderSensitivity, OwnFrame, RowsNeeded,
    WindowOrder, WithinGroup,
};
use super::function_id::FunctionId;
use super::row::{aggregate, offset, ranking, running, value};
use super::shared_state::SharedState;
use super::signature::{self as types, Rule};
use crate::spec::udf::UserFunction;

const VALUE: Argument = Argument::required("value", Role::Value);
const ORDERED: Argument = Argument::required("value", Role::Ordered);
const COMPARED: Argument = Argument::required("value", Role::Compared);
const CHOSEN: Argument = Argument::required("value", Role::Chosen);
const ORDER: Argument = Argument::required("order", Role::Ordered);
const ANY_VALUES: Argument = Argument::repeated("value", Role::Value);
const ANY_ORDER: Argument = Argument::repeated("order", Role::Ignored);
const DEPENDENT: Argument = Argument::required("y", Role::Value);
const INDEPENDENT: Argument = Argument::required("x", Role::Value);
const SHARE: Argument = Argument::required("share", Role::Share);
const FREQUENCY: Argument = Argument::or("frequency", Role::Frequency, Constant::Int(1));
const ACCURACY: Argument = Argument::or("accuracy", count_to(1, i32::MAX as i64), Constant::Int(10_000));
const DEVIATION: Argument = Argument::or("relative standard deviation", Role::Deviation, Constant::Float(0.05));
const NUMBER_OF_VALUES: Argument = Argument::optional("number of values", count_to(1, 100_000));
const NUMBER_OF_BINS: Argument = Argument::required("number of bins", count_to(2, i32::MAX as i64));
const NUMBER_OF_BUCKETS: Argument = Argument::or("number of buckets", count_to(1, i32::MAX as i64), Constant::Int(1));
const BREAKS_TIES: Argument = Argument::or("breaking of ties", Role::Flag, Constant::Boolean(false));
const ADJUSTS: Argument = Argument::or("division by the sum of the weights", Role::Flag, Constant::Boolean(true));
const DELIMITER: Argument = Argument::or("delimiter", Role::Delimiter, Constant::Null);
const ALPHA: Argument = Argument::required("alpha", Role::Alpha);
const TIMES: Argument = Argument::required("times", Role::Value);
const HALF_LIFE: Argument = Argument::required("half-life", Role::HalfLife);
const POSITION: Argument = Argument::required("position", Role::Number { least: 1 });
const DISTANCE: Argument = Argument::or("offset", Role::Number { least: i64::MIN }, Constant::Int(1));
const DEFAULT: Argument = Argument::or("default", Role::Default, Constant::Null);
const START: Argument = Argument::optional("start", Role::Start);

const fn count_to(least: i64, most: i64) -> Role {
    Role::Count { least, most }
}

/// All built-in functions.
pub const FUNCTIONS: &[Function] = &[
    aggregate(
        "count",
        FunctionId::Count,
        &[ANY_VALUES],
        types::counts,
        "rows of the frame, or those where no argument is null",
    )
    .star()
    .shares(SharedState::Count),
    aggregate("sum", FunctionId::Sum, &[VALUE], types::sum, "sum of the frame's values; floats are compensated")
        .totals()
        .keeps_type(),
    aggregate("avg", FunctionId::Avg, &[VALUE], types::average, "mean of the frame's values")
        .aliases(&["mean"])
        .totals(),
    aggregate("min", FunctionId::Min, &[ORDERED], types::extremum, "least value of the frame; NaN is greatest")
        .picks_value(),
    aggregate("max", FunctionId::Max, &[ORDERED], types::extremum, "greatest value of the frame; NaN is greatest")
        .picks_value(),
    aggregate("var_pop", FunctionId::VarPop, &[VALUE], types::double, "population variance of the frame").moments(),
    aggregate("var_samp", FunctionId::VarSamp, &[VALUE], types::double, "sample variance of the frame")
        .aliases(&["variance"])
        .moments(),
    aggregate(
        "stddev_pop",
        FunctionId::StddevPop,
        &[VALUE],
        types::double,
        "population standard deviation of the frame",
    )
    .moments(),
    aggregate("stddev_samp", FunctionId::StddevSamp, &[VALUE], types::double, "sample standard deviation of the frame")
        .aliases(&["stddev", "std"])
        .moments(),
    aggregate(
        "count_if",
        FunctionId::CountIf,
        &[VALUE],
        types::counts_true,
        "rows of the frame where the argument is true",
    ),
    aggregate(
        "try_sum",
        FunctionId::TrySum,
        &[VALUE],
        types::sum,
        "sum of the frame's values, NULL where it overflows",
    )
    .totals()
    .keeps_type(),
    aggregate(
        "try_avg",
        FunctionId::TryAvg,
        &[VALUE],
        types::average,
        "mean of the frame's values, NULL where it overflows",
    )
    .totals(),
    aggregate("product", FunctionId::Product, &[VALUE], types::double, "product of the frame's values")
        .sensitive(OrderSensitivity::Rounding),
    aggregate(
        "geometric_mean",
        FunctionId::GeometricMean,
        &[VALUE],
        types::double,
        "geometric mean of the frame's values",
    )
    .aliases(&["geomean"])
    .sensitive(OrderSensitivity::Rounding),
    aggregate("skewness", FunctionId::Skewness, &[VALUE], types::double, "population skewness of the frame").shape(),
    aggregate("kurtosis", FunctionId::Kurtosis, &[VALUE], types::double, "population excess kurtosis of the frame")
        .shape(),
    of_pairs("covar_pop", FunctionId::CovarPop, types::double_of_pairs, "population covariance of the frame's pairs")
        .pairs(),
    of_pairs("covar_samp", FunctionId::CovarSamp, types::double_of_pairs, "sample covariance of the frame's pairs")
        .pairs(),
    of_pairs("corr", FunctionId::Corr, types::double_of_pairs, "correlation of the frame's pairs").pairs(),
    of_pairs("regr_count", FunctionId::RegrCount, types::counts_pairs, "pairs (y, x) of the frame without a null"),
    of_pairs("regr_avgx", FunctionId::RegrAvgx, types::average_second, "mean of x over the frame's pairs (y, x)")
        .sensitive(OrderSensitivity::Rounding),
    of_pairs("regr_avgy", FunctionId::RegrAvgy, types::average_first, "mean of y over the frame's pairs (y, x)")
        .sensitive(OrderSensitivity::Rounding),
    of_pairs(
        "regr_slope",
        FunctionId::RegrSlope,
        types::double_of_pairs,
        "slope of the line through the frame's pairs (y, x)",
    )
    .pairs(),
    of_pairs(
        "regr_intercept",
        FunctionId::RegrIntercept,
        types::double_of_pairs,
        "where the line through the frame's pairs (y, x) meets x = 0",
    )
    .pairs(),
    of_pairs("regr_r2", FunctionId::RegrR2, types::double_of_pairs, "squared correlation of the frame's pairs (y, x)")
        .pairs(),
    of_pairs(
        "regr_sxx",
        FunctionId::RegrSxx,
        types::double_of_pairs,
        "squared distances of x from its mean, summed over the frame's pairs (y, x)",
    )
    .pairs(),
    of_pairs(
        "regr_syy",
        FunctionId::RegrSyy,
        types::double_of_pairs,
        "squared distances of y from its mean, summed over the frame's pairs (y, x)",
    )
    .pairs(),
    of_pairs(
        "regr_sxy",
        FunctionId::RegrSxy,
        types::double_of_pairs,
        "products of the distances of x and y from their means, summed over the frame's pairs (y, x)",
    )
    .pairs(),
    aggregate("bit_and", FunctionId::BitAnd, &[VALUE], types::bits, "bits set in all values of the frame")
        .distinct(Distinct::NoEffect),
    aggregate("bit_or", FunctionId::BitOr, &[VALUE], types::bits, "bits set in any value of the frame")
        .distinct(Distinct::NoEffect),
    aggregate(
        "bit_xor",
        FunctionId::BitXor,
        &[VALUE],
        types::bits_with_inverse,
        "bits set in an odd number of the frame's values",
    ),
    aggregate(
        "min_by",
        FunctionId::MinBy,
        &[CHOSEN, ORDER, NUMBER_OF_VALUES],
        types::chosen,
        "the first argument where the second is least, or the k least, as a list",
    )
    .aliases(&["arg_min"])
    .keeps_type()
    .sensitive(OrderSensitivity::Rows)
    .distinct(Distinct::Refused),
    aggregate(
        "max_by",
        FunctionId::MaxBy,
        &[CHOSEN, ORDER, NUMBER_OF_VALUES],
        types::chosen,
        "the first argument where the second is greatest, or the k greatest, as a list",
    )
    .aliases(&["arg_max"])
    .keeps_type()
    .sensitive(OrderSensitivity::Rows)
    .distinct(Distinct::Refused),
    aggregate(
        "mode",
        FunctionId::Mode,
        &[ORDERED, BREAKS_TIES],
        types::frequent,
        "most frequent value of the frame; of several the least",
    )
    .value_order_aggregate()
    .keeps_type()
    .within_group(WithinGroup::Key),
    aggregate("median", FunctionId::Median, &[VALUE], types::interpolated, "middle value of the frame")
        .value_order_aggregate(),
    aggregate(
        "percentile",
        FunctionId::Percentile,
        &[VALUE, SHARE, FREQUENCY],
        types::interpolated,
        "value at a share of the frame's ordered values, interpolated",
    )
    .value_order_aggregate(),
    aggregate(
        "percentile_cont",
        FunctionId::Percentile,
        &[VALUE, SHARE],
        types::interpolated,
        "value at a share of the frame's ordered values, interpolated; WITHIN GROUP says of what",
    )
    .aliases(&["quantile_cont"])
    .value_order_aggregate()
    .within_group(WithinGroup::Key),
    aggregate(
        "percentile_disc",
        FunctionId::PercentileDisc,
        &[ORDERED, SHARE],
        types::discrete,
        "first of the frame's ordered values at or beyond a share",
    )
    .aliases(&["quantile_disc"])
    .value_order_aggregate()
    .within_group(WithinGroup::Key),
    aggregate(
        "percentile_approx",
        FunctionId::PercentileApprox,
        &[VALUE, SHARE, ACCURACY],
        types::discrete_of_own_type,
        "value at a share of the frame's ordered values; exact",
    )
    .aliases(&["approx_percentile"])
    .value_order_aggregate()
    .keeps_type(),
    aggregate(
        "approx_count_distinct",
        FunctionId::ApproxCountDistinct,
        &[COMPARED, DEVIATION],
        types::counts_different,
        "number of different values of the frame; exact",
    )
    .sensitive(OrderSensitivity::Values)
    .distinct(Distinct::NoEffect),
    aggregate(
        "mad",
        FunctionId::Mad,
        &[VALUE],
        types::interpolated,
        "median distance of the frame's values from their median",
    )
    .sensitive(OrderSensitivity::Values),
    aggregate(
        "entropy",
        FunctionId::Entropy,
        &[COMPARED],
        types::double_of_frequencies,
        "Shannon entropy of the frame's values, in bits",
    )
    .sensitive(OrderSensitivity::Values),
    aggregate("collect_list", FunctionId::CollectList, &[VALUE], types::list, "the frame's values, as a list")
        .aliases(&["array_agg"])
        .keeps_type()
        .sensitive(OrderSensitivity::Rows)
        .nulls(NullHandling::SkippedUnlessRespected)
        .argument_order(ArgumentOrder::Rows),
    aggregate(
        "collect_set",
        FunctionId::CollectSet,
        &[ORDERED],
        types::set,
        "the frame's different values, as a list in their order",
    )
    .keeps_type()
    .sensitive(OrderSensitivity::Values)
    .distinct(Distinct::NoEffect),
    aggregate(
        "listagg",
        FunctionId::Listagg,
        &[VALUE, DELIMITER],
        types::text,
        "the frame's values as texts, joined by a delimiter",
    )
    .aliases(&["string_agg"])
    .keeps_type()
    .sensitive(OrderSensitivity::Rows)
    .argument_order(ArgumentOrder::Rows)
    .within_group(WithinGroup::Rows),
    aggregate(
        "histogram_numeric",
        FunctionId::HistogramNumeric,
        &[VALUE, NUMBER_OF_BINS],
        types::bins,
        "the frame's values in at most n bins, each a centre and a height",
    )
    .sensitive(OrderSensitivity::Rows)
    .distinct(Distinct::Refused),
    aggregate(
        "ewm_mean",
        FunctionId::EwmMean,
        &[VALUE, ALPHA, ADJUSTS],
        types::double,
        "mean of the frame's values, each row before weighing less by 1 - alpha",
    )
    .sensitive(OrderSensitivity::Rows)
    .nulls(NullHandling::SkippedInPlace)
    .distinct(Distinct::Refused)
    .argument_order(ArgumentOrder::Refused),
    aggregate(
        "ewm_mean_by",
        FunctionId::EwmMeanBy,
        &[VALUE, TIMES, HALF_LIFE],
        types::double_by_times,
        "mean of the frame's values, moved from one to the next by the half-lives between their times",
    )
    .sensitive(OrderSensitivity::Rows)
    .distinct(Distinct::Refused)
    .argument_order(ArgumentOrder::Refused),
    aggregate("bool_and", FunctionId::BoolAnd, &[VALUE], types::logic, "whether all values of the frame are true")
        .aliases(&["every"])
        .distinct(Distinct::NoEffect),
    aggregate("bool_or", FunctionId::BoolOr, &[VALUE], types::logic, "whether any value of the frame is true")
        .aliases(&["some", "any"])
        .distinct(Distinct::NoEffect),
    value("first_value", FunctionId::First, &[VALUE], Distinct::NoEffect, "the frame's first value")
        .aliases(&["first"])
        .picks(FrameEnd::First),
    value("last_value", FunctionId::Last, &[VALUE], Distinct::Refused, "the frame's last value")
        .aliases(&["last"])
        .picks(FrameEnd::Last),
    value("any_value", FunctionId::First, &[VALUE], Distinct::NoEffect, "a value of the frame: the first")
        .picks(FrameEnd::First),
    value("nth_value", FunctionId::Nth, &[VALUE, POSITION], Distinct::Refused, "the frame's n-th value, from 1")
        .no_filter()
        .window_order(WindowOrder::Required),
    offset(
        "lag",
        FunctionId::Lag,
        &[VALUE, DISTANCE, DEFAULT],
        true,
        "the value n rows before the row; a default outside the partition",
    ),
    offset(
        "lead",
        FunctionId::Lead,
        &[VALUE, DISTANCE, DEFAULT],
        false,
        "the value n rows after the row; a default outside the partition",
    ),
    running(
        "fill",
        FunctionId::Fill,
        &[VALUE],
        types::filled,
        "the value, or where it is NULL, the line between its neighbours by the order key",
    )
    .window_order(WindowOrder::Linear)
    .rows_needed(RowsNeeded::Partition),
    running(
        "counter_diff",
        FunctionId::CounterDiff,
        &[VALUE, START],
        types::counter,
        "what a counter counted since the value before; NULL where it was set back",
    ),
    ranking("row_number", FunctionId::RowNumber, &[], types::place, "the row's number in its partition, from 1"),
    ranking("rank", FunctionId::Rank, &[ANY_ORDER], types::place, "one more than the rows before the row's peers")
        .sensitive(OrderSensitivity::Peers),
    ranking(
        "dense_rank",
        FunctionId::DenseRank,
        &[ANY_ORDER],
        types::dense_place,
        "the number of the row's peer group, from 1",
    )
    .sensitive(OrderSensitivity::Peers),
    ranking(
        "percent_rank",
        FunctionId::PercentRank,
        &[ANY_ORDER],
        types::share,
        "(rank - 1) / (rows - 1); 0 for a lone row",
    )
    .sensitive(OrderSensitivity::Peers)
    .rows_needed(RowsNeeded::BeforeAndCountAfter),
    ranking("cume_dist", FunctionId::CumeDist, &[], types::share, "the share of rows up to the row's last peer")
        .sensitive(OrderSensitivity::Peers)
        .frames(Frames::Own(OwnFrame::UpToPeers))
        .rows_needed(RowsNeeded::BeforeAndCountAfter),
    ranking(
        "ntile",
        FunctionId::Ntile,
        &[NUMBER_OF_BUCKETS],
        types::bucket,
        "the row's bucket of n nearly equal ones; the first take the rest",
    )
    .rows_needed(RowsNeeded::BeforeAndCountAfter),
];

/// An aggregate of numeric pairs.
const fn of_pairs(name: &'static str, function_id: FunctionId, rule: Rule, doc: &'static str) -> Function {
    aggregate(name, function_id, &[DEPENDENT, INDEPENDENT], rule, doc)
}

/// Placeholders for user-defined functions, which are not in the table; [`UserFunction`] holds the function itself.
static USER_FUNCTIONS: [Function; 3] = [
    aggregate(
        "user-defined aggregate",
        FunctionId::UserAggregate,
        &[ANY_VALUES],
        types::user,
        "what the user's methods make",
    )
    .sensitive(OrderSensitivity::Rows)
    .nulls(NullHandling::Kept)
    .distinct(Distinct::Refused)
    .argument_order(ArgumentOrder::Rows),
    aggregate(
        "vectorized function",
        FunctionId::UserFrames,
        &[ANY_VALUES],
        types::user,
        "what the user's function answers",
    )
    .sensitive(OrderSensitivity::Rows)
    .nulls(NullHandling::Kept)
    .distinct(Distinct::Refused)
    .argument_order(ArgumentOrder::Refused)
    .frames(Frames::OnePiece),
    running(
        "partition function",
        FunctionId::UserPartitions,
        &[VALUE, ANY_VALUES],
        types::user,
        "what the user's function answers",
    )
    .nulls(NullHandling::Kept)
    .window_order(WindowOrder::Any)
    .frames(Frames::Own(OwnFrame::Partition))
    .rows_needed(RowsNeeded::Partition),
];

/// The placeholder for a user-defined function.
#[must_use]
pub(crate) fn of_user(function: &UserFunction) -> &'static Function {
    let [aggregate, frames, partitions] = &USER_FUNCTIONS;
    match function {
        UserFunction::Aggregate(_) => aggregate,
        UserFunction::Frames(_) => frames,
        UserFunction::Partitions(_) => partitions,
    }
}

/// The function of this name or alias, case-insensitively.
#[must_use]
pub fn find(name: &str) -> Option<&'static Function> {
    let name = name.to_ascii_lowercase();
    FUNCTIONS.iter().find(|function| function.name == name || function.aliases.contains(&name.as_str()))
}
