//! Values as strings, as Spark casts them: 1.0E10, 2024-01-31 10:11:12.5, INTERVAL '1 02:03:04.5' DAY TO SECOND.
//!
//! Cost: one pass over the column. Timestamps are shown in their own time zone.

use std::fmt::{self, Write};

use arrow_array::builder::LargeStringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, LargeStringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, IntervalUnit};

use super::native::to_primitive;
use crate::bounds::timezone::{ZoneClock, named_zone};
use crate::error::{Error, Result};
use crate::util::civil::{SECONDS_PER_DAY, date_of, ticks_per_second};
use crate::util::data_types::decode;

/// The values of `column` as strings.
///
/// # Errors
/// A type that has no string form, an unknown time zone.
pub(crate) fn cast_to_text(column: &ArrayRef) -> Result<LargeStringArray> {
    let written = |write: &mut dyn FnMut(usize, &mut String) -> fmt::Result| {
        let nulls = column.logical_nulls();
        let mut texts = LargeStringBuilder::with_capacity(column.len(), 0);
        let mut text = String::new();
        for row in 0..column.len() {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                texts.append_null();
                continue;
            }
            text.clear();
            write(row, &mut text).map_err(|_| Error::internal("a value without a text"))?;
            texts.append_value(&text);
        }
        Ok(texts.finish())
    };
    match column.data_type() {
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => cast_to_text(&decode(column)?),
        DataType::Float16 => cast_to_text(&cast(column, &DataType::Float32)?),
        DataType::Float32 => {
            let values = column.as_primitive::<Float32Type>();
            written(&mut |row, out| float(f64::from(values.value(row)), &format!("{:e}", values.value(row)), out))
        }
        DataType::Float64 => {
            let values = column.as_primitive::<Float64Type>();
            written(&mut |row, out| {
                let value = values.value(row);
                // The smallest positive double has two digits in Java: 4.9E-324.
                let digits = if value.abs() < 1e-323 { format!("{value:.1e}") } else { format!("{value:e}") };
                float(value, &digits, out)
            })
        }
        DataType::Date32 => {
            let days = to_primitive::<Int32Type>(column)?;
            written(&mut |row, out| date(i64::from(days.value(row)), out))
        }
        DataType::Date64 => cast_to_text(&cast(column, &DataType::Date32)?),
        DataType::Timestamp(unit, zone) => {
            let ticks = to_primitive::<Int64Type>(column)?;
            let named = |name| {
                named_zone(name).map_err(|error| Error::data(format!("a timestamp's zone is {name:?}, {error}")))
            };
            let mut zone = zone.as_deref().map(named).transpose()?.flatten().map(ZoneClock::new);
            let per_second = ticks_per_second(*unit);
            written(&mut |row, out| {
                let (seconds, part) = split(ticks.value(row), per_second);
                let ahead = zone.as_mut().map_or(Some(0), |zone| zone.offset(seconds)).unwrap_or(0);
                let wall = seconds.saturating_add(ahead);
                date(wall.div_euclid(SECONDS_PER_DAY), out)?;
                out.push(' ');
                clock(wall.rem_euclid(SECONDS_PER_DAY), part, per_second, out)
            })
        }
        DataType::Time32(unit) | DataType::Time64(unit) => {
            let ticks = cast(column, &DataType::Int64)?;
            let (ticks, per_second) = (ticks.as_primitive::<Int64Type>(), ticks_per_second(*unit));
            written(&mut |row, out| {
                let (seconds, part) = split(ticks.value(row), per_second);
                clock(seconds, part, per_second, out)
            })
        }
        DataType::Duration(unit) => {
            let (ticks, per_second) = (to_primitive::<Int64Type>(column)?, i128::from(ticks_per_second(*unit)));
            written(&mut |row, out| {
                let ticks = i128::from(ticks.value(row));
                let (sign, ticks) = (if ticks < 0 { "-" } else { "" }, ticks.abs());
                let (seconds, part) = ((ticks / per_second) as i64, (ticks % per_second) as i64);
                write!(out, "INTERVAL '{sign}{} ", seconds / SECONDS_PER_DAY)?;
                clock(seconds % SECONDS_PER_DAY, part, per_second as i64, out)?;
                out.write_str("' DAY TO SECOND")
            })
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            let months = to_primitive::<Int32Type>(column)?;
            written(&mut |row, out| {
                let months = i64::from(months.value(row));
                let (sign, months) = (if months < 0 { "-" } else { "" }, months.abs());
                write!(out, "INTERVAL '{sign}{}-{}' YEAR TO MONTH", months / 12, months % 12)
            })
        }
        _ => Ok(cast(column, &DataType::LargeUtf8)?.as_string::<i64>().clone()),
    }
}

/// Whole seconds and the remainder.
fn split(ticks: i64, per_second: i64) -> (i64, i64) {
    (ticks.div_euclid(per_second), ticks.rem_euclid(per_second))
}

/// A number in Java's notation, from its shortest digits in Rust's: `1.25e-7`.
fn float(value: f64, shortest: &str, out: &mut String) -> fmt::Result {
    if value.is_nan() {
        return out.write_str("NaN");
    }
    if value.is_sign_negative() {
        out.push('-');
    }
    if value.is_infinite() {
        return out.write_str("Infinity");
    }
    let (digits, exponent) = shortest.trim_start_matches('-').split_once('e').unwrap_or((shortest, "0"));
    let digits = digits.replace('.', "");
    let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
    let (whole, part) = digits.split_at(1);
    match exponent {
        _ if value == 0.0 => out.write_str("0.0"),
        -3..=-1 => write!(out, "0.{:0>zeros$}{digits}", "", zeros = (-1 - exponent) as usize),
        0..=6 => {
            let point = exponent as usize + 1;
            let digits = format!("{digits:0<width$}", width = point + 1);
            write!(out, "{}.{}", &digits[..point], &digits[point..])
        }
        _ => write!(out, "{whole}.{}E{exponent}", if part.is_empty() { "0" } else { part }),
    }
}

/// The date `days` after 1970-01-01, in any year.
fn date(days: i64, out: &mut String) -> fmt::Result {
    let (year, month, day) = date_of(days).ok_or(fmt::Error)?;
    match year {
        ..0 => write!(out, "-{:04}", -year)?,
        0..10_000 => write!(out, "{year:04}")?,
        _ => write!(out, "+{year}")?,
    }
    write!(out, "-{month:02}-{day:02}")
}

/// The time of day, with as many fractional digits as needed.
fn clock(seconds: i64, part: i64, per_second: i64, out: &mut String) -> fmt::Result {
    write!(out, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)?;
    if part > 0 {
        let digits = format!("{part:0>width$}", width = per_second.ilog10() as usize);
        write!(out, ".{}", digits.trim_end_matches('0'))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use arrow_array::{
        Date32Array, DurationMicrosecondArray, Float32Array, Float64Array, IntervalYearMonthArray,
        TimestampMicrosecondArray,
    };

    use super::*;

    fn all(column: impl Array + 'static) -> Vec<String> {
        let column: ArrayRef = Arc::new(column);
        cast_to_text(&column).unwrap().iter().map(|text| text.unwrap_or("∅").to_string()).collect()
    }

    /// Expected by Spark 4.3 on Java 17.
    #[test]
    fn casts_match_spark() {
        let doubles = [
            1.0,
            1e10,
            1e7,
            9_999_999.5,
            1e-3,
            9.99e-4,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            4.9e-324,
            123_456.789,
            1e16,
            2e-3,
            0.0123,
        ];
        let expected = "1.0 1.0E10 1.0E7 9999999.5 0.001 9.99E-4 -0.0 NaN Infinity -Infinity 1.7976931348623157E308 \
                        4.9E-324 123456.789 1.0E16 0.002 0.0123";
        assert_eq!(all(Float64Array::from(doubles.to_vec())).join(" "), expected);
        let floats = Float32Array::from(vec![1.1, 1e10, f32::MAX, 0.001, 1e7, 16_777_216.0]);
        assert_eq!(all(floats).join(" "), "1.1 1.0E10 3.4028235E38 0.001 1.0E7 1.6777216E7");
        let dates = Date32Array::from(vec![Some(19_753), Some(-719_162), Some(-735_525), None, Some(3_672_178)]);
        assert_eq!(all(dates).join(" "), "2024-01-31 0001-01-01 -0044-03-15 ∅ +12024-01-31");
        let instants = vec![1_706_713_872_120_000, 1_722_398_400_000_001, -1];
        let plain = TimestampMicrosecondArray::from(instants.clone());
        assert_eq!(all(plain)[2], "1969-12-31 23:59:59.999999");
        let zoned = TimestampMicrosecondArray::from(instants).with_timezone("America/New_York");
        assert_eq!(all(zoned)[..2], ["2024-01-31 10:11:12.12", "2024-07-31 00:00:00.000001"]);
        let durations = DurationMicrosecondArray::from(vec![93_784_500_000, -93_784_000_000, 0]);
        assert_eq!(all(durations)[0], "INTERVAL '1 02:03:04.5' DAY TO SECOND");
        let durations = DurationMicrosecondArray::from(vec![-93_784_000_000, i64::MIN]);
        assert_eq!(all(durations)[0], "INTERVAL '-1 02:03:04' DAY TO SECOND");
        let months = IntervalYearMonthArray::from(vec![14, -14]);
        assert_eq!(all(months), ["INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '-1-2' YEAR TO MONTH"]);
    }
}
