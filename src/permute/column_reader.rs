//! Columns that are read block by block in a given row order.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};

use super::decluster::DeclusterPlan;
use super::decluster_tiles::Tiles;
use super::fixed_width::{fixed_width_column, fixed_width_values};
use super::gather::{gather_nulls, gather_on};
use crate::error::Result;
use crate::util::threads::Threads;

/// Columns and how they are read: in their own order, by the row numbers of an order, or by a [`DeclusterPlan`] for
/// that order.
pub(crate) struct ColumnReader<'a> {
    columns: Vec<ArrayRef>,
    order: Option<&'a [u32]>,
    decluster: Option<&'a DeclusterPlan>,
    /// The values of each column in tiles, for columns read by the plan.
    tiles: Vec<Option<Tiles>>,
}

impl<'a> ColumnReader<'a> {
    /// Columns of fixed width are read by the plan, if there is one, as long as they take at most `budget` bytes per row
    /// together.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn new(
        columns: Vec<ArrayRef>,
        order: Option<&'a [u32]>,
        decluster: Option<&'a DeclusterPlan>,
        mut budget: usize,
        threads: &Threads,
    ) -> Result<Self> {
        let mut tiles: Vec<_> = columns.iter().map(|_| None).collect();
        if let Some(decluster) = decluster {
            for (tiles, column) in tiles.iter_mut().zip(&columns) {
                let width = column.data_type().primitive_width();
                if let Some((width, left)) = width.and_then(|width| Some((width, budget.checked_sub(width)?))) {
                    *tiles =
                        Some(Tiles::scatter_to_tiles(width, &fixed_width_values(column, width), decluster, threads)?);
                    budget = left;
                }
            }
        }
        Ok(Self { columns, order, decluster, tiles })
    }

    /// The rows at `positions` of the order, column by column.
    ///
    /// # Errors
    /// Strings or binary values that exceed their offsets; cancellation.
    pub(crate) fn read(&self, positions: &Range<usize>, threads: &Threads) -> Result<Vec<ArrayRef>> {
        let Some(order) = self.order else {
            return Ok(self.columns.iter().map(|column| column.slice(positions.start, positions.len())).collect());
        };
        let order = &order[positions.clone()];
        let columns = self.columns.iter().zip(&self.tiles);
        let direct = columns.clone().filter(|(_, tiles)| tiles.is_none()).map(|(column, _)| column.clone());
        let direct: Vec<_> = direct.collect();
        let mut direct = gather_on(&direct, order, threads)?.into_iter();
        let found = columns.filter_map(|(column, tiles)| match (self.decluster, tiles) {
            (Some(decluster), Some(tiles)) => {
                Some(tiles.gather_from_tiles(positions, decluster, threads).and_then(|values| {
                    let nulls = gather_nulls(column, order, threads)?;
                    fixed_width_column(column.data_type(), order.len(), values, nulls)
                }))
            }
            _ => direct.next().map(Ok),
        });
        found.collect()
    }
}
