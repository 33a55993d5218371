//! The functions, one family a file.
//!
//! [`registry`] is the table of them, [`signature`] their types. Aggregates are an
//! [`Aggregate`](crate::model::aggregate::Aggregate) each; ranking and value functions are evaluators of their own.

pub mod aggregate;
pub mod average;
pub mod bits;
pub(crate) mod by_order;
pub mod choice;
pub(crate) mod collect;
pub mod count;
pub mod counter;
pub mod decimal;
pub(crate) mod dense_rank;
pub(crate) mod entropy;
pub mod ewm;
pub mod exact;
pub mod extrema;
pub mod fill;
pub mod histogram;
pub(crate) mod listagg;
pub(crate) mod lists;
pub mod logic;
pub(crate) mod mad;
pub(crate) mod mode;
pub mod moments;
pub(crate) mod native;
pub mod nth;
pub mod offset;
pub(crate) mod place;
pub mod product;
pub(crate) mod quantile;
pub mod rank;
pub mod readout;
pub mod registry;
pub mod regression;
pub mod results;
pub(crate) mod saved_state;
pub mod several;
pub mod shape;
pub mod signature;
pub mod spread;
pub mod sum;
pub(crate) mod text;
pub mod total;
