//! Boundaries in sorted rows: where partitions and peer groups begin, and whether the rows are sorted.
//!
//! ```text
//!   k   a a a b b        partitions = boundaries([k])                1 . . 1 .
//!   t   1 1 2 2 2        peers = partitions OR boundaries([t])       1 . 1 1 .
//! ```
//!
//! Cost: one pass over each column, and one bit per row of memory.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use arrow_select::concat::concat;

use super::adjacent::Adjacent;
use super::sort_column::SortColumn;
use crate::error::{Error, Result};
use crate::util::bitmap::{WORD_BITS, next_set};
use crate::util::boundaries::Boundaries;
use crate::util::threads::Threads;

/// The number of rows that are checked for sortedness before the others.
const PROBE_ROWS: usize = 4096;

/// The number of words of rows between checks for cancellation.
const WORDS_PER_CANCEL_CHECK: usize = 256;

/// The number of words of rows that are checked at once before one by one: most such blocks lie within a partition.
const WORDS_PER_BLOCK: usize = 16;

/// A bitmap of the rows that differ from the previous row in any of `columns`, which have `rows` rows.
///
/// The bit of row 0 is set, unless `previous` is given: columns whose last row precedes row 0, such as those of an
/// earlier batch.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_array::{ArrayRef, Float64Array};
/// let key: ArrayRef = Arc::new(Float64Array::from(vec![None, None, Some(-0.0), Some(0.0), Some(f64::NAN)]));
/// let starts = windrow::internals::find_boundaries(&[key], 5, None)?;
/// assert_eq!(starts.iter().collect::<Vec<_>>(), [true, false, true, false, true]);
/// # Ok::<(), windrow::Error>(())
/// ```
///
/// # Errors
/// A type without an order; columns of other lengths.
pub fn find_boundaries(columns: &[ArrayRef], rows: usize, previous: Option<&[ArrayRef]>) -> Result<BooleanBuffer> {
    check_lengths(columns.iter(), rows)?;
    let mut words = vec![0_u64; rows.div_ceil(WORD_BITS)];
    for column in columns {
        let column = Adjacent::new(column)?;
        for (number, word) in words.iter_mut().enumerate() {
            let at = number * WORD_BITS;
            *word |= column.differs(at, WORD_BITS.min(rows - at));
        }
    }
    if let Some(first) = words.first_mut() {
        let begins = match previous {
            None => true,
            Some(previous) => differ_across(previous, columns)?,
        };
        *first = (*first & !1) | u64::from(begins);
    }
    Ok(BooleanBuffer::new(words.into(), 0, rows))
}

/// Whether the first row of `columns` differs from the last row of `previous`.
fn differ_across(previous: &[ArrayRef], columns: &[ArrayRef]) -> Result<bool> {
    if previous.len() != columns.len() {
        return Err(Error::internal("the rows before have other columns"));
    }
    for (previous, column) in previous.iter().zip(columns) {
        let Some(last) = previous.len().checked_sub(1) else {
            return Ok(true);
        };
        let pair = concat(&[previous.slice(last, 1).as_ref(), column.slice(0, 1).as_ref()])?;
        if Adjacent::new(&pair)?.differs(1, 1) != 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The first row that sorts before its previous row by `columns`, within `partitions`. The first row of a partition is
/// never one.
///
/// # Errors
/// A type without an order; columns whose length differs from that of the partitions.
pub fn first_descent(columns: &[SortColumn], partitions: &Boundaries) -> Result<Option<usize>> {
    let rows = partitions.len();
    check_lengths(columns.iter().map(|column| &column.values), rows)?;
    let columns = columns.iter().map(SortColumn::adjacent).collect::<Result<Vec<_>>>()?;
    let mut at = 0;
    while at < rows {
        let count = WORD_BITS.min(rows - at);
        let begins = partitions.starts().slice(at, count);
        let mut equal = mask_of(count);
        let mut begin = next_set(&begins, 0);
        while let Some(row) = begin {
            equal &= !(1 << row);
            begin = next_set(&begins, row + 1);
        }
        let descents = descents(&columns, at, count, equal);
        if descents != 0 {
            return Ok(Some(at + descents.trailing_zeros() as usize));
        }
        at += count;
    }
    Ok(None)
}

/// The first row that sorts before its previous row.
pub(crate) fn first_descent_of_all(columns: &[Adjacent], rows: usize) -> Option<usize> {
    let mut at = 0;
    while at < rows {
        let count = WORD_BITS.min(rows - at);
        let descents = descents(columns, at, count, mask_of(count));
        if descents != 0 {
            return Some(at + descents.trailing_zeros() as usize);
        }
        at += count;
    }
    None
}

/// For each count in `leading`, the rows that differ from the previous row in that many leading columns; `None` if the
/// rows are not sorted by `columns`.
pub(crate) fn boundaries_if_sorted(
    columns: &[Adjacent],
    rows: usize,
    leading: &[usize],
    threads: &Threads,
) -> Result<Option<Vec<BooleanBuffer>>> {
    // For unsorted rows this returns at once, before any thread is started.
    if first_descent_of_all(columns, rows.min(PROBE_ROWS)).is_some() {
        return Ok(None);
    }
    let words = rows.div_ceil(WORD_BITS);
    let mut starts = vec![vec![0_u64; words]; leading.len()];
    let share = threads.chunk_rows(rows).div_ceil(WORD_BITS);
    let mut shares: Vec<_> = (0..words.div_ceil(share)).map(|number| (number * share, Vec::new())).collect();
    for starts in &mut starts {
        for ((_, shares), starts) in shares.iter_mut().zip(starts.chunks_mut(share)) {
            shares.push(starts);
        }
    }
    let misplaced = AtomicBool::new(false);
    threads.map(shares, |(first, mut starts)| {
        let last = words.min(first + share);
        for block in (first..last).step_by(WORDS_PER_BLOCK) {
            if (block - first).is_multiple_of(WORDS_PER_CANCEL_CHECK) {
                threads.cancel().check()?;
                if misplaced.load(Relaxed) {
                    break;
                }
            }
            let block = block..last.min(block + WORDS_PER_BLOCK);
            if block.start > 0
                && continues_run(columns, leading, block.start * WORD_BITS..rows.min(block.end * WORD_BITS))
            {
                continue;
            }
            for word in block {
                let at = word * WORD_BITS;
                let count = WORD_BITS.min(rows - at);
                let (mut equal, mut descents) = (mask_of(count), 0);
                for starts in starts.iter_mut().zip(leading).filter(|(_, leading)| **leading == 0) {
                    starts.0[word - first] = u64::from(at == 0);
                }
                for (number, column) in columns.iter().enumerate() {
                    if number + 1 == columns.len() && !leading.contains(&columns.len()) {
                        // The last column's differences were not asked for (leading < columns): descents only.
                        descents |= equal & column.descends(at, count);
                        break;
                    }
                    let (differ, descend) = column.differs_and_descends(at, count, equal);
                    descents |= equal & descend;
                    equal &= !differ;
                    for starts in starts.iter_mut().zip(leading).filter(|(_, leading)| **leading == number + 1) {
                        starts.0[word - first] = (!equal & mask_of(count)) | u64::from(at == 0);
                    }
                }
                if descents != 0 {
                    misplaced.store(true, Relaxed);
                    return Ok(());
                }
            }
        }
        Ok(())
    })?;
    let bitmap = |words: Vec<u64>| BooleanBuffer::new(words.into(), 0, rows);
    Ok((!misplaced.into_inner()).then(|| starts.into_iter().map(bitmap).collect()))
}

/// Whether `rows`, which must not include row 0, are sorted and none differs from its previous row in the requested
/// leading columns. May return `false` if that takes long to determine.
fn continues_run(columns: &[Adjacent], leading: &[usize], rows: Range<usize>) -> bool {
    let Some((last, others)) = columns.split_last() else { return true };
    let same = |columns: &[Adjacent]| columns.iter().rev().all(|column| column.is_constant(rows.clone()));
    if leading.contains(&columns.len()) { same(columns) } else { same(others) && last.is_sorted(rows.clone()) }
}

/// The rows that sort before their previous rows, among those in `equal`.
fn descents(columns: &[Adjacent], at: usize, count: usize, mut equal: u64) -> u64 {
    let mut descents = 0;
    for column in columns {
        if equal == 0 {
            break;
        }
        let (differ, descend) = column.differs_and_descends(at, count, equal);
        descents |= equal & descend;
        equal &= !differ;
    }
    descents
}

fn mask_of(count: usize) -> u64 {
    if count == WORD_BITS { u64::MAX } else { (1 << count) - 1 }
}

fn check_lengths<'a>(mut columns: impl Iterator<Item = &'a ArrayRef>, rows: usize) -> Result<()> {
    match columns.find(|column| column.len() != rows) {
        None => Ok(()),
        Some(column) => Err(Error::internal(format!("a key column of {} rows among {rows} rows", column.len()))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::Int64Array;
    use arrow_schema::SortOptions;

    use super::*;
    use crate::util::cancel::Cancel;

    /// Short and long runs, one or two columns, ascending and descending; and one row out of order.
    #[test]
    fn boundaries_match_row_comparisons() {
        let rows = 40_000_i64;
        let threads = Threads::new(2, &Cancel::default());
        for length in [1, 5, 63, 64, 1000, 1024, 7000, rows] {
            for descending in [false, true] {
                let key: ArrayRef = Arc::new((0..rows).map(|row| Some(row / length)).collect::<Int64Array>());
                let sign = if descending { -1 } else { 1 };
                let order = |wrong: i64| -> ArrayRef {
                    Arc::new(
                        (0..rows)
                            .map(|row| Some(if row == wrong { sign * -9 } else { sign * (row / 3) }))
                            .collect::<Int64Array>(),
                    )
                };
                let in_order = |order: ArrayRef, leading: &[usize]| {
                    let columns = [
                        SortColumn::ascending(key.clone()),
                        SortColumn { values: order, options: SortOptions::new(descending, true) },
                    ];
                    let columns = columns.iter().map(SortColumn::adjacent).collect::<Result<Vec<_>>>().unwrap();
                    boundaries_if_sorted(&columns, rows as usize, leading, &threads).unwrap()
                };
                let expected = [
                    find_boundaries(&[], rows as usize, None).unwrap(),
                    find_boundaries(std::slice::from_ref(&key), rows as usize, None).unwrap(),
                    find_boundaries(&[key.clone(), order(-1)], rows as usize, None).unwrap(),
                ];
                for leading in [vec![0], vec![1], vec![2], vec![0, 1], vec![1, 2]] {
                    let expected: Vec<_> = leading.iter().map(|&columns| expected[columns].clone()).collect();
                    assert_eq!(in_order(order(-1), &leading), Some(expected), "{length} {leading:?}");
                    for wrong in [1100, 5000, rows - 1] {
                        let begins = wrong % length == 0;
                        assert_eq!(in_order(order(wrong), &leading).is_some(), begins, "{length} {wrong}");
                    }
                }
            }
        }
    }
}
