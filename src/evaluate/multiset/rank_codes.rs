//! Rank codes: keys as small integers, over which the wavelet tree and the multiset strategies are built.
//!
//! ```text
//!   rows         0  1  2  3  4  5  6  7
//!   partition    a  a  a  a  a  b  b  b
//!   counted      1  1  .  1  1  1  .  1
//!   position     0  1     2  3  4     5        counted rows, numbered consecutively
//!   key          c  a     c  b  z     x
//!   code         2  0     2  1  1     0        number of smaller distinct keys of the partition
//!   sorted       1  3  0  2 | 5  4             positions by key within the partition, ties in row order
//! ```
//!
//! Cost: one radix sort of the counted rows, O(n), once per section; 8 bytes per such row.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_buffer::BooleanBufferBuilder;
use arrow_select::take::take;

use crate::error::Result;
use crate::evaluate::positional::index::MaskIndex;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::permute::gather::gather_on;
use crate::sort::boundaries::find_boundaries;
use crate::sort::sort_column::SortColumn;
use crate::sort::sort_to_indices::sort_with_boundaries;
use crate::util::bitmap::next_set;
use crate::util::boundaries::Boundaries;
use crate::util::reserve;
use crate::util::threads::Threads;

/// Small partitions are sorted in groups of about this many positions, so that the data stays in the second-level cache
/// and each thread sorts on its own.
const PLACES_PER_SORT: usize = 1 << 15;

/// The counted rows of a section, numbered consecutively: a row's number is its position.
#[derive(Debug, Clone)]
pub(crate) struct IncludedRows {
    included: MaskIndex,
    /// The partition boundaries among the positions; partitions without a counted row have none.
    pub(crate) partitions: Boundaries,
    /// The row of each position; `None` if every row is counted.
    rows: Option<UInt32Array>,
}

impl IncludedRows {
    /// The counted rows of `section`.
    ///
    /// # Errors
    /// There is no memory for their numbers.
    pub(crate) fn new(section: &Section, inclusion: RowMask) -> Result<Self> {
        let RowMask::Mask(bits) = &inclusion else {
            return Ok(Self { included: MaskIndex::All, partitions: section.partitions.clone(), rows: None });
        };
        let mut rows = reserve::with_capacity(bits.count_set_bits())?;
        rows.extend(bits.set_indices_u32());
        let rows = UInt32Array::from(rows);
        let mut begins = BooleanBufferBuilder::new(rows.len());
        let mut end = 0;
        for &row in rows.values() {
            let begin = row as usize >= end;
            if begin {
                end = section.partitions.run_end(row as usize);
            }
            begins.append(begin);
        }
        Ok(Self { included: MaskIndex::new(inclusion), partitions: Boundaries::new(begins.finish()), rows: Some(rows) })
    }

    /// The number of counted rows.
    pub(crate) fn len(&self) -> usize {
        self.partitions.len()
    }

    /// Whether `row` is counted.
    #[inline]
    pub(crate) fn includes(&self, row: usize) -> bool {
        self.included.includes(row)
    }

    /// The positions of the counted rows of `run`.
    #[inline(always)]
    pub(crate) fn of(&self, run: Range<usize>) -> Range<usize> {
        self.included.before(run.start)..self.included.before(run.end)
    }

    /// The row of a position.
    #[inline]
    pub(crate) fn row(&self, place: usize) -> usize {
        self.rows.as_ref().map_or(place, |rows| rows.value(place) as usize)
    }

    /// The values of `column`, which is as long as the section, by position.
    ///
    /// # Errors
    /// Strings that exceed their offset type.
    pub(crate) fn take(&self, column: &ArrayRef) -> Result<ArrayRef> {
        match &self.rows {
            None => Ok(column.clone()),
            Some(rows) => {
                reserve::probe_rows(column, rows.len())?;
                Ok(take(column, rows, None)?)
            }
        }
    }
}

/// Codes of keys by position.
#[derive(Debug, Clone)]
pub(crate) struct RankCodes {
    /// Per position, the number of distinct keys of its partition that are smaller than its own.
    pub(crate) codes: Vec<u32>,
    /// The positions sorted by key within each partition, ties in row order.
    pub(crate) sorted: Vec<u32>,
}

impl RankCodes {
    /// The codes of `keys`, columns as long as the section, in their order.
    ///
    /// # Errors
    /// A type without an order; cancellation.
    pub(crate) fn new(places: &IncludedRows, keys: &[SortColumn], threads: &Threads) -> Result<Self> {
        let columns = columns(places, keys)?;
        let sorted = order(&places.partitions, &columns, threads)?;
        let values: Vec<_> = columns.iter().map(|column| column.values.clone()).collect();
        let values = gather_on(&values, &sorted, threads)?;
        let differs = find_boundaries(&values, places.len(), None)?;
        let mut codes = reserve::repeated(0, places.len())?;
        let mut code = 0;
        for (at, &place) in sorted.iter().enumerate() {
            // Sorting does not move partitions, so a partition begins at the same index among positions and sorted
            // positions.
            if places.partitions.starts_at(at) {
                code = 0;
            } else if differs.value(at) {
                code += 1;
            }
            codes[place as usize] = code;
        }
        Ok(Self { codes, sorted })
    }
}

/// The positions sorted by `keys`, columns as long as the section, within each partition, ties in row order.
///
/// # Errors
/// A type without an order; cancellation.
pub(crate) fn sorted(places: &IncludedRows, keys: &[SortColumn], threads: &Threads) -> Result<Vec<u32>> {
    order(&places.partitions, &columns(places, keys)?, threads)
}

/// The keys by position.
fn columns(places: &IncludedRows, keys: &[SortColumn]) -> Result<Vec<SortColumn>> {
    keys.iter().map(|key| Ok(SortColumn { values: places.take(&key.values)?, ..key.clone() })).collect()
}

/// The positions sorted by `columns` within each of `partitions`, ties in row order. Small partitions are sorted in
/// groups.
fn order(partitions: &Boundaries, columns: &[SortColumn], threads: &Threads) -> Result<Vec<u32>> {
    let Some(pieces) = pieces(partitions) else { return sort_piece(partitions, columns, threads) };
    let mut sorted = reserve::repeated(0, partitions.len())?;
    let mut left = &mut sorted[..];
    let mut work = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (own, others) = left.split_at_mut(piece.len());
        work.push((piece, own));
        left = others;
    }
    threads.map(work, |(piece, sorted)| {
        let (begin, length) = (piece.start, piece.len());
        let of_piece =
            |column: &SortColumn| SortColumn { values: column.values.slice(begin, length), ..column.clone() };
        let columns: Vec<_> = columns.iter().map(of_piece).collect();
        let order = sort_piece(&partitions.slice(piece), &columns, &threads.single())?;
        sorted.iter_mut().zip(order).for_each(|(to, place)| *to = begin as u32 + place);
        Ok(())
    })?;
    Ok(sorted)
}

fn sort_piece(partitions: &Boundaries, columns: &[SortColumn], threads: &Threads) -> Result<Vec<u32>> {
    let several = next_set(partitions.starts(), 1).is_some();
    let numbers = several.then(|| run_numbers(partitions)).transpose()?.map(SortColumn::ascending);
    let columns: Vec<_> = numbers.into_iter().chain(columns.iter().cloned()).collect();
    match sort_with_boundaries(&columns, &[], threads)?.order {
        Some(order) => Ok(order),
        None => reserve::collect(0..partitions.len() as u32),
    }
}

/// Blocks of about [`PLACES_PER_SORT`] positions; `None` if a partition is too large for that, or there is only one
/// block.
fn pieces(partitions: &Boundaries) -> Option<Vec<Range<usize>>> {
    let pieces = partitions.blocks(PLACES_PER_SORT);
    (pieces.len() > 1 && pieces.iter().all(|piece| piece.len() <= 2 * PLACES_PER_SORT)).then_some(pieces)
}

/// The number of each row's run, from 0.
fn run_numbers(runs: &Boundaries) -> Result<ArrayRef> {
    let (mut numbers, mut number) = (reserve::with_capacity(runs.len())?, 0);
    runs.for_each_run(|run| {
        numbers.resize(run.end, number);
        number += 1;
    });
    Ok(Arc::new(UInt32Array::from(numbers)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::{Int64Array, StringArray};
    use arrow_buffer::BooleanBuffer;
    use arrow_schema::SortOptions;

    use super::*;
    use crate::util::cancel::Cancel;

    #[test]
    fn codes_count_within_partitions() {
        let boundaries = |bits: &[bool]| Boundaries::new(bits.iter().copied().collect());
        let section = Section::whole(
            boundaries(&[true, false, false, false, false, true, false, false]),
            boundaries(&[true; 8]),
            vec![],
        )
        .unwrap();
        let mask = [true, true, false, true, true, true, false, true].into_iter().collect();
        let places = IncludedRows::new(&section, RowMask::Mask(mask)).unwrap();
        let threads = Threads::new(1, &Cancel::default());
        let column: ArrayRef = Arc::new(StringArray::from(vec!["c", "a", "a", "c", "b", "z", "a", "x"]));
        let key = SortColumn::ascending(column);
        let dense = RankCodes::new(&places, std::slice::from_ref(&key), &threads).unwrap();
        assert_eq!(dense.codes, [2, 0, 2, 1, 1, 0]);
        assert_eq!(dense.sorted, [1, 3, 0, 2, 5, 4]);
        assert_eq!((places.of(1..6), places.row(4)), (1..5, 5));
        let down = SortColumn { options: SortOptions::new(true, true), ..key };
        let dense = RankCodes::new(&places, &[down], &threads).unwrap();
        assert_eq!(dense.codes, [0, 2, 0, 1, 0, 1]);
        assert_eq!(dense.sorted, [0, 2, 3, 1, 4, 5]);
    }

    #[test]
    fn all_rows_filtered() {
        let section = Section::whole(Boundaries::single(3), Boundaries::single(3), vec![]).unwrap();
        let places = IncludedRows::new(&section, RowMask::Mask(BooleanBuffer::new_unset(3))).unwrap();
        let column: ArrayRef = Arc::new(StringArray::from(vec!["c", "a", "a"]));
        let dense =
            RankCodes::new(&places, &[SortColumn::ascending(column)], &Threads::new(1, &Cancel::default())).unwrap();
        assert!(dense.codes.is_empty() && dense.sorted.is_empty() && places.of(0..3).is_empty());
    }

    /// Many small partitions, with and without a large one among them, some rows not counted.
    #[test]
    fn sorting_in_pieces_matches_one_sort() {
        let rows = 3 * PLACES_PER_SORT;
        for (length, large) in [(1, false), (7, false), (5000, false), (7, true)] {
            let begins = |row: usize| row.is_multiple_of(length) && !(large && (10..rows - 10).contains(&row));
            let boundaries = Boundaries::new(BooleanBuffer::collect_bool(rows, begins));
            let section = Section::whole(boundaries.clone(), boundaries, vec![]).unwrap();
            let mask = BooleanBuffer::collect_bool(rows, |row| row % 11 > 0);
            let places = IncludedRows::new(&section, RowMask::Mask(mask)).unwrap();
            let values: Vec<_> = (0..rows).map(|row| (row * 7919 % 1009) as i64).collect();
            let key = SortColumn {
                values: Arc::new(Int64Array::from(values.clone())),
                options: SortOptions::new(true, true),
            };
            assert_eq!(pieces(&places.partitions).is_some(), !large);
            let mut expected: Vec<_> = (0..places.len() as u32).collect();
            places.partitions.for_each_run(|partition| {
                expected[partition].sort_by_key(|&place| -values[places.row(place as usize)]);
            });
            for threads in [1, 2] {
                let threads = Threads::new(threads, &Cancel::default());
                assert_eq!(sorted(&places, std::slice::from_ref(&key), &threads).unwrap(), expected);
            }
        }
    }
}
