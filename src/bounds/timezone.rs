//! UTC offsets of a time zone, cached for consecutive rows.
//!
//! Rows are sorted, so most lie within the same few days as the previous row. If the zone's offset does not change
//! around these days, the cached offset serves all their rows: a comparison instead of a search in the zone's
//! transitions. Memory: constant.

use arrow_array::timezone::Tz;
use chrono::{DateTime, LocalResult, NaiveDateTime, Offset, TimeZone};

use crate::util::civil::SECONDS_PER_DAY;

/// The time zone of this name; `None` for UTC, where every day has 24 hours.
///
/// Besides the names of the tz database, the forms of Java's `ZoneId` are known, which Spark takes for a session's zone:
/// `GMT+2`, `UTC+01:00`, `+5`, and the three letters of [`SHORT_IDS`].
///
/// # Errors
/// What is wrong with the name, as the end of a sentence.
pub(crate) fn named_zone(name: &str) -> Result<Option<Tz>, &'static str> {
    let known = SHORT_IDS.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| *long);
    let offset = java_offset(known);
    let found = offset.as_deref().unwrap_or(known);
    if matches!(found, "UTC" | "Etc/UTC" | "GMT" | "UT" | "Z" | "+00:00" | "-00:00" | "+0000") {
        return Ok(None);
    }
    found.parse().map(Some).map_err(|_| {
        if cfg!(feature = "timezones") {
            "which is no time zone known here: give it a zone such as \"Europe/Paris\" or \"+01:00\""
        } else {
            "and this build of windrow knows offsets such as \"+01:00\" only: build it with the feature \"timezones\""
        }
    })
}

/// An offset as `+hh:mm`, of what Java and Spark read as one: `+5`, `+05`, `+5:30`, `+05:3`, `+0530`, `GMT+2`, `UT-01:00`.
fn java_offset(name: &str) -> Option<String> {
    let signed =
        ["UTC", "GMT", "UT", ""].iter().find_map(|prefix| name.strip_prefix(prefix).filter(|s| is_signed(s)))?;
    let (sign, digits) = signed.split_at(1);
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at(2),
        None => (digits, "0"),
    };
    let part = |text: &str, most: u8| {
        let is_short = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<u8>().ok().filter(|value| is_short && *value <= most)
    };
    Some(format!("{sign}{:02}:{:02}", part(hours, 18)?, part(minutes, 59)?))
}

fn is_signed(text: &str) -> bool {
    text.is_ascii() && text.starts_with(['+', '-'])
}

/// Java's `ZoneId.SHORT_IDS`, which Spark reads.
const SHORT_IDS: [(&str, &str); 28] = [
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("EST", "-05:00"),
    ("HST", "-10:00"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("MST", "-07:00"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

/// The seconds that a cache entry covers; short, so that few entries contain a change of offset.
const WINDOW_SECONDS: i64 = 4 * SECONDS_PER_DAY;

/// How far an entry is valid beyond its window: at least the difference of any two UTC offsets.
const MARGIN_SECONDS: i64 = SECONDS_PER_DAY;

/// The step of the search for changes of offset. No zone has had two changes within two steps (the shortest period in
/// the tz database is four days: Freetown, September 1939).
const SEARCH_STEP: i64 = 2 * SECONDS_PER_DAY;

/// The range of chrono's years in seconds from the epoch, on either side, rounded down.
const MAX_SECONDS: i64 = 8_000_000_000_000;

/// A time zone with cached offsets.
#[derive(Debug, Clone)]
pub(crate) struct ZoneClock {
    history: Tz,
    /// Rows and their targets are at different times, so each has its own cache entry.
    instants: OffsetCache,
    targets: OffsetCache,
}

/// The cache entry of one window, identified by its number.
#[derive(Debug, Clone, Copy)]
struct OffsetCache {
    window: i64,
    span: OffsetSpan,
}

#[derive(Debug, Clone, Copy)]
enum OffsetSpan {
    /// Requested only once so far: computing the entry costs more than one lookup.
    Unknown,
    /// The offset throughout the window and its margins.
    Offset(i64),
    /// The offset changes within the window or its margins.
    Varying,
}

impl OffsetCache {
    const EMPTY: Self = Self { window: i64::MIN, span: OffsetSpan::Varying };

    /// The offset at `instant`, if it is cached and constant for a day before and after.
    #[inline]
    fn offset(&mut self, zone: Tz, instant: i64) -> Option<i64> {
        let window = instant.div_euclid(WINDOW_SECONDS);
        if self.window != window {
            *self = Self { window, span: OffsetSpan::Unknown };
            return None;
        }
        if let OffsetSpan::Unknown = self.span {
            self.span = constant_offset(zone, window).map_or(OffsetSpan::Varying, OffsetSpan::Offset);
        }
        if let OffsetSpan::Offset(offset) = self.span { Some(offset) } else { None }
    }
}

/// The offset of a window and its margins, if it is constant.
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

/// The UTC date and time of `seconds` since the epoch; in years outside chrono's range, that of the last one, which has
/// the same offset.
fn wall_clock(seconds: i64) -> Option<NaiveDateTime> {
    Some(DateTime::from_timestamp(seconds.clamp(-MAX_SECONDS, MAX_SECONDS), 0)?.naive_utc())
}

impl ZoneClock {
    pub(crate) fn new(zone: Tz) -> Self {
        Self { history: zone, instants: OffsetCache::EMPTY, targets: OffsetCache::EMPTY }
    }

    /// The UTC offset at `instant`, in seconds.
    #[inline]
    pub(crate) fn offset(&mut self, instant: i64) -> Option<i64> {
        match self.instants.offset(self.history, instant) {
            Some(offset) => Some(offset),
            None => offset(self.history, instant),
        }
    }

    /// The UTC offset in seconds at local time `wall`, derived from an instant with the offset `preferred`.
    ///
    /// A local time that does not exist moves forward by the length of the gap; one that exists twice keeps the offset
    /// `preferred` if that is one of the two, else takes the earlier: the rules of `java.time.ZonedDateTime`, and so
    /// Spark's.
    #[inline]
    pub(super) fn resolve(&mut self, wall: i64, preferred: i64) -> Option<i64> {
        // All instants with this local time lie within the margin.
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
            // In a gap, the offset before it gives the shifted time. A day earlier (in UTC, for any offset) is before
            // every known gap.
            LocalResult::None => offset(self.history, wall.checked_sub(SECONDS_PER_DAY)?),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn zones_of_java_are_known() {
        let offsets = [
            ("+5", "+05:00"),
            ("-05", "-05:00"),
            ("+5:30", "+05:30"),
            ("+05:3", "+05:03"),
            ("-0530", "-05:30"),
            ("GMT+2", "+02:00"),
            ("UTC+01:00", "+01:00"),
            ("UT-01:00", "-01:00"),
            ("EST", "-05:00"),
            ("PST", "America/Los_Angeles"),
        ];
        for (name, known) in offsets {
            let expected: Tz = known.parse().unwrap();
            assert_eq!(format!("{:?}", named_zone(name).unwrap().unwrap()), format!("{expected:?}"), "{name}");
        }
        for name in ["UT", "GMT", "+0", "UTC+0", "GMT-00:00", "Z"] {
            assert!(named_zone(name).unwrap().is_none(), "{name}");
        }
        for name in ["GMT+", "GMT+19", "+5:60", "+123", "UTC+1:2:3", "UTC5", "+٥", "", "Nowhere"] {
            assert!(named_zone(name).is_err(), "{name}");
        }
    }

    #[test]
    fn cached_offsets_match_lookups() {
        for name in ["America/New_York", "Pacific/Apia", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Manila"] {
            let tz = name.parse().unwrap();
            let mut zone = ZoneClock::new(tz);
            let apart = [0, 3_600, -5 * 3_600, SECONDS_PER_DAY];
            // From 1890 on, in steps that hit every window more than once at varying times of day.
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
