//! A constructor for each function of the catalog.
//!
//! Every argument is a column name or a literal ([`Arg`]); [`Call::arg`] adds optional arguments, and the other methods
//! of [`Call`] add modifiers.
//!
//! ```
//! use windrow::calls::{count, lag, max_by, sum};
//! use windrow::{Arg, Bound, Call, Frame, Literal};
//!
//! let total = sum("level").over(Frame::rows(Bound::preceding(2), Bound::CurrentRow)).alias("total");
//! assert_eq!(total, Call::new("sum", [Arg::column("level")]).over(total.frame.clone().unwrap()).alias("total"));
//! assert_eq!(lag("level", 1).arg(0).args, [Arg::column("level"), Arg::literal(1), Arg::literal(0)]);
//! assert_eq!(count().args, []); // count(*)
//! assert_eq!(count().arg("level").args.len(), 1);
//! assert_eq!(max_by("name", "level").arg(3).args[2], Arg::Literal(Literal::Int(3)));
//! ```

use crate::spec::argument::Arg;
use crate::spec::call::Call;

macro_rules! constructors {
    ($($(#[doc = $doc:literal])+ $name:ident($($argument:ident),*);)+) => {
        $(
            $(#[doc = $doc])+
            #[must_use]
            pub fn $name($($argument: impl Into<Arg>),*) -> Call {
                Call::new(stringify!($name), [$($argument.into()),*])
            }
        )+

        /// The names of the constructors, their numbers of arguments, and the lines of their documentation.
        #[cfg(test)]
        const CONSTRUCTORS: &[(&str, usize, &[&str])] =
            &[$((stringify!($name), <[&str]>::len(&[$(stringify!($argument)),*]), &[$($doc),+])),+];
    };
}

constructors! {
    /// Number of rows in the frame; with arguments, of rows where none of them is NULL.
    ///
    /// `count()` counts rows; `count().arg("x")` those where `x` is not null.
    count();
    /// Sum of the frame's values; float sums are compensated.
    sum(value);
    /// Average of the frame's values.
    avg(value);
    /// Smallest value in the frame; NaN is larger than any number.
    min(value);
    /// Largest value in the frame; NaN is larger than any number.
    max(value);
    /// Population variance of the frame's values: divides by n.
    var_pop(value);
    /// Sample variance of the frame's values: divides by n - 1.
    var_samp(value);
    /// Population standard deviation of the frame's values: divides by n.
    stddev_pop(value);
    /// Sample standard deviation of the frame's values: divides by n - 1.
    stddev_samp(value);
    /// Number of rows in the frame where the condition is true.
    count_if(condition);
    /// Sum of the frame's values, or NULL if it overflows.
    try_sum(value);
    /// Average of the frame's values, or NULL if it overflows.
    try_avg(value);
    /// Product of the frame's values.
    product(value);
    /// Geometric mean of the frame's values: the n-th root of their product.
    geometric_mean(value);
    /// Population skewness of the frame's values: not corrected for bias.
    skewness(value);
    /// Population excess kurtosis of the frame's values: not corrected for bias.
    kurtosis(value);
    /// Population covariance of y and x over the frame: divides by n.
    covar_pop(y, x);
    /// Sample covariance of y and x over the frame: divides by n - 1.
    covar_samp(y, x);
    /// Pearson correlation of y and x over the frame.
    corr(y, x);
    /// Number of rows in the frame where neither y nor x is NULL.
    regr_count(y, x);
    /// Average of x over the frame's rows where neither y nor x is NULL.
    regr_avgx(y, x);
    /// Average of y over the frame's rows where neither y nor x is NULL.
    regr_avgy(y, x);
    /// Slope of the least-squares line through the frame's points (x, y).
    regr_slope(y, x);
    /// Intercept of the least-squares line through the frame's points (x, y): its y at x = 0.
    regr_intercept(y, x);
    /// Coefficient of determination (R squared) of the least-squares line through the frame's points (x, y).
    regr_r2(y, x);
    /// Sum of the squared deviations of x from its mean over the frame.
    regr_sxx(y, x);
    /// Sum of the squared deviations of y from its mean over the frame.
    regr_syy(y, x);
    /// Sum of the products of the deviations of x and y from their means over the frame.
    regr_sxy(y, x);
    /// Bitwise AND of the frame's values.
    bit_and(value);
    /// Bitwise OR of the frame's values.
    bit_or(value);
    /// Bitwise XOR of the frame's values.
    bit_xor(value);
    /// First argument in the frame's row with the smallest second argument; with k, a list for the k smallest.
    ///
    /// `.arg(k)` gives the k least, as a list.
    min_by(value, by);
    /// First argument in the frame's row with the largest second argument; with k, a list for the k largest.
    ///
    /// `.arg(k)` gives the k greatest, as a list.
    max_by(value, by);
    /// Most frequent value in the frame; the smallest one if several are equally frequent.
    mode(value);
    /// Median of the frame's values; the mean of the middle two if their number is even.
    median(value);
    /// Value at a fraction (0 to 1) of the frame's sorted values, interpolated.
    percentile(value, share);
    /// Value at a fraction (0 to 1) of the frame's sorted values, interpolated; also WITHIN GROUP.
    percentile_cont(value, share);
    /// First of the frame's sorted values at or after a fraction (0 to 1); also WITHIN GROUP.
    percentile_disc(value, share);
    /// Value at a fraction (0 to 1) of the frame's sorted values, not interpolated; exact.
    percentile_approx(value, share);
    /// Number of distinct values in the frame; exact.
    approx_count_distinct(value);
    /// Median absolute deviation: the median of the values' distances from their median.
    mad(value);
    /// Shannon entropy of the frequencies of the frame's values, in bits.
    entropy(value);
    /// List of the frame's values, in row order.
    collect_list(value);
    /// Sorted list of the frame's distinct values.
    collect_set(value);
    /// The frame's values as strings, joined by a delimiter.
    listagg(value, delimiter);
    /// Histogram of the frame's values: at most n bins, each with its centre and number of values.
    histogram_numeric(value, bins);
    /// Exponentially weighted mean: each row's weight is 1 - alpha times that of the next row.
    ///
    /// An interval in place of `alpha` is a half-life by the window's order key, of dates or times.
    ewm_mean(value, alpha);
    /// Exponentially weighted mean by time: the weight of earlier values halves in each half-life.
    ewm_mean_by(value, times, half_life);
    /// Exponentially weighted variance: the weights are those of `ewm_mean`.
    ///
    /// `.arg(adjust)` and `.arg(bias)` are as in pandas: true and false without.
    ewm_var(value, alpha);
    /// Exponentially weighted standard deviation: the weights are those of `ewm_mean`.
    ewm_std(value, alpha);
    /// Exponentially weighted covariance of y and x: the weights are those of `ewm_mean`.
    ewm_cov(y, x, alpha);
    /// Exponentially weighted correlation of y and x: the weights are those of `ewm_mean`.
    ewm_corr(y, x, alpha);
    /// Sum along the frame that stays between two bounds: what would carry it beyond one is lost.
    ///
    /// `.arg(low)`, `.arg(high)` and `.arg(start)` set the bounds and the sum before the first value, which are 0, none
    /// and 0 without.
    bounded_sum(value);
    /// Whether all values in the frame are true.
    bool_and(condition);
    /// Whether any value in the frame is true.
    bool_or(condition);
    /// First value in the frame.
    first_value(value);
    /// Last value in the frame.
    last_value(value);
    /// Any value in the frame: always the first one, so results are reproducible.
    any_value(value);
    /// N-th value in the frame, counted from 1.
    nth_value(value, n);
    /// Value n rows before the current row, or a default where the partition has no such row.
    ///
    /// `.arg(default)` sets the default; NULL without.
    lag(value, offset);
    /// Value n rows after the current row, or a default where the partition has no such row.
    ///
    /// `.arg(default)` sets the default; NULL without.
    lead(value, offset);
    /// The value; NULL is replaced by linear interpolation over the order key.
    ///
    /// `.arg(max_gap)` leaves NULL what lies in a longer gap: the distance of its two known neighbours by the order key.
    fill(value);
    /// The value; NULL is replaced by the last value before it, in gaps of the order key up to a distance.
    ///
    /// `.arg(max_gap)` sets the distance, as for [`fill`].
    fill_forward(value);
    /// The value; NULL is replaced by the first value after it, in gaps of the order key up to a distance.
    ///
    /// `.arg(max_gap)` sets the distance, as for [`fill`].
    fill_backward(value);
    /// Increase of a counter since its previous value; NULL where it was reset.
    counter_diff(value);
    /// Number of the row's group, from 1; a row that would pass a limit of the open group opens another.
    ///
    /// `max_gap` limits the distance from the row before, by the order key; [`Literal::Null`](crate::Literal::Null) for
    /// none. Further limits are `.arg(max_span)`, `.arg(max_rows)`, `.arg(column)` and `.arg(max_sum)`, in this order.
    group_id(max_gap);
    /// Number of the row in its partition, from 1.
    row_number();
    /// Rank with gaps: 1 plus the number of rows before the row's peers.
    rank();
    /// Rank without gaps: the number of the row's peer group, from 1.
    dense_rank();
    /// Relative rank: `(rank - 1) / (rows - 1)`, or 0 in a partition of one row.
    percent_rank();
    /// Cumulative distribution: the fraction of rows up to the row's last peer.
    cume_dist();
    /// Number of the row's bucket when the partition is split into n buckets of nearly equal size.
    ntile(n);
    /// Rank with a method for ties: 'min', 'max', 'average', 'dense' or 'ordinal'; with TRUE as a fraction of the rows.
    ///
    /// `.arg(true)` gives fractions of the rows, for `dense` of the peer groups; a second `.arg(true)` gives NULL where
    /// the key is NULL, and does not count such rows.
    rank_with(method);
}

#[cfg(test)]
mod tests {
    use super::CONSTRUCTORS;
    use crate::catalog::functions::FUNCTIONS;

    #[test]
    fn every_function_has_a_constructor_of_its_name() {
        let names: Vec<_> = CONSTRUCTORS.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, FUNCTIONS.iter().map(|function| function.name).collect::<Vec<_>>());
        for (function, (name, arguments, lines)) in FUNCTIONS.iter().zip(CONSTRUCTORS) {
            let (least, most) = function.argument_count();
            assert!((least..=most).contains(arguments), "{name} takes {least} to {most} arguments");
            let said = lines[0].replace('`', "").to_lowercase();
            assert_eq!(said, format!(" {}.", function.doc.to_lowercase()), "{name}: the row says something else");
        }
    }
}
