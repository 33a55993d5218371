//! Rows: from batches to sorted rows with their edges.
//!
//! One order of values serves sorting, grouping, partition edges and peers, and it is Spark's: nulls are equal
//! and their place is the key's, -0.0 equals 0.0, all NaNs are equal and greater than every number, text and
//! bytes compare byte by byte, decimals and dictionary keys by value, lists, structs and fixed size lists element
//! by element with nested nulls smallest; descending is the exact reverse. `keys.rs` is where that order is written.

mod bits;
mod bytes;
mod cells;
mod codes;
pub mod edges;
mod ends;
pub mod external;
pub mod gather;
pub mod group;
mod groups;
mod held;
mod keys;
mod layout;
mod merge;
mod neighbours;
mod number;
mod pieces;
mod radix;
mod restore;
mod room;
mod route;
pub mod sort;
mod source;
mod spill;
mod tiles;
mod turns;
mod uncached;

pub use edges::{first_descent, starts};
pub(crate) use ends::ends;
pub use external::{ExternalSort, InOrder, SortKey};
pub use gather::gather;
pub(crate) use gather::gather_on;
pub use group::group;
pub(crate) use group::group_on;
pub use groups::Groups;
pub(crate) use groups::{Run, Share, broadcast, copies};
pub(crate) use keys::normalise;
pub(crate) use number::{number, scattered};
pub use restore::restore;
pub(crate) use restore::{Dealt, Restored};
pub(crate) use route::Route;
pub(crate) use sort::{Arranged, arrange};
pub use sort::{SortColumn, sort};
pub(crate) use source::Source;
pub use uncached::Writes;
