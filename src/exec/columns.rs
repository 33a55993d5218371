//! The columns of a batch that an order reads, and the result columns of a pass.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_buffer::BooleanBuffer;
use arrow_schema::Schema;

use crate::error::{Error, Result};
use crate::permute::column_writer::ColumnWriter;
use crate::permute::decluster::DeclusterPlan;
use crate::plan::planned::{Plan, PlannedOrder};
use crate::sort::boundaries;
use crate::sort::sort_column::SortColumn;
use crate::util::boundaries::Boundaries;
use crate::util::threads::Threads;

/// Writes a piece of results into the columns of a pass, starting at row `begin`.
pub(crate) fn put(columns: &[ColumnWriter], begin: usize, answer: ArrayRef) -> Result<()> {
    columns_of(columns.len(), answer)
        .into_iter()
        .zip(columns)
        .try_for_each(|(piece, column)| column.write(begin, piece))
}

/// The result columns of a pass of `calls` calls; the evaluator returns a struct if there are several.
pub(crate) fn columns_of(calls: usize, answer: ArrayRef) -> Vec<ArrayRef> {
    match answer.as_struct_opt().filter(|_| calls > 1) {
        Some(several) => several.columns().to_vec(),
        None => vec![answer],
    }
}

/// Checks that `schema` has the plan's columns, with the same names and types.
pub(crate) fn check_schema(plan: &Plan, schema: &Schema) -> Result<()> {
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

/// A writer for the result column of the plan's call at this index, for rows in order or scattered by row numbers.
///
/// # Errors
/// The system cannot start threads.
pub(crate) fn column_of<'a>(
    plan: &Plan,
    call: usize,
    rows: usize,
    order: Option<&'a [u32]>,
    decluster: Option<&'a DeclusterPlan>,
    threads: &Threads,
) -> Result<ColumnWriter<'a>> {
    ColumnWriter::new(&plan.calls[call].signature.output, rows, order, decluster, threads)
}

/// The order keys as sort columns over `columns`.
pub(crate) fn sort_columns(order: &PlannedOrder, columns: &[ArrayRef]) -> Vec<SortColumn> {
    order.order_by.iter().map(|key| SortColumn::of(key, &columns[key.number])).collect()
}

/// The partition and peer group boundaries of sorted rows. Without an order all rows are peers.
pub(crate) fn partitions_and_peers(
    order: &PlannedOrder,
    columns: &[ArrayRef],
    rows: usize,
) -> Result<(Boundaries, Boundaries)> {
    let keys = |places: &mut dyn Iterator<Item = usize>| places.map(|place| columns[place].clone()).collect::<Vec<_>>();
    let partition_by = keys(&mut order.partition_by.iter().copied());
    let order_by = keys(&mut order.order_by.iter().map(|key| key.number));
    let partitions = if partition_by.is_empty() {
        Boundaries::single(rows).starts().clone()
    } else {
        boundaries::find_boundaries(&partition_by, rows, None)?
    };
    let peers: BooleanBuffer = if order_by.is_empty() {
        partitions.clone()
    } else {
        &partitions | &boundaries::find_boundaries(&order_by, rows, None)?
    };
    Ok((Boundaries::new(partitions), Boundaries::new(peers)))
}
