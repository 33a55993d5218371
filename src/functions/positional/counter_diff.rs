//! `counter_diff`: the increase of a counter since the previous value.
//!
//! ```text
//!   c                100  200   50   50    .   70
//!   counter_diff       .  100    .    0    .   20      NULL: no previous value, or the counter was reset
//!   c                  5    8   20    .   21
//!   start             t0   t0   t1   t1   t1
//!   counter_diff       .    3    .    .    1           a later start means a reset, whatever the value
//! ```
//!
//! Rows without a value are skipped, including their start; starts are compared if both rows have one. A negative value
//! and a start before the previous one are errors. NaN is greatest, as everywhere.
//!
//! Cost: O(1) amortised per row; the naive strategy walks back from each row. A carry is the last value and its start.

use std::ops::Range;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int64Type};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp, Int64Array, PrimitiveArray, RecordBatch};
use arrow_buffer::i256;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;

use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluator, FRAMES_PER_BLOCK};
use crate::evaluate::positional::index::{MaskIndex, MaskWalk};
use crate::functions::aggregate::min_max::TotalOrd;
use crate::functions::native::{to_primitive, with_type};
use crate::functions::saved_state::{saved_column, saved_row};
use crate::model::carry::Carry;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::util::cancel::Cancel;
use crate::util::run_index::RunIndex;

/// The types of counters.
pub(crate) trait CounterValue: TotalOrd + ArrowNativeTypeOp {}
impl CounterValue for i32 {}
impl CounterValue for i64 {}
impl CounterValue for u64 {}
impl CounterValue for f64 {}
impl CounterValue for i128 {}
impl CounterValue for i256 {}

/// `counter_diff` over a column of natives.
#[derive(Debug)]
pub(crate) struct CounterDiff<T: ArrowPrimitiveType> {
    values: PrimitiveArray<T>,
    output: DataType,
    /// The time of the counter's last reset, and its type.
    starts: Option<(Int64Array, DataType)>,
    included: MaskIndex,
    partitions: RunIndex,
    naive: bool,
}

/// A reading of the counter.
#[derive(Debug, Clone, Copy)]
struct CounterReading<N> {
    value: N,
    start: Option<i64>,
}

impl<T: ArrowPrimitiveType<Native: CounterValue>> CounterDiff<T> {
    /// The differences of `column`, a counter that was started at the times `starts`.
    ///
    /// # Errors
    /// `T` does not fit the column's values; starts that are not timestamps.
    pub(crate) fn new(
        section: &Section,
        column: &ArrayRef,
        starts: Option<&ArrayRef>,
        inclusion: RowMask,
        naive: bool,
    ) -> Result<Self> {
        let starts =
            starts.map(|starts| Ok::<_, Error>((to_primitive::<Int64Type>(starts)?, starts.data_type().clone())));
        Ok(Self {
            values: to_primitive::<T>(column)?,
            output: column.data_type().clone(),
            starts: starts.transpose()?,
            included: MaskIndex::new(inclusion),
            partitions: RunIndex::new(&section.partitions),
            naive,
        })
    }

    fn reading(&self, row: usize) -> CounterReading<T::Native> {
        let start = self.starts.as_ref().filter(|(starts, _)| starts.is_valid(row));
        CounterReading { value: self.values.value(row), start: start.map(|(starts, _)| starts.value(row)) }
    }

    /// The increase from one reading to the next.
    fn difference(
        &self,
        old: Option<CounterReading<T::Native>>,
        new: CounterReading<T::Native>,
    ) -> Result<Option<T::Native>> {
        if new.value.before(T::Native::ZERO) {
            return Err(Error::data(format!(
                "the counter is {}, and counters are never negative; use lag for the difference of other numbers",
                Self::shown(&PrimitiveArray::<T>::from_value(new.value, 1), &self.output)?
            )));
        }
        let Some(old) = old else { return Ok(None) };
        if let (Some(before), Some(after)) = (old.start, new.start) {
            if after < before {
                let shown = |start: i64| match &self.starts {
                    Some((_, data_type)) => Self::shown(&Int64Array::from(vec![start]), data_type),
                    None => Ok(start.to_string()),
                };
                return Err(Error::data(format!(
                    "the start of the counter goes back from {} to {}; order the rows so that it does not",
                    shown(before)?,
                    shown(after)?
                )));
            }
            if after > before {
                return Ok(None);
            }
        }
        Ok((!new.value.before(old.value)).then(|| new.value.sub_wrapping(old.value)))
    }

    /// The only value of `array` as a string.
    fn shown(array: &dyn Array, data_type: &DataType) -> Result<String> {
        let array = with_type(array, data_type)?;
        Ok(ArrayFormatter::try_new(&array, &FormatOptions::default())?.value(0).to_string())
    }

    /// The reading in a carry.
    fn load(state: &RecordBatch) -> Result<Option<CounterReading<T::Native>>> {
        let value = to_primitive::<T>(saved_column(state, "value")?)?;
        let start = saved_column(state, "start")?;
        let start = start.as_primitive_opt::<Int64Type>().filter(|start| start.is_valid(0));
        Ok(value
            .is_valid(0)
            .then(|| CounterReading { value: value.value(0), start: start.map(|start| start.value(0)) }))
    }
}

impl<T: ArrowPrimitiveType<Native: CounterValue>> Evaluator for CounterDiff<T> {
    fn evaluate(&self, _: &Frames, rows: Range<usize>, carry: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let carried = carry.state.as_ref().map(Self::load).transpose()?.flatten();
        let mut walk = MaskWalk::new(&self.included);
        let mut out = PrimitiveBuilder::<T>::with_capacity(rows.len());
        let mut block = rows.start..rows.start;
        while block.end < rows.end {
            cancel.check()?;
            block = block.end..rows.end.min(block.end + FRAMES_PER_BLOCK);
            self.partitions.try_for_each_run(block.clone(), |run, rows| {
                let (begin, carried) = if run.start == 0 { (carry.base, carried) } else { (run.start, None) };
                let mut last = walk.last(begin..rows.start);
                for row in rows {
                    if !self.included.includes(row) {
                        out.append_null();
                        continue;
                    }
                    if self.naive {
                        last = (begin..row).rev().find(|&row| self.included.includes(row));
                    }
                    let old = last.map(|row| self.reading(row)).or(carried);
                    out.append_option(self.difference(old, self.reading(row))?);
                    last = Some(row);
                }
                Ok(())
            })?;
        }
        with_type(&out.finish(), &self.output)
    }

    fn save_state(&self, state: Option<&RecordBatch>, rows: Range<usize>) -> Result<RecordBatch> {
        let reading = match (MaskWalk::new(&self.included).last(rows), state) {
            (Some(row), _) => Some(self.reading(row)),
            (None, Some(state)) => Self::load(state)?,
            (None, None) => None,
        };
        let value: PrimitiveArray<T> = std::iter::once(reading.map(|reading| reading.value)).collect();
        let start: Int64Array = std::iter::once(reading.and_then(|reading| reading.start)).collect();
        saved_row([("value", with_type(&value, &self.output)?), ("start", std::sync::Arc::new(start))])
    }

    fn merge_states(&self, left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
        Ok(if Self::load(right)?.is_some() { right } else { left }.clone())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::types::{Float64Type, Int32Type};
    use arrow_array::{Float64Array, Int32Array, TimestampMicrosecondArray};

    use super::*;
    use crate::bounds::resolve::FramePlan;
    use crate::spec::frame::Frame;
    use crate::util::boundaries::Boundaries;

    /// The differences by both strategies, and with a carry at each boundary.
    fn differences<T: ArrowPrimitiveType<Native: CounterValue>>(
        column: &ArrayRef,
        starts: Option<&ArrayRef>,
    ) -> Result<Vec<Option<T::Native>>> {
        let rows = column.len();
        let inclusion = RowMask::new(std::slice::from_ref(column), None);
        let edges = Boundaries::single(rows);
        let section = Section::whole(edges.clone(), edges, vec![])?;
        let plan = FramePlan::resolve(Some(&Frame::entire()), &[], &|name| Err(Error::spec(name)), "UTC")?;
        let frames = Frames::new(&plan, &section, 0)?;
        let counter = |naive| CounterDiff::<T>::new(&section, column, starts, inclusion.clone(), naive).unwrap();
        let values = |array: ArrayRef| array.as_primitive::<T>().iter().collect::<Vec<_>>();
        let (fast, cancel) = (counter(false), Cancel::default());
        let whole = values(fast.evaluate(&frames, 0..rows, &Carry::default(), &cancel)?);
        let naive = values(counter(true).evaluate(&frames, 0..rows, &Carry::default(), &cancel)?);
        assert_eq!(format!("{whole:?}"), format!("{naive:?}"));
        for edge in 0..rows {
            let state = fast.save_state(Some(&fast.save_state(None, 0..edge / 2)?), edge / 2..edge)?;
            let carry = Carry { base: edge, state: Some(state), after: None };
            let rest = values(fast.evaluate(&frames, edge..rows, &carry, &cancel)?);
            assert_eq!(format!("{rest:?}"), format!("{:?}", &whole[edge..]));
        }
        Ok(whole)
    }

    fn ints(values: &[Option<i32>]) -> ArrayRef {
        Arc::new(Int32Array::from(values.to_vec()))
    }

    // Expected by Spark 4.3.
    #[test]
    fn counter_diff_matches_spark() {
        let column = ints(&[Some(100), Some(200), Some(50), Some(50), None, Some(70)]);
        let found = differences::<Int32Type>(&column, None).unwrap();
        assert_eq!(found, [None, Some(100), None, Some(0), None, Some(20)]);
        let column = [Some(100), Some(200), Some(50), Some(60), None, Some(70), Some(80), Some(90), Some(95)];
        let starts = [Some(1), Some(1), Some(2), Some(3), Some(3), Some(3), None, Some(3), Some(3)];
        let starts: ArrayRef = Arc::new(TimestampMicrosecondArray::from(starts.to_vec()));
        let found = differences::<Int32Type>(&ints(&column), Some(&starts)).unwrap();
        assert_eq!(found, [None, Some(100), None, None, None, Some(10), Some(10), Some(10), Some(5)]);
        let nan = f64::NAN;
        let column: ArrayRef =
            Arc::new(Float64Array::from(vec![1.5, nan, 2.0, 3.0, f64::INFINITY, f64::INFINITY, -0.0]));
        let found = differences::<Float64Type>(&column, None).unwrap();
        let expected = [None, Some(nan), None, Some(1.0), Some(f64::INFINITY), Some(nan), None];
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }

    #[test]
    fn invalid_counters_are_refused() {
        let error = differences::<Int32Type>(&ints(&[Some(5), Some(-5)]), None).unwrap_err();
        assert!(error.message().contains("the counter is -5"), "{error}");
        let starts: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(1_000_000), None, Some(0)]));
        let error = differences::<Int32Type>(&ints(&[Some(5), None, Some(6)]), Some(&starts)).unwrap_err();
        let message = "goes back from 1970-01-01T00:00:01 to 1970-01-01T00:00:00";
        assert!(error.message().contains(message), "{error}");
        // A row without a start is not compared.
        assert!(differences::<Int32Type>(&ints(&[Some(5), Some(6), Some(6)]), Some(&starts)).is_ok());
    }
}
