//! The rows that take part in a computation: non-NULL arguments and FILTER combined into one mask, so that
//! implementations need no separate paths for them.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::bit_iterator::BitIndexIterator;
use arrow_buffer::{BooleanBuffer, NullBuffer};

use crate::error::Result;
use crate::util::bitmap::{count_set, word};

/// The rows that take part.
#[derive(Debug, Clone)]
pub enum RowMask {
    /// Every row.
    All,
    /// The rows whose bit is set.
    Mask(BooleanBuffer),
}

impl RowMask {
    /// Rows where no argument is null and the filter, if any, is true.
    #[must_use]
    pub fn new(args: &[ArrayRef], filter: Option<&BooleanArray>) -> Self {
        let mut mask = filter.map(true_rows);
        for arg in args {
            if let Some(nulls) = arg.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
                mask = Some(match mask {
                    Some(mask) => &mask & nulls.inner(),
                    None => nulls.into_inner(),
                });
            }
        }
        mask.map_or(Self::All, Self::Mask)
    }

    /// The rows that take part and whose bit in `bits` is set.
    #[must_use]
    pub fn and(&self, bits: &BooleanBuffer) -> Self {
        Self::Mask(match self {
            Self::All => bits.clone(),
            Self::Mask(mask) => mask & bits,
        })
    }

    /// Whether `row` takes part.
    #[inline]
    #[must_use]
    pub fn includes(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Mask(bits) => bits.value(row),
        }
    }

    /// A bitmap of which of the [`WORD_BITS`](crate::util::bitmap::WORD_BITS) rows from `row` on take part.
    #[inline(always)]
    pub(crate) fn word(&self, row: usize) -> u64 {
        match self {
            Self::All => u64::MAX,
            Self::Mask(bits) => word(bits, row),
        }
    }

    /// The number of rows among `rows` that take part.
    #[must_use]
    pub fn count(&self, rows: Range<usize>) -> usize {
        match self {
            Self::All => rows.len(),
            Self::Mask(bits) => count_set(bits, rows),
        }
    }

    /// Calls `f` for each of `rows` that takes part, in row order.
    ///
    /// # Errors
    /// The first error of `f`.
    #[inline]
    pub fn try_for_each(&self, rows: Range<usize>, mut f: impl FnMut(usize) -> Result<()>) -> Result<()> {
        match self {
            Self::All => {
                for row in rows {
                    f(row)?;
                }
            }
            // Scans call this with one row; setting up the iterator would cost more than the row.
            Self::Mask(bits) if rows.len() == 1 => {
                if bits.value(rows.start) {
                    f(rows.start)?;
                }
            }
            Self::Mask(bits) => {
                for index in BitIndexIterator::new(bits.values(), bits.offset() + rows.start, rows.len()) {
                    f(rows.start + index)?;
                }
            }
        }
        Ok(())
    }

    /// As [`RowMask::try_for_each`], without errors.
    #[inline]
    pub fn for_each(&self, rows: Range<usize>, mut f: impl FnMut(usize)) {
        // The closure never fails, so neither does the iteration.
        let _ = self.try_for_each(rows, |row| {
            f(row);
            Ok(())
        });
    }
}

/// The rows where a filter is true (not false or NULL).
fn true_rows(filter: &BooleanArray) -> BooleanBuffer {
    match filter.nulls().map(NullBuffer::inner) {
        Some(valid) => filter.values() & valid,
        None => filter.values().clone(),
    }
}
