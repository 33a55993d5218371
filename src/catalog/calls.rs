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
    /// Rows of the frame, or those where no argument is null.
    ///
    /// `count()` counts rows; `count().arg("x")` those where `x` is not null.
    count();
    /// Sum of the frame's values; floats are compensated.
    sum(value);
    /// Mean of the frame's values.
    avg(value);
    /// Least value of the frame; NaN is greatest.
    min(value);
    /// Greatest value of the frame; NaN is greatest.
    max(value);
    /// Population variance of the frame.
    var_pop(value);
    /// Sample variance of the frame.
    var_samp(value);
    /// Population standard deviation of the frame.
    stddev_pop(value);
    /// Sample standard deviation of the frame.
    stddev_samp(value);
    /// Rows of the frame where the argument is true.
    count_if(condition);
    /// Sum of the frame's values, NULL where it overflows.
    try_sum(value);
    /// Mean of the frame's values, NULL where it overflows.
    try_avg(value);
    /// Product of the frame's values.
    product(value);
    /// Geometric mean of the frame's values.
    geometric_mean(value);
    /// Population skewness of the frame.
    skewness(value);
    /// Population excess kurtosis of the frame.
    kurtosis(value);
    /// Population covariance of the frame's pairs.
    covar_pop(y, x);
    /// Sample covariance of the frame's pairs.
    covar_samp(y, x);
    /// Correlation of the frame's pairs.
    corr(y, x);
    /// Pairs (y, x) of the frame without a null.
    regr_count(y, x);
    /// Mean of x over the frame's pairs (y, x).
    regr_avgx(y, x);
    /// Mean of y over the frame's pairs (y, x).
    regr_avgy(y, x);
    /// Slope of the line through the frame's pairs (y, x).
    regr_slope(y, x);
    /// Where the line through the frame's pairs (y, x) meets x = 0.
    regr_intercept(y, x);
    /// Squared correlation of the frame's pairs (y, x).
    regr_r2(y, x);
    /// Squared distances of x from its mean, summed over the frame's pairs (y, x).
    regr_sxx(y, x);
    /// Squared distances of y from its mean, summed over the frame's pairs (y, x).
    regr_syy(y, x);
    /// Products of the distances of x and y from their means, summed over the frame's pairs (y, x).
    regr_sxy(y, x);
    /// Bits set in all values of the frame.
    bit_and(value);
    /// Bits set in any value of the frame.
    bit_or(value);
    /// Bits set in an odd number of the frame's values.
    bit_xor(value);
    /// The first argument where the second is least, or the k least, as a list.
    ///
    /// `.arg(k)` gives the k least, as a list.
    min_by(value, by);
    /// The first argument where the second is greatest, or the k greatest, as a list.
    ///
    /// `.arg(k)` gives the k greatest, as a list.
    max_by(value, by);
    /// Most frequent value of the frame; of several the least.
    mode(value);
    /// Middle value of the frame.
    median(value);
    /// Value at a share of the frame's ordered values, interpolated.
    percentile(value, share);
    /// Value at a share of the frame's ordered values, interpolated; WITHIN GROUP says of what.
    percentile_cont(value, share);
    /// First of the frame's ordered values at or beyond a share.
    percentile_disc(value, share);
    /// Value at a share of the frame's ordered values; exact.
    percentile_approx(value, share);
    /// Number of different values of the frame; exact.
    approx_count_distinct(value);
    /// Median distance of the frame's values from their median.
    mad(value);
    /// Shannon entropy of the frame's values, in bits.
    entropy(value);
    /// The frame's values, as a list.
    collect_list(value);
    /// The frame's different values, as a list in their order.
    collect_set(value);
    /// The frame's values as texts, joined by a delimiter.
    listagg(value, delimiter);
    /// The frame's values in at most n bins, each a centre and a height.
    histogram_numeric(value, bins);
    /// Mean of the frame's values, each row before weighing less by 1 - alpha.
    ewm_mean(value, alpha);
    /// Mean of the frame's values, moved from one to the next by the half-lives between their times.
    ewm_mean_by(value, times, half_life);
    /// Whether all values of the frame are true.
    bool_and(condition);
    /// Whether any value of the frame is true.
    bool_or(condition);
    /// The frame's first value.
    first_value(value);
    /// The frame's last value.
    last_value(value);
    /// A value of the frame: the first.
    any_value(value);
    /// The frame's n-th value, from 1.
    nth_value(value, n);
    /// The value n rows before the row; a default outside the partition.
    ///
    /// `.arg(default)` sets the default; NULL without.
    lag(value, offset);
    /// The value n rows after the row; a default outside the partition.
    ///
    /// `.arg(default)` sets the default; NULL without.
    lead(value, offset);
    /// The value, or where it is NULL, the line between its neighbours by the order key.
    fill(value);
    /// What a counter counted since the value before; NULL where it was set back.
    counter_diff(value);
    /// The row's number in its partition, from 1.
    row_number();
    /// One more than the rows before the row's peers.
    rank();
    /// The number of the row's peer group, from 1.
    dense_rank();
    /// `(rank - 1) / (rows - 1)`; 0 for a lone row.
    percent_rank();
    /// The share of rows up to the row's last peer.
    cume_dist();
    /// The row's bucket of n nearly equal ones; the first take the rest.
    ntile(n);
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
