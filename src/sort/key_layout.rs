//! What the sort word holds of the keys.
//!
//! ```text
//!   all keys fit              | device | time |                 equal words are equal keys
//!   a text too long           | name, its first bytes | time |  rows with equal bytes are looked at again: as a rule
//!                                                               their names are equal, and time has ordered them already
//!   a few bits too many       | device | price, its top bits |  a word half as wide is worth a few rows looked at again
//!   far too many              | a | b | c, its top bits |       d and e only order rows with equal words
//! ```

use super::key_fields::{self, Fields};
use super::normalized_key::Field;
use super::radix::{self, MAX_DIGIT_BITS};
use super::sort_column::SortColumn;
use crate::error::Result;
use crate::util::threads::Threads;

/// So many bits are dropped to make do with a narrow word; rows that only they tell apart are then rare, except in
/// data that crowds at one end of its range.
const MAX_DROPPED_BITS: u32 = 24;

/// As many bits of the last field are kept at least.
const MIN_KEPT_BITS: u32 = 24;

/// The fields of the sort word, most significant first.
pub(crate) struct KeyLayout {
    pub(crate) fields: Vec<Field>,
    /// All fields' bits.
    pub(crate) bits: u32,
    pub(crate) unsure: Option<InexactColumn>,
    /// The bits through each column, of those that the word holds whole.
    through: Vec<u32>,
    /// The column that the last field is of.
    last: usize,
}

/// The first column that the word holds the beginning of only.
#[derive(Clone, Copy)]
pub(crate) struct InexactColumn {
    pub(crate) column: usize,
    /// The bits of the columns behind it.
    pub(crate) behind: u32,
    /// The columns behind it are all there: rows equal in this one are in order.
    pub(crate) complete: bool,
}

impl KeyLayout {
    pub(crate) fn new(columns: &[SortColumn], rows: usize, threads: &Threads) -> Result<Self> {
        let row_bits = radix::row_bits(rows);
        // The row number stands in the word too.
        let room = u128::BITS - 1 - row_bits;
        let mut layout = Self { fields: Vec::new(), bits: 0, unsure: None, through: Vec::new(), last: 0 };
        for (number, column) in columns.iter().enumerate() {
            let Fields { fields, exact } = key_fields::fields(column, threads)?;
            let bits: u32 = fields.iter().map(|field| field.bits).sum();
            let fits = layout.bits + bits <= room;
            match &mut layout.unsure {
                Some(unsure) if exact && fits => unsure.behind += bits,
                Some(unsure) => {
                    // One unsure column is all that can be made good afterwards.
                    let behind = std::mem::take(&mut unsure.behind);
                    unsure.complete = false;
                    layout.last = unsure.column;
                    layout.drop_low(behind);
                    break;
                }
                None if exact && fits => {}
                None => layout.unsure = Some(InexactColumn { column: number, behind: 0, complete: true }),
            }
            if bits > 0 {
                layout.last = number;
            }
            layout.bits += bits;
            layout.fields.extend(fields);
            if layout.unsure.is_none() {
                layout.through.push(layout.bits);
            }
            if let (Some(unsure), false) = (&mut layout.unsure, fits) {
                unsure.complete = number + 1 == columns.len();
                layout.drop_low(layout.bits - room);
                break;
            }
        }
        if let Some(unsure) = layout.unsure {
            layout.through.truncate(unsure.column);
        }
        Ok(layout)
    }

    /// Leaves out bits that make the word wide for little.
    pub(crate) fn truncated(mut self, rows: usize) -> Self {
        let row_bits = radix::row_bits(rows);
        let surplus = self.bits.saturating_sub(u64::BITS.min(u64::BITS + MAX_DIGIT_BITS - row_bits));
        let behind = self.unsure.is_some_and(|unsure| unsure.behind > 0);
        let keeps = self.fields.last().is_some_and(|field| field.bits >= surplus + MIN_KEPT_BITS);
        if surplus == 0 || surplus > MAX_DROPPED_BITS || behind || !keeps {
            return self;
        }
        self.drop_low(surplus);
        let complete = self.unsure.is_none_or(|unsure| unsure.complete && unsure.column == self.last);
        self.unsure = Some(InexactColumn { column: self.last, behind: 0, complete });
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

    /// Words are below this, which is less than 2^bits where one field is all there is.
    pub(crate) fn count(&self) -> usize {
        match self.fields.as_slice() {
            [field] => field.count(),
            _ => 1 << self.bits,
        }
    }

    /// How many columns the word holds whole, from the first on.
    pub(crate) fn exact_columns(&self) -> usize {
        self.through.len()
    }

    /// The bits behind the first `columns` columns, which the word holds whole.
    pub(crate) fn bits_after(&self, columns: usize) -> u32 {
        self.bits - columns.checked_sub(1).map_or(0, |last| self.through[last])
    }

    /// Whether 64 bits hold the word, but for what dealing takes off it.
    pub(crate) fn is_narrow(&self, rows: usize) -> bool {
        let surplus = (self.bits + radix::row_bits(rows)).saturating_sub(u64::BITS);
        let behind = self.unsure.map_or(0, |unsure| unsure.behind);
        self.bits <= u64::BITS && surplus <= MAX_DIGIT_BITS.min(self.bits - behind)
    }
}
