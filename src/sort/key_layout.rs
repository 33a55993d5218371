//! Chooses which bits of the keys the sort word holds.
//!
//! ```text
//!   all keys fit              | device | time |                 equal words are equal keys
//!   a string is too long      | name, its first bytes | time |  rows with equal words are checked again: usually their
//!                                                               names are equal, and time has sorted them already
//!   a few bits too many       | device | price, its top bits |  a word half as wide outweighs a few rows checked again
//!   far too many              | a | b | c, its top bits |       d and e only order rows with equal words
//! ```

use super::key_fields::{self, Fields};
use super::normalized_key::Field;
use super::radix::{self, MAX_DIGIT_BITS};
use super::sort_column::SortColumn;
use crate::error::Result;
use crate::util::threads::Threads;

/// At most this many bits are dropped to use a narrow word. Few rows then have equal words, unless the values are
/// concentrated at one end of their range.
const MAX_DROPPED_BITS: u32 = 24;

/// At least this many bits of the last field are kept.
const MIN_KEPT_BITS: u32 = 24;

/// The fields of the sort word, most significant first.
pub(crate) struct KeyLayout {
    pub(crate) fields: Vec<Field>,
    /// The total number of bits.
    pub(crate) bits: u32,
    pub(crate) inexact: Option<InexactColumn>,
    /// The bits up to and including each column, for the columns that the word holds completely.
    through: Vec<u32>,
    /// The column of the last field.
    last: usize,
}

/// The first column that the word holds only in part.
#[derive(Clone, Copy)]
pub(crate) struct InexactColumn {
    pub(crate) column: usize,
    /// The bits of the columns after it.
    pub(crate) bits_after: u32,
    /// Whether the columns after it are held completely: rows equal in this column are then sorted.
    pub(crate) complete: bool,
}

impl KeyLayout {
    pub(crate) fn new(columns: &[SortColumn], rows: usize, threads: &Threads) -> Result<Self> {
        let row_bits = radix::row_bits(rows);
        // The row number is also stored in the word.
        let room = u128::BITS - 1 - row_bits;
        let mut layout = Self { fields: Vec::new(), bits: 0, inexact: None, through: Vec::new(), last: 0 };
        for (number, column) in columns.iter().enumerate() {
            let Fields { fields, exact } = key_fields::fields(column, threads)?;
            let bits: u32 = fields.iter().map(|field| field.bits).sum();
            let fits = layout.bits + bits <= room;
            match &mut layout.inexact {
                Some(inexact) if exact && fits => inexact.bits_after += bits,
                Some(inexact) => {
                    // Only one inexact column can be corrected afterwards.
                    let bits_after = std::mem::take(&mut inexact.bits_after);
                    inexact.complete = false;
                    layout.last = inexact.column;
                    layout.drop_low(bits_after);
                    break;
                }
                None if exact && fits => {}
                None => layout.inexact = Some(InexactColumn { column: number, bits_after: 0, complete: true }),
            }
            if bits > 0 {
                layout.last = number;
            }
            layout.bits += bits;
            layout.fields.extend(fields);
            if layout.inexact.is_none() {
                layout.through.push(layout.bits);
            }
            if let (Some(inexact), false) = (&mut layout.inexact, fits) {
                inexact.complete = number + 1 == columns.len();
                layout.drop_low(layout.bits - room);
                break;
            }
        }
        if let Some(inexact) = layout.inexact {
            layout.through.truncate(inexact.column);
        }
        Ok(layout)
    }

    /// Drops low bits if the word then fits a narrow type.
    pub(crate) fn truncated(mut self, rows: usize) -> Self {
        let row_bits = radix::row_bits(rows);
        let surplus = self.bits.saturating_sub(u64::BITS.min(u64::BITS + MAX_DIGIT_BITS - row_bits));
        let bits_after = self.inexact.is_some_and(|inexact| inexact.bits_after > 0);
        let keeps = self.fields.last().is_some_and(|field| field.bits >= surplus + MIN_KEPT_BITS);
        if surplus == 0 || surplus > MAX_DROPPED_BITS || bits_after || !keeps {
            return self;
        }
        self.drop_low(surplus);
        let complete = self.inexact.is_none_or(|inexact| inexact.complete && inexact.column == self.last);
        self.inexact = Some(InexactColumn { column: self.last, bits_after: 0, complete });
        self.through.truncate(self.last);
        self
    }

    fn drop_low(&mut self, mut bits: u32) {
        self.bits -= bits;
        while let Some(mut field) = self.fields.pop_if(|_| bits > 0) {
            if field.bits > bits {
                field.drop_low(bits);
                self.fields.push(field);
                return;
            }
            bits -= field.bits;
        }
    }

    /// An exclusive upper bound of the words; with a single field, less than 2^bits.
    pub(crate) fn count(&self) -> usize {
        match self.fields.as_slice() {
            [field] => field.count(),
            _ => 1 << self.bits,
        }
    }

    /// The number of leading columns that the word holds completely.
    pub(crate) fn exact_columns(&self) -> usize {
        self.through.len()
    }

    /// The number of bits after the first `columns` columns, which the word must hold completely.
    pub(crate) fn bits_after(&self, columns: usize) -> u32 {
        self.bits - columns.checked_sub(1).map_or(0, |last| self.through[last])
    }

    /// Whether word and row number fit in 64 bits, not counting the bits that bucketing removes.
    pub(crate) fn is_narrow(&self, rows: usize) -> bool {
        let surplus = (self.bits + radix::row_bits(rows)).saturating_sub(u64::BITS);
        let bits_after = self.inexact.map_or(0, |inexact| inexact.bits_after);
        self.bits <= u64::BITS && surplus <= MAX_DIGIT_BITS.min(self.bits - bits_after)
    }
}
