//! Calendar arithmetic on dates and timestamps. Months are clamped to the end of the month; days and months act on
//! local time in the key's time zone; the remaining ticks act on the instant.
//!
//! Cost: a civil date conversion for each new day, and with a time zone two offset lookups ([`super::timezone`]).

use arrow_array::timezone::Tz;
use arrow_schema::DataType;

use super::timezone::ZoneClock;
use crate::util::civil::{SECONDS_PER_DAY, first_day_of, month_of, ticks_per_second};

/// Nanoseconds in a day without a change of UTC offset.
pub(super) const NANOS_PER_DAY: i128 = 86_400_000_000_000;

/// How a key represents time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Calendar {
    /// Ticks of the key in a day.
    day: i64,
    /// Ticks of the key in a second; unused for Date32, which has no time zone.
    second: i64,
    /// The time zone of days and months; `None` if keys are local times or UTC.
    zone: Option<Tz>,
}

/// A calendar distance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CalendarStep {
    /// Calendar months.
    pub(super) months: i64,
    /// Calendar days.
    pub(super) days: i64,
    /// Ticks of the key.
    pub(super) ticks: i64,
}

impl CalendarStep {
    /// The opposite distance.
    pub(super) fn reversed(self) -> Self {
        Self {
            months: self.months.saturating_neg(),
            days: self.days.saturating_neg(),
            ticks: self.ticks.saturating_neg(),
        }
    }

    /// Whether any component is positive.
    pub(super) fn points_forward(self) -> bool {
        self.months > 0 || self.days > 0 || self.ticks > 0
    }

    /// Whether any component is negative.
    pub(super) fn points_back(self) -> bool {
        self.months < 0 || self.days < 0 || self.ticks < 0
    }
}

impl Calendar {
    /// The calendar of keys of this type; `None` for other types than dates and timestamps. `zone` is that of a
    /// timestamp.
    pub(super) fn new(data_type: &DataType, zone: Option<Tz>) -> Option<Self> {
        match data_type {
            DataType::Date32 => Some(Self { day: 1, second: 0, zone: None }),
            DataType::Date64 => Some(Self { day: SECONDS_PER_DAY * 1_000, second: 1_000, zone: None }),
            DataType::Timestamp(unit, _) => {
                let second = ticks_per_second(*unit);
                Some(Self { day: SECONDS_PER_DAY * second, second, zone })
            }
            _ => None,
        }
    }

    /// Ticks of the key in a day without a change of UTC offset.
    pub(super) fn day(&self) -> i64 {
        self.day
    }

    /// Whether days may differ in length.
    pub(super) fn has_zone(&self) -> bool {
        self.zone.is_some()
    }
}

/// Adds calendar distances to keys, one after another, and caches the last conversions.
#[derive(Debug, Clone)]
pub(super) struct CalendarAdder {
    day: i64,
    second: i64,
    zone: Option<ZoneClock>,
    /// The last day, the months added to it, and the result.
    month: Option<(i64, i64, i64)>,
}

impl CalendarAdder {
    pub(super) fn new(calendar: &Calendar) -> Self {
        let Calendar { day, second, zone } = *calendar;
        Self { day, second, zone: zone.map(ZoneClock::new), month: None }
    }

    /// `key` plus `step`; `None` if the result exceeds the range of the calendar.
    #[inline]
    pub(super) fn add(&mut self, key: i64, step: CalendarStep) -> Option<i64> {
        let mut key = key;
        if step.months != 0 {
            key = self.on_wall_clock(key, |this, wall| this.add_months(wall, step.months))?;
        }
        if step.days != 0 {
            key = self.on_wall_clock(key, |this, wall| wall.checked_add(step.days.checked_mul(this.day)?))?;
        }
        key.checked_add(step.ticks)
    }

    /// `wall`, a local time, plus `months`.
    fn add_months(&mut self, wall: i64, months: i64) -> Option<i64> {
        let (day, tick) = (wall.div_euclid(self.day), wall.rem_euclid(self.day));
        let moved = match self.month {
            Some((from, by, to)) if from == day && by == months => to,
            _ => {
                let moved = month_on(day, months)?;
                self.month = Some((day, months, moved));
                moved
            }
        };
        moved.checked_mul(self.day)?.checked_add(tick)
    }

    /// Applies `step_by` to `key` in local time.
    #[inline]
    fn on_wall_clock(&mut self, key: i64, step_by: impl FnOnce(&mut Self, i64) -> Option<i64>) -> Option<i64> {
        let second = self.second;
        let Some(zone) = &mut self.zone else { return step_by(self, key) };
        let offset = zone.offset(key.div_euclid(second))?;
        // Saturating: a local time beyond the key's type only occurs at the very end of its range, where an inexact
        // result is better than none.
        let wall = step_by(self, key.saturating_add(offset * second))?;
        let zone = self.zone.as_mut()?;
        wall.checked_sub(zone.resolve(wall.div_euclid(second), offset)? * second)
    }
}

/// The day `months` months after `day`, both as days since the epoch; clamped to the last day of the month.
fn month_on(day: i64, months: i64) -> Option<i64> {
    let (month, of_month) = month_of(day)?;
    let month = month.checked_add(months)?;
    let first = first_day_of(month)?;
    let length = first_day_of(month.checked_add(1)?)? - first;
    Some(first + (of_month - 1).min(length - 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use arrow_schema::TimeUnit;
    use chrono::DateTime;

    use super::*;

    fn new_york() -> Calendar {
        let zone = "America/New_York".parse().unwrap();
        Calendar::new(&DataType::Timestamp(TimeUnit::Second, Some("America/New_York".into())), Some(zone)).unwrap()
    }

    /// `local` with a UTC offset (New York in winter or summer), as seconds since the epoch.
    fn seconds(local: &str, offset: &str) -> i64 {
        DateTime::parse_from_rfc3339(&format!("{local}:00{offset}")).unwrap().timestamp()
    }

    fn add(calendar: Calendar, key: i64, step: CalendarStep) -> Option<i64> {
        CalendarAdder::new(&calendar).add(key, step)
    }

    fn months(months: i64) -> CalendarStep {
        CalendarStep { months, ..CalendarStep::default() }
    }

    fn days(days: i64) -> CalendarStep {
        CalendarStep { days, ..CalendarStep::default() }
    }

    #[test]
    fn months_clamp_to_the_end_of_the_month() {
        let dates = Calendar::new(&DataType::Date32, None).unwrap();
        let day = |date: &str| seconds(&format!("{date}T00:00"), "+00:00") / SECONDS_PER_DAY;
        assert_eq!(add(dates, day("2024-03-31"), months(-1)), Some(day("2024-02-29")));
        assert_eq!(add(dates, day("2024-01-31"), months(1)), Some(day("2024-02-29")));
        assert_eq!(add(dates, day("1969-12-31"), months(-2)), Some(day("1969-10-31")));
        assert_eq!(add(dates, i64::from(i32::MAX), months(1)), Some(i64::from(i32::MAX) + 31));
        assert_eq!(add(dates, day("1969-12-31"), months(i64::MAX)), None);
    }

    #[test]
    fn months_match_chrono() {
        use chrono::{Datelike, Months, NaiveDate};
        for day in (-800_000..800_000_i64).step_by(37) {
            let date = NaiveDate::from_num_days_from_ce_opt(day as i32 + 719_163).unwrap();
            for months in [-1200_i64, -13, -1, 1, 11, 12, 4_801] {
                let count = Months::new(months.unsigned_abs() as u32);
                let moved = if months < 0 { date - count } else { date + count };
                assert_eq!(
                    month_on(day, months),
                    Some(i64::from(moved.num_days_from_ce()) - 719_163),
                    "{date} {months}"
                );
            }
        }
    }

    #[test]
    fn moves_at_the_limits_do_not_overflow() {
        let zone = "America/New_York".parse().unwrap();
        for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
            for zone in [None, Some(zone)] {
                let keys = Calendar::new(&DataType::Timestamp(unit, None), zone).unwrap();
                assert_eq!(add(keys, i64::MAX, days(1)), None);
                assert_eq!(add(keys, i64::MIN, months(-1)), None);
                let before = add(keys, i64::MAX, days(-1)).unwrap();
                assert!(i64::MAX - before <= keys.day + keys.day / 24);
                let after = add(keys, i64::MIN, months(1)).unwrap();
                assert!(after > i64::MIN + 28 * keys.day);
            }
        }
    }

    #[test]
    fn months_keep_the_time_of_day() {
        let unzoned = Calendar::new(&DataType::Timestamp(TimeUnit::Nanosecond, None), None).unwrap();
        let nanos = |local: &str| seconds(local, "+00:00") * 1_000_000_000 + 7;
        assert_eq!(add(unzoned, nanos("1960-01-31T23:59"), months(1)), Some(nanos("1960-02-29T23:59")));
        assert_eq!(add(unzoned, i64::MAX, months(1)), None); // exceeds the range, which ends in the year 2262
        let dates = Calendar::new(&DataType::Date64, None).unwrap();
        assert_eq!(add(dates, 30 * SECONDS_PER_DAY * 1_000, months(1)), Some(58 * SECONDS_PER_DAY * 1_000));
    }

    #[test]
    fn day_follows_the_wall_clock() {
        // A day of 23 hours: the clock was set forward.
        let noon = seconds("2024-03-10T13:00", "-04:00");
        assert_eq!(add(new_york(), noon, days(-1)), Some(seconds("2024-03-09T13:00", "-05:00")));
        // Ticks are added after days and months, as elapsed time.
        let step = CalendarStep { days: -1, ticks: -3_600, ..CalendarStep::default() };
        assert_eq!(add(new_york(), noon, step), Some(seconds("2024-03-09T12:00", "-05:00")));
    }

    #[test]
    fn time_in_dst_gap_moves_forward() {
        let at = seconds("2024-02-10T02:30", "-05:00");
        assert_eq!(add(new_york(), at, months(1)), Some(seconds("2024-03-10T03:30", "-04:00")));
        // The longest gap that exists: Samoa skipped 30 December 2011.
        let zone = "Pacific/Apia".parse().unwrap();
        let samoa = Calendar::new(&DataType::Timestamp(TimeUnit::Second, None), Some(zone)).unwrap();
        let at = seconds("2011-12-29T12:00", "-10:00");
        assert_eq!(add(samoa, at, days(1)), Some(seconds("2011-12-31T12:00", "+14:00")));
    }

    #[test]
    fn ambiguous_time_keeps_its_offset() {
        let summer = seconds("2024-10-03T01:30", "-04:00");
        assert_eq!(add(new_york(), summer, months(1)), Some(seconds("2024-11-03T01:30", "-04:00")));
        let winter = seconds("2024-12-03T01:30", "-05:00");
        assert_eq!(add(new_york(), winter, months(-1)), Some(seconds("2024-11-03T01:30", "-05:00")));
    }
}
