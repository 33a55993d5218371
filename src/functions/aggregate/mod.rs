//! Aggregates; each implements [`Aggregate`](crate::model::aggregate::Aggregate).

pub(crate) mod accumulator;
pub(crate) mod arg_min_max;
pub(crate) mod average;
pub(crate) mod bitwise;
pub(crate) mod bool_and_or;
pub(crate) mod bounded_sum;
pub(crate) mod count;
pub(crate) mod ewm;
pub(crate) mod ewm_moments;
pub(crate) mod exact;
pub(crate) mod histogram;
pub(crate) mod lanes;
pub(crate) mod min_max;
pub(crate) mod moments;
pub(crate) mod product;
pub(crate) mod regression;
pub(crate) mod shared_state;
pub(crate) mod skewness_kurtosis;
pub(crate) mod sum;
pub(crate) mod sum_accumulator;
pub(crate) mod sum_state;
pub(crate) mod udf;
pub(crate) mod variance;
