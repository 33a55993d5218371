//! Columns to sort by, and comparators over several columns.

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use arrow_schema::SortOptions;

use super::adjacent::Adjacent;
use super::key_order::{self, Comparator};
use crate::error::Result;
use crate::model::order_column::OrderColumn;

/// A column to sort by.
#[derive(Debug, Clone)]
pub struct SortColumn {
    /// The values.
    pub values: ArrayRef,
    /// The direction, and whether nulls come before all values, independent of the direction.
    pub options: SortOptions,
}

impl SortColumn {
    /// Ascending with nulls first, as partition keys are sorted.
    #[must_use]
    pub fn ascending(values: ArrayRef) -> Self {
        Self { values, options: SortOptions::default() }
    }

    /// The column of an order key.
    pub(crate) fn of(key: &OrderColumn, values: &ArrayRef) -> Self {
        Self { values: values.clone(), options: key.options }
    }

    pub(crate) fn adjacent(&self) -> Result<Adjacent> {
        Adjacent::with_options(&self.values, self.options)
    }

    fn comparator(&self) -> Result<Comparator> {
        let values = key_order::normalise(&self.values)?;
        key_order::comparator(&values, &values, self.options)
    }
}

/// Comparators of several columns, in order.
pub(crate) struct Comparators(Vec<Comparator>);

/// The comparators of `columns`.
pub(crate) fn compare(columns: &[SortColumn]) -> Result<Comparators> {
    Ok(Comparators(columns.iter().map(SortColumn::comparator).collect::<Result<_>>()?))
}

impl Comparators {
    /// Compares two rows by all columns.
    pub(crate) fn compare(&self, left: usize, right: usize) -> Ordering {
        let mut orders = self.0.iter().map(|compare| compare(left, right));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// Whether all of `rows` are equal in this column.
    pub(crate) fn are_equal(&self, rows: &[u32], column: usize) -> bool {
        let (Some(compare), Some((&first, others))) = (self.0.get(column), rows.split_first()) else { return true };
        others.iter().all(|&row| compare(first as usize, row as usize).is_eq())
    }

    /// Sorts row numbers by the columns; ties by row number.
    pub(crate) fn sort(&self, rows: &mut [u32]) {
        // One pass finds leading columns in which all rows are equal; these need not be compared.
        let equal = (0..self.0.len()).take_while(|&column| self.are_equal(rows, column)).count();
        let comparators = &self.0[equal..];
        rows.sort_unstable_by(|&left, &right| {
            let mut orders = comparators.iter().map(|compare| compare(left as usize, right as usize));
            orders.find(|order| order.is_ne()).unwrap_or_else(|| left.cmp(&right))
        });
    }
}
