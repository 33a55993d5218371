//! Computes the sorted order of rows.
//!
//! 1. One pass detects rows that are already sorted; it stops at the first descent. Rows sorted by the last keys alone,
//!    such as readings in time order to be partitioned by device, are sorted by the first keys only.
//! 2. Keys are encoded as fields of a word (`key_fields.rs`), most significant first, as many as fit beside the row
//!    number; words are radix sorted (`radix.rs`). The word has 64 bits if that suffices, else 128.
//! 3. If the word holds only a prefix of the keys (long strings, many wide columns), each run of rows with equal words
//!    is sorted again by the rest. Encoding then considers only the values of the run, so that for strings at least the
//!    run's common prefix is skipped.
//!
//! Cost: O(rows * bits) time; 8 or 16 bytes per row besides the result's 4. Stable: ties keep input order.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_buffer::BooleanBuffer;

use super::adjacent::Adjacent;
use super::boundaries::{boundaries_if_sorted, find_boundaries, first_descent_of_all};
use super::key_layout::KeyLayout;
use super::key_order;
use super::radix::{RadixKeys, RadixSorted};
use super::sort_column::{SortColumn, compare};
use crate::error::{Error, Remedy, Result};
use crate::permute::gather::gather_on;
use crate::util::boundaries::Boundaries;
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::slices::split_at_ranges;
use crate::util::threads::Threads;

/// Fewer rows than this are sorted by comparison, which is cheaper than encoding words.
const COMPARISON_SORT_ROWS: usize = 64;

/// The maximum nesting of runs of equal words; deeper ones are sorted by comparison. Each level is a stack frame.
const MAX_DEPTH: usize = 32;

/// The row numbers in the order of `columns`, ties in input order; `None` if the rows are already sorted.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{Int64Array, StringArray};
/// # use windrow::internals::sort;
/// # use arrow_schema::SortOptions;
/// # use windrow::internals::SortColumn;
/// let device = SortColumn::ascending(Arc::new(StringArray::from(vec!["b", "a", "b", "a"])));
/// let times = Arc::new(Int64Array::from(vec![1, 2, 3, 4]));
/// let time = SortColumn { values: times, options: SortOptions::new(true, false) };
/// let order = sort(&[device, time], 1, &Default::default())?;
/// assert_eq!(order, Some(vec![3, 1, 2, 0]));
/// # Ok::<(), windrow::Error>(())
/// ```
///
/// # Errors
/// A type without an order; columns of different lengths; more than `u32::MAX` rows; cancellation.
pub fn sort(columns: &[SortColumn], threads: usize, cancel: &Cancel) -> Result<Option<Vec<u32>>> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    Ok(sort_with_boundaries(columns, &[], &Threads::new(threads, cancel).limited_to_rows(rows))?.order)
}

/// Sorted row numbers, and where sorted rows differ from the previous row.
#[derive(Debug)]
pub(crate) struct SortedIndices {
    /// The row numbers in sorted order; `None` if the rows are already sorted.
    pub(crate) order: Option<Vec<u32>>,
    /// For each requested number of leading columns, a bitmap of the sorted rows that differ from the previous row in
    /// any of these; includes row 0.
    pub(crate) starts: Vec<BooleanBuffer>,
}

/// As [`sort`], and for each count in `leading` the sorted rows that differ in that many leading columns. This is
/// usually read from the sorted words, without gathering the columns.
///
/// # Errors
/// As [`sort`].
pub(crate) fn sort_with_boundaries(
    columns: &[SortColumn],
    leading: &[usize],
    threads: &Threads,
) -> Result<SortedIndices> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    if columns.iter().any(|column| column.values.len() != rows) {
        return Err(Error::internal("sort keys of different lengths"));
    }
    check_rows(rows)?;
    let threads = &threads.for_rows(rows);
    let adjacent = columns.iter().map(SortColumn::adjacent).collect::<Result<Vec<_>>>()?;
    if let Some(starts) = boundaries_if_sorted(&adjacent, rows, leading, threads)? {
        return Ok(SortedIndices { order: None, starts });
    }
    sort_at_depth(columns, &adjacent, rows, leading, threads, 0)
}

/// `columns` with each dictionary replaced by the ranks of its values. A dictionary with more values than rows, or
/// without values, is decoded.
///
/// # Errors
/// A type without an order; cancellation.
pub(crate) fn rank_dictionaries(columns: &[SortColumn], threads: &Threads) -> Result<Vec<SortColumn>> {
    let ranked = |column: &SortColumn| {
        let Some(dictionary) = column.values.as_any_dictionary_opt() else { return Ok(column.clone()) };
        let (rows, values) = (column.values.len(), dictionary.values());
        let ranked: ArrayRef = if values.is_empty() || values.len() > rows {
            key_order::normalise(&column.values)?
        } else {
            let ranks = ranks(std::slice::from_ref(values), threads)?;
            let keys = dictionary.normalized_keys().into_iter().map(|key| ranks[key]).collect();
            Arc::new(UInt32Array::new(keys, key_order::nulls(&column.values)))
        };
        Ok(SortColumn { values: ranked, ..column.clone() })
    };
    columns.iter().map(ranked).collect()
}

/// The dense rank of each row of `columns`, from 0; equal rows have the same rank.
///
/// # Errors
/// A type without an order; cancellation.
pub(crate) fn ranks(columns: &[ArrayRef], threads: &Threads) -> Result<Vec<u32>> {
    let columns: Vec<_> = columns.iter().cloned().map(SortColumn::ascending).collect();
    let SortedIndices { order, starts } = sort_with_boundaries(&columns, &[columns.len()], threads)?;
    let mut ranks = vec![0; starts[0].len()];
    let mut has_started = 0;
    for (position, start) in starts[0].iter().enumerate() {
        has_started += u32::from(start);
        let row = order.as_ref().map_or(position, |order| order[position] as usize);
        ranks[row] = has_started - 1;
    }
    Ok(ranks)
}

/// Fails if the row numbers do not fit 32 bits.
pub(crate) fn check_rows(rows: usize) -> Result<()> {
    if u32::try_from(rows).is_err() {
        return Err(Error::unsupported(format!(
            "{rows} rows to sort at once; windrow takes up to {}: partition the input",
            u32::MAX
        ))
        .with_remedy(Remedy::Stream));
    }
    Ok(())
}

fn sort_at_depth(
    columns: &[SortColumn],
    adjacent: &[Adjacent],
    rows: usize,
    leading: &[usize],
    threads: &Threads,
    depth: usize,
) -> Result<SortedIndices> {
    // Sorting is stable: if the rows are sorted by the keys from `sorted` on, sorting by the keys before suffices.
    let sorted = (1..columns.len()).find(|&first| first_descent_of_all(&adjacent[first..], rows).is_none());
    let all = columns;
    let columns = &columns[..sorted.unwrap_or(columns.len())];
    threads.cancel().check()?;
    if rows < COMPARISON_SORT_ROWS || depth == MAX_DEPTH {
        let mut order: Vec<u32> = (0..rows as u32).collect();
        compare(columns)?.sort(&mut order);
        let starts = boundaries_of(all, &[], leading, &order, threads)?;
        return Ok(SortedIndices { order: Some(order), starts });
    }
    let layout = KeyLayout::new(&rank_dictionaries(columns, threads)?, rows, threads)?.truncated(rows);
    // The word gives the boundaries for the requested columns, or for fewer if it holds fewer completely.
    let known: Vec<_> = leading.iter().map(|&leading| leading.min(layout.exact_columns())).collect();
    let bits_after: Vec<_> = known.iter().map(|&columns| layout.bits_after(columns)).collect();
    let keys = RadixKeys {
        fields: &layout.fields,
        rows,
        bits: layout.bits,
        runs: layout.inexact.map(|inexact| inexact.bits_after),
        bits_after: &bits_after,
    };
    let ordered = if layout.is_narrow(rows) { RadixKeys::order::<u64> } else { RadixKeys::order::<u128> };
    let RadixSorted { mut order, runs, starts } = ordered(&keys, threads)?;
    if let (Some(inexact), false) = (layout.inexact, runs.is_empty()) {
        let columns = &columns[inexact.column..];
        let (comparators, alone) = (compare(columns)?, &threads.single());
        threads.map(split_at_ranges(&mut order, runs).collect(), |run| {
            threads.cancel().check()?;
            // The words have sorted rows that are equal in the inexact column.
            if inexact.complete && comparators.are_equal(run, 0) {
                return Ok(());
            }
            if run.len() < COMPARISON_SORT_ROWS {
                comparators.sort(run);
                return Ok(());
            }
            run.sort_unstable();
            let columns = select(columns, run, alone)?;
            let adjacent = columns.iter().map(SortColumn::adjacent).collect::<Result<Vec<_>>>()?;
            if first_descent_of_all(&adjacent, run.len()).is_none() {
                return Ok(());
            }
            let sorted_run = sort_at_depth(&columns, &adjacent, run.len(), &[], alone, depth + 1)?;
            if let Some(order) = sorted_run.order {
                let rows = reserve::collect(run.iter().copied())?;
                for (place, row) in run.iter_mut().zip(order) {
                    *place = rows[row as usize];
                }
            }
            Ok(())
        })?;
    }
    let starts: Vec<_> = known.into_iter().zip(starts).collect();
    let starts = boundaries_of(all, &starts, leading, &order, threads)?;
    Ok(SortedIndices { order: Some(order), starts })
}

/// For each count in `leading`, the sorted rows that differ in that many columns. `known` has the boundaries for fewer
/// columns.
fn boundaries_of(
    columns: &[SortColumn],
    known: &[(usize, BooleanBuffer)],
    leading: &[usize],
    order: &[u32],
    threads: &Threads,
) -> Result<Vec<BooleanBuffer>> {
    let first = |number: usize| known.get(number).map_or(0, |(columns, _)| *columns);
    let needed = (0..leading.len()).map(|number| first(number)..leading[number]).filter(|needed| !needed.is_empty());
    let gathered = needed.clone().map(|needed| needed.start).min().zip(needed.map(|needed| needed.end).max());
    let gathered = gathered.map_or(0..0, |(start, end)| start..end);
    let values: Vec<_> = columns[gathered.clone()].iter().map(|column| column.values.clone()).collect();
    let values = gather_on(&values, order, threads)?;
    (leading.iter().enumerate())
        .map(|(number, &leading)| {
            let needed = first(number)..leading;
            let starts = if needed.is_empty() {
                None
            } else {
                Some(find_boundaries(
                    &values[needed.start - gathered.start..needed.end - gathered.start],
                    order.len(),
                    None,
                )?)
            };
            match (known.get(number), starts) {
                (Some((_, known)), Some(starts)) => Ok(known | &starts),
                (Some((_, known)), None) => Ok(known.clone()),
                (None, Some(starts)) => Ok(starts),
                (None, None) => Ok(Boundaries::single(order.len()).starts().clone()),
            }
        })
        .collect()
}

/// The rows of a run as columns of their own.
fn select(columns: &[SortColumn], run: &[u32], threads: &Threads) -> Result<Vec<SortColumn>> {
    let values: Vec<_> = columns.iter().map(|column| column.values.clone()).collect();
    let values = gather_on(&values, run, threads)?;
    Ok(columns.iter().zip(values).map(|(column, values)| SortColumn { values, ..*column }).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{Float64Array, Int32Array, Int64Array, StringArray};
    use arrow_schema::SortOptions;

    use super::*;
    use crate::permute::gather::gather;

    /// Columns of `rows` rows that fit the words completely, in part, or only in small part.
    fn columns(rows: usize) -> Vec<Vec<SortColumn>> {
        let mut seed = 7_u64;
        let mut below = move |end: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % end
        };
        let mut numbers = |end| -> Vec<u64> { (0..rows).map(|_| below(end)).collect() };
        let few: ArrayRef = Arc::new(numbers(5).iter().map(|&x| (x > 0).then_some(x as i32)).collect::<Int32Array>());
        let many: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers(1 << 30).iter().map(|&x| x as i64)));
        let floats: ArrayRef = Arc::new(Float64Array::from_iter_values(numbers(50).iter().map(|&x| (x as f64).sin())));
        let texts = numbers(9).iter().map(|x| format!("a text that is too long for a word {x}")).collect::<Vec<_>>();
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        let ascending: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
        let constant: ArrayRef = Arc::new(Int64Array::from(vec![3; rows]));
        let wide: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers(1 << 31).iter().map(|&x| (x << 32) as i64)));
        let (up, down) =
            (SortColumn::ascending, |values| SortColumn { values, options: SortOptions::new(true, false) });
        vec![
            vec![up(few.clone()), down(many.clone())],
            vec![up(few.clone()), up(few.clone()), down(few.clone())],
            vec![up(few.clone()), up(ascending.clone())],
            vec![up(constant.clone()), up(ascending.clone())],
            vec![up(constant), down(ascending)],
            vec![up(few.clone()), up(texts.clone()), up(floats.clone())],
            vec![down(floats.clone()), up(few.clone()), up(many.clone())],
            vec![up(few), up(wide.clone()), down(wide.clone()), up(many), up(texts)],
            vec![up(wide.clone()), up(wide), up(floats)],
        ]
    }

    #[test]
    fn sort_is_correct_on_any_thread_count() {
        let cancel = Cancel::default();
        let rows = 200_000;
        // Nearly all rows are in one bucket and differ in few bits.
        let skewed = (0..rows).map(|row| if row % 1000 == 0 { -(row << 20) } else { row * 7919 % 5000 });
        let skewed: ArrayRef = Arc::new(Int64Array::from_iter_values(skewed));
        let mut cases = columns(rows as usize);
        cases.push(vec![SortColumn::ascending(skewed)]);
        // A bucket's words usually differ in their lowest bits, so sorting by the highest leaves most out of order.
        for bits in [27, 30] {
            let low = |row: i64| if row % 50 == 0 { row * 7919 % (1 << bits) } else { row * 7919 % 193 };
            let crowded = (0..rows).map(|row| (row * 6007 % 1021) << bits | low(row));
            cases.push(vec![SortColumn::ascending(Arc::new(Int64Array::from_iter_values(crowded)))]);
        }
        for (case, columns) in cases.into_iter().enumerate() {
            let mut expected: Vec<_> = (0..rows as u32).collect();
            compare(&columns).unwrap().sort(&mut expected);
            for threads in 1..=3 {
                let order = sort(&columns, threads, &cancel).unwrap();
                let order = order.unwrap_or_else(|| (0..rows as u32).collect());
                assert!(order == expected, "case {case}, {threads} threads");
            }
        }
    }

    #[test]
    fn sorted_rows_need_no_sort() {
        let cancel = Cancel::default();
        for rows in [63, 65, 1000, 70_000] {
            for (case, columns) in columns(rows).into_iter().enumerate() {
                let keys: Vec<_> = columns.iter().map(|column| column.values.clone()).collect();
                let order = sort(&columns, 1, &cancel).unwrap().unwrap_or_else(|| (0..rows as u32).collect());
                let gathered = gather(&keys, &order, 1, &cancel).unwrap();
                let sorted: Vec<_> = columns
                    .iter()
                    .zip(gathered)
                    .map(|(column, values)| SortColumn { values, ..column.clone() })
                    .collect();
                for threads in 1..=2 {
                    assert_eq!(
                        sort(&sorted, threads, &cancel).unwrap(),
                        None,
                        "{rows} rows, case {case}, {threads} threads"
                    );
                }
            }
        }
    }

    #[test]
    fn boundaries_match_sorted_rows() {
        let cancel = Cancel::default();
        for rows in [0, 1, 2, 63, 64, 65, 1000, 70_000] {
            for (case, columns) in columns(rows).into_iter().enumerate() {
                let leading: Vec<_> = (0..=columns.len()).collect();
                let sorted_run = sort_with_boundaries(&columns, &leading, &Threads::new(2, &cancel)).unwrap();
                let keys: Vec<_> = columns.iter().map(|column| column.values.clone()).collect();
                let sorted = match &sorted_run.order {
                    None => keys,
                    Some(order) => gather(&keys, order, 1, &cancel).unwrap(),
                };
                for leading in leading {
                    let expected = find_boundaries(&sorted[..leading], rows, None).unwrap();
                    assert_eq!(sorted_run.starts[leading], expected, "{rows} rows, case {case}, {leading} columns");
                }
                assert_eq!(sorted_run.order, sort(&columns, 1, &cancel).unwrap());
            }
        }
    }
}
