//! `first_value`, `last_value`, `any_value`, `nth_value`: one row of the frame, by its place among those that take part.
//!
//! Values are gathered by row number and never interpreted, so every type serves and the result has the column's.
//! RESPECT NULLS without FILTER is `Inclusion::All`; IGNORE NULLS and FILTER are the mask. `any_value` is
//! `first_value`, as in Spark.
//!
//! Cost: see [`crate::evaluate::index`]; the naive twin walks each frame. The carry is the first n values that
//! take part and the last one.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use crate::bounds::{Bounds, Frames};
use crate::carry::Carry;
use crate::error::{Error, Result};
use crate::evaluate::fold::BLOCK;
use crate::evaluate::index::{Carried, Included, Kept, Pick, Picks, Walk};
use crate::evaluate::{Cancel, Evaluator};
use crate::inclusion::Inclusion;
use crate::section::Section;

/// Which row of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The first that takes part: `first_value` and `any_value`.
    First,
    /// The last that takes part: `last_value`.
    Last,
    /// The n-th that takes part, from 1: `nth_value`.
    Nth(u64),
}

/// A value function over any frame.
#[derive(Debug)]
pub struct Nth {
    column: ArrayRef,
    included: Included,
    which: Which,
    naive: bool,
    /// The row behind the partition that a carry speaks of.
    first_partition_end: usize,
}

impl Nth {
    /// The value of `column` at `which` row, among those of the frame that `inclusion` lets take part. `naive`
    /// walks each frame.
    ///
    /// # Errors
    /// A zeroth row.
    pub fn new(section: &Section, column: ArrayRef, inclusion: Inclusion, which: Which, naive: bool) -> Result<Self> {
        if which == Which::Nth(0) {
            return Err(Error::spec("nth_value counts rows from 1; got 0"));
        }
        let first_partition_end = if section.rows == 0 { 0 } else { section.partitions.end(0) };
        Ok(Self { column, included: Included::new(inclusion), which, naive, first_partition_end })
    }
}
