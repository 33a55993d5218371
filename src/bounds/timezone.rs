//! A zone's wall clock, read row after row.
//!
//! Rows come in order, so most lie in the same few days as the row before. Where a zone's offset does not change
//! around those days, remembering it answers for all their rows: a comparison in place of a search through the
//! zone's history. Memory: none that grows.

use arrow_array::timezone::Tz;
use chrono::{DateTime, LocalResult, NaiveDateTime, Offset, TimeZone};

use crate::util::civil::SECONDS_PER_DAY;

/// The zone of this name; `None`: UTC, where every day has 24 hours.
///
/// # Errors
/// What is wrong with the name, as the end of a sentence.
pub(crate) fn named_zone(name: &str) -> Result<Option<Tz>, &'static str> {
    if matches!(name, "UTC" | "Etc/UTC" | "GMT" | "Z" | "+00:00" | "-00:00" | "+0000" | "+00") {
        return Ok(None);
    }
    name.parse().map(Some).map_err(|_| {
        if cfg!(feature = "timezones") {
            "which is no time zone known here: give it a zone such as \"Europe/Paris\" or \"+01:00\""
        } else {
            "and this build of windrow knows offsets such as \"+01:00\" only: build it with the feature \"timezones\""
        }
    })
}

/// Seconds that one memory serves. Short, so that few of them hold a change of offset.
const WINDOW_SECONDS: i64 = 4 * SECONDS_PER_DAY;

/// How far beyond its window a memory holds: more than any two clocks on earth are apart, but for a hair.
const MARGIN_SECONDS: i64 = SECONDS_PER_DAY;

/// The steps in which a change of offset is looked for. No zone has ever changed twice within two of them (the
/// shortest offset in the tz database held for four days: Freetown, September 1939).
const SEARCH_STEP: i64 = 2 * SECONDS_PER_DAY;

/// Seconds from the epoch to where chrono's years end, on either side, or a little less.
const MAX_SECONDS: i64 = 8_000_000_000_000;

/// A zone, and what was last learnt of it.
#[derive(Debug, Clone)]
pub(crate) struct ZoneClock {
    history: Tz,
    /// Rows and their targets lie apart, so each has a memory of its own.
    instants: OffsetCache,
    targets: OffsetCache,
}

/// One window of time, by its number.
#[derive(Debug, Clone, Copy)]
struct OffsetCache {
    window: i64,
    learnt: OffsetSpan,
}

#[derive(Debug, Clone, Copy)]
enum OffsetSpan {
    /// Not asked about yet but once: learning costs more than one answer.
    Unknown,
    /// The offset, the same throughout the window and its margins.
    Offset(i64),
    /// A change of offset.
    Varying,
}

impl OffsetCache {
    const EMPTY: Self = Self { window: i64::MIN, learnt: OffsetSpan::Varying };

    /// The offset in force around `instant`, if it is the same for a day before and after.
    #[inline]
    fn offset(&mut self, zone: Tz, instant: i64) -> Option<i64> {
        let window = instant.div_euclid(WINDOW_SECONDS);
        if self.window != window {
            *self = Self { window, learnt: OffsetSpan::Unknown };
            return None;
        }
        if let OffsetSpan::Unknown = self.learnt {
            self.learnt = constant_offset(zone, window).map_or(OffsetSpan::Varying, OffsetSpan::Offset);
        }
        if let OffsetSpan::Offset(offset) = self.learnt { Some(offset) } else { None }
    }
}

/// The offset of a window and its margins, if it has only one.
fn constant_offset(zone: Tz, window: i64) -> Option<i64> {
    let first = window.saturating_mul(WINDOW_SECONDS);
    let (mut at, end) = (first.saturating_sub(MARGIN_SECONDS), first.saturating_add(WINDOW_SECONDS + MARGIN_SECONDS));
    let offset = offset(zone, at)?;
    while at < end {
        at = end.min(at.saturating_add(SEARCH_STEP));
        if self::offset(zone, at)? != offset {
            return None;
        }
    }
    Some(offset)
}

/// The zone's offset at `instant`, in seconds.
fn offset(zone: Tz, instant: i64) -> Option<i64> {
    Some(seconds(&zone.offset_from_utc_datetime(&wall_clock(instant)?)))
}

fn seconds(offset: &impl Offset) -> i64 {
    offset.fix().local_minus_utc().into()
}

/// The date and time that a clock shows so many seconds after the epoch; in years beyond chrono's, that of the last
/// it has, which has the same offset.
fn wall_clock(seconds: i64) -> Option<NaiveDateTime> {
    Some(DateTime::from_timestamp(seconds.clamp(-MAX_SECONDS, MAX_SECONDS), 0)?.naive_utc())
}

impl ZoneClock {
    pub(crate) fn new(zone: Tz) -> Self {
        Self { history: zone, instants: OffsetCache::EMPTY, targets: OffsetCache::EMPTY }
    }

    /// What the wall clock is ahead of UTC at `instant`.
    #[inline]
    pub(crate) fn offset(&mut self, instant: i64) -> Option<i64> {
        match self.instants.offset(self.history, instant) {
            Some(offset) => Some(offset),
            None => offset(self.history, instant),
        }
    }

    /// What the wall clock is ahead of UTC when it shows `wall`, for an instant that had `preferred`.
    ///
    /// A time that does not exist moves on by the gap; a time that exists twice keeps the offset it had, if that
    /// is one of the two, and else takes the earlier one: the rules of `java.time.ZonedDateTime`, so Spark's.
    #[inline]
    pub(super) fn resolve(&mut self, wall: i64, preferred: i64) -> Option<i64> {
        // Every instant at which the clock shows `wall` lies within the margin of this one.
        match self.targets.offset(self.history, wall.checked_sub(preferred)?) {
            Some(offset) if (offset - preferred).abs() <= MARGIN_SECONDS => Some(offset),
            _ => self.search(wall, preferred),
        }
    }

    fn search(&self, wall: i64, preferred: i64) -> Option<i64> {
        match self.history.offset_from_local_datetime(&wall_clock(wall)?) {
            LocalResult::Single(only) => Some(seconds(&only)),
            LocalResult::Ambiguous(_, late) if seconds(&late) == preferred => Some(preferred),
            LocalResult::Ambiguous(early, _) => Some(seconds(&early)),
            // In the gap the offset from before it makes the time that the clock showed when it jumped. A day
            // earlier (in UTC, so with any offset) is before every gap there has been.
            LocalResult::None => offset(self.history, wall.checked_sub(SECONDS_PER_DAY)?),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn cached_offsets_match_lookups() {
        for name in ["America/New_York", "Pacific/Apia", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Manila"] {
            let tz = name.parse().unwrap();
            let mut zone = ZoneClock::new(tz);
            let apart = [0, 3_600, -5 * 3_600, SECONDS_PER_DAY];
            // From 1890 on, in steps that meet every window more than once, but no hour regularly.
            for row in 0..120_000_i64 {
                let instant = -2_524_521_600 + row * 37_123;
                let offset = zone.offset(instant);
                assert_eq!(offset, super::offset(tz, instant), "{name} at {instant}");
                let preferred = offset.unwrap() + apart[row as usize % apart.len()];
                let wall = instant + 9_000_000 + offset.unwrap();
                assert_eq!(zone.resolve(wall, preferred), zone.search(wall, preferred), "{name} at {wall}");
            }
        }
    }
}
