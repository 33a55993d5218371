//! SQL window functions over Arrow.
//!
//! A query is plain data: a [`WindowSpec`] of [`Call`]s, each over a [`Frame`]. A [`Plan`] checks it against a schema
//! and chooses how each call is evaluated ([`Plan::explain`]). A plan evaluates
//!
//! - whole batches, with results in the order of the input rows: [`Plan::compute`] and [`Plan::append`];
//! - sorted input batch by batch, in bounded memory: [`Stream`], and [`WindowReader`] over a `RecordBatchReader`;
//! - rows that continue those of an earlier run, from its state: [`Appender`];
//! - sections of a sorted input independently: [`Plan::summarise`], [`Plan::scan`], [`Plan::evaluate_section`].
//!
//! ```
//! use std::sync::Arc;
//! use windrow::arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
//! use windrow::calls::sum;
//! use windrow::{Bound, Frame, Options, Plan, WindowSpec};
//!
//! let batch = RecordBatch::try_from_iter([
//!     ("device", Arc::new(Int64Array::from(vec![0, 0, 5, 0, 0, 5, 5])) as ArrayRef),
//!     ("id", Arc::new(Int64Array::from(vec![0, 1, 2, 3, 4, 5, 6])) as ArrayRef),
//!     ("level", Arc::new(Int64Array::from(vec![0, 1, 2, 3, 1, 3, 0])) as ArrayRef),
//! ])?;
//! // sum(level) OVER (PARTITION BY device ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)
//! let spec = WindowSpec::new()
//!     .partition_by(["device"])
//!     .order_by(["id"])
//!     .call(sum("level").over(Frame::range(Bound::preceding(1), Bound::CurrentRow)));
//! let plan = Plan::new(batch.schema(), &[spec], Options::default())?;
//! let sums = plan.compute(&batch)?;
//! assert_eq!(sums.column(0).as_primitive::<Int64Type>().values(), &[0, 1, 2, 3, 4, 3, 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`calls`] has a constructor for each function of the [`catalog`]; [`UserFunction`] defines functions of your own.
//!
//! # Features
//!
//! - `spill` (default): more rows than fit in memory, on disk ([`ExternalSort`], [`HashPartitions`],
//!   [`SpilledBatches`]), and section summaries serialised as bytes.
//! - `timezones` (default): time zones by name. Without it only UTC and offsets such as `+01:00` are accepted.
//!
//! # How a result is computed
//!
//! ```text
//! batches -> sort, find boundaries, cut -> Section -> Bounds (a block of frames) -> evaluate -> column
//!                         the plan is made before the first row;  a carry joins adjacent sections
//! ```
//!
//! A folder of `src` imports only from the folders listed before it here: util, spec, model, permute, sort, grouping,
//! external, bounds, evaluate, functions, catalog, plan, exec (documentation links excepted). `sort` orders rows and
//! finds partition and peer group boundaries; `grouping` numbers partitions without sorting; `bounds` resolves frames
//! to row ranges; `functions` has one family of functions per file, `evaluate` one strategy per file.

// Items that are public only for the tests and benches are unused without this feature.
#![cfg_attr(not(feature = "internals"), allow(dead_code, unreachable_pub))]

pub mod catalog;
pub mod error;

mod bounds;
mod evaluate;
mod exec;
mod external;
mod functions;
mod grouping;
mod model;
mod permute;
mod plan;
mod sort;
mod spec;
mod util;

pub use catalog::calls;
pub use error::{Error, ErrorKind, Remedy, Result};
pub use exec::append::Appender;
pub use exec::reader::WindowReader;
pub use exec::sectioned::concat_compact;
pub use exec::sectioned::summary::{Neighbourhood, Summary};
pub use exec::stream::Stream;
#[cfg(feature = "spill")]
pub use external::external_sort::{ExternalSort, SortedBatches};
#[cfg(feature = "spill")]
pub use external::hash_partitions::HashPartitions;
pub use external::sort_key::SortKey;
#[cfg(feature = "spill")]
pub use external::spilled_batches::SpilledBatches;
pub use grouping::top_rows::Counted;
pub use plan::explain::Explanation;
pub use plan::planned::Plan;
pub use plan::stream_order::SharedSort;
pub use spec::argument::Arg;
pub use spec::call::{Call, Nulls};
pub use spec::frame::{Bound, Exclude, Frame, OpenBounds, Shape, Units};
pub use spec::literal::Literal;
pub use spec::options::Options;
pub use spec::order_key::OrderKey;
pub use spec::strategy::Strategy;
pub use spec::udf::{BoundAggregate, UserAggregate, UserFrames, UserFunction, UserPartitions, UserResults, UserState};
pub use spec::window::WindowSpec;
pub use util::cancel::Cancel;
pub use {arrow_array, arrow_schema};

/// Items for this crate's tests and benches; nothing here is a stable interface.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub use crate::bounds::block::Bounds;
    pub use crate::bounds::frames::Frames;
    pub use crate::bounds::resolve::FramePlan;
    pub use crate::catalog::algebra::Algebra;
    pub use crate::catalog::function_id::FunctionId;
    pub use crate::catalog::shared_state::SharedState;
    pub use crate::catalog::signature::{Modifiers, Signature};
    pub use crate::evaluate::evaluator::Evaluator;
    pub use crate::functions::aggregate::accumulator::Accumulated;
    pub use crate::functions::aggregate::arg_min_max::{ArgMinMax, PrimitiveKeys, RowKeys, TieBreak};
    pub use crate::functions::aggregate::average::{DecimalAverage, FloatAverage, IntervalAverage};
    pub use crate::functions::aggregate::bitwise::{And, BitwiseResult, Or, Xor};
    pub use crate::functions::aggregate::bool_and_or::BoolAggregate;
    pub use crate::functions::aggregate::bounded_sum::{DoubleResult, ExactResult, SumBounds, bounded_sum};
    pub use crate::functions::aggregate::count::Count;
    pub use crate::functions::aggregate::ewm::{EwmMean, TimeClock};
    pub use crate::functions::aggregate::ewm_moments::{EwmClock, EwmReader, EwmResult};
    pub use crate::functions::aggregate::histogram::BinList;
    pub use crate::functions::aggregate::min_max::{Extremum, MinMax, TotalOrd};
    pub use crate::functions::aggregate::moments::MomentAccumulator;
    pub use crate::functions::aggregate::product::Product;
    pub use crate::functions::aggregate::regression::{PairAccumulator, Regression};
    pub use crate::functions::aggregate::skewness_kurtosis::{FourMoments, SkewnessKurtosis};
    pub use crate::functions::aggregate::sum::{
        DecimalSum, FloatSum, IntegerSum, OnOverflow, decimal_accumulator, float_accumulator, integer_accumulator,
    };
    pub use crate::functions::aggregate::variance::Variance;
    pub use crate::functions::positional::lag_lead::{LagLead, OffsetBy};
    pub use crate::grouping::cluster::cluster;
    pub use crate::model::aggregate::{Accumulator, Aggregate, ResultReader, Retractable, Selective};
    pub use crate::model::carry::Carry;
    pub use crate::model::order_column::OrderColumn;
    pub use crate::model::reach::Reach;
    pub use crate::model::row_mask::RowMask;
    pub use crate::model::section::Section;
    pub use crate::permute::column_writer::restore;
    pub use crate::permute::gather::gather;
    pub use crate::sort::boundaries::{find_boundaries, first_descent};
    pub use crate::sort::sort_column::SortColumn;
    pub use crate::sort::sort_to_indices::sort;
    pub use crate::util::boundaries::Boundaries;
    pub use crate::util::streaming_store::StoreMode;
    pub use crate::util::threads::Threads;

    /// Literals as Arrow arrays.
    pub mod literal_array {
        pub use crate::spec::literal_array::*;
    }

    /// The first, last and n-th value of a frame.
    pub mod nth {
        pub use crate::functions::positional::nth::*;
    }

    /// A row's rank in its partition.
    pub mod rank {
        pub use crate::functions::positional::rank::*;
    }
}

/// Compiles and runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
