//! Summaries as bytes, to be sent to whoever has the other sections: numbers, then Arrow IPC streams of one batch each.

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;

use super::summary::{Before, Summary};
use crate::error::{Error, Result};
use crate::model::carry::Carry;

/// Stands for the length of what is not there.
const NONE: u64 = u64::MAX;

impl Summary {
    /// The summary as bytes, for [`Summary::from_bytes`] of the same version.
    ///
    /// # Errors
    /// Arrow cannot write a column's type.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let Self { rows, single, head, before, after } = self;
        let mut numbers =
            vec![*rows as u64, u64::from(*single), u64::from(before.continues), before.carries.len() as u64];
        numbers.extend(before.carries.iter().map(|carry| carry.base as u64));
        let states = before.carries.iter().map(|carry| carry.state.as_ref()).chain(after.iter().map(Option::as_ref));
        let parts = [Some(head), Some(&before.rows)].into_iter().chain(states);
        let parts = parts.map(|part| part.map(written).transpose()).collect::<Result<Vec<_>>>()?;
        numbers.extend(parts.iter().map(|part| part.as_ref().map_or(NONE, |part| part.len() as u64)));
        let mut out: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        out.extend(parts.into_iter().flatten().flatten());
        Ok(out)
    }

    /// The summary that [`Summary::to_bytes`] wrote.
    ///
    /// # Errors
    /// The bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = From(bytes);
        let [rows, single, continues, passes] = [from.number()?, from.number()?, from.number()?, from.number()?];
        if passes > bytes.len() as u64 {
            return Err(broken());
        }
        let bases = (0..passes).map(|_| from.number()).collect::<Result<Vec<_>>>()?;
        let lengths = (0..2 + 2 * passes).map(|_| from.number()).collect::<Result<Vec<_>>>()?;
        let mut parts = lengths.into_iter().map(|length| match length {
            NONE => Ok(None),
            length => from.take(length).and_then(read).map(Some),
        });
        let mut next = || parts.next().unwrap_or_else(|| Err(broken()));
        let [head, rows_before] = [next()?.ok_or_else(broken)?, next()?.ok_or_else(broken)?];
        let carry = |base| Ok(Carry { base: base as usize, state: next()?, after: None });
        let carries = bases.into_iter().map(carry).collect::<Result<_>>()?;
        let after = parts.collect::<Result<_>>()?;
        let before = Before { rows: rows_before, continues: continues == 1, carries };
        Ok(Self { rows: rows as usize, single: single == 1, head, before, after })
    }
}

struct From<'a>(&'a [u8]);

impl<'a> From<'a> {
    fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let (taken, rest) =
            usize::try_from(length).ok().and_then(|length| self.0.split_at_checked(length)).ok_or_else(broken)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64> {
        let bytes = self.take(8)?.try_into().map_err(|_| broken())?;
        Ok(u64::from_le_bytes(bytes))
    }
}

fn broken() -> Error {
    Error::data("these bytes are no summary of a section")
}

fn written(batch: &RecordBatch) -> Result<Vec<u8>> {
    let mut writer = StreamWriter::try_new(Vec::new(), batch.schema_ref())?;
    writer.write(batch)?;
    Ok(writer.into_inner()?)
}

fn read(bytes: &[u8]) -> Result<RecordBatch> {
    StreamReader::try_new(bytes, None)?.next().ok_or_else(broken)?.map_err(Error::from)
}
