//! min, max: the least and the greatest value of the frame; of equal values the first met is kept.
//!
//! | column | compared as | state |
//! |---|---|---|
//! | numbers, dates, times, decimals ... | natives | the value |
//! | text, bytes, booleans, nested ... | arrow-row bytes | the row's number, or carried bytes |
//!
//! NaN is greatest and -0.0 equals 0.0, as in Spark. Results have the column's exact type: values are labelled back
//! or gathered, dictionaries stay dictionaries.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_buffer::{ArrowNativeType, ScalarBuffer, i256};
use arrow_row::{OwnedRow, RowConverter, Rows, SortField};
use arrow_schema::DataType;
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::native::{labelled, native, saved, saved_column};
use crate::aggregate::{Aggregate, Selective};
use crate::error::{Error, Result};
use crate::inclusion::Inclusion;
use crate::rows::normalise;

/// Which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extremum {
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// Values in Spark's order.
pub trait Ordered: ArrowNativeType {
    /// Whether `self` comes before `other`.
    fn before(self, other: Self) -> bool;
}

macro_rules! ordered {
    ($($native:ty),*) => {$(
        impl Ordered for $native {
            #[inline]
            fn before(self, other: Self) -> bool {
                self < other
            }
        }
    )*};
}
ordered!(i32, i64, u64, i128, i256);

impl Ordered for f64 {
    #[inline]
    fn before(self, other: Self) -> bool {
        // Every number comes before NaN; two NaNs are equal.
        self < other || (other.is_nan() && !self.is_nan())
    }
}

/// The extremum of a column of natives.
#[derive(Debug, Clone)]
pub struct Natives<T: ArrowPrimitiveType> {
    values: ScalarBuffer<T::Native>,
    inclusion: Inclusion,
    which: Extremum,
    output: DataType,
}

impl<T: ArrowPrimitiveType<Native: Ordered>> Natives<T> {
    /// The extremum of `column`, whose values `T` holds in their order.
    ///
    /// # Errors
    /// The column's values are not `T`'s.
    pub fn new(column: &dyn Array, inclusion: Inclusion, which: Extremum) -> Result<Self> {
        let values = native::<T>(column)?.values().clone();
        Ok(Self { values, inclusion, which, output: column.data_type().clone() })
    }

    /// Whether `new` takes the place of `old`.
    #[inline]
    fn beats(&self, new: T::Native, old: T::Native) -> bool {
        match self.which {
            Extremum::Min => new.before(old),
            Extremum::Max => old.before(new),
        }
    }
}

impl<T: ArrowPrimitiveType<Native: Ordered>> Aggregate for Natives<T> {
    type State = Option<T::Native>;
    type Builder = PrimitiveBuilder<T>;

    fn init(&self) -> Self::State {
        None
    }

    #[inline]
    fn update(&self, state: &mut Self::State, rows: Range<usize>) -> Result<()> {
        if let Inclusion::All = self.inclusion {
            // With the first value in hand and the direction chosen outside, the loop is a plain reduction.
            if let Some((&first, rest)) = self.values[rows].split_first() {
                let first = state.filter(|&old| !self.beats(first, old)).unwrap_or(first);
                *state = Some(match self.which {
                    Extremum::Min => rest.iter().fold(first, |old, &new| if new.before(old) { new } else { old }),
                    Extremum::Max => rest.iter().fold(first, |old, &new| if old.before(new) { new } else { old }),
                });
            }
        } else {
            let mut best = *state;
            self.inclusion.each(rows, |row| {
                let value = self.values[row];
                if best.is_none_or(|old| self.beats(value, old)) {
                    best = Some(value);
                }
            });
            *state = best;
        }
        Ok(())
    }

    #[inline]
    fn merge(&self, left: &mut Self::State, right: &Self::State) -> Result<()> {
        if let Some(value) = *right
            && left.is_none_or(|old| self.beats(value, old))
        {
            *left = Some(value);
        }
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Self::Builder {
        PrimitiveBuilder::with_capacity(capacity)
    }

    #[inline]
    fn evaluate(&self, state: &Self::State, out: &mut Self::Builder) -> Result<()> {
        out.append_option(*state);
        Ok(())
    }

    fn finish(&self, mut out: Self::Builder) -> Result<ArrayRef> {
        labelled(&out.finish(), &self.output)
    }

    fn save(&self, state: &Self::State) -> Result<RecordBatch> {
        let mut value = self.builder(1);
        value.append_option(*state);
        saved([("value", self.finish(value)?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Self::State> {
        let value = native::<T>(saved_column(saved, "value")?)?;
        Ok(value.is_valid(0).then(|| value.value(0)))
    }
}

impl<T: ArrowPrimitiveType<Native: Ordered>> Selective for Natives<T> {
    #[inline]
    fn includes(&self, row: usize) -> bool {
        self.inclusion.includes(row)
    }

    #[inline]
    fn keeps(&self, old: usize, new: usize) -> bool {
        !self.beats(self.values[new], self.values[old])
    }
}

/// The extremum of a column whose values are compared as bytes.
#[derive(Debug)]
pub struct Bytes {
    /// The values to choose from.
    column: ArrayRef,
    output: DataType,
    converter: RowConverter,
    rows: Rows,
    inclusion: Inclusion,
    which: Extremum,
}

/// A row chosen: one of the section's, or one carried over.
#[derive(Debug, Clone)]
pub enum Chosen {
    /// No row has taken part.
    None,
    /// The section's row of this number.
    Row(u32),
    /// A value from before the section, and its bytes.
    Carried(Arc<(ArrayRef, OwnedRow)>),
}

impl Bytes {
    /// The extremum of `column`, of any type that has an order.
    ///
    /// # Errors
    /// The type has no order.
    pub fn new(column: &ArrayRef, inclusion: Inclusion, which: Extremum) -> Result<Self> {
        let plain = normalise(column)?;
        let converter = RowConverter::new(vec![SortField::new(plain.data_type().clone())])?;
        let rows = converter.convert_columns(&[plain])?;
        let output = column.data_type().clone();
        Ok(Self { column: without_runs(column)?, output, converter, rows, inclusion, which })
    }

    fn bytes<'a>(&'a self, chosen: &'a Chosen) -> Option<&'a [u8]> {
        match chosen {
            Chosen::None => None,
            Chosen::Row(row) => Some(self.rows.row(*row as usize).data()),
            Chosen::Carried(carried) => Some(carried.1.as_ref()),
        }
    }

    fn beats(&self, new: &[u8], old: &[u8]) -> bool {
        new.cmp(old) == if self.which == Extremum::Min { Ordering::Less } else { Ordering::Greater }
    }
}

/// The column with each value in its own row: from runs, `take` gives no NULL where none is chosen.
fn without_runs(column: &ArrayRef) -> Result<ArrayRef> {
    match column.data_type() {
        DataType::RunEndEncoded(_, values) => labelled(column, values.data_type()),
        _ => Ok(column.clone()),
    }
}

impl Aggregate for Bytes {
    type State = Chosen;
    type Builder = Vec<Chosen>;

    fn init(&self) -> Chosen {
        Chosen::None
    }

    fn update(&self, state: &mut Chosen, rows: Range<usize>) -> Result<()> {
        let mut best = self.bytes(state);
        let mut chosen = None;
        self.inclusion.each(rows, |row| {
            let bytes = self.rows.row(row).data();
            if best.is_none_or(|old| self.beats(bytes, old)) {
                (best, chosen) = (Some(bytes), Some(row));
            }
        });
        if let Some(row) = chosen {
            *state = Chosen::Row(row as u32);
        }
        Ok(())
    }

    fn merge(&self, left: &mut Chosen, right: &Chosen) -> Result<()> {
        if let Some(new) = self.bytes(right)
            && self.bytes(left).is_none_or(|old| self.beats(new, old))
        {
            *left = right.clone();
        }
        Ok(())
    }

    fn builder(&self, capacity: usize) -> Vec<Chosen> {
        Vec::with_capacity(capacity)
    }

    fn evaluate(&self, state: &Chosen, out: &mut Vec<Chosen>) -> Result<()> {
        out.push(state.clone());
        Ok(())
    }

    fn finish(&self, out: Vec<Chosen>) -> Result<ArrayRef> {
        // At most one value is carried into a section, so it stands behind the section's rows.
        let carried = out.iter().find_map(|chosen| match chosen {
            Chosen::Carried(carried) => Some(&carried.0),
            _ => None,
        });
        let rows = out.iter().map(|chosen| match chosen {
            Chosen::None => None,
            Chosen::Row(row) => Some(*row),
            Chosen::Carried(_) => Some(self.column.len() as u32),
        });
        let rows: UInt32Array = rows.collect();
        let values = match carried {
            Some(value) => take(&concat(&[self.column.as_ref(), value.as_ref()])?, &rows, None)?,
            None => take(&self.column, &rows, None)?,
        };
        labelled(&values, &self.output)
    }

    fn save(&self, state: &Chosen) -> Result<RecordBatch> {
        saved([("value", self.finish(vec![state.clone()])?)])
    }

    fn load(&self, saved: &RecordBatch) -> Result<Chosen> {
        let value = saved_column(saved, "value")?;
        if value.data_type() != &self.output {
            return Err(Error::internal(format!("a carried {} for {}", value.data_type(), self.output)));
        }
        if value.logical_null_count() > 0 {
            return Ok(Chosen::None);
        }
        let rows = self.converter.convert_columns(&[normalise(value)?])?;
        Ok(Chosen::Carried(Arc::new((without_runs(value)?, rows.row(0).owned()))))
    }
}

impl Selective for Bytes {
    fn includes(&self, row: usize) -> bool {
        self.inclusion.includes(row)
    }

    fn keeps(&self, old: usize, new: usize) -> bool {
        !self.beats(self.rows.row(new).data(), self.rows.row(old).data())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int16Type, Int32Type};
    use arrow_array::{DictionaryArray, Float64Array, Int32Array, RunArray, StringArray};

    use super::*;
    use crate::functions::readout::results;

    /// Minimum and maximum of all of `values`.
    fn ends(values: Vec<f64>) -> [f64; 2] {
        let column = Float64Array::from(values);
        [Extremum::Min, Extremum::Max].map(|which| {
            let extremum = Natives::<Float64Type>::new(&column, Inclusion::All, which).unwrap();
            results(&extremum, &[0..column.len()]).unwrap().as_primitive::<Float64Type>().value(0)
        })
    }

    #[test]
    fn nan_is_greatest() {
        assert_eq!(ends(vec![f64::NAN, 1.0])[0], 1.0);
        assert!(ends(vec![1.0, f64::NAN, f64::INFINITY])[1].is_nan());
        assert!(ends(vec![f64::NAN]).iter().all(|end| end.is_nan()));
    }

    #[test]
    fn the_first_zero_is_kept() {
        assert!(ends(vec![-0.0, 0.0]).iter().all(|end| end.is_sign_negative()));
        assert!(ends(vec![0.0, -0.0]).iter().all(|end| end.is_sign_positive()));
    }

    #[test]
    fn encodings_stay() {
        let text = StringArray::from(vec![Some("b"), None, Some("é"), Some("a "), Some("a")]);
        let dictionary: DictionaryArray<Int16Type> = text.iter().collect();
        let runs: RunArray<Int32Type> = RunArray::try_new(&Int32Array::from(vec![1, 2, 3, 4, 5]), &text).unwrap();
        for column in [Arc::new(dictionary) as ArrayRef, Arc::new(runs), Arc::new(text)] {
            let inclusion = Inclusion::new(std::slice::from_ref(&column), None);
            for (which, expected) in [(Extremum::Min, "a"), (Extremum::Max, "é")] {
                let extremum = Bytes::new(&column, inclusion.clone(), which).unwrap();
                let found = results(&extremum, &[0..5, 1..2, 0..0]).unwrap();
                assert_eq!(found.data_type(), column.data_type());
                let found = arrow_cast::cast(&found, &DataType::Utf8).unwrap();
                let found: Vec<_> = found.as_string::<i32>().iter().collect();
                assert_eq!(found, [Some(expected), None, None], "{:?}", column.data_type());
            }
        }
    }
}
