//! Resolves a frame against the schema; all errors of a frame's definition are raised here, once per call.

use std::cmp::Ordering;

use arrow_schema::DataType;

use super::calendar::Calendar;
use super::offset_column::OffsetColumn;
use super::offset_literal::{key_zone, literal, unorderable};
use super::range_key::{KeyPlan, takes_offsets};
use super::range_offset::{Edge, FrameSide, RangeOffset};
use super::rows::MAX_ROW_OFFSET;
use crate::error::{Error, Result};
use crate::model::order_column::OrderColumn;
use crate::model::reach::Reach;
use crate::spec::argument::Arg;
use crate::spec::frame::{Bound, Exclude, Frame, Shape, Units};
use crate::spec::literal::Literal;
use crate::spec::sql_text::literal_sql;
use crate::util::civil::MICROS_PER_DAY;
use crate::util::data_types::decoded_type;

/// A frame resolved against the order columns and the schema.
#[derive(Debug, Clone)]
pub struct FramePlan {
    frame: Frame,
    pub(super) start: ResolvedBound,
    pub(super) end: ResolvedBound,
    pub(super) key: Option<KeyPlan>,
}

/// A bound of a frame, resolved. Numbers are signed; negative is before the row.
#[derive(Debug, Clone)]
pub(super) enum ResolvedBound {
    /// The start or end of the partition.
    Unbounded,
    /// At this many rows from the row.
    Rows(i64),
    /// At a number of rows from the row that a column gives.
    RowsBy(OffsetColumn),
    /// The start or end of the row's peers.
    Peers,
    /// At this many peer groups from the row's.
    Groups(i64),
    /// At a number of peer groups from the row's that a column gives.
    GroupsBy(OffsetColumn),
    /// At a distance from the row's key.
    Key(RangeOffset),
    /// At a distance from the row's key that a column gives.
    KeyBy(OffsetColumn),
}

impl ResolvedBound {
    /// The column of offsets, if there is one.
    pub(super) fn offset_column(&self) -> Option<&OffsetColumn> {
        match self {
            Self::RowsBy(column) | Self::GroupsBy(column) | Self::KeyBy(column) => Some(column),
            _ => None,
        }
    }
}

impl FramePlan {
    /// Resolves `frame` against `order`; `None` is the SQL default. `column` maps a column's name to its number and
    /// type; `timezone` is the time zone of timestamps whose type has an empty one.
    ///
    /// # Errors
    /// A frame that SQL does not allow; an offset that does not suit the key's type; an unknown column.
    pub fn resolve(
        frame: Option<&Frame>,
        order: &[OrderColumn],
        column: &dyn Fn(&str) -> Result<(usize, DataType)>,
        timezone: &str,
    ) -> Result<Self> {
        let frame = match frame {
            Some(frame) => frame.clone(),
            None if order.is_empty() => Frame::entire(),
            None => Frame::range(Bound::UnboundedPreceding, Bound::CurrentRow),
        };
        check_ends(&frame, order)?;
        let key = match frame.units {
            Units::Range if has_offset(&frame.start) || has_offset(&frame.end) => Some(range_key(order, timezone)?),
            _ => None,
        };
        check_order(&frame)?;
        let start = resolve_bound(&frame, &frame.start, FrameSide::Start, key.as_ref(), column)?;
        let end = resolve_bound(&frame, &frame.end, FrameSide::End, key.as_ref(), column)?;
        check_offsets(&frame, &start, &end)?;
        Ok(Self { frame, start, end, key })
    }

    /// The effective frame, with the default made explicit.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Which of the five shapes the frame has.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.frame.shape()
    }

    /// Whether no bound moves back within a partition. Offsets per row may move it back.
    #[must_use]
    pub fn monotone(&self) -> bool {
        self.start.offset_column().is_none() && self.end.offset_column().is_none()
    }

    /// Whether the peer groups of a section are needed.
    #[must_use]
    pub fn needs_peers(&self) -> bool {
        let by_peers = |edge: &ResolvedBound| {
            matches!(edge, ResolvedBound::Peers | ResolvedBound::Groups(_) | ResolvedBound::GroupsBy(_))
        };
        by_peers(&self.start) || by_peers(&self.end) || self.excludes_peers()
    }

    /// The numbers of the columns that determine the frames: the order key and offset columns.
    #[must_use]
    pub fn columns(&self) -> Vec<usize> {
        let offsets =
            [&self.start, &self.end].into_iter().filter_map(ResolvedBound::offset_column).map(|column| column.number);
        let mut columns: Vec<_> = self.key.iter().map(|key| key.number).chain(offsets).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// How far frames reach before and after their row.
    ///
    /// Sections are cut only where a peer group begins, so frames that end with the row's peers do not reach beyond it.
    #[must_use]
    pub fn reach(&self) -> (Reach, Reach) {
        let before = match &self.start {
            // A state can represent the first rows only if no later frame ends among them.
            ResolvedBound::Unbounded if self.end.offset_column().is_some() => Reach::Everything,
            ResolvedBound::Unbounded => Reach::State,
            ResolvedBound::Rows(by) if *by < 0 => Reach::Rows(by.unsigned_abs()),
            ResolvedBound::Groups(by) if *by < 0 => Reach::Groups(by.unsigned_abs()),
            ResolvedBound::Key(by) if by.points_back() => Reach::Within,
            ResolvedBound::Rows(_) | ResolvedBound::Groups(_) | ResolvedBound::Key(_) | ResolvedBound::Peers => {
                Reach::Nothing
            }
            ResolvedBound::RowsBy(_) | ResolvedBound::GroupsBy(_) | ResolvedBound::KeyBy(_) => Reach::Everything,
        };
        let after = match &self.end {
            ResolvedBound::Rows(by) if *by > 0 => Reach::Rows(by.unsigned_abs()),
            ResolvedBound::Groups(by) if *by > 0 => Reach::Groups(by.unsigned_abs()),
            ResolvedBound::Key(by) if by.points_forward() => Reach::Within,
            ResolvedBound::Rows(_) | ResolvedBound::Groups(_) | ResolvedBound::Key(_) | ResolvedBound::Peers => {
                Reach::Nothing
            }
            ResolvedBound::Unbounded if self.start.offset_column().is_some() => Reach::Everything,
            ResolvedBound::Unbounded => Reach::State,
            ResolvedBound::RowsBy(_) | ResolvedBound::GroupsBy(_) | ResolvedBound::KeyBy(_) => Reach::Everything,
        };
        (before, after)
    }

    /// The frame with each bound that is a number of rows or peer groups away replaced by the partition's start or end,
    /// and the maximum length of a partition for which this makes no difference; `None` if there is no such bound.
    pub(crate) fn with_entire_frame(&self) -> Option<(Self, usize)> {
        let mut wide = self.clone();
        let mut most = u64::MAX;
        if let ResolvedBound::Rows(by @ ..0) | ResolvedBound::Groups(by @ ..0) = self.start {
            (wide.start, wide.frame.start) = (ResolvedBound::Unbounded, Bound::UnboundedPreceding);
            most = by.unsigned_abs() + 1;
        }
        if let ResolvedBound::Rows(by @ 1..) | ResolvedBound::Groups(by @ 1..) = self.end {
            (wide.end, wide.frame.end) = (ResolvedBound::Unbounded, Bound::UnboundedFollowing);
            most = most.min(by.unsigned_abs() + 1);
        }
        (most < u64::MAX).then(|| (wide, usize::try_from(most).unwrap_or(usize::MAX)))
    }

    /// How the start or the end is searched.
    pub(super) fn edge(&self, side: FrameSide) -> Edge {
        edge(&self.frame, side)
    }

    /// Whether EXCLUDE removes peers.
    pub(super) fn excludes_peers(&self) -> bool {
        matches!(self.frame.exclude, Exclude::Group | Exclude::Ties)
    }
}

/// How a bound of `frame` is searched.
fn edge(frame: &Frame, side: FrameSide) -> Edge {
    let search = match side {
        FrameSide::Start if frame.open.start => FrameSide::End,
        FrameSide::End if frame.open.end => FrameSide::Start,
        closed => closed,
    };
    Edge { side, search }
}

fn has_offset(bound: &Bound) -> bool {
    matches!(bound, Bound::Preceding(_) | Bound::Following(_))
}

/// The checks that need no offsets.
fn check_ends(frame: &Frame, order: &[OrderColumn]) -> Result<()> {
    if frame.start == Bound::UnboundedFollowing {
        return Err(Error::spec("a frame cannot start at UNBOUNDED FOLLOWING: start it at a bound before its end"));
    }
    if frame.end == Bound::UnboundedPreceding {
        return Err(Error::spec("a frame cannot end at UNBOUNDED PRECEDING: end it at a bound after its start"));
    }
    let bounds = [(frame.open.start, &frame.start), (frame.open.end, &frame.end)];
    if bounds.iter().any(|(open, bound)| *open && !(frame.units == Units::Range && has_offset(bound))) {
        return Err(Error::spec("only a bound of a RANGE frame at an offset can be open: close it, or give an offset"));
    }
    let entire = (&frame.start, &frame.end) == (&Bound::UnboundedPreceding, &Bound::UnboundedFollowing);
    if order.is_empty() && frame.units != Units::Rows && !entire {
        let units = if frame.units == Units::Range { "RANGE" } else { "GROUPS" };
        return Err(Error::spec(format!("a {units} frame needs an order: add ORDER BY, or use ROWS")));
    }
    Ok(())
}

/// Rejects literal offsets in the wrong order; as in Spark, only if both bounds are literals.
fn check_order(frame: &Frame) -> Result<()> {
    let (Some(start), Some(end)) = (literal_of(&frame.start), literal_of(&frame.end)) else {
        return Ok(());
    };
    let wrong = match (start, end) {
        ((Literal::Int(start), before), (Literal::Int(end), after)) => {
            signed_count(*start, before) > signed_count(*end, after)
        }
        ((start @ Literal::Interval { .. }, before), (end @ Literal::Interval { .. }, after)) => {
            match (distance(start, before), distance(end, after)) {
                (Some((0, start)), Some((0, end))) | (Some((start, 0)), Some((end, 0))) => start > end,
                (Some(_), Some(_)) => {
                    return Err(Error::spec(format!(
                        "the frame's offsets are of two kinds, {} and {}: give both in months, or both in days and time",
                        literal_sql(start),
                        literal_sql(end)
                    )));
                }
                // Months and days cannot be compared; such a frame may be empty.
                _ => false,
            }
        }
        ((Literal::Interval { .. }, _), (end, _)) | ((end, _), (Literal::Interval { .. }, _))
            if frame.units == Units::Range && *end != Literal::Null =>
        {
            return Err(Error::spec(format!(
                "one offset of the frame is an interval and the other is {}: give both as intervals, or both as numbers",
                literal_sql(end)
            )));
        }
        _ => false,
    };
    if wrong { Err(wrong_order(start.0, end.0)) } else { Ok(()) }
}

/// Rejects literal offsets in the wrong order, after conversion to the key's unit.
fn check_offsets(frame: &Frame, start: &ResolvedBound, end: &ResolvedBound) -> Result<()> {
    let (ResolvedBound::Key(start), ResolvedBound::Key(end)) = (start, end) else {
        return Ok(());
    };
    let (Some(first), Some(last)) = (literal_of(&frame.start), literal_of(&frame.end)) else {
        return Ok(());
    };
    // Intervals were compared as given; here they are already rounded.
    if matches!(first.0, Literal::Interval { .. }) {
        return Ok(());
    }
    let order = match (start, end) {
        (RangeOffset::Whole(start), RangeOffset::Whole(end)) | (RangeOffset::Wide(start), RangeOffset::Wide(end)) => {
            Some(start.cmp(end))
        }
        (RangeOffset::Double(start), RangeOffset::Double(end)) => start.partial_cmp(end),
        (RangeOffset::Single(start), RangeOffset::Single(end)) => start.partial_cmp(end),
        (RangeOffset::Huge(start), RangeOffset::Huge(end)) => Some(start.cmp(end)),
        _ => None,
    };
    if order == Some(Ordering::Greater) { Err(wrong_order(first.0, last.0)) } else { Ok(()) }
}

fn wrong_order(start: &Literal, end: &Literal) -> Error {
    Error::spec(format!(
        "the frame starts (offset {}) after it ends (offset {}): exchange its bounds",
        literal_sql(start),
        literal_sql(end)
    ))
}

/// A bound's literal offset, and whether it is PRECEDING.
fn literal_of(bound: &Bound) -> Option<(&Literal, bool)> {
    match bound {
        Bound::Preceding(Arg::Literal(literal)) => Some((literal, true)),
        Bound::Following(Arg::Literal(literal)) => Some((literal, false)),
        _ => None,
    }
}

fn signed_count(by: i64, preceding: bool) -> i128 {
    if preceding { -i128::from(by) } else { i128::from(by) }
}

/// An interval as months and microseconds, one of which is zero; `None` if neither is.
fn distance(literal: &Literal, preceding: bool) -> Option<(i128, i128)> {
    let Literal::Interval { months, days, micros } = literal else {
        return None;
    };
    let time = i128::from(*days) * i128::from(MICROS_PER_DAY) + i128::from(*micros);
    let sign = if preceding { -1 } else { 1 };
    (*months == 0 || time == 0).then_some((sign * i128::from(*months), sign * time))
}

/// The single order key to which offsets apply.
fn range_key(order: &[OrderColumn], timezone: &str) -> Result<KeyPlan> {
    single_key(order, timezone, "RANGE with an offset", "order by one, or use ROWS or GROUPS")
}

/// The single order key, of which `what` is a distance.
pub(super) fn single_key(order: &[OrderColumn], timezone: &str, what: &str, remedy: &str) -> Result<KeyPlan> {
    let [key] = order else {
        return Err(Error::spec(format!(
            "{what} needs exactly one ORDER BY key, and there are {}: {remedy}",
            order.len()
        )));
    };
    let data_type = decoded_type(&key.data_type).clone();
    let calendar = Calendar::new(&data_type, key_zone(&data_type, timezone, &key.name)?);
    let plan = KeyPlan { number: key.number, name: key.name.clone(), data_type, options: key.options, calendar };
    if takes_offsets(&plan.data_type) { Ok(plan) } else { Err(unorderable(&plan, what)) }
}

/// Resolves one bound of `frame`.
fn resolve_bound(
    frame: &Frame,
    bound: &Bound,
    side: FrameSide,
    key: Option<&KeyPlan>,
    column: &dyn Fn(&str) -> Result<(usize, DataType)>,
) -> Result<ResolvedBound> {
    let (arg, preceding) = match bound {
        Bound::UnboundedPreceding | Bound::UnboundedFollowing => return Ok(ResolvedBound::Unbounded),
        Bound::CurrentRow if frame.units == Units::Rows => return Ok(ResolvedBound::Rows(0)),
        Bound::CurrentRow => return Ok(ResolvedBound::Peers),
        Bound::Preceding(arg) => (arg, true),
        Bound::Following(arg) => (arg, false),
    };
    match arg {
        Arg::Column(name) => {
            let per_row = OffsetColumn::new(name, column(name)?, key, preceding)?;
            Ok(match frame.units {
                Units::Rows => ResolvedBound::RowsBy(per_row),
                Units::Groups => ResolvedBound::GroupsBy(per_row),
                Units::Range => ResolvedBound::KeyBy(per_row),
            })
        }
        Arg::Literal(offset) => match (key, frame.units) {
            (Some(key), _) => {
                Ok(ResolvedBound::Key(literal(key, offset, preceding, edge(frame, side).search, frame.elapsed)?))
            }
            (None, Units::Groups) => Ok(ResolvedBound::Groups(literal_count(offset, preceding, "GROUPS")?)),
            (None, _) => Ok(ResolvedBound::Rows(literal_count(offset, preceding, "ROWS")?)),
        },
    }
}

/// A literal number of rows or groups.
fn literal_count(offset: &Literal, preceding: bool, units: &str) -> Result<i64> {
    match offset {
        // Beyond MAX_ROW_OFFSET every row is clamped alike.
        Literal::Int(by) => {
            Ok(signed_count(*by, preceding).clamp(-i128::from(MAX_ROW_OFFSET), i128::from(MAX_ROW_OFFSET)) as i64)
        }
        other => Err(Error::spec(format!(
            "{units} offset {} is not a whole number: give one, or UNBOUNDED",
            literal_sql(other)
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

    use std::sync::Arc;

    use arrow_schema::{Field, SortOptions};

    use super::*;
    use crate::error::ErrorKind;

    fn order(data_types: &[DataType]) -> Vec<OrderColumn> {
        let column = |(number, data_type): (usize, &DataType)| OrderColumn {
            number,
            data_type: data_type.clone(),
            options: SortOptions::default(),
            name: format!("k{number}"),
        };
        data_types.iter().enumerate().map(column).collect()
    }

    fn resolve(frame: Option<Frame>, keys: &[DataType]) -> Result<FramePlan> {
        let column = |name: &str| match name {
            "n" => Ok((7, DataType::Int16)),
            "text" => Ok((8, DataType::Utf8)),
            _ => Err(Error::spec(format!("no column {name:?}"))),
        };
        FramePlan::resolve(frame.as_ref(), &order(keys), &column, "UTC")
    }

    fn interval(months: i32, days: i32) -> Arg {
        Literal::Interval { months, days, micros: 0 }.into()
    }

    use Bound::{CurrentRow, Following, Preceding, UnboundedFollowing, UnboundedPreceding};

    const INT: DataType = DataType::Int64;

    #[test]
    fn the_default_frame_depends_on_the_order() {
        assert_eq!(resolve(None, &[]).unwrap().frame(), &Frame::entire());
        let ordered = resolve(None, &[DataType::Utf8, INT]).unwrap();
        assert_eq!(ordered.frame(), &Frame::range(UnboundedPreceding, CurrentRow));
        assert_eq!(ordered.reach(), (Reach::State, Reach::Nothing));
        assert_eq!(ordered.shape(), Shape::Growing);
        assert!(ordered.needs_peers() && ordered.monotone() && ordered.columns().is_empty());
    }

    #[test]
    fn reach_depends_on_offset_signs() {
        let reach = |frame| resolve(Some(frame), &[INT]).unwrap().reach();
        let by = Bound::preceding;
        assert_eq!(reach(Frame::rows(by(3), by(1))), (Reach::Rows(3), Reach::Nothing));
        assert_eq!(reach(Frame::rows(by(-1), by(-3))), (Reach::Nothing, Reach::Rows(3)));
        assert_eq!(reach(Frame::groups(by(2), Bound::following(1))), (Reach::Groups(2), Reach::Groups(1)));
        assert_eq!(reach(Frame::range(by(2), CurrentRow)), (Reach::Within, Reach::Nothing));
        assert_eq!(reach(Frame::range(CurrentRow, Bound::following(2))), (Reach::Nothing, Reach::Within));
        assert_eq!(reach(Frame::entire()), (Reach::State, Reach::State));
        let column = || Preceding(Arg::column("n"));
        assert_eq!(reach(Frame::rows(column(), CurrentRow)), (Reach::Everything, Reach::Nothing));
        assert_eq!(reach(Frame::rows(UnboundedPreceding, column())), (Reach::Everything, Reach::Everything));
        let plan = resolve(Some(Frame::range(column(), CurrentRow)), &[INT]).unwrap();
        assert_eq!((plan.monotone(), plan.columns()), (false, vec![0, 7]));
    }

    #[test]
    fn invalid_frames_are_refused() {
        let (by, on) = (Bound::preceding, Bound::following);
        let text = || Preceding(Arg::from(Literal::Utf8("1".into())));
        let null = || Preceding(Arg::from(Literal::Null));
        let cases: Vec<(Frame, &[DataType])> = vec![
            (Frame::rows(UnboundedFollowing, UnboundedFollowing), &[INT]),
            (Frame::rows(UnboundedPreceding, UnboundedPreceding), &[INT]),
            (Frame::rows(on(1), by(1)), &[INT]),
            (Frame::rows(on(2), on(1)), &[]),
            (Frame::groups(by(1), by(2)), &[INT]),
            (Frame::range(on(2), on(1)), &[INT]),
            (Frame::range(on(2), on(1)), &[DataType::Float32]),
            (Frame::range(Following(interval(0, 2)), Following(interval(0, 1))), &[DataType::Date32]),
            (Frame::range(Preceding(interval(1, 0)), Following(interval(0, 1))), &[DataType::Date32]),
            (Frame::range(by(1), Following(interval(0, 1))), &[DataType::Date32]),
            (Frame::rows(text(), CurrentRow), &[INT]),
            (Frame::rows(null(), CurrentRow), &[INT]),
            (Frame::range(null(), CurrentRow), &[INT]),
            (Frame::rows(Preceding(Arg::column("text")), CurrentRow), &[INT]),
            (Frame::range(Preceding(Arg::column("text")), CurrentRow), &[INT]),
            (Frame::rows(Preceding(Arg::column("nowhere")), CurrentRow), &[INT]),
            (Frame::range(by(1), CurrentRow), &[INT, INT]),
            (Frame::range(by(1), CurrentRow), &[]),
            (Frame::range(UnboundedPreceding, CurrentRow), &[]),
            (Frame::groups(by(1), CurrentRow), &[]),
            (Frame::range(by(1), CurrentRow), &[DataType::Utf8]),
            (Frame::range(by(1), CurrentRow), &[DataType::Boolean]),
            (Frame::range(by(1), CurrentRow), &[DataType::Null]),
        ];
        for (frame, keys) in cases {
            let error = resolve(Some(frame.clone()), keys).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Spec, "{frame:?}");
        }
    }

    #[test]
    fn valid_frames_are_accepted() {
        let (by, on) = (Bound::preceding, Bound::following);
        let dictionary = [DataType::Dictionary(Box::new(DataType::Int8), Box::new(INT))];
        let ends = Arc::new(Field::new("run_ends", DataType::Int32, false));
        let values = Arc::new(Field::new("values", dictionary[0].clone(), true));
        let runs_of_dictionary = [DataType::RunEndEncoded(ends, values)];
        let cases: Vec<(Frame, &[DataType])> = vec![
            (Frame::rows(CurrentRow, by(1)), &[]),
            (Frame::rows(on(1), CurrentRow), &[]),
            (Frame::rows(by(1), on(-1)), &[]),
            (Frame::rows(by(i64::MAX), on(i64::MAX)), &[]),
            (Frame::rows(by(i64::MIN), CurrentRow), &[]),
            (Frame::range(UnboundedPreceding, UnboundedFollowing), &[]),
            (Frame::range(UnboundedPreceding, CurrentRow), &[DataType::Utf8, INT]),
            (Frame::range(by(1), on(1)), &dictionary),
            (Frame::range(by(1), on(1)), &runs_of_dictionary),
            (Frame::range(Preceding(interval(1, 0)), Following(interval(0, 0))), &[DataType::Date32]),
        ];
        for (frame, keys) in cases {
            resolve(Some(frame), keys).unwrap();
        }
    }
}
