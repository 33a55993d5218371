//! RANGE offsets given as literals. They are cast to the key's type first, as in Spark: 1.9 on an integer key counts as
//! 1, 0.555 on a `decimal(3, 2)` as 0.56, 0.3 on a float key as the nearest float.

use arrow_array::timezone::Tz;
use arrow_buffer::i256;
use arrow_schema::{DataType, IntervalUnit, TimeUnit};

use super::calendar::{CalendarStep, NANOS_PER_DAY};
use super::range_key::KeyPlan;
use super::range_offset::{FrameSide, RangeOffset};
use super::timezone::named_zone;
use crate::error::{Error, Result};
use crate::spec::literal::Literal;
use crate::spec::sql_text::literal_sql;
use crate::util::civil::ticks_per_second;

/// The time zone of a timestamp key; `None` for a timestamp without time zone, and for UTC.
pub(super) fn key_zone(data_type: &DataType, session: &str, key: &str) -> Result<Option<Tz>> {
    let DataType::Timestamp(_, Some(name)) = data_type else {
        return Ok(None);
    };
    let name = if name.is_empty() { session } else { name };
    named_zone(name).map_err(|error| Error::spec(format!("order key {key:?} is a timestamp in {name:?}, {error}")))
}

/// `literal` as a distance from keys of `plan`, `preceding` or following; `elapsed` is the frame's.
///
/// # Errors
/// The literal does not suit the key's type.
pub(super) fn literal(
    plan: &KeyPlan,
    literal: &Literal,
    preceding: bool,
    side: FrameSide,
    elapsed: bool,
) -> Result<RangeOffset> {
    let refuse = |remedy: &str| Err(refusal(plan, &literal_sql(literal), remedy));
    if *literal == Literal::Null {
        return refuse("give a value that is not NULL, or UNBOUNDED");
    }
    if let (Literal::Boolean(_), true) = (literal, preceding) {
        return refuse("give a number");
    }
    if let Literal::Interval { months, days, micros } = literal {
        let (months, days, nanos) = ((*months).into(), (*days).into(), i128::from(*micros) * 1_000);
        return interval(plan, months, days, nanos, preceding, side, elapsed)
            .map_err(|remedy| refusal(plan, &literal_sql(literal), remedy));
    }
    let signed = |by: i128| if preceding { -by } else { by };
    match &plan.data_type {
        data_type if data_type.is_integer() => match integer(literal) {
            Some(by) if fits(data_type, by) => Ok(RangeOffset::Whole(signed(by))),
            Some(_) => refuse(&format!("give an offset that a {data_type} can hold, or cast the key to a wider type")),
            None => refuse("give a number"),
        },
        DataType::Float64 => match float(literal) {
            Some(by) if !by.is_nan() => Ok(RangeOffset::Double(if preceding { -by } else { by })),
            _ => refuse("give a number"),
        },
        DataType::Float32 | DataType::Float16 => match float(literal) {
            Some(by) if !by.is_nan() => Ok(RangeOffset::Single(if preceding { -by as f32 } else { by as f32 })),
            _ => refuse("give a number"),
        },
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            match decimal(literal, *precision, *scale).and_then(i256::to_i128) {
                Some(by) => Ok(RangeOffset::Whole(signed(by))),
                None => refuse("give a number that the key's type can hold, or cast the key to a wider type"),
            }
        }
        DataType::Decimal128(precision, scale) => match decimal(literal, *precision, *scale).and_then(i256::to_i128) {
            Some(by) => Ok(RangeOffset::Wide(signed(by))),
            None => refuse("give a number that the key's type can hold, or cast the key to a wider type"),
        },
        DataType::Decimal256(precision, scale) => match decimal(literal, *precision, *scale) {
            Some(by) => Ok(RangeOffset::Huge(if preceding { by.wrapping_neg() } else { by })),
            None => refuse("give a number that the key's type can hold, or cast the key to a wider type"),
        },
        DataType::Date32 | DataType::Date64 => match literal {
            Literal::Int(days) if i32::try_from(*days).is_ok() => {
                Ok(RangeOffset::Whole(signed(i128::from(*days) * day_ticks(plan))))
            }
            _ => refuse("give whole days, or an interval of days or of months"),
        },
        DataType::Timestamp(..) => refuse("give an interval of days and time, or of months"),
        DataType::Time32(_) | DataType::Time64(_) => refuse("give an interval of time"),
        DataType::Duration(unit) => match literal {
            Literal::Int(by) => Ok(RangeOffset::Whole(signed((*by).into()))),
            _ => refuse(&format!("give an interval of days and time, or a whole number of {}", plural(*unit))),
        },
        DataType::Interval(IntervalUnit::YearMonth) => match literal {
            Literal::Int(by) => Ok(RangeOffset::Whole(signed((*by).into()))),
            _ => refuse("give an interval of months, or a whole number of them"),
        },
        _ => Err(unorderable(plan, "RANGE with an offset")),
    }
}

/// An interval as a distance from keys of `plan`.
///
/// # Errors
/// The literal to use instead, if the interval does not suit the key's type.
pub(super) fn interval(
    plan: &KeyPlan,
    months: i64,
    days: i64,
    nanos: i128,
    preceding: bool,
    side: FrameSide,
    elapsed: bool,
) -> std::result::Result<RangeOffset, &'static str> {
    let sign = if preceding { -1 } else { 1 };
    let (months, days, nanos) = (months.saturating_mul(sign), days.saturating_mul(sign), nanos * i128::from(sign));
    // A start between two ticks is rounded up, an end down: this is exact, because keys are whole ticks.
    let ticks = |nanos: i128, second: i64| {
        let tick = 1_000_000_000 / i128::from(second);
        match side {
            FrameSide::Start => -(-nanos).div_euclid(tick),
            FrameSide::End => nanos.div_euclid(tick),
        }
    };
    let calendar = |days: i64, ticks: i128| {
        let ticks = ticks.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        RangeOffset::Calendar(CalendarStep { months, days, ticks })
    };
    match &plan.data_type {
        DataType::Date32 | DataType::Date64 if nanos != 0 => {
            Err("a date has no time of day: give whole days or months")
        }
        DataType::Date32 | DataType::Date64 if months == 0 => {
            Ok(RangeOffset::Whole(i128::from(days) * day_ticks(plan)))
        }
        DataType::Date32 | DataType::Date64 => Ok(calendar(days, 0)),
        DataType::Timestamp(unit, _) => {
            let zoned = !elapsed && plan.calendar.is_some_and(|calendar| calendar.has_zone());
            // Whole days among the hours count as calendar days: Spark's intervals do not distinguish 24 hours from a
            // day.
            let whole = i128::from(days) * NANOS_PER_DAY + nanos;
            let (days, nanos) =
                if zoned { ((whole / NANOS_PER_DAY) as i64, whole % NANOS_PER_DAY) } else { (days, nanos) };
            if months == 0 && (days == 0 || !zoned) {
                Ok(RangeOffset::Whole(ticks(i128::from(days) * NANOS_PER_DAY + nanos, ticks_per_second(*unit))))
            } else {
                Ok(calendar(days, ticks(nanos, ticks_per_second(*unit))))
            }
        }
        DataType::Duration(unit) | DataType::Time32(unit) | DataType::Time64(unit) if months == 0 => {
            Ok(RangeOffset::Whole(ticks(i128::from(days) * NANOS_PER_DAY + nanos, ticks_per_second(*unit))))
        }
        DataType::Duration(_) | DataType::Time32(_) | DataType::Time64(_) => {
            Err("months have no fixed length: give an interval of days and time")
        }
        DataType::Interval(IntervalUnit::YearMonth) if days == 0 && nanos == 0 => Ok(RangeOffset::Whole(months.into())),
        DataType::Interval(IntervalUnit::YearMonth) => Err("give an interval of months"),
        _ => Err("give a number"),
    }
}

/// Ticks of a date key in a day.
pub(super) fn day_ticks(plan: &KeyPlan) -> i128 {
    plan.calendar.map_or(1, |calendar| calendar.day()).into()
}

/// The error for an offset that does not suit the key.
pub(super) fn refusal(plan: &KeyPlan, offset: &str, remedy: &str) -> Error {
    Error::spec(format!(
        "RANGE offset {offset} does not suit order key {:?} of type {}: {remedy}",
        plan.name, plan.data_type
    ))
}

/// The error for a key of which `what` cannot be a distance.
pub(super) fn unorderable(plan: &KeyPlan, what: &str) -> Error {
    let instead = if what.starts_with("RANGE") { "use ROWS or GROUPS, or " } else { "" };
    Error::spec(format!(
        "{what} needs a number, date, time or duration to order by; {:?} is {}: {instead}order by another key",
        plan.name, plan.data_type
    ))
}

fn plural(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "seconds",
        TimeUnit::Millisecond => "milliseconds",
        TimeUnit::Microsecond => "microseconds",
        TimeUnit::Nanosecond => "nanoseconds",
    }
}

/// The literal as an integer, truncated towards zero.
fn integer(literal: &Literal) -> Option<i128> {
    match literal {
        Literal::Boolean(value) => Some((*value).into()),
        Literal::Int(value) => Some((*value).into()),
        Literal::Float(value) => (value.abs() < 1e30).then_some(*value as i128),
        Literal::Decimal { unscaled, scale } => {
            let power = i256::from_i128(10).checked_pow(scale.unsigned_abs().into())?;
            let whole = if *scale < 0 { unscaled.checked_mul(power) } else { unscaled.checked_div(power) };
            whole?.to_i128()
        }
        Literal::Utf8(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Whether the key's type can represent the distance.
fn fits(data_type: &DataType, by: i128) -> bool {
    let bits = data_type.primitive_width().unwrap_or(8) * 8;
    let greatest = if data_type.is_signed_integer() { (1_i128 << (bits - 1)) - 1 } else { (1_i128 << bits) - 1 };
    (-greatest - 1..=greatest).contains(&by)
}

/// The literal as a double.
fn float(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Int(value) => Some(*value as f64),
        Literal::Float(value) => Some(*value),
        // Through text, which gives the double nearest to the decimal.
        Literal::Decimal { unscaled, scale } => format!("{unscaled}e{}", -i16::from(*scale)).parse().ok(),
        Literal::Utf8(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The literal as the unscaled value of a decimal, rounded half up.
fn decimal(literal: &Literal, precision: u8, scale: i8) -> Option<i256> {
    let (unscaled, from) = match literal {
        Literal::Int(value) => (i256::from(*value), 0),
        Literal::Decimal { unscaled, scale } => (*unscaled, i32::from(*scale)),
        // The shortest text that parses to this double, as in Spark.
        Literal::Float(value) if value.is_finite() => digits(&value.to_string())?,
        Literal::Utf8(text) => digits(text.trim())?,
        _ => return None,
    };
    let shift = i32::from(scale) - from;
    let power = i256::from_i128(10).checked_pow(shift.unsigned_abs());
    let value = match power {
        Some(power) if shift >= 0 => unscaled.checked_mul(power)?,
        Some(power) => {
            let (quotient, rest) = (unscaled.checked_div(power)?, unscaled.checked_rem(power)?);
            let away = if unscaled < i256::ZERO { i256::MINUS_ONE } else { i256::ONE };
            let half_up = rest.wrapping_abs() >= power.wrapping_sub(rest.wrapping_abs());
            if half_up { quotient.checked_add(away)? } else { quotient }
        }
        // The power of ten exceeds 256 bits: the value rounds to zero, or does not fit.
        None if shift < 0 || unscaled == i256::ZERO => i256::ZERO,
        None => return None,
    };
    // 10^76 < 2^255, so the power of every precision exists.
    let limit = i256::from_i128(10).checked_pow(precision.into())?;
    (value.wrapping_abs() < limit).then_some(value)
}

/// Parses a decimal number: its unscaled value and the number of digits after the point.
fn digits(text: &str) -> Option<(i256, i32)> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let plain = whole.trim_start_matches(['+', '-']);
    if plain.len() + part.len() == 0 || !plain.chars().chain(part.chars()).all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let unscaled = i256::from_string(&format!("{}{part}", whole.trim_start_matches('+')))?;
    Some((unscaled, i32::try_from(part.len()).ok()?.checked_sub(exponent)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

    use arrow_schema::SortOptions;

    use super::*;
    use crate::bounds::calendar::Calendar;

    fn plan(data_type: DataType) -> KeyPlan {
        let calendar = Calendar::new(&data_type, key_zone(&data_type, "UTC", "k").unwrap());
        KeyPlan { number: 0, name: "k".into(), data_type, options: SortOptions::default(), calendar }
    }

    fn start(data_type: DataType, offset: Literal) -> Result<RangeOffset> {
        literal(&plan(data_type), &offset, true, FrameSide::Start, false)
    }

    fn end(data_type: DataType, offset: Literal) -> Result<RangeOffset> {
        literal(&plan(data_type), &offset, false, FrameSide::End, false)
    }

    fn dec(unscaled: i128, scale: i8) -> Literal {
        Literal::Decimal { unscaled: i256::from_i128(unscaled), scale }
    }

    fn time(days: i32, micros: i64) -> Literal {
        Literal::Interval { months: 0, days, micros }
    }

    fn month(months: i32) -> Literal {
        Literal::Interval { months, days: 0, micros: 0 }
    }

    #[test]
    fn integer_keys_accept_castable_offsets() {
        assert_eq!(end(DataType::Int32, Literal::Float(1.9)).unwrap(), RangeOffset::Whole(1));
        assert_eq!(end(DataType::Int32, Literal::Float(-1.9)).unwrap(), RangeOffset::Whole(-1));
        assert_eq!(end(DataType::Int32, dec(5, 1)).unwrap(), RangeOffset::Whole(0));
        assert_eq!(end(DataType::Int32, Literal::Utf8(" 1 ".into())).unwrap(), RangeOffset::Whole(1));
        assert_eq!(end(DataType::Int8, Literal::Boolean(true)).unwrap(), RangeOffset::Whole(1));
        assert!(start(DataType::Int8, Literal::Boolean(true)).is_err());
        assert_eq!(start(DataType::Int64, Literal::Int(i64::MIN)).unwrap(), RangeOffset::Whole(1 << 63));
        assert_eq!(start(DataType::UInt8, Literal::Int(255)).unwrap(), RangeOffset::Whole(-255));
        for offset in
            [Literal::Int(257), Literal::Float(f64::NAN), Literal::Utf8("x".into()), time(1, 0), Literal::Null]
        {
            assert!(end(DataType::Int8, offset.clone()).is_err(), "{offset:?}");
        }
    }

    #[test]
    fn floats_count_in_their_own_precision() {
        assert_eq!(end(DataType::Float32, Literal::Float(0.1)).unwrap(), RangeOffset::Single(0.1));
        assert_eq!(start(DataType::Float64, dec(1, 1)).unwrap(), RangeOffset::Double(-0.1));
        assert_eq!(end(DataType::Float64, Literal::Utf8("1".into())).unwrap(), RangeOffset::Double(1.0));
        assert!(end(DataType::Float64, Literal::Float(f64::NAN)).is_err());
        assert!(end(DataType::Float64, time(1, 0)).is_err());
    }

    #[test]
    fn decimals_round_half_up_and_must_fit() {
        let three_two = || DataType::Decimal128(3, 2);
        assert_eq!(end(three_two(), dec(555, 3)).unwrap(), RangeOffset::Wide(56));
        assert_eq!(start(three_two(), dec(555, 3)).unwrap(), RangeOffset::Wide(-56));
        assert_eq!(end(three_two(), dec(-555, 3)).unwrap(), RangeOffset::Wide(-56));
        assert_eq!(end(three_two(), dec(554, 3)).unwrap(), RangeOffset::Wide(55));
        assert_eq!(end(three_two(), Literal::Float(0.555)).unwrap(), RangeOffset::Wide(56));
        assert_eq!(end(three_two(), Literal::Utf8("5.5e-1".into())).unwrap(), RangeOffset::Wide(55));
        assert_eq!(end(three_two(), Literal::Utf8("-.5".into())).unwrap(), RangeOffset::Wide(-50));
        assert_eq!(end(three_two(), Literal::Float(1e-300)).unwrap(), RangeOffset::Wide(0));
        assert_eq!(end(DataType::Decimal64(9, 1), Literal::Int(2)).unwrap(), RangeOffset::Whole(20));
        assert_eq!(end(DataType::Decimal256(50, 1), Literal::Int(2)).unwrap(), RangeOffset::Huge(i256::from(20_i64)));
        for offset in [Literal::Int(10), Literal::Float(9.995), Literal::Float(1e300), Literal::Utf8("1.2.3".into())] {
            assert!(end(three_two(), offset.clone()).is_err(), "{offset:?}");
        }
    }

    #[test]
    fn dates_take_days_and_months() {
        assert_eq!(start(DataType::Date32, Literal::Int(2)).unwrap(), RangeOffset::Whole(-2));
        assert_eq!(end(DataType::Date64, time(2, 0)).unwrap(), RangeOffset::Whole(2 * 86_400_000));
        let step = CalendarStep { months: -1, ..CalendarStep::default() };
        assert_eq!(start(DataType::Date32, month(1)).unwrap(), RangeOffset::Calendar(step));
        for offset in [Literal::Int(1 << 40), Literal::Float(1.0), time(0, 1), Literal::Utf8("1".into()), dec(1, 0)] {
            assert!(end(DataType::Date32, offset.clone()).is_err(), "{offset:?}");
        }
    }

    #[test]
    fn timestamps_take_intervals() {
        let second = || DataType::Timestamp(TimeUnit::Second, None);
        // 1.5 s: a start between two ticks is rounded up, an end down.
        assert_eq!(start(second(), time(0, 1_500_000)).unwrap(), RangeOffset::Whole(-1));
        assert_eq!(end(second(), time(0, 1_500_000)).unwrap(), RangeOffset::Whole(1));
        assert_eq!(
            literal(&plan(second()), &time(0, 1_500_000), false, FrameSide::Start, false).unwrap(),
            RangeOffset::Whole(2)
        );
        assert_eq!(end(second(), time(1, 1_000_000)).unwrap(), RangeOffset::Whole(86_401));
        let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("America/New_York".into()));
        let step = CalendarStep { months: 0, days: -1, ticks: -5 };
        assert_eq!(start(zoned.clone(), time(1, 5)).unwrap(), RangeOffset::Calendar(step));
        assert_eq!(start(zoned.clone(), time(0, 86_400_000_005)).unwrap(), RangeOffset::Calendar(step));
        assert_eq!(start(zoned, time(0, 5)).unwrap(), RangeOffset::Whole(-5));
        let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        assert_eq!(start(utc, time(1, 5)).unwrap(), RangeOffset::Whole(-86_400_000_005));
        assert!(end(second(), Literal::Int(1)).is_err());
        let unknown = DataType::Timestamp(TimeUnit::Second, Some("Nowhere/Land".into()));
        assert!(key_zone(&unknown, "UTC", "k").is_err());
    }

    #[test]
    fn durations_times_and_months() {
        assert_eq!(end(DataType::Duration(TimeUnit::Millisecond), Literal::Int(3)).unwrap(), RangeOffset::Whole(3));
        assert_eq!(
            end(DataType::Duration(TimeUnit::Millisecond), time(1, 2_000)).unwrap(),
            RangeOffset::Whole(86_400_002)
        );
        assert_eq!(end(DataType::Time64(TimeUnit::Nanosecond), time(0, 1)).unwrap(), RangeOffset::Whole(1_000));
        let year_month = || DataType::Interval(IntervalUnit::YearMonth);
        assert_eq!(start(year_month(), month(2)).unwrap(), RangeOffset::Whole(-2));
        assert_eq!(start(year_month(), Literal::Int(2)).unwrap(), RangeOffset::Whole(-2));
        assert!(end(DataType::Duration(TimeUnit::Millisecond), month(1)).is_err());
        assert!(end(DataType::Time32(TimeUnit::Second), Literal::Int(1)).is_err());
        assert!(end(year_month(), time(1, 0)).is_err());
    }

    #[test]
    fn errors_name_offset_key_and_remedy() {
        let error = end(DataType::Timestamp(TimeUnit::Second, None), Literal::Int(1)).unwrap_err();
        assert_eq!(
            error.message(),
            "RANGE offset 1 does not suit order key \"k\" of type Timestamp(s): give an interval of days and time, or \
             of months"
        );
    }
}
