//! Literals as Arrow arrays.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, IntervalMonthDayNano};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    DurationMicrosecondArray, Float64Array, Int32Array, Int64Array, IntervalMonthDayNanoArray, IntervalYearMonthArray,
    ListArray, StringArray, Time64MicrosecondArray, TimestampMicrosecondArray, new_empty_array, new_null_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_cast::{CastOptions, cast, cast_with_options};
use arrow_schema::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field};
use arrow_select::concat::concat;

use super::literal::Literal;
use super::sql_text::literal_sql;
use crate::error::{Error, Result};
use crate::util::civil::MICROS_PER_DAY;

/// The literal as an array of one row, of its natural type.
///
/// # Errors
/// A decimal or interval that its Arrow type cannot represent.
pub fn to_one_row(literal: &Literal) -> Result<ArrayRef> {
    Ok(match literal {
        Literal::Null => new_null_array(&DataType::Null, 1),
        Literal::Boolean(value) => Arc::new(BooleanArray::from(vec![*value])),
        Literal::Int(value) => Arc::new(Int64Array::from(vec![*value])),
        Literal::Float(value) => Arc::new(Float64Array::from(vec![*value])),
        Literal::Decimal { unscaled, scale } => {
            let digits = unscaled.to_string().trim_start_matches('-').len().max(usize::from(scale.unsigned_abs()));
            let precision = u8::try_from(digits).unwrap_or(u8::MAX).clamp(1, DECIMAL256_MAX_PRECISION);
            match unscaled.to_i128().filter(|_| precision <= DECIMAL128_MAX_PRECISION) {
                Some(value) => {
                    Arc::new(Decimal128Array::from(vec![value]).with_precision_and_scale(precision, *scale)?)
                }
                None => Arc::new(Decimal256Array::from(vec![*unscaled]).with_precision_and_scale(precision, *scale)?),
            }
        }
        Literal::Utf8(value) => Arc::new(StringArray::from(vec![value.as_str()])),
        Literal::Binary(value) => Arc::new(BinaryArray::from(vec![value.as_slice()])),
        Literal::Date(days) => Arc::new(Date32Array::from(vec![*days])),
        Literal::Time(micros) => Arc::new(Time64MicrosecondArray::from(vec![*micros])),
        Literal::Timestamp { micros, zoned } => {
            let array = TimestampMicrosecondArray::from(vec![*micros]);
            Arc::new(if *zoned { array.with_timezone("UTC") } else { array })
        }
        Literal::List(items) => list(literal, items, to_one_row)?,
        Literal::Interval { months, days: 0, micros: 0 } if *months != 0 => {
            Arc::new(IntervalYearMonthArray::from(vec![*months]))
        }
        Literal::Interval { months: 0, days, micros } => {
            let total = i64::from(*days).checked_mul(MICROS_PER_DAY).and_then(|day| day.checked_add(*micros));
            let total = total.ok_or_else(|| Error::spec("the interval is out of range"))?;
            Arc::new(DurationMicrosecondArray::from(vec![total]))
        }
        Literal::Interval { months, days, micros } => {
            let nanos = micros.checked_mul(1000).ok_or_else(|| Error::spec("the interval is out of range"))?;
            Arc::new(IntervalMonthDayNanoArray::from(vec![IntervalMonthDayNano::new(*months, *days, nanos)]))
        }
    })
}

/// A list literal as one row; `read` converts each item.
fn list(literal: &Literal, items: &[Literal], read: impl Fn(&Literal) -> Result<ArrayRef>) -> Result<ArrayRef> {
    let items = items.iter().map(read).collect::<Result<Vec<_>>>()?;
    let wide = items.iter().fold(DataType::Null, |wide, item| wider(&wide, item.data_type()));
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let items = items.iter().map(|item| cast_with_options(item, &wide, &options));
    let items = items.collect::<std::result::Result<Vec<_>, _>>();
    let items = items.map_err(|error| Error::spec(format!("{} mixes types: {error}", literal_sql(literal))))?;
    let values = match items.as_slice() {
        [] => new_empty_array(&wide),
        items => concat(&items.iter().map(AsRef::as_ref).collect::<Vec<_>>())?,
    };
    let field = Arc::new(Field::new("item", wide, true));
    Ok(Arc::new(ListArray::try_new(field, OffsetBuffer::from_lengths([values.len()]), values, None)?))
}

/// The common type of two types, as in Spark: `array(1, 0.5)` has `decimal(11, 1)` items.
fn wider(left: &DataType, right: &DataType) -> DataType {
    if let (Some((left_digits, left_scale)), Some((right_digits, right_scale))) = (digits(left), digits(right))
        && (is_decimal(left) || is_decimal(right))
    {
        let scale = left_scale.max(right_scale);
        let whole =
            (i16::from(left_digits) - i16::from(left_scale)).max(i16::from(right_digits) - i16::from(right_scale));
        let precision = u8::try_from(whole + i16::from(scale)).unwrap_or(u8::MAX).clamp(1, DECIMAL256_MAX_PRECISION);
        return match precision {
            ..=DECIMAL128_MAX_PRECISION => DataType::Decimal128(precision, scale),
            _ => DataType::Decimal256(precision, scale),
        };
    }
    if rank(right) > rank(left) { right.clone() } else { left.clone() }
}

fn is_decimal(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal128(..) | DataType::Decimal256(..))
}

/// The precision and scale of the decimal type that represents all values of an integer or decimal type.
fn digits(data_type: &DataType) -> Option<(u8, i8)> {
    match data_type {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => Some((*precision, *scale)),
        DataType::Int32 => Some((10, 0)),
        DataType::Int64 => Some((20, 0)),
        _ => None,
    }
}

/// If [`digits`] does not decide, the type of higher rank is the common type.
fn rank(data_type: &DataType) -> u8 {
    match data_type {
        DataType::Null => 0,
        DataType::Int32 => 1,
        DataType::Int64 => 2,
        other if is_decimal(other) => 3,
        _ => 4,
    }
}

/// The literal as one row of type `target`.
///
/// # Errors
/// The value cannot be cast to that type.
pub fn to_one_row_as(literal: &Literal, target: &DataType) -> Result<ArrayRef> {
    let natural = to_one_row(literal)?;
    if natural.data_type() == target {
        return Ok(natural);
    }
    if natural.is_null(0) || *natural.data_type() == DataType::Null {
        return Ok(new_null_array(target, 1));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(&natural, &source_for(natural.data_type(), target), &options)
        .and_then(|array| cast_with_options(&array, target, &options))
        .map_err(|error| Error::spec(format!("{} does not become {target}: {error}", literal_sql(literal))))
}

/// The literal as one row of the type that Spark gives it: an INT where it fits.
///
/// # Errors
/// As for [`to_one_row`].
pub fn natural(literal: &Literal) -> Result<ArrayRef> {
    match literal {
        Literal::Int(value) => match i32::try_from(*value) {
            Ok(value) => Ok(Arc::new(Int32Array::from(vec![value]))),
            Err(_) => to_one_row(literal),
        },
        Literal::List(items) => list(literal, items, natural),
        _ => to_one_row(literal),
    }
}

/// The number in an array of one row; for a duration its microseconds.
///
/// # Errors
/// The value is NULL or not a number.
pub fn number(one_row: &ArrayRef) -> Result<f64> {
    let plain = match one_row.data_type() {
        DataType::Duration(_) => cast(one_row, &DataType::Int64)?,
        _ => one_row.clone(),
    };
    let value = cast(&plain, &DataType::Float64)?;
    value
        .as_primitive_opt::<Float64Type>()
        .filter(|value| value.is_valid(0))
        .map(|value| value.value(0))
        .ok_or_else(|| Error::internal(format!("a {} is no number", one_row.data_type())))
}

/// The intermediate type for casts that Arrow supports only in two steps.
fn source_for(from: &DataType, target: &DataType) -> DataType {
    match (from, target) {
        (DataType::Int64, DataType::Date32 | DataType::Time32(_)) => DataType::Int32,
        _ => from.clone(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use arrow_buffer::i256;

    use super::*;

    #[test]
    fn list_of_integers_and_decimals_widens() {
        let third = Literal::Decimal { unscaled: i256::from_i128(333), scale: 3 };
        let fifth = Literal::Decimal { unscaled: i256::from_i128(2), scale: 1 };
        for (items, expected) in [
            (vec![third.clone(), Literal::Int(1)], [0.333, 1.0]),
            (vec![Literal::Int(1), fifth.clone()], [1.0, 0.2]),
            (vec![fifth, third], [0.2, 0.333]),
            (vec![Literal::Int(0), Literal::Float(0.5)], [0.0, 0.5]),
        ] {
            let list = to_one_row(&Literal::List(items)).unwrap();
            let doubles = cast(&list.as_list::<i32>().value(0), &DataType::Float64).unwrap();
            assert_eq!(doubles.as_primitive::<Float64Type>().values(), &expected);
        }
        assert_eq!(to_one_row(&Literal::List(vec![])).unwrap().as_list::<i32>().value(0).len(), 0);
    }

    #[test]
    fn decimal_types_match_spark() {
        let decimal =
            |unscaled: &str, scale| Literal::Decimal { unscaled: i256::from_string(unscaled).unwrap(), scale };
        for (literal, expected) in [
            (decimal("15", 1), DataType::Decimal128(2, 1)),
            (decimal("-15", 1), DataType::Decimal128(2, 1)),
            (decimal("5", 2), DataType::Decimal128(2, 2)),
            (decimal(&"9".repeat(38), 0), DataType::Decimal128(38, 0)),
            (decimal(&format!("1{}", "0".repeat(38)), 2), DataType::Decimal256(39, 2)),
            (decimal("1", 39), DataType::Decimal256(39, 39)),
        ] {
            for read in [to_one_row, natural] {
                assert_eq!(read(&literal).unwrap().data_type(), &expected);
            }
        }
        let half = decimal("5", 1);
        for (items, expected) in [
            (vec![Literal::Int(1), Literal::Int(-2)], DataType::Int32),
            (vec![Literal::Int(1), Literal::Null, Literal::Int(1 << 40)], DataType::Int64),
            (vec![decimal("15", 1), decimal("2225", 2)], DataType::Decimal128(4, 2)),
            (vec![Literal::Int(1), half.clone()], DataType::Decimal128(11, 1)),
            (vec![half.clone(), Literal::Int(1 << 40)], DataType::Decimal128(21, 1)),
            (vec![Literal::Null, half], DataType::Decimal128(1, 1)),
            (vec![decimal(&"9".repeat(38), 0), decimal("5", 1)], DataType::Decimal256(39, 1)),
        ] {
            let list = natural(&Literal::List(items)).unwrap();
            assert_eq!(list.as_list::<i32>().value(0).data_type(), &expected);
        }
    }
}
