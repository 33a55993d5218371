//! SQL window functions over Arrow at memory speed.

pub mod aggregate;
pub mod bitmap;
pub mod bounds;
pub mod carry;
pub mod error;
pub mod evaluate;
pub mod frame;
pub mod functions;
pub mod inclusion;
pub mod rows;
pub mod section;
pub mod spec;

pub use error::{Error, ErrorKind, Result};
pub use frame::{Bound, Exclude, Frame, Shape, Units};
pub use spec::{Arg, Call, Literal, OrderKey, WindowSpec};
