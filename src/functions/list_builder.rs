//! Builds list columns item by item.

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::FieldRef;

use crate::error::{Error, Result};

/// Lists and NULLs, with the items of all lists in sequence.
#[derive(Debug)]
pub(crate) struct ListBuilder<T> {
    /// The items of all lists.
    pub(crate) items: Vec<T>,
    ends: Vec<i32>,
    valid: Vec<bool>,
}

impl<T> ListBuilder<T> {
    /// An empty builder for `lists` lists.
    pub(crate) fn with_capacity(lists: usize) -> Self {
        let mut ends = Vec::with_capacity(lists + 1);
        ends.push(0);
        Self { items: Vec::new(), ends, valid: Vec::with_capacity(lists) }
    }

    /// Ends a list, or a NULL, after the last item.
    ///
    /// # Errors
    /// More items than a list column can hold.
    pub(crate) fn finish_list(&mut self, valid: bool) -> Result<()> {
        let end = i32::try_from(self.items.len()).map_err(|_| {
            Error::unsupported(
                "the lists of one batch hold more than 2^31 items; ask for fewer items, or pass the rows in batches",
            )
        })?;
        self.ends.push(end);
        self.valid.push(valid);
        Ok(())
    }

    /// Repeats the last list or NULL.
    ///
    /// # Errors
    /// As for `finish_list`.
    pub(crate) fn repeat_list(&mut self) -> Result<()>
    where
        T: Clone,
    {
        let begin = self.ends.len().checked_sub(2).map_or(0, |last| self.ends[last] as usize);
        self.items.extend_from_within(begin..);
        self.finish_list(self.valid.last().is_some_and(|&valid| valid))
    }

    /// The column; `array` makes an array of the items.
    ///
    /// # Errors
    /// The items do not form an array.
    pub(crate) fn finish(self, element: &FieldRef, array: impl FnOnce(Vec<T>) -> Result<ArrayRef>) -> Result<ArrayRef> {
        let nulls = Some(NullBuffer::from(self.valid)).filter(|nulls| nulls.null_count() > 0);
        let offsets = OffsetBuffer::new(self.ends.into());
        Ok(Arc::new(ListArray::try_new(element.clone(), offsets, array(self.items)?, nulls)?))
    }
}
