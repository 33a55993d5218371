//! The first or the last row of each group in a given order, without sorting.
//!
//! ```text
//!   group   0 1 0 1 0
//!   key     7 4 3 4 9        running minimum of 0: 7 7 3 3 3, of 1: - 4 4 4 4        first rows: 2 and 1
//! ```
//!
//! The keys are compared as one word (`sort/normalized_key.rs`), so that an order of several columns in any direction
//! costs one comparison per row. Cost: three passes over each key column, 16 bytes per group and share. Keys that do
//! not fit a word are sorted instead.

use std::vec::IntoIter;

use crate::error::Result;
use crate::model::group_ids::{GroupShare, RowGroups};
use crate::sort::key_layout::KeyLayout;
use crate::sort::normalized_key::{self, KEYS_PER_BLOCK, SortWord};
use crate::sort::sort_column::SortColumn;
use crate::sort::sort_to_indices::{check_rows, rank_dictionaries};
use crate::util::threads::Threads;

/// A group's candidate row and its key word; [`NO_ROW`] before the first row.
#[derive(Clone, Copy)]
struct Candidate<W> {
    word: W,
    row: u32,
}

/// An invalid row number.
const NO_ROW: u32 = u32::MAX;

/// For each group the first (or last) of its rows that `included` accepts, in the order of `keys`; ties are in input
/// order. `None` if the keys are too wide.
///
/// # Errors
/// A type without an order; more than `u32::MAX` rows; cancellation.
pub(crate) fn first_or_last(
    groups: &RowGroups,
    keys: &[SortColumn],
    last: bool,
    included: impl Fn(usize) -> bool + Send + Sync,
    threads: &Threads,
) -> Result<Option<Vec<Option<u32>>>> {
    check_rows(groups.rows())?;
    let layout = KeyLayout::new(&rank_dictionaries(keys, threads)?, groups.rows(), threads)?;
    let found = match (layout.inexact.is_some(), layout.bits <= u64::BITS) {
        (true, _) => return Ok(None),
        (_, true) => first_or_last_of::<u64>(groups, &layout, last, included, threads)?,
        (_, false) => first_or_last_of::<u128>(groups, &layout, last, included, threads)?,
    };
    Ok(Some(found))
}

fn first_or_last_of<W: SortWord>(
    groups: &RowGroups,
    layout: &KeyLayout,
    last: bool,
    included: impl Fn(usize) -> bool + Send + Sync,
    threads: &Threads,
) -> Result<Vec<Option<u32>>> {
    // Of rows with equal words the earlier is first and the later is last.
    let comes =
        |word: W, end: &Candidate<W>| end.row == NO_ROW || if last { word >= end.word } else { word < end.word };
    let none = Candidate { word: W::default(), row: NO_ROW };
    let fill = |share: &GroupShare, ends: &mut [Candidate<W>]| {
        let first = share.groups.start;
        let mut words = [W::default(); KEYS_PER_BLOCK];
        for begin in share.rows.clone().step_by(KEYS_PER_BLOCK) {
            threads.cancel().check()?;
            let block = begin..share.rows.end.min(begin + KEYS_PER_BLOCK);
            normalized_key::write_words(&layout.fields, begin, &mut words[..block.len()]);
            groups.for_each_row(block, |group, row| {
                let (word, end) = (words[row - begin], &mut ends[group - first]);
                if comes(word, end) && included(row) {
                    *end = Candidate { word, row: row as u32 };
                }
            });
        }
        Ok(())
    };
    let mut merge = |ends: &mut [Candidate<W>], later: &mut IntoIter<Candidate<W>>| {
        for (end, later) in ends.iter_mut().zip(later) {
            if later.row != NO_ROW && comes(later.word, end) {
                *end = later;
            }
        }
        Ok(())
    };
    let ends = groups.fold(groups.shares(true, threads)?, &none, &fill, &mut merge, threads)?;
    Ok(ends.into_iter().map(|end| Some(end.row).filter(|&row| row != NO_ROW)).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int32Array, Int64Array, StringArray};
    use arrow_schema::SortOptions;

    use super::*;
    use crate::grouping::assign::assign_group_ids;
    use crate::sort::sort_to_indices::sort;
    use crate::util::cancel::Cancel;

    /// Compared with sorting by group and keys; small and large shares, ties, nulls, NaN and both zeros.
    #[test]
    fn first_and_last_match_sorted_rows() {
        let cancel = Cancel::default();
        for rows in [0, 1, 7, 1000, 300_000] {
            let mut seed = 3_u64;
            let mut below = |end: u64| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) % end
            };
            let groups: ArrayRef = Arc::new((0..rows).map(|_| Some(below(50) as i32)).collect::<Int32Array>());
            let few: ArrayRef =
                Arc::new((0..rows).map(|_| Some(below(9) as i64).filter(|&x| x > 0)).collect::<Int64Array>());
            let odd = [f64::NAN, -0.0, 0.0, f64::INFINITY, -1.5];
            let floats: ArrayRef = Arc::new((0..rows).map(|_| Some(odd[below(5) as usize])).collect::<Float64Array>());
            let key = |values: &ArrayRef, descending, nulls_first| SortColumn {
                values: values.clone(),
                options: SortOptions::new(descending, nulls_first),
            };
            let orders = [
                vec![],
                vec![key(&few, false, true)],
                vec![key(&few, true, true), key(&floats, false, false)],
                vec![key(&floats, true, false), key(&few, false, false)],
            ];
            for (keys, keep) in orders.iter().flat_map(|keys| [(keys, 1), (keys, 7)]) {
                let threads = Threads::new(2, &cancel);
                let numbered = assign_group_ids(std::slice::from_ref(&groups), rows, 0, &threads).unwrap().unwrap();
                let mut sorted = vec![SortColumn::ascending(groups.clone())];
                sorted.extend(keys.iter().cloned());
                let order = sort(&sorted, 1, &cancel).unwrap().unwrap_or_else(|| (0..rows as u32).collect());
                for last in [false, true] {
                    let mut expected = vec![None; numbered.count()];
                    let taking_part = order.iter().filter(|&&row| (row as usize).is_multiple_of(keep));
                    for &row in taking_part {
                        numbered.for_each_row(row as usize..row as usize + 1, |group, _| {
                            expected[group] = expected[group].filter(|_| !last).or(Some(row));
                        });
                    }
                    let found = first_or_last(&numbered, keys, last, |row| row.is_multiple_of(keep), &threads)
                        .unwrap()
                        .unwrap();
                    assert_eq!(found, expected, "{rows} rows, {} keys, last: {last}", keys.len());
                }
            }
        }
    }

    #[test]
    fn too_wide_keys_need_the_sort() {
        let threads = Threads::new(1, &Cancel::default());
        let texts = ["b", "a"].map(|text| text.repeat(40));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        let groups = assign_group_ids(&[], 2, 0, &threads).unwrap().unwrap();
        assert!(first_or_last(&groups, &[SortColumn::ascending(texts)], false, |_| true, &threads).unwrap().is_none());
    }
}
