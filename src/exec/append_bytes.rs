//! What lies before the next row of each partition, serialised as bytes for a later run.
//!
//! ```text
//!   numbers    the plan's fingerprint, how many passes, partitions and groups of states; of each partition how many
//!              rows, whether it has earlier ones, and per pass the carry: base, group, how many rows of it
//!   batches    Arrow IPC streams of one batch each: the last rows of all partitions; each group of states
//! ```
//!
//! The states of a pass that have one schema are one group, so the bytes grow by no header with a partition. Whoever
//! stores the bytes adds a checksum.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use arrow_select::concat::concat_batches;

use super::append::Appender;
use super::sectioned::bytes::{ABSENT_LENGTH, SummaryReader, read, written};
use super::sectioned::summary::Before;
use crate::error::{Error, Result};
use crate::model::carry::Carry;

impl Appender {
    /// Serialises what lies before the next row of each partition, for [`Appender::with_bytes`] of the same plan.
    ///
    /// # Errors
    /// Rows that are not evaluated yet, before [`Appender::finish`]. Arrow IPC cannot write a column's type, or the text of all partitions exceeds its offset type.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        if self.holds_rows() {
            return Err(Error::unsupported("the state of an appender is complete after finish(), which comes first"));
        }
        let plan = self.plan();
        let partitions = self.partitions();
        // The states of equal schema, with their number of rows.
        let mut groups: Vec<(SchemaRef, Vec<&RecordBatch>)> = Vec::new();
        let mut numbers = Vec::new();
        for before in partitions {
            numbers.extend([before.rows.num_rows() as u64, u64::from(before.continues)]);
            for carry in &before.carries {
                let Some(state) = &carry.state else {
                    numbers.extend([carry.base as u64, ABSENT_LENGTH, 0]);
                    continue;
                };
                let known = groups.iter().position(|(schema, _)| schema == state.schema_ref());
                let group = known.unwrap_or(groups.len());
                if known.is_none() {
                    groups.push((state.schema(), Vec::new()));
                }
                groups[group].1.push(state);
                numbers.extend([carry.base as u64, group as u64, state.num_rows() as u64]);
            }
        }
        let rows = concat_batches(&self.kept_schema()?, partitions.iter().map(|before| &before.rows))?;
        let mut parts = vec![written(&rows)?];
        for (schema, states) in groups {
            parts.push(written(&concat_batches(&schema, states)?)?);
        }
        let sizes = [plan.fingerprint().into(), plan.passes.len() as u64, partitions.len() as u64, parts.len() as u64];
        let lengths = parts.iter().map(|part| part.len() as u64);
        let mut out: Vec<u8> = sizes.into_iter().chain(lengths).chain(numbers).flat_map(u64::to_le_bytes).collect();
        for part in parts {
            out.extend(part);
        }
        Ok(out)
    }

    /// An appender that goes on from the bytes that [`Appender::to_bytes`] wrote for the same plan.
    ///
    /// # Errors
    /// Bytes that are not those, or are of another plan.
    pub fn with_bytes(self, bytes: &[u8]) -> Result<Self> {
        let mut from = SummaryReader(bytes);
        let [plan, passes, partitions, parts] = [from.number()?, from.number()?, from.number()?, from.number()?];
        if plan != u64::from(self.plan().fingerprint()) || passes != self.plan().passes.len() as u64 {
            return Err(Error::data(
                "the state is of other calls, other columns or another version of windrow than those that go on from it",
            ));
        }
        if partitions.saturating_add(parts) > bytes.len() as u64 {
            return Err(damaged());
        }
        let lengths = (0..parts).map(|_| from.number()).collect::<Result<Vec<_>>>()?;
        let count = partitions.saturating_mul(2 + 3 * passes).saturating_mul(8);
        let mut numbers = SummaryReader(from.take(count)?);
        let mut batches =
            lengths.into_iter().map(|length| from.take(length).and_then(read)).collect::<Result<Vec<_>>>()?;
        let schema = self.kept_schema()?;
        let same = |rows: &RecordBatch| {
            let types = |schema: &Schema| schema.fields().iter().map(|f| f.data_type().clone()).collect::<Vec<_>>();
            types(rows.schema_ref()) == types(&schema)
        };
        if !batches.first().is_some_and(same) {
            return Err(damaged());
        }
        let mut rows = Pieces::new(batches.remove(0));
        let mut groups: Vec<_> = batches.into_iter().map(Pieces::new).collect();
        let mut found = Vec::new();
        for _ in 0..partitions {
            let [length, continues] = [numbers.number()?, numbers.number()?];
            let mut carries = Vec::new();
            for _ in 0..passes {
                let [base, group, length_of_state] = [numbers.number()?, numbers.number()?, numbers.number()?];
                let state = match group {
                    ABSENT_LENGTH => None,
                    group => Some(groups.get_mut(group as usize).ok_or_else(damaged)?.next(length_of_state)?),
                };
                if base > length {
                    return Err(damaged());
                }
                carries.push(Carry { base: base as usize, state, after: None });
            }
            let rows = rows.next(length)?;
            if rows.num_rows() == 0 {
                return Err(damaged());
            }
            found.push(Before { rows, continues: continues == 1, carries });
        }
        self.with_partitions(found)
    }

    /// The schema of the rows that are kept.
    fn kept_schema(&self) -> Result<SchemaRef> {
        let plan = self.plan();
        let kept: Schema = plan.schema().project(&plan.columns())?;
        Ok(Arc::new(kept))
    }
}

/// A batch that is read piece by piece.
struct Pieces {
    batch: RecordBatch,
    at: usize,
}

impl Pieces {
    fn new(batch: RecordBatch) -> Self {
        Self { batch, at: 0 }
    }

    fn next(&mut self, rows: u64) -> Result<RecordBatch> {
        let left = self.batch.num_rows() - self.at;
        let rows = usize::try_from(rows).ok().filter(|&rows| rows <= left).ok_or_else(damaged)?;
        self.at += rows;
        Ok(self.batch.slice(self.at - rows, rows))
    }
}

fn damaged() -> Error {
    Error::data("the state is damaged: its bytes are not those that were written")
}
