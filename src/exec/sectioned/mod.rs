//! Sections: sorted input cut into pieces that are evaluated independently, on any thread, disk or worker.
//!
//! ```text
//!   sections    [ a a a b b | b b b b b | b c c ]     cut where a peer group begins
//!   summarise        S1          S2         S3        first rows, last rows, and states of those between
//!   scan               |---> before: b, state         left to right: what lies before each section
//!                       behind: b, state <---|        right to left: what lies after it
//!   evaluate          each section with its surroundings, in any order
//! ```
//!
//! A section needs its halo, the surrounding rows that its frames reach, and a state for the rows beyond. A summary
//! contains what other sections may need of one, so that one exchange suffices. The evaluators determine these rows: of
//! the last ones, those that a stream would not release; of the first ones, as many as a frame of the row before the
//! section could contain.
//!
//! Cost: each row is read once more, for the states; the scan costs a halo and a merge per section and pass. Memory: a
//! section, its halo and results; a summary is two halos and two states per pass.
//! Source: G. E. Blelloch, "Prefix Sums and Their Applications", 1990 (the scan over blocks).

#[cfg(feature = "spill")]
pub(crate) mod bytes;
#[cfg(feature = "spill")]
pub(crate) mod fingerprint;
pub(crate) mod summary;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;

use self::summary::{Before, Neighbourhood, Summary};
use crate::catalog::function::{Family, OrderSensitivity};
use crate::error::{Error, Result};
use crate::exec::columns::{check_schema, column_of, partitions_and_peers, put};
use crate::exec::halo::{Halo, Pass};
use crate::exec::ranges::ranges;
use crate::model::carry::Carry;
use crate::model::reach::Reach;
use crate::plan::planned::{Plan, PlannedCall};
use crate::plan::stream_order::longest_order;
use crate::spec::frame::{Bound, Exclude};
use crate::util::boundaries::Boundaries;
use crate::util::cancel::Cancel;
use crate::util::slice_memory::compact;
use crate::util::threads::Threads;

/// Concatenates batches of one schema; strings and lists that views do not reference are left out.
///
/// # Errors
/// There is no batch, or the strings exceed their offset type.
pub fn concat_compact(batches: &[RecordBatch]) -> Result<RecordBatch> {
    let first = batches.first().ok_or_else(|| Error::internal("no batches to join"))?;
    let batch = concat_batches(first.schema_ref(), batches)?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().iter().map(compact).collect::<Result<_>>()?;
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns, &options)?)
}

impl Pass<'_> {
    /// The state of `rows` for earlier rows whose frames reach to the end of the partition.
    fn state_of_rows_ahead(&self, rows: Range<usize>) -> Result<Option<RecordBatch>> {
        let reached = self.call.after == Reach::State && !rows.is_empty();
        reached.then(|| self.of_call(self.evaluator.save_state(None, rows))).transpose()
    }

    /// Whether the section's rows, a bounded number of rows and a state suffice for its first row.
    fn is_covered(&self) -> bool {
        match self.call.after {
            Reach::Groups(_) | Reach::Within => self.evaluator.first_unsettled(&self.frames) == 1,
            Reach::State => self.frames.has_started(),
            _ => true,
        }
    }
}

/// A state per pass, where one is needed.
type PassStates = Vec<Option<RecordBatch>>;

impl Plan {
    /// Why the plan cannot be evaluated in sections; `None` if it can.
    #[must_use]
    pub fn refuses_sections(&self) -> Option<String> {
        if let Err(error) = longest_order(self) {
            return Some(error.message().to_string());
        }
        self.calls.iter().find_map(|call| {
            if self.orders[call.order].order_by.is_empty() && call.frame.needs_peers() {
                return Some(format!("{}: without ORDER BY all rows of a partition are peers", call.display));
            }
            let reaches = [call.before, call.after];
            if reaches.contains(&Reach::Everything) {
                return Some(format!("{}: each answer needs all rows of its partition at once", call.display));
            }
            let state = reaches.contains(&Reach::State) && !call.signature.algebra.merges();
            state.then(|| format!("{}: the states of two parts of a partition cannot be merged", call.display))
        })
    }

    /// Whether a call depends on all rows of its partition after its row: a stream must wait for them, and a section
    /// needs their state.
    #[must_use]
    pub fn looks_ahead(&self) -> bool {
        self.calls.iter().any(|call| call.after == Reach::State)
    }

    /// Whether a section's summary is independent of the order of its rows, except for the rounding of floating point
    /// sums: other sections need only a state that accepts rows in any order.
    #[must_use]
    pub fn is_order_insensitive(&self) -> bool {
        let without_rows = |reach| matches!(reach, Reach::Nothing | Reach::State);
        // A frame that ends before its row does not include the last rows of a section; one that begins after it, not
        // the first.
        let at_row =
            |bound: &Bound| matches!(bound, Bound::UnboundedPreceding | Bound::CurrentRow | Bound::UnboundedFollowing);
        self.calls.iter().all(|call| {
            let frame = call.frame.frame();
            let counts = call.function.family == Family::Ranking
                && call.function.order_sensitivity == OrderSensitivity::Rows
                && call.argument_order.is_empty();
            // Which rows belong to the first and last partition depends on the order.
            self.orders[call.order].partition_by.is_empty()
                && without_rows(call.before)
                && without_rows(call.after)
                && at_row(&frame.start)
                && at_row(&frame.end)
                && frame.exclude == Exclude::NoOthers
                && (counts || call.order_stability().is_some())
        })
    }

    /// The last of the sorted `rows` with which a section may begin: one that begins a peer group of every order.
    ///
    /// # Errors
    /// Rows of another schema.
    pub fn last_section_boundary(&self, rows: &RecordBatch) -> Result<Option<usize>> {
        check_schema(self, rows.schema_ref())?;
        let mut cuts: Option<arrow_buffer::BooleanBuffer> = None;
        // Without an order key, any row may begin a section.
        for order in self.orders.iter().filter(|order| !order.order_by.is_empty()) {
            let columns: Vec<_> = order.columns.iter().map(|&column| rows.column(column).clone()).collect();
            let starts = partitions_and_peers(order, &columns, rows.num_rows())?.1.starts().clone();
            cuts = Some(cuts.map_or_else(|| starts.clone(), |cuts| &cuts & &starts));
        }
        Ok(match cuts {
            None => rows.num_rows().checked_sub(1).filter(|&row| row > 0),
            Some(cuts) => (1..cuts.len()).rev().find(|&row| cuts.value(row)),
        })
    }

    /// Summarises the section of the sorted `rows` for other sections.
    ///
    /// # Errors
    /// No rows, rows of another schema, values that cannot be converted.
    pub fn summarise(&self, rows: &RecordBatch) -> Result<Summary> {
        check_schema(self, rows.schema_ref())?;
        let kept = rows.project(&self.columns())?;
        let end = rows.num_rows();
        let Some(last) = end.checked_sub(1) else { return Err(Error::internal("a section without rows")) };
        let (passes, partitions) = self.all_passes(&kept)?;
        let first_end = partitions.run_end(0);
        let head = self.head(&kept.slice(0, first_end))?;
        let after =
            passes.iter().map(|pass| pass.state_of_rows_ahead(head.num_rows()..first_end)).collect::<Result<_>>()?;
        let none = vec![Carry::default(); passes.len()];
        let before = Before::new(&kept, Halo::compute(&passes, &none, false, partitions.run_start(last), end)?);
        Ok(Summary { rows: end, single: first_end == end, head, before, after })
    }

    /// The first of a section's `rows`, as many as frames of rows before the section can contain: a frame of the last
    /// row before it ends no later than the first row's own would.
    fn head(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let mut length = self.rows_after().saturating_add(1).min(rows.num_rows());
        while length < rows.num_rows() && !self.is_covered(&rows.slice(0, length))? {
            length = (2 * length).min(rows.num_rows());
        }
        Ok(rows.slice(0, length))
    }

    /// The number of rows after their own that ROWS frames and `lead` reach.
    fn rows_after(&self) -> usize {
        let rows = |call: &PlannedCall| match call.after {
            Reach::Rows(rows) => usize::try_from(rows).unwrap_or(usize::MAX),
            _ => 0,
        };
        self.calls.iter().map(rows).max().unwrap_or(0)
    }

    /// Whether `rows` suffice for their first row.
    fn is_covered(&self, rows: &RecordBatch) -> Result<bool> {
        let passes = || self.passes_over(rows.columns(), rows.num_rows(), 0..1, true, false, &[]);
        Ok(rows.num_rows() > self.rows_after() && passes()?.0.iter().all(Pass::is_covered))
    }

    /// The surroundings of each section, given the summaries of all sections in order.
    ///
    /// # Errors
    /// States that do not match each other.
    pub fn scan(&self, summaries: &[Summary]) -> Result<Vec<Neighbourhood>> {
        let schema: SchemaRef = Arc::new(self.schema.project(&self.columns())?);
        let mut arounds = Vec::with_capacity(summaries.len());
        let mut last: Option<Before> = None;
        // Whether each section's first row continues the partition of the last row before it.
        let mut goes_on = Vec::with_capacity(summaries.len());
        for summary in summaries {
            let before = match last.take() {
                Some(before) if self.one_partition(&before.rows, &summary.head)? => Some(before),
                _ => None,
            };
            goes_on.push(before.is_some());
            last = Some(match &before {
                Some(before) if summary.single => self.extend(before, summary)?,
                _ => summary.before.clone(),
            });
            arounds.push(Neighbourhood { before, behind: RecordBatch::new_empty(schema.clone()), after: Vec::new() });
        }
        // Per section the states of the rows of its first partition, its own and those after.
        let mut onward: Vec<PassStates> = vec![Vec::new(); summaries.len()];
        let none = || vec![None; self.passes.len()];
        let states = self.looks_ahead();
        for (number, summary) in summaries.iter().enumerate().rev() {
            let on = |next: usize| goes_on.get(next) == Some(&true);
            let rest = |of: &Summary, next: usize| if of.single && on(next) { onward[next].clone() } else { none() };
            let last = summary.before.rows.slice(summary.before.rows.num_rows() - 1, 1);
            let (mut heads, mut next, mut after) = (vec![last], number + 1, none());
            while on(next) {
                let of = &summaries[next];
                heads.push(of.head.clone());
                next += 1;
                let whole = of.single && of.head.num_rows() == of.rows;
                if !whole || self.is_covered(&concat_batches(&schema, &heads)?)? {
                    if states {
                        after = self.merged_states(&of.head, &of.after, &rest(of, next))?;
                    }
                    break;
                }
            }
            arounds[number].behind = concat_batches(&schema, &heads[1..])?;
            arounds[number].after = after;
            let rest = rest(summary, number + 1);
            onward[number] = if states {
                let first = self.merged_states(&summary.head, &self.states(&summary.head)?, &summary.after)?;
                self.merged_states(&summary.head, &first, &rest)?
            } else {
                none()
            };
        }
        Ok(arounds)
    }

    /// Evaluates the calls for the sorted `rows` of a section, given its surroundings.
    ///
    /// # Errors
    /// As for [`Plan::compute`].
    pub fn evaluate_section(&self, rows: &RecordBatch, around: &Neighbourhood, cancel: &Cancel) -> Result<RecordBatch> {
        check_schema(self, rows.schema_ref())?;
        let kept = rows.project(&self.columns())?;
        let Neighbourhood { before, behind, after } = around;
        let (ahead, continues, carries) = match before {
            None => (RecordBatch::new_empty(kept.schema()), false, vec![Carry::default(); self.passes.len()]),
            Some(before) => (before.rows.clone(), before.continues, before.carries.clone()),
        };
        let carries: Vec<_> =
            carries.into_iter().zip(after).map(|(c, after)| Carry { after: after.clone(), ..c }).collect();
        let all = concat_batches(&kept.schema(), [&ahead, &kept, behind])?;
        let own = ahead.num_rows()..ahead.num_rows() + rows.num_rows();
        let threads = Threads::new(self.options.threads, cancel)
            .with_spread(self.options.spread_threads)
            .limited_to_rows(rows.num_rows());
        let mut results = Vec::with_capacity(self.calls.len());
        let (passes, _) = self.passes_over(all.columns(), all.num_rows(), own.clone(), false, continues, &carries)?;
        for ((pass, calls), carry) in passes.iter().zip(&self.passes).zip(&carries) {
            let columns = calls.iter().map(|&call| column_of(self, call, rows.num_rows(), None, None, &threads));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let evaluate = |rows: Range<usize>| {
                let begin = rows.start - own.start;
                put(&columns, begin, pass.evaluator.evaluate(&pass.frames, rows, carry, cancel)?)
            };
            pass.of_call(threads.map(ranges(pass.call, &own, &threads), evaluate))?;
            for (call, column) in calls.iter().zip(columns) {
                results.push((call, column.finish(&threads)?));
            }
        }
        results.sort_unstable_by_key(|(call, _)| **call);
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let columns: Vec<ArrayRef> = results.into_iter().map(|(_, column)| column).collect();
        Ok(RecordBatch::try_new_with_options(self.output_schema().clone(), columns, &options)?)
    }

    /// The passes over rows without any before them.
    fn all_passes(&self, rows: &RecordBatch) -> Result<(Vec<Pass<'_>>, Boundaries)> {
        self.passes_over(rows.columns(), rows.num_rows(), 0..rows.num_rows(), true, false, &[])
    }

    /// Whether the last row of `left` and the first of `right` belong to one partition.
    fn one_partition(&self, left: &RecordBatch, right: &RecordBatch) -> Result<bool> {
        let last = left.slice(left.num_rows() - 1, 1);
        let rows = concat_batches(&left.schema(), [&last, &right.slice(0, 1)])?;
        Ok(!self.partitions(rows.columns(), 2)?.starts().value(1))
    }

    /// What precedes the next section, if this one consists of a single partition that continues from before it.
    fn extend(&self, before: &Before, summary: &Summary) -> Result<Before> {
        if !summary.before.continues {
            // The summary contains all rows of the section.
            let rows = concat_batches(&before.rows.schema(), [&before.rows, &summary.before.rows])?;
            let end = rows.num_rows();
            let (passes, _) = self.passes_over(rows.columns(), end, 0..end, true, before.continues, &before.carries)?;
            return Ok(Before::new(&rows, Halo::compute(&passes, &before.carries, before.continues, 0, end)?));
        }
        // None of the rows before are needed any more.
        let end = before.rows.num_rows();
        let (passes, _) =
            self.passes_over(before.rows.columns(), end, 0..end, true, before.continues, &before.carries)?;
        // An evaluator may choose states just wide enough for its own rows, but not where they continue a partition:
        // merge with such an evaluator.
        let (joins, _) = self.passes_over(before.rows.slice(0, 1).columns(), 1, 0..1, true, true, &[])?;
        let mut carries = Vec::with_capacity(passes.len());
        for (((pass, join), old), new) in passes.iter().zip(joins).zip(&before.carries).zip(&summary.before.carries) {
            let Some(state) = &new.state else {
                carries.push(new.clone());
                continue;
            };
            let left = pass.of_call(pass.evaluator.save_state(old.state.as_ref(), old.base..end))?;
            let state = pass.of_call(join.evaluator.merge_states(&left, state))?;
            carries.push(Carry { state: Some(state), ..new.clone() });
        }
        Ok(Before { carries, ..summary.before.clone() })
    }

    /// The state of `rows` per pass, where frames reach to the end of their partition.
    fn states(&self, rows: &RecordBatch) -> Result<PassStates> {
        let (passes, _) = self.all_passes(rows)?;
        passes.iter().map(|pass| pass.state_of_rows_ahead(0..rows.num_rows())).collect()
    }

    /// The states of `left` merged with those of `right` after them; the values of `some` are not read.
    fn merged_states(&self, some: &RecordBatch, left: &PassStates, right: &PassStates) -> Result<PassStates> {
        let (passes, _) = self.all_passes(some)?;
        let join = |((pass, left), right): ((&Pass, &Option<RecordBatch>), &Option<RecordBatch>)| match (left, right) {
            (Some(left), Some(right)) => pass.of_call(pass.evaluator.merge_states(left, right)).map(Some),
            (one, other) => Ok(one.as_ref().or(other.as_ref()).cloned()),
        };
        passes.iter().zip(left).zip(right).map(join).collect()
    }
}
