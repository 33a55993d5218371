//! The order of key values (Spark's), which every comparison of keys in this crate uses.
//!
//! A fixed-width value is mapped to a code: an integer with the same order and equality. -0.0 has the code of 0.0, and
//! all NaNs have one code, after that of infinity. In nested columns floats are replaced by such normal forms
//! ([`normalise`]) and compared element by element.
//!
//! Cost: a code takes a few instructions; [`normalise`] copies floats within nested columns and decodes dictionaries,
//! and costs nothing for other columns.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, OffsetSizeTrait, StructArray,
};
use arrow_buffer::{ArrowNativeType, IntervalDayTime, IntervalMonthDayNano, NullBuffer, ScalarBuffer, i256};
use arrow_ord::ord::make_comparator;
use arrow_schema::{DataType, FieldRef, Fields, SortOptions};

use crate::error::{Error, Result};
use crate::util::data_types::{children, decode};
use crate::util::reserve;

/// A fixed-width value with a code that has the same order and equality as the value.
pub(crate) trait Coded: ArrowNativeType {
    /// The type of the code.
    type Code: Copy + Ord + Send + Sync + 'static;

    /// This value's code.
    fn code(self) -> Self::Code;
}

macro_rules! coded_as_itself {
    ($($type:ty),*) => {$(
        impl Coded for $type {
            type Code = Self;

            #[inline]
            fn code(self) -> Self {
                self
            }
        }
    )*};
}
coded_as_itself!(i8, i16, i32, i64, u8, u16, u32, u64, i128, i256);

macro_rules! coded_float {
    ($($type:ty, $signed:ty, $infinity:expr);*) => {$(
        impl Coded for $type {
            type Code = $signed;

            /// Converts the bits from sign and magnitude to two's complement.
            #[inline]
            fn code(self) -> $signed {
                const INFINITY: $signed = $infinity;
                let bits = self.to_bits() as $signed;
                let magnitude = bits & <$signed>::MAX;
                if magnitude > INFINITY {
                    // All NaNs are equal. The code directly after infinity keeps the range of codes small.
                    INFINITY + 1
                } else if bits < 0 {
                    // -0.0 becomes 0.
                    -magnitude
                } else {
                    magnitude
                }
            }
        }

        impl FromCode for $type {
            #[inline]
            fn from_code(code: $signed) -> Self {
                let bits = if code < 0 { <$signed>::MIN - code } else { code };
                Self::from_bits(bits.cast_unsigned())
            }
        }
    )*};
}

/// A float that can be computed from its code.
pub(crate) trait FromCode: Coded {
    /// The float with this code: the positive zero, or a NaN for the common code of NaNs.
    fn from_code(code: Self::Code) -> Self;
}

coded_float!(f32, i32, 0x7F80_0000; f64, i64, 0x7FF0_0000_0000_0000);

impl Coded for IntervalDayTime {
    type Code = i64;

    #[inline]
    fn code(self) -> i64 {
        (i64::from(self.days) << 32) | i64::from(self.milliseconds.wrapping_sub(i32::MIN) as u32)
    }
}

impl Coded for IntervalMonthDayNano {
    type Code = i128;

    #[inline]
    fn code(self) -> i128 {
        let days = self.days.wrapping_sub(i32::MIN) as u32;
        let nanoseconds = self.nanoseconds.wrapping_sub(i64::MIN) as u64;
        (i128::from(self.months) << 96) | (i128::from(days) << 64) | i128::from(nanoseconds)
    }
}

/// The column with its floats in normal form (no -0.0, one NaN) at every depth, dictionaries and run-end-encoded
/// columns decoded, and half floats as floats.
///
/// # Errors
/// Maps and unions have no order.
pub(crate) fn normalise(column: &ArrayRef) -> Result<ArrayRef> {
    if !is_normal(column.data_type()) {
        reserve::probe_rows(column, column.len())?;
    }
    Ok(match column.data_type() {
        // Float32 represents every half float exactly.
        DataType::Float16 => normalise(&arrow_cast::cast(column, &DataType::Float32)?)?,
        DataType::Float32 => floats::<Float32Type>(column, |x| if x.is_nan() { f32::NAN } else { x + 0.0 }),
        DataType::Float64 => floats::<Float64Type>(column, |x| if x.is_nan() { f64::NAN } else { x + 0.0 }),
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => normalise(&decode(column)?)?,
        DataType::Struct(fields) if !fields.iter().all(|field| is_normal(field.data_type())) => {
            let column = column.as_struct();
            let children = column.columns().iter().map(normalise).collect::<Result<Vec<_>>>()?;
            let fields: Fields =
                fields.iter().zip(&children).map(|(field, child)| field_like(field, child)).collect::<Vec<_>>().into();
            Arc::new(StructArray::try_new(fields, children, column.nulls().cloned())?)
        }
        DataType::List(field) if !is_normal(field.data_type()) => list(field, column.as_list::<i32>())?,
        DataType::LargeList(field) if !is_normal(field.data_type()) => list(field, column.as_list::<i64>())?,
        DataType::ListView(field) if !is_normal(field.data_type()) => list_view(field, column.as_list_view::<i32>())?,
        DataType::LargeListView(field) if !is_normal(field.data_type()) => {
            list_view(field, column.as_list_view::<i64>())?
        }
        DataType::FixedSizeList(field, size) if !is_normal(field.data_type()) => {
            let column = column.as_fixed_size_list();
            let values = normalise(column.values())?;
            let field = field_like(field, &values);
            Arc::new(FixedSizeListArray::try_new_with_length(
                field,
                *size,
                values,
                column.nulls().cloned(),
                column.len(),
            )?)
        }
        DataType::Map(..) | DataType::Union(..) => {
            return Err(Error::spec(format!(
                "a column of type {} cannot be partitioned or ordered by; use a field or an element of it",
                column.data_type()
            )));
        }
        _ => Arc::clone(column),
    })
}

/// Whether values of this type have an order and are their own normal form.
fn is_normal(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float16
        | DataType::Float32
        | DataType::Float64
        | DataType::Dictionary(..)
        | DataType::RunEndEncoded(..)
        | DataType::Map(..)
        | DataType::Union(..) => false,
        _ => children(data_type).into_iter().all(is_normal),
    }
}

fn floats<T: ArrowPrimitiveType>(column: &ArrayRef, normal: impl Fn(T::Native) -> T::Native) -> ArrayRef {
    Arc::new(column.as_primitive::<T>().unary::<_, T>(normal))
}

fn field_like(field: &FieldRef, values: &ArrayRef) -> FieldRef {
    // The values of a decoded dictionary may be null where its keys were not.
    Arc::new(field.as_ref().clone().with_data_type(values.data_type().clone()).with_nullable(true))
}

fn list<O: OffsetSizeTrait>(field: &FieldRef, column: &GenericListArray<O>) -> Result<ArrayRef> {
    let values = normalise(column.values())?;
    let field = field_like(field, &values);
    Ok(Arc::new(GenericListArray::try_new(field, column.offsets().clone(), values, column.nulls().cloned())?))
}

fn list_view<O: OffsetSizeTrait>(field: &FieldRef, column: &GenericListViewArray<O>) -> Result<ArrayRef> {
    let values = normalise(column.values())?;
    let field = field_like(field, &values);
    let (offsets, sizes) = (column.offsets().clone(), column.sizes().clone());
    Ok(Arc::new(GenericListViewArray::try_new(field, offsets, sizes, values, column.nulls().cloned())?))
}

/// The values of a fixed-width column as their native type `T`.
pub(crate) fn scalars<T: ArrowNativeType>(column: &ArrayRef) -> ScalarBuffer<T> {
    let data = column.to_data();
    ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
}

/// Matches a type whose values have codes, and expands `$each!(native type)` for it.
macro_rules! match_coded {
    ($data_type:expr, $each:ident, $($otherwise:tt)*) => {{
        use arrow_schema::{DataType, IntervalUnit};
        match $data_type {
            DataType::Int8 => $each!(i8),
            DataType::Int16 => $each!(i16),
            DataType::Int32
            | DataType::Date32
            | DataType::Time32(_)
            | DataType::Interval(IntervalUnit::YearMonth)
            | DataType::Decimal32(..) => $each!(i32),
            DataType::Int64
            | DataType::Date64
            | DataType::Time64(_)
            | DataType::Timestamp(..)
            | DataType::Duration(_)
            | DataType::Decimal64(..) => $each!(i64),
            DataType::UInt8 => $each!(u8),
            DataType::UInt16 => $each!(u16),
            DataType::UInt32 => $each!(u32),
            DataType::UInt64 => $each!(u64),
            DataType::Float32 => $each!(f32),
            DataType::Float64 => $each!(f64),
            DataType::Decimal128(..) => $each!(i128),
            DataType::Decimal256(..) => $each!(arrow_buffer::i256),
            DataType::Interval(IntervalUnit::DayTime) => $each!(arrow_buffer::IntervalDayTime),
            DataType::Interval(IntervalUnit::MonthDayNano) => $each!(arrow_buffer::IntervalMonthDayNano),
            $($otherwise)*
        }
    }};
}
pub(crate) use match_coded;

/// The column's nulls; `None` if it has none.
pub(crate) fn nulls(column: &ArrayRef) -> Option<NullBuffer> {
    column.logical_nulls().filter(|nulls| nulls.null_count() > 0)
}

/// Compares two rows.
pub(crate) type Comparator = Box<dyn Fn(usize, usize) -> Ordering + Send + Sync>;

/// Compares rows of two normalised columns, which may be the same. Top-level nulls are placed by `options`; nested
/// nulls are smallest.
///
/// # Errors
/// A type without an order.
pub(crate) fn comparator(left: &ArrayRef, right: &ArrayRef, options: SortOptions) -> Result<Comparator> {
    let SortOptions { descending, nulls_first } = options;
    // Ascending with nulls first makes nested nulls smallest; direction and top-level nulls are applied on top.
    let ascending = SortOptions::default();
    let values = make_comparator(left.as_ref(), right.as_ref(), ascending)?;
    let values: Comparator =
        if descending { Box::new(move |left, right| values(left, right).reverse()) } else { values };
    let (left, right) = (nulls(left), nulls(right));
    if nulls_first != descending || (left.is_none() && right.is_none()) {
        return Ok(values);
    }
    let null_left = if nulls_first { Ordering::Less } else { Ordering::Greater };
    let null = |nulls: Option<NullBuffer>| move |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
    let (null_at_left, null_at_right) = (null(left), null(right));
    Ok(Box::new(move |left, right| match (null_at_left(left), null_at_right(right)) {
        (true, true) => Ordering::Equal,
        (true, false) => null_left,
        (false, true) => null_left.reverse(),
        (false, false) => values(left, right),
    }))
}
