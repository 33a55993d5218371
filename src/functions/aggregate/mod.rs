//! Aggregates: an [`Aggregate`](crate::model::aggregate::Aggregate) each.

pub mod accumulator;
pub mod arg_min_max;
pub mod average;
pub mod bitwise;
pub mod bool_and_or;
pub mod count;
pub mod ewm;
pub mod exact;
pub mod histogram;
pub mod lanes;
pub mod min_max;
pub mod moments;
pub mod product;
pub mod regression;
pub mod shared_state;
pub mod skewness_kurtosis;
pub mod sum;
pub mod sum_state;
pub mod total;
pub(crate) mod udf;
pub mod variance;
