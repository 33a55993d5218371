//! The functions, one family per file.
//!
//! [`catalog`](crate::catalog) has their table and types. Aggregates implement
//! [`Aggregate`](crate::model::aggregate::Aggregate); ranking and value functions are evaluators of their own.

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
