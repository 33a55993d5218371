//! Evaluators: from frames to a column.
//!
//! An [`Evaluator`](evaluator::Evaluator) answers one call over one section. Ranking and value functions implement it
//! directly; [`fold::Folded`] turns any [`Aggregate`](crate::model::aggregate::Aggregate) into one, by way of a strategy:
//!
//! | strategy | serves | cost per row | file |
//! |---|---|---|---|
//! | whole | the entire partition: one state, repeated | O(1) | `whole.rs` |
//! | scan | growing and shrinking frames | O(1) | `scan.rs` |
//! | prefix | moving frames of exact, invertible states | O(1) amortised | `prefix.rs` |
//! | index | first, last, nth, lag, lead, ranks | O(1) | `positional/index.rs` |
//! | deque | moving min, max | O(1) amortised | `deque.rs` |
//! | two stacks | moving frames of any mergeable state | O(1) amortised | `two_stacks.rs` |
//! | segment tree | any frames, any mergeable state | O(log W) | `segment_tree.rs` |
//! | wavelet | places and values by another order; quantiles where frames jump | O(log n) | `order_statistics/wavelet.rs` |
//! | codes | DISTINCT, modes and other questions of how often; quantiles | O(log n) amortised | `multiset/sliding.rs` |
//! | blocks | functions of a user's that answer many frames at once | theirs | `udf_blocks.rs` |
//! | naive | the oracle, and tiny frames | O(W) | `naive.rs` |
//!
//! [`refold::Refold`] takes the place of whole, scan and naive for aggregates whose states cannot be merged.
//!
//! Every strategy answers every frame rightly, whatever order frames come in; what it is made for it answers fast.

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
pub(crate) mod whole;
