//! The table of functions: names, arguments, what they may be asked, and what the plan needs to know of them.

use super::function_id::Kernel;
use crate::spec::udf::UserFunction;

/// What kind of function it is, and so which parts of a call it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Folds a frame: takes a frame, FILTER, `min_rows`.
    Aggregate,
    /// Picks a row of the frame: takes what an aggregate takes, and IGNORE NULLS.
    Value,
    /// Picks a row at a distance in the partition: no frame; needs an order.
    Offset,
    /// Says where the row stands in its partition: no frame; needs an order. With an ORDER BY inside the
    /// parentheses it says where the row stands in a frame, by that order.
    Ranking,
    /// Reads the partition's rows one after another: no frame; needs an order.
    Running,
}

/// A function as the table has it.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Spark SQL's name, in lower case.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it computes.
    pub kernel: Kernel,
    /// What kind it is.
    pub family: Family,
    /// The least and the greatest number of arguments.
    pub arguments: (usize, usize),
    /// What it is, in one line.
    pub doc: &'static str,
}

const fn aggregate(
    name: &'static str,
    aliases: &'static [&'static str],
    kernel: Kernel,
    arguments: (usize, usize),
    doc: &'static str,
) -> Function {
    Function { name, aliases, kernel, family: Family::Aggregate, arguments, doc }
}

const fn value(
    name: &'static str,
    aliases: &'static [&'static str],
    kernel: Kernel,
    arguments: (usize, usize),
    doc: &'static str,
) -> Function {
    Function { name, aliases, kernel, family: Family::Value, arguments, doc }
}

const fn offset(name: &'static str, kernel: Kernel, doc: &'static str) -> Function {
    Function { name, aliases: &[], kernel, family: Family::Offset, arguments: (1, 3), doc }
}

const fn running(name: &'static str, kernel: Kernel, arguments: (usize, usize), doc: &'static str) -> Function {
    Function { name, aliases: &[], kernel, family: Family::Running, arguments, doc }
}

const fn ranking(name: &'static str, kernel: Kernel, arguments: (usize, usize), doc: &'static str) -> Function {
    Function { name, aliases: &[], kernel, family: Family::Ranking, arguments, doc }
}

/// Every function there is.
pub const FUNCTIONS: &[Function] = &[
    aggregate("count", &[], Kernel::Count, (0, usize::MAX), "rows of the frame, or those where no argument is null"),
    aggregate("sum", &[], Kernel::Sum, (1, 1), "sum of the frame's values; floats are compensated"),
    aggregate("avg", &["mean"], Kernel::Avg, (1, 1), "mean of the frame's values"),
    aggregate("min", &[], Kernel::Min, (1, 1), "least value of the frame; NaN is greatest"),
    aggregate("max", &[], Kernel::Max, (1, 1), "greatest value of the frame; NaN is greatest"),
    aggregate("var_pop", &[], Kernel::VarPop, (1, 1), "population variance of the frame"),
    aggregate("var_samp", &["variance"], Kernel::VarSamp, (1, 1), "sample variance of the frame"),
    aggregate("stddev_pop", &[], Kernel::StddevPop, (1, 1), "population standard deviation of the frame"),
    aggregate("stddev_samp", &["stddev", "std"], Kernel::StddevSamp, (1, 1), "sample standard deviation of the frame"),
    aggregate("count_if", &[], Kernel::CountIf, (1, 1), "rows of the frame where the argument is true"),
    aggregate("try_sum", &[], Kernel::TrySum, (1, 1), "sum of the frame's values, NULL where it overflows"),
    aggregate("try_avg", &[], Kernel::TryAvg, (1, 1), "mean of the frame's values, NULL where it overflows"),
    aggregate("product", &[], Kernel::Product, (1, 1), "product of the frame's values"),
    aggregate("geometric_mean", &["geomean"], Kernel::GeometricMean, (1, 1), "geometric mean of the frame's values"),
    aggregate("skewness", &[], Kernel::Skewness, (1, 1), "population skewness of the frame"),
    aggregate("kurtosis", &[], Kernel::Kurtosis, (1, 1), "population excess kurtosis of the frame"),
    aggregate("covar_pop", &[], Kernel::CovarPop, (2, 2), "population covariance of the frame's pairs"),
    aggregate("covar_samp", &[], Kernel::CovarSamp, (2, 2), "sample covariance of the frame's pairs"),
    aggregate("corr", &[], Kernel::Corr, (2, 2), "correlation of the frame's pairs"),
    aggregate("regr_count", &[], Kernel::RegrCount, (2, 2), "pairs (y, x) of the frame without a null"),
    aggregate("regr_avgx", &[], Kernel::RegrAvgx, (2, 2), "mean of x over the frame's pairs (y, x)"),
    aggregate("regr_avgy", &[], Kernel::RegrAvgy, (2, 2), "mean of y over the frame's pairs (y, x)"),
    aggregate("regr_slope", &[], Kernel::RegrSlope, (2, 2), "slope of the line through the frame's pairs (y, x)"),
    aggregate(
        "regr_intercept",
        &[],
        Kernel::RegrIntercept,
        (2, 2),
        "where the line through the frame's pairs (y, x) meets x = 0",
    ),
    aggregate("regr_r2", &[], Kernel::RegrR2, (2, 2), "squared correlation of the frame's pairs (y, x)"),
    aggregate(
        "regr_sxx",
        &[],
        Kernel::RegrSxx,
        (2, 2),
        "squared distances of x from its mean, summed over the frame's pairs (y, x)",
    ),
    aggregate(
        "regr_syy",
        &[],
        Kernel::RegrSyy,
        (2, 2),
        "squared distances of y from its mean, summed over the frame's pairs (y, x)",
    ),
    aggregate(
        "regr_sxy",
        &[],
        Kernel::RegrSxy,
        (2, 2),
        "products of the distances of x and y from their means, summed over the frame's pairs (y, x)",
    ),
    aggregate("bit_and", &[], Kernel::BitAnd, (1, 1), "bits set in all values of the frame"),
    aggregate("bit_or", &[], Kernel::BitOr, (1, 1), "bits set in any value of the frame"),
    aggregate("bit_xor", &[], Kernel::BitXor, (1, 1), "bits set in an odd number of the frame's values"),
    aggregate(
        "min_by",
        &["arg_min"],
        Kernel::MinBy,
        (2, 3),
        "the first argument where the second is least, or the k least, as a list",
    ),
    aggregate(
        "max_by",
        &["arg_max"],
        Kernel::MaxBy,
        (2, 3),
        "the first argument where the second is greatest, or the k greatest, as a list",
    ),
    aggregate("mode", &[], Kernel::Mode, (1, 2), "most frequent value of the frame; of several the least"),
    aggregate("median", &[], Kernel::Median, (1, 1), "middle value of the frame"),
    aggregate(
        "percentile",
        &["percentile_cont", "quantile_cont"],
        Kernel::Percentile,
        (2, 3),
        "value at a share of the frame's ordered values, interpolated",
    ),
    aggregate(
        "percentile_disc",
        &["quantile_disc"],
        Kernel::PercentileDisc,
        (2, 2),
        "first of the frame's ordered values at or beyond a share",
    ),
    aggregate(
        "percentile_approx",
        &["approx_percentile"],
        Kernel::PercentileApprox,
        (2, 3),
        "value at a share of the frame's ordered values; exact",
    ),
    aggregate(
        "approx_count_distinct",
        &[],
        Kernel::ApproxCountDistinct,
        (1, 2),
        "number of different values of the frame; exact",
    ),
    aggregate("mad", &[], Kernel::Mad, (1, 1), "median distance of the frame's values from their median"),
    aggregate("entropy", &[], Kernel::Entropy, (1, 1), "Shannon entropy of the frame's values, in bits"),
    aggregate("collect_list", &["array_agg"], Kernel::CollectList, (1, 1), "the frame's values, as a list"),
    aggregate("collect_set", &[], Kernel::CollectSet, (1, 1), "the frame's different values, as a list in their order"),
    aggregate(
        "listagg",
        &["string_agg"],
        Kernel::Listagg,
        (1, 2),
        "the frame's values as texts, joined by a delimiter",
    ),
    aggregate(
        "histogram_numeric",
        &[],
        Kernel::HistogramNumeric,
        (2, 2),
        "the frame's values in so many bins, each a centre and a height",
    ),
    aggregate(
        "ewm_mean",
        &[],
        Kernel::EwmMean,
        (2, 3),
        "mean of the frame's values, each row before weighing less by 1 - alpha",
    ),
    aggregate(
        "ewm_mean_by",
        &[],
        Kernel::EwmMeanBy,
        (3, 3),
        "mean of the frame's values, moved from one to the next by the half-lives between their times",
    ),
    aggregate("bool_and", &["every"], Kernel::BoolAnd, (1, 1), "whether all values of the frame are true"),
    aggregate("bool_or", &["some", "any"], Kernel::BoolOr, (1, 1), "whether any value of the frame is true"),
    value("first_value", &["first"], Kernel::First, (1, 1), "the frame's first value"),
    value("last_value", &["last"], Kernel::Last, (1, 1), "the frame's last value"),
    value("any_value", &[], Kernel::First, (1, 1), "a value of the frame: the first"),
    value("nth_value", &[], Kernel::Nth, (2, 2), "the frame's n-th value, from 1"),
    offset("lag", Kernel::Lag, "the value n rows before the row; a default outside the partition"),
    offset("lead", Kernel::Lead, "the value n rows after the row; a default outside the partition"),
    running(
        "fill",
        Kernel::Fill,
        (1, 1),
        "the value, or where it is NULL, the line between its neighbours by the order key",
    ),
    running(
        "counter_diff",
        Kernel::CounterDiff,
        (1, 2),
        "what a counter counted since the value before; NULL where it was set back",
    ),
    ranking("row_number", Kernel::RowNumber, (0, 0), "the row's number in its partition, from 1"),
    ranking("rank", Kernel::Rank, (0, usize::MAX), "one more than the rows before the row's peers"),
    ranking("dense_rank", Kernel::DenseRank, (0, usize::MAX), "the number of the row's peer group, from 1"),
    ranking("percent_rank", Kernel::PercentRank, (0, usize::MAX), "(rank - 1) / (rows - 1); 0 for a lone row"),
    ranking("cume_dist", Kernel::CumeDist, (0, 0), "the share of rows up to the row's last peer"),
    ranking("ntile", Kernel::Ntile, (0, 1), "the row's bucket of n nearly equal ones; the first take the rest"),
];

/// What stands for a user's functions, which are not in the table: [`UserFunction`] has the function itself.
static USER_FUNCTIONS: [Function; 3] = [
    aggregate("user-defined aggregate", &[], Kernel::UserAggregate, (0, usize::MAX), "what the user's methods make"),
    aggregate("vectorized function", &[], Kernel::UserFrames, (0, usize::MAX), "what the user's function answers"),
    running("partition function", Kernel::UserPartitions, (1, usize::MAX), "what the user's function answers"),
];

/// What stands for a function of a user's.
#[must_use]
pub fn of_user(function: &UserFunction) -> &'static Function {
    let [aggregate, frames, partitions] = &USER_FUNCTIONS;
    match function {
        UserFunction::Aggregate(_) => aggregate,
        UserFunction::Frames(_) => frames,
        UserFunction::Partitions(_) => partitions,
    }
}

/// What DISTINCT does to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distinct {
    /// It makes no sense, and is refused.
    Refused,
    /// Nothing: equal values count once anyway.
    Idle,
    /// Equal arguments take part once.
    Counts,
}

/// What an ORDER BY inside the parentheses does to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentOrder {
    /// It makes no sense, and is refused.
    Refused,
    /// Nothing: the order of rows does not matter to the answer.
    Idle,
    /// The frame's rows are read in this order.
    Rows,
    /// Its one key is the first argument, and its direction is the one values are counted in: WITHIN GROUP.
    Values,
}

impl Function {
    /// Whether it looks at a frame that the caller chooses, given whether the call has an argument order.
    #[must_use]
    pub fn takes_frame(&self, argument_order: bool) -> bool {
        match self.family {
            Family::Aggregate | Family::Value => true,
            Family::Ranking => argument_order,
            Family::Offset | Family::Running => false,
        }
    }

    /// Whether FILTER may choose its rows.
    #[must_use]
    pub fn takes_filter(&self) -> bool {
        matches!(self.family, Family::Aggregate | Family::Value) && self.kernel != Kernel::Nth
    }

    /// Whether it may pass over nulls.
    #[must_use]
    pub fn takes_ignore_nulls(&self) -> bool {
        matches!(self.family, Family::Value | Family::Offset)
            || matches!(self.kernel, Kernel::CollectList | Kernel::EwmMean)
    }

    /// What DISTINCT does to it.
    #[must_use]
    pub fn distinct(&self) -> Distinct {
        use Kernel as K;
        match (self.family, self.kernel) {
            (Family::Value, K::First)
            | (
                Family::Aggregate,
                K::Min
                | K::Max
                | K::BoolAnd
                | K::BoolOr
                | K::BitAnd
                | K::BitOr
                | K::CollectSet
                | K::ApproxCountDistinct,
            ) => Distinct::Idle,
            (
                Family::Aggregate,
                K::MinBy
                | K::MaxBy
                | K::HistogramNumeric
                | K::EwmMean
                | K::EwmMeanBy
                | K::UserAggregate
                | K::UserFrames,
            )
            | (Family::Value | Family::Offset | Family::Ranking | Family::Running, _) => Distinct::Refused,
            (Family::Aggregate, _) => Distinct::Counts,
        }
    }

    /// What an ORDER BY inside the parentheses does to it.
    #[must_use]
    pub fn argument_order(&self) -> ArgumentOrder {
        use Kernel as K;
        match (self.family, self.kernel) {
            (Family::Value | Family::Ranking, _) | (_, K::CollectList | K::Listagg | K::UserAggregate) => {
                ArgumentOrder::Rows
            }
            (_, K::Mode | K::Median | K::Percentile | K::PercentileDisc | K::PercentileApprox) => ArgumentOrder::Values,
            (_, K::EwmMean | K::EwmMeanBy | K::UserFrames) | (Family::Offset | Family::Running, _) => {
                ArgumentOrder::Refused
            }
            (Family::Aggregate, _) => ArgumentOrder::Idle,
        }
    }

    /// Whether the argument of this index is one value for all rows, read when the plan is made.
    #[must_use]
    pub fn constant(&self, index: usize) -> bool {
        use Kernel as K;
        match self.kernel {
            K::Nth | K::Lag | K::Lead | K::Mode | K::Percentile | K::PercentileDisc => index == 1,
            K::PercentileApprox | K::ApproxCountDistinct | K::Listagg | K::HistogramNumeric | K::EwmMean => index > 0,
            K::MinBy | K::MaxBy | K::EwmMeanBy => index == 2,
            _ => self.family == Family::Ranking,
        }
    }
}

/// The function of this name or alias, in any case.
#[must_use]
pub fn find(name: &str) -> Option<&'static Function> {
    let name = name.to_ascii_lowercase();
    FUNCTIONS.iter().find(|function| function.name == name || function.aliases.contains(&name.as_str()))
}
