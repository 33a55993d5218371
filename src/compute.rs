//! All rows at once: sort once per order, evaluate in parallel, write back in input order.

use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::BooleanBuffer;
use arrow_select::concat::concat;

use crate::bitmap::Edges;
use crate::bounds::Frames;
use crate::carry::Carry;
use crate::dispatch;
use crate::error::{Error, Result};
use crate::evaluate::{Cancel, Strategy};
use crate::parallel;
use crate::plan::{Order, Plan, PlannedCall};
use crate::rows::{self, SortColumn};
use crate::section::Section;

/// The calls' columns for the rows of `batch`.
pub(crate) fn compute(plan: &Plan, batch: &RecordBatch, cancel: &Cancel) -> Result<RecordBatch> {
    check_schema(plan, batch)?;
    let threads = parallel::threads(plan.options.threads);
    let mut results: Vec<Option<ArrayRef>> = vec![None; plan.calls.len()];
    for (number, order) in plan.orders.iter().enumerate() {
        let columns: Vec<_> = order.columns.iter().map(|&column| batch.column(column).clone()).collect();
        let sorted = sort(order, &columns, batch.num_rows(), threads, cancel)?;
        let columns = match &sorted {
            Some(sorted) => rows::gather(&columns, sorted, threads, cancel)?,
            None => columns,
        };
        let section = section(order, columns, batch.num_rows())?;
        let calls: Vec<_> = plan.calls.iter().enumerate().filter(|(_, call)| call.order == number).collect();
        for (place, call) in calls {
            let values = answer(plan, call, &section, threads, cancel).map_err(|error| error.of_call(&call.display))?;
            results[place] = Some(match &sorted {
                Some(sorted) => rows::restore(&values, sorted)?,
                None => values,
            });
        }
    }
    let columns = results.into_iter().map(|column| column.ok_or_else(|| Error::internal("a call was not answered")));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(plan.output_schema().clone(), columns.collect::<Result<_>>()?, &options)?)
}

/// Whether the batch has the plan's columns: the same types under the same names.
pub(crate) fn check_schema(plan: &Plan, batch: &RecordBatch) -> Result<()> {
    let schema = batch.schema_ref();
    let expected = &plan.schema;
    if schema.fields().len() != expected.fields().len() {
        return Err(Error::data(format!(
            "the rows have {} columns, and the plan was made for {}",
            schema.fields().len(),
            expected.fields().len()
        )));
    }
    for (found, expected) in schema.fields().iter().zip(expected.fields()) {
        if found.name() != expected.name() || found.data_type() != expected.data_type() {
            return Err(Error::data(format!(
                "the rows have a column {:?} of {} where the plan was made for {:?} of {}",
                found.name(),
                found.data_type(),
                expected.name(),
                expected.data_type()
            )));
        }
    }
    Ok(())
}

fn sort(order: &Order, columns: &[ArrayRef], rows: usize, threads: usize, cancel: &Cancel) -> Result<Option<Vec<u32>>> {
    let partition: Vec<_> = order.partition_by.iter().map(|&place| columns[place].clone()).collect();
    if rows < 2 || (partition.is_empty() && order.order_by.is_empty()) {
        return Ok(None);
    }
    if order.order_by.is_empty() {
        return rows::group(&partition, threads, cancel);
    }
    let mut keys: Vec<_> = partition.into_iter().map(SortColumn::ascending).collect();
    keys.extend(sort_columns(order, columns));
    rows::sort(&keys, threads, cancel)
}

/// The order keys over `columns`.
pub(crate) fn sort_columns(order: &Order, columns: &[ArrayRef]) -> Vec<SortColumn> {
    let keys = order.order_by.iter();
    keys.map(|key| SortColumn {
        values: columns[key.number].clone(),
        descending: key.descending,
        nulls_first: key.nulls_first,
    })
    .collect()
}

/// The section of whole partitions that rows in order make.
fn section(order: &Order, columns: Vec<ArrayRef>, rows: usize) -> Result<Section> {
    let (partitions, peers) = edges(order, &columns, rows)?;
    Section::whole(partitions, peers, columns)
}

/// Where partitions and peer groups begin among rows in order. Without an order all rows are peers.
pub(crate) fn edges(order: &Order, columns: &[ArrayRef], rows: usize) -> Result<(Edges, Edges)> {
    let keys = |places: &mut dyn Iterator<Item = usize>| places.map(|place| columns[place].clone()).collect::<Vec<_>>();
    let partition_by = keys(&mut order.partition_by.iter().copied());
    let order_by = keys(&mut order.order_by.iter().map(|key| key.number));
    let partitions = if partition_by.is_empty() {
        Edges::single(rows).starts().clone()
    } else {
        rows::starts(&partition_by, rows, None)?
    };
    let peers: BooleanBuffer =
        if order_by.is_empty() { partitions.clone() } else { &partitions | &rows::starts(&order_by, rows, None)? };
    Ok((Edges::new(partitions), Edges::new(peers)))
}

/// The call's column over all rows of a section of whole partitions.
fn answer(plan: &Plan, call: &PlannedCall, section: &Section, threads: usize, cancel: &Cancel) -> Result<ArrayRef> {
    // A user's code is called from the caller's own thread, and by one at a time.
    let threads = if call.user.is_some() { 1 } else { threads };
    let evaluator = dispatch::evaluator(plan, call, section)?;
    let frames = Frames::new(&call.frame, section, 0)?;
    let ranges = parallel::ranges(&section.own, &section.partitions, threads, starts_anywhere(call));
    let carry = Carry::default();
    let evaluate = |rows: Range<usize>| evaluator.evaluate(&frames, rows, &carry, cancel);
    let mut pieces = parallel::map(threads, ranges, evaluate)?;
    match (pieces.pop(), pieces.is_empty()) {
        (Some(piece), true) => Ok(piece),
        (last, _) => {
            pieces.extend(last);
            Ok(concat(&pieces.iter().map(AsRef::as_ref).collect::<Vec<_>>())?)
        }
    }
}

/// Whether evaluation may begin inside a partition without reading it from its first row again.
fn starts_anywhere(call: &PlannedCall) -> bool {
    !matches!(call.strategy, Strategy::Whole | Strategy::Scan)
}
