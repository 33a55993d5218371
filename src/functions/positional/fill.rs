//! `fill`: replaces NULLs by linear interpolation over the order key.
//!
//! ```text
//!   key     0   1   2     4   5
//!   x       .   1   .    10   .
//!   fill   -2   1   4    10  13      interpolated, and extrapolated from the two nearest values
//! ```
//!
//! As in DuckDB: a single value fills all rows; of adjacent values with equal keys the earlier one is taken; integers,
//! decimals and timestamps are truncated. Values and keys that are NULL or not finite are not interpolated from, rows
//! whose own key is such stay NULL, and so do results outside the type's range, and gaps longer than a limit
//! (`max_gap.rs`). Between integers by integer keys the interpolation is exact.
//!
//! Cost: two ranks and up to two selects per NULL, 4 bytes per 64 rows; the naive strategy walks from each row. A
//! stream waits for the end of the partition.

use std::ops::Range;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, ScalarBuffer};
use arrow_schema::DataType;

use super::max_gap::MaxGap;
use super::whole_partitions::WholePartitions;
use crate::bounds::distance::KeyDistances;
use crate::bounds::frames::Frames;
use crate::bounds::range_key::{RangeKeys, ordered_keys};
use crate::error::{Error, Result};
use crate::evaluate::evaluator::Evaluator;
use crate::evaluate::positional::index::{MaskIndex, MaskWalk};
use crate::functions::native::{to_primitive, with_type};
use crate::model::carry::Carry;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::util::cancel::Cancel;
use crate::util::civil::{SECONDS_PER_DAY, ticks_per_second};
use crate::util::data_types::decode;

/// The distance of a row from the first of two keys, and of the second from the first.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Position {
    /// For integer keys.
    Whole(i128, i128),
    /// For floating point keys.
    Float(f64, f64),
}

impl Position {
    /// The fraction of the distance.
    fn fraction(self) -> f64 {
        match self {
            Self::Whole(part, whole) => part as f64 / whole as f64,
            Self::Float(part, whole) => part / whole,
        }
    }

    /// Whether both keys are equal.
    fn is_degenerate(self) -> bool {
        matches!(self, Self::Whole(_, 0)) || matches!(self, Self::Float(_, whole) if whole == 0.0)
    }
}

/// Values that can be interpolated.
pub(crate) trait LinearValue: ArrowNativeType {
    /// The value at `place` on the line through `low` and `high`, if it is within the type's range.
    fn between(low: Self, high: Self, place: Position, limits: (i128, i128)) -> Option<Self>;

    /// Whether the value is finite.
    fn is_finite(self) -> bool;
}

impl LinearValue for f64 {
    fn between(low: Self, high: Self, place: Position, _: (i128, i128)) -> Option<Self> {
        let share = place.fraction();
        Some(low * (1.0 - share) + high * share)
    }

    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

/// The integer at `place`, truncated.
fn whole_between(low: i128, high: i128, place: Position) -> Option<i128> {
    let rise = high.checked_sub(low)?;
    let exact = match place {
        Position::Whole(part, whole) => {
            let terms = low.checked_mul(whole).zip(rise.checked_mul(part));
            terms.and_then(|(start, way)| start.checked_add(way)).map(|sum| sum / whole)
        }
        Position::Float(..) => None,
    };
    exact.or_else(|| {
        let way = rise as f64 * place.fraction();
        // Within 128 bits, so that the cast does not saturate.
        let whole = (way.abs() < 1e38).then(|| way.floor() as i128)?;
        let value = low.checked_add(whole)?;
        Some(if value < 0 && way > way.floor() { value + 1 } else { value })
    })
}

macro_rules! linear {
    ($($native:ty),*) => {$(
        impl LinearValue for $native {
            fn between(low: Self, high: Self, place: Position, limits: (i128, i128)) -> Option<Self> {
                let value = whole_between(low.into(), high.into(), place)?;
                (limits.0..=limits.1).contains(&value).then(|| value.try_into().ok()).flatten()
            }

            fn is_finite(self) -> bool {
                true
            }
        }
    )*};
}
linear!(i32, i64, u64, i128);

/// The smallest and the greatest value of a type, in its native type.
fn limits(data_type: &DataType) -> (i128, i128) {
    let digits = |precision: u8| {
        let limit = 10_i128.checked_pow(u32::from(precision)).unwrap_or(i128::MAX) - 1;
        (-limit, limit)
    };
    match data_type {
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::UInt8 => (0, u8::MAX.into()),
        DataType::UInt16 => (0, u16::MAX.into()),
        DataType::UInt32 => (0, u32::MAX.into()),
        DataType::Decimal32(precision, _) | DataType::Decimal64(precision, _) | DataType::Decimal128(precision, _) => {
            digits(*precision)
        }
        DataType::Time32(unit) | DataType::Time64(unit) => {
            (0, i128::from(SECONDS_PER_DAY * ticks_per_second(*unit)) - 1)
        }
        // The limits of the native types.
        _ => (i128::MIN, i128::MAX),
    }
}

/// The order keys as numbers with the same differences.
#[derive(Debug)]
enum Positions {
    Small(ScalarBuffer<i64>),
    Wide(ScalarBuffer<i128>),
    Float(ScalarBuffer<f64>),
}

impl Positions {
    fn new(key: &ArrayRef) -> Result<Self> {
        let key = &decode(key)?;
        if !key.data_type().is_floating() {
            match ordered_keys(key, key.data_type(), false) {
                Some(RangeKeys::Small(keys)) => return Ok(Self::Small(keys)),
                Some(RangeKeys::Wide(keys)) => return Ok(Self::Wide(keys)),
                Some(RangeKeys::Huge(_)) | None => {}
            }
        }
        let doubles = arrow_cast::cast(key, &DataType::Float64)?;
        Ok(Self::Float(doubles.as_primitive::<Float64Type>().values().clone()))
    }

    fn is_finite(&self, row: usize) -> bool {
        !matches!(self, Self::Float(keys) if !keys[row].is_finite())
    }

    /// The position of `row` between `low` and `high`.
    fn place(&self, row: usize, low: usize, high: usize) -> Position {
        let wide = |keys: &dyn Fn(usize) -> i128| {
            let (part, whole) = (keys(row).checked_sub(keys(low)), keys(high).checked_sub(keys(low)));
            match part.zip(whole) {
                Some((part, whole)) => Position::Whole(part, whole),
                None => Position::Float(keys(row) as f64 - keys(low) as f64, keys(high) as f64 - keys(low) as f64),
            }
        };
        match self {
            Self::Small(keys) => wide(&|row| keys[row].into()),
            Self::Wide(keys) => wide(&|row| keys[row]),
            Self::Float(keys) => Position::Float(keys[row] - keys[low], keys[high] - keys[low]),
        }
    }
}

/// `fill` over a column of natives.
#[derive(Debug)]
pub(crate) struct Fill<T: ArrowPrimitiveType> {
    values: PrimitiveArray<T>,
    output: DataType,
    limits: (i128, i128),
    places: Positions,
    /// The rows with a usable key.
    placed: BooleanBuffer,
    /// The rows with a usable value and key.
    anchors: MaskIndex,
    max_gap: Option<MaxGap>,
    partitions: WholePartitions,
    naive: bool,
}

impl<T: ArrowPrimitiveType<Native: LinearValue>> Fill<T> {
    /// The values of `column`, with NULLs interpolated over `key`.
    ///
    /// # Errors
    /// `T` does not fit the column's values, or the key is not numeric.
    pub(crate) fn new(
        section: &Section,
        column: &ArrayRef,
        key: &ArrayRef,
        max_gap: Option<KeyDistances>,
        naive: bool,
    ) -> Result<Self> {
        let values = to_primitive::<T>(column)?;
        let places = Positions::new(key)?;
        let keys = key.logical_nulls();
        let has_key = |row: usize| keys.as_ref().is_none_or(|nulls| nulls.is_valid(row)) && places.is_finite(row);
        let placed = BooleanBuffer::collect_bool(section.rows, has_key);
        let valued = |row: usize| values.is_valid(row) && values.value(row).is_finite();
        let anchors = &placed & &BooleanBuffer::collect_bool(section.rows, valued);
        Ok(Self {
            values,
            output: column.data_type().clone(),
            limits: limits(column.data_type()),
            places,
            max_gap: max_gap.map(|keys| MaxGap::new(keys, placed.clone())),
            placed,
            anchors: MaskIndex::new(RowMask::Mask(anchors)),
            partitions: WholePartitions::new(section),
            naive,
        })
    }

    /// The two rows between or beyond which `row` is interpolated; the same row twice if there is only one.
    fn neighbours(&self, run: &Range<usize>, row: usize, walk: &mut MaskWalk) -> Option<(usize, usize)> {
        if self.naive {
            let (before, after) = (run.start..row, row + 1..run.end);
            let anchors = |rows: Range<usize>| rows.filter(|&row| self.anchors.includes(row));
            let (mut left, mut right) = (anchors(before).rev(), anchors(after));
            return match (left.next(), right.next()) {
                (Some(low), Some(high)) => Some((low, high)),
                (None, Some(low)) => Some((low, right.next().unwrap_or(low))),
                (Some(high), None) => Some((left.next().unwrap_or(high), high)),
                (None, None) => None,
            };
        }
        let (first, behind) = (self.anchors.before(run.start), self.anchors.before(run.end));
        let before = self.anchors.before(row);
        if first == behind {
            return None;
        }
        let high = before.max(first + 1).min(behind - 1);
        let low = high.saturating_sub(1).max(first);
        Some((walk.row(low)?, walk.row(high)?))
    }

    /// The value for `row`.
    fn filled(&self, run: &Range<usize>, row: usize, walk: &mut MaskWalk) -> Option<T::Native> {
        if self.max_gap.as_ref().is_some_and(|gap| !gap.is_short(&self.anchors, run, row, self.naive)) {
            return None;
        }
        let (low, high) = self.neighbours(run, row, walk).filter(|_| self.placed.value(row))?;
        let place = self.places.place(row, low, high);
        if place.is_degenerate() {
            return Some(self.values.value(low));
        }
        T::Native::between(self.values.value(low), self.values.value(high), place, self.limits)
    }
}

impl<T: ArrowPrimitiveType<Native: LinearValue>> Evaluator for Fill<T> {
    fn evaluate(&self, _: &Frames, rows: Range<usize>, _: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        if self.values.null_count() == 0 {
            return with_type(&self.values.slice(rows.start, rows.len()), &self.output);
        }
        let mut walk = MaskWalk::new(&self.anchors);
        let mut out = PrimitiveBuilder::<T>::with_capacity(rows.len());
        self.partitions.visit(rows, cancel, |run, rows| {
            for row in rows {
                out.append_option(if self.values.is_valid(row) {
                    Some(self.values.value(row))
                } else {
                    self.filled(&run, row, &mut walk)
                });
            }
        })?;
        with_type(&out.finish(), &self.output)
    }

    fn save_state(&self, _: Option<&RecordBatch>, _: Range<usize>) -> Result<RecordBatch> {
        Err(Error::internal("fill reads whole partitions, and leaves no carry"))
    }

    fn first_unsettled(&self, _: &Frames) -> usize {
        self.partitions.first_unsettled()
    }

    fn first_needed(&self, _: &Frames, answered: usize) -> usize {
        self.partitions.first_needed(answered)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::types::{Date32Type, Int32Type, Int64Type, UInt8Type};
    use arrow_array::{Float64Array, Int32Array, Int64Array, UInt8Array};

    use super::*;
    use crate::bounds::resolve::FramePlan;
    use crate::spec::frame::Frame;
    use crate::util::boundaries::Boundaries;

    /// `fill` by both strategies.
    fn filled<T: ArrowPrimitiveType<Native: LinearValue>>(column: &ArrayRef, key: &ArrayRef) -> ArrayRef {
        let boundaries = Boundaries::single(column.len());
        let section = Section::whole(boundaries.clone(), boundaries, vec![]).unwrap();
        let plan = FramePlan::resolve(Some(&Frame::entire()), &[], &|name| Err(Error::spec(name)), "UTC").unwrap();
        let frames = Frames::new(&plan, &section, 0).unwrap();
        let [fast, naive] = [false, true].map(|naive| {
            let fill = Fill::<T>::new(&section, column, key, None, naive).unwrap();
            fill.evaluate(&frames, 0..column.len(), &Carry::default(), &Cancel::default()).unwrap()
        });
        assert_eq!(&fast, &naive);
        fast
    }

    fn ints(values: &[Option<i32>]) -> ArrayRef {
        Arc::new(Int32Array::from(values.to_vec()))
    }

    fn floats(values: &[Option<f64>]) -> ArrayRef {
        Arc::new(Float64Array::from(values.to_vec()))
    }

    #[test]
    fn fill_matches_duckdb() {
        let up = || ints(&[Some(0), Some(1), Some(2), Some(3), Some(4)]);
        let whole = |values: &[Option<i32>], key: &ArrayRef| -> Vec<_> {
            filled::<Int32Type>(&ints(values), key).as_primitive::<Int32Type>().iter().collect()
        };
        let some = |values: [i32; 5]| values.map(Some).to_vec();
        assert_eq!(whole(&[Some(3), None, None, None, Some(4)], &up()), some([3, 3, 3, 3, 4]));
        assert_eq!(whole(&[Some(4), None, None, None, Some(3)], &up()), some([4, 3, 3, 3, 3]));
        assert_eq!(whole(&[Some(-1), None, Some(-2), None, None], &up()), some([-1, -1, -2, -2, -3]));
        assert_eq!(whole(&[None, Some(7), None, None, None], &up()), some([7; 5]));
        assert_eq!(whole(&[None; 5], &up()), [None; 5]);
        // Equal keys, and NULL keys.
        let ties = ints(&[Some(1), Some(3), Some(3), Some(3), Some(4)]);
        assert_eq!(whole(&[Some(1), Some(4), None, None, Some(7)], &ties), some([1, 4, 4, 4, 7]));
        let nulls = ints(&[None, Some(1), Some(2), Some(3), None]);
        let found = whole(&[Some(1), None, Some(20), Some(30), None], &nulls);
        assert_eq!(found, [Some(1), Some(10), Some(20), Some(30), None]);
    }

    #[test]
    fn non_finite_values_are_skipped_as_neighbours() {
        let near = |values: &[Option<f64>], keys: &[Option<f64>]| -> Vec<_> {
            filled::<Float64Type>(&floats(values), &floats(keys)).as_primitive::<Float64Type>().iter().collect()
        };
        let keys = [0.0, 1.0, 2.0, 3.0, 4.0].map(Some);
        for value in [f64::INFINITY, f64::NEG_INFINITY] {
            let found = near(&[Some(1.0), None, Some(value), None, Some(3.0)], &keys);
            assert_eq!(found, [Some(1.0), Some(1.5), Some(value), Some(2.5), Some(3.0)]);
        }
        let keys = [Some(0.0), Some(1.0), Some(2.0), Some(f64::INFINITY), Some(f64::INFINITY)];
        let found = near(&[Some(1.0), None, Some(5.0), None, Some(3.0)], &keys);
        assert_eq!(found, [Some(1.0), Some(3.0), Some(5.0), None, Some(3.0)]);
    }

    #[test]
    fn interpolation_beyond_the_type_is_null() {
        let key = ints(&[Some(0), Some(1), Some(2)]);
        let bytes: ArrayRef = Arc::new(UInt8Array::from(vec![Some(250), Some(255), None]));
        let found = filled::<Int32Type>(&bytes, &key);
        assert_eq!(found.as_primitive::<UInt8Type>().iter().collect::<Vec<_>>(), [Some(250), Some(255), None]);
        let large: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), Some(i64::MAX), None]));
        assert!(filled::<Int64Type>(&large, &key).is_null(2));
    }

    #[test]
    fn whole_numbers_are_exact() {
        let large: ArrayRef = Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX), None]));
        let key: ArrayRef = Arc::new(Int64Array::from(vec![0, 1, 3, 2]));
        let found = filled::<Int64Type>(&large, &key);
        // A third of the way between two values that are 2^64 - 1 apart.
        assert_eq!(found.as_primitive::<Int64Type>().value(1), i64::MIN + 6_148_914_691_236_517_205);
        let dates = with_type(&ints(&[Some(-3), None, Some(0)]), &DataType::Date32).unwrap();
        let found = filled::<Int32Type>(&dates, &floats(&[Some(0.0), Some(0.5), Some(1.0)]));
        assert_eq!(found.as_primitive::<Date32Type>().value(1), -1);
    }
}
