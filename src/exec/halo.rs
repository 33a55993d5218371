//! The halo: the evaluated rows that later rows still need; and the passes over rows together with their halo.
//!
//! ```text
//!   . . . . h h h | o o o o o o o | x x x      h = kept for later frames      o = own: evaluated here
//!   carry   ^ base                             . = released; a carry has their state
//! ```
//!
//! Streams release rows in this way, and sections pass their halos to the sections after them.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;

use super::columns::{columns_of, partitions_and_peers};
use crate::bounds::frames::Frames;
use crate::error::{Error, Result};
use crate::evaluate::evaluator::Evaluator;
use crate::model::carry::Carry;
use crate::model::reach::Reach;
use crate::model::section::Section;
use crate::plan::planned::{Plan, PlannedCall, PlannedOrder};
use crate::util::boundaries::Boundaries;
use crate::util::cancel::Cancel;
use crate::util::threads::Threads;

/// A pass over sorted rows.
pub(crate) struct Pass<'a> {
    /// The first of its calls.
    pub(crate) call: &'a PlannedCall,
    pub(crate) evaluator: Box<dyn Evaluator>,
    pub(crate) frames: Frames,
}

/// The rows to keep.
pub(crate) struct Halo {
    /// The first row to keep.
    pub(crate) from: usize,
    /// Whether its partition has earlier rows.
    pub(crate) continues: bool,
    /// The carry of those rows, per pass.
    pub(crate) carries: Vec<Carry>,
}

impl Halo {
    /// Computes the halo of rows that are evaluated up to `settled`.
    ///
    /// `partition`: the first row of the partition that the next row to evaluate, or else the last evaluated one,
    /// belongs to. If it is 0 and `continues`, that partition has earlier rows, which `carries` summarise.
    pub(crate) fn compute(
        passes: &[Pass],
        carries: &[Carry],
        continues: bool,
        partition: usize,
        settled: usize,
    ) -> Result<Self> {
        let releases: Vec<_> =
            passes.iter().map(|pass| pass.evaluator.first_needed(&pass.frames, settled).max(partition)).collect();
        // The last evaluated row is always kept, to decide whether the next one begins a partition or a peer group.
        let from = releases.iter().copied().min().unwrap_or(settled).min((settled - 1).max(partition));
        // While the first row of a partition is kept, its frames are computed from the rows alone.
        let continues = from > partition || (partition == 0 && continues);
        let carry = |((pass, old), release): ((&Pass, &Carry), usize)| {
            if pass.call.before != Reach::State || !continues {
                return Ok(Carry::default());
            }
            let (state, begin) = match &old.state {
                Some(state) if partition == 0 => (Some(state), old.base),
                _ => (None, partition),
            };
            let state = pass.of_call(pass.evaluator.save_state(state, begin..release))?;
            Ok(Carry { base: release - from, state: Some(state), after: None })
        };
        let carries = passes.iter().zip(carries).zip(releases).map(carry).collect::<Result<_>>()?;
        Ok(Self { from, continues, carries })
    }
}

impl Pass<'_> {
    /// Prefixes an error with the call.
    pub(crate) fn of_call<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.of_call(&self.call.display))
    }
}

impl Plan {
    /// The passes over sorted rows, and their partition boundaries. `own` are the rows to evaluate; `open`: more rows
    /// may follow. With `continues`, the first row's partition has earlier rows, which `carries` summarise per pass.
    pub(crate) fn passes_over(
        &self,
        kept: &[ArrayRef],
        rows: usize,
        own: Range<usize>,
        open: bool,
        continues: bool,
        carries: &[Carry],
    ) -> Result<(Vec<Pass<'_>>, Boundaries)> {
        let section = |order: &PlannedOrder| {
            let mut section = self.section(order, kept, rows)?;
            (section.own, section.open, section.part) = (own.clone(), open, true);
            if continues {
                section.partitions = without_first(&section.partitions);
            }
            Ok(section)
        };
        let sections = self.orders.iter().map(section).collect::<Result<Vec<_>>>()?;
        let threads = Threads::new(self.options().threads, &Cancel::default()).limited_to_rows(rows);
        let pass = |(number, calls): (usize, &Vec<usize>)| {
            let call = self.first_call(calls);
            let base = carries.get(number).map_or(0, |carry| carry.base);
            let made = self.pass_evaluator(calls, &sections[call.order], base, &threads);
            let (evaluator, frames) = made.map_err(|error| error.of_call(&call.display))?;
            Ok(Pass { call, evaluator, frames })
        };
        let passes = (0..).zip(&self.passes).map(pass).collect::<Result<_>>()?;
        Ok((passes, sections.into_iter().next().map_or_else(|| Boundaries::single(rows), |section| section.partitions)))
    }

    /// The results of `rows`, a column per call.
    pub(crate) fn results(
        &self,
        passes: &[Pass],
        carries: &[Carry],
        rows: &Range<usize>,
        cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let mut results = Vec::with_capacity(self.calls.len());
        for ((pass, carry), calls) in passes.iter().zip(carries).zip(&self.passes) {
            let answer = pass.evaluator.evaluate(&pass.frames, rows.clone(), carry, cancel);
            results.extend(calls.iter().zip(columns_of(calls.len(), pass.of_call(answer)?)));
        }
        results.sort_unstable_by_key(|(call, _)| **call);
        Ok(results.into_iter().map(|(_, column)| column).collect())
    }

    /// The partition boundaries among sorted rows; they are the same for all orders.
    pub(crate) fn partitions(&self, kept: &[ArrayRef], rows: usize) -> Result<Boundaries> {
        let section = self.orders.first().map(|order| self.section(order, kept, rows)).transpose()?;
        Ok(section.map_or_else(|| Boundaries::single(rows), |section| section.partitions))
    }

    /// Sorted rows as a section of whole partitions in one of the plan's orders.
    pub(crate) fn section(&self, order: &PlannedOrder, kept: &[ArrayRef], rows: usize) -> Result<Section> {
        let read = self.columns();
        let column = |number: &usize| read.binary_search(number).map(|place| kept[place].clone());
        let columns = order.columns.iter().map(column).collect::<std::result::Result<Vec<_>, _>>();
        let columns = columns.map_err(|_| Error::internal("a column was not kept"))?;
        let (partitions, peers) = partitions_and_peers(order, &columns, rows)?;
        Section::whole(partitions, peers, columns)
    }
}

/// The boundaries without one at the first row.
fn without_first(boundaries: &Boundaries) -> Boundaries {
    let starts = boundaries.starts();
    Boundaries::new(BooleanBuffer::collect_bool(starts.len(), |row| row > 0 && starts.value(row)))
}
