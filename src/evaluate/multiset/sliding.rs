//! Multiset: the multiplicity of each value in the frame, updated as rows enter and leave.
//!
//! ```text
//!   codes     2 0 2 1 1 0 2
//!   frame 1   [---------)             counts   1 2 2         of codes 0, 1, 2
//!   frame 2       [---------)         counts   1 2 1  ->     2 leaves twice and comes once, 0 leaves and comes
//! ```
//!
//! Values are numbered in their order within a partition ([`super::rank_codes`]), so a count is an array element. A
//! [`MultisetFunction`] is notified of each change and maintains the state it needs: an aggregate state of the values
//! present, a tree of the largest counts, a bitmap. The ranges that EXCLUDE leaves move as monotonically as the frames
//! do, so a row enters and leaves O(1) times.
//!
//! For functions of rows rather than values (quantiles, lists) each row has a code of its own, its position in the
//! order; a code is then in the frame or not, and nothing is counted.
//!
//! Cost: O(1) changes per row, amortised, each at the function's cost (at most O(log n)); 8 bytes per row of a section
//! and 4 per value of a partition. Frames that move arbitrarily are evaluated in Mo's order (by begin in strides of n /
//! sqrt(n), within a stride by end, alternately ascending and descending), with O(sqrt(n)) changes per row: no better
//! algorithm is known for modes, nor for unions of runs such as EXCLUDE leaves. DISTINCT of an aggregate has a faster
//! one, `distinct_sweep.rs`.
//!
//! Source: R. Wesley, F. Xu, "Incremental Computation of Common Windowed Holistic Aggregates" (PVLDB 9, 2016); Mo's
//! order: D. Mount et al. for range modes in D. Krizanc, P. Morin, M. Smid, "Range Mode and Range Median Queries on
//! Lists and Trees" (Nordic J. of Computing 12, 2005).

use std::collections::BTreeMap;
use std::ops::Range;

use arrow_array::{ArrayRef, RecordBatch};

use super::result_length::{ResultLength, TotalLength, of_all};
use super::value_codes::{PartitionCodes, ValueCodes};
use crate::bounds::exclude::SubRanges;
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::{Evaluator, for_each_block, for_each_frame};
use crate::model::carry::Carry;
use crate::permute::column_writer::restore;
use crate::util::cancel::Cancel;
use crate::util::reserve;
use crate::util::simd::with_avx2_only;
use crate::util::threads::Threads;

/// Cancellation is checked at least once per this many changes.
const CHANGES_PER_CANCEL_CHECK: usize = 1 << 22;

/// A function of the values of a frame and their multiplicities.
pub(crate) trait MultisetFunction: Send + Sync {
    /// The state maintained for the values present.
    type State: Default;
    /// The builder of the result column.
    type Builder;

    /// Whether it needs multiplicities; otherwise it is notified of the counts 0 and 1 only.
    fn needs_counts(&self) -> bool;

    /// Resets the state to an empty frame of `partition`.
    ///
    /// # Errors
    /// There is no memory for the state.
    fn reset(&self, state: &mut Self::State, values: &ValueCodes, partition: &PartitionCodes) -> Result<()>;

    /// Sets the multiplicity of the value of `code` to `count`.
    ///
    /// # Errors
    /// Those of an aggregate.
    fn set_count(
        &self,
        state: &mut Self::State,
        values: &ValueCodes,
        partition: &PartitionCodes,
        code: usize,
        count: u32,
    ) -> Result<()>;

    /// The length of results, if they are of variable width.
    fn result_length(&self) -> Option<&dyn ResultLength> {
        None
    }

    /// An empty builder for `capacity` results.
    fn builder(&self, capacity: usize) -> Self::Builder;

    /// Reserves memory for results of this total length, where [`MultisetFunction::result_length`] gives one.
    ///
    /// # Errors
    /// There is not enough memory.
    fn reserve(&self, _length: usize, _out: &mut Self::Builder) -> Result<()> {
        Ok(())
    }

    /// Appends the result of `row`.
    ///
    /// # Errors
    /// It does not fit its type.
    fn evaluate(
        &self,
        state: &mut Self::State,
        values: &ValueCodes,
        partition: &PartitionCodes,
        row: usize,
        out: &mut Self::Builder,
    ) -> Result<()>;

    /// Appends the result of `row` by definition, from the counts of the values present by code.
    ///
    /// # Errors
    /// It does not fit its type.
    fn evaluate_naive(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &ValueCodes,
        partition: &PartitionCodes,
        row: usize,
        out: &mut Self::Builder,
    ) -> Result<()>;

    /// The results as a column.
    ///
    /// # Errors
    /// They do not form an array.
    fn finish(&self, out: Self::Builder) -> Result<ArrayRef>;
}

/// A multiset function over any frames.
#[derive(Debug)]
pub(crate) struct Multiset<T> {
    values: ValueCodes,
    function: T,
    visits: VisitOrder,
}

/// The order in which rows are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VisitOrder {
    /// In row order: frames never move back, or are best read one by one.
    RowOrder,
    /// In Mo's order.
    Mo,
    /// In row order, each frame counted anew: the reference implementation.
    Naive,
}

impl<T: MultisetFunction + 'static> Multiset<T> {
    /// The evaluator of a function of values, visiting rows in this order.
    pub(crate) fn boxed(visits: VisitOrder, values: ValueCodes, function: T) -> Box<dyn Evaluator> {
        Box::new(Self { values, function, visits })
    }
}

impl<T: MultisetFunction> Multiset<T> {
    /// An upper bound of the total length of the results of `rows`: as if all values in a frame were distinct.
    fn length(&self, of: &dyn ResultLength, frames: &Frames, rows: Range<usize>, cancel: &Cancel) -> Result<usize> {
        let mut total = TotalLength::default();
        for_each_frame(frames, rows, cancel, |_, pieces| {
            // Results in an argument order share no run.
            total.add_all(of, pieces.map(|piece| self.values.places.of(piece)));
            Ok(())
        })?;
        Ok(total.length())
    }

    /// Whether the bound is exact: all values are distinct, and no two results share values.
    fn has_exact_length(&self, of: &dyn ResultLength) -> bool {
        self.values.unique && !of.can_share()
    }

    /// The exact total length.
    fn exact_length(
        &self,
        of: &dyn ResultLength,
        frames: &Frames,
        rows: Range<usize>,
        cancel: &Cancel,
    ) -> Result<usize> {
        Ok(self.walk(&LengthSum(of), TotalLength::default(), frames, rows, cancel)?.0.length())
    }

    /// Evaluates a function for `rows`; also returns the order of evaluation if it is not the row order.
    fn walk<U: MultisetFunction>(
        &self,
        function: &U,
        mut out: U::Builder,
        frames: &Frames,
        rows: Range<usize>,
        cancel: &Cancel,
    ) -> Result<(U::Builder, Option<Vec<u32>>)> {
        let Self { values, visits, .. } = self;
        match visits {
            VisitOrder::RowOrder => {
                let mut moving = SlidingCounts::new(values, function, cancel);
                for_each_block(frames, rows, cancel, &mut |bounds| {
                    let mut rows = bounds.rows.clone();
                    // Contiguous frames are the common case and have a loop of their own.
                    let answered = bounds.runs().and_then(|runs| {
                        with_avx2_only(
                            #[inline(always)]
                            || {
                                let mut each = rows.clone().zip(runs.iter());
                                each.try_for_each(|(row, run)| moving.slide(row, piece_places(values, run), &mut out))
                            },
                        )
                    });
                    if let Some(answered) = answered {
                        return answered;
                    }
                    rows.try_for_each(|row| {
                        let pieces = bounds.sub_ranges(row);
                        let used = pieces.len();
                        moving.answer(row, &pieces_of(values, pieces)[..used], &mut out)
                    })
                })?;
            }
            VisitOrder::Mo => {
                let all = all_pieces(values, frames, rows.clone(), cancel)?;
                let order = mo_order(values, &rows, &all)?;
                let mut moving = SlidingCounts::new(values, function, cancel);
                for &at in &order {
                    moving.answer(rows.start + at as usize, &all[at as usize], &mut out)?;
                }
                return Ok((out, Some(order)));
            }
            VisitOrder::Naive => {
                let mut partition = PartitionCodes::default();
                for_each_frame(frames, rows, cancel, |row, pieces| {
                    if !partition.rows.contains(&row) {
                        partition = values.partition(row);
                    }
                    function.evaluate_naive(&values.count(pieces), values, &partition, row, &mut out)
                })?;
            }
        }
        Ok((out, None))
    }
}

impl<T: MultisetFunction> Evaluator for Multiset<T> {
    fn check_size(&self, frames: &Frames, rows: &Range<usize>, threads: &Threads) -> Result<()> {
        let Some(of) = self.function.result_length() else { return Ok(()) };
        let cancel = threads.cancel();
        let check = of.check(of_all(rows, threads, |rows| self.length(of, frames, rows, cancel))?);
        if check.is_ok() || self.has_exact_length(of) {
            return check;
        }
        of.check(of_all(rows, threads, |rows| self.exact_length(of, frames, rows, cancel))?)
    }

    fn evaluate(&self, frames: &Frames, rows: Range<usize>, _: &Carry, cancel: &Cancel) -> Result<ArrayRef> {
        let function = &self.function;
        let mut out = function.builder(rows.len());
        if let Some(of) = function.result_length() {
            let most = self.length(of, frames, rows.clone(), cancel)?;
            if self.has_exact_length(of) {
                function.reserve(most, &mut out)?;
            } else if of.check(most).is_err() {
                function.reserve(self.exact_length(of, frames, rows.clone(), cancel)?, &mut out)?;
            }
        }
        let (out, order) = self.walk(function, out, frames, rows, cancel)?;
        let answers = function.finish(out)?;
        match order {
            Some(order) => restore(&answers, &order),
            None => Ok(answers),
        }
    }

    fn save_state(&self, _: Option<&RecordBatch>, _: Range<usize>) -> Result<RecordBatch> {
        Err(Error::internal("no state stands for values that are counted"))
    }

    fn first_needed(&self, frames: &Frames, answered: usize) -> usize {
        frames.first_needed_without_carry(answered)
    }
}

/// Sums the lengths of results without building them.
struct LengthSum<'a>(&'a dyn ResultLength);

/// The length of the values present, and whether a result was counted since the last change.
#[derive(Debug, Default)]
struct LengthState {
    values: usize,
    answered: bool,
}

impl MultisetFunction for LengthSum<'_> {
    type State = LengthState;
    type Builder = TotalLength;

    fn needs_counts(&self) -> bool {
        false
    }

    fn reset(&self, state: &mut LengthState, _: &ValueCodes, _: &PartitionCodes) -> Result<()> {
        *state = LengthState::default();
        Ok(())
    }

    #[inline]
    fn set_count(
        &self,
        state: &mut LengthState,
        values: &ValueCodes,
        partition: &PartitionCodes,
        code: usize,
        count: u32,
    ) -> Result<()> {
        let place = values.place(partition, code) as usize;
        let length = self.0.length(place..place + 1);
        state.values = if count > 0 { state.values + length } else { state.values - length };
        state.answered = false;
        Ok(())
    }

    fn builder(&self, _: usize) -> TotalLength {
        TotalLength::default()
    }

    fn evaluate(
        &self,
        state: &mut LengthState,
        _: &ValueCodes,
        _: &PartitionCodes,
        _: usize,
        out: &mut TotalLength,
    ) -> Result<()> {
        if !std::mem::replace(&mut state.answered, true) || !self.0.can_share() {
            out.add_values(self.0, state.values);
        }
        Ok(())
    }

    fn evaluate_naive(
        &self,
        counts: &BTreeMap<u32, u32>,
        values: &ValueCodes,
        partition: &PartitionCodes,
        _: usize,
        out: &mut TotalLength,
    ) -> Result<()> {
        let places = counts.keys().map(|&code| values.place(partition, code as usize) as usize);
        out.add_values(self.0, places.map(|place| self.0.length(place..place + 1)).fold(0, usize::saturating_add));
        Ok(())
    }

    fn finish(&self, _: TotalLength) -> Result<ArrayRef> {
        Err(Error::internal("lengths are no answers"))
    }
}

/// The positions in each of the ranges that EXCLUDE leaves.
type Pieces = [Range<u32>; 3];

#[inline]
fn pieces_of(values: &ValueCodes, pieces: SubRanges) -> Pieces {
    let mut lanes = Pieces::default();
    for (places, piece) in lanes.iter_mut().zip(pieces) {
        *places = piece_places(values, piece);
    }
    lanes
}

/// The positions of the frames of `rows`.
fn all_pieces(values: &ValueCodes, frames: &Frames, rows: Range<usize>, cancel: &Cancel) -> Result<Vec<Pieces>> {
    let mut all = reserve::with_capacity(rows.len())?;
    for_each_frame(frames, rows, cancel, |_, pieces| {
        all.push(pieces_of(values, pieces));
        Ok(())
    })?;
    Ok(all)
}

/// The positions of one range.
#[inline(always)]
fn piece_places(values: &ValueCodes, piece: Range<usize>) -> Range<u32> {
    let places = if piece.is_empty() { 0..0 } else { values.places.of(piece) };
    places.start as u32..places.end as u32
}

/// The counts of one frame, updated from frame to frame.
struct SlidingCounts<'a, T: MultisetFunction> {
    values: &'a ValueCodes,
    function: &'a T,
    cancel: &'a Cancel,
    partition: PartitionCodes,
    lanes: Pieces,
    counts: Vec<u32>,
    state: T::State,
    work: usize,
}

impl<'a, T: MultisetFunction> SlidingCounts<'a, T> {
    fn new(values: &'a ValueCodes, function: &'a T, cancel: &'a Cancel) -> Self {
        let (partition, lanes, counts, state) = Default::default();
        Self { values, function, cancel, partition, lanes, counts, state, work: 0 }
    }

    /// As [`SlidingCounts::evaluate`], for a contiguous frame.
    #[inline(always)]
    fn slide(&mut self, row: usize, run: Range<u32>, out: &mut T::Builder) -> Result<()> {
        let old = &self.lanes[0];
        let slides = old.start <= run.start && run.start < old.end && old.end <= run.end;
        if !slides || !self.partition.rows.contains(&row) {
            return self.answer(row, &[run], out);
        }
        let (enter, leave) = (old.end..run.end, old.start..run.start);
        self.lanes[0] = run;
        // In a contiguous frame no row both leaves and enters, so rows with unique codes may enter first as well.
        self.change(enter, true)?;
        self.change(leave, false)?;
        self.function.evaluate(&mut self.state, self.values, &self.partition, row, out)
    }

    /// Appends the result of `row`, whose frame is in `lanes`; missing lanes are never used.
    fn answer(&mut self, row: usize, lanes: &[Range<u32>], out: &mut T::Builder) -> Result<()> {
        if !self.partition.rows.contains(&row) {
            self.partition = self.values.partition(row);
            if !self.values.unique {
                reserve::refill(&mut self.counts, self.partition.codes, 0)?;
            }
            self.lanes = Pieces::default();
            self.function.reset(&mut self.state, self.values, &self.partition)?;
        }
        // Rows enter before others leave, so that a value in both frames is never absent in between. A row with a
        // unique code may move from one lane to another, so it must leave before it enters.
        let unique = self.values.unique;
        for enter in [!unique, unique] {
            for (at, new) in lanes.iter().enumerate() {
                let old = &self.lanes[at];
                for part in if enter { outside(new, old) } else { outside(old, new) } {
                    if !part.is_empty() {
                        self.change(part, enter)?;
                    }
                }
            }
        }
        for (old, new) in self.lanes.iter_mut().zip(lanes) {
            old.clone_from(new);
        }
        self.function.evaluate(&mut self.state, self.values, &self.partition, row, out)
    }

    #[inline(always)]
    fn change(&mut self, places: Range<u32>, enter: bool) -> Result<()> {
        self.work += places.len();
        if self.work > CHANGES_PER_CANCEL_CHECK {
            self.cancel.check()?;
            self.work = 0;
        }
        let Self { values, function, partition, counts, state, .. } = self;
        let every = function.needs_counts();
        let codes = &values.codes[places.start as usize..places.end as usize];
        if values.unique {
            return codes
                .iter()
                .try_for_each(|&code| function.set_count(state, values, partition, code as usize, enter.into()));
        }
        for &code in codes {
            let code = code as usize;
            let before = counts[code];
            let count = if enter { before + 1 } else { before - 1 };
            counts[code] = count;
            if every || before == 0 || count == 0 {
                function.set_count(state, values, partition, code, count)?;
            }
        }
        Ok(())
    }
}

/// The parts of `run` before and after `other`.
#[inline]
fn outside(run: &Range<u32>, other: &Range<u32>) -> [Range<u32>; 2] {
    if run.start >= other.end || other.start >= run.end {
        return [run.clone(), 0..0];
    }
    [run.start..other.start.max(run.start), other.end.min(run.end)..run.end]
}

/// The order of the rows, from 0, in which consecutive frames are close to each other.
fn mo_order(values: &ValueCodes, rows: &Range<usize>, frames: &[Pieces]) -> Result<Vec<u32>> {
    let mut order = reserve::with_capacity(frames.len())?;
    let hull = |at: u32| {
        let mut lanes = frames[at as usize].iter().filter(|lane| !lane.is_empty());
        let begin = lanes.next();
        let end = lanes.next_back().or(begin).map_or(0, |lane| lane.end);
        begin.map_or(0, |lane| lane.start)..end
    };
    let mut at = rows.start;
    while at < rows.end {
        let partition = values.partition(at);
        let end = partition.rows.end.min(rows.end);
        let mut here = reserve::collect((at - rows.start) as u32..(end - rows.start) as u32)?;
        let stride = (partition.places.len() as f64 / (here.len() as f64).sqrt()).max(1.0) as u32;
        here.sort_unstable_by_key(|&at| {
            let Range { start, end } = hull(at);
            let stride = start / stride;
            (stride, if stride.is_multiple_of(2) { end } else { u32::MAX - end }, at)
        });
        order.append(&mut here);
        at = end;
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_of_overlapping_runs() {
        assert_eq!(outside(&(2..9), &(4..6)), [2..4, 6..9]);
        assert_eq!(outside(&(4..6), &(2..9)), [4..4, 6..6]);
        assert_eq!(outside(&(4..9), &(2..6)), [4..4, 6..9]);
        assert_eq!(outside(&(4..9), &(0..2)), [4..9, 0..0]);
        assert_eq!(outside(&(4..9), &(0..0)), [4..9, 0..0]);
    }
}
