//! What is known of a function's states: whether they merge, subtract or select.

use crate::spec::strategy::Strategy;

/// What a kernel's state over some type allows, and so which strategies may serve it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algebra {
    /// States merge.
    Mergeable,
    /// States merge and subtract exactly.
    Retractable,
    /// One row of the frame is chosen.
    Selective,
    /// No state: row arithmetic.
    Positional,
    /// A question about the order of the frame's values.
    Ordered,
    /// Values at shares of the way through the frame's order.
    Quantile,
    /// A question about how often values occur in the frame.
    Multiset,
    /// States of the frame's different values, which merge.
    Distinct,
    /// A state takes rows in, and nothing else; `ordered`: in an order of their own.
    UpdateOnly {
        /// The call has an argument order.
        ordered: bool,
    },
    /// A state takes rows in at one end and lets them out at the other; states do not merge.
    Sliding,
    /// No state: a function that answers many frames at once.
    Vectorized,
}

impl Algebra {
    /// Whether the states of two parts of a partition can be merged: a user's may have no merge.
    #[must_use]
    pub const fn merges(self) -> bool {
        !matches!(self, Self::Sliding | Self::UpdateOnly { .. })
    }

    /// The strategies that serve it, over some frames at least.
    #[must_use]
    pub fn strategies(self) -> &'static [Strategy] {
        use Strategy::{
            Blocks, Codes, Deque, Grouped, Index, Naive, Prefix, Refold, Scan, SegmentTree, Sweep, TwoStacks, Wavelet,
            Whole,
        };
        match self {
            Self::Mergeable => &[Grouped, Whole, Scan, TwoStacks, SegmentTree, Naive],
            Self::Retractable => &[Grouped, Whole, Scan, Prefix, TwoStacks, SegmentTree, Naive],
            Self::Selective => &[Grouped, Whole, Scan, Deque, TwoStacks, SegmentTree, Naive],
            Self::Positional => &[Grouped, Index, Naive],
            Self::Ordered => &[Wavelet, Naive],
            Self::Quantile => &[Codes, Wavelet, Naive],
            Self::Multiset => &[Codes, Naive],
            Self::Distinct => &[Codes, Sweep, Naive],
            Self::UpdateOnly { .. } => &[Refold, Naive],
            Self::Sliding => &[Prefix, Refold, Naive],
            Self::Vectorized => &[Blocks],
        }
    }
}
