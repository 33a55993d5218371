//! The order of the rows.

use arrow_array::{Array, ArrayRef};

use super::edges::first_descent_of_all;
use super::keys::{self, Comparator};
use super::neighbours::Neighbours;
use crate::error::{Error, Result};
use crate::evaluate::Cancel;

/// A column to sort by.
#[derive(Debug, Clone)]
pub struct SortColumn {
    /// The values.
    pub values: ArrayRef,
    /// Greatest first.
    pub descending: bool,
    /// Nulls before all values, whatever the direction.
    pub nulls_first: bool,
}

impl SortColumn {
    /// Ascending, nulls first: how partition keys are sorted.
    #[must_use]
    pub fn ascending(values: ArrayRef) -> Self {
        Self {
            values,
            descending: false,
            nulls_first: true,
        }
    }

    pub(super) fn neighbours(&self) -> Result<Neighbours> {
        Neighbours::directed(&self.values, self.descending, self.nulls_first)
    }
}

/// The row numbers in the order of `columns`, ties in input order; `None` if the rows are in that order already.
///
/// # Errors
/// A type without an order, columns of different lengths, more than `u32::MAX` rows, cancellation.
pub fn sort(columns: &[SortColumn], _threads: usize, cancel: &Cancel) -> Result<Option<Vec<u32>>> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    if columns.iter().any(|column| column.values.len() != rows) {
        return Err(Error::internal("sort keys of different lengths"));
    }
    if u32::try_from(rows).is_err() {
        return Err(Error::unsupported(format!("{rows} rows to sort at once")));
    }
    let neighbours = columns
        .iter()
        .map(SortColumn::neighbours)
        .collect::<Result<Vec<_>>>()?;
    if first_descent_of_all(&neighbours, rows).is_none() {
        return Ok(None);
    }
    cancel.check()?;
    let comparators = columns
        .iter()
        .map(|column| {
            keys::comparator(
                &keys::normalise(&column.values)?,
                column.descending,
                column.nulls_first,
            )
        })
        .collect::<Result<Vec<Comparator>>>()?;
    let mut order: Vec<u32> = (0..rows as u32).collect();
    order.sort_by(|&left, &right| {
        let (left, right) = (left as usize, right as usize);
        comparators
            .iter()
            .map(|compare| compare(left, right))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    Ok(Some(order))
}
