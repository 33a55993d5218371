//! The functions, one family a file.
//!
//! [`catalog`](crate::catalog) has the table of them and their types. Aggregates are an
//! [`Aggregate`](crate::model::aggregate::Aggregate) each; ranking and value functions are evaluators of their own.

pub mod aggregate;
pub(crate) mod cast_text;
pub mod decimal;
pub(crate) mod list_builder;
pub(crate) mod multiset;
pub(crate) mod native;
pub(crate) mod ordered;
pub mod positional;
pub mod results;
pub(crate) mod saved_state;
