//! `group_id`: numbers groups of consecutive rows; a row opens a new group if with it the open group would pass a limit.
//!
//! ```text
//!   t                 0   5  10  40  45  80
//!   group_id(20)      1   1   1   2   2   3      max_gap: from the row before
//!   group_id(., 8)    1   1   2   3   3   4      max_span: from the group's first row
//! ```
//!
//! Also a number of rows (`max_rows`) and a sum of a column (`max_sum`, exact for integers and decimals; NULL adds
//! nothing). Rows whose key is NULL or NaN lie far from all others and near one another. A first row may pass the limit
//! of the sum alone.
//!
//! Cost: O(1) per row; the naive strategy walks from the partition's begin. States do not merge, because where a group
//! ends depends on where it began. A carry is the open group.

use std::ops::Range;

use arrow_array::builder::Int64Builder;
use arrow_array::types::{Decimal256Type, Float64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_buffer::i256;

use crate::bounds::distance::KeyDistances;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluator, FRAMES_PER_BLOCK};
use crate::functions::saved_state::{SavedValue, saved_row, saved_value};
use crate::model::carry::Carry;
use crate::model::section::Section;
use crate::util::cancel::Cancel;
use crate::util::run_index::RunIndex;

/// The column that `max_sum` limits, and the limit.
#[derive(Debug)]
pub(crate) enum LimitedSum {
    /// Integers and decimals.
    Exact(PrimitiveArray<Decimal256Type>, i256),
    /// Floats.
    Double(PrimitiveArray<Float64Type>, f64),
}

/// The limits of a group.
#[derive(Debug, Default)]
pub(crate) struct GroupLimits {
    pub(crate) gap: Option<KeyDistances>,
    pub(crate) span: Option<KeyDistances>,
    pub(crate) rows: Option<u64>,
    pub(crate) sum: Option<LimitedSum>,
}

/// `group_id`.
#[derive(Debug)]
pub(crate) struct GroupId {
    limits: GroupLimits,
    partitions: RunIndex,
    naive: bool,
}

/// The group that the last row belongs to.
#[derive(Debug, Clone, Copy)]
struct OpenGroup {
    number: i64,
    rows: u64,
    /// The last keys within the gap of its last row, and within the span of its first; `None`: the key is NULL.
    gap_end: Option<i256>,
    span_end: Option<i256>,
    sum: i256,
    total: f64,
}

impl Default for OpenGroup {
    fn default() -> Self {
        Self { number: 0, rows: 0, gap_end: None, span_end: None, sum: i256::ZERO, total: 0.0 }
    }
}

impl GroupId {
    /// The numbers of groups within `limits`.
    pub(crate) fn new(section: &Section, limits: GroupLimits, naive: bool) -> Self {
        Self { limits, partitions: RunIndex::new(&section.partitions), naive }
    }

    /// Adds the row to the open group, or opens another with it.
    fn add(&self, group: &mut OpenGroup, row: usize) -> Result<()> {
        let GroupLimits { gap, span, rows, sum } = &self.limits;
        let passes = |keys: &Option<KeyDistances>, end: Option<i256>| {
            keys.as_ref().is_some_and(|keys| match (keys.key(row), end) {
                (Some(key), Some(end)) => key > end,
                (key, end) => key.is_some() != end.is_some(),
            })
        };
        let added = Self::added(sum.as_ref(), row);
        let (mut sum_after, mut total_after) = (group.sum, group.total);
        let sum_passes = match (sum, added) {
            (Some(LimitedSum::Exact(_, limit)), (added, _)) => {
                sum_after = sum_after.checked_add(added).ok_or_else(Self::overflow)?;
                sum_after > *limit
            }
            (Some(LimitedSum::Double(_, limit)), (_, added)) => {
                total_after += added;
                // NaN is greater than any number.
                total_after.is_nan() || total_after > *limit
            }
            (None, _) => false,
        };
        let opens = group.rows == 0
            || passes(gap, group.gap_end)
            || passes(span, group.span_end)
            || rows.is_some_and(|most| group.rows >= most)
            || sum_passes;
        if opens {
            *group = OpenGroup {
                number: group.number + 1,
                rows: 0,
                gap_end: None,
                span_end: span.as_ref().and_then(|keys| keys.reach(row)),
                sum: added.0,
                total: added.1,
            };
        } else {
            (group.sum, group.total) = (sum_after, total_after);
        }
        group.rows += 1;
        group.gap_end = gap.as_ref().and_then(|keys| keys.reach(row));
        Ok(())
    }

    /// What the row adds to the sum.
    fn added(sum: Option<&LimitedSum>, row: usize) -> (i256, f64) {
        match sum {
            Some(LimitedSum::Exact(values, _)) if values.is_valid(row) => (values.value(row), 0.0),
            Some(LimitedSum::Double(values, _)) if values.is_valid(row) => (i256::ZERO, values.value(row)),
            _ => (i256::ZERO, 0.0),
        }
    }

    #[cold]
    fn overflow() -> Error {
        Error::overflow("the sum of an open group has more than 76 digits; cast the column to fewer")
    }

    fn add_all(&self, group: &mut OpenGroup, rows: Range<usize>) -> Result<()> {
        rows.into_iter().try_for_each(|row| self.add(group, row))
    }

    fn load(saved: &RecordBatch) -> Result<OpenGroup> {
        let key = |name: &str, is_null: &str| -> Result<Option<i256>> {
            Ok(if saved_value::<u64>(saved, is_null)? == 1 { None } else { Some(saved_value(saved, name)?) })
        };
        Ok(OpenGroup {
            number: saved_value(saved, "number")?,
            rows: saved_value(saved, "rows")?,
            gap_end: key("gap_end", "gap_is_null")?,
            span_end: key("span_end", "span_is_null")?,
            sum: saved_value(saved, "sum")?,
            total: saved_value(saved, "total")?,
        })
    }

    fn save(group: &OpenGroup) -> Result<RecordBatch> {
        let key = |key: Option<i256>| key.unwrap_or(i256::ZERO).write();
        let is_null = |key: Option<i256>| u64::from(key.is_none()).write();
        saved_row([
            ("number", group.number.write()?),
            ("rows", group.rows.write()?),
            ("gap_end", key(group.gap_end)?),
            ("gap_is_null", is_null(group.gap_end)?),
            ("span_end", key(group.span_end)?),
            ("span_is_null", is_null(group.span_end)?),
            ("sum", group.sum.write()?),
            ("total", group.total.write()?),
        ])
    }
}

impl Evaluator for GroupId {
    fn evaluate(&self, _: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let carried = carry.state.as_ref().map(Self::load).transpose()?.unwrap_or_default();
        let mut out = Int64Builder::with_capacity(rows.len());
        let mut last: Option<(usize, OpenGroup)> = None;
        let mut block = rows.start..rows.start;
        while block.end < rows.end {
            cancel.check()?;
            block = block.end..rows.end.min(block.end + FRAMES_PER_BLOCK);
            self.partitions.try_for_each_run(block.clone(), |run, rows| {
                let (begin, first) =
                    if run.start == 0 { (carry.base, carried) } else { (run.start, OpenGroup::default()) };
                // The open group before the first of these rows, continued from the block before.
                let mut group = match last {
                    Some((end, group)) if end == rows.start && run.start < rows.start => group,
                    _ => {
                        let mut group = first;
                        self.add_all(&mut group, begin..rows.start)?;
                        group
                    }
                };
                for row in rows.clone() {
                    if self.naive {
                        group = first;
                        self.add_all(&mut group, begin..row)?;
                    }
                    self.add(&mut group, row)?;
                    out.append_value(group.number);
                }
                last = Some((rows.end, group));
                Ok(())
            })?;
        }
        Ok(std::sync::Arc::new(out.finish()))
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        let mut group = state.map(Self::load).transpose()?.unwrap_or_default();
        self.add_all(&mut group, rows)?;
        Self::save(&group)
    }
}
