//! RANGE offsets as signed distances in the key's unit, and the target keys they give.
//!
//! A target outside the key type's range lies before or after all rows; it neither wraps nor fails.

use arrow_buffer::i256;

use super::calendar::{CalendarAdder, CalendarStep};
use super::range_key::KeyPlan;
use crate::sort::key_order::{Coded, FromCode};

/// The start or the end of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameSide {
    Start,
    End,
}

/// A bound of a frame, and how it is searched.
///
/// An open bound is found as the other side is: an open start is the first row after its key, as a closed end is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) side: FrameSide,
    pub(super) search: FrameSide,
}

/// A signed distance in sort direction, in the key's unit; negative is before the row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RangeOffset {
    /// For small keys that are whole numbers of a unit.
    Whole(i128),
    /// For double-precision keys.
    Double(f64),
    /// For single-precision keys.
    Single(f32),
    /// For 128-bit keys.
    Wide(i128),
    /// For 256-bit keys.
    Huge(i256),
    /// For dates and timestamps, by the calendar.
    Calendar(CalendarStep),
}

/// The position of a bound among the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target<K> {
    /// Before every key.
    Before,
    /// At this key.
    At(K),
    /// After every key.
    After,
}

impl<K> Target<K> {
    /// The target among keys of another type.
    #[inline]
    pub(super) fn map<L>(self, to: impl FnOnce(K) -> L) -> Target<L> {
        match self {
            Self::Before => Target::Before,
            Self::At(key) => Target::At(to(key)),
            Self::After => Target::After,
        }
    }

    fn new(key: Option<K>, forward: bool) -> Self {
        match key {
            Some(key) => Self::At(key),
            None if forward => Self::After,
            None => Self::Before,
        }
    }
}

impl RangeOffset {
    /// Whether it is negative.
    pub(super) fn points_back(&self) -> bool {
        match self {
            Self::Whole(by) | Self::Wide(by) => *by < 0,
            Self::Double(by) => *by < 0.0,
            Self::Single(by) => *by < 0.0,
            Self::Huge(by) => *by < i256::ZERO,
            Self::Calendar(step) => step.points_back(),
        }
    }

    /// Whether it is positive.
    pub(super) fn points_forward(&self) -> bool {
        match self {
            Self::Whole(by) | Self::Wide(by) => *by > 0,
            Self::Double(by) => *by > 0.0,
            Self::Single(by) => *by > 0.0,
            Self::Huge(by) => *by > i256::ZERO,
            Self::Calendar(step) => step.points_forward(),
        }
    }

    /// The target for a 64-bit key.
    #[inline]
    pub(super) fn small(&self, plan: &KeyPlan, key: i64) -> Target<i64> {
        match self {
            // 128-bit keys may be stored in 64 bits: a target outside of 64 bits is then outside of all keys.
            Self::Whole(by) | Self::Wide(by) => whole(key, *by),
            Self::Double(by) => Target::At(double(key, *by, plan.options.descending)),
            Self::Single(by) => Target::At(single(key, *by, plan.options.descending)),
            Self::Calendar(step) => match &plan.calendar {
                Some(calendar) => by_calendar(&mut CalendarAdder::new(calendar), key, *step, plan.options.descending),
                None => Target::At(key),
            },
            // Only 256-bit keys have such offsets.
            Self::Huge(_) => Target::At(key),
        }
    }
}

/// The target for an integer key.
#[inline]
pub(super) fn whole(key: i64, by: i128) -> Target<i64> {
    let sum = i128::from(key).saturating_add(by);
    Target::new(i64::try_from(sum).ok(), by > 0)
}

/// The target for a 128-bit key.
#[inline]
pub(super) fn wide(key: i128, by: i128) -> Target<i128> {
    Target::new(key.checked_add(by), by > 0)
}

/// The target for a 256-bit key.
#[inline]
pub(super) fn huge(key: i256, by: i256) -> Target<i256> {
    Target::new(key.checked_add(by), by > i256::ZERO)
}

/// The target for a double key: IEEE addition in sort direction. An infinite offset includes everything on its side,
/// also from the opposite infinity, where the sum would be NaN.
#[inline]
pub(super) fn double(key: i64, by: f64, descending: bool) -> i64 {
    let (flip, by) = if descending { (-1, -by) } else { (0, by) };
    let value = f64::from_code(key ^ flip);
    let sum = value + by;
    let sum = if sum.is_nan() && !value.is_nan() { by } else { sum };
    sum.code() ^ flip
}

/// As [`double`], for single precision.
#[inline]
pub(super) fn single(key: i64, by: f32, descending: bool) -> i64 {
    let (flip, by) = if descending { (-1, -by) } else { (0, by) };
    let value = f32::from_code((key ^ flip) as i32);
    let sum = value + by;
    let sum = if sum.is_nan() && !value.is_nan() { by } else { sum };
    i64::from(sum.code()) ^ flip
}

/// The target for a date or timestamp.
#[inline]
pub(super) fn by_calendar(mover: &mut CalendarAdder, key: i64, step: CalendarStep, descending: bool) -> Target<i64> {
    let (flip, by) = if descending { (-1, step.reversed()) } else { (0, step) };
    let target = mover.add(key ^ flip, by);
    Target::new(target.map(|target| target ^ flip), step.points_forward())
}
