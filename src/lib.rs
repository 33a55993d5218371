//! SQL window functions over Arrow at memory speed.
//!
//! A question is plain data ([`WindowSpec`], [`Call`], [`Frame`]). A [`Plan`] checks it against a schema and decides
//! how to answer it; then it computes whole batches at once ([`Plan::compute`], rows keep their order) or a
//! [`Stream`] of sorted batches in bounded memory.
//!
//! ```
//! use std::sync::Arc;
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
//! use windrow::{Arg, Bound, Call, Frame, Options, OrderKey, Plan, WindowSpec};
//!
//! let batch = RecordBatch::try_from_iter([
//!     ("device", Arc::new(Int64Array::from(vec![0, 0, 5, 0, 0, 5, 5])) as ArrayRef),
//!     ("id", Arc::new(Int64Array::from(vec![0, 1, 2, 3, 4, 5, 6])) as ArrayRef),
//!     ("level", Arc::new(Int64Array::from(vec![0, 1, 2, 3, 1, 3, 0])) as ArrayRef),
//! ])?;
//! // sum(level) OVER (PARTITION BY device ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)
//! let spec = WindowSpec::new()
//!     .partition_by(["device"])
//!     .order_by([OrderKey::asc("id")])
//!     .call(Call::new("sum", [Arg::column("level")]).over(Frame::range(Bound::preceding(1), Bound::CurrentRow)));
//! let plan = Plan::new(batch.schema(), &[spec], Options::default())?;
//! let sums = plan.compute(&batch)?;
//! assert_eq!(sums.column(0).as_primitive::<Int64Type>().values(), &[0, 1, 2, 3, 4, 3, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How an answer comes about
//!
//! ```text
//! batches -> sort, find boundaries, cut -> Section -> Bounds (a block of frames) -> evaluate -> column
//!                         plan decides all before the first row;  carry joins neighbouring sections
//! ```
//!
//! Each stage knows only the type on its left:
//!
//! - [`sort`] puts rows in order and finds where partitions and peer groups begin; [`grouping`] does without an order;
//! - a [`model::section::Section`] is rows in order: many whole partitions, or a cut of one;
//! - [`bounds`] says which rows each frame holds, and is the only code that knows EXCLUDE;
//! - [`model::aggregate::Aggregate`] is the algebra of a function, [`functions`] has one family a file;
//! - [`evaluate`] holds the strategies, one algorithm a file, each able to answer any frame;
//! - a [`model::carry::Carry`] is what rows of another section came to, or rows that are no longer held;
//! - [`exec`] runs a plan over whole batches, streams and sections.
//!
//! A folder imports only from those that stand before it here: util, spec, model, permute, sort, grouping, external,
//! bounds, evaluate, functions, catalog, plan, exec. A name is imported from the file that defines it.

pub mod bounds;
pub mod catalog;
pub mod error;
pub mod evaluate;
pub mod exec;
pub mod external;
pub mod functions;
pub mod grouping;
pub mod model;
pub mod permute;
pub mod plan;
pub mod sort;
pub mod spec;
pub mod util;

pub use catalog::calls;
pub use error::{Error, ErrorKind, Remedy, Result};
pub use exec::reader::WindowReader;
pub use exec::sectioned::summary::{Around, Summary};
pub use exec::stream::Stream;
#[cfg(feature = "spill")]
pub use external::external_sort::{ExternalSort, InOrder};
pub use external::sort_key::SortKey;
#[cfg(feature = "spill")]
pub use external::spilled_batches::SpilledBatches;
pub use plan::explain::Explanation;
pub use plan::planned::Plan;
pub use spec::argument::Arg;
pub use spec::call::{Call, Nulls};
pub use spec::frame::{Bound, Exclude, Frame, Shape, Units};
pub use spec::literal::Literal;
pub use spec::options::Options;
pub use spec::order_key::OrderKey;
pub use spec::strategy::Strategy;
pub use spec::udf::{BoundAggregate, UserAggregate, UserFrames, UserFunction, UserPartitions, UserResults, UserState};
pub use spec::window::WindowSpec;
pub use util::cancel::Cancel;
pub use util::threads::Threads;
pub use {arrow_array, arrow_schema};
