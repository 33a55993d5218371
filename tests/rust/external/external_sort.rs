//! Sorting on disk compared with sorting in memory: the same rows in the same order, ties included.
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::SortOptions;
use arrow_select::concat::concat_batches;
use proptest::prelude::*;
use windrow::internals::{SortColumn, gather, sort};
use windrow::{Cancel, ErrorKind, ExternalSort, Remedy, SortKey};

use crate::support::{Row, VALUES, batch, row};

/// The columns of [`batch`], and row numbers.
pub fn numbered(rows: &[Row]) -> RecordBatch {
    let batch = batch(rows);
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows.len() as i64));
    let fields = batch.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    let columns = fields.iter().map(String::as_str).zip(batch.columns().iter().cloned());
    RecordBatch::try_from_iter_with_nullable(
        columns.chain([("number", numbers)]).map(|(name, column)| (name, column, true)),
    )
    .unwrap()
}

fn by_disk(batch: &RecordBatch, keys: &[SortKey], cuts: &[usize], limit: usize) -> (RecordBatch, u64) {
    let mut sort = ExternalSort::new(batch.schema(), keys.to_vec(), limit, None, 1, &Cancel::default());
    let mut at = 0;
    for cut in cuts.iter().cycle() {
        let rows = (*cut).min(batch.num_rows() - at);
        sort.push(batch.slice(at, rows)).unwrap();
        at += rows;
        if at == batch.num_rows() {
            break;
        }
    }
    let mut rows = sort.finish().unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = rows.next_batch().unwrap() {
        assert!(batch.num_rows() > 0);
        batches.push(batch);
    }
    (concat_batches(&batch.schema(), &batches).unwrap(), rows.spilled_bytes())
}

fn in_memory(batch: &RecordBatch, keys: &[SortKey]) -> RecordBatch {
    let column = |key: &SortKey| SortColumn { values: batch.column(key.column).clone(), options: key.options };
    let columns: Vec<_> = keys.iter().map(column).collect();
    match sort(&columns, 1, &Cancel::default()).unwrap() {
        None => batch.clone(),
        Some(order) => {
            let columns = gather(batch.columns(), &order, 1, &Cancel::default()).unwrap();
            RecordBatch::try_new(batch.schema(), columns).unwrap()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::fuzz::cases(64), max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spilled_sort_matches_in_memory_sort(
        rows in prop::collection::vec(row(), 1..400),
        keys in prop::collection::vec((0..VALUES.len() + 5, any::<bool>(), any::<bool>()), 0..4),
        cuts in prop::collection::vec(1..60_usize, 1..5),
        limit in prop_oneof![Just(1_usize), 1_000..200_000_usize, Just(1 << 30)],
    ) {
        let batch = numbered(&rows);
        // Not by the row numbers themselves: then there would be no ties.
        let key = |(column, descending, nulls_first)| SortKey { column, options: SortOptions::new(descending, nulls_first) };
        let keys: Vec<_> = keys.into_iter().map(key).filter(|key| key.column + 1 < batch.num_columns()).collect();
        let (found, spilled) = by_disk(&batch, &keys, &cuts, limit);
        let expected = in_memory(&batch, &keys);
        for (expected, found) in expected.columns().iter().zip(found.columns()) {
            for row in 0..expected.len() {
                prop_assert_eq!(expected.slice(row, 1).to_data(), found.slice(row, 1).to_data());
            }
        }
        prop_assert!(limit > 1 || spilled > 0);
        prop_assert!(limit < 1 << 30 || spilled == 0);
    }
}

/// More runs than are merged at once, of rows that differ only in their numbers.
#[test]
fn many_runs_are_merged_level_by_level() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20_000));
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values((0..20_000).map(|row| row * 7919 % 20_000 / 10)));
    let batch = RecordBatch::try_from_iter([("k", keys), ("number", numbers)]).unwrap();
    let key = [SortKey { column: 0, options: SortOptions::new(true, false) }];
    let (found, spilled) = by_disk(&batch, &key, &[100], 1);
    assert_eq!(found, in_memory(&batch, &key));
    assert!(spilled > 2 * 16 * 20_000, "{spilled} bytes: two levels write each row twice");
}

/// Runs that do not overlap, each of many small batches: the output batches must be large all the same.
#[test]
fn sorted_input_leaves_in_large_batches() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..60_000));
    let batch = RecordBatch::try_from_iter([("k", numbers)]).unwrap();
    let key = SortKey { column: 0, options: SortOptions::default() };
    let mut sort = ExternalSort::new(batch.schema(), vec![key], 1 << 20, None, 1, &Cancel::default());
    for begin in (0..60_000).step_by(100) {
        sort.push(batch.slice(begin, 100)).unwrap();
    }
    let mut rows = sort.finish().unwrap();
    assert!(rows.spilled_bytes() > 0);
    let mut batches = Vec::new();
    while let Some(batch) = rows.next_batch().unwrap() {
        batches.push(batch);
    }
    assert_eq!(concat_batches(&batch.schema(), &batches).unwrap(), batch);
    assert!(batches.len() < 60, "{} batches", batches.len());
}

#[test]
fn write_error_names_the_directory() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![2, 1]));
    let batch = RecordBatch::try_from_iter([("k", numbers)]).unwrap();
    let key = vec![SortKey { column: 0, options: SortOptions::default() }];
    let directory = std::path::Path::new("/no/such/directory");
    let mut sort = ExternalSort::new(batch.schema(), key, 1, Some(directory), 1, &Cancel::default());
    let error = sort.push(batch).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Spill);
    assert!(error.message().contains("/no/such/directory"), "{error}");
    assert_eq!(error.remedy(), Some(Remedy::SpillDirectory));
}

#[test]
fn sort_stops_on_cancellation() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![2, 1]));
    let batch = RecordBatch::try_from_iter([("k", numbers)]).unwrap();
    let cancel = Cancel::default();
    let mut sort = ExternalSort::new(batch.schema(), Vec::new(), 1 << 20, None, 1, &cancel);
    sort.push(batch.clone()).unwrap();
    cancel.cancel();
    assert_eq!(sort.push(batch).unwrap_err().kind(), ErrorKind::Cancelled);
}
