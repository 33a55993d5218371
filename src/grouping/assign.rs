//! Numbers partitions where no call needs their rows to be adjacent.
//!
//! ```text
//!   k       7 5 7 6 7
//!   number  2 0 2 1 2        k - 5: a number may be unused, which avoids a lookup table
//! ```
//!
//! A key's number is its code (`sort/key_fields.rs`), those of several keys combined into one. Cost: two passes over
//! each key column, and 4 bytes per row. Keys with too many codes for the number of rows are not numbered: they are
//! grouped by sorting.
//!
//! If the rows of a partition are mostly adjacent, one pass finds the runs, and a run's number is the rank of its first
//! row's key, for keys of any type.

use std::ops::Range;

use arrow_array::ArrayRef;

use crate::error::Result;
use crate::model::group_ids::{GroupRun, RowGroups};
use crate::permute::gather::gather_on;
use crate::sort::adjacent::Adjacent;
use crate::sort::key_layout::KeyLayout;
use crate::sort::normalized_key::{self, KEYS_PER_BLOCK};
use crate::sort::sort_column::SortColumn;
use crate::sort::sort_to_indices::{SortedIndices, rank_dictionaries, ranks, sort_with_boundaries};
use crate::util::bitmap::WORD_BITS;
use crate::util::cancel::Cancel;
use crate::util::parallel_fill::fill_chunks;
use crate::util::threads::Threads;

/// This many numbers are allowed for any number of rows.
const MIN_GROUP_IDS: usize = 1 << 12;

/// Otherwise one number per this many rows is allowed: a state of 32 bytes then costs 16 bytes per row.
const ROWS_PER_GROUP_ID: usize = 2;

/// Runs with fewer rows than this on average are not numbered as runs.
const MIN_MEAN_RUN_ROWS: usize = 16;

/// Numbers the distinct rows of `columns`, which have `rows` rows; `None` if that takes too many numbers, or fewer than
/// `least`.
///
/// # Errors
/// A type without an order; cancellation.
pub(crate) fn assign_group_ids(
    columns: &[ArrayRef],
    rows: usize,
    least: usize,
    threads: &Threads,
) -> Result<Option<RowGroups>> {
    if let Some(groups) = assign_by_runs(columns, rows, threads)? {
        return Ok(Some(groups).filter(|groups| groups.count() >= least));
    }
    let columns: Vec<_> = columns.iter().cloned().map(SortColumn::ascending).collect();
    let layout = KeyLayout::new(&rank_dictionaries(&columns, threads)?, rows, threads)?;
    let most = MIN_GROUP_IDS.max(rows / ROWS_PER_GROUP_ID);
    if layout.inexact.is_some() || layout.bits >= u32::BITS || !(least..=most).contains(&layout.count()) {
        return Ok(None);
    }
    let share = threads.chunk_rows(rows);
    let of = fill_chunks(rows, share, threads, |number, of| {
        threads.cancel().check()?;
        let mut words = [0_u64; KEYS_PER_BLOCK];
        for block in blocks(number * share..rows.min((number + 1) * share)) {
            let words = &mut words[..block.len()];
            normalized_key::write_words(&layout.fields, block.start, words);
            of.append(words, |&word| word as u32);
        }
        Ok(())
    })?;
    Ok(Some(RowGroups::of_rows(of, layout.count())))
}

/// Numbers the groups by runs, if these are long: only the first row of each run is ranked.
fn assign_by_runs(columns: &[ArrayRef], rows: usize, threads: &Threads) -> Result<Option<RowGroups>> {
    if columns.is_empty() || rows == 0 {
        return Ok(Some(RowGroups::of_runs(vec![GroupRun { group: 0, end: rows }], 1)));
    }
    let adjacent =
        |rows| columns.iter().map(|column| Adjacent::new(&column.slice(0, rows))).collect::<Result<Vec<_>>>();
    // The first rows are checked alone: if their runs are short, nothing is computed for all rows.
    let few = rows.min(KEYS_PER_BLOCK);
    if u32::try_from(rows).is_err() || run_starts(&adjacent(few)?, 0..few).is_none() {
        return Ok(None);
    }
    let adjacent = adjacent(rows)?;
    let shares = threads.map(threads.ranges(&(0..rows)), |share| {
        threads.cancel().check()?;
        Ok(run_starts(&adjacent, share))
    })?;
    let Some(begins) = shares.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let begins = begins.concat();
    let numbers = ranks(&gather_on(columns, &begins, threads)?, threads)?;
    let count = numbers.iter().max().map_or(0, |&most| most as usize + 1);
    let ends = begins[1..].iter().map(|&begin| begin as usize).chain([rows]);
    Ok(Some(RowGroups::of_runs(
        numbers.into_iter().zip(ends).map(|(group, end)| GroupRun { group, end }).collect(),
        count,
    )))
}

/// The rows of a share that differ from the previous row; `None` if they are too many.
fn run_starts(columns: &[Adjacent], share: Range<usize>) -> Option<Vec<u32>> {
    let mut begins = Vec::new();
    for block in blocks(share.clone()) {
        if block.start > 0 && columns.iter().all(|column| column.is_constant(block.clone())) {
            continue;
        }
        for at in block.clone().step_by(WORD_BITS) {
            let count = WORD_BITS.min(block.end - at);
            let mut differ = columns.iter().fold(0, |differ, column| differ | column.differs(at, count));
            while differ != 0 {
                begins.push(at as u32 + differ.trailing_zeros());
                differ &= differ - 1;
            }
        }
        if begins.len() > (block.end - share.start).max(KEYS_PER_BLOCK) / MIN_MEAN_RUN_ROWS {
            return None;
        }
    }
    Some(begins)
}

/// `rows` cut into blocks.
fn blocks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    rows.clone().step_by(KEYS_PER_BLOCK).map(move |begin| begin..rows.end.min(begin + KEYS_PER_BLOCK))
}

/// The number of rows sampled to estimate the number of partitions.
const SAMPLED_ROWS: usize = 256;

/// Whether sampled rows are nearly all of different partitions, and unsorted.
///
/// # Errors
/// A type without an order.
pub(crate) fn is_scattered(columns: &[ArrayRef], rows: usize) -> Result<bool> {
    if columns.is_empty() || rows < SAMPLED_ROWS {
        return Ok(false);
    }
    let threads = Threads::new(1, &Cancel::default());
    let places: Vec<_> = (0..SAMPLED_ROWS).map(|place| (place * rows / SAMPLED_ROWS) as u32).collect();
    let keys: Vec<_> = gather_on(columns, &places, &threads)?.into_iter().map(SortColumn::ascending).collect();
    let SortedIndices { order, starts } = sort_with_boundaries(&keys, &[keys.len()], &threads)?;
    Ok(order.is_some() && starts.iter().all(|starts| starts.count_set_bits() > SAMPLED_ROWS * 9 / 10))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{Int64Array, StringArray, UInt64Array};
    use arrow_schema::DataType;

    use super::*;

    fn groups(columns: &[ArrayRef], rows: usize) -> Option<RowGroups> {
        assign_group_ids(columns, rows, 0, &Threads::new(2, &Cancel::default())).unwrap()
    }

    fn runs(groups: &RowGroups) -> Vec<(usize, Range<usize>)> {
        let mut runs = Vec::new();
        groups
            .for_each_run(0..groups.rows(), |group, run| {
                runs.push((group, run));
                Ok(())
            })
            .unwrap();
        runs
    }

    #[test]
    fn equal_keys_share_a_group_id() {
        let k: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), Some(7), None, Some(5), None]));
        let t: ArrayRef = Arc::new(StringArray::from(vec!["a", "a", "b", "b", "b"]));
        let one = groups(std::slice::from_ref(&k), 5).unwrap();
        assert_eq!(runs(&one), [(2, 0..2), (0, 2..3), (1, 3..4), (0, 4..5)]);
        let two = runs(&groups(&[k, t], 5).unwrap());
        assert_eq!(two.iter().map(|(_, run)| run.clone()).collect::<Vec<_>>(), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!((two[1].0 == two[3].0, two[0].0 == two[1].0), (true, false));
    }

    #[test]
    fn no_keys_are_one_group() {
        let groups = groups(&[], 3).unwrap();
        assert_eq!(runs(&groups), [(0, 0..3)]);
        let spread = crate::permute::broadcast::broadcast(
            &groups,
            Arc::new(Int64Array::from(vec![4])),
            &Threads::new(1, &Cancel::default()),
        )
        .unwrap();
        assert_eq!(spread.as_primitive::<Int64Type>().values(), &[4, 4, 4]);
    }

    /// Runs are found across blocks and threads; short runs give `None`.
    #[test]
    fn runs_match_equal_keys() {
        for (length, in_runs) in [(1_u64, false), (15, false), (17, true), (64, true), (1000, true), (70_000, true)] {
            let mut key = 0;
            let keys: Vec<_> = (0..200_000_u64)
                .map(|row| {
                    key = if row % length == 0 { (key + row * row) % 97 + 1 } else { key };
                    key
                })
                .collect();
            let column: ArrayRef = Arc::new(UInt64Array::from(keys.clone()));
            let groups = groups(&[column], keys.len()).unwrap();
            let expected: Vec<_> = keys.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
            assert_eq!(runs(&groups).iter().map(|(_, run)| run.len()).collect::<Vec<_>>(), expected, "{length}");
            assert_eq!(groups.is_in_runs(), in_runs, "{length}");
        }
    }

    #[test]
    fn wide_key_ranges_get_no_group_ids() {
        let keys: Int64Array = (0..4000).map(|row| i64::MAX * (row % 2)).collect();
        assert!(groups(&[Arc::new(keys)], 4000).is_none());
    }

    /// All kinds of keys: strings with a common prefix, integers far apart, NULLs, several columns.
    #[test]
    fn runs_of_equal_keys_share_a_group_id() {
        let rows = 100_000;
        // Keys recur, unsorted.
        let key = |row: usize| (row / 333) * 7919 % 101;
        let text = |row: usize| (key(row) > 0).then(|| format!("a text that is too long for a word {}", key(row) / 2));
        let texts: ArrayRef = Arc::new((0..rows).map(text).collect::<StringArray>());
        let number = |row: usize| if key(row).is_multiple_of(2) { i64::MIN } else { i64::MAX };
        let numbers: ArrayRef = Arc::new((0..rows).map(|row| Some(number(row))).collect::<Int64Array>());
        let codes = arrow_cast::cast(&texts, &DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into()));
        for columns in [vec![texts.clone(), numbers.clone()], vec![numbers, codes.unwrap()], vec![texts]] {
            let groups = groups(&columns, rows).unwrap();
            assert!(groups.is_in_runs());
            let mut of = std::collections::HashMap::new();
            for (group, run) in runs(&groups) {
                let of_row = |row: usize| (text(row), (columns.len() > 1).then(|| number(row)));
                let first = of_row(run.start);
                assert!(run.into_iter().all(|row| of_row(row) == first));
                assert_eq!(*of.entry(first).or_insert(group), group);
            }
            assert_eq!(groups.count(), of.len());
        }
    }

    #[test]
    fn largest_partition_and_scatter_are_found() {
        let keys = |partitions: i64| -> ArrayRef {
            Arc::new((0..200_000).map(|row| row * row % partitions).collect::<Int64Array>())
        };
        let threads = Threads::new(2, &Cancel::default());
        let (few, many) = (keys(11), keys(99_991));
        let rows =
            |column: &ArrayRef| assign_group_ids(std::slice::from_ref(column), 200_000, 0, &threads).unwrap().unwrap();
        let most = |column: &ArrayRef| {
            let mut counts = std::collections::HashMap::new();
            column.as_primitive::<Int64Type>().values().iter().for_each(|key| *counts.entry(*key).or_insert(0) += 1);
            counts.into_values().max().unwrap()
        };
        assert_eq!(rows(&few).largest_group(&threads).unwrap(), most(&few));
        assert_eq!(rows(&many).largest_group(&threads).unwrap(), most(&many));
        assert!(!is_scattered(&[few], 200_000).unwrap());
        assert!(is_scattered(std::slice::from_ref(&many), 200_000).unwrap());
        assert!(!is_scattered(&[], 200_000).unwrap());
        assert!(!is_scattered(&[Arc::new(Int64Array::from_iter_values(0..200_000))], 200_000).unwrap());
        assert!(assign_group_ids(&[many], 200_000, 150_000, &threads).unwrap().is_none());
    }
}
