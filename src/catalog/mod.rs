//! The catalog: one row a function. Nothing about a function is listed elsewhere.

pub mod algebra;
pub mod argument;
pub mod calls;
pub mod function;
pub mod function_id;
pub mod functions;
pub(crate) mod row;
pub mod shared_state;
pub mod signature;
