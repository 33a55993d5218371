//! Frame order: the rows of each frame in an argument order, by wavelet tree, by an incrementally maintained set, or by
//! sorting.
//!
//! ```text
//!   rows of the frame          4  5  6  7  8
//!   their key                  c  a  .  b  a       . not counted
//!   ordered                    5  8  7  4          `nth(0)` is row 5; ties in row order
//! ```
//!
//! Quantiles, ranks and values by an argument order query a [`FrameView`] of the frame: the number of rows, the k-th
//! row, the number of rows before a given one. Cost by wavelet tree: one radix sort of the section's rows, then O(log
//! m) per query for m rows in the partition. A frame that is the whole partition costs O(1) per row queried, and no
//! wavelet tree is built if there are only such frames.
//!
//! Where only the k-th row is queried, with similar k from row to row, and frames never move back, a set of the frame's
//! rows, numbered by their order, is maintained instead as rows enter and leave (`evaluate/multiset/sliding.rs`), with
//! a cursor at the last result (`evaluate/multiset/bitset.rs`): O(1) per row that enters or leaves, and no tree to
//! build. DISTINCT uses the same set. The naive strategy sorts each frame.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use arrow_array::{ArrayRef, RecordBatch};

use super::wavelet::{PositionRange, Wavelet, WaveletCursor};
use crate::bounds::exclude::SubRanges;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluator, for_each_frame};
use crate::evaluate::multiset::bitset::SelectBitset;
use crate::evaluate::multiset::rank_codes::{self, IncludedRows, RankCodes};
use crate::evaluate::multiset::sliding::{Multiset, MultisetFunction, VisitOrder};
use crate::evaluate::multiset::value_codes::{PartitionCodes, ValueCodes};
use crate::model::carry::Carry;
use crate::model::row_mask::RowMask;
use crate::model::section::Section;
use crate::permute::gather::gather_on;
use crate::sort::sort_column::{Comparators, SortColumn, compare};
use crate::util::boundaries::Boundaries;
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::run_index::RunIndex;
use crate::util::threads::Threads;

/// The counted rows of a section, in an argument order within each partition.
pub(crate) struct FrameOrder {
    places: IncludedRows,
    order: OrderKind,
    /// The threads for sorting and gathering.
    threads: Threads,
}

enum OrderKind {
    SortedPlaces(SortedPlaces),
    /// Each frame is sorted by these comparators.
    Naive(Comparators),
    /// A set of codes is maintained: one code per row, or with DISTINCT one per value.
    Kept(ValueCodes),
}

struct SortedPlaces {
    /// The positions sorted by the order within each partition.
    places: Vec<u32>,
    /// The peers in the order and the rank of each position, for queries by row.
    ranked: Option<PeerRanks>,
    /// Built at the first frame that is not a whole partition, or the error of building it.
    wavelet: OnceLock<Result<Wavelet>>,
}

struct PeerRanks {
    /// Per position, its index in the order.
    at: Vec<u32>,
    /// Runs of equal keys in the order.
    peers: RunIndex,
}

/// A function of each frame's rows in an argument order.
pub(crate) trait FrameOrderFunction: Send + Sync {
    /// The builder of the result column.
    type Builder;

    /// An empty builder for the results of `rows` rows.
    fn builder(&self, rows: usize) -> Self::Builder;

    /// Appends the result of `row`, whose frame `view` shows.
    ///
    /// # Errors
    /// Cancellation, a result that does not fit its type.
    fn evaluate(&self, row: usize, view: &mut FrameView, answers: &mut Self::Builder) -> Result<()>;

    /// Appends the previous row's result again, whose frame is the same; `false` if it must be computed anew.
    ///
    /// # Errors
    /// As for `evaluate`.
    #[inline]
    fn repeat(&self, _answers: &mut Self::Builder) -> Result<bool> {
        Ok(false)
    }

    /// The results as a column.
    ///
    /// # Errors
    /// Results that do not fit one column.
    fn finish(&self, answers: Self::Builder) -> Result<ArrayRef>;
}

/// A [`FrameOrderFunction`] over a section.
pub(crate) struct OrderEvaluator<R> {
    pub(crate) frame_order: FrameOrder,
    pub(crate) reading: R,
}

impl<R: FrameOrderFunction> Evaluator for OrderEvaluator<R> {
    fn evaluate(&self, frames: &Frames, rows: Range<usize>, _: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let mut answers = self.reading.builder(rows.len());
        let mut view = FrameView::new(&self.frame_order, cancel);
        let mut before: Option<SubRanges> = None;
        for_each_frame(frames, rows, cancel, |row, pieces| {
            // In small partitions all frames may be the whole partition.
            if before.as_ref().is_some_and(|before| before.as_slice() == pieces.as_slice())
                && self.reading.repeat(&mut answers)?
            {
                return Ok(());
            }
            view.set_frame(&self.frame_order, pieces.clone());
            before = Some(pieces);
            self.reading.evaluate(row, &mut view, &mut answers)
        })?;
        self.reading.finish(answers)
    }

    fn save_state(&self, _: Option<&RecordBatch>, _: Range<usize>) -> Result<RecordBatch> {
        Err(Error::internal("no state of bounded size stands for the order of rows"))
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        frames.first_needed_without_carry(answered)
    }
}

/// A [`FrameOrderFunction`] over an incrementally maintained set.
struct OrderOfSet<R>(R);

impl<R: FrameOrderFunction> MultisetFunction for OrderOfSet<R> {
    type State = FrameView<'static>;
    type Builder = R::Builder;

    fn needs_counts(&self) -> bool {
        false
    }

    fn reset(&self, view: &mut FrameView<'static>, _: &ValueCodes, partition: &PartitionCodes) -> Result<()> {
        if let ViewSource::Kept(selected, begin) = &mut view.source {
            selected.reset(partition.codes);
            *begin = partition.places.start as u32;
        }
        view.len = 0;
        Ok(())
    }

    #[inline(always)]
    fn set_count(
        &self,
        view: &mut FrameView<'static>,
        _: &ValueCodes,
        _: &PartitionCodes,
        code: usize,
        count: u32,
    ) -> Result<()> {
        if let ViewSource::Kept(selected, _) = &mut view.source {
            selected.set(code, count > 0);
        }
        Ok(())
    }

    fn builder(&self, capacity: usize) -> R::Builder {
        self.0.builder(capacity)
    }

    #[inline(always)]
    fn evaluate(
        &self,
        view: &mut FrameView<'static>,
        _: &ValueCodes,
        _: &PartitionCodes,
        row: usize,
        out: &mut R::Builder,
    ) -> Result<()> {
        if let ViewSource::Kept(selected, _) = &view.source {
            view.len = selected.len() as usize;
        }
        self.0.evaluate(row, view, out)
    }

    fn evaluate_naive(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &ValueCodes,
        partition: &PartitionCodes,
        row: usize,
        out: &mut R::Builder,
    ) -> Result<()> {
        let mut view = FrameView::default();
        self.reset(&mut view, values, partition)?;
        for (&code, &count) in counts {
            self.set_count(&mut view, values, partition, code as usize, count)?;
        }
        self.evaluate(&mut view, values, partition, row, out)
    }

    fn finish(&self, out: R::Builder) -> Result<ArrayRef> {
        self.0.finish(out)
    }
}

/// Which rows to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RankBound {
    /// Those before the row; ties by row number.
    Before,
    /// Those before the row and all its peers.
    BeforePeers,
    /// Those before the row, and its peers.
    ThroughPeers,
}

impl FrameOrder {
    /// As [`FrameOrder::new`], but sorts each frame anew.
    ///
    /// # Errors
    /// A type without an order.
    pub(crate) fn naive(section: &Section, inclusion: RowMask, keys: &[SortColumn]) -> Result<Self> {
        Ok(Self {
            places: IncludedRows::new(section, inclusion)?,
            order: OrderKind::Naive(compare(keys)?),
            threads: Threads::new(1, &Cancel::default()),
        })
    }

    /// The rows of `inclusion` ordered by `keys`. `ranked`: rows will be counted, not only selected.
    ///
    /// # Errors
    /// A type without an order; cancellation.
    pub(crate) fn new(
        section: &Section,
        inclusion: RowMask,
        keys: &[SortColumn],
        ranked: bool,
        threads: &Threads,
    ) -> Result<Self> {
        let places = IncludedRows::new(section, inclusion)?;
        let RankCodes { codes, sorted } = if ranked {
            RankCodes::new(&places, keys, threads)?
        } else {
            RankCodes { codes: Vec::new(), sorted: rank_codes::sorted(&places, keys, threads)? }
        };
        let ranked = ranked.then(|| -> Result<PeerRanks> {
            let mut at = reserve::repeated(0, sorted.len())?;
            for (rank, &place) in sorted.iter().enumerate() {
                at[place as usize] = rank as u32;
            }
            let code = |rank: usize| codes[sorted[rank] as usize];
            let begins = |rank: usize| places.partitions.starts_at(rank) || code(rank) != code(rank - 1);
            let peers = Boundaries::new((0..sorted.len()).map(begins).collect());
            Ok(PeerRanks { at, peers: RunIndex::new(&peers) })
        });
        let ranked = ranked.transpose()?;
        Ok(Self {
            places,
            order: OrderKind::SortedPlaces(SortedPlaces { places: sorted, ranked, wavelet: OnceLock::new() }),
            threads: threads.clone(),
        })
    }

    /// One row of `inclusion` for each distinct value of `keys`, in their order: DISTINCT.
    ///
    /// # Errors
    /// A type without an order; cancellation.
    pub(crate) fn distinct(
        section: &Section,
        inclusion: RowMask,
        keys: &[SortColumn],
        threads: &Threads,
    ) -> Result<Self> {
        let values = ValueCodes::new(section, inclusion, keys, threads)?;
        Ok(Self { places: values.places.clone(), order: OrderKind::Kept(values), threads: threads.clone() })
    }

    /// As [`FrameOrder::new`], for frames that never move back and functions that only use [`FrameView::select`].
    ///
    /// # Errors
    /// A type without an order; cancellation.
    pub(crate) fn with_set(
        section: &Section,
        inclusion: RowMask,
        keys: &[SortColumn],
        threads: &Threads,
    ) -> Result<Self> {
        let values = ValueCodes::in_order(section, inclusion, keys, threads)?;
        Ok(Self { places: values.places.clone(), order: OrderKind::Kept(values), threads: threads.clone() })
    }

    /// The evaluator of a function; `visits` applies to a maintained set.
    pub(crate) fn boxed<R: FrameOrderFunction + 'static>(self, visits: VisitOrder, reading: R) -> Box<dyn Evaluator> {
        match self.order {
            OrderKind::Kept(values) => Multiset::boxed(visits, values, OrderOfSet(reading)),
            order => Box::new(OrderEvaluator { frame_order: Self { order, ..self }, reading }),
        }
    }

    /// The values of `column`, which is as long as the section, arranged so that [`FrameView::select`] indexes them.
    ///
    /// # Errors
    /// Strings that exceed their offset type; cancellation.
    pub(crate) fn ordered_values(&self, column: &ArrayRef) -> Result<ArrayRef> {
        match &self.order {
            OrderKind::Naive(_) => Ok(column.clone()),
            OrderKind::Kept(values) => values.by_code(column, &self.threads),
            OrderKind::SortedPlaces(SortedPlaces { places: sorted, .. }) => {
                let values = self.places.take(column)?;
                Ok(gather_on(&[values], sorted, &self.threads)?.swap_remove(0))
            }
        }
    }
}

/// The structure that a view queries.
enum ViewSource<'a> {
    /// The order, with the cancellation token to check.
    FrameOrder(&'a FrameOrder, &'a Cancel),
    /// The codes in the frame, and the partition's first index in ordered columns.
    Kept(SelectBitset, u32),
}

/// The counted rows of one frame, in the argument order.
pub(crate) struct FrameView<'a> {
    source: ViewSource<'a>,
    cursor: Option<WaveletCursor<'a>>,
    /// The positions of the frame's partition, once a query has set them.
    partition: Range<usize>,
    /// The frame's positions: the first `pieces` of these ranges, none of them empty.
    runs: [PositionRange; 3],
    pieces: usize,
    len: usize,
    /// For the naive strategy: the frame's rows.
    rows: Vec<u32>,
    /// The results of the last query.
    found: Vec<u32>,
}

impl Default for FrameView<'_> {
    fn default() -> Self {
        Self::of(ViewSource::Kept(SelectBitset::default(), 0))
    }
}

impl<'a> FrameView<'a> {
    fn new(frame_order: &'a FrameOrder, cancel: &'a Cancel) -> Self {
        Self::of(ViewSource::FrameOrder(frame_order, cancel))
    }

    fn of(source: ViewSource<'a>) -> Self {
        Self {
            source,
            cursor: None,
            partition: 0..0,
            runs: [[0; 2]; 3],
            pieces: 0,
            len: 0,
            rows: Vec::new(),
            found: Vec::new(),
        }
    }

    /// The order that the view queries, for queries that return rows.
    fn frame_order(&self) -> Result<&'a FrameOrder> {
        match self.source {
            ViewSource::FrameOrder(frame_order, _) => Ok(frame_order),
            ViewSource::Kept(..) => Err(Error::internal("rows are asked for where only their order is kept")),
        }
    }

    fn set_frame(&mut self, frame_order: &FrameOrder, pieces: SubRanges) {
        (self.pieces, self.len) = (0, 0);
        for piece in pieces {
            let places = frame_order.places.of(piece);
            if !places.is_empty() {
                self.runs[self.pieces] = [places.start as u32, places.end as u32];
                self.pieces += 1;
                self.len += places.len();
            }
        }
        if let OrderKind::Naive(compare) = &frame_order.order {
            let places = self.runs[..self.pieces].iter().flat_map(|&[begin, end]| begin..end);
            self.rows.clear();
            self.rows.extend(places.map(|place| frame_order.places.row(place as usize) as u32));
            compare.sort(&mut self.rows);
        }
    }

    /// Whether selecting a row is fast close to the row selected for the previous frame.
    #[inline]
    pub(crate) fn has_set(&self) -> bool {
        matches!(self.source, ViewSource::Kept(..))
    }

    /// The number of counted rows of the frame.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Calls `f` with the k-th rows, from 0, for `ks`, which are ascending and less than `len`.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn rows(&mut self, ks: &[u32], mut f: impl FnMut(usize)) -> Result<()> {
        let frame_order = self.frame_order()?;
        self.select(ks)?;
        for &at in &self.found {
            f(match &frame_order.order {
                OrderKind::SortedPlaces(sorted) => frame_order.places.row(sorted.places[at as usize] as usize),
                OrderKind::Naive(_) | OrderKind::Kept(_) => at as usize,
            });
        }
        Ok(())
    }

    /// The k-th rows, from 0, as indices in columns from [`FrameOrder::ordered_values`].
    ///
    /// # Errors
    /// Cancellation.
    #[inline(always)]
    pub(crate) fn select(&mut self, ks: &[u32]) -> Result<&[u32]> {
        match &mut self.source {
            ViewSource::FrameOrder(frame_order, _) => {
                let frame_order = *frame_order;
                self.select_in_order(frame_order, ks)
            }
            ViewSource::Kept(selected, begin) => {
                self.found.clear();
                selected.select(ks, |code| self.found.push(*begin + code as u32));
                Ok(&self.found)
            }
        }
    }

    fn select_in_order(&mut self, frame_order: &'a FrameOrder, ks: &[u32]) -> Result<&[u32]> {
        self.found.resize(ks.len(), 0);
        let OrderKind::SortedPlaces(sorted) = &frame_order.order else {
            for (found, &k) in self.found.iter_mut().zip(ks) {
                *found = self.rows[k as usize];
            }
            return Ok(&self.found);
        };
        if self.is_partition(frame_order) {
            for (found, &k) in self.found.iter_mut().zip(ks) {
                *found = self.partition.start as u32 + k;
            }
            return Ok(&self.found);
        }
        let mut found = std::mem::take(&mut self.found);
        let runs = self.runs;
        let pieces = self.pieces;
        let cursor = self.cursor(frame_order, sorted)?;
        match pieces {
            0 | 1 => cursor.select([runs[0]], ks, &mut found),
            2 => cursor.select([runs[0], runs[1]], ks, &mut found),
            _ => cursor.select(runs, ks, &mut found),
        }
        self.found = found;
        Ok(&self.found)
    }

    /// The number of rows of the frame in this relation to `row`, which is counted but need not be in the frame.
    ///
    /// # Errors
    /// Cancellation.
    pub(crate) fn count(&mut self, row: usize, counted: RankBound) -> Result<usize> {
        let frame_order = self.frame_order()?;
        let sorted = match &frame_order.order {
            OrderKind::Kept(_) => return Err(Error::internal("rows are counted where only their order is kept")),
            OrderKind::Naive(compare) => {
                let stands = |&other: &u32| {
                    let order = compare.compare(other as usize, row);
                    match counted {
                        RankBound::Before => order.then((other as usize).cmp(&row)).is_lt(),
                        RankBound::BeforePeers => order.is_lt(),
                        RankBound::ThroughPeers => order.is_le(),
                    }
                };
                return Ok(self.rows.iter().filter(|row| stands(row)).count());
            }
            OrderKind::SortedPlaces(sorted) => sorted,
        };
        if self.len == 0 {
            return Ok(0);
        }
        let ranked = sorted.ranked.as_ref().ok_or_else(|| Error::internal("rows are counted that have no rank"))?;
        let at = ranked.at[frame_order.places.of(row..row).start] as usize;
        let behind = match counted {
            RankBound::Before => at,
            RankBound::BeforePeers => ranked.peers.run_start(at),
            RankBound::ThroughPeers => ranked.peers.next_start(at + 1),
        };
        if self.is_partition(frame_order) {
            return Ok(behind - self.partition.start);
        }
        let (runs, pieces, begin) = (self.runs, self.pieces, self.partition.start);
        let cursor = self.cursor(frame_order, sorted)?;
        let rank = (behind - begin) as u32;
        let below = match pieces {
            1 => cursor.count_below([runs[0]], rank),
            2 => cursor.count_below([runs[0], runs[1]], rank),
            _ => cursor.count_below(runs, rank),
        };
        Ok(below as usize)
    }

    /// Whether the frame is the whole partition; also sets `partition`.
    fn is_partition(&mut self, frame_order: &FrameOrder) -> bool {
        let [begin, end] = self.runs[0].map(|place| place as usize);
        if self.len > 0 && !self.partition.contains(&begin) {
            self.partition = frame_order.places.partitions.run_range(begin);
            if let Some(cursor) = &mut self.cursor {
                cursor.set_partition(&self.partition);
            }
        }
        self.pieces == 1 && self.partition == (begin..end)
    }

    fn cursor(&mut self, frame_order: &FrameOrder, sorted: &'a SortedPlaces) -> Result<&WaveletCursor<'a>> {
        if let (None, ViewSource::FrameOrder(_, cancel)) = (&self.cursor, &self.source) {
            let build = || Wavelet::new(&frame_order.places.partitions, &sorted.places, cancel);
            let wavelet = sorted.wavelet.get_or_init(build).as_ref().map_err(Clone::clone)?;
            let mut cursor = WaveletCursor::new(wavelet);
            cursor.set_partition(&self.partition);
            self.cursor = Some(cursor);
        }
        self.cursor.as_ref().ok_or_else(|| Error::internal("a cursor was not made"))
    }
}
