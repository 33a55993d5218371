//! Timestamps of New York around the changes of its clocks, compared with Spark's arithmetic.

use chrono::{DateTime, Days, Months, NaiveDateTime, Offset, TimeDelta, TimeZone};
use chrono_tz::America::New_York;
use chrono_tz::Tz;

use super::*;

#[derive(Debug, Clone, Copy)]
struct Step {
    months: i32,
    days: i32,
    hours: i64,
}

impl Step {
    fn literal(self) -> Literal {
        Literal::Interval { months: self.months, days: self.days, micros: self.hours * 3_600_000_000 }
    }

    /// `java.time.ZonedDateTime`: plusMonths, plusDays, plus(hours). As in Spark, 24 hours are a day.
    fn add(self, instant: i64, sign: i32) -> i64 {
        let at = New_York.timestamp_opt(instant, 0).unwrap();
        let (months, hours) = (self.months * sign, (i64::from(self.days) * 24 + self.hours) * i64::from(sign));
        let (days, hours) = ((hours / 24) as i32, hours % 24);
        let at = moved(at, |local| match u32::try_from(months) {
            Ok(months) => local + Months::new(months),
            Err(_) => local - Months::new(months.unsigned_abs()),
        });
        let at = moved(at, |local| match u64::try_from(days) {
            Ok(days) => local + Days::new(days),
            Err(_) => local - Days::new(u64::from(days.unsigned_abs())),
        });
        at.timestamp() + hours * 3_600
    }
}

fn moved(at: DateTime<Tz>, step: impl Fn(NaiveDateTime) -> NaiveDateTime) -> DateTime<Tz> {
    let local = step(at.naive_local());
    let resolved = New_York.from_local_datetime(&local);
    // In an overlap the offset is kept if possible; in the gap the clock moves forward by one hour.
    let same = [resolved.earliest(), resolved.latest()].into_iter().flatten();
    let same = same.into_iter().find(|there| there.offset().fix() == at.offset().fix());
    same.or(resolved.earliest())
        .unwrap_or_else(|| New_York.from_local_datetime(&(local + TimeDelta::hours(1))).single().unwrap())
}

fn step() -> impl Strategy<Value = Step> {
    let day_time = (0_i32..3, 0_i64..30).prop_map(|(days, hours)| Step { months: 0, days, hours });
    prop_oneof![day_time, (0_i32..2).prop_map(|months| Step { months, days: 0, hours: 0 })]
}

/// Half hours around both changes of 2024, and a month before and after them.
fn instants() -> impl Strategy<Value = Vec<i64>> {
    let around = prop::sample::select(vec![1_707_555_600, 1_710_054_000, 1_727_931_600, 1_730_613_600, 1_733_205_600]);
    let instant = (around, -60_i64..60).prop_map(|(around, half_hours)| around + half_hours * 1_800);
    prop::collection::vec(instant, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::fuzz::cases(3_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_match_spark(
        mut instants in instants(),
        (start, start_sign) in (step(), prop::sample::select(vec![-1, 1])),
        (end, end_sign) in (step(), prop::sample::select(vec![-1, 1])),
        (descending, growing) in any::<(bool, bool)>(),
        cut in any::<prop::sample::Index>(),
    ) {
        instants.sort_unstable();
        if descending {
            instants.reverse();
        }
        let zone: Arc<str> = "America/New_York".into();
        let order = OrderColumn {
            number: 0,
            data_type: DataType::Timestamp(arrow_schema::TimeUnit::Second, Some(Arc::clone(&zone))),
            options: SortOptions::new(descending, true),
            name: "at".into(),
        };
        let bound = |step: Step, sign: i32| {
            if sign < 0 { Bound::Preceding(step.literal().into()) } else { Bound::Following(step.literal().into()) }
        };
        let begin = if growing { Bound::UnboundedPreceding } else { bound(start, start_sign) };
        let frame = Frame::range(begin, bound(end, end_sign));
        let unknown = |name: &str| Err(Error::spec(name));
        let Ok(plan) = FramePlan::resolve(Some(&frame), &[order], &unknown, "UTC") else { return Ok(()) };

        // Cursors that never move back, over targets in sort order.
        let direction = if descending { -1 } else { 1 };
        let (mut low, mut high) = (0, 0);
        let expected: Vec<_> = instants.iter().map(|instant| {
            let first = start.add(*instant, start_sign * direction as i32) * direction;
            let last = end.add(*instant, end_sign * direction as i32) * direction;
            while !growing && low < instants.len() && instants[low] * direction < first {
                low += 1;
            }
            while high < instants.len() && instants[high] * direction <= last {
                high += 1;
            }
            (low.min(high)..high).collect::<BTreeSet<_>>()
        }).collect();

        let section = |rows: Range<usize>, own: Range<usize>, open: bool| {
            let starts = |edge: &dyn Fn(usize) -> bool| {
                Boundaries::new(rows.clone().map(|row| row == 0 || edge(row)).collect::<BooleanBuffer>())
            };
            let keys = TimestampSecondArray::from(instants[rows.clone()].to_vec());
            Section {
                rows: rows.len(),
                own: own.start - rows.start..own.end - rows.start,
                partitions: starts(&|_| false),
                peers: starts(&|row| instants[row] != instants[row - 1]),
                columns: vec![Arc::new(keys.with_timezone(Arc::clone(&zone)))],
                open,
                part: false,
            }
        };
        let rows = instants.len();
        let frames = Frames::new(&plan, &section(0..rows, 0..rows, false), 0).unwrap();
        prop_assert_eq!(&sets(&frames, 0..rows, 0), &expected);

        // Cut in two, the results are the same.
        let cut = cut.index(rows) + 1;
        let before = Frames::new(&plan, &section(0..cut, 0..cut, true), 0).unwrap();
        let answered = before.first_unsettled();
        prop_assert_eq!(&sets(&before, 0..answered, 0)[..], &expected[..answered]);
        let first = before.first_needed(answered);
        let after = Frames::new(&plan, &section(first..rows, answered..rows, false), 0).unwrap();
        for (row, mut found) in (answered..rows).zip(sets(&after, answered - first..rows - first, first)) {
            found.extend(if growing { 0..first } else { 0..0 });
            prop_assert_eq!(&found, &expected[row], "row {}, from {}", row, first);
        }
    }
}

#[test]
fn day_offset_keeps_wall_clock_time() {
    // Five rows of New York, 9 March 12:00 to 10 March 13:00: 12:00 lies 24 hours before the last, and a day and
    // an hour on the calendar.
    let instants: Vec<_> =
        ["09T12:00:00-05:00", "09T13:00:00-05:00", "10T01:30:00-05:00", "10T03:30:00-04:00", "10T13:00:00-04:00"]
            .map(|at| DateTime::parse_from_rfc3339(&format!("2024-03-{at}")).unwrap().timestamp())
            .into();
    let frames = |zone: &str| {
        let keys = TimestampSecondArray::from(instants.clone()).with_timezone(zone);
        let order = OrderColumn {
            number: 0,
            data_type: keys.data_type().clone(),
            options: SortOptions::default(),
            name: "at".into(),
        };
        let day = Literal::Interval { months: 0, days: 1, micros: 0 };
        let frame = Frame::range(Bound::Preceding(day.into()), Bound::CurrentRow);
        let plan = FramePlan::resolve(Some(&frame), &[order], &|name| Err(Error::spec(name)), "UTC").unwrap();
        let edges = || Boundaries::new(BooleanBuffer::new_set(5));
        let one = Boundaries::single(5);
        let section = Section::whole(one, edges(), vec![Arc::new(keys)]).unwrap();
        let mut bounds = Bounds::default();
        Frames::new(&plan, &section, 0).unwrap().fill(0..5, &mut bounds).unwrap();
        bounds.begin
    };
    assert_eq!(frames("America/New_York"), [0, 0, 0, 0, 1]);
    assert_eq!(frames("UTC"), [0, 0, 0, 0, 0]);
}
