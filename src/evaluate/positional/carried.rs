//! Carried values: those of rows outside a section that its results may refer to, by their ordinals among the counted
//! rows.
//!
//! Cost: a fixed number of the first values and of the last values.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::gather_plan::{GatherPlan, RowSource};
use super::index::MaskIndex;
use crate::error::{Error, Result};
use crate::model::carry::Carry;

/// The values of rows outside the section that results may refer to.
///
/// As Arrow data: `value`, and `ordinal`, the row's number from 1 among the partition's counted rows. Ordinals ascend,
/// and the last one is the number of all covered rows.
#[derive(Debug, Clone)]
pub(crate) struct CarriedValues {
    values: ArrayRef,
    ordinals: UInt64Array,
}

/// How many of the first and of the last values a carry keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptEnds {
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

impl CarriedValues {
    fn load(state: &RecordBatch) -> Result<Self> {
        match state.columns() {
            [values, ordinals] if ordinals.data_type() == &DataType::UInt64 => {
                Ok(Self { values: Arc::clone(values), ordinals: ordinals.as_primitive::<UInt64Type>().clone() })
            }
            _ => Err(Error::internal("the carry of a value function holds values and their ordinals")),
        }
    }

    fn save(values: ArrayRef, ordinals: Vec<u64>) -> Result<RecordBatch> {
        let fields =
            [Field::new("value", values.data_type().clone(), true), Field::new("ordinal", DataType::UInt64, false)];
        Ok(RecordBatch::try_new(
            Arc::new(Schema::new(fields.to_vec())),
            vec![values, Arc::new(UInt64Array::from(ordinals))],
        )?)
    }

    /// The number of counted rows that the carry covers.
    pub(crate) fn total(&self) -> u64 {
        self.ordinals.values().last().copied().unwrap_or(0)
    }

    /// The index of the value of the covered row with this `ordinal`, from 1.
    fn place(&self, ordinal: u64) -> Result<usize> {
        self.ordinals
            .values()
            .binary_search(&ordinal)
            .map_err(|_| Error::internal(format!("the carry of {} rows lacks row {ordinal}", self.total())))
    }

    /// The carry of the rows that `state` covers followed by `rows` of `column`.
    pub(crate) fn append_saved(
        kept: KeptEnds,
        column: &ArrayRef,
        included: &MaskIndex,
        state: Option<&RecordBatch>,
        rows: Range<usize>,
    ) -> Result<RecordBatch> {
        let old = state.map(Self::load).transpose()?;
        let before = old.as_ref().map_or(0, Self::total);
        let first = included.before(rows.start);
        let total = before + (included.before(rows.end) - first) as u64;
        // The ordinals up to `head` and those after `dropped` are kept.
        let (head, dropped) = kept.of(total);
        let mut picks = GatherPlan::with_capacity(0);
        let mut ordinals = Vec::new();
        for (at, &ordinal) in old.iter().flat_map(|old| old.ordinals.values().iter().enumerate()) {
            if ordinal <= head || ordinal > dropped {
                picks.push(RowSource::Carried(at));
                ordinals.push(ordinal);
            }
        }
        for ordinal in (before + 1..=head).chain(dropped.max(before) + 1..=total) {
            let row = included.row(first + (ordinal - before - 1) as usize);
            picks.push(RowSource::Row(row.ok_or_else(|| Error::internal("the rows of a mask are counted wrong"))?));
            ordinals.push(ordinal);
        }
        Self::save(picks.gather(column, None, old.as_ref().map(|old| &old.values))?, ordinals)
    }

    /// The carry of the rows of two carries.
    pub(crate) fn merge_saved(kept: KeptEnds, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        let (left, right) = (Self::load(left)?, Self::load(right)?);
        let before = left.total();
        let (head, dropped) = kept.of(before + right.total());
        let behind = right.ordinals.values().iter().map(|ordinal| before + ordinal);
        let all = left.ordinals.values().iter().copied().chain(behind);
        let (places, ordinals): (Vec<u64>, Vec<u64>) =
            (0..).zip(all).filter(|&(_, ordinal)| ordinal <= head || ordinal > dropped).unzip();
        let values = concat(&[left.values.as_ref(), right.values.as_ref()])?;
        Self::save(take(&values, &UInt64Array::from(places), None)?, ordinals)
    }
}

impl KeptEnds {
    /// Of `total` values: the ordinal up to which values are kept, and the one after which they are kept again.
    fn of(self, total: u64) -> (u64, u64) {
        let head = self.head.min(total);
        (head, total.saturating_sub(self.tail).max(head))
    }
}

/// The carried values before a section and after it.
#[derive(Debug)]
pub(crate) struct CarriedNeighbours {
    pub(crate) before: Option<CarriedValues>,
    pub(crate) after: Option<CarriedValues>,
    /// The values of both.
    pub(crate) values: Option<ArrayRef>,
}

impl CarriedNeighbours {
    pub(crate) fn load(carry: &Carry) -> Result<Self> {
        let load = |state: &Option<RecordBatch>| state.as_ref().map(CarriedValues::load).transpose();
        let (before, after) = (load(&carry.state)?, load(&carry.after)?);
        let values = match (&before, &after) {
            (Some(before), Some(after)) => Some(concat(&[before.values.as_ref(), after.values.as_ref()])?),
            (one, other) => one.as_ref().or(other.as_ref()).map(|carried| carried.values.clone()),
        };
        Ok(Self { before, after, values })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_none()
    }

    /// The `ordinal`-th row before the section, from 1; NULL if nothing is carried.
    pub(crate) fn pick_before(&self, ordinal: u64) -> Result<RowSource> {
        self.before.as_ref().map_or(Ok(RowSource::Null), |carried| Ok(RowSource::Carried(carried.place(ordinal)?)))
    }

    /// The `ordinal`-th row after the section, from 1; NULL if nothing is carried.
    pub(crate) fn pick_after(&self, ordinal: u64) -> Result<RowSource> {
        let first = self.before.as_ref().map_or(0, |carried| carried.values.len());
        self.after
            .as_ref()
            .map_or(Ok(RowSource::Null), |carried| Ok(RowSource::Carried(first + carried.place(ordinal)?)))
    }
}
