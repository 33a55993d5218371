//! Value and ranking functions compared with their definitions: any frame, any type, whole and cut into sections.
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeBinaryBuilder, MapBuilder, StringBuilder, UnionBuilder};
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Int8Array, Int64Array, LargeListArray,
    ListArray, NullArray, RunArray, StringArray, StructArray, UInt64Array, new_null_array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, SortOptions, TimeUnit};
use proptest::prelude::*;
use windrow::internals::nth::Nth;
use windrow::internals::rank::Rank;
use windrow::internals::{
    Boundaries, Bounds, Carry, Evaluator, FramePlan, Frames, LagLead, OffsetBy, OrderColumn, Reach, RowMask, Section,
    nth, rank,
};
use windrow::{Bound, Cancel, Error, Exclude, Frame, OpenBounds, Units};

/// Sorted rows: partition and peer group boundaries, the order key, a value, and whether a filter passes.
#[derive(Debug, Clone)]
struct Rows {
    partitions: Vec<bool>,
    peers: Vec<bool>,
    keys: Vec<i64>,
    values: Vec<Option<i64>>,
    passes: Vec<bool>,
}

impl Rows {
    fn len(&self) -> usize {
        self.keys.len()
    }

    /// The rows as one section of whole partitions.
    fn section(&self) -> Section {
        self.cut(0..self.len(), 0, false)
    }

    /// Some of the rows as a section.
    fn cut(&self, rows: Range<usize>, answered: usize, open: bool) -> Section {
        let edges = |bits: &[bool]| Boundaries::new(BooleanBuffer::from(&bits[rows.clone()]));
        let keys: ArrayRef = Arc::new(Int64Array::from(self.keys[rows.clone()].to_vec()));
        let mut section = Section::whole(edges(&self.partitions), edges(&self.peers), vec![keys]).unwrap();
        section.own = answered - rows.start..rows.len();
        section.open = open;
        section
    }

    fn partition(&self, row: usize) -> Range<usize> {
        run(&self.partitions, row)
    }
}

/// The run between set bits that contains `row`.
fn run(starts: &[bool], row: usize) -> Range<usize> {
    let begin = (0..=row).rev().find(|&row| starts[row]).unwrap_or(0);
    let end = (row + 1..starts.len()).find(|&row| starts[row]).unwrap_or(starts.len());
    begin..end
}

/// Which rows are counted.
#[derive(Debug, Clone, Copy)]
enum Takes {
    All,
    Values,
    Passing,
    Both,
}

impl Takes {
    fn part(self, rows: &Rows, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Values => rows.values[row].is_some(),
            Self::Passing => rows.passes[row],
            Self::Both => rows.passes[row] && rows.values[row].is_some(),
        }
    }

    fn inclusion(self, column: &ArrayRef, rows: &Rows, range: Range<usize>) -> RowMask {
        let filter = BooleanArray::from(rows.passes[range].to_vec());
        match self {
            Self::All => RowMask::new(&[], None),
            Self::Values => RowMask::new(std::slice::from_ref(column), None),
            Self::Passing => RowMask::new(&[], Some(&filter)),
            Self::Both => RowMask::new(std::slice::from_ref(column), Some(&filter)),
        }
    }
}

/// Types that a column of small numbers can have.
#[derive(Debug, Clone, Copy)]
enum Type {
    Int64,
    Utf8,
    View,
    Dictionary,
    ViewDictionary,
    List,
}

fn column(values: &[Option<i64>], of: Type) -> ArrayRef {
    let numbers: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
    let key = || Box::new(DataType::Int8);
    match of {
        Type::Int64 => numbers,
        Type::Utf8 => cast(&numbers, &DataType::Utf8).unwrap(),
        Type::View => cast(&numbers, &DataType::Utf8View).unwrap(),
        Type::Dictionary => cast(&numbers, &DataType::Dictionary(key(), Box::new(DataType::Utf8))).unwrap(),
        Type::ViewDictionary => {
            let text = cast(&numbers, &DataType::Utf8View).unwrap();
            cast(&text, &DataType::Dictionary(key(), Box::new(DataType::Utf8View))).unwrap()
        }
        Type::List => Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(
            values.iter().map(|value| value.map(|value| vec![Some(value), None])),
        )),
    }
}

/// The values as strings, so that equal values of differently encoded arrays are equal.
fn show(array: &dyn Array) -> Vec<String> {
    let format = ArrayFormatter::try_new(array, &FormatOptions::new().with_null("NULL")).unwrap();
    (0..array.len()).map(|row| format.value(row).to_string()).collect()
}

fn resolve(frame: &Frame) -> FramePlan {
    let key =
        OrderColumn { number: 0, data_type: DataType::Int64, options: SortOptions::default(), name: "key".into() };
    FramePlan::resolve(Some(frame), &[key], &|name| Err(Error::spec(format!("no column {name}"))), "UTC").unwrap()
}

fn frames_of_own() -> FramePlan {
    resolve(&Frame::rows(Bound::UnboundedPreceding, Bound::CurrentRow))
}

fn evaluate(evaluator: &dyn Evaluator, plan: &FramePlan, section: &Section) -> ArrayRef {
    let frames = Frames::new(plan, section, 0).unwrap();
    evaluator.evaluate(&frames, 0..section.rows, &Carry::default(), &Cancel::default()).unwrap()
}

/// Makes an evaluator over some of the rows.
type Make<'a> = &'a dyn Fn(&Section, Range<usize>) -> Box<dyn Evaluator>;

/// The results when rows arrive in `pieces`, each with a number of extra rows kept.
fn streamed(rows: &Rows, make: Make, plan: &FramePlan, state: bool, pieces: &[(usize, usize)]) -> Vec<ArrayRef> {
    let mut answers = Vec::new();
    let (mut kept, mut answered, mut arrived) = (0, 0, 0);
    let mut carry = Carry::default();
    let mut pieces = pieces.iter().cycle();
    loop {
        let (piece, extra) = *pieces.next().unwrap();
        let open = arrived < rows.len();
        arrived = rows.len().min(arrived + piece);
        if kept == arrived {
            return answers;
        }
        if carry.base == 0 && rows.partitions[kept] {
            carry = Carry::default();
        }
        let section = rows.cut(kept..arrived, answered, open);
        let evaluator = make(&section, kept..arrived);
        let frames = Frames::new(plan, &section, carry.base).unwrap();
        let settled = kept + if open { evaluator.first_unsettled(&frames) } else { section.rows };
        assert!(settled <= arrived);
        let settled = settled.max(answered);
        // In two blocks, the second one first: results do not depend on each other.
        let middle = answered + (settled - answered) / 3;
        let block = |rows: Range<usize>| {
            let rows = rows.start - kept..rows.end - kept;
            evaluator.evaluate(&frames, rows, &carry, &Cancel::default()).unwrap()
        };
        let late = block(middle..settled);
        answers.extend([block(answered..middle), late]);
        if !open {
            return answers;
        }
        if settled == answered && settled == kept {
            continue;
        }
        let here = settled - kept;
        let partition = section.partitions.run_start(if here == section.rows { here - 1 } else { here });
        let release = evaluator.first_needed(&frames, here).max(partition);
        assert!(release <= section.rows);
        let keep = release.min(here).saturating_sub(extra).max(partition);
        let before = std::mem::take(&mut carry);
        if state && !(keep == partition && rows.partitions[kept + partition]) {
            let (old, from) = match before.state {
                Some(old) if partition == 0 => (Some(old), before.base),
                _ => (None, partition),
            };
            let state = evaluator.save_state(old.as_ref(), from..release).unwrap();
            carry = Carry { base: release - keep, state: Some(state), after: None };
        }
        kept += keep;
        answered = settled;
    }
}

/// The values of `of` at `expected`'s rows, as strings.
fn gathered(of: &ArrayRef, expected: &[Option<usize>]) -> Vec<String> {
    let shown = show(of);
    expected.iter().map(|row| row.map_or("NULL".into(), |row| shown[row].clone())).collect()
}

fn all(answers: &[ArrayRef]) -> Vec<String> {
    answers.iter().flat_map(|answer| show(answer)).collect()
}

/// Rows in a few stretches: some long enough to span several counters of a mask, or all null.
fn rows() -> impl Strategy<Value = Rows> {
    let length = prop_oneof![10 => 1_usize..6, 3 => 6_usize..40, 1 => 500_usize..1200];
    let stretch = (length, prop::bool::weighted(0.5), 0_u8..4, 0_u8..4, 0_u8..4, any::<u64>());
    prop::collection::vec(stretch, 0..12).prop_map(|stretches| {
        let mut rows = Rows { partitions: vec![], peers: vec![], keys: vec![], values: vec![], passes: vec![] };
        let mut key = 0;
        for (length, new_partition, peers, nulls, fails, seed) in stretches {
            for at in 0..length {
                let noise = (seed ^ at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
                let chance = |kind: u8, of_four: u64| match kind {
                    0 => true,
                    1 => false,
                    _ => noise % 4 < of_four,
                };
                let partition = rows.len() == 0 || (new_partition && at == 0);
                let peer = partition || chance(peers, 2);
                key = if partition { -3 } else { key + if peer { 1 + (noise >> 8) as i64 % 2 } else { 0 } };
                rows.partitions.push(partition);
                rows.peers.push(peer);
                rows.keys.push(key);
                rows.values.push(chance(nulls, 1).then_some((noise >> 16) as i64 % 100));
                rows.passes.push(chance(fails, 3));
            }
        }
        rows
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    let units = prop_oneof![Just(Units::Rows), Just(Units::Range), Just(Units::Groups)];
    let exclude = prop_oneof![
        2 => Just(Exclude::NoOthers),
        1 => Just(Exclude::CurrentRow),
        1 => Just(Exclude::Group),
        1 => Just(Exclude::Ties),
    ];
    // 9 and beyond: unbounded.
    (units, exclude, -6_i64..12, 0_i64..12).prop_map(|(units, exclude, start, length)| {
        let end = start + length;
        let start = if start < -2 { Bound::UnboundedPreceding } else { offset(start) };
        let end = if end > 8 { Bound::UnboundedFollowing } else { offset(end) };
        Frame { units, start, end, exclude, open: OpenBounds::default(), elapsed: false }
    })
}

fn offset(by: i64) -> Bound {
    match by {
        0 => Bound::CurrentRow,
        ..0 => Bound::preceding(-by),
        _ => Bound::following(by),
    }
}

fn takes() -> impl Strategy<Value = Takes> {
    prop_oneof![Just(Takes::All), Just(Takes::Values), Just(Takes::Passing), Just(Takes::Both)]
}

fn of_type() -> impl Strategy<Value = Type> {
    prop_oneof![
        4 => Just(Type::Int64),
        1 => Just(Type::Utf8),
        1 => Just(Type::View),
        1 => Just(Type::Dictionary),
        1 => Just(Type::ViewDictionary),
        1 => Just(Type::List),
    ]
}

fn which() -> impl Strategy<Value = nth::NthRow> {
    prop_oneof![
        2 => Just(nth::NthRow::First),
        2 => Just(nth::NthRow::Last),
        2 => (1_u64..7).prop_map(nth::NthRow::Nth),
        1 => (1_u64..900).prop_map(nth::NthRow::Nth),
        1 => Just(nth::NthRow::Nth(u64::MAX)),
    ]
}

fn pieces() -> impl Strategy<Value = Vec<(usize, usize)>> {
    let extra = prop_oneof![2 => Just(0_usize), 1 => 1_usize..5];
    prop_oneof![
        3 => prop::collection::vec((1_usize..8, extra.clone()), 1..8),
        1 => prop::collection::vec((1_usize..700, extra), 1..4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::fuzz::cases(3_000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn value_functions_match_the_definition(
        rows in rows(), frame in frame(), which in which(), takes in takes(), of in of_type(), pieces in pieces(),
    ) {
        let plan = resolve(&frame);
        let column = column(&rows.values, of);
        let section = rows.section();
        let mut bounds = Bounds::default();
        Frames::new(&plan, &section, 0).unwrap().fill(0..rows.len(), &mut bounds).unwrap();
        let expected: Vec<_> = (0..rows.len())
            .map(|row| {
                let mut taking = bounds.sub_ranges(row).flatten().filter(|&row| takes.part(&rows, row));
                match &which {
                    nth::NthRow::First => taking.next(),
                    nth::NthRow::Last => taking.last(),
                    nth::NthRow::Nth(n) => taking.nth(*n as usize - 1),
                    nth::NthRow::NthPerRow(n) => taking.nth(n.value(row) as usize - 1),
                }
            })
            .collect();
        let expected = gathered(&column, &expected);
        for naive in [false, true] {
            let make = |section: &Section, range: Range<usize>| -> Box<dyn Evaluator> {
                let column = column.slice(range.start, range.len());
                let inclusion = takes.inclusion(&column, &rows, range);
                Box::new(Nth::new(section, column, inclusion, which.clone(), naive).unwrap())
            };
            let answers = evaluate(make(&section, 0..rows.len()).as_ref(), &plan, &section);
            prop_assert_eq!(answers.data_type(), column.data_type());
            prop_assert_eq!(&show(&answers), &expected, "naive {}", naive);
            let state = plan.reach().0 == Reach::State;
            let answers = streamed(&rows, &make, &plan, state, &pieces);
            prop_assert_eq!(&all(&answers), &expected, "naive {}, cut", naive);
        }
    }

    #[test]
    fn lag_and_lead_match_the_definition(
        rows in rows(),
        offset in prop_oneof![8 => -4_i64..5, 2 => -700_i64..700, 1 => Just(i64::MIN), 1 => Just(i64::MAX)],
        default in 0_u8..3,
        takes in takes(),
        of in of_type(),
        pieces in pieces(),
        (state, carries) in prop_oneof![Just((false, false)), Just((true, false)), Just((true, true))],
    ) {
        let column = column(&rows.values, of);
        let others: Vec<_> = (0..rows.len()).map(|row| (row % 3 > 0).then_some(row as i64 % 50 + 50)).collect();
        let default = match default {
            0 => None,
            1 => Some(self::column(&[Some(77)], of)),
            _ => Some(self::column(&others, of)),
        };
        let shown = show(&column);
        let defaults = default.as_ref().map(|default| show(default));
        let expected: Vec<String> = (0..rows.len())
            .map(|row| {
                let partition = rows.partition(row);
                let taking = |row: &usize| takes.part(&rows, *row);
                let nth = (offset.unsigned_abs() as usize).wrapping_sub(1);
                let target = match offset {
                    0 => Some(row),
                    1.. => (row + 1..partition.end).filter(taking).nth(nth),
                    ..0 => (partition.start..row).rev().filter(taking).nth(nth),
                };
                match (target, &defaults) {
                    (Some(target), _) => shown[target].clone(),
                    (None, None) => "NULL".into(),
                    (None, Some(defaults)) => defaults[if defaults.len() == rows.len() { row } else { 0 }].clone(),
                }
            })
            .collect();
        let (plan, section) = (frames_of_own(), rows.section());
        for naive in [false, true] {
            let make = |section: &Section, range: Range<usize>| -> Box<dyn Evaluator> {
                let column = column.slice(range.start, range.len());
                let default = default.as_ref().map(|default| match default.len() {
                    length if length == rows.len() => default.slice(range.start, range.len()),
                    _ => default.clone(),
                });
                let inclusion = takes.inclusion(&column, &rows, range);
                let offset = LagLead::new(section, column, inclusion, OffsetBy::Fixed(offset), default, naive).unwrap();
                Box::new(if carries { offset.ignoring_nulls() } else { offset })
            };
            let answers = evaluate(make(&section, 0..rows.len()).as_ref(), &plan, &section);
            prop_assert_eq!(answers.data_type(), column.data_type());
            prop_assert_eq!(&show(&answers), &expected, "naive {}", naive);
            let answers = streamed(&rows, &make, &plan, state && offset < 0, &pieces);
            prop_assert_eq!(&all(&answers), &expected, "naive {}, cut", naive);
        }
    }

    #[test]
    fn ranks_match_the_definition(rows in rows(), buckets in 1_u64..12, pieces in pieces()) {
        use rank::RankKind;
        let (plan, section) = (frames_of_own(), rows.section());
        for which in [
            RankKind::RowNumber, RankKind::Rank, RankKind::DenseRank, RankKind::PercentRank, RankKind::CumeDist, RankKind::Ntile(buckets),
        ] {
            let expected: Vec<String> = (0..rows.len()).map(|row| place(&rows, which, row)).collect();
            for naive in [false, true] {
                let make = |section: &Section, _| -> Box<dyn Evaluator> {
                    Box::new(Rank::new(section, which, naive).unwrap())
                };
                let answers = evaluate(make(&section, 0..rows.len()).as_ref(), &plan, &section);
                prop_assert_eq!(answers.null_count(), 0);
                prop_assert_eq!(&show(&answers), &expected, "{:?}, naive {}", which, naive);
                let state = matches!(which, RankKind::RowNumber | RankKind::Rank | RankKind::DenseRank);
                let answers = streamed(&rows, &make, &plan, state, &pieces);
                prop_assert_eq!(&all(&answers), &expected, "{:?}, naive {}, cut", which, naive);
            }
        }
    }
}

/// A row's rank, as a string.
fn place(rows: &Rows, which: rank::RankKind, row: usize) -> String {
    use rank::RankKind;
    let partition = rows.partition(row);
    let peers = run(&rows.peers, row);
    let rank = peers.start - partition.start + 1;
    let number = row - partition.start + 1;
    match which {
        RankKind::RowNumber => number.to_string(),
        RankKind::Rank => rank.to_string(),
        RankKind::DenseRank => rows.peers[partition.start..=row].iter().filter(|begin| **begin).count().to_string(),
        RankKind::PercentRank if partition.len() == 1 => "0.0".into(),
        RankKind::PercentRank => {
            show(&arrow_array::Float64Array::from(vec![(rank - 1) as f64 / (partition.len() - 1) as f64])).remove(0)
        }
        RankKind::CumeDist => {
            show(&arrow_array::Float64Array::from(vec![(peers.end - partition.start) as f64 / partition.len() as f64]))
                .remove(0)
        }
        RankKind::Ntile(buckets) => {
            // Distributes the rows: each bucket in turn gets an equal share of the remaining rows, rounded up.
            let (mut left, mut number, mut bucket) = (partition.len(), number, 1);
            for buckets in (1..=buckets as usize).rev() {
                let share = left.div_ceil(buckets);
                if number <= share {
                    break;
                }
                (left, number, bucket) = (left - share, number - share, bucket + 1);
            }
            bucket.to_string()
        }
    }
}

/// A column of four values of each kind of type, the third of them NULL if the type has NULLs.
fn columns_of_all_types() -> Vec<ArrayRef> {
    let texts = || vec![Some("a"), Some("a text of more than twelve bytes"), None, Some("")];
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), None, Some(4)]));
    let lists = || [Some(vec![Some(1)]), Some(vec![None, Some(2)]), None, Some(vec![])];
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(NullArray::new(4)),
        Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true)])),
        Arc::new(StringArray::from(texts())),
        Arc::new(texts().into_iter().collect::<DictionaryArray<Int8Type>>()),
        Arc::new(texts().into_iter().collect::<RunArray<Int32Type>>()),
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists())),
        Arc::new(LargeListArray::from_iter_primitive::<Int64Type, _, _>(lists())),
        Arc::new(FixedSizeListArray::from_iter_primitive::<Int64Type, _, _>(
            [Some(vec![Some(1), None]), Some(vec![Some(3), Some(4)]), None, Some(vec![None, None])],
            2,
        )),
        // A field that is not nullable in a nullable struct.
        Arc::new(StructArray::new(
            vec![Field::new("x", DataType::Int64, false), Field::new("y", DataType::Utf8, true)].into(),
            vec![Arc::new(Int64Array::from(vec![1, 2, 3, 4])), Arc::new(StringArray::from(texts()))],
            Some(NullBuffer::from(vec![true, true, false, true])),
        )),
    ];
    for data_type in [
        DataType::Int8,
        DataType::UInt64,
        DataType::Float16,
        DataType::Float64,
        DataType::Decimal128(20, 3),
        DataType::Decimal256(50, 3),
        DataType::Timestamp(TimeUnit::Microsecond, Some("Europe/Berlin".into())),
        DataType::Duration(TimeUnit::Second),
        DataType::Time64(TimeUnit::Nanosecond),
        DataType::Date64,
    ] {
        columns.push(cast(&numbers, &data_type).unwrap());
    }
    for data_type in [DataType::LargeUtf8, DataType::Utf8View, DataType::Binary, DataType::BinaryView] {
        columns.push(cast(&StringArray::from(texts()), &data_type).unwrap());
    }
    let mut bytes = FixedSizeBinaryBuilder::new(3);
    let mut maps = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for text in texts() {
        match text {
            Some(text) => {
                bytes.append_value(format!("{text:3}").get(..3).unwrap()).unwrap();
                maps.keys().append_value(text);
                maps.values().append_option(Some("v").filter(|_| text.is_empty()));
                maps.append(true).unwrap();
            }
            None => {
                bytes.append_null();
                maps.append(false).unwrap();
            }
        }
    }
    columns.extend([Arc::new(bytes.finish()) as ArrayRef, Arc::new(maps.finish())]);
    for mut union in [UnionBuilder::new_sparse(), UnionBuilder::new_dense()] {
        union.append::<Int64Type>("i", 1).unwrap();
        union.append::<Int32Type>("j", 2).unwrap();
        union.append_null::<Int64Type>("i").unwrap();
        union.append::<Int32Type>("j", 4).unwrap();
        columns.push(Arc::new(union.build().unwrap()));
    }
    let list_view = DataType::ListView(Arc::new(Field::new_list_field(DataType::Int64, true)));
    columns.push(cast(&ListArray::from_iter_primitive::<Int64Type, _, _>(lists()), &list_view).unwrap());
    columns
}

/// The string that `show` gives for NULL.
fn null_of(data_type: &DataType) -> String {
    show(&new_null_array(data_type, 1)).remove(0)
}

#[test]
fn values_of_any_type_are_unchanged() {
    let mut starts = vec![false; 4];
    starts[0] = true;
    let rows = Rows {
        partitions: starts,
        peers: vec![true; 4],
        keys: vec![1, 2, 3, 4],
        values: vec![None; 4],
        passes: vec![true; 4],
    };
    let plan = frames_of_own();
    for column in columns_of_all_types() {
        let (shown, null) = (show(&column), null_of(column.data_type()));
        let section = rows.section();
        for default in [None, Some(column.slice(3, 1)), Some(column.clone())] {
            let expected = match default.as_ref().map(|default| default.len()) {
                None => [&null, &null, &shown[0], &shown[1]],
                Some(1) => [&shown[3], &shown[3], &shown[0], &shown[1]],
                _ => [&shown[0], &shown[1], &shown[0], &shown[1]],
            };
            let lag =
                LagLead::new(&section, column.clone(), RowMask::All, OffsetBy::Fixed(-2), default, false).unwrap();
            let answers = evaluate(&lag, &plan, &section);
            assert_eq!(answers.data_type(), column.data_type());
            assert_eq!(show(&answers).iter().collect::<Vec<_>>(), expected, "{}", column.data_type());
        }
        for (which, expected) in [
            (nth::NthRow::Nth(2), [&null, &shown[1], &shown[1], &shown[1]]),
            (nth::NthRow::Last, [0, 1, 2, 3].map(|row| &shown[row])),
        ] {
            let make = |section: &Section, range: Range<usize>| -> Box<dyn Evaluator> {
                let column = column.slice(range.start, range.len());
                Box::new(Nth::new(section, column, RowMask::All, which.clone(), false).unwrap())
            };
            for piece in 1..4 {
                let answers = streamed(&rows, &make, &plan, true, &[(piece, 0)]);
                assert!(answers.iter().all(|answer| answer.data_type() == column.data_type()));
                assert_eq!(all(&answers).iter().collect::<Vec<_>>(), expected, "{}", column.data_type());
            }
        }
    }
}

#[test]
fn default_outside_the_dictionary_is_accepted() {
    let values: Vec<_> = (0..128).map(|value| value.to_string()).collect();
    let keys = Int8Array::from_iter_values(0..=127);
    let column: ArrayRef = Arc::new(DictionaryArray::new(keys, Arc::new(StringArray::from(values))));
    let edges = Boundaries::single(128);
    let section = Section::whole(edges.clone(), edges, vec![]).unwrap();
    let plan = FramePlan::resolve(Some(&Frame::entire()), &[], &|name| Err(Error::spec(name)), "UTC").unwrap();
    let default: ArrayRef = Arc::new([Some("other")].into_iter().collect::<DictionaryArray<Int8Type>>());
    // 127 of the column's values and the default: as many as there are keys.
    let lag = LagLead::new(&section, column.clone(), RowMask::All, OffsetBy::Fixed(-1), Some(default.clone()), false)
        .unwrap();
    let answers = evaluate(&lag, &plan, &section);
    assert_eq!(answers.data_type(), column.data_type());
    assert_eq!(show(&answers)[..3], ["other", "0", "1"]);
    // One value more than there are keys. Two halves as partitions use all values but two, and the default twice.
    let mut filler: Vec<Option<String>> = (0..128).map(|value| Some(format!("x{value}"))).collect();
    filler[0] = None;
    let fillers: ArrayRef = Arc::new(filler.iter().map(Option::as_deref).collect::<DictionaryArray<Int8Type>>());
    let lag = LagLead::new(&section, column, RowMask::All, OffsetBy::Fixed(-64), Some(fillers), false).unwrap();
    let frames = Frames::new(&plan, &section, 0).unwrap();
    let answers = lag.evaluate(&frames, 0..128, &Carry::default(), &Cancel::default()).unwrap();
    assert_eq!(show(&answers)[62..66], ["x62", "x63", "0", "1"]);
}

#[test]
fn rank_beyond_i32_is_an_error() {
    let edges = Boundaries::new(BooleanBuffer::new_unset(3));
    let mut section = Section::whole(edges.clone(), edges, vec![]).unwrap();
    section.open = true;
    let plan = FramePlan::resolve(Some(&Frame::entire()), &[], &|name| Err(Error::spec(name)), "UTC").unwrap();
    let frames = Frames::new(&plan, &section, 0).unwrap();
    let column = |value| Arc::new(UInt64Array::from(vec![value])) as ArrayRef;
    let covered = i32::MAX as u64 - 2;
    let state = [("rows", column(covered)), ("rank", column(5)), ("dense_rank", column(2))];
    let carry = Carry { base: 0, state: Some(arrow_array::RecordBatch::try_from_iter(state).unwrap()), after: None };
    let evaluate = |which, rows| {
        let rank = Rank::new(&section, which, false).unwrap();
        rank.evaluate(&frames, rows, &carry, &Cancel::default())
    };
    assert_eq!(show(&evaluate(rank::RankKind::RowNumber, 0..2).unwrap()), ["2147483646", "2147483647"]);
    let error = evaluate(rank::RankKind::RowNumber, 0..3).unwrap_err();
    assert_eq!(error.kind(), windrow::ErrorKind::Overflow);
    // The rows continue the peer group of the last covered row.
    assert_eq!(show(&evaluate(rank::RankKind::Rank, 0..3).unwrap()), ["5", "5", "5"]);
    assert_eq!(show(&evaluate(rank::RankKind::DenseRank, 0..3).unwrap()), ["2", "2", "2"]);
}
