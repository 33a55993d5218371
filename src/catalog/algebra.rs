//! The operations that a function's state supports: merge, retract, select.

use crate::spec::strategy::Strategy;

/// The operations that a function's state supports for given types; they determine the applicable strategies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algebra {
    /// States merge.
    Mergeable,
    /// States merge and retract exactly.
    Retractable,
    /// The result is one row of the frame.
    Selective,
    /// No state: the result is computed from row numbers.
    Positional,
    /// Depends on the order of the frame's values.
    Ordered,
    /// Quantiles: values at given fractions of the frame's ordered values.
    Quantile,
    /// Depends on the multiplicities of the frame's values.
    Multiset,
    /// Mergeable states over the frame's distinct values.
    Distinct,
    /// The state supports update only; `ordered`: rows are read in the call's argument order.
    UpdateOnly {
        /// The call has an argument order.
        ordered: bool,
    },
    /// The state adds rows at one end of the frame and removes them at the other; states do not merge.
    Sliding,
    /// No state: a function that evaluates many frames in one call.
    Vectorized,
}

impl Algebra {
    /// Whether the states of two parts of a partition can be merged; a user's aggregate may have no merge.
    #[must_use]
    pub const fn merges(self) -> bool {
        !matches!(self, Self::Sliding | Self::UpdateOnly { .. })
    }

    /// The applicable strategies, each for some frames at least.
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
