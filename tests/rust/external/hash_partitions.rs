//! Rows divided by a hash of their keys: whole partitions in each part, and results in the order of the rows.
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
use arrow_select::concat::concat_batches;
use proptest::prelude::*;
use windrow::internals::{SortColumn, find_boundaries, gather, sort};
use windrow::{Cancel, ErrorKind, HashPartitions};

use crate::external_sort::numbered;
use crate::support::{VALUES, row};

/// The rows, with a result for each: its part. Returns what came back.
fn divided(batch: &RecordBatch, keys: &[usize], cuts: &[usize], limit: usize) -> RecordBatch {
    let number = batch.num_columns() - 1;
    let mut read = keys.to_vec();
    read.push(number);
    let passed = (0..batch.num_columns()).collect();
    let mut rows = HashPartitions::new(&batch.schema(), keys, read, passed, limit, None, &Cancel::default()).unwrap();
    let mut at = 0;
    for cut in cuts.iter().cycle() {
        let taken = (*cut).min(batch.num_rows() - at);
        rows.push(&batch.slice(at, taken)).unwrap();
        at += taken;
        if at == batch.num_rows() {
            break;
        }
    }
    assert!(rows.finish().unwrap() > 0);
    for part in 0..HashPartitions::COUNT {
        let mut last = -1;
        while let Some(own) = rows.next_of_part(part).unwrap() {
            let numbers = own.column(keys.len()).as_primitive::<Int64Type>().values();
            assert!(numbers.first().is_none_or(|&first| first > last) && numbers.is_sorted(), "the order of arrival");
            last = *numbers.last().unwrap();
            let parts: ArrayRef = Arc::new(Int64Array::from_value(part as i64, own.num_rows()));
            let results = [("again", own.column(keys.len()).clone()), ("part", parts)];
            rows.push_results(&RecordBatch::try_from_iter(results).unwrap()).unwrap();
        }
        rows.end_part().unwrap();
    }
    let mut returned = Vec::new();
    while let Some(batch) = rows.next_batch().unwrap() {
        returned.push(batch);
    }
    concat_batches(&returned[0].schema(), &returned).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::fuzz::cases(64), max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_come_back_in_order(
        rows in prop::collection::vec(row(), 1..300),
        keys in prop::sample::subsequence((0..VALUES.len() + 5).collect::<Vec<_>>(), 1..3),
        cuts in prop::collection::vec(1_usize..80, 1..5),
        limit in 1_usize..20_000,
    ) {
        let batch = numbered(&rows);
        let returned = divided(&batch, &keys, &cuts, limit);
        let width = batch.num_columns();
        for column in 0..width {
            prop_assert_eq!(returned.column(column), batch.column(column));
        }
        prop_assert_eq!(returned.column(width), batch.column(width - 1), "each row has its own result");
        // Equal keys are of one part, as the sort and its boundaries see them: NaN, -0.0, dictionaries.
        let keys: Vec<_> = keys.iter().map(|&key| batch.column(key).clone()).collect();
        let columns: Vec<_> = keys.iter().cloned().map(SortColumn::ascending).collect();
        let cancel = Cancel::default();
        let order = sort(&columns, 1, &cancel).unwrap().unwrap_or_else(|| (0..rows.len() as u32).collect());
        let sorted = gather(&keys, &order, 1, &cancel).unwrap();
        let starts = find_boundaries(&sorted, rows.len(), None).unwrap();
        let parts = returned.column(width + 1).as_primitive::<Int64Type>().values();
        let part = |place: usize| parts[order[place] as usize];
        for place in (1..rows.len()).filter(|&place| !starts.value(place)) {
            prop_assert_eq!(part(place), part(place - 1));
        }
    }
}

fn of_numbers(
    limit: usize,
    directory: Option<&str>,
    cancel: &Cancel,
) -> (RecordBatch, windrow::Result<HashPartitions>) {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let batch = RecordBatch::try_from_iter([("k", numbers)]).unwrap();
    let directory = directory.map(std::path::Path::new);
    let rows = HashPartitions::new(&batch.schema(), &[0], vec![0], vec![], limit, directory, cancel);
    (batch, rows)
}

#[test]
fn parts_are_of_similar_size() {
    let (batch, rows) = of_numbers(1 << 20, None, &Cancel::default());
    let mut rows = rows.unwrap();
    for _ in 0..10 {
        rows.push(&batch).unwrap();
    }
    rows.finish().unwrap();
    let mut total = 0;
    for part in 0..HashPartitions::COUNT {
        let mut own = 0;
        while let Some(batch) = rows.next_of_part(part).unwrap() {
            own += batch.num_rows();
        }
        assert!(own < 10 * 50, "1000 keys, 16 expected: {} in one part", own / 10);
        total += own;
    }
    assert_eq!(total, 10_000);
}

#[test]
fn a_directory_that_is_missing_is_named() {
    let (_, rows) = of_numbers(1, Some("/no/such/directory"), &Cancel::default());
    let error = rows.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Spill);
    assert!(error.message().contains("/no/such/directory"), "{error}");
}

#[test]
fn cancellation_stops() {
    let cancel = Cancel::default();
    let (batch, rows) = of_numbers(1, None, &cancel);
    let mut rows = rows.unwrap();
    rows.push(&batch).unwrap();
    cancel.cancel();
    assert_eq!(rows.push(&batch).unwrap_err().kind(), ErrorKind::Cancelled);
}

#[test]
fn missing_results_are_an_error() {
    let (batch, rows) = of_numbers(1, None, &Cancel::default());
    let mut rows = rows.unwrap();
    rows.push(&batch).unwrap();
    rows.finish().unwrap();
    assert_eq!(rows.next_batch().unwrap_err().kind(), ErrorKind::Internal);
    for _ in 0..HashPartitions::COUNT {
        rows.end_part().unwrap();
    }
    assert!(rows.next_of_part(HashPartitions::COUNT).is_err());
}
