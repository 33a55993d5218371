//! Columns that are read piece by piece in the order of their rows.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, downcast_primitive};
use arrow_buffer::Buffer;

use super::gather::{gather_on, pick_up};
use super::route::Route;
use crate::error::Result;
use crate::parallel::Threads;

/// Columns, and how they are read: as they come, by the row numbers of an order, or by the route to that order.
pub(crate) struct Source<'a> {
    columns: Vec<ArrayRef>,
    order: Option<&'a [u32]>,
    route: Option<&'a Route>,
    /// Of each column the values as the route deals them, if it goes by it.
    dealt: Vec<Option<Buffer>>,
}

impl<'a> Source<'a> {
    /// Columns of fixed width go by the route, if there is one, as long as they take no more than `room` bytes a row.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn new(
        columns: Vec<ArrayRef>,
        order: Option<&'a [u32]>,
        route: Option<&'a Route>,
        mut room: usize,
        threads: &Threads,
    ) -> Result<Self> {
        let mut dealt = vec![None; columns.len()];
        if let Some(route) = route {
            for (dealt, column) in dealt.iter_mut().zip(&columns) {
                let left = column.data_type().primitive_width().and_then(|width| room.checked_sub(width));
                if let Some(left) = left {
                    *dealt = deal(column, route, threads)?;
                    room = left;
                }
            }
        }
        Ok(Self { columns, order, route, dealt })
    }

    /// The rows at these positions of the order, column by column.
    ///
    /// # Errors
    /// Text or bytes that outgrow their offsets; cancellation.
    pub(crate) fn rows(&self, positions: &Range<usize>, threads: &Threads) -> Result<Vec<ArrayRef>> {
        let Some(order) = self.order else {
            return Ok(self.columns.iter().map(|column| column.slice(positions.start, positions.len())).collect());
        };
        let order = &order[positions.clone()];
        let columns = self.columns.iter().zip(&self.dealt);
        let direct = columns.clone().filter(|(_, dealt)| dealt.is_none()).map(|(column, _)| column.clone());
        let direct: Vec<_> = direct.collect();
        let mut direct = gather_on(&direct, order, threads)?.into_iter();
        let found = columns.filter_map(|(column, dealt)| match (self.route, dealt) {
            (Some(route), Some(dealt)) => Some(pick_up(column, order, (route, dealt, positions.start), threads)),
            _ => direct.next().map(Ok),
        });
        found.collect()
    }
}

/// The values of a column of fixed width by `route`; `None` for other columns.
fn deal(column: &ArrayRef, route: &Route, threads: &Threads) -> Result<Option<Buffer>> {
    macro_rules! deal {
        ($type:ty) => {
            Ok(Some(Buffer::from_vec(route.deal(column.as_primitive::<$type>().values(), threads)?)))
        };
    }
    downcast_primitive! {
        column.data_type() => (deal),
        _ => Ok(None),
    }
}
