//! The functions, one family a file.
//!
//! [`catalog`](crate::catalog) has the table of them and their types. Aggregates are an
//! [`Aggregate`](crate::model::aggregate::Aggregate) each; ranking and value functions are evaluators of their own.

pub(crate) mod aggregate;
pub(crate) mod cast_text;
pub(crate) mod decimal;
pub(crate) mod list_builder;
pub(crate) mod multiset;
pub(crate) mod native;
pub(crate) mod ordered;
pub(crate) mod positional;
pub(crate) mod results;
pub(crate) mod saved_state;
