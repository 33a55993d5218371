//! The strategies by name: a setting, and what the plan chose.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// How a call is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// One answer per partition, by the partitions' numbers: rows are not sorted.
    Grouped,
    /// One state per partition, repeated.
    Whole,
    /// One loop that appends rows, forwards for growing frames, backwards for shrinking ones.
    Scan,
    /// Rows that enter are added, rows that leave are subtracted, exactly.
    Prefix,
    /// Row arithmetic.
    Index,
    /// A monotonic queue of the rows that may still be chosen.
    Deque,
    /// A queue of two stacks of states.
    TwoStacks,
    /// A tree of states over the rows.
    SegmentTree,
    /// Updates alone: a frame goes on from the one before where it begins with it, and is folded anew elsewhere.
    Refold,
    /// Each frame folded anew.
    Naive,
    /// A wavelet tree over the values' places in their order.
    Wavelet,
    /// How often each value is in the frame.
    Codes,
    /// Each value's last place, swept along the ends of frames.
    Sweep,
    /// A user's function that answers blocks of frames, or whole partitions.
    Blocks,
}

impl Strategy {
    /// All of them.
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

    /// Its name in options and in `explain`.
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
