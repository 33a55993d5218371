//! `first_value`, `last_value`, `any_value`, `nth_value` by an argument order, and `min_by`, `max_by` with a count.
//!
//! ```text
//!   frame            x   a  b  c  d  e
//!                    y   3  1  .  1  2
//!   first_value(x ORDER BY y)     c             NULLs first
//!   nth_value(x, 2 ORDER BY y)    b             ties in the window's order
//!   min_by(x, y, 3)               [b, d, e]     NULLs are skipped
//! ```
//!
//! Values are gathered by row number and never inspected, so any type works. Spark's `min_by(x, y, k)` picks any of
//! tied rows; here the first are taken. Cost: O(log m) per selected row, m rows in the partition; a list costs its
//! length.

use arrow_array::{ArrayRef, UInt32Array};
use arrow_schema::FieldRef;
use arrow_select::take::take;

use crate::error::Result;
use crate::evaluate::order_statistics::frame_order::{FrameOrderFunction, FrameView};
use crate::evaluate::positional::gather_plan::{GatherPlan, RowSource};
use crate::functions::list_builder::ListBuilder;
use crate::functions::positional::nth::NthRow;

/// One row of the frame, by its index in the argument order.
#[derive(Debug)]
pub(crate) struct NthByOrder {
    pub(crate) column: ArrayRef,
    pub(crate) which: NthRow,
}

impl FrameOrderFunction for NthByOrder {
    type Builder = GatherPlan;

    fn builder(&self, rows: usize) -> GatherPlan {
        GatherPlan::with_capacity(rows)
    }

    fn evaluate(&self, row: usize, view: &mut FrameView, picks: &mut GatherPlan) -> Result<()> {
        let rows = view.len() as u64;
        // Ordinals start at 1; 0 selects no row.
        let ordinal = self.which.ordinal(row).unwrap_or(rows);
        if ordinal == 0 || ordinal > rows {
            picks.push(RowSource::Null);
            return Ok(());
        }
        view.rows(&[(ordinal - 1) as u32], |row| picks.push(RowSource::Row(row)))
    }

    fn finish(&self, picks: GatherPlan) -> Result<ArrayRef> {
        picks.gather(&self.column, None, None)
    }
}

/// The first rows of the frame in the argument order, as a list; NULL for an empty frame.
#[derive(Debug)]
pub(crate) struct FirstByOrder {
    pub(crate) column: ArrayRef,
    pub(crate) count: u32,
    /// The list's element field.
    pub(crate) element: FieldRef,
}

impl FrameOrderFunction for FirstByOrder {
    type Builder = ListBuilder<u32>;

    fn builder(&self, rows: usize) -> ListBuilder<u32> {
        ListBuilder::with_capacity(rows)
    }

    fn evaluate(&self, _: usize, view: &mut FrameView, lists: &mut ListBuilder<u32>) -> Result<()> {
        let ks: Vec<u32> = (0..self.count.min(view.len() as u32)).collect();
        view.rows(&ks, |row| lists.items.push(row as u32))?;
        lists.finish_list(view.len() > 0)
    }

    fn repeat(&self, lists: &mut ListBuilder<u32>) -> Result<bool> {
        lists.repeat_list()?;
        Ok(true)
    }

    fn finish(&self, lists: ListBuilder<u32>) -> Result<ArrayRef> {
        lists.finish(&self.element, |rows| Ok(take(&self.column, &UInt32Array::from(rows), None)?))
    }
}
