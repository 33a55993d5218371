//! The catalog: the table of functions, their identities, algebras and types.

pub mod algebra;
pub mod calls;
pub mod function_id;
pub mod functions;
pub(crate) mod shared_state;
pub mod signature;
