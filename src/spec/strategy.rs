//! The evaluation strategies: an option, and the plan's choice.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The strategy by which a call is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// One result per partition, by partition number; rows are not sorted.
    Grouped,
    /// One state per partition, whose result is repeated.
    Whole,
    /// One pass that adds rows, forwards for growing frames, backwards for shrinking ones.
    Scan,
    /// Adds rows that enter the frame and subtracts rows that leave it, exactly.
    Prefix,
    /// Computes row positions.
    Index,
    /// A monotonic queue of the rows that may still be selected.
    Deque,
    /// A queue built from two stacks of states.
    TwoStacks,
    /// A tree of states over the rows.
    SegmentTree,
    /// Only updates: a frame extends the previous one if it has the same start, else it is folded from scratch.
    Refold,
    /// Each frame is folded from scratch.
    Naive,
    /// A wavelet tree over the values' ranks.
    Wavelet,
    /// Counts of each distinct value in the frame.
    Codes,
    /// A sweep over the frames' ends with the last position of each value.
    Sweep,
    /// A user-defined function that evaluates blocks of frames, or whole partitions.
    Blocks,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 14] = [
        Self::Grouped,
        Self::Whole,
        Self::Scan,
        Self::Prefix,
        Self::Index,
        Self::Deque,
        Self::TwoStacks,
        Self::SegmentTree,
        Self::Refold,
        Self::Naive,
        Self::Wavelet,
        Self::Codes,
        Self::Sweep,
        Self::Blocks,
    ];

    /// The name in options and in `explain`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Grouped => "grouped",
            Self::Whole => "whole",
            Self::Scan => "scan",
            Self::Prefix => "prefix",
            Self::Index => "index",
            Self::Deque => "deque",
            Self::TwoStacks => "two_stacks",
            Self::SegmentTree => "segment_tree",
            Self::Refold => "refold",
            Self::Naive => "naive",
            Self::Wavelet => "wavelet",
            Self::Codes => "codes",
            Self::Sweep => "sweep",
            Self::Blocks => "blocks",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|strategy| strategy.name()).collect();
            Error::spec(format!("unknown strategy {name:?}; known are {}", known.join(", ")))
        })
    }
}
