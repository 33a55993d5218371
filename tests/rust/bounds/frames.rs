//! Frames compared with their definition, which tests row by row whether a row of the partition is in the frame.
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int64Array,
    TimestampSecondArray, UInt64Array,
};
use arrow_buffer::{BooleanBuffer, i256};
use arrow_schema::{DataType, SortOptions};
use proptest::prelude::*;
use windrow::internals::{Boundaries, Bounds, FramePlan, Frames, OrderColumn, Section};
use windrow::{Arg, Bound, Error, Exclude, Frame, Literal, OpenBounds, Units};

#[path = "offset_column.rs"]
mod offset_column;
#[path = "timezone.rs"]
mod timezone;

/// The type of the order key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int8,
    Int64,
    UInt64,
    Decimal,
    Date,
    Timestamp,
    Float32,
    Float64,
}

/// A key or an offset.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Whole(i128),
    Float(f64),
}

#[derive(Debug, Clone, Copy)]
enum End {
    Unbounded,
    Current,
    /// The offset, and whether it is PRECEDING.
    By(Value, bool),
    /// Offsets from a column, and whether they are PRECEDING.
    Column(bool),
}

/// Sorted rows, and a frame over them.
#[derive(Debug, Clone)]
struct Case {
    kind: Kind,
    descending: bool,
    nulls_first: bool,
    /// By row: the partition, the key and a column of offsets.
    rows: Vec<(usize, Option<Value>, i64)>,
    units: Units,
    start: End,
    end: End,
    exclude: Exclude,
    open: OpenBounds,
}

const DECIMAL_LIMIT: i128 = 10_i128.pow(38) - 1;

/// The smallest and the greatest key.
fn domain(kind: Kind) -> (i128, i128) {
    match kind {
        Kind::Int8 => (-128, 127),
        Kind::UInt64 => (0, u64::MAX.into()),
        Kind::Decimal => (-DECIMAL_LIMIT, DECIMAL_LIMIT),
        Kind::Date => (i32::MIN.into(), i32::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (-4_i32..5).prop_map(|tenths| f64::from(tenths) * 0.1),
        2 => Just(0.0),
        1 => Just(-0.0),
        1 => Just(f64::NAN),
        1 => Just(-f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(f64::MAX),
    ]
}

fn key(kind: Kind) -> BoxedStrategy<Option<Value>> {
    let (low, high) = domain(kind);
    let value = if matches!(kind, Kind::Float32 | Kind::Float64) {
        let single = kind == Kind::Float32;
        float().prop_map(move |value| Value::Float(if single { f64::from(value as f32) } else { value })).boxed()
    } else {
        prop_oneof![
            8 => (0_i128..8).prop_map(Value::Whole),
            1 => (0_i128..3).prop_map(move |by| Value::Whole(low + by)),
            1 => (0_i128..3).prop_map(move |by| Value::Whole(high - by)),
        ]
        .boxed()
    };
    prop_oneof![1 => Just(None), 5 => value.prop_map(Some)].boxed()
}

fn offset(kind: Kind, units: Units) -> BoxedStrategy<Value> {
    match (units, kind) {
        (Units::Range, Kind::Float32 | Kind::Float64) => {
            let offset = prop_oneof![(-3_i32..6).prop_map(|tenths| f64::from(tenths) * 0.1), Just(f64::INFINITY)];
            offset.prop_map(Value::Float).boxed()
        }
        (Units::Range, kind) => {
            let (low, high) = domain(kind);
            let (low, high) = (low.max(i64::MIN.into()), high.min(i64::MAX.into()));
            prop_oneof![8 => -2_i128..6, 1 => Just(low), 1 => Just(high)].prop_map(Value::Whole).boxed()
        }
        _ => prop_oneof![8 => -2_i128..6, 1 => Just(i64::MIN.into()), 1 => Just(i64::MAX.into())]
            .prop_map(Value::Whole)
            .boxed(),
    }
}

fn end(kind: Kind, units: Units) -> BoxedStrategy<End> {
    let columns = units != Units::Range || matches!(kind, Kind::Int64 | Kind::Int8 | Kind::UInt64 | Kind::Decimal);
    prop_oneof![
        2 => Just(End::Unbounded),
        2 => Just(End::Current),
        6 => (offset(kind, units), any::<bool>()).prop_map(|(by, preceding)| End::By(by, preceding)),
        u32::from(columns) => any::<bool>().prop_map(End::Column),
    ]
    .boxed()
}

fn case() -> impl Strategy<Value = Case> {
    let kind = prop_oneof![
        Just(Kind::Int8),
        Just(Kind::Int64),
        Just(Kind::UInt64),
        Just(Kind::Decimal),
        Just(Kind::Date),
        Just(Kind::Timestamp),
        Just(Kind::Float32),
        Just(Kind::Float64),
    ];
    let units = prop_oneof![1 => Just(Units::Rows), 1 => Just(Units::Groups), 2 => Just(Units::Range)];
    let exclude =
        prop_oneof![Just(Exclude::NoOthers), Just(Exclude::CurrentRow), Just(Exclude::Group), Just(Exclude::Ties)];
    (kind, units).prop_flat_map(move |(kind, units)| {
        let row = (0_usize..4, key(kind), -2_i64..4);
        let rows =
            prop_oneof![3 => prop::collection::vec(row.clone(), 0..24), 1 => prop::collection::vec(row, 100..200)];
        (rows, any::<[bool; 4]>(), end(kind, units), end(kind, units), exclude.clone()).prop_map(
            move |(mut rows, [descending, nulls_first, open_start, open_end], start, end, exclude)| {
                let order = Order { descending, nulls_first };
                rows.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| order.compare(a.1, b.1)));
                let is_offset = |end| units == Units::Range && matches!(end, End::By(..) | End::Column(_));
                let open = OpenBounds { start: open_start && is_offset(start), end: open_end && is_offset(end) };
                Case { kind, descending, nulls_first, rows, units, start, end, exclude, open }
            },
        )
    })
}

#[derive(Debug, Clone, Copy)]
struct Order {
    descending: bool,
    nulls_first: bool,
}

impl Order {
    /// Sort order: NaN greatest, -0.0 equal to 0.0.
    fn compare(self, a: Option<Value>, b: Option<Value>) -> Ordering {
        let nulls = if self.nulls_first { Ordering::Less } else { Ordering::Greater };
        let ascending = match (a, b) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return nulls,
            (Some(_), None) => return nulls.reverse(),
            (Some(Value::Whole(a)), Some(Value::Whole(b))) => a.cmp(&b),
            (Some(Value::Float(a)), Some(Value::Float(b))) => {
                a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
            }
            _ => unreachable!("one column has one type"),
        };
        if self.descending { ascending.reverse() } else { ascending }
    }
}

impl Case {
    fn order(&self) -> Order {
        Order { descending: self.descending, nulls_first: self.nulls_first }
    }

    fn frame(&self) -> Frame {
        let literal = |value| match value {
            Value::Float(value) => Literal::Float(value),
            Value::Whole(value) if self.kind == Kind::Timestamp && self.units == Units::Range => {
                let micros = value.clamp(i128::from(i64::MIN) / 1_000_000, i128::from(i64::MAX) / 1_000_000);
                Literal::Interval { months: 0, days: 0, micros: micros as i64 * 1_000_000 }
            }
            Value::Whole(value) if self.kind == Kind::Decimal && self.units == Units::Range => {
                Literal::Decimal { unscaled: i256::from_i128(value), scale: 0 }
            }
            Value::Whole(value) => Literal::Int(value as i64),
        };
        let bound = |end, unbounded| match end {
            End::Unbounded => unbounded,
            End::Current => Bound::CurrentRow,
            End::By(value, true) => Bound::Preceding(literal(value).into()),
            End::By(value, false) => Bound::Following(literal(value).into()),
            End::Column(true) => Bound::Preceding(Arg::column("offset")),
            End::Column(false) => Bound::Following(Arg::column("offset")),
        };
        let (start, end) = (bound(self.start, Bound::UnboundedPreceding), bound(self.end, Bound::UnboundedFollowing));
        Frame { units: self.units, start, end, exclude: self.exclude, open: self.open, elapsed: false }
    }

    /// The signed offset of `row`, negative before it; `None` for unbounded.
    fn signed(&self, end: End, row: usize) -> Option<Value> {
        let (value, preceding) = match end {
            End::By(Value::Whole(value), preceding) if self.kind == Kind::Timestamp && self.units == Units::Range => {
                let limit = i128::from(i64::MAX) / 1_000_000;
                (Value::Whole(value.clamp(-limit, limit)), preceding)
            }
            End::By(value, preceding) => (value, preceding),
            End::Column(preceding) => (Value::Whole(self.rows[row].2.into()), preceding),
            _ => return None,
        };
        Some(match value {
            Value::Whole(value) if preceding => Value::Whole(-value),
            Value::Float(value) if preceding => Value::Float(-value),
            value => value,
        })
    }

    fn plan(&self) -> windrow::Result<FramePlan> {
        let keys = self.keys(0..self.rows.len());
        let order = OrderColumn {
            number: 0,
            data_type: keys.data_type().clone(),
            options: SortOptions::new(self.descending, self.nulls_first),
            name: "key".into(),
        };
        let column = |name: &str| {
            if name == "offset" { Ok((1, DataType::Int64)) } else { Err(Error::spec(format!("no column {name}"))) }
        };
        FramePlan::resolve(Some(&self.frame()), &[order], &column, "UTC")
    }

    fn keys(&self, rows: Range<usize>) -> ArrayRef {
        let whole = || {
            self.rows[rows.clone()].iter().map(|row| match row.1 {
                Some(Value::Whole(value)) => Some(value),
                _ => None,
            })
        };
        let float = || {
            self.rows[rows.clone()].iter().map(|row| match row.1 {
                Some(Value::Float(value)) => Some(value),
                _ => None,
            })
        };
        match self.kind {
            Kind::Int8 => Arc::new(whole().map(|value| value.map(|value| value as i8)).collect::<Int8Array>()),
            Kind::Int64 => Arc::new(whole().map(|value| value.map(|value| value as i64)).collect::<Int64Array>()),
            Kind::UInt64 => Arc::new(whole().map(|value| value.map(|value| value as u64)).collect::<UInt64Array>()),
            Kind::Date => Arc::new(whole().map(|value| value.map(|value| value as i32)).collect::<Date32Array>()),
            Kind::Timestamp => {
                Arc::new(whole().map(|value| value.map(|value| value as i64)).collect::<TimestampSecondArray>())
            }
            Kind::Decimal => {
                let values = whole().collect::<Decimal128Array>();
                Arc::new(values.with_precision_and_scale(38, 0).unwrap())
            }
            Kind::Float32 => Arc::new(float().map(|value| value.map(|value| value as f32)).collect::<Float32Array>()),
            Kind::Float64 => Arc::new(float().collect::<Float64Array>()),
        }
    }

    fn peers(&self, a: usize, b: usize) -> bool {
        self.rows[a].0 == self.rows[b].0 && self.order().compare(self.rows[a].1, self.rows[b].1).is_eq()
    }

    /// The rows `rows`, of which `own` are to be evaluated.
    fn section(&self, rows: Range<usize>, own: Range<usize>, open: bool) -> Section {
        let starts = |starts: &dyn Fn(usize) -> bool| {
            let bits = rows.clone().map(|row| row == 0 || starts(row)).collect::<Vec<_>>();
            Boundaries::new(BooleanBuffer::from(bits))
        };
        let partitions = starts(&|row| self.rows[row].0 != self.rows[row - 1].0);
        let peers = starts(&|row| !self.peers(row, row - 1));
        let offsets: Int64Array = self.rows[rows.clone()].iter().map(|row| Some(row.2)).collect();
        Section {
            rows: rows.len(),
            own: own.start - rows.start..own.end - rows.start,
            partitions,
            peers,
            columns: vec![self.keys(rows), Arc::new(offsets)],
            open,
            part: false,
        }
    }

    /// The definition. Peer groups are numbered by `groups`.
    fn holds(&self, row: usize, other: usize, groups: &[i128]) -> bool {
        let (start, end) = (self.signed(self.start, row), self.signed(self.end, row));
        let inside = match self.units {
            Units::Rows | Units::Groups => {
                let distance = |row: usize| {
                    if self.units == Units::Rows { row as i128 } else { groups[row] }
                };
                let distance = distance(other) - distance(row);
                let edge = |end: End, signed| match (end, signed) {
                    (End::Unbounded, _) => None,
                    (_, Some(Value::Whole(value))) => Some(value),
                    _ => Some(0),
                };
                edge(self.start, start).is_none_or(|start| distance >= start)
                    && edge(self.end, end).is_none_or(|end| distance <= end)
            }
            Units::Range => {
                let compare = |signed: Option<Value>| {
                    let target = self.target(self.rows[row].1, signed);
                    self.order().compare(self.rows[other].1, target)
                };
                // the frame of a null row is its peers, also where its bounds are open
                let open = |open: bool| open && self.rows[row].1.is_some();
                let after = |start: Ordering| if open(self.open.start) { start.is_gt() } else { start.is_ge() };
                let before = |end: Ordering| if open(self.open.end) { end.is_lt() } else { end.is_le() };
                (matches!(self.start, End::Unbounded) || after(compare(start)))
                    && (matches!(self.end, End::Unbounded) || before(compare(end)))
            }
        };
        inside
            && match self.exclude {
                Exclude::NoOthers => true,
                Exclude::CurrentRow => other != row,
                Exclude::Group => !self.peers(row, other),
                Exclude::Ties => other == row || !self.peers(row, other),
            }
    }

    /// The key at a distance in sort direction; for a NULL key, the key itself.
    fn target(&self, key: Option<Value>, by: Option<Value>) -> Option<Value> {
        let direction = if self.descending { -1.0 } else { 1.0 };
        Some(match (key?, by) {
            (key, None) => key,
            // Wider than every key, so nothing wraps.
            (Value::Whole(key), Some(Value::Whole(by))) => Value::Whole(key + by * direction as i128),
            (Value::Float(key), Some(Value::Float(by))) => {
                let by = by * direction;
                let sum = if self.kind == Kind::Float32 { f64::from(key as f32 + by as f32) } else { key + by };
                // An infinite offset reaches everything.
                Value::Float(if sum.is_nan() && !key.is_nan() { by } else { sum })
            }
            _ => unreachable!("offsets are of the key's type"),
        })
    }

    fn expected(&self) -> Vec<BTreeSet<usize>> {
        let mut groups = vec![0_i128; self.rows.len()];
        for row in 1..self.rows.len() {
            groups[row] = groups[row - 1] + i128::from(!self.peers(row, row - 1));
        }
        let rows = 0..self.rows.len();
        rows.clone()
            .map(|row| {
                let partition = rows.clone().filter(|other| self.rows[*other].0 == self.rows[row].0);
                partition.filter(|other| self.holds(row, *other, &groups)).collect()
            })
            .collect()
    }

    /// Whether both bounds are literals and the start is after the end, which is rejected.
    fn backwards(&self) -> bool {
        let (End::By(..), End::By(..)) = (self.start, self.end) else {
            return false;
        };
        match (self.signed(self.start, 0), self.signed(self.end, 0)) {
            (Some(Value::Whole(start)), Some(Value::Whole(end))) => start > end,
            (Some(Value::Float(start)), Some(Value::Float(end))) if self.kind == Kind::Float32 => {
                start as f32 > end as f32
            }
            (Some(Value::Float(start)), Some(Value::Float(end))) => start > end,
            _ => false,
        }
    }
}

/// The frames of `rows` as sets of row numbers in the whole input.
fn sets(frames: &Frames, rows: Range<usize>, first: usize) -> Vec<BTreeSet<usize>> {
    let mut bounds = Bounds::default();
    frames.fill(rows.clone(), &mut bounds).unwrap();
    rows.map(|row| {
        let frame = bounds.frame(row);
        assert!(frame.start <= frame.end);
        let (mut set, mut at) = (BTreeSet::new(), frame.start);
        for range in bounds.sub_ranges(row) {
            assert!(at <= range.start && range.start <= range.end && range.end <= frame.end, "ordered and disjoint");
            at = range.end;
            set.extend(range.map(|row| row + first));
        }
        assert_eq!(set.len(), bounds.sub_ranges(row).rows());
        set
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::fuzz::cases(5_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_match_the_definition(case in case(), blocks in prop::collection::vec(1_usize..9, 40)) {
        let rows = case.rows.len();
        let plan = match case.plan() {
            Ok(plan) => {
                prop_assert!(rows == 0 || !case.backwards(), "a frame that ends before it starts is refused");
                plan
            }
            Err(error) => {
                prop_assert!(rows == 0 || case.backwards(), "{}", error);
                return Ok(());
            }
        };
        let expected = case.expected();
        let frames = Frames::new(&plan, &case.section(0..rows, 0..rows, false), 0).unwrap();
        prop_assert_eq!(&sets(&frames, 0..rows, 0), &expected);

        // Any blocks, in any order, give the same bounds.
        let mut at = rows;
        for block in blocks {
            let begin = at.saturating_sub(block);
            prop_assert_eq!(&sets(&frames, begin..at, 0)[..], &expected[begin..at]);
            at = begin;
        }
        if plan.monotone() {
            let mut bounds = Bounds::default();
            frames.fill(0..rows, &mut bounds).unwrap();
            for row in (1..rows).filter(|row| case.rows[*row].0 == case.rows[row - 1].0) {
                for (before, after) in bounds.sub_ranges(row - 1).zip(bounds.sub_ranges(row)) {
                    prop_assert!(before.start <= after.start && before.end <= after.end, "lanes never go back");
                }
            }
        }
    }

    /// Rows arrive in two pieces: what is settled after the first does not change, and released rows are not needed.
    #[test]
    fn settled_frames_stay_and_unneeded_rows_can_go(
        case in case(),
        cut in any::<prop::sample::Index>(),
        earlier in 0_usize..6,
    ) {
        let rows = case.rows.len();
        let plan = match case.plan() {
            Ok(plan) if rows > 0 => plan,
            _ => return Ok(()),
        };
        let expected = case.expected();
        let cut = cut.index(rows) + 1;
        let before = Frames::new(&plan, &case.section(0..cut, 0..cut, true), 0).unwrap();
        let answered = before.first_unsettled();
        prop_assert_eq!(&sets(&before, 0..answered, 0)[..], &expected[..answered]);

        let release = before.first_needed(answered);
        prop_assert!(release <= answered);
        // The section may keep more rows than it must; a carry covers the rows before `release`.
        let last = answered.saturating_sub(1);
        let continues = answered < rows && answered > 0 && case.rows[answered].0 == case.rows[last].0;
        let partition = case.rows.iter().position(|row| row.0 == case.rows[answered.min(rows - 1)].0).unwrap_or(0);
        let first = if continues { release.saturating_sub(earlier).max(partition) } else { release };
        let after = Frames::new(&plan, &case.section(first..rows, answered..rows, false), release - first).unwrap();
        let found = sets(&after, answered - first..rows - first, first);
        let carried = |row: usize| {
            let covered = continues && first > partition && matches!(case.start, End::Unbounded);
            if covered && case.rows[row].0 == case.rows[answered].0 { partition..release } else { 0..0 }
        };
        for (row, found) in (answered..rows).zip(found) {
            let mut with_carry = found.clone();
            with_carry.extend(carried(row));
            prop_assert_eq!(found.len() + carried(row).len(), with_carry.len(), "nothing counts twice");
            prop_assert_eq!(&with_carry, &expected[row], "row {} of {:?}, {}..", row, &case, first);
        }
        // A closed section is settled completely.
        prop_assert_eq!(after.first_unsettled(), rows - first);
    }
}
