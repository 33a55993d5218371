//! Civil dates, and ticks of Arrow's time units.

use arrow_schema::TimeUnit;

/// Seconds in a day without a change of UTC offset.
pub(crate) const SECONDS_PER_DAY: i64 = 86_400;

/// Microseconds in a second.
pub(crate) const MICROS_PER_SECOND: i64 = 1_000_000;

/// Microseconds in a day without a change of UTC offset.
pub(crate) const MICROS_PER_DAY: i64 = SECONDS_PER_DAY * MICROS_PER_SECOND;

/// Days from 0000-03-01 to 1970-01-01. Years are counted from March so that the leap day is the last day of a year.
const EPOCH_DAY: i64 = 719_468;

/// Days in the 400 years after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;

/// Ticks of `unit` in a second.
pub(crate) fn ticks_per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => MICROS_PER_SECOND,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// The month of a day, counted from March of the year 0, and the day's number in the month, from 1. `day` counts from
/// 1970-01-01.
///
/// Computed arithmetically, because timestamps exceed the range of chrono. Source: H. Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", 2013.
pub(crate) fn month_of(day: i64) -> Option<(i64, i64)> {
    let day = day.checked_add(EPOCH_DAY)?;
    let (era, day) = (day.div_euclid(DAYS_PER_ERA), day.rem_euclid(DAYS_PER_ERA));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    Some(((era * 400 + year) * 12 + month, day - (153 * month + 2) / 5 + 1))
}

/// The first day of a month, in the units of [`month_of`].
pub(crate) fn first_day_of(month: i64) -> Option<i64> {
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12));
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day = 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5;
    era.checked_mul(DAYS_PER_ERA)?.checked_add(day - EPOCH_DAY)
}

/// The year, month and day of a day counted from 1970-01-01.
pub(crate) fn date_of(day: i64) -> Option<(i64, i64, i64)> {
    let (month, day) = month_of(day)?;
    // From years that begin in March to years that begin in January.
    let month = month + 2;
    Some((month.div_euclid(12), month.rem_euclid(12) + 1, day))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use chrono::{Datelike, NaiveDate};

    use super::*;

    #[test]
    fn dates_match_chrono() {
        for day in (-800_000..800_000_i64).step_by(37) {
            let date = NaiveDate::from_num_days_from_ce_opt(day as i32 + 719_163).unwrap();
            let expected = (i64::from(date.year()), i64::from(date.month()), i64::from(date.day()));
            assert_eq!(date_of(day), Some(expected), "{date}");
            let (month, of_month) = month_of(day).unwrap();
            assert_eq!(first_day_of(month).unwrap() + of_month - 1, day, "{date}");
        }
        assert_eq!((month_of(i64::MAX), first_day_of(i64::MAX)), (None, None));
    }
}
