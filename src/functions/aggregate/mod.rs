//! Aggregates: an [`Aggregate`](crate::model::aggregate::Aggregate) each.

pub mod lanes;
pub(crate) mod udf;
