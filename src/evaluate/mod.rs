//! Evaluators compute a result column from frames.
//!
//! An [`Evaluator`](evaluator::Evaluator) evaluates one call over one section. Ranking and value functions implement it
//! directly; [`fold::Folded`] makes one from any [`Aggregate`](crate::model::aggregate::Aggregate) and a strategy:
//!
//! | strategy | serves | cost per row | file |
//! |---|---|---|---|
//! | whole | frames over the whole partition | O(1) | `whole.rs` |
//! | scan | growing and shrinking frames | O(1) | `scan.rs` |
//! | prefix | moving frames of exact, invertible states | O(1) amortised | `prefix.rs` |
//! | index | first, last, nth, lag, lead, ranks | O(1) | `positional/index.rs` |
//! | deque | moving min, max | O(1) amortised | `deque.rs` |
//! | two stacks | moving frames of any mergeable state | O(1) amortised | `two_stacks.rs` |
//! | segment tree | any frames, any mergeable state | O(log W) | `segment_tree.rs` |
//! | wavelet | ranks, values by an argument order; quantiles where frames jump | O(log n) | `order_statistics/wavelet.rs` |
//! | codes | DISTINCT, modes and other functions of multiplicities; quantiles | O(log n) amortised | `multiset/sliding.rs` |
//! | blocks | user-defined functions of many frames at once | theirs | `udf_blocks.rs` |
//! | naive | the reference for tests, and tiny frames | O(W) | `naive.rs` |
//!
//! [`refold::Refold`] replaces whole, scan and naive for aggregates whose states cannot be merged.
//!
//! Every strategy is correct for every frame, in whatever order frames come; it is fast for the frames it is designed
//! for.

pub(crate) mod aggregate_evaluator;
pub(crate) mod deque;
pub(crate) mod evaluator;
pub(crate) mod fold;
pub(crate) mod min_rows;
pub(crate) mod multiset;
pub(crate) mod naive;
pub(crate) mod order_statistics;
pub(crate) mod positional;
pub(crate) mod prefix;
pub(crate) mod refold;
pub(crate) mod scan;
pub(crate) mod segment_tree;
pub(crate) mod state_buffer;
pub(crate) mod state_tree;
pub(crate) mod two_stacks;
pub(crate) mod two_stacks_fixed;
pub(crate) mod udf_blocks;
pub(crate) mod where_keyed;
pub(crate) mod whole;
