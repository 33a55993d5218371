//! The values of a column as consecutive codes, by partition.

use std::collections::BTreeMap;
use std::ops::Range;

use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;

use super::rank_codes::{self, IncludedRows, RankCodes};
use crate::bounds::exclude::SubRanges;
use crate::error::Result;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::permute::gather::gather_on;
use crate::sort::sort_column::SortColumn;
use crate::util::boundaries::Boundaries;
use crate::util::reserve;
use crate::util::threads::Threads;

/// No position has a value of this code.
const NO_PLACE: u32 = u32::MAX;

/// The counted rows and the codes of their values.
#[derive(Debug)]
pub(crate) struct ValueCodes {
    pub(crate) places: IncludedRows,
    /// The code of each position.
    pub(crate) codes: Vec<u32>,
    /// At the partition's first position + code: the first position with that value.
    pub(crate) firsts: Vec<u32>,
    /// No two rows of a partition have the same code.
    pub(crate) unique: bool,
    /// The partition boundaries of the section.
    pub(crate) partitions: Boundaries,
}

/// The values of one partition.
#[derive(Debug, Clone, Default)]
pub(crate) struct PartitionCodes {
    /// The partition's rows.
    pub(crate) rows: Range<usize>,
    /// The positions of its counted rows.
    pub(crate) places: Range<usize>,
    /// The number of its distinct values.
    pub(crate) codes: usize,
}

impl ValueCodes {
    /// The codes of `keys`; equal keys have equal codes.
    ///
    /// # Errors
    /// A type without an order; cancellation.
    pub(crate) fn new(section: &Section, inclusion: RowMask, keys: &[SortColumn], threads: &Threads) -> Result<Self> {
        let places = IncludedRows::new(section, inclusion)?;
        let RankCodes { codes, sorted } = RankCodes::new(&places, keys, threads)?;
        let mut firsts = reserve::repeated(NO_PLACE, codes.len())?;
        let mut partition = 0;
        for (at, &place) in sorted.iter().enumerate() {
            if places.partitions.starts_at(at) {
                partition = at;
            }
            let first = &mut firsts[partition + codes[place as usize] as usize];
            *first = place.min(*first);
        }
        Ok(Self { places, codes, firsts, unique: false, partitions: section.partitions.clone() })
    }

    /// The number of each row in the order of `keys`, ties in row order: all are distinct.
    ///
    /// # Errors
    /// A type without an order; cancellation.
    pub(crate) fn in_order(
        section: &Section,
        inclusion: RowMask,
        keys: &[SortColumn],
        threads: &Threads,
    ) -> Result<Self> {
        let places = IncludedRows::new(section, inclusion)?;
        let sorted = rank_codes::sorted(&places, keys, threads)?;
        let mut codes = reserve::repeated(0, sorted.len())?;
        places.partitions.for_each_run(|partition| {
            for (code, &place) in sorted[partition].iter().enumerate() {
                codes[place as usize] = code as u32;
            }
        });
        Ok(Self { places, codes, firsts: sorted, unique: true, partitions: section.partitions.clone() })
    }

    /// The partition that contains `row`.
    pub(crate) fn partition(&self, row: usize) -> PartitionCodes {
        let rows = self.partitions.run_range(row);
        let places = self.places.of(rows.clone());
        let firsts = &self.firsts[places.clone()];
        let codes = if self.unique { firsts.len() } else { firsts.partition_point(|&first| first != NO_PLACE) };
        PartitionCodes { rows, places, codes }
    }

    /// A position of the partition whose value has this code.
    #[inline]
    pub(crate) fn place(&self, partition: &PartitionCodes, code: usize) -> u32 {
        self.firsts[partition.places.start + code]
    }

    /// A row of the partition whose value has this code.
    #[inline]
    pub(crate) fn row(&self, partition: &PartitionCodes, code: usize) -> usize {
        self.places.row(self.place(partition, code) as usize)
    }

    /// The values of `column`, which is as long as the section, at each partition's first position + code.
    ///
    /// # Errors
    /// Strings that exceed their offset type; cancellation.
    pub(crate) fn by_code(&self, column: &ArrayRef, threads: &Threads) -> Result<ArrayRef> {
        let column = self.places.take(column)?;
        if self.unique {
            return Ok(gather_on(&[column], &self.firsts, threads)?.swap_remove(0));
        }
        reserve::probe(self.firsts.len() * size_of::<u32>())?;
        reserve::probe_rows(&column, self.firsts.len())?;
        let firsts = self.firsts.iter().map(|&first| (first != NO_PLACE).then_some(first));
        Ok(take(&column, &firsts.collect::<UInt32Array>(), None)?)
    }

    /// The multiplicity of each code in the ranges, counted row by row.
    pub(crate) fn count(&self, pieces: SubRanges) -> BTreeMap<u32, u32> {
        let mut counts = BTreeMap::new();
        for row in pieces.flatten().filter(|&row| self.places.includes(row)) {
            let place = self.places.of(row..row + 1).start;
            *counts.entry(self.codes[place]).or_insert(0) += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::util::cancel::Cancel;
    use std::sync::Arc;

    use arrow_array::StringArray;

    use super::*;

    fn values(in_order: bool) -> ValueCodes {
        let begins = [true, false, false, false, false, true, false, false].into_iter().collect();
        let boundaries = Boundaries::new(begins);
        let section = Section::whole(boundaries.clone(), boundaries, vec![]).unwrap();
        let mask = [true, true, false, true, true, true, false, true].into_iter().collect();
        let column: ArrayRef = Arc::new(StringArray::from(vec!["c", "a", "a", "c", "b", "z", "a", "x"]));
        let make = if in_order { ValueCodes::in_order } else { ValueCodes::new };
        make(&section, RowMask::Mask(mask), &[SortColumn::ascending(column)], &Threads::new(1, &Cancel::default()))
            .unwrap()
    }

    #[test]
    fn codes_map_back_to_values() {
        let values = values(false);
        let partition = values.partition(3);
        assert_eq!((partition.rows.clone(), partition.places.clone(), partition.codes), (0..5, 0..4, 3));
        assert_eq!((0..3).map(|code| values.row(&partition, code)).collect::<Vec<_>>(), [1, 4, 0]);
        let partition = values.partition(6);
        assert_eq!((partition.places.clone(), partition.codes), (4..6, 2));
        assert_eq!((0..2).map(|code| values.row(&partition, code)).collect::<Vec<_>>(), [7, 5]);
    }

    #[test]
    fn ordered_codes_are_unique() {
        let values = values(true);
        assert_eq!(values.codes, [2, 0, 3, 1, 1, 0]);
        assert_eq!(values.partition(0).codes, 4);
        assert_eq!((0..4).map(|code| values.row(&values.partition(0), code)).collect::<Vec<_>>(), [1, 4, 0, 3]);
    }
}
