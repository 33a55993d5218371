//! The catalog: the table of functions, their identities, algebras and types.

pub mod algebra;
pub mod function_id;
pub(crate) mod shared_state;
