//! Partitions numbered, where no call needs their rows side by side.
//!
//! ```text
//!   k       7 5 7 6 7
//!   number  2 0 2 1 2        k - 5: a number may belong to no row, so that none has to be looked up
//! ```
//!
//! A key's number is its code (`codes.rs`), several keys' codes side by side. Cost: two passes over each key column, and
//! 4 bytes per row. Keys whose codes are too many for the rows are not numbered: they are grouped by sorting.

use std::ops::Range;

use arrow_array::{ArrayRef, new_empty_array};

use super::codes;
use super::gather::gather_on;
use super::layout::Layout;
use super::sort::{Arranged, SortColumn, arrange};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::literal;
use crate::parallel::Threads;

/// Up to so many numbers are given out whatever the rows.
const FEW: usize = 1 << 12;

/// Otherwise one for every so many rows: a state of 32 bytes then costs 16 bytes a row.
const ROWS_PER_NUMBER: usize = 2;

/// Rows whose fields are appended at a time: their words stay in the first level cache between columns.
const BLOCK: usize = 1024;

/// So many rows at least are a share, and so many for each of its states.
const SHARE: usize = 64 * 1024;
const SHARE_PER_STATE: usize = 16;

/// More shares are merged for longer than they save.
const SHARES: usize = 16;

/// Each row's partition, by number.
#[derive(Debug)]
pub struct Groups {
    rows: usize,
    count: usize,
    /// The rows' numbers; `None`: they are all of one.
    of: Option<Vec<u32>>,
}

impl Groups {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Numbers are below this.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How many rows the largest has.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn longest(&self, threads: &Threads) -> Result<usize> {
        let Some(of) = &self.of else { return Ok(self.rows) };
        let counts = threads.map(self.shares(), |share: Range<usize>| {
            threads.cancel().check()?;
            let mut counts = vec![0_u32; self.count];
            of[share].iter().for_each(|&group| counts[group as usize] += 1);
            Ok(counts)
        })?;
        let of_all = |group: usize| counts.iter().map(|counts| counts[group] as usize).sum();
        Ok((0..self.count).map(of_all).max().unwrap_or(0))
    }

    /// The rows in shares, to each of which states of its own for all groups are worth it.
    pub(crate) fn shares(&self) -> Vec<Range<usize>> {
        let shares = (self.rows / SHARE.max(SHARE_PER_STATE * self.count)).clamp(1, SHARES);
        (0..shares).map(|share| self.rows * share / shares..self.rows * (share + 1) / shares).collect()
    }

    /// How many runs of rows of one group there are among `rows`.
    pub(crate) fn runs(&self, rows: &Range<usize>) -> usize {
        let of = self.of.as_ref().map_or_else(Default::default, |of| &of[rows.clone()]);
        1 + of.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// Calls `f` with the group's number of each of `rows`, and the row.
    ///
    /// # Errors
    /// The first error of `f`.
    #[inline]
    pub(crate) fn each_row(&self, rows: Range<usize>, mut f: impl FnMut(usize, usize) -> Result<()>) -> Result<()> {
        match &self.of {
            None => rows.into_iter().try_for_each(|row| f(0, row)),
            Some(of) => of[rows.clone()].iter().zip(rows).try_for_each(|(&group, row)| f(group as usize, row)),
        }
    }

    /// Calls `f` with each run of rows of one group among `rows`, and the group's number.
    ///
    /// # Errors
    /// The first error of `f`.
    #[inline]
    pub(crate) fn each_run(
        &self,
        rows: Range<usize>,
        mut f: impl FnMut(usize, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let Some(of) = &self.of else {
            return f(0, rows);
        };
        let mut begin = rows.start;
        while begin < rows.end {
            let group = of[begin];
            let length = of[begin + 1..rows.end].iter().take_while(|other| **other == group).count() + 1;
            f(group as usize, begin..begin + length)?;
            begin += length;
        }
        Ok(())
    }

    /// For each row the value of its group, of `values`, one for each.
    ///
    /// # Errors
    /// Text that outgrows its offsets; cancellation.
    pub(crate) fn spread(&self, values: ArrayRef, threads: &Threads) -> Result<ArrayRef> {
        match &self.of {
            None if self.rows == 0 => Ok(new_empty_array(values.data_type())),
            None => literal::repeat(&values, self.rows),
            Some(of) => {
                let spread = gather_on(&[values], of, threads)?;
                spread.into_iter().next().ok_or_else(|| Error::internal("a column was not gathered"))
            }
        }
    }
}

/// Numbers the different `columns` of `rows` rows; `None` if that would take too many numbers, or fewer than `least`.
///
/// # Errors
/// A type without an order, cancellation.
pub(crate) fn number(columns: &[ArrayRef], rows: usize, least: usize, threads: &Threads) -> Result<Option<Groups>> {
    let columns: Vec<_> = columns.iter().cloned().map(SortColumn::ascending).collect();
    let layout = Layout::new(&columns, rows, threads)?;
    let most = FEW.max(rows / ROWS_PER_NUMBER);
    if layout.unsure.is_some() || layout.bits >= u32::BITS || !(least..=most).contains(&layout.count()) {
        return Ok(None);
    }
    if layout.bits == 0 {
        return Ok(Some(Groups { rows, count: 1, of: None }));
    }
    let mut of = vec![0; rows];
    let share = threads.share(rows);
    threads.map(of.chunks_mut(share).enumerate().collect(), |(number, of)| {
        let mut words = [0_u64; BLOCK];
        for (block, of) in of.chunks_mut(BLOCK).enumerate() {
            let words = &mut words[..of.len()];
            codes::write(&layout.fields, number * share + block * BLOCK, words);
            for (number, word) in of.iter_mut().zip(words) {
                *number = *word as u32;
            }
        }
        threads.cancel().check()
    })?;
    Ok(Some(Groups { rows, count: layout.count(), of: Some(of) }))
}

/// Rows looked at to guess how many partitions there are.
const SAMPLE: usize = 256;

/// Whether rows here and there are nearly all of different partitions, and these in no order.
///
/// # Errors
/// A type without an order.
pub(crate) fn scattered(columns: &[ArrayRef], rows: usize) -> Result<bool> {
    if columns.is_empty() || rows < SAMPLE {
        return Ok(false);
    }
    let threads = Threads::new(1, &Cancel::default());
    let places: Vec<_> = (0..SAMPLE).map(|place| (place * rows / SAMPLE) as u32).collect();
    let keys: Vec<_> = gather_on(columns, &places, &threads)?.into_iter().map(SortColumn::ascending).collect();
    let Arranged { order, starts } = arrange(&keys, &[keys.len()], &threads)?;
    Ok(order.is_some() && starts.iter().all(|starts| starts.count_set_bits() > SAMPLE * 9 / 10))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{Int64Array, StringArray};

    use super::*;

    fn groups(columns: &[ArrayRef], rows: usize) -> Option<Groups> {
        number(columns, rows, 0, &Threads::new(2, &Cancel::default())).unwrap()
    }

    fn runs(groups: &Groups) -> Vec<(usize, Range<usize>)> {
        let mut runs = Vec::new();
        groups
            .each_run(0..groups.rows(), |group, run| {
                runs.push((group, run));
                Ok(())
            })
            .unwrap();
        runs
    }

    #[test]
    fn equal_keys_have_one_number() {
        let k: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), Some(7), None, Some(5), None]));
        let t: ArrayRef = Arc::new(StringArray::from(vec!["a", "a", "b", "b", "b"]));
        let one = groups(std::slice::from_ref(&k), 5).unwrap();
        assert_eq!(runs(&one), [(3, 0..2), (0, 2..3), (1, 3..4), (0, 4..5)]);
        let two = runs(&groups(&[k, t], 5).unwrap());
        assert_eq!(two.iter().map(|(_, run)| run.clone()).collect::<Vec<_>>(), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!((two[1].0 == two[3].0, two[0].0 == two[1].0), (true, false));
    }

    #[test]
    fn no_keys_are_one_group() {
        let groups = groups(&[], 3).unwrap();
        assert_eq!(runs(&groups), [(0, 0..3)]);
        let spread = groups.spread(Arc::new(Int64Array::from(vec![4])), &Threads::new(1, &Cancel::default())).unwrap();
        assert_eq!(spread.as_primitive::<Int64Type>().values(), &[4, 4, 4]);
    }

    #[test]
    fn keys_far_apart_are_not_numbered() {
        assert!(groups(&[Arc::new(Int64Array::from(vec![0, i64::MAX]))], 2).is_none());
    }

    #[test]
    fn partitions_are_counted_and_guessed() {
        let keys = |partitions: i64| -> ArrayRef {
            Arc::new((0..200_000).map(|row| row * row % partitions).collect::<Int64Array>())
        };
        let threads = Threads::new(2, &Cancel::default());
        let (few, many) = (keys(11), keys(99_991));
        let rows = |column: &ArrayRef| number(std::slice::from_ref(column), 200_000, 0, &threads).unwrap().unwrap();
        let most = |column: &ArrayRef| {
            let mut counts = std::collections::HashMap::new();
            column.as_primitive::<Int64Type>().values().iter().for_each(|key| *counts.entry(*key).or_insert(0) += 1);
            counts.into_values().max().unwrap()
        };
        assert_eq!(rows(&few).longest(&threads).unwrap(), most(&few));
        assert_eq!(rows(&many).longest(&threads).unwrap(), most(&many));
        assert!(!scattered(&[few], 200_000).unwrap());
        assert!(scattered(std::slice::from_ref(&many), 200_000).unwrap());
        assert!(!scattered(&[], 200_000).unwrap());
        assert!(!scattered(&[Arc::new(Int64Array::from_iter_values(0..200_000))], 200_000).unwrap());
        assert!(number(&[many], 200_000, 150_000, &threads).unwrap().is_none());
    }
}
