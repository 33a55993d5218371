//! Frames: the rows around a row that a function reads.
//!
//! ```text
//!   partition begin                 row                    partition end
//!   |---------------------------------*---------------------------|
//!   [-------- UNBOUNDED PRECEDING ----]                              growing
//!                                     [-- UNBOUNDED FOLLOWING ----]  shrinking
//!                           [---------*---------]                    moving
//!                 [-]                                                offset
//!   [-------------------------------------------------------------]  entire
//! ```

use std::fmt;

use super::argument::Arg;
use super::literal::Literal;

/// The unit of a frame's offsets.
///
/// ```
/// use windrow::{Bound, Frame, Units};
/// assert_eq!(Frame::groups(Bound::preceding(1), Bound::CurrentRow).units, Units::Groups);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Units {
    /// Rows.
    Rows,
    /// The distance in the single order key.
    Range,
    /// Groups of peers: rows with equal order keys.
    Groups,
}

/// The start or end of a frame.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Bound, Frame};
/// let last_week = Frame::range(Bound::preceding(Duration::from_secs(7 * 86_400)), Bound::CurrentRow);
/// let by_column = Frame::rows(Bound::preceding("lookback"), Bound::CurrentRow);
/// # assert_ne!(last_week, by_column);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// The partition's first row.
    UnboundedPreceding,
    /// At an offset before the row; a negative offset is after it.
    Preceding(Arg),
    /// The row itself; under RANGE and GROUPS with its peers.
    CurrentRow,
    /// At an offset after the row; a negative offset is before it.
    Following(Arg),
    /// The partition's last row.
    UnboundedFollowing,
}

impl Bound {
    /// `offset` rows, groups or key units before the row: a number, a [`Duration`](std::time::Duration), an interval
    /// ([`Literal::Interval`]), or the name of a column with an offset per row.
    pub fn preceding(offset: impl Into<Arg>) -> Self {
        Self::Preceding(offset.into())
    }

    /// `offset` rows, groups or key units after the row, as in [`Bound::preceding`].
    pub fn following(offset: impl Into<Arg>) -> Self {
        Self::Following(offset.into())
    }
}

/// The rows that are removed from the frame.
///
/// ```
/// use windrow::{Exclude, Frame, calls::avg};
/// let others = avg("level").over(Frame::entire().exclude(Exclude::CurrentRow));
/// assert_eq!(others.frame.unwrap().exclude, Exclude::CurrentRow);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Exclude {
    /// None.
    #[default]
    NoOthers,
    /// The row itself.
    CurrentRow,
    /// The row and its peers.
    Group,
    /// The row's peers, but not the row.
    Ties,
}

/// The rows around a row that a function reads.
///
/// ```
/// use windrow::{Bound, Exclude, Frame, Shape};
/// let others = Frame::rows(Bound::preceding(3), Bound::following(3)).exclude(Exclude::CurrentRow);
/// assert_eq!((others.width(), others.shape()), (Some(7), Shape::Moving));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The unit of the offsets.
    pub units: Units,
    /// The first row.
    pub start: Bound,
    /// The last row, inclusive.
    pub end: Bound,
    /// The rows that are removed.
    pub exclude: Exclude,
    /// Whether a start and an end at an offset of the order key are themselves outside of the frame.
    pub open: OpenBounds,
    /// Whether intervals of time are elapsed: 24 hours are not a calendar day where a clock changes.
    pub elapsed: bool,
}

/// Which bounds of a RANGE frame are open: rows whose key is exactly at the offset are outside of the frame.
///
/// ```
/// use windrow::{Bound, Frame, OpenBounds};
/// let after_t_minus_7 = Frame::range(Bound::preceding(7), Bound::CurrentRow).open(OpenBounds { start: true, end: false });
/// assert!(after_t_minus_7.open.start);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct OpenBounds {
    /// The start.
    pub start: bool,
    /// The end.
    pub end: bool,
}

impl Frame {
    /// `ROWS BETWEEN start AND end`
    #[must_use]
    pub fn rows(start: Bound, end: Bound) -> Self {
        Self { units: Units::Rows, start, end, exclude: Exclude::NoOthers, open: OpenBounds::default(), elapsed: false }
    }

    /// `RANGE BETWEEN start AND end`
    #[must_use]
    pub fn range(start: Bound, end: Bound) -> Self {
        Self {
            units: Units::Range,
            start,
            end,
            exclude: Exclude::NoOthers,
            open: OpenBounds::default(),
            elapsed: false,
        }
    }

    /// `GROUPS BETWEEN start AND end`
    #[must_use]
    pub fn groups(start: Bound, end: Bound) -> Self {
        Self {
            units: Units::Groups,
            start,
            end,
            exclude: Exclude::NoOthers,
            open: OpenBounds::default(),
            elapsed: false,
        }
    }

    /// The whole partition.
    #[must_use]
    pub fn entire() -> Self {
        Self::rows(Bound::UnboundedPreceding, Bound::UnboundedFollowing)
    }

    /// Sets the rows that are removed.
    #[must_use]
    pub fn exclude(mut self, exclude: Exclude) -> Self {
        self.exclude = exclude;
        self
    }

    /// Sets which bounds are open.
    #[must_use]
    pub fn open(mut self, open: OpenBounds) -> Self {
        self.open = open;
        self
    }

    /// Sets whether intervals of time are elapsed.
    #[must_use]
    pub fn elapsed(mut self, elapsed: bool) -> Self {
        self.elapsed = elapsed;
        self
    }

    /// The number of rows of a ROWS frame away from the partition's ends; `None` if it varies.
    #[must_use]
    pub fn width(&self) -> Option<i128> {
        if self.units == Units::Rows { Some(fixed(&self.end)? - fixed(&self.start)? + 1) } else { None }
    }

    /// The shape of the frame, derived from its bounds.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match (&self.start, &self.end) {
            (Bound::UnboundedPreceding, Bound::UnboundedFollowing) => Shape::Entire,
            (Bound::UnboundedPreceding, _) => Shape::Growing,
            (_, Bound::UnboundedFollowing) => Shape::Shrinking,
            (start, end) if self.units == Units::Rows && fixed(start).is_some() && fixed(start) == fixed(end) => {
                Shape::Offset
            }
            _ => Shape::Moving,
        }
    }
}

/// A bound's distance from the row, negative before it; `None` if it varies.
fn fixed(bound: &Bound) -> Option<i128> {
    match bound {
        Bound::CurrentRow => Some(0),
        Bound::Preceding(Arg::Literal(Literal::Int(n))) => Some(-i128::from(*n)),
        Bound::Following(Arg::Literal(Literal::Int(n))) => Some(i128::from(*n)),
        _ => None,
    }
}

/// The shape of a frame, one of the five that Spark's `WindowExec` distinguishes.
///
/// ```
/// use windrow::{Bound, Frame, Shape};
/// assert_eq!(Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow).shape(), Shape::Growing);
/// assert_eq!(Frame::rows(Bound::preceding(2), Bound::preceding(2)).shape(), Shape::Offset);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// The whole partition.
    Entire,
    /// From the partition's first row.
    Growing,
    /// To the partition's last row.
    Shrinking,
    /// Both ends move.
    Moving,
    /// One row at a fixed distance.
    Offset,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entire => "entire",
            Self::Growing => "growing",
            Self::Shrinking => "shrinking",
            Self::Moving => "moving",
            Self::Offset => "offset",
        })
    }
}
