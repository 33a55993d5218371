//! `collect_list`, `collect_set`: the frame's values as a list. Their evaluators, which find the positions of the
//! values in order, also serve `listagg`.
//!
//! ```text
//!   values by position   a b c d e f | d b          what cannot be shared is appended: an argument order, DISTINCT,
//!   list view            [1..4) [2..6) [6..8)       frames that EXCLUDE splits
//! ```
//!
//! Cost: in row order O(1) per row as list views, which share one child; as plain lists the total length of the lists,
//! the size of such a column. In an argument order, or for distinct values, the present values are kept in a bitmap in
//! that order ([`crate::evaluate::multiset::sliding`]), so a result costs its length and no sort.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray, ListViewArray, RecordBatch, UInt32Array};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, FieldRef};
use arrow_select::concat::concat;
use arrow_select::take::take;

use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluator, for_each_frame};
use crate::evaluate::multiset::bitset::Bitset;
use crate::evaluate::multiset::rank_codes::IncludedRows;
use crate::evaluate::multiset::result_length::{ResultLength, TotalLength, of_all};
use crate::evaluate::multiset::sliding::MultisetFunction;
use crate::evaluate::multiset::value_codes::{PartitionCodes, ValueCodes};
use crate::model::carry::Carry;
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::threads::Threads;

/// A result that consists of the values at given positions, in their order.
pub(crate) trait GatherPlaces: ResultLength {
    /// The builder of the result column.
    type Builder;

    /// An empty builder for `capacity` results.
    fn builder(&self, capacity: usize) -> Self::Builder;

    /// Reserves memory for results of this total length.
    ///
    /// # Errors
    /// As for `check`.
    fn reserve(&self, length: usize, out: &mut Self::Builder) -> Result<()>;

    /// Appends the result of the values at `places`.
    ///
    /// # Errors
    /// The results exceed their offset type.
    fn push(&self, places: impl Iterator<Item = u32>, out: &mut Self::Builder) -> Result<()>;

    /// Appends the result of the values of `run`.
    ///
    /// # Errors
    /// As for `push`.
    fn push_run(&self, run: Range<usize>, out: &mut Self::Builder) -> Result<()> {
        self.push(run.start as u32..run.end as u32, out)
    }

    /// Appends the previous result again; `false` if there is none.
    ///
    /// # Errors
    /// As for `push`.
    fn repeat(&self, out: &mut Self::Builder) -> Result<bool>;

    /// The results as a column.
    ///
    /// # Errors
    /// They do not form an array.
    fn finish(&self, out: Self::Builder) -> Result<ArrayRef>;
}

/// Values in row order.
#[derive(Debug)]
pub(crate) struct ListByRow<G> {
    pub(crate) gather: G,
    pub(crate) places: IncludedRows,
    /// Whether each frame is read row by row, without sharing.
    pub(crate) naive: bool,
}

impl<G: GatherPlaces> ListByRow<G> {
    /// The total length of the results of `rows`.
    fn length(&self, frames: &Frames, rows: Range<usize>, cancel: &Cancel) -> Result<usize> {
        let mut total = TotalLength::default();
        for_each_frame(frames, rows, cancel, |_, pieces| {
            let runs = pieces.map(|piece| self.places.of(piece));
            if self.naive {
                total.add_all(&self.gather, runs);
            } else {
                total.add(&self.gather, runs);
            }
            Ok(())
        })?;
        Ok(total.length())
    }
}

impl<G: GatherPlaces> Evaluator for ListByRow<G> {
    fn check_size(&self, frames: &Frames, rows: &Range<usize>, threads: &Threads) -> Result<()> {
        self.gather.check(of_all(rows, threads, |rows| self.length(frames, rows, threads.cancel()))?)
    }

    fn evaluate(&self, frames: &Frames, rows: Range<usize>, _: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let Self { gather, places, naive } = self;
        let mut out = gather.builder(rows.len());
        gather.reserve(self.length(frames, rows.clone(), cancel)?, &mut out)?;
        for_each_frame(frames, rows, cancel, |_, pieces| {
            if *naive {
                let included = pieces.flatten().filter(|&row| places.includes(row));
                return gather.push(included.map(|row| places.of(row..row + 1).start as u32), &mut out);
            }
            let mut runs = pieces.map(|piece| places.of(piece)).filter(|run| !run.is_empty());
            match (runs.next(), runs.next()) {
                (None, _) => gather.push_run(0..0, &mut out),
                (Some(run), None) => gather.push_run(run, &mut out),
                (Some(first), Some(second)) => {
                    let all = [first, second].into_iter().chain(runs).flatten();
                    gather.push(all.map(|place| place as u32), &mut out)
                }
            }
        })?;
        gather.finish(out)
    }

    fn save_state(&self, _: Option<&RecordBatch>, _: Range<usize>) -> Result<RecordBatch> {
        Err(Error::internal("no state of bounded size stands for a list"))
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        frames.first_needed_without_carry(answered)
    }
}

/// Values in the order of their codes.
#[derive(Debug)]
pub(crate) struct ListByCode<G>(pub(crate) G);

/// The values present, and whether they are those of the previous result.
#[derive(Debug, Default)]
pub(crate) struct ListedCodes {
    present: Bitset,
    answered: bool,
}

impl<G: GatherPlaces> MultisetFunction for ListByCode<G> {
    type State = ListedCodes;
    type Builder = G::Builder;

    fn needs_counts(&self) -> bool {
        false
    }

    fn reset(&self, listed: &mut ListedCodes, _: &ValueCodes, partition: &PartitionCodes) -> Result<()> {
        listed.present.reset(partition.codes);
        listed.answered = false;
        Ok(())
    }

    #[inline]
    fn set_count(
        &self,
        listed: &mut ListedCodes,
        _: &ValueCodes,
        _: &PartitionCodes,
        code: usize,
        count: u32,
    ) -> Result<()> {
        listed.present.set(code, count > 0);
        listed.answered = false;
        Ok(())
    }

    fn builder(&self, capacity: usize) -> G::Builder {
        self.0.builder(capacity)
    }

    fn evaluate(
        &self,
        listed: &mut ListedCodes,
        values: &ValueCodes,
        partition: &PartitionCodes,
        _: usize,
        out: &mut G::Builder,
    ) -> Result<()> {
        if std::mem::replace(&mut listed.answered, true) && self.0.repeat(out)? {
            return Ok(());
        }
        self.0.push(listed.present.iter().map(|code| values.place(partition, code)), out)
    }

    fn evaluate_naive(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &ValueCodes,
        partition: &PartitionCodes,
        _: usize,
        out: &mut G::Builder,
    ) -> Result<()> {
        self.0.push(counts.keys().map(|&code| values.place(partition, code as usize)), out)
    }

    fn finish(&self, out: G::Builder) -> Result<ArrayRef> {
        self.0.finish(out)
    }

    fn result_length(&self) -> Option<&dyn ResultLength> {
        Some(&self.0)
    }

    fn reserve(&self, length: usize, out: &mut G::Builder) -> Result<()> {
        self.0.reserve(length, out)
    }
}

/// Lists, as plain lists or as views.
#[derive(Debug)]
pub(crate) struct CollectLists {
    values: ArrayRef,
    field: FieldRef,
    views: bool,
}

impl CollectLists {
    /// Lists of `values`, which are by position, as a column of type `output`.
    ///
    /// # Errors
    /// `output` is not a list type.
    pub(crate) fn new(values: ArrayRef, output: &DataType) -> Result<Self> {
        let (field, views) = match output {
            DataType::List(field) => (field.clone(), false),
            DataType::ListView(field) => (field.clone(), true),
            other => return Err(Error::internal(format!("lists as {other}"))),
        };
        Ok(Self { values, field, views })
    }
}

/// Lists and the positions of their values.
#[derive(Debug, Default)]
pub(crate) struct CollectBuilder {
    lists: Vec<ListSlice>,
    /// The positions of appended values.
    appended: Vec<u32>,
    /// The positions that lists share.
    shared: Option<Range<usize>>,
}

/// One list: its length, and its begin among the shared or the appended values.
#[derive(Debug, Clone, Copy)]
struct ListSlice {
    begin: usize,
    len: usize,
    shared: bool,
}

impl CollectLists {
    /// A number of values as the offset or length of a list.
    fn offset(&self, length: usize) -> Result<i32> {
        i32::try_from(length).map_err(|_| {
            Error::memory_limit(format!(
                "the lists would hold {length} values together, {} MiB, and a column of lists {} values at most; stream the \
                 rows in batches, narrow the frame, or ask for list views, which share values",
                self.bytes(length).div_ceil(1 << 20),
                i32::MAX
            ))
        })
    }

    /// The bytes of this many values and of their positions.
    fn bytes(&self, values: usize) -> usize {
        values.saturating_mul(size_of::<u32>() + reserve::mean_bytes(&self.values))
    }
}

impl ResultLength for CollectLists {
    fn length(&self, run: Range<usize>) -> usize {
        run.len()
    }

    fn separator(&self) -> usize {
        0
    }

    fn can_share(&self) -> bool {
        self.views
    }

    fn check(&self, length: usize) -> Result<()> {
        self.offset(length)?;
        reserve::check_available(self.bytes(length), || format!("the lists would hold {length} values together"))
    }
}

impl GatherPlaces for CollectLists {
    type Builder = CollectBuilder;

    fn builder(&self, capacity: usize) -> CollectBuilder {
        CollectBuilder { lists: Vec::with_capacity(capacity), ..CollectBuilder::default() }
    }

    fn reserve(&self, length: usize, out: &mut CollectBuilder) -> Result<()> {
        self.check(length)?;
        reserve::reserve(&mut out.appended, length)?;
        reserve::probe(self.bytes(length) - length * size_of::<u32>())
    }

    fn push(&self, places: impl Iterator<Item = u32>, out: &mut CollectBuilder) -> Result<()> {
        let begin = out.appended.len();
        match places.size_hint() {
            (least, Some(most)) if least == most => {
                reserve::grow(&mut out.appended, most)?;
                out.appended.extend(places);
            }
            _ => {
                for place in places {
                    reserve::grow(&mut out.appended, 1)?;
                    out.appended.push(place);
                }
            }
        }
        self.offset(out.appended.len())?;
        out.lists.push(ListSlice { begin, len: out.appended.len() - begin, shared: false });
        Ok(())
    }

    fn push_run(&self, run: Range<usize>, out: &mut CollectBuilder) -> Result<()> {
        if !self.views {
            return self.push(run.start as u32..run.end as u32, out);
        }
        if !run.is_empty() {
            out.shared = Some(match &out.shared {
                None => run.clone(),
                Some(shared) => shared.start.min(run.start)..shared.end.max(run.end),
            });
        }
        out.lists.push(ListSlice { begin: run.start, len: run.len(), shared: true });
        Ok(())
    }

    fn repeat(&self, out: &mut CollectBuilder) -> Result<bool> {
        let Some(&last) = out.lists.last() else { return Ok(false) };
        if !self.views {
            reserve::grow(&mut out.appended, last.len)?;
            out.appended.extend_from_within(last.begin..last.begin + last.len);
            self.offset(out.appended.len())?;
        }
        let begin = if self.views { last.begin } else { last.begin + last.len };
        out.lists.push(ListSlice { begin, ..last });
        Ok(true)
    }

    fn finish(&self, out: CollectBuilder) -> Result<ArrayRef> {
        let CollectBuilder { lists, appended, shared } = out;
        let field = self.field.clone();
        if !self.views {
            let values = take(&self.values, &UInt32Array::from(appended), None)?;
            let offsets = OffsetBuffer::from_lengths(lists.iter().map(|slot| slot.len));
            return Ok(Arc::new(ListArray::try_new(field, offsets, values, None)?));
        }
        let shared = shared.unwrap_or(0..0);
        self.offset(shared.len() + appended.len())?;
        let begin = |slot: &ListSlice| match (slot.len, slot.shared) {
            (0, _) => 0,
            (_, true) => (slot.begin - shared.start) as i32,
            (_, false) => (slot.begin + shared.len()) as i32,
        };
        let begins: ScalarBuffer<i32> = lists.iter().map(begin).collect();
        let sizes: ScalarBuffer<i32> = lists.iter().map(|slot| slot.len as i32).collect();
        let mut values = self.values.slice(shared.start, shared.len());
        if !appended.is_empty() {
            let appended = take(&self.values, &UInt32Array::from(appended), None)?;
            values = if values.is_empty() { appended } else { concat(&[values.as_ref(), appended.as_ref()])? };
        }
        Ok(Arc::new(ListViewArray::try_new(field, begins, sizes, values, None)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Mutex;

    use arrow_array::{Array, Int64Array, UInt64Array};

    use super::*;
    use crate::bounds::resolve::FramePlan;
    use crate::evaluate::multiset::sliding::{Multiset, VisitOrder};
    use crate::model::row_mask::RowMask;
    use crate::model::section::Section;
    use crate::sort::sort_column::SortColumn;
    use crate::spec::frame::{Bound, Exclude, Frame};
    use crate::util::boundaries::Boundaries;

    /// A test double: values with lengths of their own, which records what is reserved and what is appended.
    struct RecordedLengths {
        lengths: Vec<usize>,
        separator: usize,
        shares: bool,
        asked: Arc<Mutex<Vec<usize>>>,
    }

    /// What was reserved, what was appended, and the last result.
    type LengthLog = (usize, usize, usize);

    impl ResultLength for RecordedLengths {
        fn length(&self, run: Range<usize>) -> usize {
            self.lengths[run].iter().map(|length| length + self.separator).sum()
        }

        fn separator(&self) -> usize {
            self.separator
        }

        fn can_share(&self) -> bool {
            self.shares
        }

        fn check(&self, length: usize) -> Result<()> {
            self.asked.lock().unwrap().push(length);
            Err(Error::memory_limit("nothing fits"))
        }
    }

    impl GatherPlaces for RecordedLengths {
        type Builder = LengthLog;

        fn builder(&self, _: usize) -> LengthLog {
            (0, 0, 0)
        }

        fn reserve(&self, length: usize, out: &mut LengthLog) -> Result<()> {
            out.0 = length;
            Ok(())
        }

        fn push(&self, places: impl Iterator<Item = u32>, out: &mut LengthLog) -> Result<()> {
            let lengths: Vec<_> = places.map(|place| self.lengths[place as usize] + self.separator).collect();
            out.2 = lengths.iter().sum::<usize>().saturating_sub(self.separator);
            out.1 += out.2;
            Ok(())
        }

        fn push_run(&self, run: Range<usize>, out: &mut LengthLog) -> Result<()> {
            if self.shares { Ok(()) } else { self.push(run.start as u32..run.end as u32, out) }
        }

        fn repeat(&self, out: &mut LengthLog) -> Result<bool> {
            out.1 += if self.shares { 0 } else { out.2 };
            Ok(true)
        }

        fn finish(&self, (reserved, came, _): LengthLog) -> Result<ArrayRef> {
            Ok(Arc::new(UInt64Array::from(vec![reserved as u64, came as u64])))
        }
    }

    /// The lengths computed in advance are the actual ones, for random frames and rows, in any order of values.
    #[test]
    fn predicted_lengths_match() {
        let mut seed = 5_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let (mut compared, mut long) = (0, 0);
        for _ in 0..300 {
            let rows = 1 + next(60) as usize;
            let partitions = Boundaries::new((0..rows).map(|row| row == 0 || next(9) == 0).collect());
            let peers = Boundaries::new((0..rows).map(|row| partitions.starts().value(row) || next(2) == 0).collect());
            let section = Section::whole(partitions, peers, vec![]).unwrap();
            let inclusion = match next(2) {
                0 => RowMask::All,
                _ => RowMask::Mask((0..rows).map(|_| next(4) > 0).collect()),
            };
            let (from, to) = (next(12) as i64 - 8, next(12) as i64 - 3);
            let bound = |at: i64| if at < 0 { Bound::preceding(-at) } else { Bound::following(at) };
            let frame = match next(3) {
                0 => Frame::entire(),
                1 => Frame::rows(Bound::UnboundedPreceding, bound(to)),
                _ => Frame::rows(bound(from.min(to)), bound(to)),
            };
            let exclude = [Exclude::NoOthers, Exclude::CurrentRow, Exclude::Group, Exclude::Ties][next(4) as usize];
            let frame = frame.exclude(exclude);
            let plan = FramePlan::resolve(Some(&frame), &[], &|name| Err(Error::spec(name)), "UTC").unwrap();
            let frames = Frames::new(&plan, &section, 0).unwrap();
            let column: ArrayRef = Arc::new((0..rows).map(|_| Some(next(7) as i64)).collect::<Int64Array>());
            let keys = [SortColumn::ascending(column)];
            let naive = next(3) == 0;
            let visits = if naive { VisitOrder::Naive } else { VisitOrder::RowOrder };
            let threads = Threads::new(1, &Cancel::default());
            let written = RecordedLengths {
                lengths: (0..rows).map(|_| next(4) as usize).collect(),
                separator: next(3) as usize,
                shares: next(3) == 0,
                asked: Arc::default(),
            };
            let asked = written.asked.clone();
            let evaluator: Box<dyn Evaluator> = match next(3) {
                0 => Box::new(ListByRow {
                    gather: written,
                    places: IncludedRows::new(&section, inclusion).unwrap(),
                    naive,
                }),
                1 => {
                    let values = ValueCodes::new(&section, inclusion, &keys, &threads).unwrap();
                    Multiset::boxed(visits, values, ListByCode(written))
                }
                _ => {
                    let values = ValueCodes::in_order(&section, inclusion, &keys, &threads).unwrap();
                    Multiset::boxed(visits, values, ListByCode(written))
                }
            };
            let answers = evaluator.evaluate(&frames, 0..rows, &Carry::default(), &Cancel::default()).unwrap();
            let answers: &UInt64Array = answers.as_any().downcast_ref().unwrap();
            assert_eq!(answers.value(0), answers.value(1), "{frame:?}, {visits:?}");
            assert!(evaluator.check_size(&frames, &(0..rows), &threads).is_err());
            assert_eq!(asked.lock().unwrap().last().copied(), Some(answers.value(1) as usize));
            compared += 1;
            long += usize::from(answers.value(1) > 100);
        }
        assert!(compared == 300 && long > 50, "{long}");
    }
}
