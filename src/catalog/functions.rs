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
const BIASED: Argument = Argument::or("bias", Role::Flag, Constant::Boolean(false));
const ALPHA: Argument = Argument::required("alpha", Role::Alpha);
const TIMES: Argument = Argument::required("times", Role::Value);
const HALF_LIFE: Argument = Argument::required("half-life", Role::HalfLife);
const POSITION: Argument = Argument::required("position", Role::Number { least: 1 });
const DISTANCE: Argument = Argument::or("offset", Role::Number { least: i64::MIN }, Constant::Int(1));
const DEFAULT: Argument = Argument::or("default", Role::Default, Constant::Null);
const START: Argument = Argument::optional("start", Role::Start);
const LOW: Argument = Argument::or("low", Role::Amount, Constant::Int(0));
const HIGH: Argument = Argument::or("high", Role::Amount, Constant::Null);
const FIRST_SUM: Argument = Argument::or("start", Role::Amount, Constant::Int(0));
const METHOD: Argument = Argument::required("method", Role::Method);
const AS_FRACTION: Argument = Argument::or("pct", Role::Flag, Constant::Boolean(false));
const KEEPS_NULLS: Argument = Argument::or("keeping of NULLs", Role::Flag, Constant::Boolean(false));
const MAX_GAP: Argument = Argument::required("max_gap", Role::Distance);
const LONGEST_GAP: Argument = Argument::or("max_gap", Role::Distance, Constant::Null);
const MAX_SPAN: Argument = Argument::or("max_span", Role::Distance, Constant::Null);
const MAX_ROWS: Argument = Argument::or("max_rows", count_to(1, i64::MAX), Constant::Null);
const SUMMED: Argument = Argument::optional("value", Role::Value);
const MAX_SUM: Argument = Argument::or("max_sum", Role::Amount, Constant::Null);

const fn count_to(least: i64, most: i64) -> Role {
    Role::Count { least, most }
}

/// All built-in functions.
pub const FUNCTIONS: &[Function] = &[
    aggregate("count", FunctionId::Count, &[ANY_VALUES], types::counts)
        .doc("number of rows in the frame; with arguments, of rows where none of them is NULL")
        .star()
        .shares(SharedState::Count),
    aggregate("sum", FunctionId::Sum, &[VALUE], types::sum)
        .doc("sum of the frame's values; float sums are compensated")
        .totals()
        .keeps_type(),
    aggregate("avg", FunctionId::Avg, &[VALUE], types::average)
        .doc("average of the frame's values")
        .aliases(&["mean"])
        .totals(),
    aggregate("min", FunctionId::Min, &[ORDERED], types::extremum)
        .doc("smallest value in the frame; NaN is larger than any number")
        .picks_value(),
    aggregate("max", FunctionId::Max, &[ORDERED], types::extremum)
        .doc("largest value in the frame; NaN is larger than any number")
        .picks_value(),
    aggregate("var_pop", FunctionId::VarPop, &[VALUE], types::double)
        .doc("population variance of the frame's values: divides by n")
        .moments(),
    aggregate("var_samp", FunctionId::VarSamp, &[VALUE], types::double)
        .doc("sample variance of the frame's values: divides by n - 1")
        .aliases(&["variance"])
        .moments(),
    aggregate("stddev_pop", FunctionId::StddevPop, &[VALUE], types::double)
        .doc("population standard deviation of the frame's values: divides by n")
        .moments(),
    aggregate("stddev_samp", FunctionId::StddevSamp, &[VALUE], types::double)
        .doc("sample standard deviation of the frame's values: divides by n - 1")
        .aliases(&["stddev", "std"])
        .moments(),
    aggregate("count_if", FunctionId::CountIf, &[VALUE], types::counts_true)
        .doc("number of rows in the frame where the condition is true"),
    aggregate("try_sum", FunctionId::TrySum, &[VALUE], types::sum)
        .doc("sum of the frame's values, or NULL if it overflows")
        .totals()
        .keeps_type(),
    aggregate("try_avg", FunctionId::TryAvg, &[VALUE], types::average)
        .doc("average of the frame's values, or NULL if it overflows")
        .totals(),
    aggregate("product", FunctionId::Product, &[VALUE], types::double)
        .doc("product of the frame's values")
        .sensitive(OrderSensitivity::Rounding),
    aggregate("geometric_mean", FunctionId::GeometricMean, &[VALUE], types::double)
        .doc("geometric mean of the frame's values: the n-th root of their product")
        .aliases(&["geomean"])
        .sensitive(OrderSensitivity::Rounding),
    aggregate("skewness", FunctionId::Skewness, &[VALUE], types::double)
        .doc("population skewness of the frame's values: not corrected for bias")
        .shape(),
    aggregate("kurtosis", FunctionId::Kurtosis, &[VALUE], types::double)
        .doc("population excess kurtosis of the frame's values: not corrected for bias")
        .shape(),
    of_pairs("covar_pop", FunctionId::CovarPop, types::double_of_pairs)
        .doc("population covariance of y and x over the frame: divides by n")
        .pairs(),
    of_pairs("covar_samp", FunctionId::CovarSamp, types::double_of_pairs)
        .doc("sample covariance of y and x over the frame: divides by n - 1")
        .pairs(),
    of_pairs("corr", FunctionId::Corr, types::double_of_pairs)
        .doc("Pearson correlation of y and x over the frame")
        .pairs(),
    of_pairs("regr_count", FunctionId::RegrCount, types::counts_pairs)
        .doc("number of rows in the frame where neither y nor x is NULL"),
    of_pairs("regr_avgx", FunctionId::RegrAvgx, types::average_second)
        .doc("average of x over the frame's rows where neither y nor x is NULL")
        .sensitive(OrderSensitivity::Rounding),
    of_pairs("regr_avgy", FunctionId::RegrAvgy, types::average_first)
        .doc("average of y over the frame's rows where neither y nor x is NULL")
        .sensitive(OrderSensitivity::Rounding),
    of_pairs("regr_slope", FunctionId::RegrSlope, types::double_of_pairs)
        .doc("slope of the least-squares line through the frame's points (x, y)")
        .pairs(),
    of_pairs("regr_intercept", FunctionId::RegrIntercept, types::double_of_pairs)
        .doc("intercept of the least-squares line through the frame's points (x, y): its y at x = 0")
        .pairs(),
    of_pairs("regr_r2", FunctionId::RegrR2, types::double_of_pairs)
        .doc("coefficient of determination (R squared) of the least-squares line through the frame's points (x, y)")
        .pairs(),
    of_pairs("regr_sxx", FunctionId::RegrSxx, types::double_of_pairs)
        .doc("sum of the squared deviations of x from its mean over the frame")
        .pairs(),
    of_pairs("regr_syy", FunctionId::RegrSyy, types::double_of_pairs)
        .doc("sum of the squared deviations of y from its mean over the frame")
        .pairs(),
    of_pairs("regr_sxy", FunctionId::RegrSxy, types::double_of_pairs)
        .doc("sum of the products of the deviations of x and y from their means over the frame")
        .pairs(),
    aggregate("bit_and", FunctionId::BitAnd, &[VALUE], types::bits)
        .doc("bitwise AND of the frame's values")
        .distinct(Distinct::NoEffect),
    aggregate("bit_or", FunctionId::BitOr, &[VALUE], types::bits)
        .doc("bitwise OR of the frame's values")
        .distinct(Distinct::NoEffect),
    aggregate("bit_xor", FunctionId::BitXor, &[VALUE], types::bits_with_inverse)
        .doc("bitwise XOR of the frame's values"),
    aggregate("min_by", FunctionId::MinBy, &[CHOSEN, ORDER, NUMBER_OF_VALUES], types::chosen)
        .doc("first argument in the frame's row with the smallest second argument; with k, a list for the k smallest")
        .aliases(&["arg_min"])
        .keeps_type()
        .sensitive(OrderSensitivity::Rows)
        .distinct(Distinct::Refused),
    aggregate("max_by", FunctionId::MaxBy, &[CHOSEN, ORDER, NUMBER_OF_VALUES], types::chosen)
        .doc("first argument in the frame's row with the largest second argument; with k, a list for the k largest")
        .aliases(&["arg_max"])
        .keeps_type()
        .sensitive(OrderSensitivity::Rows)
        .distinct(Distinct::Refused),
    aggregate("mode", FunctionId::Mode, &[ORDERED, BREAKS_TIES], types::frequent)
        .doc("most frequent value in the frame; the smallest one if several are equally frequent")
        .value_order_aggregate()
        .keeps_type()
        .within_group(WithinGroup::Key),
    aggregate("median", FunctionId::Median, &[VALUE], types::interpolated)
        .doc("median of the frame's values; the mean of the middle two if their number is even")
        .value_order_aggregate(),
    aggregate("percentile", FunctionId::Percentile, &[VALUE, SHARE, FREQUENCY], types::interpolated)
        .doc("value at a fraction (0 to 1) of the frame's sorted values, interpolated")
        .value_order_aggregate(),
    aggregate("percentile_cont", FunctionId::Percentile, &[VALUE, SHARE], types::interpolated)
        .doc("value at a fraction (0 to 1) of the frame's sorted values, interpolated; also WITHIN GROUP")
        .aliases(&["quantile_cont"])
        .value_order_aggregate()
        .within_group(WithinGroup::Key),
    aggregate("percentile_disc", FunctionId::PercentileDisc, &[ORDERED, SHARE], types::discrete)
        .doc("first of the frame's sorted values at or after a fraction (0 to 1); also WITHIN GROUP")
        .aliases(&["quantile_disc"])
        .value_order_aggregate()
        .within_group(WithinGroup::Key),
    aggregate(
        "percentile_approx",
        FunctionId::PercentileApprox,
        &[VALUE, SHARE, ACCURACY],
        types::discrete_of_own_type,
    )
    .doc("value at a fraction (0 to 1) of the frame's sorted values, not interpolated; exact")
    .aliases(&["approx_percentile"])
    .value_order_aggregate()
    .keeps_type(),
    aggregate(
        "approx_count_distinct",
        FunctionId::ApproxCountDistinct,
        &[COMPARED, DEVIATION],
        types::counts_different,
    )
    .doc("number of distinct values in the frame; exact")
    .sensitive(OrderSensitivity::Values)
    .distinct(Distinct::NoEffect),
    aggregate("mad", FunctionId::Mad, &[VALUE], types::interpolated)
        .doc("median absolute deviation: the median of the values' distances from their median")
        .sensitive(OrderSensitivity::Values),
    aggregate("entropy", FunctionId::Entropy, &[COMPARED], types::double_of_frequencies)
        .doc("Shannon entropy of the frequencies of the frame's values, in bits")
        .sensitive(OrderSensitivity::Values),
    aggregate("collect_list", FunctionId::CollectList, &[VALUE], types::list)
        .doc("list of the frame's values, in row order")
        .aliases(&["array_agg"])
        .keeps_type()
        .sensitive(OrderSensitivity::Rows)
        .nulls(NullHandling::SkippedUnlessRespected)
        .argument_order(ArgumentOrder::Rows),
    aggregate("collect_set", FunctionId::CollectSet, &[ORDERED], types::set)
        .doc("sorted list of the frame's distinct values")
        .keeps_type()
        .sensitive(OrderSensitivity::Values)
        .distinct(Distinct::NoEffect),
    aggregate("listagg", FunctionId::Listagg, &[VALUE, DELIMITER], types::text)
        .doc("the frame's values as strings, joined by a delimiter")
        .aliases(&["string_agg"])
        .keeps_type()
        .sensitive(OrderSensitivity::Rows)
        .argument_order(ArgumentOrder::Rows)
        .within_group(WithinGroup::Rows),
    aggregate("histogram_numeric", FunctionId::HistogramNumeric, &[VALUE, NUMBER_OF_BINS], types::bins)
        .doc("histogram of the frame's values: at most n bins, each with its centre and number of values")
        .sensitive(OrderSensitivity::Rows)
        .distinct(Distinct::Refused),
    weighted("ewm_mean", FunctionId::EwmMean, &[VALUE, ALPHA, ADJUSTS], types::double)
        .doc("exponentially weighted mean: each row's weight is 1 - alpha times that of the next row"),
    aggregate("ewm_mean_by", FunctionId::EwmMeanBy, &[VALUE, TIMES, HALF_LIFE], types::double_by_times)
        .doc("exponentially weighted mean by time: the weight of earlier values halves in each half-life")
        .sensitive(OrderSensitivity::Rows)
        .distinct(Distinct::Refused)
        .argument_order(ArgumentOrder::Refused),
    weighted("ewm_var", FunctionId::EwmVar, &[VALUE, ALPHA, ADJUSTS, BIASED], types::double)
        .doc("exponentially weighted variance: the weights are those of ewm_mean"),
    weighted("ewm_std", FunctionId::EwmStd, &[VALUE, ALPHA, ADJUSTS, BIASED], types::double)
        .doc("exponentially weighted standard deviation: the weights are those of ewm_mean"),
    weighted("ewm_cov", FunctionId::EwmCov, &[DEPENDENT, INDEPENDENT, ALPHA, ADJUSTS, BIASED], types::double_of_pairs)
        .doc("exponentially weighted covariance of y and x: the weights are those of ewm_mean"),
    weighted("ewm_corr", FunctionId::EwmCorr, &[DEPENDENT, INDEPENDENT, ALPHA, ADJUSTS], types::double_of_pairs)
        .doc("exponentially weighted correlation of y and x: the weights are those of ewm_mean"),
    aggregate("bounded_sum", FunctionId::BoundedSum, &[VALUE, LOW, HIGH, FIRST_SUM], types::bounded)
        .doc("sum along the frame that stays between two bounds: what would carry it beyond one is lost")
        .sensitive(OrderSensitivity::Rows)
        .distinct(Distinct::Refused)
        .argument_order(ArgumentOrder::Refused),
    aggregate("bool_and", FunctionId::BoolAnd, &[VALUE], types::logic)
        .doc("whether all values in the frame are true")
        .aliases(&["every"])
        .distinct(Distinct::NoEffect),
    aggregate("bool_or", FunctionId::BoolOr, &[VALUE], types::logic)
        .doc("whether any value in the frame is true")
        .aliases(&["some", "any"])
        .distinct(Distinct::NoEffect),
    value("first_value", FunctionId::First, &[VALUE], Distinct::NoEffect)
        .doc("first value in the frame")
        .aliases(&["first"])
        .picks(FrameEnd::First),
    value("last_value", FunctionId::Last, &[VALUE], Distinct::Refused)
        .doc("last value in the frame")
        .aliases(&["last"])
        .picks(FrameEnd::Last),
    value("any_value", FunctionId::First, &[VALUE], Distinct::NoEffect)
        .doc("any value in the frame: always the first one, so results are reproducible")
        .picks(FrameEnd::First),
    value("nth_value", FunctionId::Nth, &[VALUE, POSITION], Distinct::Refused)
        .doc("n-th value in the frame, counted from 1")
        .no_filter()
        .window_order(WindowOrder::Required),
    offset("lag", FunctionId::Lag, &[VALUE, DISTANCE, DEFAULT], true)
        .doc("value n rows before the current row, or a default where the partition has no such row"),
    offset("lead", FunctionId::Lead, &[VALUE, DISTANCE, DEFAULT], false)
        .doc("value n rows after the current row, or a default where the partition has no such row"),
    running("fill", FunctionId::Fill, &[VALUE, LONGEST_GAP], types::filled)
        .doc("the value; NULL is replaced by linear interpolation over the order key")
        .window_order(WindowOrder::Linear)
        .rows_needed(RowsNeeded::Partition),
    running("fill_forward", FunctionId::FillForward, &[VALUE, LONGEST_GAP], types::offset)
        .doc("the value; NULL is replaced by the last value before it, in gaps of the order key up to a distance")
        .rows_needed(RowsNeeded::Partition),
    running("fill_backward", FunctionId::FillBackward, &[VALUE, LONGEST_GAP], types::offset)
        .doc("the value; NULL is replaced by the first value after it, in gaps of the order key up to a distance")
        .rows_needed(RowsNeeded::Partition),
    running("counter_diff", FunctionId::CounterDiff, &[VALUE, START], types::counter)
        .doc("increase of a counter since its previous value; NULL where it was reset"),
    running("group_id", FunctionId::GroupId, &[MAX_GAP, MAX_SPAN, MAX_ROWS, SUMMED, MAX_SUM], types::group)
        .doc("number of the row's group, from 1; a row that would pass a limit of the open group opens another")
        .aliases(&["session_id"])
        .nulls(NullHandling::Kept)
        .own_type(),
    ranking("row_number", FunctionId::RowNumber, &[], types::rank_type)
        .doc("number of the row in its partition, from 1"),
    ranking("rank", FunctionId::Rank, &[ANY_ORDER], types::rank_type)
        .doc("rank with gaps: 1 plus the number of rows before the row's peers")
        .sensitive(OrderSensitivity::Peers),
    ranking("dense_rank", FunctionId::DenseRank, &[ANY_ORDER], types::dense_rank_type)
        .doc("rank without gaps: the number of the row's peer group, from 1")
        .sensitive(OrderSensitivity::Peers),
    ranking("percent_rank", FunctionId::PercentRank, &[ANY_ORDER], types::share)
        .doc("relative rank: (rank - 1) / (rows - 1), or 0 in a partition of one row")
        .sensitive(OrderSensitivity::Peers)
        .rows_needed(RowsNeeded::BeforeAndCountAfter),
    ranking("cume_dist", FunctionId::CumeDist, &[], types::share)
        .doc("cumulative distribution: the fraction of rows up to the row's last peer")
        .sensitive(OrderSensitivity::Peers)
        .frames(Frames::Own(OwnFrame::UpToPeers))
        .rows_needed(RowsNeeded::BeforeAndCountAfter),
    ranking("ntile", FunctionId::Ntile, &[NUMBER_OF_BUCKETS], types::bucket)
        .doc("number of the row's bucket when the partition is split into n buckets of nearly equal size")
        .rows_needed(RowsNeeded::BeforeAndCountAfter),
    ranking("rank_with", FunctionId::RankWith, &[METHOD, AS_FRACTION, KEEPS_NULLS], types::rank_with)
        .doc("rank with a method for ties: 'min', 'max', 'average', 'dense' or 'ordinal'; with TRUE as a fraction of the rows")
        .rows_needed(RowsNeeded::Partition),
];

/// An aggregate of numeric pairs.
const fn of_pairs(name: &'static str, function_id: FunctionId, rule: Rule) -> Function {
    aggregate(name, function_id, &[DEPENDENT, INDEPENDENT], rule)
}

/// An exponentially weighted aggregate.
const fn weighted(name: &'static str, function_id: FunctionId, arguments: &'static [Argument], rule: Rule) -> Function {
    aggregate(name, function_id, arguments, rule)
        .sensitive(OrderSensitivity::Rows)
        .nulls(NullHandling::SkippedInPlace)
        .distinct(Distinct::Refused)
        .argument_order(ArgumentOrder::Refused)
}

/// Placeholders for user-defined functions, which are not in the table; [`UserFunction`] holds the function itself.
static USER_FUNCTIONS: [Function; 3] = [
    aggregate("user-defined aggregate", FunctionId::UserAggregate, &[ANY_VALUES], types::user)
        .doc("result of the user's aggregate class")
        .sensitive(OrderSensitivity::Rows)
        .nulls(NullHandling::Kept)
        .distinct(Distinct::Refused)
        .argument_order(ArgumentOrder::Rows),
    aggregate("vectorized function", FunctionId::UserFrames, &[ANY_VALUES], types::user)
        .doc("result of the user's function")
        .sensitive(OrderSensitivity::Rows)
        .nulls(NullHandling::Kept)
        .distinct(Distinct::Refused)
        .argument_order(ArgumentOrder::Refused)
        .frames(Frames::OnePiece),
    running("partition function", FunctionId::UserPartitions, &[VALUE, ANY_VALUES], types::user)
        .doc("result of the user's function")
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
