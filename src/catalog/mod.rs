//! The catalog: one row per function, with everything that plans, hosts and documentation need to know about it.
//!
//! ```
//! use windrow::catalog::{FUNCTIONS, Family, find};
//! let variance = find("variance").expect("an alias of var_samp");
//! assert_eq!((variance.name, variance.family), ("var_samp", Family::Aggregate));
//! assert!(FUNCTIONS.iter().any(|function| function.name == "ntile"));
//! ```

pub(crate) mod algebra;
pub(crate) mod argument;
pub mod calls;
pub(crate) mod function;
pub(crate) mod function_id;
pub(crate) mod functions;
pub(crate) mod row;
pub(crate) mod shared_state;
pub(crate) mod signature;

pub use argument::{Argument, Constant, Presence, Role};
pub use function::{
    ArgumentOrder, Distinct, Family, FrameEnd, Frames, Function, NullHandling, OrderSensitivity, OwnFrame, RowsNeeded,
    WindowOrder, WithinGroup,
};
pub use functions::{FUNCTIONS, find};
