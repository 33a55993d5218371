//! The rows that a limit on a row number or rank can keep, found before any call is evaluated.

use arrow_array::RecordBatch;

use super::columns::{check_schema, sort_columns};
use crate::error::Result;
use crate::grouping::assign::assign_group_ids;
use crate::grouping::top_rows::{Counted, top_rows};
use crate::plan::planned::Plan;
use crate::util::cancel::Cancel;
use crate::util::threads::Threads;

impl Plan {
    /// The numbers, ascending, of the rows of `batch` that may be among the first `most` of their partition in the
    /// order of the plan's calls: all that are, and few others. A call that counts rows from the first one on has the
    /// same results over these rows alone. `None` if the calls have several orders, or sorting costs no more.
    ///
    /// Cost: O(rows), as long as `most` is small, without a sort.
    ///
    /// # Errors
    /// A batch of another schema, a type without an order, more than `u32::MAX` rows, cancellation.
    pub fn top_rows(
        &self,
        batch: &RecordBatch,
        most: usize,
        counted: Counted,
        cancel: &Cancel,
    ) -> Result<Option<Vec<u32>>> {
        check_schema(self, batch.schema_ref())?;
        let [order] = self.orders.as_slice() else { return Ok(None) };
        let threads = Threads::new(self.options.threads, cancel)
            .with_spread(self.options.spread_threads)
            .limited_to_rows(batch.num_rows());
        let columns: Vec<_> = order.columns.iter().map(|&column| batch.column(column).clone()).collect();
        let keys: Vec<_> = order.partition_by.iter().map(|&place| columns[place].clone()).collect();
        let Some(groups) = assign_group_ids(&keys, batch.num_rows(), 0, &threads)? else { return Ok(None) };
        top_rows(&groups, &sort_columns(order, &columns), most, counted, &threads)
    }
}
