//! A distance of the order key as a function's limit: up to which key a row reaches.
//!
//! The same arithmetic as RANGE: the literal is converted to the key's type, days and months are the calendar's in the
//! key's time zone, and a target beyond the type's range lies behind all keys. An interval of hours or less is elapsed
//! time. Cost: one addition a row; keys are converted as for RANGE.

use arrow_buffer::i256;

use super::offset_literal::literal;
use super::range_key::{KeyPlan, RangeKeys, SectionKey};
use super::range_offset::{FrameSide, RangeOffset, Target, huge, wide};
use super::resolve::single_key;
use crate::error::{Error, Result};
use crate::model::order_column::OrderColumn;
use crate::model::section::Section;
use crate::spec::literal::Literal;
use crate::spec::sql_text::literal_sql;

/// A distance from a row's key in the window's direction.
#[derive(Debug, Clone)]
pub(crate) struct OrderDistance {
    plan: KeyPlan,
    offset: RangeOffset,
}

impl OrderDistance {
    /// `distance` along the single key of `order`; `name` is what the argument is called.
    ///
    /// # Errors
    /// Several keys or none, a key without distances, a literal that does not suit it or is negative.
    pub(crate) fn new(order: &[OrderColumn], distance: &Literal, name: &str, timezone: &str) -> Result<Self> {
        let plan = single_key(order, timezone, &format!("a {name} that is a distance"), "give the window one key")?;
        let elapsed = matches!(distance, Literal::Interval { months: 0, days: 0, .. });
        let offset = literal(&plan, distance, false, FrameSide::End, elapsed)
            .map_err(|error| Error::spec(error.message().replacen("RANGE offset", &format!("the {name}"), 1)))?;
        if offset.points_back() {
            return Err(Error::spec(format!("the {name} {} is negative; give a distance", literal_sql(distance))));
        }
        Ok(Self { plan, offset })
    }

    /// The number of the key's column.
    pub(crate) fn column(&self) -> usize {
        self.plan.number
    }

    /// The keys of a section.
    ///
    /// # Errors
    /// The section does not have the key; no memory for its numbers.
    pub(crate) fn over(&self, section: &Section) -> Result<KeyDistances> {
        Ok(KeyDistances { of: self.clone(), key: SectionKey::new(&self.plan, section)? })
    }
}

/// Distances between the rows of a section.
#[derive(Debug)]
pub(crate) struct KeyDistances {
    of: OrderDistance,
    key: SectionKey,
}

impl KeyDistances {
    /// The row's key in sort order; `None` if it is NULL.
    #[inline]
    pub(crate) fn key(&self, row: usize) -> Option<i256> {
        (!self.key.is_null(row)).then(|| match &self.key.keys {
            RangeKeys::Small(keys) => i256::from_i128(keys[row].into()),
            RangeKeys::Wide(keys) => i256::from_i128(keys[row]),
            RangeKeys::Huge(keys) => keys[row],
        })
    }

    /// The last key within the distance after the row's; `None` if its key is NULL.
    #[inline]
    pub(crate) fn reach(&self, row: usize) -> Option<i256> {
        let OrderDistance { plan, offset } = &self.of;
        let whole = |target: Target<i128>| target.map(i256::from_i128);
        let target = match (&self.key.keys, offset) {
            _ if self.key.is_null(row) => return None,
            (RangeKeys::Small(keys), offset) => whole(offset.small(plan, keys[row]).map(i128::from)),
            (RangeKeys::Wide(keys), RangeOffset::Wide(by)) => whole(wide(keys[row], *by)),
            (RangeKeys::Huge(keys), RangeOffset::Huge(by)) => huge(keys[row], *by),
            // An offset has the kind of its key.
            (RangeKeys::Wide(_) | RangeKeys::Huge(_), _) => Target::After,
        };
        Some(match target {
            Target::Before => i256::MIN,
            Target::At(key) => key,
            Target::After => i256::MAX,
        })
    }
}
