//! `min_by`, `max_by`, and `min`, `max` of types without native order: a value of the row whose key is minimal or
//! maximal.
//!
//! ```text
//!   x              a b c d e
//!   y              5 . 2 2 7
//!   max_by(x, y)   e          rows without a key are skipped; the selected value may be NULL
//!   min_by(x, y)   d          of rows with equal keys the last, as in Spark; min(y) keeps the first
//! ```
//!
//! Only row numbers and keys are compared and kept; values are gathered at the end, so they may have any type. Keys are
//! ordered integers where the type allows it (`bounds/range_key.rs`), else arrow-row bytes: NaN is greatest and -0.0
//! equals 0.0. A state is one row number, or a carried value and its key.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, RecordBatch, new_null_array};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::DataType;
use arrow_select::concat::concat;

use super::min_max::Extremum;
use crate::error::{Error, Result};
use crate::evaluate::positional::gather_plan::{GatherPlan, RowSource};
use crate::functions::saved_state::{SavedValue, saved_column, saved_row};
use crate::model::aggregate::{Accumulator, ResultReader, Selective};
use crate::model::row_mask::RowMask;
use crate::sort::key_order::normalise;

/// The keys by which rows are compared.
pub trait ComparisonKeys: Send + Sync {
    /// A row's key.
    type Key<'a>: Copy + Ord
    where
        Self: 'a;
    /// A key that does not borrow from its section.
    type Owned: Clone + Send + Sync;

    /// The key of `row`.
    fn key(&self, row: usize) -> Self::Key<'_>;

    /// A carried key, for comparison.
    fn borrow(owned: &Self::Owned) -> Self::Key<'_>;

    /// The key as one row of Arrow data.
    ///
    /// # Errors
    /// It does not form an array.
    fn write(key: Self::Key<'_>) -> Result<ArrayRef>;

    /// The key that `write` wrote; `None` if the column does not contain one.
    fn read(column: &ArrayRef) -> Option<Self::Owned>;
}

/// Keys as ordered integers.
#[derive(Debug, Clone)]
pub struct PrimitiveKeys<N: ArrowNativeType>(pub ScalarBuffer<N>);

impl<N: ArrowNativeType + Ord + SavedValue> ComparisonKeys for PrimitiveKeys<N> {
    type Key<'a> = N;
    type Owned = N;

    #[inline]
    fn key(&self, row: usize) -> N {
        self.0[row]
    }

    fn borrow(owned: &N) -> N {
        *owned
    }

    fn write(key: N) -> Result<ArrayRef> {
        key.write()
    }

    fn read(column: &ArrayRef) -> Option<N> {
        N::read(column)
    }
}

/// Keys as bytes whose order is that of the values.
#[derive(Debug)]
pub struct RowKeys(Rows);

impl RowKeys {
    /// The keys of a column of any orderable type.
    ///
    /// # Errors
    /// The type has no order.
    pub fn new(column: &ArrayRef) -> Result<Self> {
        let plain = normalise(column)?;
        let converter = RowConverter::new(vec![SortField::new(plain.data_type().clone())])?;
        Ok(Self(converter.convert_columns(&[plain])?))
    }
}

impl ComparisonKeys for RowKeys {
    type Key<'a> = &'a [u8];
    type Owned = Box<[u8]>;

    #[inline]
    fn key(&self, row: usize) -> &[u8] {
        self.0.row(row).data()
    }

    fn borrow(owned: &Box<[u8]>) -> &[u8] {
        owned
    }

    fn write(key: &[u8]) -> Result<ArrayRef> {
        Ok(Arc::new(BinaryArray::from(vec![key])))
    }

    fn read(column: &ArrayRef) -> Option<Box<[u8]>> {
        column.as_binary_opt::<i32>().map(|column| column.value(0).into())
    }
}

/// The choice among rows with equal keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieBreak {
    /// The first.
    First,
    /// The last.
    Last,
}

/// The value of the row with the minimal or the maximal key.
#[derive(Debug)]
pub struct ArgMinMax<K> {
    /// The values to return.
    column: ArrayRef,
    keys: K,
    inclusion: RowMask,
    which: Extremum,
    ties: TieBreak,
}

/// The selected row: one of the section's, or a carried one.
#[derive(Debug, Clone)]
pub enum ArgState<K> {
    /// No row so far.
    None,
    /// The section's row with this number.
    Row(u32),
    /// A value from before the section, and its key.
    Carried(Arc<(ArrayRef, K)>),
}

/// The selected rows, and those of the carried values that were selected.
#[derive(Debug)]
pub struct ArgBuilder {
    picks: GatherPlan,
    carried: Vec<ArrayRef>,
}

impl<K: ComparisonKeys> ArgMinMax<K> {
    /// The value of `column` selected by `keys` among the rows of `inclusion`.
    #[must_use]
    pub fn new(column: ArrayRef, keys: K, inclusion: RowMask, which: Extremum, ties: TieBreak) -> Self {
        Self { column, keys, inclusion, which, ties }
    }

    fn key<'a>(&'a self, chosen: &'a ArgState<K::Owned>) -> Option<K::Key<'a>> {
        match chosen {
            ArgState::None => None,
            ArgState::Row(row) => Some(self.keys.key(*row as usize)),
            ArgState::Carried(carried) => Some(K::borrow(&carried.1)),
        }
    }

    /// Whether `new`, which comes later, replaces `old`.
    #[inline]
    fn replaces<'a>(&self, new: K::Key<'a>, old: K::Key<'a>) -> bool {
        match (self.which, self.ties) {
            (Extremum::Min, TieBreak::First) => new < old,
            (Extremum::Min, TieBreak::Last) => new <= old,
            (Extremum::Max, TieBreak::First) => new > old,
            (Extremum::Max, TieBreak::Last) => new >= old,
        }
    }
}

impl<K: ComparisonKeys> Accumulator for ArgMinMax<K> {
    type State = ArgState<K::Owned>;

    fn init(&self) -> Self::State {
        ArgState::None
    }

    #[inline]
    fn update(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()> {
        let mut best = self.key(state);
        let mut chosen = None;
        self.inclusion.for_each(rows, |row| {
            let key = self.keys.key(row);
            if best.is_none_or(|old| self.replaces(key, old)) {
                (best, chosen) = (Some(key), Some(row));
            }
        });
        if let Some(row) = chosen {
            *state = ArgState::Row(row as u32);
        }
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut Self::State, right: &Self::State) -> Result<()> {
        if let Some(new) = self.key(right)
            && self.key(left).is_none_or(|old| self.replaces(new, old))
        {
            *left = right.clone();
        }
        Ok(())
    }

    fn save(&self, state: &Self::State) -> Result<RecordBatch> {
        let mut value = self.builder(1);
        self.evaluate(state, &mut value)?;
        let key = self.key(state).map_or_else(|| Ok(new_null_array(&DataType::Null, 1)), K::write)?;
        saved_row([("value", self.finish(value)?), ("key", key)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Self::State> {
        let (value, key) = (saved_column(saved, "value")?, saved_column(saved, "key")?);
        if value.data_type() != self.column.data_type() {
            return Err(Error::internal(format!("a carried {} for {}", value.data_type(), self.column.data_type())));
        }
        if key.data_type().is_null() {
            return Ok(ArgState::None);
        }
        let owned = K::read(key).ok_or_else(|| Error::internal(format!("a carried key of {}", key.data_type())))?;
        Ok(ArgState::Carried(Arc::new((value.clone(), owned))))
    }
}

impl<K: ComparisonKeys> ResultReader<ArgState<K::Owned>> for ArgMinMax<K> {
    type Builder = ArgBuilder;

    fn builder(&self, capacity: usize) -> ArgBuilder {
        ArgBuilder { picks: GatherPlan::with_capacity(capacity), carried: Vec::new() }
    }

    #[inline]
    fn evaluate(&self, state: &ArgState<K::Owned>, out: &mut ArgBuilder) -> Result<()> {
        out.picks.push(match state {
            ArgState::None => RowSource::Null,
            ArgState::Row(row) => RowSource::Row(*row as usize),
            ArgState::Carried(carried) => {
                // There are at most two carried values: from before the section, and from after it.
                let known = out.carried.iter().position(|known| Arc::ptr_eq(known, &carried.0));
                RowSource::Carried(known.unwrap_or_else(|| {
                    out.carried.push(carried.0.clone());
                    out.carried.len() - 1
                }))
            }
        });
        Ok(())
    }

    fn finish(&self, out: ArgBuilder) -> Result<ArrayRef> {
        let carried = match out.carried.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            several => Some(concat(&several.iter().map(AsRef::as_ref).collect::<Vec<_>>())?),
        };
        out.picks.gather(&self.column, None, carried.as_ref())
    }
}

impl<K: ComparisonKeys> Selective for ArgMinMax<K> {
    #[inline]
    fn includes(&self, row: usize) -> bool {
        self.inclusion.includes(row)
    }

    #[inline]
    fn prefers_old(&self, old: usize, new: usize) -> bool {
        !self.replaces(self.keys.key(new), self.keys.key(old))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use arrow_array::types::{Int16Type, Int32Type};
    use arrow_array::{DictionaryArray, Int32Array, RunArray, StringArray};

    use super::*;
    use crate::functions::aggregate::accumulator::results;

    #[test]
    fn encoded_columns_keep_their_type() {
        let text = StringArray::from(vec![Some("b"), None, Some("é"), Some("a "), Some("a")]);
        let dictionary: DictionaryArray<Int16Type> = text.iter().collect();
        let runs: RunArray<Int32Type> = RunArray::try_new(&Int32Array::from(vec![1, 2, 3, 4, 5]), &text).unwrap();
        for column in [Arc::new(dictionary) as ArrayRef, Arc::new(runs), Arc::new(text)] {
            let inclusion = RowMask::new(std::slice::from_ref(&column), None);
            for (which, expected) in [(Extremum::Min, "a"), (Extremum::Max, "é")] {
                let keys = RowKeys::new(&column).unwrap();
                let choice = ArgMinMax::new(column.clone(), keys, inclusion.clone(), which, TieBreak::First);
                let found = results(&choice, &[0..5, 1..2, 0..0]).unwrap();
                assert_eq!(found.data_type(), column.data_type());
                let found = arrow_cast::cast(&found, &DataType::Utf8).unwrap();
                let found: Vec<_> = found.as_string::<i32>().iter().collect();
                assert_eq!(found, [Some(expected), None, None], "{:?}", column.data_type());
            }
        }
    }

    #[test]
    fn ties_and_carried_keys() {
        let column: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), None, Some(4)]));
        let values = |array: &ArrayRef| array.as_primitive::<Int32Type>().iter().collect::<Vec<_>>();
        for (which, ties, expected) in [
            (Extremum::Max, TieBreak::Last, [Some(1), Some(2), None, None]),
            (Extremum::Max, TieBreak::First, [Some(1); 4]),
            (Extremum::Min, TieBreak::Last, [Some(1), Some(2), None, Some(4)]),
        ] {
            let keys = PrimitiveKeys(ScalarBuffer::from(vec![5_i64, 5, 5, 4]));
            let choice = ArgMinMax::new(column.clone(), keys, RowMask::All, which, ties);
            assert_eq!(values(&results(&choice, &[0..1, 0..2, 0..3, 0..4]).unwrap()), expected);
            // Carried keys compare as before, and a NULL value is distinct from no row.
            for edge in 0..4 {
                let mut state = choice.init();
                choice.update(&mut state, 0..edge).unwrap();
                let mut state = choice.load(&choice.save(&state).unwrap()).unwrap();
                choice.update(&mut state, edge..4).unwrap();
                let mut out = choice.builder(1);
                choice.evaluate(&state, &mut out).unwrap();
                assert_eq!(values(&choice.finish(out).unwrap()), expected[3..]);
            }
        }
    }
}
