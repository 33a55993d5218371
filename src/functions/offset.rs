//! `lag` and `lead`: a row at a fixed distance within the partition.
use arrow_array::ArrayRef;

use crate::error::{Error, Result};
use crate::evaluate::index::{Included, Runs};
use crate::inclusion::Inclusion;
use crate::section::Section;

/// `lag` or `lead`.
#[derive(Debug)]
pub struct Offset {
    column: ArrayRef,
    included: Included,
    partitions: Runs,
    offset: i64,
    default: Option<ArrayRef>,
    open: bool,
    naive: bool,
}

impl Offset {
    /// The value of `column` at the `offset`-th row that takes part after the row (before it, if negative; the row
    /// itself, if 0), or `default` where the partition has no such row. `default` holds one value, or one per row
    /// of the section. So `lead(x, n)` is `n`, and `lag(x, n)` is `n.saturating_neg()`.
    ///
    /// # Errors
    /// A default of another type or length.
    pub fn new(
        section: &Section,
        column: ArrayRef,
        inclusion: Inclusion,
        offset: i64,
        default: Option<ArrayRef>,
        naive: bool,
    ) -> Result<Self> {
        if let Some(default) = &default {
            if default.data_type() != column.data_type() || ![1, section.rows].contains(&default.len()) {
                return Err(Error::internal(format!(
                    "a default of {} {} for a column of {} {}",
                    default.len(),
                    default.data_type(),
                    column.len(),
                    column.data_type()
                )));
            }
        }
        let partitions = Runs::new(&section.partitions);
        Ok(Self { column, included: Included::new(inclusion), partitions, offset, default, open: section.open, naive })
    }
}
