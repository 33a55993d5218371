//! The identity of a function.

/// What a function computes; one per kernel, whatever its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FunctionId {
    /// Rows, or rows without a null argument.
    Count,
    /// Sum.
    Sum,
    /// Mean.
    Avg,
    /// Least value.
    Min,
    /// Greatest value.
    Max,
    /// Population variance.
    VarPop,
    /// Sample variance.
    VarSamp,
    /// Population standard deviation.
    StddevPop,
    /// Sample standard deviation.
    StddevSamp,
    /// Whether all are true.
    BoolAnd,
    /// Whether any is true.
    BoolOr,
    /// The frame's first value.
    First,
    /// The frame's last value.
    Last,
    /// The frame's n-th value.
    Nth,
    /// The value so many rows before.
    Lag,
    /// The value so many rows after.
    Lead,
    /// The row's number in its partition.
    RowNumber,
    /// One more than the rows before the row's peers.
    Rank,
    /// The number of the row's peer group.
    DenseRank,
    /// `(rank - 1) / (rows - 1)`
    PercentRank,
    /// The share of rows up to the row's last peer.
    CumeDist,
    /// The number of the row's bucket.
    Ntile,
    /// Rows where the argument is true.
    CountIf,
    /// Sum, NULL where it overflows.
    TrySum,
    /// Mean, NULL where it overflows.
    TryAvg,
    /// Product, in doubles.
    Product,
    /// The n-th root of the product of n values.
    GeometricMean,
    /// Population skewness.
    Skewness,
    /// Population excess kurtosis.
    Kurtosis,
    /// Population covariance.
    CovarPop,
    /// Sample covariance.
    CovarSamp,
    /// Pearson's correlation.
    Corr,
    /// Pairs without a null.
    RegrCount,
    /// Mean of the independent variable over the pairs.
    RegrAvgx,
    /// Mean of the dependent variable over the pairs.
    RegrAvgy,
    /// Slope of the least squares line.
    RegrSlope,
    /// Its value at zero.
    RegrIntercept,
    /// The square of the correlation.
    RegrR2,
    /// The independent variable's squared distances from its mean.
    RegrSxx,
    /// The dependent variable's squared distances from its mean.
    RegrSyy,
    /// The products of both variables' distances from their means.
    RegrSxy,
    /// Bits set in all values.
    BitAnd,
    /// Bits set in any value.
    BitOr,
    /// Bits set in an odd number of values.
    BitXor,
    /// The value where another is least.
    MinBy,
    /// The value where another is greatest.
    MaxBy,
    /// The most frequent value.
    Mode,
    /// The middle value, between the middle two if there are two.
    Median,
    /// The value at a share of the way, between its neighbours: `percentile` and `percentile_cont`.
    Percentile,
    /// The first value at or beyond a share of the way.
    PercentileDisc,
    /// The value at a share of the way, of the values' type.
    PercentileApprox,
    /// Different values.
    ApproxCountDistinct,
    /// The median distance from the median.
    Mad,
    /// Shannon's entropy of the values' frequencies, in bits.
    Entropy,
    /// The values, as a list.
    CollectList,
    /// The different values, as a list.
    CollectSet,
    /// The values as texts, joined.
    Listagg,
    /// Bins of near values with their heights.
    HistogramNumeric,
    /// The exponentially weighted mean, by rows.
    EwmMean,
    /// The exponentially weighted mean, by times.
    EwmMeanBy,
    /// The value, or where it is NULL, one on the line between its neighbours.
    Fill,
    /// How far a counter went on since the value before.
    CounterDiff,
    /// An aggregate of a user's.
    UserAggregate,
    /// A function of frames of a user's.
    UserFrames,
    /// A function of partitions of a user's.
    UserPartitions,
}
