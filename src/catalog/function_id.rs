//! The identity of a function's implementation.

/// Identifies an implementation. Functions that differ only in name share one, such as `percentile` and
/// `percentile_cont`, or `first_value` and `any_value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FunctionId {
    /// Number of rows, or of rows without a null argument.
    Count,
    /// Sum.
    Sum,
    /// Mean.
    Avg,
    /// Minimum.
    Min,
    /// Maximum.
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
    /// The value at an offset before the row.
    Lag,
    /// The value at an offset after the row.
    Lead,
    /// The row's number in its partition.
    RowNumber,
    /// One more than the rows before the row's peers.
    Rank,
    /// The number of the row's peer group, from 1.
    DenseRank,
    /// `(rank - 1) / (rows - 1)`
    PercentRank,
    /// The fraction of the partition's rows up to the row's last peer.
    CumeDist,
    /// The number of the row's bucket.
    Ntile,
    /// A rank by a method for ties.
    RankWith,
    /// Number of rows where the argument is true.
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
    /// Number of pairs without a null.
    RegrCount,
    /// Mean of the independent variable over the pairs.
    RegrAvgx,
    /// Mean of the dependent variable over the pairs.
    RegrAvgy,
    /// Slope of the least squares line.
    RegrSlope,
    /// Intercept of the least squares line.
    RegrIntercept,
    /// The square of the correlation.
    RegrR2,
    /// Sum of squared deviations of the independent variable.
    RegrSxx,
    /// Sum of squared deviations of the dependent variable.
    RegrSyy,
    /// Sum of products of both variables' deviations.
    RegrSxy,
    /// Bitwise AND.
    BitAnd,
    /// Bitwise OR.
    BitOr,
    /// Bitwise XOR.
    BitXor,
    /// The value of the row where another argument is minimal.
    MinBy,
    /// The value of the row where another argument is maximal.
    MaxBy,
    /// The most frequent value.
    Mode,
    /// The middle value; the mean of the middle two where their number is even.
    Median,
    /// The interpolated value at a fraction of the ordered values: `percentile` and `percentile_cont`.
    Percentile,
    /// The first value at or beyond a fraction of the ordered values.
    PercentileDisc,
    /// The value at a fraction of the ordered values, in the argument's type.
    PercentileApprox,
    /// Number of distinct values.
    ApproxCountDistinct,
    /// Median absolute deviation.
    Mad,
    /// Shannon entropy of the value frequencies, in bits.
    Entropy,
    /// The values, as a list.
    CollectList,
    /// The distinct values, as a list.
    CollectSet,
    /// The values as strings, joined.
    Listagg,
    /// A histogram: bin centres and their heights.
    HistogramNumeric,
    /// The exponentially weighted mean by row distance.
    EwmMean,
    /// The exponentially weighted mean by time.
    EwmMeanBy,
    /// The exponentially weighted variance.
    EwmVar,
    /// The exponentially weighted standard deviation.
    EwmStd,
    /// The exponentially weighted covariance.
    EwmCov,
    /// The exponentially weighted correlation.
    EwmCorr,
    /// The running sum between two bounds.
    BoundedSum,
    /// The value; where it is NULL, a linear interpolation.
    Fill,
    /// The value; where it is NULL, the last one before.
    FillForward,
    /// The value; where it is NULL, the first one after.
    FillBackward,
    /// The increase of a counter since the previous value.
    CounterDiff,
    /// The number of a group of consecutive rows within limits.
    GroupId,
    /// A user-defined aggregate.
    UserAggregate,
    /// A user-defined function of frames.
    UserFrames,
    /// A user-defined function of partitions.
    UserPartitions,
}
