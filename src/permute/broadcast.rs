//! One value per group, repeated for each of the group's rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, PrimitiveArray, UInt32Array, downcast_primitive};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_select::take::take;

use super::gather::gather_on;
use crate::error::{Error, Result};
use crate::model::group_ids::{GroupIds, GroupRun, RowGroups, runs_within};
use crate::util::parallel_fill::fill_chunks;
use crate::util::reserve;
use crate::util::threads::Threads;

/// Gives each row the value of its group. `values` has one value per group.
///
/// # Errors
/// The result exceeds the offsets of its type; cancellation.
pub(crate) fn broadcast(groups: &RowGroups, values: ArrayRef, threads: &Threads) -> Result<ArrayRef> {
    match groups.ids() {
        GroupIds::Runs(runs) => broadcast_runs(&values, runs, threads),
        GroupIds::Rows(of) => {
            let spread = gather_on(&[values], of, threads)?;
            spread.into_iter().next().ok_or_else(|| Error::internal("a column was not gathered"))
        }
    }
}

/// As [`broadcast`], for groups given as runs.
///
/// # Errors
/// The result exceeds the offsets of its type; cancellation.
pub(crate) fn broadcast_runs(values: &ArrayRef, runs: &[GroupRun], threads: &Threads) -> Result<ArrayRef> {
    let rows = runs.last().map_or(0, |run| run.end);
    // Faster than `take`, which needs an index per row.
    macro_rules! copies {
        ($type:ty) => {{
            let values = values.as_primitive::<$type>();
            let share = threads.chunk_rows(rows);
            let copies = fill_chunks(rows, share, threads, |number, copies| {
                threads.cancel().check()?;
                let share = number * share..rows.min((number + 1) * share);
                runs_within(runs, share).for_each(|(group, run)| copies.repeat(values.value(group), run.len()));
                Ok(())
            })?;
            let copies = PrimitiveArray::<$type>::new(copies.into(), nulls(values, runs, rows));
            return Ok(Arc::new(copies.with_data_type(values.data_type().clone())));
        }};
    }
    downcast_primitive! {
        values.data_type() => (copies),
        _ => {}
    }
    let mut places = reserve::with_capacity(rows)?;
    for (group, run) in runs_within(runs, 0..rows) {
        places.resize(places.len() + run.len(), group as u32);
    }
    reserve::probe_rows(values, rows)?;
    Ok(take(values, &UInt32Array::from(places), None)?)
}

/// The null buffer of the result; `None` if no value is null.
fn nulls(values: &dyn Array, runs: &[GroupRun], rows: usize) -> Option<NullBuffer> {
    let nulls = values.nulls().filter(|nulls| nulls.null_count() > 0)?;
    let mut valid = BooleanBufferBuilder::new(rows);
    for (group, run) in runs_within(runs, 0..rows) {
        valid.append_n(run.len(), nulls.is_valid(group));
    }
    Some(NullBuffer::new(valid.finish()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::{BooleanArray, Decimal128Array, Float64Array, Int32Array, StringArray};
    use arrow_schema::{DataType, TimeUnit};

    use super::*;
    use crate::util::cancel::Cancel;

    /// All kinds of types, with and without nulls.
    #[test]
    fn broadcast_matches_take() {
        let threads = Threads::new(2, &Cancel::default());
        let mut runs = Vec::new();
        let mut rows = Vec::new();
        for (group, times) in [(2, 10), (0, 1), (3, 140_000), (0, 64), (4, 1), (2, 3)] {
            rows.resize(rows.len() + times, group);
            runs.push(GroupRun { group, end: rows.len() });
        }
        let (by_rows, by_runs) = (RowGroups::of_rows(rows, 5), RowGroups::of_runs(runs, 5));
        let ints = Int32Array::from(vec![Some(7), Some(8), None, Some(-1), Some(0)]);
        let doubles = Float64Array::from(vec![-0.0, 1.0, f64::NAN, f64::INFINITY, 2.5]);
        let moments = DataType::Timestamp(TimeUnit::Second, Some("UTC".into()));
        let decimals = Decimal128Array::from(vec![Some(1), None, Some(3), None, Some(5)]);
        let columns: [ArrayRef; 6] = [
            arrow_cast::cast(&arrow_cast::cast(&ints, &DataType::Int64).unwrap(), &moments).unwrap(),
            Arc::new(ints),
            Arc::new(doubles),
            Arc::new(decimals.with_precision_and_scale(9, 2).unwrap()),
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true), None])),
            Arc::new(StringArray::from(vec![Some("a"), None, Some(""), Some("b"), None])),
        ];
        for column in columns {
            let spread = broadcast(&by_runs, column.clone(), &threads).unwrap();
            assert_eq!(&spread, &broadcast(&by_rows, column.clone(), &threads).unwrap());
            assert_eq!(spread.data_type(), column.data_type());
            let none = broadcast_runs(&column.slice(2, 1), &[GroupRun { group: 0, end: 0 }], &threads).unwrap();
            assert_eq!(&none, &column.slice(0, 0));
        }
    }
}
